"""One dispatcher does all that follows from changes: without circles, however often they come, whatever fails."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import boto3
import pytest
from botocore.validate import validate_parameters

from resilience.crash.children import Reports, start
from resilience.crash.perfectionist import NAME
from resilience.crash.verify import assert_sound
from singletable import Add
from singletable.clock import ManualClock
from singletable.database import Database
from singletable.systems import Worker, Workers
from singletable_systems.perfectit.model.entities import PerfectionCard
from singletable_systems.perfectit.model.keys import CardId, CategoryId, UserId
from singletable_systems.perfectit.operating.stream import event_source, stream_function, workers
from singletable_systems.perfectit.reactions import search
from singletable_systems.perfectit.reactions.fts5 import Fts5Index
from singletable_systems.perfectit.reactions.handlers import PerfectIt
from singletable_systems.perfectit.reactions.search import SearchDocument, SearchUnavailableError
from singletable_systems.perfectit.reactions.updates import LocalUpdates
from singletable_systems.perfectit.services.search import Finding
from support.targets import no_aws_settings
from systems.perfectit_cards import (
    ADA,
    BOB,
    CARD,
    collect,
    comment,
    consuming,
    database,
    draft,
    drain,
    everything,
    follow,
    opened,
    publish,
    sign_up,
    vote,
)

Event = dict[str, Any]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def db(clock: ManualClock) -> Iterator[PerfectIt]:
    with opened(clock) as db, Fts5Index() as index:
        db.search_index = index
        yield db


def live(db: PerfectIt, clock: ManualClock) -> None:
    """Let a few things happen, of every kind, some of them undone."""
    sign_up(db, ADA, BOB)
    publish(db, title="Oak table", tags=["oak"])
    publish(db, "c2", title="Oak chair")
    publish(db, "c3", author=BOB, title="Elm table")
    draft(db, "draft", title="Oak draft")
    clock.advance(1)
    said = comment(db, "k1")
    comment(db, "k2", by=ADA, card_id=CardId("c3"))
    vote(db)
    vote(db, by=UserId("eve"))
    vote(db, -1, card_id=CardId("c2"))
    vote(db, by=ADA, on=said)
    collect(db)
    db.update(db.stats(CARD), views=Add(3))
    clock.advance(86_400)
    db.update(db.vote(BOB, CARD), value=-1)
    db.update(db.card(CardId("c2")), status="ARCHIVED")
    db.update(db.card(CardId("c3")), title="Elm desk")
    db.delete(db.vote(UserId("eve"), CARD))
    comment(db, "k3")


def records(db: PerfectIt) -> list[Any]:
    """Return all records of the stream, as a handler gets them."""
    events: list[Event] = []
    with database(db).consume(db.session.table, events.append, name="records", background=False) as consumer:
        consumer.drain()
    database(db).forget_consumer(db.session.table, "records")
    return [record for event in events for record in event["Records"]]


def assert_as_it_should_be(db: PerfectIt) -> None:
    """Assert what follows from `live`."""
    first, second = (db.analytics(day).one() for day in days(db))
    assert (first.users, first.cards, first.comments, first.up_votes, first.down_votes, first.collected) == (
        (2, 3, 2, 3, 1, 1)
    )
    assert (second.comments, second.up_votes, second.down_votes) == (1, 0, 1)
    told = [(each.type, each.target_id) for each in db.notifications(ADA).oldest_first().all()]
    assert told == [("collected", "oak"), ("comment", "k1"), ("comment", "k3")]
    assert [(each.type, each.target_id) for each in db.notifications(BOB).oldest_first().all()] == [
        ("comment", "k2"),
        ("vote", "k1"),
    ]
    card = db.card(CARD).one()
    assert (card.vote_score, card.view_count) == (-1, 2)
    assert found(db, "oak") == [CARD]
    assert found(db, "desk") == ["c3"]
    assert [each.card_id for each in db.cards_with_word("oak").all()] == [CARD]
    assert [each.card_id for each in db.top_voted().all()] == ["c3", CARD]
    assert db.verify().is_clean


def days(db: PerfectIt) -> list[str]:
    return [(db.now() - timedelta(days=1)).date().isoformat(), db.now().date().isoformat()]


def found(db: PerfectIt, text: str) -> list[str]:
    return [card.card_id for card in Finding(db).search(text)]


# --- one dispatcher, no circles ------------------------------------------------------------------------------


def test_one_consumer_does_everything(db: PerfectIt, clock: ManualClock) -> None:
    live(db, clock)
    follow(db)
    assert_as_it_should_be(db)


def test_handlers_do_not_set_each_other_off_for_ever(db: PerfectIt, clock: ManualClock) -> None:
    live(db, clock)
    made = len(records(db))
    with consuming(db) as consumer:
        assert drain(consumer) <= 3, "what users do, what handlers write for it, and what they are told of"
        after = len(records(db))
        assert after < 6 * made
        drain(consumer)
    assert len(records(db)) == after


@pytest.mark.parametrize("batch_size", [1, 7, 100])
def test_size_of_batches_makes_no_difference(db: PerfectIt, clock: ManualClock, batch_size: int) -> None:
    live(db, clock)
    follow(db, batch_size=batch_size)
    assert_as_it_should_be(db)


# --- again and again ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("again", [1, 2, 10])
def test_records_that_come_again_change_nothing(db: PerfectIt, clock: ManualClock, again: int) -> None:
    """Each record is delivered, and then the last few of them once more; at the end all of them."""
    live(db, clock)
    handler = stream_function(database(db), search_index=lambda: db_index(db), clock=clock)
    done = 0
    while done < len(every := records(db)):
        for number in range(done, len(every)):
            assert handler({"Records": [every[number]]}, None) == {"batchItemFailures": []}
            last = every[max(0, number + 1 - again) : number + 1]
            assert handler({"Records": last}, None) == {"batchItemFailures": []}
        done = len(every)
    assert_as_it_should_be(db)
    before = everything(db)
    assert handler({"Records": every}, None) == {"batchItemFailures": []}
    assert everything(db) == before
    assert len(records(db)) == len(every), "nothing was written, not even the same again"
    assert_as_it_should_be(db)


def db_index(db: PerfectIt) -> Any:
    assert db.search_index is not None
    return db.search_index


def test_consumers_that_are_killed_leave_exact_numbers(tmp_path: Path) -> None:
    random = Random(7)
    path, index_path = tmp_path / "perfectit.db", tmp_path / "search.db"
    with PerfectIt.open(str(path)) as db:
        sign_up(db, ADA)
        publish(db, title="Oak table")
        count = 0
        for _ in range(2):
            for _ in range(10):
                vote(db, by=UserId(f"voter{count}"))
                count += 1
            db.update(db.card(CARD), title=f"Oak {count}")
            children = [start("perfectionist", path, index_path, random.choice((1, 3, 10))) for _ in range(2)]
            with Reports(children) as reports:
                for _ in itertools.islice(reports.lines(), random.randint(1, 10)):
                    pass
                reports.kill()
                reports.assert_killed()
        with Fts5Index(index_path) as index:
            db.search_index = index
            with db.consume(name=NAME, poll_s=0.02) as consumer:
                for _ in range(5):
                    consumer.drain(60.0)
            assert database(db).dead_letters(db.session.table, NAME) == []
            assert found(db, f"oak {count}") == [CARD]
            assert found(db, "table") == []
        totals = list(db.analytics(db.now().date().isoformat()).found().item or [])
        assert ("up_votes", count) in totals
        assert db.card(CARD).one().vote_score == count
        assert len(list(db.unread(ADA).all())) == count
        assert db.verify().is_clean
    assert_sound(path)


# --- what cannot be handled -----------------------------------------------------------------------------------


def spoil(db: PerfectIt, card_id: str) -> None:
    """Store an item that is no card, as a program of somebody else may."""
    card = PerfectionCard(
        card_id=CardId(card_id),
        user_id=ADA,
        title="Bad",
        category=CategoryId("wood"),
        created_at=db.now(),
        updated_at=db.now(),
    )
    item = {**PerfectIt.stored_item(card), "title": {"N": "1"}}
    db.session.client.call("PutItem", {"TableName": db.session.table, "Item": item})


def test_poison_record_is_put_aside_and_all_behind_it_go_on(db: PerfectIt, clock: ManualClock) -> None:
    sign_up(db, ADA)
    spoil(db, "bad")
    publish(db, title="Oak")
    comment(db, "k1")
    with consuming(db, retries=2) as consumer:
        drain(consumer)
    (letter,) = database(db).dead_letters(db.session.table, "PerfectIt")
    assert "is no PerfectionCard: title" in letter.error
    totals = db.analytics(db.now().date().isoformat()).one()
    assert (totals.users, totals.cards, totals.comments) == (1, 1, 1)
    assert found(db, "oak") == [CARD]
    assert len(list(db.notifications(ADA).all())) == 1


class Choosy(Fts5Index):
    """An index that cannot take some cards, until it is repaired."""

    def __init__(self, *refused: str) -> None:
        super().__init__()
        self.refused = {*refused}

    def put(self, document: SearchDocument) -> None:
        if document.card_id in self.refused:
            raise SearchUnavailableError("no index")
        super().put(document)


def test_index_that_refuses_a_card_takes_the_others_and_gets_it_later(
    db: PerfectIt, clock: ManualClock
) -> None:
    index = db.search_index = Choosy("bad")
    (worker,) = workers(db)
    publish(db, "bad", title="Bad oak")
    publish(db, title="Oak")
    follow(db)
    for _ in range(2):
        clock.advance(5)
        run(worker)
    assert found(db, "oak") == [CARD]
    index.refused.clear()
    clock.advance(5)
    run(worker)
    assert found(db, "bad") == ["bad"]


def test_function_fails_for_a_card_that_the_index_does_not_take(db: PerfectIt, clock: ManualClock) -> None:
    publish(db)
    comment(db, "k1")
    handler = stream_function(database(db), search_index=lambda: Choosy(CARD), clock=clock)
    every = records(db)
    (failure,) = handler({"Records": every}, None)["batchItemFailures"]
    numbers = [record["dynamodb"]["SequenceNumber"] for record in every]
    refused = every[numbers.index(failure["itemIdentifier"])]
    assert refused["dynamodb"]["Keys"] == {"PK": {"S": f"CARD#{CARD}"}, "SK": {"S": "METADATA"}}
    assert handler({"Records": [each for each in every if each is not refused]}, None) == {
        "batchItemFailures": []
    }
    assert len(list(db.notifications(ADA).all())) == 1


def test_updates_that_fail_are_published_again(db: PerfectIt) -> None:
    class Failing(LocalUpdates):
        failures = 2

        def publish(self, *update: Any) -> None:
            if self.failures:
                self.failures -= 1
                raise ConnectionError("no socket")
            super().publish(*update)

    updates = db.updates = Failing()
    publish(db)
    comment(db, "k1")
    with updates.subscribe(ADA) as subscription:
        follow(db)
        assert subscription.next(0) is not None
        assert subscription.next(0) is None


def test_function_names_the_record_that_it_cannot_handle_and_does_those_before(
    db: PerfectIt, clock: ManualClock
) -> None:
    publish(db, title="Oak")
    spoil(db, "bad")
    publish(db, "c2", title="Elm")
    every = records(db)
    handler = stream_function(database(db), search_index=lambda: db_index(db), clock=clock)
    (failure,) = handler({"Records": every}, None)["batchItemFailures"]
    numbers = [record["dynamodb"]["SequenceNumber"] for record in every]
    position = numbers.index(failure["itemIdentifier"])
    assert every[position]["dynamodb"]["Keys"]["PK"] == {"S": "CARD#bad"}
    assert (found(db, "oak"), found(db, "elm")) == ([CARD], [])
    assert handler({"Records": every[position + 1 :]}, None) == {"batchItemFailures": []}
    assert found(db, "elm") == ["c2"]


# --- on AWS Lambda ------------------------------------------------------------------------------------------


def test_function_makes_what_it_needs_once(db: PerfectIt, clock: ManualClock) -> None:
    made: list[str] = []
    updates = LocalUpdates()

    def make_index() -> Any:
        made.append("index")
        return db_index(db)

    def make_updates() -> LocalUpdates:
        made.append("updates")
        return updates

    handler = stream_function(database(db), search_index=make_index, updates=make_updates, clock=clock)
    assert made == []
    publish(db)
    comment(db, "k1")
    with updates.subscribe(ADA) as subscription:
        for _ in range(2):
            assert handler({"Records": records(db)}, None) == {"batchItemFailures": []}
        assert subscription.next(0) is not None
    assert made == ["index", "updates"]
    assert found(db, "card") == [CARD]


def test_stream_is_given_to_the_function_as_aws_wants_it() -> None:
    arguments = event_source(
        "arn:aws:dynamodb:eu-north-1:123456789012:table/perfectit-main/stream/2025-01-01T00:00:00.000",
        function="perfectit-stream",
        failures_arn="arn:aws:sqs:eu-north-1:123456789012:perfectit-failures",
    )
    with no_aws_settings():
        client = boto3.client(
            "lambda", region_name="eu-north-1", aws_access_key_id="a", aws_secret_access_key="b"
        )
        shape = client.meta.service_model.operation_model("CreateEventSourceMapping").input_shape
    validate_parameters(arguments, shape)
    assert arguments["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert arguments["MaximumRetryAttempts"] == 5, "without it, a poison record is tried until it is gone"


# --- beside an open table -----------------------------------------------------------------------------------


def test_worker_fills_an_index_in_memory_where_there_is_none(db: PerfectIt, clock: ManualClock) -> None:
    publish(db, title="Oak", description="varnished")
    db.search_index = None
    (worker,) = workers(db)
    for _ in range(100):
        if not worker.run_step().more:
            break
    assert found(db, "varnished") == [CARD]
    assert worker.run_step().done == 0
    publish(db, "c2", title="Elm", description="varnished")
    follow(db)
    assert sorted(found(db, "varnished")) == [CARD, "c2"]


class Switched(Fts5Index):
    """An index that is out of reach until it is switched on."""

    is_on = False
    calls = 0

    def put(self, document: SearchDocument) -> None:
        self.ask()
        super().put(document)

    def delete(self, card_id: CardId, version: int) -> None:
        self.ask()
        super().delete(card_id, version)

    def ask(self) -> None:
        self.calls += 1
        if not self.is_on:
            raise SearchUnavailableError("no answer")


def run(worker: Worker) -> None:
    for _ in range(200):
        if not worker.run_step().more:
            return
    raise AssertionError("the worker has never done")


def test_index_out_of_reach_holds_up_nobody_and_is_brought_up_to_date(
    db: PerfectIt, clock: ManualClock, caplog: pytest.LogCaptureFixture
) -> None:
    sign_up(db, ADA, BOB)
    publish(db, "gone", title="Oak before")
    index = db.search_index = Switched()
    index.is_on = True
    (worker,) = workers(db)
    run(worker)
    index.is_on, index.calls = False, 0
    pauses: list[float] = []
    with db.consume(background=False, wait=pauses.append) as consumer:
        drain(consumer)
        for number in range(10):
            publish(db, f"c{number}", title=f"Oak {number}")
        vote(db, card_id=CardId("c3"))
        db.delete(db.card(CardId("gone")))
        db.update(db.card(CardId("c9")), status="ARCHIVED")
        run(worker)
        drain(consumer)
        assert [told.type for told in db.notifications(ADA).all()] == ["vote"]
        assert (pauses, db.dead_letters()) == ([], [])
        assert index.calls == 1, "nobody waits again and again for what does not answer"
        assert [each.levelname for each in caplog.records] == ["WARNING"]
        index.is_on = True
        clock.advance(5)
        run(worker)
    assert sorted(hit.card_id for hit in index.search("oak", limit=100)) == [
        f"c{number}" for number in range(9)
    ]
    assert len(found(db, "oak")) == 9


def test_without_a_worker_the_next_change_brings_the_index_up_to_date(
    db: PerfectIt, clock: ManualClock
) -> None:
    index = db.search_index = Switched()
    publish(db, title="Oak")
    follow(db)
    index.is_on = True
    clock.advance(5)
    publish(db, "c2", title="Oak too")
    follow(db)
    assert {hit.card_id for hit in index.search("oak", limit=9)} == {CARD, "c2"}


def test_index_that_missed_more_than_is_remembered_is_filled_again(
    db: PerfectIt, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "MISSED_MAX", 3)
    index = db.search_index = Switched()
    index.is_on = True
    (worker,) = workers(db)
    run(worker)
    index.is_on = False
    for number in range(10):
        publish(db, f"c{number}", title="Oak")
    follow(db)
    index.is_on = True
    clock.advance(5)
    run(worker)
    assert len(index.search("oak", limit=99)) == 10


def test_worker_fills_an_index_that_is_there_only_later(db: PerfectIt, clock: ManualClock) -> None:
    publish(db, title="Oak")
    index = db.search_index = Switched()
    (worker,) = workers(db)
    run(worker)
    index.is_on = True
    clock.advance(5)
    run(worker)
    assert [hit.card_id for hit in index.search("oak", limit=9)] == [CARD]


def test_worker_and_consumer_run_side_by_side() -> None:
    with Database.open(":memory:") as shared, PerfectIt.open(shared) as db:
        for number in range(20):
            publish(db, f"c{number:02}", title="Oak")
        with db.consume() as consumer, Workers(workers(db)):
            for number in range(20):
                db.update(db.card(CardId(f"c{number:02}")), title=f"Elm {number}")
            for _ in range(3):
                consumer.drain(60.0)
        page = Finding(db).search("elm", limit=100)
        assert len(page) == 20
        assert found(db, "oak") == []
