"""A design whose patterns take parameters of every type, and store what they are given."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Annotated, Literal, NewType
from uuid import UUID

from pydantic import BaseModel, Field

from singletable import (
    BatchGet,
    Compressed,
    Delete,
    Design,
    Entity,
    Key,
    Keys,
    Put,
    Query,
    SortKey,
    Table,
    Update,
    Walk,
    pattern,
)

NoteId = NewType("NoteId", str)


class Colour(Enum):
    RED = "red"
    DARK_BLUE = "dark-blue"


class Place(BaseModel):
    street_name: str
    number: int | None = None


class OptionsTable(Table):
    name = "options-{stage}"


class NotePK(Key, template="NOTE#{note_id}"):
    note_id: NoteId


class HeadSK(SortKey, template="HEAD"):
    pass


class LineSK(SortKey, template="LINE#{number:04}"):
    number: int


class Note(Entity, was="Remark", schema_version=2):
    key = Keys(NotePK, HeadSK)

    note_id: NoteId
    text: str | None = None
    count: int | None = None
    amount: Decimal | None = None
    share: float | None = None
    flag: bool | None = None
    at: datetime | None = None
    day: date | None = None
    lasting_s: float | None = None
    colour: Colour | None = None
    stage: Literal[1, 2] | None = None
    names: list[str] | None = None
    numbers: list[int] | None = None
    place: Place | None = None
    content: bytes | None = None
    ident: UUID | None = None
    long: Annotated[dict[str, Decimal] | None, Compressed()] = None


class Line(Entity):
    key = Keys(NotePK, LineSK)

    note_id: NoteId
    number: int


class Options(Design):
    table = OptionsTable
    entities = (Note, Line)

    @pattern("1 Keep what is given")
    def keep(
        self,
        note_id: NoteId = NoteId("n1"),
        text: str | None = None,
        count: Annotated[int, Field(ge=0, le=99)] | None = None,
        amount: Decimal | None = None,
        share: float | None = None,
        flag: bool | None = None,
        at: datetime | None = None,
        day: date | None = None,
        lasting: timedelta | None = None,
        colour: Colour | None = None,
        stage: Literal[1, 2] | None = None,
        names: Sequence[str] | None = None,
        numbers: set[int] | None = None,
        place: Place | None = None,
        content: bytes | None = None,
        ident: UUID | None = None,
    ) -> Put[Note]:
        lasting_s = None if lasting is None else lasting.total_seconds()
        return Put(
            Note(
                note_id=note_id,
                text=text,
                count=count,
                amount=amount,
                share=share,
                flag=flag,
                at=at,
                day=day,
                lasting_s=lasting_s,
                colour=colour,
                stage=stage,
                names=None if names is None else list(names),
                numbers=None if numbers is None else sorted(numbers),
                place=place,
                content=content,
                ident=ident,
            )
        )

    @pattern("2 Put a note")
    def put_note(self, note: Note) -> Put[Note]:
        return Put(note)

    @pattern("3 Read the lines of a note up to a number, a % of them")
    def lines(self, note_id: NoteId, limit: int, json: bool = False) -> Query[Line]:
        """Parameters that are called like options of the command."""
        return Line.key.query(NotePK(note_id=note_id), lt=LineSK(number=limit))

    @pattern("4 Read the lines of several notes, one note after the other")
    def lines_of(self, *note_ids: NoteId) -> Walk[Line]:
        return Walk([Line.key.query(NotePK(note_id=note_id)) for note_id in note_ids])

    @pattern("5 Put a line")
    def put_line(self, note: NotePK, number: int) -> Put[Line]:
        return Put(Line(note_id=note.note_id, number=number))

    @pattern("6 Read lines by their keys")
    def some_lines(self, note_id: NoteId, numbers: list[int]) -> BatchGet[Line]:
        return Line.key.batch_get([(NotePK(note_id=note_id), LineSK(number=number)) for number in numbers])

    @pattern("7 Change the text of a note")
    def change_text(self, note_id: NoteId, text: str) -> Update[Note]:
        return Update(Note.key.get(NotePK(note_id=note_id), HeadSK()), text=text)

    @pattern("8 Delete a note")
    def delete_note(self, note_id: NoteId) -> Delete[Note]:
        return Delete(Note.key.get(NotePK(note_id=note_id), HeadSK()))
