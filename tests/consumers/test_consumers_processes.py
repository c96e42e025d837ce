"""Consumers in several processes: killed at any point, sharing a name, beside a server, around a fork."""

from __future__ import annotations

import itertools
import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from resilience.crash import children, consuming
from resilience.crash.verify import assert_sound
from singletable import Database
from singletable.consumers import Context
from singletable.server import Address
from support.consuming import (
    TABLE,
    Event,
    Seen,
    add_one,
    count_of,
    create_counts,
    create_logged,
    keys_of,
    put,
)
from support.serving import CommandProcess, HttpSocket, call

WAIT_S = 60.0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "app.db"


@pytest.fixture
def db(path: Path) -> Iterator[Database]:
    with Database.open(path, durability="relaxed") as database:
        create_logged(database)
        create_counts(database)
        yield database
    assert_sound(path)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("how", ["together", "apart"])
def test_killed_at_random_points_a_consumer_loses_nothing(
    db: Database, path: Path, how: str, seed: int
) -> None:
    chance = random.Random(f"{how} {seed}")
    keys = [str(number) for number in range(120)]
    reported: list[str] = []
    unwritten = iter(keys)
    for _ in range(5):
        put(db, *itertools.islice(unwritten, 24))
        batch_size = chance.choice((1, 3, 10))
        with children.Reports([children.start("consuming", path, how, "0.2", batch_size)]) as child:
            lines = child.lines()
            reported += itertools.islice(lines, chance.randint(1, 24))
            child.kill()
            reported += lines
            child.assert_killed()
    rest: list[str] = []

    def handler(event: Event, context: Context) -> None:
        rest.extend(keys_of(event))
        for key in keys_of(event) if how == "together" else ():
            context.transaction.update_item(**add_one(key))

    with db.consume(TABLE, handler, "follower", poll_s=0.02) as consumer:
        consumer.drain(WAIT_S)
    handed = [*reported, *rest]
    assert sorted(set(handed), key=int) == keys, "every record was handed over"
    assert list(dict.fromkeys(handed)) == keys, "and for the first time in the order of the log"
    if how == "together":
        assert Counter(count_of(db, key) for key in keys) == {1: len(keys)}, "exactly once"


def test_two_processes_with_one_name_share_its_records(db: Database, path: Path) -> None:
    keys = [str(number) for number in range(200)]
    with children.Reports([children.start("consuming", path, "apart", "30", 5) for _ in range(2)]) as both:
        for key in keys:
            put(db, key)
        lines = both.lines()
        reported = list(itertools.islice(lines, len(keys)))
        both.kill()
        reported += lines
    assert sorted(reported, key=int) == keys, "each once, whoever it was"


def test_consumer_of_a_killed_process_is_taken_over(db: Database, path: Path) -> None:
    put(db, "a")
    with children.Reports([children.start("consuming", path, "stuck", "0.5")]) as stuck:
        assert next(stuck.lines()) == "a"
        put(db, "b")
        stuck.kill()
        stuck.assert_killed()
    seen = Seen()
    with db.consume(TABLE, seen, "follower", poll_s=0.02) as consumer:
        consumer.drain(WAIT_S)
    assert seen.keys == ["a", "b"]


def test_consumer_beside_a_server(tmp_path: Path) -> None:
    seen = Seen()
    with CommandProcess("serve", "app.db", "--port", "0", "--json", cwd=tmp_path) as server:
        ready = json.loads(server.read_line())
        with Database.open(tmp_path / "app.db") as db:
            create_logged(db)
            with db.consume(TABLE, seen, "follower", poll_s=0.02) as consumer:
                with HttpSocket(Address(ready["host"], ready["port"])) as client:
                    for key in ("a", "b", "c"):
                        answer = client.ask(call("PutItem", {"TableName": TABLE, "Item": {"id": {"S": key}}}))
                        assert answer.status == 200, answer.body
                consumer.drain(WAIT_S)
    assert seen.keys == ["a", "b", "c"]


@pytest.mark.parametrize("scenario", consuming.SCENARIOS)
def test_consumers_around_a_fork(path: Path, scenario: str) -> None:
    children.run("consuming", path, scenario)
    assert_sound(path)
