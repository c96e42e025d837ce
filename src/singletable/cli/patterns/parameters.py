"""The parameters of a pattern as options of a command: read off the signature of its method."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NoReturn, get_type_hints

from singletable.cli.messages import WrongUseError, meant
from singletable.cli.patterns.shapes import ParameterShape, choice_text, shape_of
from singletable.design.values.annotations import alias_of, type_text
from singletable.errors import DeclarationError

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


# --- what was given -------------------------------------------------------------------------------------


class _Options(argparse.ArgumentParser):
    """The options of one pattern. Wrong use is told like every other error."""

    def error(self, message: str) -> NoReturn:
        raise WrongUseError(message, hint=f"see {self.prog} --help")


def read_options(name: str, parameters: list[Parameter], words: list[str]) -> dict[str, list[str]]:
    """Return the texts that were given for each parameter; refuse what is no option of the pattern."""
    parser = _Options(prog=f"singletable run {name}", add_help=False, allow_abbrev=False)
    add_options(parser, parameters)
    given, left = parser.parse_known_args(_joined(words))
    if left:
        options = [parameter.option for parameter in parameters]
        known = f"its options: {' '.join(options)}" if options else "it has no options of its own"
        near = meant(left[0].partition("=")[0], options)
        raise WrongUseError(f"{name} does not take {left[0]}", hint=f"{near}{known}")
    texts = {parameter.name: getattr(given, parameter.name) for parameter in parameters}
    found = {
        each: text if isinstance(text, list) else [text] for each, text in texts.items() if text is not None
    }
    _refuse_missing(name, parameters, found)
    return found


def add_options(
    parser: argparse.ArgumentParser | argparse._ArgumentGroup, parameters: list[Parameter]
) -> None:
    """Describe the options of a pattern."""
    for parameter in parameters:
        settings: dict[str, Any] = {"dest": parameter.name, "metavar": parameter.shape.metavar}
        if parameter.is_list:
            settings |= {"nargs": "+", "action": "extend"}
        elif parameter.shape.kind == "flag":
            settings |= {"nargs": "?", "const": "true"}
        parser.add_argument(parameter.option, help=_help(parameter).replace("%", "%%"), **settings)


def _help(parameter: Parameter) -> str:
    default = parameter.shown_default
    parts = [
        "" if parameter.shape.choices else parameter.type,
        "several values, or the option several times" if parameter.is_list else "",
        "required" if default is None else f"default: {default}",
        f"the parameter {parameter.name}" if parameter.option.startswith("--param-") else "",
    ]
    return "; ".join(filter(None, parts))


def _joined(words: list[str]) -> list[str]:
    """Write --since -3d as --since=-3d, which argparse would take for an option; and --user_id as --user-id."""
    joined: list[str] = []
    for word in words:
        is_value = word[:1] == "-" and word[1:2].isdigit()
        if is_value and joined and joined[-1].startswith("--") and "=" not in joined[-1]:
            joined[-1] += f"={word}"
        elif word.startswith("--"):
            name, equals, value = word.partition("=")
            joined.append(f"{name.replace('_', '-')}{equals}{value}")
        else:
            joined.append(word)
    return joined


def _refuse_missing(name: str, parameters: list[Parameter], found: Mapping[str, Any]) -> None:
    missing = [each for each in parameters if each.is_required and each.name not in found]
    if missing:
        wanted = " ".join(f"{each.option} {each.shape.metavar}" for each in missing)
        raise WrongUseError(f"{name} needs {wanted}", hint=f"see singletable run {name} --help")
