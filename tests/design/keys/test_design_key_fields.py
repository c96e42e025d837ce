"""Items that other code has written, with fields that only their keys hold."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from singletable import Design, Entity, Key, Keys, Query, SortKey, Table, pattern
from singletable.errors import InvalidItemError
from support.opened_designs import call


class LogTable(Table):
    name = "log"


class DevicePK(Key, template="DEVICE#{device_id}"):
    device_id: str


class ReadingSK(SortKey, template="READING#{taken_at}#{place:03}"):
    taken_at: datetime
    place: int


class Reading(Entity):
    key = Keys(DevicePK, ReadingSK)

    device_id: str
    taken_at: datetime
    place: int
    celsius: int


class Log(Design):
    table = LogTable
    entities = (Reading,)

    @pattern("1 List the readings of a device")
    def readings(self, device_id: str) -> Query[Reading]:
        return Reading.key.query(DevicePK(device_id=device_id))


READING = Reading(device_id="d1", taken_at=datetime(2026, 1, 2, tzinfo=UTC), place=7, celsius=21)
SK = "READING#2026-01-02T00:00:00.000Z#007"


@pytest.fixture
def db() -> Iterator[Log]:
    with Log.open(":memory:") as db:
        yield db


def put(db: Log, sk: str = SK, **values: dict[str, Any]) -> None:
    call(db, "PutItem", Item={"PK": {"S": "DEVICE#d1"}, "SK": {"S": sk}, **values})


def test_fields_that_only_the_key_holds_are_read_from_it(db: Log) -> None:
    put(db, celsius={"N": "21"})
    assert db.readings("d1").one() == READING


def test_what_an_attribute_says_is_believed_before_the_key(db: Log) -> None:
    put(db, celsius={"N": "21"}, place={"N": "8"})
    assert db.readings("d1").one().place == 8


def test_entity_that_was_read_so_is_stored_with_all_its_fields(db: Log) -> None:
    put(db, celsius={"N": "21"})
    db.put(db.readings("d1").one())
    (item,) = call(db, "Scan")["Items"]
    assert (item["deviceId"], item["place"]) == ({"S": "d1"}, {"N": "7"})


def test_field_that_is_nowhere_is_named(db: Log) -> None:
    put(db)
    with pytest.raises(InvalidItemError, match=r"is no Reading: "):
        db.readings("d1").one()


def test_key_that_holds_no_such_field_is_no_help(db: Log) -> None:
    put(db, "READING#some day", celsius={"N": "21"}, **{Log.catalog.discriminator: {"S": "Reading"}})
    with pytest.raises(InvalidItemError, match=r"device_id: Field required"):
        db.readings("d1").one()
