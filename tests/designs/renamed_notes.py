"""Notes whose attributes get other names: first by snake case, then by camel case, then one by its own name."""

from __future__ import annotations

from typing import Annotated

from singletable.design import (
    AverageOf,
    Design,
    Entity,
    Get,
    Index,
    Key,
    Keys,
    Query,
    SortKey,
    Stored,
    Table,
    pattern,
)


class NoteTable(Table):
    name = "notes"
    pitr_days = None
    by_writer = Index("ByWriter", pk="writerPK", sk="writerSK")


class BookPK(Key, template="BOOK#{book_id}"):
    book_id: str


class BookSK(SortKey, template="BOOK"):
    pass


class NoteSK(SortKey, template="NOTE#{note_id}"):
    note_id: str


class WriterPK(Key, template="WRITER#{written_by}"):
    written_by: str


class Note(Entity):
    key = Keys(BookPK, NoteSK)

    book_id: str
    note_id: str
    written_by: str
    text: str = ""
    star_count: int = 0
    is_draft: bool | None = None


class Book(Entity):
    key = Keys(BookPK, BookSK)

    book_id: str
    mean_stars: Annotated[float | None, AverageOf(Note, "star_count", decimals=1)] = None


class Notes(Design):
    table = NoteTable
    entities = (Book, Note)
    casing = "snake"

    @pattern("1 Get a note")
    def note(self, book_id: str, note_id: str) -> Get[Note]:
        return Note.key.get(BookPK(book_id=book_id), NoteSK(note_id=note_id))


class CamelNotes(Design):
    table = NoteTable
    entities = (Book, Note)
    casing = "camel"

    @pattern("1 Get a note")
    def note(self, book_id: str, note_id: str) -> Get[Note]:
        return Note.key.get(BookPK(book_id=book_id), NoteSK(note_id=note_id))

    @pattern("2 Get a book")
    def book(self, book_id: str) -> Get[Book]:
        return Book.key.get(BookPK(book_id=book_id), BookSK())


class SignedNote(Entity, name="Note"):
    key = Keys(BookPK, NoteSK)
    written = NoteTable.by_writer.keys(WriterPK, NoteSK)

    book_id: str
    note_id: str
    written_by: Annotated[str, Stored("author")]
    text: str = ""
    star_count: int = 0
    is_draft: bool | None = None


class SignedBook(Entity, name="Book"):
    key = Keys(BookPK, BookSK)

    book_id: str
    mean_stars: Annotated[float | None, AverageOf(SignedNote, "star_count", decimals=1)] = None


class SignedNotes(Design):
    table = NoteTable
    entities = (SignedBook, SignedNote)
    casing = "camel"

    @pattern("1 Get the notes of a writer")
    def notes_by(self, written_by: str) -> Query[SignedNote]:
        return SignedNote.written.query(WriterPK(written_by=written_by))
