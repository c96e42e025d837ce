"""Items that are still under old keys (`was=`): what verify says of them, what is counted, what a stream keeps."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from designs.changing_letters import Letter, Letters
from designs.changing_letters import OldLetter as OldChangingLetter
from designs.changing_letters import OldLetters as OldChangingLetters
from designs.moving_shelves import Jar, OldJar, OldShelf, OldShelves, OldSpoon, Shelf, Shelves
from singletable.client import Call, Client
from singletable.clock import ManualClock
from singletable.design.kept.unique import GRACE_S
from singletable.design.tables.create import create_table
from singletable.design.writes.write import Delete
from singletable.migrate import Backfill, Migration, Rekey, Runner, Verify
from support.design_clients import Between
from support.kept_together import consume
from support.migrating import EVERYWHERE, design_on, drive, fresh_client

each_target = pytest.mark.parametrize("target", EVERYWHERE)


@contextmanager
def old_shelf(target: str) -> Iterator[tuple[Client, Shelves]]:
    """Open a target with a shelf, two jars and a spoon, all under their old keys."""
    with fresh_client(target) as client:
        old = design_on(client, OldShelves, {})
        client.run(create_table(old.session))
        old.create(OldShelf(shelf="s"))
        for jar in ("a", "b"):
            old.create(OldJar(shelf="s", jar=jar, room="cellar", labels={"red"}))
        old.create(OldSpoon(shelf="s", jar="a", spoon="1"))
        yield client, design_on(client, Shelves, {})


@contextmanager
def old_letters(target: str, clock: ManualClock | None = None) -> Iterator[tuple[Client, Letters]]:
    """Open a target with two letters under old keys, in the table and in the index, one of them sealed."""
    with fresh_client(target, clock) as client:
        old = design_on(client, OldChangingLetters, {})
        client.run(create_table(old.session))
        for number in (1, 2):
            seal = "wax" if number == 1 else None
            old.create(
                OldChangingLetter(tenant="t", box="x", number=number, day="d", subject="hello", seal=seal)
            )
        yield client, design_on(client, Letters, {})


def partitions(client: Client, table: str) -> set[str]:
    items = client.call("Scan", {"TableName": table, "ConsistentRead": True})["Items"]
    return {item["PK"]["S"] for item in items}


# --- verify -----------------------------------------------------------------------------------------------


@each_target
def test_items_under_old_keys_are_counted_apart(target: str) -> None:
    with old_letters(target) as (client, db):
        report = db.verify()
        assert (report.is_clean, report.under_old_keys) == (True, 2)
        assert partitions(client, "letters") == {"BOX#x", "SEAL#wax"}


@each_target
def test_repair_brings_items_home_with_their_locks(target: str) -> None:
    with old_letters(target) as (client, db):
        report = db.verify(repair=True)
        assert (report.is_clean, report.under_old_keys) == (True, 2)
        assert partitions(client, "letters") == {"TENANT#t#BOX#x", "SEAL#wax"}
        after = db.verify()
        assert (after.is_clean, after.under_old_keys) == (True, 0)
        assert len(list(db.of_day("d").all())) == 2


@each_target
def test_repair_leaves_a_lock_that_has_gone_home_with_its_item_however_old_it_is(target: str) -> None:
    clock = ManualClock()
    with old_letters(target, clock) as (_, db):
        clock.advance(GRACE_S + 1)  # a younger lock may be for a write to come, and is not looked at
        report = db.verify(repair=True)
        assert (report.differences, report.under_old_keys) == ((), 2)
        after = db.verify()
        assert (after.differences, after.under_old_keys) == ((), 0)


@each_target
def test_lock_that_is_missing_is_made_for_an_item_under_its_old_key(target: str) -> None:
    with old_letters(target) as (client, db):
        key = {"PK": {"S": "SEAL#wax"}, "SK": {"S": "UNIQUE"}}
        client.call("DeleteItem", {"TableName": "letters", "Key": key})
        assert [each.field for each in db.verify().differences] == ["seal"]
        assert [each.is_repaired for each in db.verify(repair=True).differences] == [True]
        assert db.verify().is_clean


@each_target
def test_wrong_index_key_of_an_item_under_its_old_key_is_a_mismatch(target: str) -> None:
    with old_letters(target) as (client, db):
        client.call(
            "UpdateItem",
            {
                "TableName": "letters",
                "Key": {"PK": {"S": "BOX#x"}, "SK": {"S": "LETTER#2"}},
                "UpdateExpression": "SET dayPK = :wrong",
                "ExpressionAttributeValues": {":wrong": {"S": "DAY#other"}},
            },
        )
        assert {each.field for each in db.verify().differences} == {"dayPK", "daySK"}
        db.verify(repair=True)
        assert db.verify() == type(db.verify())(3, ())


@each_target
def test_item_whose_new_key_is_taken_stays(target: str) -> None:
    with old_letters(target) as (client, db):
        stored = {"PK": {"S": "TENANT#t#BOX#x"}, "SK": {"S": "LETTER#d#0002"}, "entityType": {"S": "other"}}
        client.call("PutItem", {"TableName": "letters", "Item": stored})
        assert db.verify(repair=True).under_old_keys == 2
        assert db.verify().under_old_keys == 1


# --- a migration beside writers -----------------------------------------------------------------------------


def letter_steps() -> Migration:
    was = {"Letter": ("BOX#{box}", "LETTER#{number}")}
    places = {"Letter": ("days",)}
    steps = (Rekey(("Letter",), was), Backfill(places), Verify({"Letter": ("key", "days")}, was))
    return Migration("0002_tenants", "Boxes belong to tenants", steps, None)


@pytest.mark.parametrize("target", ["embedded", "without transactions"])
@pytest.mark.parametrize("turn", range(1, 22))
@pytest.mark.parametrize("what", ["changes", "deletes", "changes twice"])
def test_item_that_a_writer_has_moved_already_is_not_a_failure(target: str, turn: int, what: str) -> None:
    with old_letters(target) as (client, db):
        writer, calls = design_on(client, Letters, {}), 0

        def write() -> None:
            nonlocal calls
            calls += 1
            letter = writer.letter("t", "x", "d", 1).maybe() if calls in (turn, turn + 1) else None
            if letter is None or (calls > turn and what != "changes twice"):
                return
            if what == "deletes":
                writer.delete(letter)
            else:
                writer.update(letter, subject=f"changed {calls}")

        assert drive(client, Runner(db).steps([letter_steps()]), 10_000, between=write)
        record = Runner(db).status([])["0002_tenants"]
        assert (record.state, record.counts.failed, record.failures) == ("done", 0, ())
        left = {1, 2} if what != "deletes" or calls < turn else {2}
        assert {letter.number for letter in db.letters("t", "x").all()} == left
        assert db.verify().is_clean


@pytest.mark.parametrize("target", ["embedded", "without transactions"])
def test_item_that_is_moved_after_its_page_was_read_is_verified_as_it_is_now(target: str) -> None:
    with old_letters(target) as (client, db):
        watched = Between(client)
        is_read = False

        def write(call: Call) -> None:
            nonlocal is_read
            if is_read:
                is_read = False
                for letter in db.letters("t", "x").all():
                    db.update(letter, subject="changed")
            is_read = call.operation == "Scan"

        watched.before = write
        verdict = Runner(design_on(watched, Letters, {})).verify()
        assert (verdict.is_right, verdict.outcome.samples) == (True, [])


# --- what is owned ----------------------------------------------------------------------------------------


@each_target
def test_delete_plan_counts_what_is_under_old_keys(target: str) -> None:
    with old_shelf(target) as (client, db):
        before = partitions(client, "shelves")
        assert db.delete_plan(db.shelf("s")).counts == {"Shelf": 1, "Jar": 2, "Spoon": 1}
        assert partitions(client, "shelves") == before
        db.update(db.jar("s", "a"), labels={"blue"})
        assert db.delete_plan(db.shelf("s")).counts == {"Shelf": 1, "Jar": 2, "Spoon": 1}
        db.delete(db.shelf("s"))
        assert partitions(client, "shelves") == set()


# --- what a stream keeps -----------------------------------------------------------------------------------


@each_target
def test_counter_by_stream_of_an_item_under_its_old_key_is_kept(target: str) -> None:
    with old_shelf(target) as (_, db):
        db.create(Jar(shelf="s", jar="c"))
        consume(db)
        assert db.shelf("s").one().jars == 3
        db.delete(db.jar("s", "a"))
        consume(db)
        assert db.shelf("s").one().jars == 2


@each_target
def test_copies_by_stream_in_items_under_old_keys_are_refreshed(target: str) -> None:
    with old_shelf(target) as (client, db):
        design_on(client, OldShelves, {}).put(OldShelf(shelf="s", room="attic"))
        consume(db)
        assert "OLD#s" in partitions(client, "shelves")  # of jars
        assert [jar.room for jar in db.jars("s").all()] == ["attic", "attic"]
        db.create(Jar(shelf="s", jar="c"))
        assert db.jar("s", "c").one().room == "attic"


@each_target
def test_items_derived_by_stream_from_an_item_under_its_old_key_are_made(target: str) -> None:
    with old_shelf(target) as (_, db):
        consume(db)
        assert [label.jar for label in db.labelled("red").all()] == ["a", "b"]
        assert db.verify().is_clean
        db.verify(repair=True)
        consume(db)
        assert [label.jar for label in db.labelled("red").all()] == ["a", "b"]
        assert db.shelf("s").one().jars == 2


# --- requests ---------------------------------------------------------------------------------------------


def keys(requests: Any) -> list[str]:
    return [request["Key"]["PK"]["S"] for request in requests]


class Spied:
    """Remembers the calls that a design makes."""

    def __init__(self, db: Any) -> None:
        self.calls: list[Any] = []
        client, call = db.session.client, db.session.client.call

        def spy(operation: str, params: Any) -> Any:
            self.calls.append(params)
            return call(operation, params)

        client.call = spy


@pytest.mark.parametrize("target", ["embedded"])
def test_request_shows_all_calls_that_are_made(target: str) -> None:
    with old_shelf(target) as (_, db):
        get = db.jar("s", "nowhere")
        assert keys(get.request()) == ["SHELF#s", "OLD#s", "SHELF#s"]
        spied = Spied(db)
        for requests, read in (
            (get.request(), get.maybe),
            (db.jars("s").request(10), lambda: db.jars("s").page(10)),
            (db.some("s", "x", "y").request(), lambda: db.some("s", "x", "y").all()[2:]),
            (db.whole("s").request(), lambda: db.whole("s").one()),
        ):
            spied.calls.clear()
            read()
            assert [call for call in spied.calls if call in requests] == spied.calls
            assert all(request in spied.calls for request in requests)


def test_request_of_a_sharded_read_shows_old_and_new_partitions() -> None:
    with old_letters("embedded") as (_, db):
        requests = db.of_day("d").request()
        values = [set(map(str, request["ExpressionAttributeValues"].values())) for request in requests]
        assert len(requests) == 6
        assert sum("DAY#d'" in str(value) for value in values) == 3


def test_delete_by_key_of_an_item_under_its_old_key_takes_it() -> None:
    with old_letters("embedded") as (_, db):
        db.transaction(
            Delete(Letter.key.get(*Letter(tenant="t", box="x", number=2, day="d", subject="").key))
        )
        assert len(list(db.letters("t", "x").all())) == 1


def test_shelf_that_nobody_has_is_not_found_under_old_keys() -> None:
    with old_shelf("embedded") as (_, db):
        assert db.shelf("nowhere").maybe() is None
        assert db.delete_plan(Shelf.key.get(*Shelf(shelf="nowhere").key)).counts == {}
