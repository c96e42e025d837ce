"""Locks that move to sort keys of their own: whoever writes or dies meanwhile, every value is locked, and once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import pytest

from designs.inverted_people import (
    NamePK,
    OldPeople,
    OldPerson,
    People,
    Person,
    PersonPK,
    ProfileSK,
)
from singletable import Database
from singletable.blueprint import Blueprint
from singletable.client import Client, EmbeddedClient
from singletable.design import Design, Entity, Get, Keys, Table, Unique, pattern
from singletable.design.tables.create import create_table
from singletable.errors import DuplicateError, MigrationError
from singletable.migrate import Migration, MoveLocks, Note, Progress, Runner, Verify
from singletable.migrate.comparing import compare
from support.limited_targets import LimitedClient
from support.migrating import EVERYWHERE, design_on, drive, fresh_client
from support.unique_locks import items_of

each_target = pytest.mark.parametrize("target", EVERYWHERE)

STEPS = compare(OldPeople.blueprint(), People.blueprint())
MIGRATION = Migration("0002_move_locks", "Move locks", STEPS, None)
WRITERS = 8


def confirmed(migration: Migration, step: Any) -> bool:
    return True


@contextmanager
def old_people(target: str, count: int = 5) -> Iterator[tuple[Client, People]]:
    """Open a target with people whose locks all have one sort key."""
    with fresh_client(target) as client:
        fill(client, count)
        yield client, design_on(client, People, {})


def fill(client: Client, count: int) -> None:
    old = design_on(client, OldPeople, {})
    client.run(create_table(old.session))
    for number in range(count):
        old.create(OldPerson(person_id=f"p{number}", name=f"n{number}", email=f"{number}@x"))


def locks(db: Design) -> dict[str, list[str]]:
    """Return the sort keys of all locks, by the texts of their values."""
    found: dict[str, list[str]] = {}
    for item in items_of(db):
        if item["entityType"] == {"S": "$unique"}:
            found.setdefault(item["PK"]["S"], []).append(item["SK"]["S"])
    return found


def moved(db: Design) -> bool:
    """Tell whether every lock has a sort key that no other one has."""
    each = [sort for sorts in locks(db).values() for sort in sorts]
    return "UNIQUE" not in each and len(set(each)) == len(each) == len(locks(db))


# --- the plan ---------------------------------------------------------------------------------------------


def test_lock_form_that_changes_is_a_step_that_is_asked_for_after_a_verify() -> None:
    kinds = [step.kind for step in STEPS]
    assert kinds == ["verify", "note", "move_locks"]
    assert STEPS[-1] == MoveLocks({"Person": ("unique_name", "unique_email")})
    assert STEPS[-1].is_destructive
    assert STEPS[-1].says() == (
        "Move the locks of Person (unique_name, unique_email) to their new sort keys, where no older version of "
        "the code looks for them."
    )


def test_blueprint_of_a_version_without_the_sort_key_before_leads_to_the_same_step() -> None:
    before = Blueprint.from_json(OldPeople.blueprint().to_json())
    assert compare(before, People.blueprint()) == STEPS
    assert compare(People.blueprint(), People.blueprint()) == ()
    assert compare(OldPeople.blueprint(), OldPeople.blueprint()) == ()


def test_items_of_other_code_may_have_old_locks_too() -> None:
    for before in (None, People.blueprint()):
        *_, verify, note, move = compare(before, People.blueprint(), every_item=True)
        assert (type(verify), type(note), move) == (Verify, Note, STEPS[-1])


class PlainTable(Table):
    name = "people"


class PlainPeople(Design):
    """The same, without the inverted index: its locks would have one sort key again."""

    table = PlainTable
    entities = (Person,)


class PinnedPerson(Entity, name="Person"):
    key = Keys(PersonPK, ProfileSK)
    unique_name = Unique(NamePK, sort="UNIQUE#{hash}")

    person_id: str
    name: str | None = None


class BackPerson(Entity, name="Person"):
    key = Keys(PersonPK, ProfileSK)
    unique_name = Unique(NamePK, was="UNIQUE#{hash}")

    person_id: str
    name: str | None = None


class BackPeople(Design):
    table = PlainTable
    entities = (BackPerson,)

    @pattern("1 Get person")
    def person(self, person_id: str) -> Get[BackPerson]:
        return BackPerson.key.get(PersonPK(person_id=person_id), ProfileSK())


def test_index_that_goes_may_not_take_the_locks_along() -> None:
    class PinnedPeople(Design):
        table = PlainTable
        entities = (PinnedPerson,)

    with pytest.raises(MigrationError, match=r"Person\.unique_name: its locks have the sort key") as refused:
        compare(People.blueprint(), PlainPeople.blueprint())
    assert refused.value.hint == (
        'sort="UNIQUE#{hash}" leaves them where they are; was="UNIQUE#{hash}" moves them'
    )
    assert "move_locks" not in [step.kind for step in compare(People.blueprint(), PinnedPeople.blueprint())]
    assert MoveLocks({"Person": ("unique_name",)}) in compare(People.blueprint(), BackPeople.blueprint())


# --- the move ---------------------------------------------------------------------------------------------


@each_target
def test_all_locks_move_and_stay_those_of_their_owners(target: str) -> None:
    with old_people(target) as (_, db):
        assert Runner(db).run([MIGRATION])[0].state == "waiting"
        (report,) = Runner(db, confirm=confirmed).run([MIGRATION])
        assert report.state == "done"
        assert report.steps[-1].did == "10 moved of 10 items"
        assert moved(db)
        assert db.named("n3").one().person_id == "p3"
        with pytest.raises(DuplicateError, match="PERSON#p3"):
            db.create(Person(person_id="new", name="n3"))
        db.update(db.person("p3"), name="other")
        db.create(Person(person_id="new", name="n3"))
        assert moved(db)
        assert db.verify().is_clean


@each_target
def test_dry_run_counts_exactly_and_writes_nothing(target: str) -> None:
    with old_people(target) as (_, db):
        before = items_of(db)
        (rehearsed,) = Runner(db).run([MIGRATION], dry_run=True)
        assert rehearsed.steps[-1].did == "would be: 10 moved of 10 items"
        assert rehearsed.steps[-1].samples[0].keys() == {"lock"}
        assert items_of(db) == before
        (report,) = Runner(db, confirm=confirmed).run([MIGRATION])
        assert report.steps[-1].counts == rehearsed.steps[-1].counts


@each_target
def test_run_that_was_killed_anywhere_goes_on_and_no_value_was_free_meanwhile(target: str) -> None:
    for calls in range(2, 60, 7 if target == "without transactions" else 5):
        with old_people(target, count=3) as (client, db):
            runner = Runner(db, confirm=confirmed, owner="same", page_items=2)
            values = set(locks(db))

            def all_locked(db: People = db, values: set[str] = values) -> None:
                assert set(locks(db)) >= values

            drive(client, runner.steps([MIGRATION]), calls, between=all_locked)
            with pytest.raises(DuplicateError):
                db.create(Person(person_id="new", name="n1"))
            other = design_on(client, People, {})
            Runner(other, confirm=confirmed, owner="same", page_items=2).run([MIGRATION])
            assert moved(other)
            assert other.verify().is_clean


@each_target
def test_value_that_two_items_have_by_two_locks_is_named_and_stops_the_run(target: str) -> None:
    with old_people(target) as (client, db):
        twin = {"PK": {"S": "PERSON#p9"}, "SK": {"S": "PROFILE"}, "entityType": {"S": "Person"}}
        twin |= {"personId": {"S": "p9"}, "name": {"S": "n1"}}
        own = {"PK": {"S": "NAME#n1"}, "SK": {"S": db.named("n1").request()["Key"]["SK"]["S"]}}
        lock = {**own, "entityType": {"S": "$unique"}, "$owner": twin["PK"], "$ownerSort": twin["SK"]}
        for item in (twin, {**lock, "$takenAt": {"S": "2020-01-01T00:00:00.000Z"}}):
            client.call("PutItem", {"TableName": "people", "Item": item})
        (rehearsed,) = Runner(db).run([MIGRATION], dry_run=True)
        with pytest.raises(MigrationError) as stopped:
            Runner(db, confirm=confirmed).run([MIGRATION])
        text = "its value is that of PERSON#p1 / PROFILE, and also that of PERSON#p9 / PROFILE"
        assert text in stopped.value.message
        assert text in rehearsed.steps[-1].failures[0]
        assert locks(db)["NAME#n1"] == ["UNIQUE", own["SK"]["S"]]
        db.delete(db.person("p9"))
        Runner(db, confirm=confirmed).run([MIGRATION])
        assert moved(db)
        assert db.named("n1").one().person_id == "p1"


@each_target
def test_lock_that_nobody_needs_is_taken_away(target: str) -> None:
    with old_people(target) as (client, db):
        (lock,) = [item for item in items_of(db) if item["PK"] == {"S": "NAME#n1"}]
        stray = {**lock, "PK": {"S": "NAME#gone"}, "$takenAt": {"S": "2020-01-01T00:00:00.000Z"}}
        client.call("PutItem", {"TableName": "people", "Item": stray})
        Runner(db, confirm=confirmed).run([MIGRATION])
        assert moved(db)
        assert "NAME#gone" not in locks(db)


@each_target
def test_locks_move_back_when_that_is_declared(target: str) -> None:
    with old_people(target) as (client, db):
        Runner(db, confirm=confirmed).run([MIGRATION])
        back = design_on(client, BackPeople, {})
        with pytest.raises(DuplicateError):
            back.create(BackPerson(person_id="new", name="n1"))
        steps = (Verify({"Person": ()}), MoveLocks({"Person": ("unique_name",)}))
        Runner(back, confirm=confirmed).run([Migration("0003_back", "Back", steps, None)])
        assert {text: sorts for text, sorts in locks(back).items() if text.startswith("NAME")} == {
            f"NAME#n{number}": ["UNIQUE"] for number in range(5)
        }
        # What the table said of the first move does not hold any more.
        again = design_on(client, People, {})
        with pytest.raises(DuplicateError):
            again.create(Person(person_id="new", name="n1"))


# --- while others write -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind", [partial(EmbeddedClient, owns=False), LimitedClient], ids=["transactions", "no-transactions"]
)
def test_one_of_many_writers_gets_each_value_while_the_locks_move(kind: Any) -> None:
    with Database.open(":memory:") as database:
        fill(kind(database), 12)
        halfway, raced = threading.Event(), threading.Barrier(WRITERS + 1)
        won: list[str] = []

        def race(number: int) -> None:
            db: People = design_on(kind(database, sleep=lambda seconds: None), People, {})
            db.create(Person(person_id=f"w{number}", name=f"w{number}"))
            halfway.wait()
            for at, name in enumerate([*(f"n{each}" for each in range(12)), *FREE]):
                if at == 9:
                    raced.wait()  # and the locks go on moving
                with suppress(DuplicateError):
                    db.create(Person(person_id=f"{name}-{number}", name=name))
                    won.append(name)

        def watch(progress: Progress) -> None:
            if progress.step == len(STEPS) - 1 and progress.done and not halfway.is_set():
                halfway.set()
                raced.wait()

        with ThreadPoolExecutor(WRITERS) as pool:
            racing = [pool.submit(race, number) for number in range(WRITERS)]
            db: People = design_on(kind(database, sleep=lambda seconds: None), People, {})
            try:
                Runner(db, confirm=confirmed, page_items=5, watch=watch).run([MIGRATION])
            finally:
                halfway.set()
            for each in racing:
                each.result()
        assert sorted(won) == sorted(FREE)
        names = [item["name"]["S"] for item in items_of(db) if "personId" in item]
        assert len(names) == len(set(names)) == 12 + WRITERS + len(FREE)
        # Those who did not know yet that all locks have moved have left some.
        assert db.verify(repair=True).is_clean
        assert moved(db)


FREE = [f"free{each}" for each in range(12)]
