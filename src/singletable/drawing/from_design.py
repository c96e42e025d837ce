"""The picture of a blueprint: its key templates as collections, one view for the table and one for each index."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from singletable.blueprint import Blueprint, IndexBlueprint
from singletable.drawing.design_keys import (
    Shape,
    drawn_key,
    drawn_template,
    partition_notes,
    shape_of,
    sort_order,
    stored_names,
)
from singletable.drawing.design_patterns import patterns_of
from singletable.drawing.design_rows import item_row, lock_row
from singletable.drawing.picture import TABLE, Collection, Key, Picture, Row, View


def draw_design(blueprint: Blueprint) -> Picture:
    """Draw a design without items: every kind of collection that it can have."""
    return Picture(
        title=blueprint.name,
        subtitle=_subtitle(blueprint),
        entities=tuple(entity.name for entity in blueprint.entities),
        views=(_view(blueprint, None), *(_view(blueprint, index) for index in blueprint.indexes)),
    )


def _subtitle(blueprint: Blueprint) -> str:
    counts = (
        (len(blueprint.entities), "entity", "entities"),
        (len(blueprint.indexes), "index", "indexes"),
        (len(blueprint.patterns), "access pattern", "access patterns"),
    )
    said = [f"{count} {one if count == 1 else many}" for count, one, many in counts if count]
    return " · ".join([drawn_template(blueprint.table.name, {}).text, *said])


def _view(blueprint: Blueprint, index: IndexBlueprint | None) -> View:
    name = None if index is None else index.name
    table = blueprint.table
    sort_key = table.sk if index is None else " + ".join(index.sk) or None
    return View(
        name=name or TABLE,
        partition_key=table.pk if index is None else " + ".join(index.pk),
        sort_key=sort_key,
        collections=tuple(
            begun.collection(blueprint, name, sort_key or "") for begun in _begun(blueprint, index)
        ),
        notes=() if index is None else _projection(index),
    )


def _projection(index: IndexBlueprint) -> tuple[str, ...]:
    match index.projection:
        case "ALL":
            return ()
        case "KEYS_ONLY":
            return ("keys only",)
        case _:
            return (f"keys and {', '.join(index.included)}",)


@dataclass(slots=True)
class _Begun:
    """A collection to which entities are still added."""

    partition: Key
    notes: tuple[str, ...] = ()
    rows: list[Row] = field(default_factory=list)

    def add(self, partition: Key, row: Row, notes: tuple[str, ...] = ()) -> None:
        """Add a row. A key of the same shape that is filled in from other fields is said."""
        if partition.text != self.partition.text:
            row = replace(row, notes=(partition.text, *row.notes))
        self.rows.append(row)
        self.notes = tuple(dict.fromkeys((*self.notes, *notes)))

    def collection(self, blueprint: Blueprint, index: str | None, sort_key: str) -> Collection:
        """Return the collection in the order of its sort keys, with the patterns that ask for it."""
        entities = frozenset(row.entity for row in self.rows if row.kind == "item")
        return Collection(
            partition=self.partition,
            rows=tuple(sorted(self.rows, key=lambda row: sort_order(row.sort))),
            notes=self.notes,
            patterns=patterns_of(blueprint, index, sort_key, shape_of(self.partition), entities),
        )


def _begun(blueprint: Blueprint, index: IndexBlueprint | None) -> Iterator[_Begun]:
    """Return the collections of a view in the order of their entities; in the table, those of locks come last."""
    begun: dict[Shape, _Begun] = {}
    for entity in blueprint.entities:
        place = entity.place(None if index is None else index.name)
        if place is not None:
            partition, notes = drawn_key(place.pk, stored_names(entity)), partition_notes(place.pk)
            collection = begun.setdefault(shape_of(partition), _Begun(partition))
            collection.add(partition, item_row(entity, place, blueprint.table, index), notes)
    locks = [(entity, unique) for entity in blueprint.entities for unique in entity.uniques]
    for entity, unique in locks if index is None else ():
        partition = drawn_template(unique.template, stored_names(entity))
        collection = begun.setdefault(shape_of(partition), _Begun(partition))
        collection.add(partition, lock_row(entity, unique, blueprint.table))
    yield from begun.values()
