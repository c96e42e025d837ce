"""Keys ask what Pydantic's constraints on their fields say: what no item can have is refused, not looked for.

A key only asks. The value that it holds is the one that was given, after Normalize. Functions, such as those of
AfterValidator, are left to the entity: they may change a value, and may want to see others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import Enum
from reprlib import Repr
from typing import Annotated, Any, Final, Literal, get_args, get_origin

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic_core import SchemaError

from singletable.design.constraints import constraints_in, constraints_text
from singletable.design.problems import problem_text
from singletable.design.sample_candidates import DEFAULTS
from singletable.errors import DeclarationError, KeyValueError

# What refuses a value: as it was given, and as the key holds it.
Check = Callable[[Any, Any], None]

_CHARACTERS_MAX: Final = 60
_HINT: Final = "no item can have such a key: give a value that the annotation of the field allows"

_is_waived: ContextVar[bool] = ContextVar("_is_waived", default=False)


@contextmanager
def without_constraints() -> Iterator[None]:
    """Let keys be made of sample values, which stand for those that a caller will give."""
    token = _is_waived.set(True)
    try:
        yield
    finally:
        _is_waived.reset(token)


def is_waived() -> bool:
    """Tell whether keys are being made of sample values."""
    return _is_waived.get()


def check_for(base: Any, markers: list[Any], *, where: str) -> Check | None:
    """Compile what asks the constraints among the markers of a type; None where there are none."""
    constraints = constraints_in(markers)
    if not constraints:
        return None
    text = constraints_text(constraints)
    annotation = Annotated[(base, *markers)]
    asked = constraints_text(each for each in constraints if not hasattr(each, "pattern"))
    validate = _validator(base, constraints, text, where)

    def refusal(value: Any) -> str | None:
        try:
            kept = validate(value, strict=True)
        except ValidationError as error:
            return f"{_short(value)} is refused{_reason(error, annotation, text)}"
        # to_lower and their like: an entity stores something else.
        return None if kept == value else f"{_short(value)} is stored as {_short(kept)} ({asked})"

    def check(given: Any, value: Any) -> None:
        refused = refusal(value)
        # An entity has its value as it is given, and a normal form may be longer: "ß" becomes "ss".
        if refused is None or (given is not value and refusal(given) is None) or _is_waived.get():
            return
        raise KeyValueError(refused, hint=_HINT)

    return check


def _validator(base: Any, constraints: list[Any], text: str, where: str) -> Callable[..., Any]:
    try:
        validate = _compiled(base, constraints)
        validate(_any_value(base), strict=True)
    except ValidationError:
        pass  # it is only asked whether they apply to the type at all
    except (TypeError, SchemaError) as error:
        name = getattr(base, "__name__", str(base))
        raise DeclarationError(f"{where} is {name}, of which nobody can ask {text}: {error}") from error
    return validate


def _compiled(base: Any, constraints: list[Any]) -> Callable[..., Any]:
    annotated = Annotated[(base, *constraints)]
    try:
        return TypeAdapter(annotated).validator.validate_python
    except SchemaError:  # a pattern that looks ahead, which a model may ask Python for
        return TypeAdapter(annotated, config=ConfigDict(regex_engine="python-re")).validator.validate_python


def _any_value(base: Any) -> Any:
    if get_origin(base) is Literal:
        return get_args(base)[0]
    return next(iter(base)) if issubclass(base, Enum) else DEFAULTS[base]("a", 0)


def _reason(error: ValidationError, annotation: Any, otherwise: str) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    context = first.get("ctx", {})
    if "pattern" in context:
        return f": {problem_text(first, annotation)}"
    return f" by {', '.join(f'{name}={value!r}' for name, value in context.items()) or otherwise}"


def _short(value: Any) -> str:
    shown = Repr()
    shown.maxstring = shown.maxother = shown.maxlong = _CHARACTERS_MAX
    return shown.repr(value)
