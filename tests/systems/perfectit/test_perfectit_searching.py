"""Search indexes find cards by what they say, bear to be told things twice, and follow the table."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from singletable.clock import ManualClock
from singletable.design import Design
from singletable_systems.perfectit.model.entities import Instruction, PerfectionCard
from singletable_systems.perfectit.model.keys import CardId, CategoryId, UserId
from singletable_systems.perfectit.reactions.fts5 import Fts5Index, _use_write_ahead_log
from singletable_systems.perfectit.reactions.handlers import PerfectIt
from singletable_systems.perfectit.reactions.opensearch import OpenSearchIndex
from singletable_systems.perfectit.reactions.search import (
    SearchDocument,
    SearchIndex,
    SearchUnavailableError,
    search_document,
)
from systems.opensearch_endpoint import opensearch_endpoint
from systems.perfectit_cards import ADA, CARD, consuming, draft, drain, follow, opened, publish, vote


def document(card_id: str, title: str = "", *, version: int = 1, **texts: str) -> SearchDocument:
    values = {"tags": "", "category": "", "description": "", "instructions": "", **texts}
    return SearchDocument(card_id=CardId(card_id), version=version, title=title, **values)


def found(index: SearchIndex, text: str, **more: int) -> list[str]:
    return [hit.card_id for hit in index.search(text, **{"limit": 100, **more})]


@pytest.fixture(params=["memory", "file", "opensearch"])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SearchIndex]:
    if request.param == "opensearch":
        with opensearch_endpoint() as (_, client):
            opensearch = OpenSearchIndex(client, "cards")
            opensearch.create()
            yield opensearch
    else:
        with Fts5Index(":memory:" if request.param == "memory" else tmp_path / "search.db") as fts5:
            yield fts5


# --- what every index does --------------------------------------------------------------------------------


def test_card_is_found_by_every_text_that_it_has(index: SearchIndex) -> None:
    index.put(
        document(
            "1",
            "Perfect finish",
            tags="oak\nvarnish",
            category="woodworking",
            description="Smooth",
            instructions="Sand it",
        )
    )
    for text in ("perfect", "oak", "varnish", "woodworking", "smooth", "sand", "it"):
        assert found(index, text) == ["1"]
    assert found(index, "glass") == []


def test_all_words_must_be_there_in_whichever_text(index: SearchIndex) -> None:
    index.put(document("1", "Oak table", description="varnished"))
    index.put(document("2", "Oak chair"))
    assert found(index, "varnished oak") == ["1"]
    assert found(index, "oak glass") == []


@pytest.mark.parametrize("text", ["creme brulee", "CRÈME BRÛLÉE", "crème, brûlée!", "Crème-Brûlée"])
def test_case_accents_and_punctuation_make_no_difference(index: SearchIndex, text: str) -> None:
    index.put(document("1", "Crème brûlée"))
    assert found(index, text) == ["1"]


@pytest.mark.parametrize(
    "text", ["danh", "Đánh", "ĐANH", "ðanh", "Lodz", "łódź", "strasse", "oeuvre", "AEgir", "sihir", "SIHIR"]
)
def test_letters_with_strokes_and_ligatures_make_no_difference(index: SearchIndex, text: str) -> None:
    index.put(
        document(
            "1",
            "Đánh bóng",
            tags="Łódź\nStraße",
            category="Œuvre",
            description="Ægir",
            instructions="s\u0131h\u0131r",
        )
    )
    assert found(index, text) == ["1"]


def test_words_of_the_title_count_most(index: SearchIndex) -> None:
    index.put(document("1", "Chair", instructions="of oak"))
    index.put(document("2", "Oak"))
    index.put(document("3", "Chair", tags="oak"))
    index.put(document("4", "Chair", description="of oak"))
    assert found(index, "oak") == ["2", "3", "4", "1"]
    scores = [hit.score for hit in index.search("oak", limit=10)]
    assert scores == sorted(scores, reverse=True)
    assert all(score > 0 for score in scores)


def test_pages_follow_each_other_without_gap_or_repetition(index: SearchIndex) -> None:
    for number in range(7):
        index.put(document(f"c{number}", "Oak"))
    pages = [found(index, "oak", limit=3, offset=offset) for offset in (0, 3, 6, 9)]
    assert pages == [["c0", "c1", "c2"], ["c3", "c4", "c5"], ["c6"], []]


def test_document_that_is_put_again_is_found_once_and_by_what_it_says_now(index: SearchIndex) -> None:
    index.put(document("1", "Oak", version=1))
    for _ in range(2):
        index.put(document("1", "Elm", version=2))
    assert found(index, "oak") == []
    assert found(index, "elm") == ["1"]


def test_document_of_an_older_version_changes_nothing(index: SearchIndex) -> None:
    index.put(document("1", "Elm", version=3))
    index.put(document("1", "Oak", version=2))
    index.delete(CardId("1"), 2)
    assert found(index, "oak") == []
    assert found(index, "elm") == ["1"]


def test_deleted_card_is_found_no_longer_and_may_come_back(index: SearchIndex) -> None:
    index.put(document("1", "Oak", version=1))
    for _ in range(2):
        index.delete(CardId("1"), 2)
    assert found(index, "oak") == []
    index.put(document("1", "Oak", version=3))
    assert found(index, "oak") == ["1"]


def test_card_that_was_never_there_can_be_deleted(index: SearchIndex) -> None:
    index.delete(CardId("1"), 0)
    assert found(index, "oak") == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  ",
        '"',
        '"oak',
        "oak*",
        "^oak",
        "-oak",
        "NEAR(oak",
        "title:",
        "AND",
        "oak AND",
        "(",
        "*",
        "\0",
        "😀",
    ],
)
def test_no_text_is_an_error(index: SearchIndex, text: str) -> None:
    index.put(document("1", "Oak"))
    assert set(found(index, text)) <= {"1"}


# --- SQLite -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ['"oak', "oak*", "^oak", "-oak", "{oak", "oak\0"])
def test_signs_of_a_query_language_are_no_signs_here(text: str) -> None:
    with Fts5Index() as index:
        index.put(document("1", "Oak"))
        assert found(index, text) == ["1"]


@given(st.text(), st.text())
def test_whatever_is_written_can_be_searched_for(written: str, text: str) -> None:
    with Fts5Index() as index:
        index.put(document("1", written))
        index.search(text, limit=1)
        has_words = any(letter.isalnum() for letter in written[:100])
        assert not has_words or len(index.search(written, limit=1)) <= 1


@pytest.mark.parametrize("word", ["straße", "Ⅷ", "ﬁsh", "TM™", "2²", "Ελλάδα", "日本語", "x" * 300])
def test_word_is_found_as_it_was_written(word: str) -> None:
    with Fts5Index() as index:
        index.put(document("1", f"a {word} b"))
        assert found(index, word) == ["1"]


def test_file_is_there_after_it_was_closed(tmp_path: Path) -> None:
    with Fts5Index(tmp_path / "search.db") as index:
        index.put(document("1", "Oak", version=2))
        index.put(document("2", "Oak"))
        index.delete(CardId("2"), 1)
    with Fts5Index(tmp_path / "search.db") as again:
        again.put(document("1", "Elm", version=1))
        assert found(again, "oak") == ["1"]


def test_two_may_have_one_file_open(tmp_path: Path) -> None:
    with Fts5Index(tmp_path / "search.db") as first, Fts5Index(tmp_path / "search.db") as second:
        first.put(document("1", "Oak"))
        second.put(document("2", "Oak"))
        assert found(first, "oak") == found(second, "oak") == ["1", "2"]


def test_new_file_that_another_reads_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "search.db"
    with closing(sqlite3.connect(path)) as other, closing(sqlite3.connect(path, timeout=0)) as own:
        other.execute("CREATE TABLE documents (id)")
        other.execute("BEGIN")
        other.execute("SELECT * FROM documents").fetchall()
        tries: list[str] = []

        def release(statement: str) -> None:
            tries.append(statement)
            if len(tries) == 3:
                other.rollback()

        own.set_trace_callback(release)
        _use_write_ahead_log(own)
        assert len(tries) == 3
        assert own.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_threads_share_an_index() -> None:
    with Fts5Index() as index:

        def work(number: int) -> None:
            for each in range(50):
                index.put(document(f"{number}-{each}", f"Oak {number}"))
                index.put(document("shared", f"Oak {number}", version=each))
                index.search("oak", limit=5)

        threads = [Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(found(index, "oak", limit=1000)) == 201
        for number in range(4):
            assert len(found(index, f"oak {number}")) >= 50


def test_index_that_is_closed_or_no_index_says_so(tmp_path: Path) -> None:
    index = Fts5Index()
    index.close()
    index.close()
    for call in (
        lambda: index.put(document("1")),
        lambda: index.delete(CardId("1"), 1),
        lambda: index.search("oak", limit=1),
    ):
        with pytest.raises(SearchUnavailableError, match="not available"):
            call()
    (tmp_path / "text.txt").write_text("This is no database, and it is long enough to tell." * 10)
    with pytest.raises(SearchUnavailableError, match="file is not a database"):
        Fts5Index(tmp_path / "text.txt")


def test_document_that_cannot_be_written_leaves_the_one_before(tmp_path: Path) -> None:
    with Fts5Index() as index:
        index.put(document("1", "Oak"))
        broken: Any = document("1", "Elm", version=2**63)
        with pytest.raises(OverflowError):
            index.put(broken)
        assert found(index, "oak") == ["1"]
        index.put(document("1", "Elm", version=2))
        assert found(index, "elm") == ["1"]


# --- documents of cards -------------------------------------------------------------------------------------


def test_document_has_the_texts_of_a_card_decoded() -> None:
    card = PerfectionCard(
        card_id=CARD,
        user_id=ADA,
        title="Perfect Wood Finish",
        category=CategoryId("woodworking"),
        tags=["furniture", "finishing"],
        description="A finish",
        instructions=[Instruction(text="Sand it", minutes=5), Instruction(text="Oil it")],
        version=7,
    )
    assert search_document(card) == SearchDocument(
        card_id=CARD,
        version=7,
        title="Perfect Wood Finish",
        tags="furniture\nfinishing",
        category="woodworking",
        description="A finish",
        instructions="Sand it\nOil it",
    )


@pytest.mark.parametrize(
    "instructions",
    [
        {"L": [{"S": "Sand it"}, {"S": "Oil it"}]},
        {"L": [{"M": {"text": {"S": "Sand it"}}}, {"M": {"text": {"S": "Oil it"}}}]},
        None,
    ],
    ids=["texts", "maps", "compressed"],
)
def test_instructions_are_found_whatever_they_are_stored_as(instructions: Any) -> None:
    with opened() as db, Fts5Index() as index:
        db.search_index = index
        card = publish(db, instructions=[Instruction(text="Sand it"), Instruction(text="Oil it")])
        item = type(db).stored_item(card)
        assert "B" in item["instructions"], "PI-26: compressed in the table"
        if instructions is not None:
            call(db, "PutItem", Item={**item, "instructions": instructions, "title": {"S": "Changed"}})
        follow(db)
        assert found(index, "oil sand") == [CARD]


def call(db: Design, operation: str, **params: Any) -> None:
    db.session.client.call(operation, {"TableName": db.session.table, **params})


# --- the index follows the table --------------------------------------------------------------------------


@pytest.fixture
def db() -> Iterator[PerfectIt]:
    with opened() as db, Fts5Index() as index:
        db.search_index = index
        yield db


class WatchedIndex(Fts5Index):
    """Remembers what it was told, and fails as often as the test says."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[str] = []
        self.failures = 0

    def put(self, document: SearchDocument) -> None:
        self._tell("put")
        super().put(document)

    def delete(self, card_id: CardId, version: int) -> None:
        self._tell("delete")
        super().delete(card_id, version)

    def _tell(self, what: str) -> None:
        self.told.append(what)
        if self.failures:
            self.failures -= 1
            raise SearchUnavailableError("no index")


def indexed(db: PerfectIt, text: str = "card") -> list[str]:
    assert db.search_index is not None
    return found(db.search_index, text)


def test_only_published_cards_are_found(db: PerfectIt) -> None:
    draft(db, "draft")
    publish(db, "published")
    follow(db)
    assert indexed(db) == ["published"]


def test_card_is_found_by_what_it_says_now(db: PerfectIt) -> None:
    publish(db, title="Oak")
    follow(db)
    db.update(db.card(CARD), title="Elm", tags=["tree"])
    follow(db)
    assert (indexed(db, "oak"), indexed(db, "elm tree")) == ([], [CARD])


def test_card_that_is_archived_or_deleted_is_found_no_longer(db: PerfectIt) -> None:
    publish(db, "archived")
    publish(db, "deleted")
    publish(db, "back")
    follow(db)
    db.update(db.card(CardId("archived")), status="ARCHIVED")
    db.update(db.card(CardId("back")), status="ARCHIVED")
    db.delete(db.card(CardId("deleted")))
    follow(db)
    assert indexed(db) == []
    db.update(db.card(CardId("back")), status="PUBLISHED")
    follow(db)
    assert indexed(db) == ["back"]


def test_drafts_and_counts_are_nothing_to_the_index(db: PerfectIt) -> None:
    watched = db.search_index = WatchedIndex()
    draft(db, "draft")
    db.update(db.card(CardId("draft")), title="Other")
    publish(db)
    follow(db)
    assert watched.told == ["put"]
    for number in range(5):
        vote(db, by=UserId(f"voter{number}"))
    db.update(db.card(CARD), difficulty="EXPERT")
    follow(db)
    assert watched.told == ["put"]


def test_old_records_leave_the_index_as_the_table_is(db: PerfectIt) -> None:
    card = publish(db, title="Oak")
    for title in ("Elm", "Ash", "Fir"):
        db.update(card, title=title)
    publish(db, "gone")
    db.delete(db.card(CardId("gone")))
    for name in ("first", "second"):
        follow(db, name=name)
        assert indexed(db, "fir") == [CARD]
        assert indexed(db, "oak") == indexed(db, "elm") == indexed(db, "gone") == []


def test_index_that_fails_for_a_while_is_told_again(db: PerfectIt) -> None:
    watched = db.search_index = WatchedIndex()
    watched.failures = 1
    publish(db)
    follow(db)
    assert db.catch_up_index() == 0, "it is left alone for a while"
    assert isinstance(db.clock, ManualClock)
    db.clock.advance(5)
    assert db.catch_up_index() == 1
    assert watched.told == ["put"] * 2
    assert indexed(db) == [CARD]


def test_without_an_index_handlers_do_the_rest(db: PerfectIt) -> None:
    db.search_index = None
    publish(db)
    with consuming(db) as consumer:
        assert drain(consumer) < 10
    assert db.analytics(db.now().date().isoformat()).one().cards == 1
