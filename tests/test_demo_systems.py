"""Systems that run in one database: what belongs to them is done, and does not keep anybody waiting."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from threading import Event, current_thread, main_thread
from typing import ClassVar

from singletable import Change, Database, Design, Entity, Key, Keys, Put, SortKey, Table, on
from singletable.cli.demo_systems import run_systems
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


SYSTEM = System("notes", "Notes", Notes, seed, environment={"stage": "test"})


def echoes(database: Database) -> list[str]:
    items = database.scan(TableName="notes-test")["Items"]
    return sorted(item["noteId"]["S"] for item in items if item["SK"]["S"] == "ECHO")


def test_changes_of_the_seed_are_handled_before_anybody_asks() -> None:
    Notes.may_go_on.set()
    with Database.open(":memory:") as database, run_systems(database, [SYSTEM]):
        assert echoes(database) == ["a", "b", "c"]


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
