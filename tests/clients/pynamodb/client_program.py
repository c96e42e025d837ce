"""A session of PynamoDB against the endpoint of the environment."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from typing import Any

from proving import introduce, proof, raises
from pynamodb.attributes import (
    BinaryAttribute,
    BinarySetAttribute,
    BooleanAttribute,
    JSONAttribute,
    ListAttribute,
    MapAttribute,
    NumberAttribute,
    NumberSetAttribute,
    TTLAttribute,
    UnicodeAttribute,
    UnicodeSetAttribute,
    UTCDateTimeAttribute,
    VersionAttribute,
)
from pynamodb.connection import Connection
from pynamodb.exceptions import (
    DeleteError,
    DoesNotExist,
    PutError,
    TableError,
    TransactWriteError,
    UpdateError,
)
from pynamodb.indexes import AllProjection, GlobalSecondaryIndex, KeysOnlyProjection, LocalSecondaryIndex
from pynamodb.models import Model
from pynamodb.transactions import TransactGet, TransactWrite


class ByStatus(GlobalSecondaryIndex):
    class Meta:
        index_name = "by_status"
        projection = AllProjection()

    status = UnicodeAttribute(hash_key=True)
    due = NumberAttribute(range_key=True)


class ByDue(LocalSecondaryIndex):
    class Meta:
        index_name = "by_due"
        projection = KeysOnlyProjection()

    project = UnicodeAttribute(hash_key=True)
    due = NumberAttribute(range_key=True)


class Task(Model):
    class Meta:
        table_name = "tasks"
        billing_mode = "PAY_PER_REQUEST"
        tags = {"team": "planning"}  # noqa: RUF012

    project = UnicodeAttribute(hash_key=True)
    name = UnicodeAttribute(range_key=True)
    status = UnicodeAttribute(default="open")
    due = NumberAttribute(default=0)
    estimate = NumberAttribute(null=True)
    labels = UnicodeSetAttribute(null=True)
    by_status = ByStatus()
    by_due = ByDue()


class Place(MapAttribute):
    city = UnicodeAttribute()
    floor = NumberAttribute(null=True)


class Everything(Model):
    class Meta:
        table_name = "everything"
        read_capacity_units = 5
        write_capacity_units = 5

    id = BinaryAttribute(hash_key=True, legacy_encoding=False)
    at = UTCDateTimeAttribute()
    yes = BooleanAttribute()
    place = Place()
    places = ListAttribute(of=Place)
    numbers = NumberSetAttribute()
    binaries = BinarySetAttribute(legacy_encoding=False)
    settings = JSONAttribute()
    size = NumberAttribute()
    nothing = UnicodeAttribute(null=True)


class Visit(Model):
    class Meta:
        table_name = "visits"
        billing_mode = "PAY_PER_REQUEST"

    id = UnicodeAttribute(hash_key=True)
    expires = TTLAttribute()


class Account(Model):
    class Meta:
        table_name = "accounts"
        billing_mode = "PAY_PER_REQUEST"

    id = UnicodeAttribute(hash_key=True)
    balance = NumberAttribute(default=0)
    revision = VersionAttribute()


def tables() -> None:
    with proof(
        "create_table with a global and a local index, tags, both billing modes; exists, describe_table"
    ):
        assert not Task.exists()
        Task.create_table(wait=True)
        Everything.create_table(wait=True)
        Account.create_table(wait=True)
        assert Task.exists()
        described = Task.describe_table()
        assert described["TableStatus"] == "ACTIVE"
        assert described["GlobalSecondaryIndexes"][0]["IndexName"] == "by_status"
        assert described["LocalSecondaryIndexes"][0]["IndexName"] == "by_due"


def items() -> None:
    with proof("save, get, refresh, update with actions, delete; conditions and their errors"):
        task = Task("house", "paint", estimate=3, labels={"wall"})
        task.save(Task.name.does_not_exist())
        with raises(PutError) as caught:
            Task("house", "paint").save(Task.name.does_not_exist())
        assert caught.error.cause_response_code == "ConditionalCheckFailedException"
        assert caught.error.cause_response_message == "The conditional request failed"
        task.update(
            actions=[
                Task.estimate.set(Task.estimate + 2),
                Task.labels.add({"ceiling"}),
                Task.due.set(Task.due | 7),
            ],
            condition=(Task.status == "open") & Task.name.startswith("pa") & Task.labels.contains("wall"),
        )
        assert (task.estimate, task.labels, task.due) == (5, {"wall", "ceiling"}, 0)
        with raises(UpdateError):
            task.update(actions=[Task.status.set("done")], condition=Task.estimate > 5)
        with raises(DeleteError):
            task.delete(condition=Task.status.is_in("done", "dropped"))
        stored = Task.get("house", "paint", consistent_read=True)
        stored.refresh()
        assert stored.attribute_values == task.attribute_values
        task.delete()
        with raises(DoesNotExist):
            Task.get("house", "paint")


def plain(kept: Everything) -> dict[str, Any]:
    """Return the values; maps as dicts, since map attributes compare by identity."""
    maps = {"place": kept.place.as_dict(), "places": [place.as_dict() for place in kept.places]}
    return {**kept.attribute_values, **maps}


def values() -> None:
    with proof("every attribute: binary keys, dates, maps, lists, sets of numbers and of bytes, JSON"):
        kept = Everything(
            id=b"\x00\xff",
            at=datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC),
            yes=True,
            place=Place(city="Łódź"),
            places=[Place(city="Oslo", floor=3), Place(city="")],
            numbers={1, 2.5, -3},
            binaries={b"\x00", b"\xfe"},
            settings={"deep": [1, {"er": None}]},
            size=12345678901234567890123456789012345678,
        )
        kept.save()
        assert plain(Everything.get(b"\x00\xff")) == plain(kept)


def pages() -> None:
    with proof("batch_write, batch_get; query and scan over pages, on both kinds of index, count"):
        with Task.batch_write() as batch:
            for number in range(59):
                batch.save(
                    Task("garden", f"{number:02}", status="open" if number % 2 else "done", due=number)
                )
            batch.delete(Task("garden", "not there"))
        garden = list(Task.query("garden", Task.name >= "10", page_size=7))
        assert [task.name for task in garden] == [f"{number:02}" for number in range(10, 59)]
        still_open = Task.by_status.query("open", ByStatus.due.between(20, 40), scan_index_forward=False)
        assert [task.due for task in still_open] == list(range(39, 19, -2))
        by_due = Task.by_due.query("garden", ByDue.due < 5, consistent_read=True)
        assert [task.name for task in by_due] == ["00", "01", "02", "03", "04"]
        first = Task.query("garden", limit=10, page_size=10)
        assert len(list(first)) == 10
        rest = Task.query("garden", last_evaluated_key=first.last_evaluated_key)
        assert len(list(rest)) == 49
        assert Task.count("garden", filter_condition=Task.status == "done") == 30
        found = Task.batch_get([("garden", f"{number:02}") for number in range(60)])
        assert len(list(found)) == 59
        assert len(list(Task.scan(Task.due >= 50, page_size=5, attributes_to_get=["name"]))) == 9
        segments = [list(Task.scan(segment=segment, total_segments=3)) for segment in range(3)]
        assert sum(map(len, segments)) == 59


def expiry() -> None:
    with proof("a TTLAttribute: create_table enables it, update_ttl cannot twice; what has expired goes"):
        Visit.create_table(wait=True)
        with raises(TableError) as caught:
            Visit.update_ttl(ignore_update_ttl_errors=False)
        assert "TimeToLive is already enabled" in str(caught.error)
        Visit("tomorrow", expires=timedelta(days=1)).save()
        Visit("yesterday", expires=datetime.now(UTC) - timedelta(days=1)).save()
        end_s = time.monotonic() + 60
        while [visit.id for visit in Visit.scan()] != ["tomorrow"]:
            assert time.monotonic() < end_s, "it does not go"
            time.sleep(0.05)


def transactions() -> None:
    connection = Connection()
    with proof("TransactWrite and TransactGet; the reasons of a cancelled transaction; version attributes"):
        ada, bob = Account("ada", balance=10), Account("bob")
        with TransactWrite(connection=connection) as transaction:
            transaction.save(ada)
            transaction.save(bob)
        with TransactWrite(connection=connection, client_request_token="pay-4") as transaction:
            transaction.update(
                ada,
                actions=[Account.balance.add(-4)],
                condition=Account.balance >= 4,
                add_version_condition=True,
            )
            transaction.update(bob, actions=[Account.balance.add(4)])
        with TransactGet(connection=connection) as read:
            futures = [read.get(Account, "ada"), read.get(Account, "bob")]
        assert [future.get().balance for future in futures] == [6, 4]
        bob.refresh()
        with raises(TransactWriteError) as caught, TransactWrite(connection=connection) as transaction:
            transaction.update(bob, actions=[Account.balance.add(100)])
            transaction.condition_check(Account, "ada", condition=Account.balance > 100)
        # PynamoDB sends the checks before the updates.
        failed, nothing = caught.error.cancellation_reasons
        assert nothing is None
        assert failed.code == "ConditionalCheckFailed"
        stale = Account.get("ada")
        fresh = Account.get("ada")
        fresh.update(actions=[Account.balance.set(0)])
        with raises(PutError):
            stale.save()


def end() -> None:
    with proof("delete_table; a missing table is a TableError or does not exist"):
        for model in (Task, Everything, Visit, Account):
            model.delete_table()
        assert not Task.exists()
        with raises(TableError):
            Task.delete_table()


def main() -> None:
    introduce("pynamodb", version("pynamodb"))
    tables()
    items()
    values()
    pages()
    expiry()
    transactions()
    end()


main()
