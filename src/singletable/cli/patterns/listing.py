"""`singletable run --list`: all patterns, with what each asks for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from singletable.cli.patterns.finding import FoundPattern
from singletable.cli.patterns.parameters import Parameter


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
