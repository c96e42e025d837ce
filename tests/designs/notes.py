"""Notes: the smallest design, with a table that each test gives its own settings."""

from __future__ import annotations

from typing import Any

from singletable.design import Design, Entity, Index, Key, Keys, SortKey, Table, Ttl, expires


class NotePK(Key, template="NOTE#{note_id}"):
    note_id: str


class HeadSK(SortKey, template="HEAD"):
    pass


class Note(Entity):
    key = Keys(NotePK, HeadSK)

    note_id: str
    text: str = ""


class FleetingNote(Entity):
    key = Keys(NotePK, HeadSK)

    note_id: str
    text: str = ""
    ttl: Ttl = expires(days=1)


class UntilNote(Entity):
    key = Keys(NotePK, HeadSK)

    note_id: str
    until: Ttl = expires(days=1)


def by_text(**changes: Any) -> Index:
    """An index that no entity is in, with other settings than its usual ones."""
    return Index(**{"name": "by-text", "pk": "GSI1PK", "sk": "GSI1SK", **changes})


def notes_design(entity: type[Entity] = Note, **settings: Any) -> type[Design]:
    """A design of one table, `notes`, with these settings."""
    table = type("NotesTable", (Table,), {"name": "notes", "texts": by_text(), **settings})
    return type("Notes", (Design,), {"table": table, "entities": (entity,)})
