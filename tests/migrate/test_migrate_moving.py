"""Items whose key in the table changes: they move, with and without transactions, and never get lost."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from designs.letters import Letter, Letters, OldLetter, OldLetters
from singletable import Database
from singletable.client import Client
from singletable.clock import ManualClock
from singletable.design.tables.create import create_table
from singletable.migrate import Backfill, Migration, Rekey, Runner, VerificationError, Verify
from support.limited_targets import LimitedClient
from support.migrating import design_on, drive, sleep_of
from support.targets import TARGETS, opened

Item = dict[str, dict[str, Any]]
WAS = {"Letter": ("BOX#{box}", "LETTER#{number}")}
MOVE = Migration(
    "0002_tenants",
    "Boxes belong to tenants",
    (Rekey(("Letter",), WAS), Backfill({"Letter": ("days",)}), Verify({"Letter": ("key", "days")}, WAS)),
    None,
)
EVERYWHERE = [*TARGETS, "without transactions"]


@contextmanager
def old_letters(
    target: str, count: int = 5, clock: ManualClock | None = None
) -> Iterator[tuple[Client, Any]]:
    """Open a target with letters of the first version; yield the client, and the design's second version."""
    clock = clock or ManualClock()
    with fresh(target, clock) as client:
        old = design_on(client, OldLetters, {})
        client.run(create_table(old.session))
        for number in range(count):
            text = {"tenant": "t1", "box": f"x{number % 2}", "day": "2024-05-01"}
            old.create(OldLetter(**text, number=number, subject=f"S{number}", seal=f"seal-{number}"))
        yield client, design_on(client, Letters, {})


@contextmanager
def fresh(target: str, clock: ManualClock) -> Iterator[Client]:
    if target != "without transactions":
        with opened(target, clock=clock, sleep=sleep_of(target, clock)) as client:
            yield client
        return
    with Database.open(":memory:", clock=clock) as database:
        yield LimitedClient(database, sleep=clock.advance)
        assert database.check() == []


def scanned(client: Client) -> dict[tuple[str, str], Item]:
    items = client.call("Scan", {"TableName": "letters", "ConsistentRead": True})["Items"]
    return {(item["PK"]["S"], item["SK"]["S"]): item for item in items}


def letters(client: Client) -> dict[tuple[str, str], Item]:
    return {key: item for key, item in scanned(client).items() if not item["entityType"]["S"].startswith("$")}


@pytest.mark.parametrize("target", EVERYWHERE)
def test_items_move_to_the_keys_of_the_new_template(target: str) -> None:
    with old_letters(target) as (client, db):
        (report,) = Runner(db).run([MOVE])
        assert report.state == "done"
        assert sorted(letters(client)) == [
            (f"TENANT#t1#BOX#x{number % 2}", f"LETTER#2024-05-01#000{number}") for number in (0, 2, 4, 1, 3)
        ]
        assert [letter.subject for letter in db.of_day("2024-05-01").all()] == ["S0", "S1", "S2", "S3", "S4"]
        assert all("$movedFrom" not in item for item in letters(client).values())


@pytest.mark.parametrize("target", EVERYWHERE)
def test_locks_of_unique_values_go_with_the_item(target: str) -> None:
    with old_letters(target) as (client, db):
        Runner(db).run([MOVE])
        (lock,) = (item for key, item in scanned(client).items() if key[0] == "SEAL#seal-1")
        assert lock["$owner"] == {"S": "TENANT#t1#BOX#x1"}
        letter = db.letter("t1", "x1", "2024-05-01", 1).one()
        db.update(letter, seal="seal-9")
        db.update(db.letter("t1", "x0", "2024-05-01", 0).one(), seal="seal-1")
        assert db.verify().is_clean


@pytest.mark.parametrize("target", ["embedded", "without transactions"])
def test_move_that_is_killed_at_any_call_is_ended_by_the_next_run(target: str) -> None:
    with old_letters(target) as (client, db):
        Runner(db).run([MOVE])
        wanted = letters(client)
    for kill_after in range(1, 40):
        clock = ManualClock()
        with old_letters(target, clock=clock) as (client, db):
            runs = 0
            while not drive(client, Runner(db, page_items=2).steps([MOVE]), kill_after + runs):
                clock.advance(61)
                runs += 1
            assert letters(client) == wanted, kill_after


@pytest.mark.parametrize("target", ["embedded", "without transactions"])
@pytest.mark.parametrize("turn", range(1, 25))
def test_old_code_that_changes_an_item_while_it_moves_loses_nothing(target: str, turn: int) -> None:
    with old_letters(target, count=1) as (client, db):
        calls = 0
        written = False

        def write() -> None:
            nonlocal calls, written
            calls += 1
            key = {"PK": {"S": "BOX#x0"}, "SK": {"S": "LETTER#0"}}
            if calls == turn and client.call("GetItem", {"TableName": "letters", "Key": key}).get("Item"):
                written = True
                client.call(
                    "UpdateItem",
                    {
                        "TableName": "letters",
                        "Key": key,
                        "UpdateExpression": "SET subject = :new",
                        "ExpressionAttributeValues": {":new": {"S": "changed"}},
                    },
                )

        drive(client, Runner(db).steps([MOVE]), 10_000, between=write)
        (item,) = letters(client).values()
        assert item["PK"] == {"S": "TENANT#t1#BOX#x0"}
        assert item["subject"] == {"S": "changed" if written else "S0"}


@pytest.mark.parametrize("turn", range(1, 25))
def test_new_code_that_changes_the_copy_while_it_moves_loses_nothing(turn: int) -> None:
    with old_letters("without transactions", count=1) as (client, db):
        calls = 0
        written = False

        def write() -> None:
            nonlocal calls, written
            calls += 1
            letter = db.letter("t1", "x0", "2024-05-01", 0).maybe() if calls == turn else None
            if letter is not None:
                written = True
                db.update(letter, subject="changed")

        drive(client, Runner(db).steps([MOVE]), 10_000, between=write)
        (item,) = letters(client).values()
        assert (item["PK"], "$movedFrom" in item) == ({"S": "TENANT#t1#BOX#x0"}, False)
        assert item["subject"] == {"S": "changed" if written else "S0"}


@pytest.mark.parametrize("target", EVERYWHERE)
def test_key_that_another_item_has_is_never_overwritten(target: str) -> None:
    with old_letters(target, count=2) as (client, db):
        db.create(Letter(tenant="t1", box="x0", number=0, day="2024-05-01", subject="another"))
        with pytest.raises(VerificationError, match="1 item of letters differ"):
            Runner(db).run([MOVE])
        assert {item["subject"]["S"] for item in letters(client).values()} == {"S0", "S1", "another"}
        record = Runner(db).status([MOVE])["0002_tenants"]
        assert record.state == "stopped"
        assert record.failures == (
            "BOX#x0 / LETTER#0: its new key TENANT#t1#BOX#x0 / LETTER#2024-05-01#0000 is taken by another item",
        )


def test_items_without_discriminator_are_known_by_their_old_templates() -> None:
    with old_letters("embedded", count=1) as (client, db):
        item = next(iter(letters(client).values()))
        del item["entityType"]
        client.call("PutItem", {"TableName": "letters", "Item": item})
        Runner(db).run([MOVE])
        (moved,) = letters(client).values()
        assert (moved["entityType"], moved["PK"]) == ({"S": "Letter"}, {"S": "TENANT#t1#BOX#x0"})
