"""The parameters of a pattern, read off the signature of its method."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any, Final, get_type_hints

from singletable.design.values.annotations import alias_of, type_text
from singletable.errors import DeclarationError
from singletable.pattern_texts.shapes import ParameterShape, choice_text, shape_of

_NONE: Final = inspect.Parameter.empty


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a pattern."""

    name: str
    option: str
    annotation: Any
    shape: ParameterShape
    default: Any = _NONE
    takes_many: bool = False  # *ids: str

    @property
    def is_now(self) -> bool:
        """Whether it is the time of the call, which need not be given."""
        return self.name == "now" and self.shape.kind == "time" and self.default is _NONE

    @property
    def is_required(self) -> bool:
        return (
            self.default is _NONE and not self.is_now and not self.takes_many and not self.shape.is_optional
        )

    @property
    def is_list(self) -> bool:
        return self.shape.kind == "list"

    @property
    def type(self) -> str:
        """Return the type, with the name that the design gives it."""
        text, alias = type_text(self.annotation), alias_of(self.annotation)
        return text if alias is None else f"{alias}, {text}"

    @property
    def shown_default(self) -> str | None:
        """Return what stands for it when it is left out; None if it must be given."""
        if self.is_now:
            return "now"
        if self.is_required:
            return None
        if self.default is _NONE or self.default is None:
            return "none"
        if isinstance(self.default, list | tuple | set | frozenset):
            return " ".join(map(choice_text, self.default)) or "none"
        return choice_text(self.default)

    def data(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        return {
            "name": self.name,
            "option": self.option,
            "type": self.type,
            "required": self.is_required,
            "default": self.shown_default,
            "choices": [choice_text(value) for value in self.shape.choices],
            "several": self.is_list,
        }


def parameters_of(method: Any, name: str, reserved: frozenset[str]) -> list[Parameter]:
    """Return the parameters of a pattern. One that is called like an option of the command is --param-NAME."""
    try:
        hints = get_type_hints(method, include_extras=True)
    except NameError as error:
        raise DeclarationError(f"the pattern {name}: {error}, so an annotation cannot be read") from error
    return [
        _parameter(each, hints.get(each.name, str), reserved)
        for each in inspect.signature(method).parameters.values()
        if each.name != "self" and each.kind is not each.VAR_KEYWORD
    ]


def _parameter(parameter: inspect.Parameter, hint: Any, reserved: frozenset[str]) -> Parameter:
    takes_many = parameter.kind is parameter.VAR_POSITIONAL
    annotation = tuple[hint, ...] if takes_many else hint
    option = f"--{parameter.name.strip('_').replace('_', '-')}"
    if option in reserved:
        option = f"--param-{option[2:]}"
    return Parameter(parameter.name, option, annotation, shape_of(annotation), parameter.default, takes_many)
