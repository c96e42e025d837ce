"""The access patterns of a blueprint, each with its request to a collection."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from singletable.blueprint import (
    Blueprint,
    PatternBlueprint,
    ReadBlueprint,
    SortBlueprint,
    WriteBlueprint,
)
from singletable.blueprint.markdown import sort_text
from singletable.drawing.design_conditions import condition_said
from singletable.drawing.design_keys import Names, Shape, drawn_template, shape_of, stored_names
from singletable.drawing.picture import Pattern


def patterns_of(
    blueprint: Blueprint, index: str | None, sort_key: str, shape: Shape, entities: frozenset[str]
) -> tuple[Pattern, ...]:
    """Return the patterns that read or write a collection: its partition key, and the entities in it."""
    found: list[Pattern] = []
    for pattern in sorted(blueprint.patterns, key=lambda pattern: _place(pattern.number)):
        found += [
            _read(blueprint, pattern, read, sort_key)
            for read in pattern.reads
            if read.index == index and _is_of(read, shape, entities)
        ]
        # Only the table is written; indexes follow it.
        found += [
            _write(blueprint, pattern, write)
            for write in pattern.writes
            if index is None and write.entity in entities
        ]
    return tuple(found)


def _place(number: str) -> tuple[int, str]:
    """Return a sort key: 3b comes behind 3, and 10 behind both; patterns without a number keep their order."""
    digits = number[: len(number) - len(number.lstrip("0123456789"))]
    return (int(digits) if digits else sys.maxsize, number)


def _is_of(read: ReadBlueprint, shape: Shape, entities: frozenset[str]) -> bool:
    """Tell whether a read is of a collection. A key with constants has another shape, but the same entities."""
    is_of_shape = shape_of(drawn_template(read.pk, {})) == shape
    return is_of_shape or (read.lock is None and bool(entities.intersection(read.entities)))


def _read(blueprint: Blueprint, pattern: PatternBlueprint, read: ReadBlueprint, sort_key: str) -> Pattern:
    details = ", ".join(_details(read, sort_key, _names(blueprint, read.entities)))
    return _pattern(pattern, read.operation, details, read.entities)


def _write(blueprint: Blueprint, pattern: PatternBlueprint, write: WriteBlueprint) -> Pattern:
    names = _names(blueprint, (write.entity,))
    details = [names.get(field, field) for field in write.fields]
    details += [f"if {condition_said(write.condition, names)}"] if write.condition is not None else []
    return _pattern(pattern, write.operation, ", ".join(details), (write.entity,))


def _names(blueprint: Blueprint, entities: tuple[str, ...]) -> Names:
    names: dict[str, str] = {}
    for name in entities:
        entity = blueprint.entity(name)
        names |= {} if entity is None else stored_names(entity)
    return names


def _pattern(pattern: PatternBlueprint, operation: str, details: str, entities: tuple[str, ...]) -> Pattern:
    parameters = ", ".join(f"{each.name}?" if each.is_optional else each.name for each in pattern.parameters)
    call = f"{pattern.method}({parameters})"
    return Pattern(pattern.number, pattern.title, call, operation, details, entities)


def _details(read: ReadBlueprint, sort_key: str, names: Names) -> Iterator[str]:
    if read.sort is not None:
        templates = tuple(drawn_template(each, names).text for each in read.sort.templates)
        yield sort_text(SortBlueprint(read.sort.operator, templates), sort_key)
    if read.count > 1:
        yield f"x {read.count}"
    if read.order == "backward":
        yield "newest first"
    if read.limit is not None:
        yield f"limit {read.limit}"
    if read.filter is not None:
        yield f"filter {condition_said(read.filter, names)}"
    if read.is_consistent:
        yield "consistent"
    if read.owner_of is not None:
        yield "the item that the lock names"
    if read.named_by is not None:
        yield f"the items that {read.named_by} names"
