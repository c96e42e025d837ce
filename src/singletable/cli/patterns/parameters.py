"""The parameters of a pattern as options of a command."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from singletable.cli.messages import WrongUseError
from singletable.pattern_texts.parameters import Parameter
from singletable.pattern_texts.values import (
    NoValueError,
    ParameterError,
    fixed_texts,
    read_json,
    read_values,
)
from singletable.visible import meant

if TYPE_CHECKING:
    from singletable.design.model.catalog import Catalog


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


# --- their values ---------------------------------------------------------------------------------------


def fixed_options(parameter: Parameter, texts: list[str], now: datetime) -> list[str]:
    """Return texts that mean the same at any time: `now` and `-3d` become moments."""
    try:
        return fixed_texts(parameter, texts, now)
    except ParameterError as error:
        raise WrongUseError(f"{parameter.option}: {error.problem}", hint=error.hint) from error


def option_values(
    name: str, parameters: list[Parameter], texts: Mapping[str, list[str]], catalog: Catalog
) -> dict[str, Any]:
    """Return the arguments of a pattern; those that were left out are not among them."""
    try:
        return read_values(parameters, texts, catalog, _json_or_file)
    except ParameterError as error:
        given = f" {error.given!r}" if error.given else ""
        see = f"see singletable run {name} --help"
        # What a value of the type is helps beside the help; a nearer word helps more.
        hint = f"{error.hint}; {see}" if error.hint.startswith("it is ") else error.hint or see
        raise WrongUseError(f"{error.parameter.option}{given}: {error.problem}", hint=hint) from error


def _json_or_file(text: str) -> Any:
    """Return the value of JSON, or of a file that holds it: @menu.json."""
    if not text.startswith("@"):
        return read_json(text)
    where = text[1:]
    try:
        content = Path(where).read_text(encoding="utf-8")
    except OSError as error:
        raise NoValueError(f"{where} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise NoValueError(f"{where} is no text in UTF-8") from error
    return read_json(content, where)
