"""Notes of which sizes, heads and labels are worked out: nothing else follows from them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from singletable.design import Computed, Design, Entity, Key, Keys, Stored, Table


class NoteTable(Table):
    name = "notes"
    sk = None
    pitr_days = None


class NotePK(Key, template="NOTE#{note_id}"):
    note_id: str


class Note(Entity):
    key = Keys(NotePK)

    note_id: str
    text: str = ""
    title: str = ""
    pages: list[str] = Field(default_factory=list)
    stars: int = 0
    size: Annotated[int, Computed(len, "text")] = 0
    head: Annotated[str, Computed("{}: {}".format, "title", "text")] = ""
    page_count: Annotated[int, Computed(len, "pages"), Stored("pages_n")] = 0
    label: Annotated[str | None, Computed(lambda stars: "*" * stars or None, "stars")] = None


class Notes(Design):
    table = NoteTable
    entities = (Note,)
