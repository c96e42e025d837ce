"""The picture of real items: some collections of each kind that a design has, read from where it is open."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final

from singletable.blueprint import Blueprint
from singletable.client import Steps
from singletable.design import Design
from singletable.design.kept.unique import LOCK_NAME, OWNER, OWNER_SORT
from singletable.design.model.catalog import Catalog
from singletable.design.values.items import Item
from singletable.drawing.from_design import draw_design
from singletable.drawing.item_values import key_value, moment, value_text
from singletable.drawing.picture import (
    TABLE,
    UNKNOWN,
    Attribute,
    Collection,
    Key,
    Picture,
    Piece,
    Row,
    RowKind,
    View,
)
from singletable.drawing.sampling import FoundCollection, KeyPlace, Limits, Sample, sample_items

_PARSED_MAX: Final = 200  # characters of a key that is taken apart


def draw_items(db: Design, *, view: str | None = None, limits: Limits | None = None) -> Picture:
    """Draw the items of an open design: some collections of each kind, in all views or in one."""
    blueprint = db.blueprint()
    declared = draw_design(blueprint)
    if view is not None:
        declared = declared.only(view)
    session = db.session
    views = session.run(_views(blueprint, session.catalog, session.table, declared, limits or Limits()))
    has_unknown = any(
        row.entity == UNKNOWN for each in views for collection in each.collections for row in collection.rows
    )
    return Picture(
        title=declared.title,
        subtitle=f"items of {session.table}",
        entities=(*declared.entities, UNKNOWN) if has_unknown else declared.entities,
        views=tuple(views),
    )


def _views(
    blueprint: Blueprint, catalog: Catalog, table: str, declared: Picture, limits: Limits
) -> Steps[list[View]]:
    views: list[View] = []
    for view in declared.views:
        index = next((each for each in blueprint.indexes if each.name == view.name), None)
        keys = (blueprint.table.pk,) if index is None else index.pk
        sorts = index.sk if index is not None else tuple(filter(None, [blueprint.table.sk]))
        wanted = dict.fromkeys(
            filter(None, (*keys, *sorts, blueprint.table.pk, blueprint.table.sk, catalog.discriminator))
        )
        painter = _Painter(blueprint, catalog, view, keys, sorts, limits)
        place = KeyPlace(table, None if index is None else index.name, keys, tuple(wanted))
        views.append(painter.view((yield from sample_items(place, painter.kind_of, limits))))
    return views


@dataclass(frozen=True, slots=True)
class _Painter:
    """Draws the items found in a view as the design declares them."""

    blueprint: Blueprint
    catalog: Catalog
    declared: View
    keys: tuple[str, ...]
    sorts: tuple[str, ...]
    limits: Limits

    # --- of which entity an item is ----------------------------------------------------------------

    def entity_of(self, item: Item) -> tuple[str, RowKind]:
        """Name the entity of an item; for a lock, the entity of its owner."""
        if not self._is_lock(item):
            return self._named(item), "item"
        table = self.blueprint.table
        owner = {table.pk: item.get(OWNER), table.sk: item.get(OWNER_SORT)}
        return self._named({key: value for key, value in owner.items() if key and value}), "lock"

    def _is_lock(self, item: Item) -> bool:
        return item.get(self.catalog.discriminator, {}).get("S") == LOCK_NAME

    def _named(self, item: Item) -> str:
        schema = self.catalog.schema_of(item)
        return UNKNOWN if schema is None else schema.entity.__name__

    def kind_of(self, item: Item) -> int:
        """Return the place of an item's collection among those that are declared; behind them, if it is none."""
        is_lock = self._is_lock(item)
        entity = UNKNOWN if is_lock else self._named(item)
        text = self._text(item, self.keys)
        for place, collection in enumerate(self.declared.collections):
            if is_lock:
                if any(row.kind == "lock" for row in collection.rows) and _begins(text, collection.partition):
                    return place
            elif any(row.entity == entity and row.kind == "item" for row in collection.rows):
                return place
        return len(self.declared.collections)

    # --- collections -------------------------------------------------------------------------------

    def view(self, sample: Sample) -> View:
        """Draw the view."""
        return replace(
            self.declared,
            collections=tuple(map(self._collection, sample.found)),
            more="; ".join(_unseen(sample)),
        )

    def _collection(self, found: FoundCollection) -> Collection:
        declared = (*self.declared.collections, None)[found.kind]
        rows, left = self._rows(found, declared)
        return Collection(
            partition=_filled(
                None if declared is None else declared.partition, self._text(found.partition, self.keys)
            ),
            rows=tuple(rows),
            patterns=() if declared is None else declared.patterns,
            more=f"{'' if found.is_counted else 'more than '}{_counted(left, 'more item')}" if left else "",
        )

    def _rows(self, found: FoundCollection, declared: Collection | None) -> tuple[list[Row], int]:
        """Draw the first items of each entity, with how many like them follow; return how many are left then."""
        rows: list[Row] = []
        left = found.more_count
        seen_count = 0
        for (entity, kind), run in groupby(found.items, key=self.entity_of):
            alike = list(run)
            seen_count += len(alike)
            room = max(0, min(self.limits.rows_alike_max, self.limits.rows_max - len(rows)))
            # One that would be left out alone takes no more room than the words that say so.
            room = len(alike) if 0 < room == len(alike) - 1 else room
            shown = [self._row(item, entity, kind, declared) for item in alike[:room]]
            hidden_count = len(alike) - len(shown)
            goes_on = seen_count == len(found.items) and found.more_count > 0
            if shown and hidden_count and not goes_on:
                shown[-1] = replace(shown[-1], notes=(*shown[-1].notes, f"{hidden_count:,} more like it"))
            else:
                left += hidden_count
            rows += shown
        return rows, left

    def _row(self, item: Item, entity: str, kind: RowKind, declared: Collection | None) -> Row:
        rows = () if declared is None else declared.rows
        template = next((row for row in rows if row.entity == entity and row.kind == kind), None)
        sort = None if template is None else template.sort
        ttl = self.blueprint.table.ttl
        expires = None if ttl is None else moment(item.get(ttl))
        return Row(
            sort=_filled(sort, self._text(item, self.sorts)) if self.sorts else None,
            entity=entity,
            attributes=tuple(self._attributes(item, template)),
            notes=() if expires is None else (f"expires {expires}",),
            kind=kind,
            expires=expires is not None,
        )

    def _attributes(self, item: Item, template: Row | None) -> Iterator[Attribute]:
        """Return the attributes of an item, in the declared order; the keys of other views come last."""
        declared = () if template is None else tuple(attribute.name for attribute in template.attributes)
        others = self._other_keys()
        more = sorted(name for name in item if name not in declared and name not in others)
        for name in (*declared, *more, *(name for name in others if name not in declared)):
            if name in item and name not in (*self.keys, *self.sorts, self.catalog.discriminator):
                yield Attribute(name, value_text(item[name]), others.get(name, ""))

    def _other_keys(self) -> dict[str, str]:
        table = self.blueprint.table
        names = {name: f"a key of the {TABLE}" for name in (table.pk, table.sk) if name is not None}
        for index in self.blueprint.indexes:
            names |= {name: f"a key of {index.name}" for name in (*index.pk, *index.sk) if name not in names}
        return names

    def _text(self, item: Item, names: tuple[str, ...]) -> str:
        return ", ".join(key_value(item[name]) for name in names if name in item)


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _unseen(sample: Sample) -> Iterator[str]:
    if sample.hidden_count:
        yield _counted(sample.hidden_count, "more collection")
    if not sample.is_whole:
        yield f"only the first {sample.scanned_count:,} items were looked at"


# --- keys of items, by their templates ----------------------------------------------------------------------


def _filled(template: Key | None, text: str) -> Key:
    """Return a key of an item in the pieces of its template; whole, where it does not fit."""
    if template is None or not template.about or len(text) > _PARSED_MAX:
        return Key((Piece(text),))
    found = _pattern(template).fullmatch(text)
    if found is None:
        return Key((Piece(text),))
    values = iter(found.groups())
    return Key(tuple(Piece(next(values), piece.about) if piece.about else piece for piece in template.pieces))


def _begins(text: str, template: Key) -> bool:
    first = template.pieces[0]
    return bool(first.about) or text.startswith(first.text)


def _pattern(template: Key) -> re.Pattern[str]:
    parts = ("(.*)" if piece.about else re.escape(piece.text) for piece in template.pieces)
    return re.compile("".join(parts), re.DOTALL)
