"""Designs as their documents have them: the lines that they rest on, and their contents in a form to compare."""

from __future__ import annotations

import ast
import json
import operator
import re
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter

import singletable_systems
from singletable.blueprint import (
    Blueprint,
    EntityBlueprint,
    FixBlueprint,
    ModelBlueprint,
    PatternBlueprint,
)

Line = tuple[str, int]  # of a document: ("003", 103)

ROOT: Final = Path(__file__).parents[2]
_SYSTEMS: Final = Path(next(iter(singletable_systems.__path__)))
_ARITHMETIC: Final[Mapping[type[ast.operator], Callable[[float, float], float]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}

# The lines of each document that are not blank.
_CONTENT: Final = {
    "001": """1 3 5 7 9-11 13 15-23 25 27-29 31-33 35-37 39-41 43-45 47 49-61 63 65-69 71 73-102 104 106-110""",
    "003": """1 3 5 7 9-13 15-19 21 23 25 27-31 33-46 48-49 51 53 55 57-63 65-72 74-80 82-87 89-92 94-98 100-103
        105 107 109 111-115 117-122 124-126 128-129 131-135 137-139 141-143 145 147 149 151-157 159-167 169-170
        172-176 178-181 183 185 187 189-193 195-201 203-207 209-212 214-216 218 220 222 224-239 241 243-252
        254-264 266-275 277 279-290 292 294-302 304-307 309-310 312 314 316-322 324 326-331 333 335-339 341
        343-347 349-350 352-353 355-356 358-359 361-362 364 366-370 372-376 378-381 383 385-386 388-389
        391-400""",
    "004": """1 3 5 7 9 11 13 15 17-21 23-25 27 29 31-40 42 44-49 51 53 55-64 66 68-75 77 79 81 83-85 87-90 92
        94-97 99-102 104-107 109-112 114-117 119 121-125 127-130 132 134 136-139 141-144 146 148 150-153
        155-158 160 162-165 167-188 190 192-197 199-202 204 206-210 212-215 217 219-222 224-227 229-232 234
        236-240 242-246 248-252 254 256-263""",
}


# --- files ----------------------------------------------------------------------------------------------


def documented_text(system: str) -> str:
    """Return the text of a system's design as its document has it."""
    return (_SYSTEMS / system / "model" / "documented.toml").read_text(encoding="utf-8")


def fixes_of(system: str) -> tuple[FixBlueprint, ...]:
    """Return what a system does otherwise than its document."""
    text = (_SYSTEMS / system / "model" / "fixes.toml").read_text(encoding="utf-8")
    return TypeAdapter(tuple[FixBlueprint, ...]).validate_python(tomllib.loads(text)["fixes"])


# --- lines ----------------------------------------------------------------------------------------------


def content_lines(document: str) -> set[Line]:
    """Return the lines of a document that say something."""
    return {line for lines in _CONTENT[document].split() for line in lines_of(f"{document}:{lines}")}


def cited_lines(paths: Iterable[Path], ids: Collection[str]) -> dict[Line, set[Path]]:
    """Return the lines of some documents that files cite, as 003:103 or 003:59-62, each with those files."""
    cited: dict[Line, set[Path]] = {}
    for path in paths:
        for found in re.findall(rf"\b(?:{'|'.join(ids)}):\d+(?:-\d+)?", path.read_text(encoding="utf-8")):
            for line in lines_of(found):
                cited.setdefault(line, set()).add(path)
    return cited


def citing_files() -> Iterator[Path]:
    """Return the files that may cite a document: code, tests, pages, data."""
    for room in ("src", "tests", "docs"):
        for path in (ROOT / room).rglob("*"):
            if path.suffix in (".py", ".md", ".toml", ".json") and path.is_file():
                yield path


def covered_lines(blueprint: Blueprint) -> set[Line]:
    """Return every line that some part of a blueprint says it was taken from."""
    return {line for at in said_at(json.loads(blueprint.to_json())) for line in lines_of(at)}


def said_at(part: Any) -> Iterator[str]:
    """Return where a part and all inside of it were said."""
    if isinstance(part, dict):
        for name, member in part.items():
            yield from (said["at"] for said in member) if name == "said" else said_at(member)
    elif isinstance(part, list):
        for member in part:
            yield from said_at(member)


def lines_of(at: str) -> set[Line]:
    """Return the lines of a citation: "003:59-61" is three."""
    document, _, lines = at.partition(":")
    first, _, last = lines.partition("-")
    return {(document, line) for line in range(int(first), int(last or first) + 1)} if first else set()


# --- contents -------------------------------------------------------------------------------------------


def keys_of(blueprint: Blueprint) -> dict[tuple[str, str, str], set[Line]]:
    """Return every key of an entity by entity, attribute and template, with the lines of its place."""
    return {
        (entity.name, key.attributes[0], str(key.template)): {
            line for said in place.said for line in lines_of(said.at)
        }
        for entity in blueprint.entities
        for place in entity.places
        for key in (place.pk, place.sk)
        if key is not None
    }


def attributes_of(blueprint: Blueprint) -> dict[str, str]:
    """Return the stored names of each entity and of each model, with ? where one is optional."""
    models = (model for entity in blueprint.entities for model in entity.models)
    owners: list[EntityBlueprint | ModelBlueprint] = [*blueprint.entities, *models]
    return {
        owner.name: " ".join(each.stored + "?" * each.is_optional for each in owner.attributes)
        for owner in owners
    }


def asked(pattern: PatternBlueprint) -> str:
    """Return what a pattern asks for, as a text: each read with its index and conditions."""
    return "; ".join(
        " ".join(
            [
                read.operation,
                *([read.index] if read.index else []),
                " AND ".join(
                    f"{each.attribute} {each.operator} {' AND '.join(each.templates)}"
                    for each in read.conditions
                ),
            ]
        ).strip()
        for read in pattern.reads
    )


def formula_value(blueprint: Blueprint, name: str) -> float:
    """Work a figure out by its formula and terms; those that are figures have their stated values."""
    figures = {figure.name: figure for figure in blueprint.figures}
    figure = figures[name]
    terms = {
        term: figures[value].value if isinstance(value, str) else value
        for term, value in figure.terms.items()
    }
    return _value(ast.parse(figure.formula, mode="eval").body, terms)


def _value(node: ast.expr, terms: Mapping[str, float]) -> float:
    match node:
        case ast.BinOp(left, sign, right):
            return _ARITHMETIC[type(sign)](_value(left, terms), _value(right, terms))
        case ast.Name(name):
            return terms[name]
        case ast.Constant(int() | float() as number):
            return number
    raise ValueError(f"{ast.unparse(node)} is no arithmetic")


def has_part(blueprint: Blueprint, path: str) -> bool:
    """Tell whether a blueprint has the part that a fix names: "entities.Batch.places.by_status"."""
    here: Any = blueprint
    for name in path.split("."):
        if isinstance(here, tuple):
            named = ("stored", "number", "name", "field", "entity")
            here = next((each for each in here if name in (getattr(each, of, None) for of in named)), None)
        else:
            here = getattr(here, name, None)
        if here is None:
            return False
    return True


def has_test(name: str) -> bool:
    """Tell whether there is the test that a fix names: "tests/…/test_kefir_keys.py::test_…"."""
    path, _, test = name.partition("::")
    file = ROOT / path
    return file.is_file() and f"\ndef {test}(" in file.read_text(encoding="utf-8")
