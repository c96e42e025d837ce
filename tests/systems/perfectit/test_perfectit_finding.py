"""Cards are found by words: with an index in its order, without one by the words that the table keeps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta

import pytest

from singletable import Page
from singletable.errors import CursorError
from singletable_systems.perfectit.errors import InvalidInputError
from singletable_systems.perfectit.model.entities import PerfectionCard
from singletable_systems.perfectit.model.keys import CardId
from singletable_systems.perfectit.model.words import words
from singletable_systems.perfectit.reactions.fts5 import Fts5Index
from singletable_systems.perfectit.reactions.handlers import PerfectIt
from singletable_systems.perfectit.reactions.search import (
    HITS_MAX,
    Hit,
    SearchDocument,
    SearchUnavailableError,
    search_document,
)
from singletable_systems.perfectit.services import search as finding
from singletable_systems.perfectit.services.search import Finding
from singletable_systems.perfectit.services.search_index import IndexFiller
from systems.perfectit_cards import CARD, draft, follow, opened, publish


@pytest.fixture
def db() -> Iterator[PerfectIt]:
    with opened() as db:
        yield db


@pytest.fixture
def index(db: PerfectIt) -> Iterator[Fts5Index]:
    with Fts5Index() as index:
        db.search_index = index
        yield index


def ids(page: Page[PerfectionCard]) -> list[str]:
    return [card.card_id for card in page]


def pages(db: PerfectIt, text: str, limit: int) -> list[list[str]]:
    """Read all pages of a search."""
    read: list[list[str]] = []
    cursor: str | None = None
    while True:
        page = Finding(db).search(text, limit=limit, cursor=cursor)
        read.append(ids(page))
        cursor = page.cursor
        if cursor is None:
            return read


# --- with an index ----------------------------------------------------------------------------------------


def test_cards_come_in_the_order_of_the_index(db: PerfectIt, index: Fts5Index) -> None:
    publish(db, "a", title="Chair", description="of oak")
    publish(db, "b", title="Oak")
    publish(db, "c", title="Chair", tags=["oak"])
    follow(db)
    page = Finding(db).search("oak")
    assert ids(page) == ["b", "c", "a"]
    assert page.cursor is None
    assert page[0].title == "Oak"
    assert page.units == 1.5, "one BatchGetItem of three small cards"


def test_what_only_the_text_says_is_found_with_an_index_alone(db: PerfectIt, index: Fts5Index) -> None:
    publish(db, title="Table", description="of oak")
    follow(db)
    assert ids(Finding(db).search("oak")) == [CARD]
    db.search_index = None
    assert ids(Finding(db).search("oak")) == []
    assert ids(Finding(db).search("table")) == [CARD]


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 100])
def test_pages_are_full_and_in_order_although_the_index_is_behind(
    db: PerfectIt, index: Fts5Index, limit: int
) -> None:
    for number in range(12):
        index.put(search_document(publish(db, f"c{number:02}", title="Oak")))
    for hidden in ("c01", "c02", "c05"):
        db.update(db.card(CardId(hidden)), status="ARCHIVED")
    for gone in ("c00", "c07"):
        db.delete(db.card(CardId(gone)))
    expected = ["c03", "c04", "c06", "c08", "c09", "c10", "c11"]
    read = pages(db, "oak", limit)
    assert [card_id for page in read for card_id in page] == expected
    assert all(len(page) == limit for page in read[: len(expected) // limit])


def test_search_goes_on_to_a_stated_number_of_hits() -> None:
    class Endless:
        def __init__(self) -> None:
            self.asked: list[tuple[int, int]] = []

        def put(self, document: SearchDocument) -> None: ...

        def delete(self, card_id: CardId, version: int) -> None: ...

        def search(self, text: str, *, limit: int, offset: int = 0) -> Sequence[Hit]:
            self.asked.append((limit, offset))
            return [Hit(CardId(f"gone{offset + number}"), 1.0) for number in range(limit)]

    with opened() as db:
        endless = db.search_index = Endless()
        page = Finding(db).search("oak", limit=100)
        assert (page.items, page.cursor) == ([], None)
        assert endless.asked == [(100, offset) for offset in range(0, HITS_MAX, 100)]


def test_index_out_of_reach_gives_way_to_the_words_of_the_table(
    db: PerfectIt, index: Fts5Index, caplog: pytest.LogCaptureFixture
) -> None:
    publish(db, title="Oak table")
    follow(db)
    index.close()
    assert ids(Finding(db).search("table oak")) == [CARD]
    assert "the search index is not available" in caplog.text
    with pytest.raises(SearchUnavailableError):
        Finding(db).search("oak", cursor="index:1")


# --- by the words of the table ---------------------------------------------------------------------------


TITLES = {
    "a": "Oak table",
    "b": "Oak chair",
    "c": "Elm table",
    "d": "Table of oak, round",
    "e": "Round oak table",
    "f": "Chair",
    "g": "Oak",
    "h": "Crème brûlée on an oak table",
}


@pytest.mark.parametrize("chunk", [1, 2, 3, 50])
@pytest.mark.parametrize("limit", [1, 2, 5, 100])
def test_all_words_are_found_in_pages_of_any_size(
    db: PerfectIt, monkeypatch: pytest.MonkeyPatch, limit: int, chunk: int
) -> None:
    monkeypatch.setattr(finding, "_CHUNK_IDS", chunk)
    for card_id, title in TITLES.items():
        publish(db, card_id, title=title)
    draft(db, "draft", title="Round oak table")
    follow(db)
    for text in (
        "oak",
        "oak table",
        "TABLE, oak!",
        "round oak table",
        "creme table",
        "elm chair",
        "glass",
        "chair",
    ):
        expected = [card_id for card_id, title in TITLES.items() if set(words(text)) <= set(words(title))]
        read = pages(db, text, limit)
        assert [card_id for page in read for card_id in page] == expected
        assert all(len(page) == limit for page in read[: len(expected) // limit])


def test_tags_and_categories_are_words_too(db: PerfectIt) -> None:
    publish(db, title="Table", tags=["oak"], category="woodworking")
    follow(db)
    assert ids(Finding(db).search("oak woodworking table")) == [CARD]


@pytest.mark.parametrize("word", ["oak", "Oak", "OAK", "Öak", "oak!", " oak "])
def test_word_is_found_in_any_case_and_with_or_without_accents(db: PerfectIt, word: str) -> None:
    publish(db, title="Perfect Oak")
    follow(db)
    assert [card.card_id for card in db.cards_with_word(word).all()] == [CARD]
    assert [token.card_id for token in db.cards_of_word(word).all()] == [CARD]


@pytest.mark.parametrize("word", ["danh", "Đánh", "ĐANH", "lodz", "Łódź", "strasse", "oeuvre", "Ŧħorn"])
def test_word_is_found_without_strokes_and_ligatures(db: PerfectIt, word: str) -> None:
    publish(db, title="Đánh bóng", tags=["Łódź", "Straße", "œuvre", "ŧhorn"])
    follow(db)
    assert [card.card_id for card in db.cards_with_word(word).all()] == [CARD]
    assert ids(Finding(db).search(word)) == [CARD]


def test_card_that_was_hidden_before_its_words_were_is_not_shown(db: PerfectIt) -> None:
    for card_id in ("a", "b", "c"):
        publish(db, card_id, title="Oak")
    follow(db)
    db.update(db.card(CardId("b")), status="ARCHIVED")
    db.delete(db.card(CardId("a")))
    assert ids(Finding(db).search("oak", limit=1)) == ["c"]


def test_words_that_seldom_stand_together_are_skipped_through(
    db: PerfectIt, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a common word, what lies between the cards with the other word is not read."""
    monkeypatch.setattr(finding, "_CHUNK_IDS", 10)
    for number in range(100):
        publish(db, f"c{number:03}", title="Oak gold" if number in (50, 99) else "Oak")
    follow(db)
    page = Finding(db).search("oak gold")
    assert ids(page) == ["c050", "c099"]
    assert page.usage.read < 40


def test_page_ends_when_enough_was_read_and_the_next_goes_on(
    db: PerfectIt, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finding, "_CHUNK_IDS", 1)
    monkeypatch.setattr(finding, "_CHUNKS_MAX", 4)
    for number in range(10):
        publish(db, f"c{number}", title="Oak" if number % 2 else "Elm")
    publish(db, "z", title="Oak and elm")
    follow(db)
    read = pages(db, "oak elm", 5)
    assert len(read) > 2
    assert [card_id for page in read for card_id in page] == ["z"]


def test_card_whose_id_begins_with_that_of_another_is_not_skipped(db: PerfectIt) -> None:
    for card_id in ("a", "a b", "a!", "ab"):
        publish(db, card_id, title="Oak table")
    follow(db)
    assert pages(db, "oak table", 1)[:4] == [["a"], ["a b"], ["a!"], ["ab"]]


def test_text_without_words_finds_nothing(db: PerfectIt) -> None:
    publish(db)
    follow(db)
    for text in ("", "  ", "!?", "a", "\0"):
        assert Finding(db).search(text) == Page([])


def test_words_behind_the_first_few_are_ignored(db: PerfectIt) -> None:
    publish(db, title="one two three four five six seven eight")
    follow(db)
    assert ids(Finding(db).search("one two three four five six seven eight nine")) == [CARD]


# --- cursors and limits --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "nonsense",
        "index:",
        "index:-1",
        "index:x",
        "index:1",
        "index:²",
        "words:",
        "words:a#b",
        f"words:{'x' * 5000}",
    ],
)
def test_cursor_that_is_none_is_refused(db: PerfectIt, cursor: str) -> None:
    with pytest.raises(CursorError):
        Finding(db).search("oak", cursor=cursor)


@pytest.mark.parametrize("limit", [0, -1, 101])
def test_page_of_no_size_or_of_too_many_is_refused(db: PerfectIt, limit: int) -> None:
    with pytest.raises(InvalidInputError, match="1 to 100"):
        Finding(db).search("oak", limit=limit)


# --- filling an index -----------------------------------------------------------------------------------------


def test_index_is_filled_with_all_published_cards_of_the_days(db: PerfectIt) -> None:
    now = db.now()
    for days in (0, 1, 29, 30, 31, 32, 61, 62, 99, 100, 101, 102):
        card = publish(db, f"d{days:03}", title="Oak")
        db.update(card, published_at=now - timedelta(days=days))
    draft(db, "draft", title="Oak")
    with Fts5Index() as index:
        filler = IndexFiller(db, index, days=100)
        assert filler.run() == 10
        assert filler.is_done
        assert filler.step().done == 0
        found = {hit.card_id for hit in index.search("oak", limit=100)}
        assert found == {f"d{days:03}" for days in (0, 1, 29, 30, 31, 32, 61, 62, 99, 100)}


def test_filling_an_index_keeps_what_is_newer(db: PerfectIt) -> None:
    card = publish(db, title="Oak")
    with Fts5Index() as index:
        newer = search_document(card.model_copy(update={"title": "Elm", "version": card.version + 1}))
        index.put(newer)
        IndexFiller(db, index, days=1).run()
        assert index.search("oak", limit=1) == []
