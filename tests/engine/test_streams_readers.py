"""Reading a stream while it is written and divided; and where a server reads one."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from singletable import Database, limits
from singletable.clock import ManualClock
from singletable.storage.store import Store
from singletable.wire.answers import WireAnswer
from support.sample_tables import refusal
from support.streamed_tables import create_streamed, divided, iterator_at, keys_of, put, shards_of, turn_off

ITEMS = 7
CHANGES = 400


def follow(db: Database, arn: str) -> list[tuple[str, int]]:
    """Read a stream as a consumer on AWS does, until all shards have ended: parents, then their children."""
    read: list[tuple[str, int]] = []
    waiting = [shard["ShardId"] for shard in shards_of(db, arn)][:1]
    while waiting:
        shard_id = waiting.pop(0)
        iterator: str | None = iterator_at(db, arn, ShardId=shard_id)
        while iterator is not None:
            page: Any = db.get_records(ShardIterator=iterator, Limit=5)
            for record in page["Records"]:
                image = record["dynamodb"]["NewImage"]
                read.append((image["id"]["S"], int(image["n"]["N"])))
            iterator = page.get("NextShardIterator")
        children = shards_of(db, arn, ShardFilter={"Type": "CHILD_SHARDS", "ShardId": shard_id})
        waiting += [child["ShardId"] for child in children]
    return read


@pytest.mark.parametrize("place", ["memory", "file"])
def test_a_reader_beside_a_writer_meets_each_change_once_and_in_order(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "SHARD_RECORDS_MAX", 10)
    clock = ManualClock()
    path = ":memory:" if place == "memory" else str(tmp_path / "test.db")
    with Database.open(path, durability="relaxed", clock=clock) as db, ThreadPoolExecutor(1) as threads:
        arn = create_streamed(db)
        begun = threading.Event()

        def write() -> None:
            begun.set()
            for number in range(CHANGES):
                put(db, f"k{number % ITEMS}", n={"N": str(number)})
                clock.advance(0.01)  # full shards are divided
            turn_off(db)

        writing = threads.submit(write)
        begun.wait()
        read = follow(db, arn)
        writing.result()
        assert len(shards_of(db, arn)) > 10
        for item in range(ITEMS):
            numbers = [number for key, number in read if key == f"k{item}"]
            assert numbers == list(range(item, CHANGES, ITEMS))
        assert db.check() == []


def test_a_shard_closed_while_it_is_read_ends_where_it_was_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between two statements of one read, somebody closes the shard and writes on: that is of its children."""
    monkeypatch.setattr(limits, "SHARD_RECORDS_MAX", 2)
    path, clock = tmp_path / "test.db", ManualClock()
    with Database.open(path, clock=clock) as db, Database.open(path, clock=clock) as other:
        arn = create_streamed(db)
        put(db, "a")
        put(db, "b")
        iterator = iterator_at(db, arn)
        read = Store.read
        statements = 0

        def read_interrupted(store: Store, work: Any) -> Any:
            def interrupted(execute: Any, catalog: Any) -> Any:
                def execute_and_write(*statement: Any) -> Any:
                    nonlocal statements
                    statements += 1
                    if statements == 4:
                        monkeypatch.setattr(Store, "read", read)
                        clock.advance(1)
                        put(other, "c")
                    return execute(*statement)

                return work(execute_and_write, catalog)

            return read(store, interrupted)

        monkeypatch.setattr(Store, "read", read_interrupted)
        page: Any = db.get_records(ShardIterator=iterator)
        assert statements > 4
        assert keys_of(page["Records"]) == ["a", "b"]
        assert db.get_records(ShardIterator=page["NextShardIterator"]) == {"Records": []}


# --- where a server reads ---------------------------------------------------------------------------


def begun(db: Database, iterator: str, **more: Any) -> WireAnswer | None:
    """Return what the event loop of a server gets: an answer, or nothing where the request is long."""
    answer = db.begin("GetRecords", json.dumps({"ShardIterator": iterator, **more}).encode())
    assert answer is None or isinstance(answer, WireAnswer)
    return answer


def test_a_short_page_is_read_on_the_event_loop_and_a_long_one_in_a_thread(db: Database) -> None:
    arn = create_streamed(db)
    for start in range(0, 500, 25):
        db.batch_write_item(
            RequestItems={
                "streamed": [{"PutRequest": {"Item": {"id": {"S": f"{start + n}"}}}} for n in range(25)]
            }
        )
    iterator = iterator_at(db, arn)
    short = begun(db, iterator, Limit=50)
    assert short is not None
    assert len(json.loads(short.body)["Records"]) == 50
    assert begun(db, iterator) is None
    assert (
        len(
            json.loads(db.answer("GetRecords", json.dumps({"ShardIterator": iterator}).encode()).body)[
                "Records"
            ]
        )
        == 500
    )


def test_a_page_of_large_items_is_read_in_a_thread(db: Database) -> None:
    arn = create_streamed(db)
    put(db, "a", text={"S": "x" * 200_000})
    assert begun(db, iterator_at(db, arn)) is None


def test_a_long_way_to_the_next_record_is_gone_in_a_thread(
    db: Database, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "SHARD_RECORDS_MAX", 8)
    arn, children = divided(db, clock, records=8)
    iterators = [iterator_at(db, arn, ShardId=child["ShardId"]) for child in children]
    for number in range(1_100):
        put(db, "hot", n={"N": str(number)})
    assert [begun(db, iterator) for iterator in iterators] == [None, None]


def test_a_refusal_is_answered_on_the_event_loop(db: Database) -> None:
    answer = begun(db, "iterator")
    assert answer is not None
    assert answer.status == 400
    assert refusal(db, "get_records", ShardIterator="iterator")[1] == json.loads(answer.body)["message"]
