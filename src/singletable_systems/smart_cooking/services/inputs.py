"""The input of services, checked in one place: by the types that methods declare, and by the layer below.

Types are strict: "5" is no number and a text is no list of names. The layer finds errors that a type cannot
express, such as an id that makes no key or a cursor that was changed. Either way it is an `InvalidInputError`,
which names the field and the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial, wraps
from inspect import signature
from typing import Annotated, Any, Final, TypeVar, get_type_hints

from pydantic import ConfigDict, Field, ValidationError, validate_call

from singletable.errors import CursorError
from singletable.systems import problem_text
from singletable_systems.shared.services import refusing
from singletable_systems.smart_cooking.errors import InvalidInputError

_STRICTLY: Final = ConfigDict(strict=True, extra="forbid", arbitrary_types_allowed=True)
_REASON_LETTERS_MAX: Final = 300

Limit = Annotated[int, Field(ge=1, le=1_000)]  # of a page

C = TypeVar("C", bound=type)


def checked(service: C) -> C:
    """Let all public methods of a service refuse invalid input with an `InvalidInputError`."""
    for name, method in list(vars(service).items()):
        if not name.startswith("_") and callable(method):
            setattr(service, name, _refusing(method))
    return service


def _refusing(method: Callable[..., Any]) -> Callable[..., Any]:
    strict = validate_call(config=_STRICTLY)(method)
    hints = get_type_hints(method, include_extras=True)
    reason = partial(_first_reason, types={name: hints.get(name) for name in signature(method).parameters})

    @wraps(method)
    def call(*arguments: Any, **named: Any) -> Any:
        with refusing(InvalidInputError, reason, CursorError, letters_max=_REASON_LETTERS_MAX):
            return strict(*arguments, **named)

    return call


def _first_reason(error: ValidationError, types: Mapping[str, Any]) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    place, *inside = first["loc"] or ("",)
    field = [*types][place] if isinstance(place, int) else place  # an argument without a name has a number
    problem = problem_text({**first, "loc": inside}, types.get(field))
    return f"{'.'.join(map(str, (field, *inside)))}: {problem}"
