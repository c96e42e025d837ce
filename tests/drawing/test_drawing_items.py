"""Pictures of items: a bounded part of a table, each item in its collection, and what is not shown is said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from xml.etree import ElementTree

import pytest

from designs.lunch import LunchCache as LunchWithSizes
from singletable import Database
from singletable.clock import ManualClock
from singletable.drawing import Collection, Limits, Picture, Row, View, draw_items, html, svg
from singletable.errors import TableMissingError
from singletable_systems.kefir.model.entities import Batch, Device, Reminder, User
from singletable_systems.kefir.model.keys import BatchId, DeviceId, ReminderId, UserId
from singletable_systems.kefir.reactions.handlers import Kefir
from singletable_systems.lunch_cache.model.design import LunchCache
from singletable_systems.lunch_cache.model.entities import Lunch, WeeklyMenu

NOW = datetime(2026, 1, 20, 8, tzinfo=UTC)
TABLE = "kefir-app-dev-table"


@pytest.fixture
def database() -> Iterator[Database]:
    """A database in memory whose clock stands still."""
    with Database.open(":memory:", clock=ManualClock(int(NOW.timestamp()) * 1_000_000)) as database:
        yield database


@pytest.fixture
def db(database: Database) -> Kefir:
    """Kefir with a user who has a batch, two reminders and a device."""
    db = Kefir.open(database)
    user = UserId("ada")
    db.create(User(user_id=user, email="ada@example.org"))
    db.create(batch("b1"))
    for number, status in enumerate(("pending", "sent")):
        db.create(
            Reminder(
                reminder_id=ReminderId(f"r{number}"),
                batch_id=BatchId("b1"),
                user_id=user,
                message="Taste it",
                due_at=NOW,
                status=status,  # type: ignore[arg-type]
            )
        )
    db.create(
        Device(device_id=DeviceId("d1"), user_id=user, platform="ios", push_token="t1", last_seen_at=NOW)
    )
    return db


def batch(name: str, user: str = "ada") -> Batch:
    return Batch(
        batch_id=BatchId(name),
        user_id=UserId(user),
        name=f"Jar {name}",
        water_volume_ml=Decimal(1000),
        sugar_grams=Decimal("37.5"),
        temperature_c=Decimal(21),
        start_time=NOW,
        target_hours_stage1=Decimal(48),
    )


def view_of(picture: Picture, name: str = "table") -> View:
    (view,) = [view for view in picture.views if view.name == name]
    return view


def collection_of(picture: Picture, partition: str, view: str = "table") -> Collection:
    collections = view_of(picture, view).collections
    (found,) = [each for each in collections if each.partition.text == partition]
    return found


def values_of(row: Row) -> Mapping[str, str]:
    return {attribute.name: attribute.text for attribute in row.attributes}


# --- what is shown --------------------------------------------------------------------------------------


def test_items_stand_in_their_collections_in_the_order_of_their_keys(db: Kefir) -> None:
    picture = draw_items(db)
    shown = {
        view.name: [
            (each.partition.text, [(row.sort.text, row.entity, row.kind) for row in each.rows if row.sort])
            for each in view.collections
        ]
        for view in picture.views
    }
    at = "2026-01-20T08:00:00.000Z"
    assert shown["table"] == [
        (
            "USER#ada",
            [("BATCH#b1", "Batch", "item"), ("DEVICE#d1", "Device", "item"), ("METADATA", "User", "item")],
        ),
        ("BATCH#b1", [("REMINDER#r0", "Reminder", "item"), ("REMINDER#r1", "Reminder", "item")]),
        ("EMAIL#ada@example.org", [("UNIQUE", "User", "lock")]),
        ("PUSHTOKEN#t1", [("UNIQUE", "Device", "lock")]),
    ]
    # The reminder that was sent is in no index.
    assert shown["GSI1"] == [
        ("BATCH#b1", [(f"STATUS#active#{at}", "Batch", "item")]),
        ("USER#ada", [(f"DUE#{at}", "Reminder", "item")]),
    ]
    assert [len(rows) for _, rows in shown["GSI2"]] == [1, 1]


def test_items_have_their_values_and_no_discriminator(db: Kefir) -> None:
    values = values_of(collection_of(draw_items(db), "USER#ada").rows[0])
    assert values["name"] == "Jar b1"
    assert values["sugarGrams"] == "37.5"
    assert "entityType" not in values
    assert {"PK", "SK"}.isdisjoint(values)
    assert list(values)[-4:] == ["GSI1PK", "GSI1SK", "GSI2PK", "GSI2SK"]


def test_item_that_expires_says_when(db: Kefir) -> None:
    device = collection_of(draw_items(db), "USER#ada").rows[1]
    assert (device.entity, device.expires) == ("Device", True)
    assert device.notes == ("expires 2026-10-17 08:00 UTC",)


def test_parts_of_real_keys_are_known(db: Kefir) -> None:
    collection = collection_of(draw_items(db), "USER#ada")
    assert collection.partition.about == ("userId: UserId",)
    assert [pattern.number for pattern in collection.patterns][:2] == ["1", "2"]


def test_one_view_is_drawn_alone(db: Kefir) -> None:
    assert [view.name for view in draw_items(db, view="GSI2").views] == ["GSI2"]


def test_item_of_no_entity_is_shown_as_unknown(db: Kefir, database: Database) -> None:
    item = {"PK": {"S": "OTHER#1"}, "SK": {"S": "x"}, "what": {"S": "<b>&"}}
    database.put_item(TableName=TABLE, Item=item)
    picture = draw_items(db)
    (row,) = collection_of(picture, "OTHER#1").rows
    assert (row.entity, values_of(row)) == ("unknown", {"what": "<b>&"})
    assert picture.entities[-1] == "unknown"
    ElementTree.fromstring(svg(picture))
    assert "&lt;b&gt;&amp;" in html(picture)


VALUES: dict[str, tuple[dict[str, Any], str]] = {
    "text": ({"S": "x" * 500}, "x" * 159 + "…"),
    "number": ({"N": "-1.50"}, "-1.5"),
    "binary": ({"B": b"\x00\xff"}, "AP8="),
    "true": ({"BOOL": True}, "true"),
    "null": ({"NULL": True}, "null"),
    "map": (
        {
            "M": {
                "a": {"N": "1.5"},
                "b": {"L": [{"S": 'ä"'}, {"NULL": True}, {"B": b"a"}, {"NS": ["2", "1"]}]},
            }
        },
        '{"a": 1.5, "b": ["ä\\"", null, "YQ==", {1, 2}]}',
    ),
    "strings": ({"SS": ["b", "a"]}, "{a, b}"),
    "binaries": ({"BS": [b"b", b"a"]}, "{YQ==, Yg==}"),
}


@pytest.mark.parametrize(("value", "text"), VALUES.values(), ids=VALUES)
def test_value_of_every_type_is_shown(
    db: Kefir, database: Database, value: dict[str, Any], text: str
) -> None:
    database.put_item(TableName=TABLE, Item={"PK": {"S": "OTHER#1"}, "SK": {"S": "x"}, "what": value})
    (row,) = collection_of(draw_items(db), "OTHER#1").rows
    assert values_of(row) == {"what": text}


@pytest.mark.parametrize("moment", ["soon", "1e40", "-99999999999999"])
def test_expiry_that_is_no_time_is_only_a_value(db: Kefir, database: Database, moment: str) -> None:
    value = {"S": moment} if moment == "soon" else {"N": moment}
    database.put_item(TableName=TABLE, Item={"PK": {"S": "OTHER#1"}, "SK": {"S": "x"}, "ttl": value})
    (row,) = collection_of(draw_items(db), "OTHER#1").rows
    assert (row.expires, row.notes) == (False, ())


def test_keys_without_a_sort_key_and_of_several_attributes_are_drawn() -> None:
    with LunchCache.open(":memory:", clock=ManualClock(int(NOW.timestamp()) * 1_000_000)) as lunch:
        dish = Lunch(name="Gröt", price=Decimal(95), weekday="måndag", week=3, place="niagara")
        for name in ("la-cantina", "niagara"):
            lunch.put(WeeklyMenu(restaurant=name, week=3, year=2025, lunches=[dish], cached_at=NOW))
        picture = draw_items(lunch)
    collection = collection_of(picture, "la-cantina-2025-03")
    assert [piece.text for piece in collection.partition.pieces] == ["la-cantina", "-", "2025", "-", "03"]
    assert collection.rows[0].sort is None
    with LunchWithSizes.open(":memory:") as sizes:
        assert [view.collections for view in draw_items(sizes).views] == [(), (), ()]


# --- what is not shown ----------------------------------------------------------------------------------


class Counting:
    """Counts what is asked of a database."""

    def __init__(self, db: Kefir, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[tuple[str, int]] = []
        client = db.session.client
        call = client.call

        def counted(operation: str, params: Mapping[str, Any]) -> dict[str, Any]:
            answer = call(operation, params)
            self.asked.append((operation, answer["Count"]))
            return answer

        monkeypatch.setattr(client, "call", counted)


def test_of_a_thousand_items_few_are_shown_and_the_rest_is_counted(
    db: Kefir, monkeypatch: pytest.MonkeyPatch
) -> None:
    db.load(batch(f"b{number:03}", "bo") for number in range(1000))
    counting = Counting(db, monkeypatch)
    picture = draw_items(db)
    collection = collection_of(picture, "USER#bo")
    assert [row.sort and row.sort.text for row in collection.rows] == [
        "BATCH#b000",
        "BATCH#b001",
        "BATCH#b002",
    ]
    assert collection.rows[-1].notes == ()
    assert collection.more == "997 more items"
    assert {operation for operation, _ in counting.asked} == {"Scan", "Query"}
    assert sum(count for operation, count in counting.asked if operation == "Scan") <= 3 * 1000
    assert len(counting.asked) <= 3 * (20 + 2 * 12)
    assert len(svg(picture)) < 100_000
    by_id = view_of(picture, "GSI1")
    assert len(by_id.collections) == 3
    assert by_id.more == "997 more collections; only the first 1,000 items were looked at"


def test_one_item_that_would_be_left_out_alone_is_shown(db: Kefir) -> None:
    for number in range(4):
        db.create(batch(f"c{number}", "bo"))
    assert len(collection_of(draw_items(db), "USER#bo").rows) == 4
    db.create(batch("c4", "bo"))
    rows = collection_of(draw_items(db), "USER#bo").rows
    assert (len(rows), rows[-1].notes) == (3, ("2 more like it",))


def test_entities_behind_the_last_row_are_counted(db: Kefir) -> None:
    collection = collection_of(draw_items(db, limits=Limits(rows_max=2)), "USER#ada")
    assert [row.entity for row in collection.rows] == ["Batch", "Device"]
    assert collection.more == "1 more item"


def test_every_kind_of_collection_comes_before_a_second_of_any(db: Kefir) -> None:
    for number in range(20):
        db.create(User(user_id=UserId(f"u{number}"), email=f"u{number}@example.org"))
    view = view_of(draw_items(db, limits=Limits(collections_max=4)))
    begins = [collection.partition.pieces[0].text for collection in view.collections]
    assert begins == ["USER#", "BATCH#", "EMAIL#", "PUSHTOKEN#"]
    assert view.more == "40 more collections"


def test_count_that_is_not_finished_says_so(db: Kefir, database: Database) -> None:
    filling = {"S": "x" * 350_000}
    for number in range(8):
        item = {"PK": {"S": "BIG#1"}, "SK": {"S": str(number)}, "filling": filling}
        database.put_item(TableName=TABLE, Item=item)
    collection = collection_of(draw_items(db, limits=Limits(items_max=2)), "BIG#1")
    assert len(collection.rows) == 2
    assert collection.more.startswith("more than ")


def test_same_items_give_the_same_picture_and_nothing_is_written(db: Kefir, database: Database) -> None:
    before = database.scan(TableName=TABLE)["Items"]
    assert html(draw_items(db)) == html(draw_items(db))
    assert database.scan(TableName=TABLE)["Items"] == before


def test_table_that_is_not_there_is_said(database: Database) -> None:
    with pytest.raises(TableMissingError, match=TABLE):
        draw_items(Kefir.open(database, create=False))
