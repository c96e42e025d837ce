"""Patterns described: the list of them, and the help of one, with its options and those of the command."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from singletable.cli.patterns.finding import FoundPattern
from singletable.cli.patterns.parameters import add_options
from singletable.pattern_texts.parameters import Parameter
from singletable.pattern_texts.values import TIME_HELP

_KIND_HELP = {
    "time": TIME_HELP,
    "date": "DATE is ISO 8601, as 2025-01-20. Or: today, +2d, -3d.",
    "span": "SPAN is a length of time, as 90m, 36h, 1d12h.",
    "json": "JSON is an object, by stored or by Python's names, or @FILE.json with one.",
    "bytes": "BASE64 is binary data.",
}


def help_of(
    pattern: FoundPattern,
    parameters: list[Parameter],
    add_run_options: Callable[[argparse._ArgumentGroup], None],
) -> str:
    """Return the help of a pattern, with the options that every pattern has."""
    parser = argparse.ArgumentParser(
        prog=f"singletable run {pattern.name}",
        usage=f"singletable run {pattern.name} {' '.join(map(option_text, parameters))} [options]".replace(
            "%", "%%"
        ),
        description=_description(pattern),
        epilog=_epilog(parameters),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        add_help=False,
    )
    if parameters:
        add_options(parser.add_argument_group("options of the pattern"), parameters)
    add_run_options(parser.add_argument_group("options of the command"))
    return parser.format_help()


def _description(pattern: FoundPattern) -> str:
    info = pattern.info
    # Of a pattern without a docstring, inspect would find that of a base class.
    method = getattr(pattern.source.design, pattern.method)
    lines = [
        f"{info.number} {info.title}".strip(),
        inspect.cleandoc(method.__doc__) if method.__doc__ else "",
        f"documented: {info.documented}" if info.documented else "",
        f"fixes: {info.fixes}" if info.fixes else "",
    ]
    return "\n".join(filter(None, lines))


def _epilog(parameters: list[Parameter]) -> str:
    kinds = {(each.shape.member or each.shape).kind for each in parameters}
    notes = [text for kind, text in _KIND_HELP.items() if kind in kinds]
    renamed = [each for each in parameters if each.option.startswith("--param-")]
    notes += [
        f"{each.option} is the parameter {each.name}: the command has an option of that name itself."
        for each in renamed
    ]
    return "\n".join(notes)


# --- all patterns ---------------------------------------------------------------------------------------------


def pattern_data(pattern: FoundPattern, parameters: list[Parameter]) -> dict[str, Any]:
    """Return a pattern as JSON can hold it."""
    return {
        "pattern": pattern.name,
        "number": pattern.info.number,
        "title": pattern.info.title,
        "parameters": [parameter.data() for parameter in parameters],
        "fixes": [each.strip() for each in pattern.info.fixes.split(",") if each.strip()],
        "documented": pattern.info.documented,
    }


def list_lines(patterns: Iterable[tuple[FoundPattern, list[Parameter]]]) -> Iterator[str]:
    """Return a line for each pattern: its name, number and title, what it fixes; below it, its options."""
    rows = list(patterns)
    name_width = max((len(pattern.name) for pattern, _ in rows), default=0)
    number_width = max((len(pattern.info.number) for pattern, _ in rows), default=0)
    for pattern, parameters in rows:
        info = pattern.info
        fixes = f" (fixes {info.fixes})" if info.fixes else ""
        yield f"{pattern.name:<{name_width}}  {info.number:>{number_width}}  {info.title}{fixes}".rstrip()
        if parameters:
            yield f"    {' '.join(map(option_text, parameters))}"


def option_text(parameter: Parameter) -> str:
    """Return an option as a usage line shows it: what may be left out is in brackets."""
    text = f"{parameter.option} {parameter.shape.metavar}{' ...' if parameter.is_list else ''}"
    return text if parameter.is_required else f"[{text}]"
