"""Unmodified PynamoDB in the process: its models build their own clients."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from pynamodb.attributes import (
    BinaryAttribute,
    JSONAttribute,
    ListAttribute,
    MapAttribute,
    NumberAttribute,
    TTLAttribute,
    UnicodeAttribute,
    UnicodeSetAttribute,
    UTCDateTimeAttribute,
    VersionAttribute,
)
from pynamodb.connection import Connection
from pynamodb.exceptions import DoesNotExist, GetError, PutError, TableError, TransactWriteError, UpdateError
from pynamodb.indexes import AllProjection, GlobalSecondaryIndex, KeysOnlyProjection, LocalSecondaryIndex
from pynamodb.models import Model
from pynamodb.transactions import TransactGet, TransactWrite

import singletable
from singletable import Database


class ByArtist(GlobalSecondaryIndex["Song"]):
    class Meta:
        index_name = "by_artist"
        projection = AllProjection()

    artist = UnicodeAttribute(hash_key=True)
    year = NumberAttribute(range_key=True)


class ByYear(LocalSecondaryIndex["Song"]):
    class Meta:
        index_name = "by_year"
        projection = KeysOnlyProjection()

    genre = UnicodeAttribute(hash_key=True)
    year = NumberAttribute(range_key=True)


class Song(Model):
    class Meta:
        table_name = "songs"
        billing_mode = "PAY_PER_REQUEST"

    genre = UnicodeAttribute(hash_key=True)
    title = UnicodeAttribute(range_key=True)
    artist = UnicodeAttribute()
    year = NumberAttribute()
    plays = NumberAttribute(default=0)
    cover = BinaryAttribute(null=True, legacy_encoding=False)
    tags = UnicodeSetAttribute(null=True)
    credits = ListAttribute[Any](null=True)
    label: MapAttribute[str, Any] = MapAttribute(null=True)
    notes = JSONAttribute(null=True)
    added = UTCDateTimeAttribute(null=True)
    by_artist = ByArtist()
    by_year = ByYear()


class Ticket(Model):
    class Meta:
        table_name = "tickets"
        billing_mode = "PAY_PER_REQUEST"

    code = UnicodeAttribute(hash_key=True)
    expires = TTLAttribute()


class Counter(Model):
    class Meta:
        table_name = "counters"
        read_capacity_units = 1
        write_capacity_units = 1

    name = UnicodeAttribute(hash_key=True)
    value = NumberAttribute()
    version = VersionAttribute()


@pytest.fixture
def database() -> Iterator[Database]:
    """A new database for each test: the models keep the client of the first one, and follow all the same."""
    with Database.open(":memory:") as opened, singletable.patch(opened):
        Song.create_table(wait=True)
        Counter.create_table(wait=True)
        yield opened
        assert opened.check() == []


def song(title: str, **changed: Any) -> Song:
    return Song("jazz", title, **{"artist": "Ella", "year": 1956, **changed})


def test_tables_are_made_with_their_indexes(database: Database) -> None:
    described = database.describe_table(TableName="songs")["Table"]
    assert described["GlobalSecondaryIndexes"][0]["IndexName"] == "by_artist"
    assert described["LocalSecondaryIndexes"][0]["IndexName"] == "by_year"
    assert Song.exists()
    Song.delete_table()
    assert not Song.exists()


def test_every_attribute_comes_back(database: Database) -> None:
    at = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    saved = song(
        "Summertime",
        cover=b"\x00\xff",
        tags={"duet", "live"},
        credits=[1, "two", {"three": b"\x03"}],
        label={"name": "Verve", "since": 1956},
        notes={"any": ["json"]},
        added=at,
    )
    saved.save()
    assert Song.get("jazz", "Summertime", consistent_read=True).attribute_values.keys() == (
        saved.attribute_values.keys()
    )
    found = Song.get("jazz", "Summertime")
    assert (found.cover, found.tags, found.notes) == (b"\x00\xff", {"duet", "live"}, {"any": ["json"]})
    assert found.credits == [1, "two", {"three": b"\x03"}]
    assert found.label.as_dict() == {"name": "Verve", "since": 1956}
    assert found.added == at
    stored = database.get_item(TableName="songs", Key={"genre": {"S": "jazz"}, "title": {"S": "Summertime"}})
    assert stored["Item"]["cover"] == {"B": b"\x00\xff"}


def test_ttl_attribute_is_stored_as_seconds_and_enabled(database: Database) -> None:
    Ticket.create_table(wait=True)
    described = database.describe_time_to_live(TableName="tickets")["TimeToLiveDescription"]
    assert described == {"TimeToLiveStatus": "ENABLED", "AttributeName": "expires"}
    with pytest.raises(TableError, match="TimeToLive is already enabled"):
        Ticket.update_ttl(ignore_update_ttl_errors=False)
    at = datetime(2126, 1, 2, 3, 4, 5, tzinfo=UTC)
    Ticket("a", expires=at).save()
    assert Ticket.get("a").expires == at
    assert database.scan(TableName="tickets")["Items"] == [
        {"code": {"S": "a"}, "expires": {"N": str(int(at.timestamp()))}}
    ]


def test_missing_item_is_its_exception(database: Database) -> None:
    with pytest.raises(DoesNotExist):
        Song.get("jazz", "nothing")


def test_failed_condition_is_its_exception(database: Database) -> None:
    song("Misty").save(Song.title.does_not_exist())
    with pytest.raises(PutError) as raised:
        song("Misty").save(Song.title.does_not_exist())
    assert raised.value.cause_response_code == "ConditionalCheckFailedException"
    with pytest.raises(UpdateError):
        song("Misty").update([Song.plays.set(1)], condition=Song.year > 2000)


def test_update_returns_the_new_item(database: Database) -> None:
    changed = song("Misty", tags={"a"})
    changed.save()
    changed.update(
        [Song.plays.add(3), Song.tags.add({"b"}), Song.artist.set("Erroll"), Song.cover.remove()],
        condition=Song.year.between(1950, 1960) & Song.tags.contains("a"),
    )
    assert (changed.plays, changed.artist, changed.tags) == (3, "Erroll", {"a", "b"})
    assert Song.get("jazz", "Misty").plays == 3


def test_query_and_scan_follow_all_pages(database: Database) -> None:
    with Song.batch_write() as batch:
        for number in range(30):
            batch.save(song(f"{number:02}", year=1950 + number % 3, artist=f"artist {number % 2}"))
    assert [found.title for found in Song.query("jazz", Song.title.startswith("1"), limit=3)] == [
        "10",
        "11",
        "12",
    ]
    assert len(list(Song.query("jazz", page_size=7))) == 30
    assert [found.year for found in Song.by_artist.query("artist 0", Song.year > 1951, limit=2)] == [
        1952,
        1952,
    ]
    assert [found.title for found in Song.by_year.query("jazz", Song.year == 1952, limit=1)] == ["02"]
    assert len(list(Song.scan(Song.year == 1950, page_size=4))) == 10
    assert Song.count("jazz") == 30
    pages = Song.query("jazz", page_size=10, limit=10)
    assert len(list(pages)) == 10
    assert pages.last_evaluated_key == {"genre": {"S": "jazz"}, "title": {"S": "09"}}


def test_batches_read_and_delete(database: Database) -> None:
    keys = [("jazz", f"{number:02}") for number in range(120)]
    with Song.batch_write() as batch:
        for _, title in keys:
            batch.save(song(title))
    assert len(list(Song.batch_get(keys))) == 120
    with Song.batch_write() as batch:
        for found in Song.query("jazz"):
            batch.delete(found)
    assert Song.count("jazz") == 0


def test_version_guards_against_lost_updates(database: Database) -> None:
    Counter("visits", value=1).save()
    mine, theirs = Counter.get("visits"), Counter.get("visits")
    theirs.update([Counter.value.set(2)])
    mine.value = 3
    with pytest.raises(PutError):
        mine.save()
    assert (Counter.get("visits").value, Counter.get("visits").version) == (2, 2)


def test_transactions_go_through_or_tell_why_not(database: Database) -> None:
    connection = Connection()
    Counter("visits", value=1).save()
    with TransactWrite(connection=connection, client_request_token="once") as transaction:
        transaction.save(song("Misty"))
        transaction.update(Counter("visits", version=1, value=1), [Counter.value.add(1)])
    with TransactGet(connection=connection) as reading:
        found = reading.get(Song, "jazz", "Misty")
        visits = reading.get(Counter, "visits")
    assert (found.get().artist, visits.get().value) == ("Ella", 2)
    failing = TransactWrite(connection=connection)
    failing.save(song("Other"))
    failing.condition_check(Song, "jazz", "nothing", condition=Song.title.exists())
    with pytest.raises(TransactWriteError) as raised, failing:
        pass  # the end of the block sends it
    check, put = raised.value.cancellation_reasons  # it sends checks before puts
    assert check is not None
    assert check.code == "ConditionalCheckFailed"
    assert put is None
    with pytest.raises(DoesNotExist):
        Song.get("jazz", "Other")


def test_missing_table_is_its_exception() -> None:
    with (
        Database.open(":memory:") as empty,
        singletable.patch(empty),
        pytest.raises(GetError, match="Requested resource not found"),
    ):
        Counter.get("visits")
