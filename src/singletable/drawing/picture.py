"""A picture as data: views, the collections in them, and the rows of each. No designs and no pixels here."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Final, Literal

TABLE: Final = "table"  # the name of the table's view
UNKNOWN: Final = "unknown"  # the name in place of an entity, for an item of no entity

RowKind = Literal["item", "lock"]


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a key: constant text, or a part that is filled in, with the source of its value."""

    text: str
    about: str = ""


@dataclass(frozen=True, slots=True)
class Key:
    """A key, in its pieces."""

    pieces: tuple[Piece, ...]

    @property
    def text(self) -> str:
        """Return the key as one text."""
        return "".join(piece.text for piece in self.pieces)

    @property
    def about(self) -> tuple[str, ...]:
        """Name the source of each of its parts."""
        return tuple(piece.about for piece in self.pieces if piece.about)


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute: its name as it is stored, and its type or its value."""

    name: str
    text: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """An item, or all items of an entity. The attributes that say most come first."""

    sort: Key | None
    entity: str
    attributes: tuple[Attribute, ...] = ()
    notes: tuple[str, ...] = ()
    kind: RowKind = "item"
    expires: bool = False


@dataclass(frozen=True, slots=True)
class Pattern:
    """An access pattern, and its request to a collection."""

    number: str
    title: str
    call: str  # batches(user_id)
    operation: str  # Query; or, of one that writes, PutItem
    details: str  # begins_with(SK, BATCH#), newest first
    entities: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Collection:
    """The items of one partition, in the order of their sort keys. `more` describes the items left out."""

    partition: Key
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    patterns: tuple[Pattern, ...] = ()
    more: str = ""


@dataclass(frozen=True, slots=True)
class View:
    """The table, or an index: the attributes that are its keys, and its collections."""

    name: str
    partition_key: str
    sort_key: str | None
    collections: tuple[Collection, ...] = ()
    notes: tuple[str, ...] = ()
    more: str = ""


@dataclass(frozen=True, slots=True)
class Picture:
    """Everything that is drawn. The entities are in the order in which they get their colours."""

    title: str
    subtitle: str
    entities: tuple[str, ...]
    views: tuple[View, ...]

    def only(self, name: str) -> Picture:
        """Return the picture with one of its views; a ValueError names those that there are."""
        found = tuple(view for view in self.views if view.name == name)
        if not found:
            raise ValueError(f"there is no view {name!r}: there are {', '.join(v.name for v in self.views)}")
        return Picture(self.title, self.subtitle, self.entities, found)


def picture_data(picture: Picture) -> dict[str, Any]:
    """Return a picture as data for JSON: all fields, and keys with their text."""
    data: dict[str, Any] = _data(picture)
    return data


def _data(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        data = {field.name: _data(getattr(value, field.name)) for field in fields(value)}
        return {"text": value.text, **data} if isinstance(value, Key) else data
    if isinstance(value, tuple):
        return [_data(member) for member in value]
    return value
