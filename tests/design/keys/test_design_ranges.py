"""Ranges of sort keys over texts that the separator behind them puts into another order than their values have."""

from __future__ import annotations

from itertools import product
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from singletable import Design, Entity, Key, Keys, SortKey, Table
from singletable.design.keys.ranges import is_within, sort_range, text_condition
from support.opened_designs import opened_design
from support.targets import TARGETS


class ShelfPK(Key, template="SHELF#{shelf}"):
    shelf: str


class HashSK(SortKey, template="BOOK#{author}#{title}#{edition}"):
    author: str
    title: str
    edition: str


class BarSK(SortKey, template="BOOK|{author}|{title}|{edition}"):  # nearly every character is below |
    author: str
    title: str
    edition: str


class ChoiceSK(SortKey, template="{author}#{title}#{edition}"):
    author: Literal["a", "a b", "b"]
    title: str
    edition: str


TEXTS = ("a", "a b", "a!", "aa", "a$", "b", "b c", "ab")
CHOICES = ("a", "a b", "b")
Values = tuple[str, str, str]


def key_texts(of: Any) -> dict[str, Values]:
    authors = CHOICES if of is ChoiceSK else TEXTS
    keys = product(authors, ("a", "a b", "b"), ("1", "1 2"))
    return {of(author=a, title=t, edition=c).render(): (a, t, c) for a, t, c in keys}


def bound_of(of: Any, values: tuple[str, ...]) -> Any:
    named = dict(zip(("author", "title", "edition"), values, strict=False))
    return of(**named) if len(values) == 3 else of.prefix(**named)


def is_meant(values: Values, bounds: dict[str, tuple[str, ...]]) -> bool:
    compares = {
        "gt": lambda value, bound: value > bound,
        "ge": lambda value, bound: value >= bound,
        "lt": lambda value, bound: value < bound,
        "le": lambda value, bound: value <= bound,
    }
    return all(compares[sign](values[: len(bound)], bound) for sign, bound in bounds.items())


def bounds_of(draw: st.DrawFn, authors: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    some = st.sampled_from(
        [("gt",), ("ge",), ("lt",), ("le",), ("gt", "le"), ("ge", "lt"), ("ge", "le"), ("gt", "lt")]
    )
    parts = (authors, ("a", "a b", "b"), ("1", "1 2"))
    return {
        sign: tuple(draw(st.sampled_from(texts)) for texts in parts[: draw(st.integers(1, 3))])
        for sign in draw(some)
    }


@pytest.mark.parametrize("of", [HashSK, BarSK, ChoiceSK], ids=["hash", "bar", "choice"])
@given(data=st.data())
def test_range_holds_just_the_keys_whose_values_are_within_the_bounds(
    of: type[SortKey], data: st.DataObject
) -> None:
    authors = CHOICES if of is ChoiceSK else TEXTS
    wanted = data.draw(st.composite(bounds_of)(authors))
    signed: dict[str, Any] = dict.fromkeys(("gt", "ge", "lt", "le"))
    bounds = sort_range(of, None, **signed | {sign: bound_of(of, values) for sign, values in wanted.items()})
    found = [values for text, values in key_texts(of).items() if is_within(bounds, text)]
    assert found == [values for values in key_texts(of).values() if is_meant(values, wanted)]


def test_range_of_beginnings_holds_just_the_keys_that_are_beside_them() -> None:
    texts = key_texts(HashSK)
    for begun in ("a", "a ", "a b", "aa"):
        below = {author for author in TEXTS if author < begun}
        begins = {author for author in TEXTS if author.startswith(begun)}
        expected = {
            "gt": set(TEXTS) - below - begins,
            "ge": set(TEXTS) - below,
            "lt": below,
            "le": below | begins,
        }
        for sign, authors in expected.items():
            signed: dict[str, Any] = dict.fromkeys(("gt", "ge", "lt", "le"))
            bounds = sort_range(HashSK, None, **signed | {sign: HashSK.starting(author=begun)})
            found = [values for text, values in texts.items() if is_within(bounds, text)]
            assert found == [values for values in texts.values() if values[0] in authors], (sign, begun)


def test_range_of_a_last_text_asks_for_no_more_than_is_meant() -> None:
    bounds = sort_range(
        HashSK,
        None,
        gt=HashSK(author="a", title="b", edition="1"),
        ge=None,
        lt=None,
        le=HashSK.prefix(author="a", title="b"),
    )
    condition = text_condition(bounds)
    assert condition is not None
    assert condition.values == ("BOOK#a#b#1\x00", "BOOK#a#b$")


class Library(Table):
    name = "library"


class Book(Entity):
    key = Keys(ShelfPK, HashSK)

    shelf: str
    author: str
    title: str
    edition: str


class Books(Design):
    table = Library
    entities = (Book,)


@pytest.mark.parametrize("target", TARGETS)
def test_query_finds_what_is_below_the_separator_in_pages_of_any_size(target: str) -> None:
    with opened_design(Books, target) as db:
        for number, author in enumerate(TEXTS):
            db.create(Book(shelf="s", author=author, title=f"t{number}", edition="1"))
        shelf = ShelfPK(shelf="s")
        bounds: list[tuple[dict[str, Any], set[str]]] = [
            ({"ge": HashSK.prefix(author="a b")}, set(TEXTS) - {"a"}),
            ({"gt": HashSK.prefix(author="a")}, set(TEXTS) - {"a"}),
            ({"lt": HashSK.prefix(author="a b")}, {"a"}),
            ({"le": HashSK.prefix(author="a")}, {"a"}),
            ({"between": (HashSK.prefix(author="a!"), HashSK.prefix(author="ab"))}, {"a!", "a$", "aa", "ab"}),
        ]
        for given_bounds, expected in bounds:
            query = db.plan(Book.key.query(shelf, **given_bounds))
            assert {book.author for book in query.all()} == expected
            for forward in (query, query.newest_first()):
                paged: list[str] = []
                page = forward.page(limit=2)
                while True:
                    paged += [book.author for book in page]
                    if page.cursor is None:
                        break
                    page = forward.page(limit=2, cursor=page.cursor)
                assert sorted(paged) == sorted(expected)
