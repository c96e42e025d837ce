"""Fields that may have so many bytes: what has more is refused, when it is made and when it is changed."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import ValidationError

from singletable import Compressed, Design, Entity, Get, Key, Keys, MaxBytes, SortKey, Table, pattern
from singletable.errors import DeclarationError, SingleTableError


class Shelf(Table):
    name = "shelf"


class BookPK(Key, template="BOOK#{book_id}"):
    book_id: str


class BookSK(SortKey, template="METADATA"):
    pass


class Book(Entity):
    key = Keys(BookPK, BookSK)

    book_id: str
    title: Annotated[str, MaxBytes(12)] = ""
    pages: Annotated[tuple[str, ...], Compressed(), MaxBytes(40)] = ()
    notes: Annotated[dict[str, Any], MaxBytes(20)] | None = None


class Books(Design):
    table = Shelf
    entities = (Book,)

    @pattern("1 A book")
    def book(self, book_id: str) -> Get[Book]:
        return Book.key.get(BookPK(book_id=book_id), BookSK())


def test_value_within_its_bound_is_stored() -> None:
    with Books.open(":memory:") as db:
        book = Book(book_id="b1", title="0123456789", pages=("x" * 36,), notes={"a": "y" * 10})
        db.create(book)
        assert db.book("b1").one() == book


@pytest.mark.parametrize(
    ("field", "value", "size"),
    [
        ("title", "01234567890", 13),
        ("title", "gà gà gà", 13),
        ("pages", ["x" * 37], 41),
        ("notes", {"a": "y" * 13}, 21),
    ],
)
def test_value_with_more_bytes_is_refused(field: str, value: Any, size: int) -> None:
    with pytest.raises(ValidationError, match=f"it has {size} bytes, and") as refused:
        Book(book_id="b1", **{field: value})
    assert refused.value.errors()[0]["loc"] == (field,)


@pytest.mark.parametrize("by_key", [True, False])
def test_change_to_more_bytes_is_refused_and_changes_nothing(by_key: bool) -> None:
    with Books.open(":memory:") as db:
        book = Book(book_id="b1", title="short")
        db.create(book)
        with pytest.raises((ValidationError, SingleTableError), match="it has 14 bytes"):
            db.update(db.book("b1") if by_key else book, title="012345678901")
        assert db.book("b1").one() == Book(book_id="b1", title="short")


def test_blueprint_has_samples_for_bounded_fields() -> None:
    assert Books.blueprint().patterns


def test_bound_that_allows_nothing_is_refused() -> None:
    with pytest.raises(DeclarationError, match="allows nothing"):
        MaxBytes(0)
