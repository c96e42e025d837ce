"""Systems that run in one database: what belongs to them is done, and does not keep anybody waiting."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from threading import Event, current_thread, main_thread
from typing import ClassVar

import pytest

from singletable import Change, Database, Design, Entity, Key, Keys, Put, SortKey, Table, on
from singletable.cli.demo import run_systems
from singletable.systems import Seed, Size, Step, System, Worker


class NotesTable(Table):
    name = "notes-{stage}"


class NotePK(Key, template="NOTE#{note_id}"):
    note_id: str


class TextSK(SortKey, template="TEXT"):
    pass


class EchoSK(SortKey, template="ECHO"):
    pass


class Note(Entity):
    key = Keys(NotePK, TextSK)
    note_id: str


class Echo(Entity):
    key = Keys(NotePK, EchoSK)
    note_id: str


class Notes(Design):
    table = NotesTable
    entities = (Note, Echo)
    may_go_on: ClassVar = Event()

    @on(Note)
    def echo(self, change: Change[Note]) -> Iterator[Put[Echo]]:
        self.may_go_on.wait()
        yield Put(Echo(note_id=change.entity.note_id))


def seed(size: Size, day: date) -> Seed:
    return Seed(3, [Note(note_id=name) for name in "abc"])


def settled(size: Size, day: date) -> Seed:
    return replace(seed(size, day), is_settled=True)


SYSTEM = System("notes", "Notes", Notes, seed, environment={"stage": "test"})
SETTLED = replace(SYSTEM, seed=settled)


def echoes(database: Database) -> list[str]:
    items = database.scan(TableName="notes-test")["Items"]
    return sorted(item["noteId"]["S"] for item in items if item["SK"]["S"] == "ECHO")


def test_changes_of_the_seed_are_handled_before_anybody_asks() -> None:
    Notes.may_go_on.set()
    with Database.open(":memory:") as database, run_systems(database, [SYSTEM]):
        assert echoes(database) == ["a", "b", "c"]


def test_changes_of_a_settled_seed_are_not_handled_and_later_ones_are() -> None:
    Notes.may_go_on.set()
    with Database.open(":memory:") as database, run_systems(database, [SETTLED]) as (running,):
        assert echoes(database) == []
        running.db.put(Note(note_id="d"))
        running.consumers[0].drain()
        assert echoes(database) == ["d"]


def test_seed_that_was_interrupted_is_made_whole_before_changes_are_handled() -> None:
    Notes.may_go_on.set()

    def half(size: Size, day: date) -> Seed:
        def notes() -> Iterator[Entity]:
            yield Note(note_id="a")
            raise OSError("the lamp went out")

        return Seed(3, notes(), is_settled=True)

    with Database.open(":memory:") as database:
        with pytest.raises(OSError, match="lamp"), run_systems(database, [replace(SETTLED, seed=half)]):
            pass
        with run_systems(database, [SETTLED]) as (running,):
            assert [item["noteId"]["S"] for item in database.scan(TableName="notes-test")["Items"]] != []
            running.consumers[0].drain()
            assert echoes(database) == []


def test_systems_run_side_by_side_in_tables_of_their_own() -> None:
    Notes.may_go_on.set()
    systems = [SYSTEM, replace(SETTLED, environment={"stage": "other"})]
    with Database.open(":memory:") as database, run_systems(database, systems) as running:
        assert [each.db.session.table for each in running] == ["notes-test", "notes-other"]
        assert echoes(database) == ["a", "b", "c"]
        assert len(database.scan(TableName="notes-other")["Items"]) == 3


def test_workers_do_all_that_there_is_to_do_before_anybody_asks() -> None:
    Notes.may_go_on.set()
    begun = Event()
    pages: list[str] = []

    def step() -> Step:
        if len(pages) == 3:
            begun.wait()  # in its thread, from now on
            return Step(0)
        pages.append(current_thread().name)
        return Step(1, more=len(pages) < 3)

    system = replace(SYSTEM, workers=lambda db: (Worker("pages", 3600.0, step),))
    with Database.open(":memory:") as database, run_systems(database, [system]):
        begun.set()
    assert pages == [current_thread().name] * 3


def test_worker_that_never_has_done_all_goes_on_beside_the_others() -> None:
    Notes.may_go_on.set()
    beside = Event()

    def step() -> Step:
        if current_thread() is not main_thread():
            beside.set()
        return Step(1, more=not beside.is_set())

    system = replace(SYSTEM, workers=lambda db: (Worker("endless", 3600.0, step),))
    with Database.open(":memory:") as database, run_systems(database, [system]):
        beside.wait()


def test_changes_that_take_too_long_are_handled_while_the_systems_run() -> None:
    Notes.may_go_on.clear()
    with Database.open(":memory:") as database, run_systems(database, [SYSTEM], patience_s=0) as (running,):
        assert echoes(database) == []
        Notes.may_go_on.set()
        running.consumers[0].drain()
        assert echoes(database) == ["a", "b", "c"]
