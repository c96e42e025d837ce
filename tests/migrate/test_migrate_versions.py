"""Items of older schema versions: a backfill stores them as the upcasters read them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from singletable.client import Client
from singletable.clock import ManualClock
from singletable.design import Design, Entity, Index, Key, Keys, Table, upcast
from singletable.design.tables.create import create_table
from singletable.migrate import Backfill, Migration, RemoveAttributes, Runner, VerificationError, Verify
from support.migrating import design_on, drive
from support.targets import TARGETS, opened


class PersonTable(Table):
    name = "people"
    sk = None
    pitr_days = None
    by_last = Index("ByLast", pk="lastPK")


class PersonPK(Key, template="PERSON#{person_id}"):
    person_id: str


class LastPK(Key, template="LAST#{last_name}"):
    last_name: str


class Person(Entity, schema_version=2):
    key = Keys(PersonPK)
    by_last = PersonTable.by_last.keys(LastPK)

    person_id: str
    first_name: str
    last_name: str

    @upcast(1)
    def names(values: dict[str, Any]) -> dict[str, Any]:  # noqa: N805
        first, _, last = values.pop("name").partition(" ")
        return {**values, "first_name": first, "last_name": last}


class People(Design):
    table = PersonTable
    entities = (Person,)


SPLIT = Migration(
    "0002_names",
    "Split names",
    (
        Backfill({"Person": ("by_last",)}),
        Verify({"Person": ("by_last",)}),
        RemoveAttributes({"Person": ("name",)}),
    ),
    None,
)


@pytest.fixture(params=TARGETS)
def client(request: pytest.FixtureRequest) -> Iterator[Client]:
    """A table with three people of the first version."""
    clock = ManualClock()
    with opened(request.param, clock=clock, sleep=clock.advance) as client:
        client.run(create_table(design_on(client, People, {}).session))
        for number, name in enumerate(("Ada Lovelace", "Grace Hopper", "Alan Turing")):
            write(client, number, name)
        yield client


def write(client: Client, number: int, name: str) -> None:
    item = {"PK": f"PERSON#{number}", "personId": str(number), "name": name}
    stored = {attribute: {"S": value} for attribute, value in item.items()}
    client.call("PutItem", {"TableName": "people", "Item": stored})


def people(client: Client) -> dict[str, Any]:
    items = client.call("Scan", {"TableName": "people", "ConsistentRead": True})["Items"]
    return {item["PK"]["S"]: item for item in items if not item["PK"]["S"].startswith("MIGRATIONS")}


def test_backfill_stores_what_the_upcaster_says_and_drops_what_it_replaced(client: Client) -> None:
    db = design_on(client, People, {})
    (report,) = Runner(db, confirm=lambda migration, step: True).run([SPLIT])
    assert report.state == "done"
    assert people(client)["PERSON#1"] == {
        "PK": {"S": "PERSON#1"},
        "personId": {"S": "1"},
        "entityType": {"S": "Person"},
        "schemaVersion": {"N": "2"},
        "firstName": {"S": "Grace"},
        "lastName": {"S": "Hopper"},
        "lastPK": {"S": "LAST#Hopper"},
    }
    found = db.plan(Person.by_last.query(LastPK(last_name="Turing"))).all()
    assert [person.first_name for person in found] == ["Alan"]


@pytest.mark.parametrize("turn", range(1, 16))
def test_old_code_that_renames_somebody_meanwhile_is_not_overwritten(turn: int) -> None:
    clock = ManualClock()
    with opened("embedded", clock=clock, sleep=clock.advance) as client:
        db = design_on(client, People, {})
        client.run(create_table(db.session))
        for number, name in enumerate(("Ada Lovelace", "Grace Hopper", "Alan Turing")):
            write(client, number, name)
        calls = 0

        def rename() -> None:
            nonlocal calls
            calls += 1
            if calls == turn:
                write(client, 1, "Grace Murray")

        runner = Runner(db, confirm=lambda migration, step: True)
        try:
            drive(client, runner.steps([SPLIT]), 10_000, between=rename)
        except VerificationError:
            runner.run([SPLIT])  # once the old code is gone
        person = db.plan(Person.key.get(PersonPK(person_id="1"))).one()
        assert person.last_name == ("Murray" if calls >= turn else "Hopper")
        assert "name" not in people(client)["PERSON#0"]


def test_item_that_the_upcaster_cannot_read_is_listed_and_stops_the_run(client: Client) -> None:
    nobody = {"PK": {"S": "PERSON#9"}, "personId": {"L": []}, "name": {"S": "X"}}
    client.call("PutItem", {"TableName": "people", "Item": nobody})
    db = design_on(client, People, {})
    with pytest.raises(VerificationError, match="PERSON#9"):
        Runner(db).run([SPLIT])
    record = Runner(db).status([SPLIT])["0002_names"]
    assert record.counts.changed == 3
    assert record.failures[0].startswith("PERSON#9: the item PERSON#9 is no Person")


def test_async_run_does_the_same(client: Client) -> None:
    db = design_on(client, People, {})
    (report,) = asyncio.run(Runner(db, confirm=lambda migration, step: True).arun([SPLIT]))
    assert report.state == "done"
    assert all("name" not in item for item in people(client).values())
