"""The exact requests of plans: every documented pattern, bounds, filters and limits."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from designs.feed import AuthorId, Feed, Post, PostId
from designs.kefir import (
    Batch,
    BatchEvent,
    BatchId,
    BatchPK,
    BatchSK,
    DeviceId,
    EventId,
    EventSK,
    Kefir,
    Reminder,
    ReminderId,
    ReminderSK,
    UserId,
    UserPK,
)
from singletable.clock import ManualClock
from singletable.design import (
    And,
    BeginsWith,
    Condition,
    Contains,
    Design,
    Entity,
    Eq,
    Exists,
    Ge,
    Gt,
    In,
    Index,
    Key,
    Keys,
    Le,
    Lt,
    Merged,
    Ne,
    Not,
    Or,
    Query,
    SortKey,
    Table,
)
from singletable.errors import DeclarationError, KeyValueError, UnknownFieldError

NOW = datetime(2025, 1, 20, 10, 30, tzinfo=UTC)
TIME = "2025-01-20T10:30:00.000Z"
TABLE = "kefir-app-dev-table"
USER, BATCH = UserId("u1"), BatchId("b1")


@pytest.fixture(scope="module")
def db() -> Iterator[Kefir]:
    with Kefir.open(":memory:") as opened:
        yield opened


@pytest.fixture(scope="module")
def feed() -> Iterator[Feed]:
    with Feed.open(":memory:", clock=ManualClock(1_700_000_000_000_000)) as opened:
        yield opened


def query(pk: str, pk_value: str, condition: str, **more: Any) -> dict[str, Any]:
    """A Query on the names of one place, with the condition on its sort key."""
    sk = pk.replace("PK", "SK")
    values = [pk_value, *more.pop("values")]
    return {
        "TableName": TABLE,
        "KeyConditionExpression": f"#0 = :0 AND {condition}",
        "ExpressionAttributeNames": {"#0": pk, "#1": sk, **more.pop("names", {})},
        "ExpressionAttributeValues": {f":{n}": {"S": value} for n, value in enumerate(values)},
        "ReturnConsumedCapacity": "TOTAL",
        **more,
    }


def test_user_is_read_consistently_by_its_key(db: Kefir) -> None:
    assert db.user(USER).request() == {
        "TableName": TABLE,
        "Key": {"PK": {"S": "USER#u1"}, "SK": {"S": "METADATA"}},
        "ConsistentRead": True,
        "ReturnConsumedCapacity": "TOTAL",
    }


def test_device_is_read_by_its_key(db: Kefir) -> None:
    assert db.device(USER, DeviceId("d1")).request() == {
        "TableName": TABLE,
        "Key": {"PK": {"S": "USER#u1"}, "SK": {"S": "DEVICE#d1"}},
        "ReturnConsumedCapacity": "TOTAL",
    }


BEGINS = "begins_with(#1, :1)"
BETWEEN = "#1 BETWEEN :1 AND :2"
REQUESTS: dict[str, tuple[Any, Any]] = {
    "batches": (
        lambda db: db.batches(USER).request(),
        query("PK", "USER#u1", BEGINS, values=["BATCH#"]),
    ),
    "newest first": (
        lambda db: db.batches(USER).newest_first().request(limit=20),
        query("PK", "USER#u1", BEGINS, values=["BATCH#"], ScanIndexForward=False, Limit=20),
    ),
    "batch_by_id": (
        lambda db: db.batch_by_id(BATCH).request(),
        query("GSI1PK", "BATCH#b1", BEGINS, values=["STATUS#"], IndexName="GSI1"),
    ),
    "batches_by_status": (
        lambda db: db.batches_by_status("ready").request(),
        [query("GSI2PK", f"STATUS#ready#{n}", BEGINS, values=["BATCH#"], IndexName="GSI2") for n in range(4)],
    ),
    "events": (
        lambda db: db.events(BATCH).request(),
        query("PK", "BATCH#b1", BEGINS, values=["EVENT#"]),
    ),
    "events_since": (
        lambda db: db.events_since(BATCH, NOW).request(),
        query("PK", "BATCH#b1", BETWEEN, values=[f"EVENT#{TIME}$", "EVENT$"]),
    ),
    "reminders": (
        lambda db: db.reminders(BATCH).request(),
        query("PK", "BATCH#b1", BEGINS, values=["REMINDER#"]),
    ),
    "upcoming": (
        lambda db: db.upcoming(USER, NOW).request(),
        query("GSI1PK", "USER#u1", BETWEEN, values=[f"DUE#{TIME}", "DUE$"], IndexName="GSI1"),
    ),
    "upcoming for a week": (
        lambda db: db.upcoming(USER, NOW, 7).request(),
        query(
            "GSI1PK",
            "USER#u1",
            BETWEEN,
            values=[f"DUE#{TIME}", "DUE#2025-01-27T10:30:00.000Z"],
            IndexName="GSI1",
        ),
    ),
    "due": (
        lambda db: db.due(NOW).request(),
        [
            query("GSI2PK", "REMINDER#PENDING", BETWEEN, values=["DUE#", f"DUE#{TIME}#"], IndexName="GSI2"),
        ],
    ),
    "devices": (
        lambda db: db.devices(USER).request(),
        query("PK", "USER#u1", BEGINS, values=["DEVICE#"]),
    ),
    "batches_in": (
        lambda db: db.batches_in(USER, "active").request(),
        query(
            "PK",
            "USER#u1",
            BEGINS,
            values=["BATCH#", "active"],
            names={"#2": "status"},
            FilterExpression="#2 = :2",
        ),
    ),
    "batch_view": (
        lambda db: db.batch_view(BATCH).request(),
        {
            "batch": query("GSI1PK", "BATCH#b1", BEGINS, values=["STATUS#"], IndexName="GSI1"),
            "events": query("PK", "BATCH#b1", BEGINS, values=["EVENT#"], ScanIndexForward=False, Limit=20),
            "reminders": query("PK", "BATCH#b1", BEGINS, values=["REMINDER#"]),
        },
    ),
    "export": (
        lambda db: db.export(USER).request(),
        {
            "TableName": TABLE,
            "KeyConditionExpression": "#0 = :0",
            "ExpressionAttributeNames": {"#0": "PK"},
            "ExpressionAttributeValues": {":0": {"S": "USER#u1"}},
            "ReturnConsumedCapacity": "TOTAL",
        },
    ),
    "batch_activity": (
        lambda db: db.batch_activity(BATCH).request(),
        {
            "TableName": TABLE,
            "KeyConditionExpression": "#0 = :0",
            "ExpressionAttributeNames": {"#0": "PK"},
            "ExpressionAttributeValues": {":0": {"S": "BATCH#b1"}},
            "ReturnConsumedCapacity": "TOTAL",
        },
    ),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_pattern_makes_the_documented_request(db: Kefir, name: str) -> None:
    asked, expected = REQUESTS[name]
    assert asked(db) == expected


def test_every_pattern_of_the_document_has_its_request_here() -> None:
    covered = {name.split()[0] for name in REQUESTS} | {"user", "device", "newest"}
    assert set(Kefir.patterns()) <= covered


# --- bounds ----------------------------------------------------------------------------------------------


def sort_condition(plan: Query[Any]) -> tuple[str, list[str]]:
    request = plan.request()
    _, _, condition = request["KeyConditionExpression"].partition(" AND ")
    values = [value["S"] for value in request["ExpressionAttributeValues"].values()]
    return condition.replace("#1", "sk"), values[1:]


EVENT = EventSK(created_at=NOW, event_id=EventId("e1"))
MOMENT = EventSK.prefix(created_at=NOW)
BOUNDS: dict[str, tuple[dict[str, Any], str, list[str]]] = {
    "equal": ({"sk": EVENT}, "sk = :1", [f"EVENT#{TIME}#e1"]),
    "a moment": ({"sk": MOMENT}, "begins_with(sk, :1)", [f"EVENT#{TIME}#"]),
    "every value as a prefix is one key": (
        {"sk": EventSK.prefix(created_at=NOW, event_id=EventId("e1"))},
        "sk = :1",
        [f"EVENT#{TIME}#e1"],
    ),
    "from a key": ({"ge": EVENT}, "sk BETWEEN :1 AND :2", [f"EVENT#{TIME}#e1", "EVENT$"]),
    "after a key": ({"gt": EVENT}, "sk BETWEEN :1 AND :2", [f"EVENT#{TIME}#e1\x00", "EVENT$"]),
    "after a moment": ({"gt": MOMENT}, "sk BETWEEN :1 AND :2", [f"EVENT#{TIME}$", "EVENT$"]),
    "from a moment": ({"ge": MOMENT}, "sk BETWEEN :1 AND :2", [f"EVENT#{TIME}#", "EVENT$"]),
    "before a moment": ({"lt": MOMENT}, "sk BETWEEN :1 AND :2", ["EVENT#", f"EVENT#{TIME}#"]),
    "up to a moment": ({"le": MOMENT}, "sk BETWEEN :1 AND :2", ["EVENT#", f"EVENT#{TIME}$"]),
    "up to a key": ({"le": EVENT}, "sk BETWEEN :1 AND :2", ["EVENT#", f"EVENT#{TIME}#e1"]),
    "before a key": ({"lt": EVENT}, "sk BETWEEN :1 AND :2", ["EVENT#", f"EVENT#{TIME}#e0\U0010ffff"]),
    "between": (
        {"between": (MOMENT, EVENT)},
        "sk BETWEEN :1 AND :2",
        [f"EVENT#{TIME}#", f"EVENT#{TIME}#e1"],
    ),
}


@pytest.mark.parametrize("name", BOUNDS)
def test_bounds_never_leave_the_keys_of_the_entity(db: Kefir, name: str) -> None:
    bounds, condition, values = BOUNDS[name]
    plan = db.plan(BatchEvent.key.query(BatchPK(batch_id=BATCH), **bounds))
    assert sort_condition(plan) == (condition, values)


def test_prefix_of_every_value_does_not_find_longer_values(db: Kefir) -> None:
    whole = ReminderSK.prefix(reminder_id=ReminderId("a"))
    plan = db.plan(Reminder.key.query(BatchPK(batch_id=BATCH), whole))
    assert sort_condition(plan) == ("sk = :1", ["REMINDER#a"])
    plan = db.plan(Reminder.key.query(BatchPK(batch_id=BATCH), lt=whole))
    assert sort_condition(plan)[1][1] < "REMINDER#a"


def test_two_lower_bounds_are_refused(db: Kefir) -> None:
    plan = db.plan(BatchEvent.key.query(BatchPK(batch_id=BATCH), gt=EVENT, ge=EVENT))
    with pytest.raises(KeyValueError, match="one lower bound"):
        plan.request()


def test_sort_key_beside_bounds_is_refused() -> None:
    with pytest.raises(KeyValueError, match="not both"):
        BatchEvent.key.query(BatchPK(batch_id=BATCH), MOMENT, gt=EVENT)


class SeatTable(Table):
    name = "seats"


class RoomPK(Key, template="ROOM#{room}"):
    room: str


class SeatSK(SortKey, template="SEAT#{row}#{seat:03}"):
    row: int
    seat: int


class Seat(Entity):
    key = Keys(RoomPK, SeatSK)

    room: str
    row: int
    seat: int


class Seats(Design):
    table = SeatTable
    entities = (Seat,)


@pytest.mark.parametrize(
    "bounds",
    [
        {"ge": SeatSK.prefix(row=9)},
        {"lt": SeatSK(row=9, seat=1)},
        {"between": (SeatSK(row=9, seat=1), SeatSK(row=10, seat=1))},
    ],
)
def test_range_of_numbers_without_a_width_is_refused(bounds: dict[str, Any]) -> None:
    with (
        Seats.open(":memory:") as db,
        pytest.raises(KeyValueError, match=r"ST204: SeatSK \(SEAT#\{row\}#\{seat:03\}\) has no range of row"),
    ):
        db.plan(Seat.key.query(RoomPK(room="1"), **bounds)).page()


def test_number_without_a_width_can_be_what_both_bounds_share() -> None:
    with Seats.open(":memory:") as db:
        for seat in (2, 9, 11):
            db.create(Seat(room="1", row=9, seat=seat))
        between = (SeatSK(row=9, seat=5), SeatSK.prefix(row=9))
        query = db.plan(Seat.key.query(RoomPK(room="1"), between=between))
        assert [seat.seat for seat in query.all()] == [9, 11]


def test_bound_of_another_sort_key_is_refused() -> None:
    wrong: Any = BatchSK(batch_id=BATCH)
    with pytest.raises(KeyValueError, match="a bound of EventSK cannot be a BatchSK"):
        BatchEvent.key.query(BatchPK(batch_id=BATCH), gt=wrong)


# --- filters -----------------------------------------------------------------------------------------------


FILTERS: dict[str, tuple[Condition, str, list[Any]]] = {
    "equal": (Eq("status", "ready"), "#2 = :2", [{"S": "ready"}]),
    "of no value": (Eq("fruits", None), "attribute_not_exists(#2)", []),
    "of some value": (Ne("fruits", None), "attribute_exists(#2)", []),
    "other": (Ne("status", "ready"), "#2 <> :2", [{"S": "ready"}]),
    "less": (Lt("stage", 2), "#2 < :2", [{"N": "2"}]),
    "at most": (Le("stage", 2), "#2 <= :2", [{"N": "2"}]),
    "greater": (Gt("start_time", NOW), "#2 > :2", [{"S": TIME}]),
    "at least": (Ge("start_time", NOW), "#2 >= :2", [{"S": TIME}]),
    "one of": (In("status", "ready", "active"), "#2 IN (:2, :3)", [{"S": "ready"}, {"S": "active"}]),
    "one of nothing": (In("status"), "(attribute_exists(#2) AND attribute_not_exists(#2))", []),
    "there": (Exists("fruits"), "attribute_exists(#2)", []),
    "holding": (Contains("fruits", "fig"), "contains(#2, :2)", [{"S": "fig"}]),
    "beginning": (BeginsWith("name", "Wi"), "begins_with(#2, :2)", [{"S": "Wi"}]),
    "both": (
        And(Eq("status", "ready"), Eq("stage", 1)),
        "(#2 = :2 AND #3 = :3)",
        [{"S": "ready"}, {"N": "1"}],
    ),
    "either": (Or(Eq("stage", 1), Eq("stage", 2)), "(#2 = :2 OR #2 = :3)", [{"N": "1"}, {"N": "2"}]),
    "not": (Not(Eq("is_public", True)), "(NOT #2 = :2)", [{"BOOL": True}]),
}


@pytest.mark.parametrize("name", FILTERS)
def test_filter_is_an_expression_of_placeholders(db: Kefir, name: str) -> None:
    condition, text, values = FILTERS[name]
    request = db.batches(USER).where(condition).request()
    assert request["FilterExpression"] == text
    assert list(request["ExpressionAttributeValues"].values())[2:] == values


def test_long_list_of_values_is_split_as_dynamodb_wants_it(db: Kefir) -> None:
    request = db.batches(USER).where(In("name", *(f"n{n}" for n in range(250)))).request()
    assert request["FilterExpression"].count(" IN (") == 3
    assert len(request["ExpressionAttributeValues"]) == 252


def test_filter_on_an_unknown_field_suggests_the_one_that_was_meant(db: Kefir) -> None:
    with pytest.raises(UnknownFieldError, match="Batch has no field 'statuss'") as caught:
        db.batches(USER).where(statuss="ready").request()
    assert caught.value.hint is not None
    assert caught.value.hint.startswith("did you mean status?")


def test_query_of_an_entity_that_expires_leaves_out_what_is_over(feed: Feed) -> None:
    request = feed.posts(AuthorId("a")).request()
    assert request["FilterExpression"] == "(attribute_not_exists(#2) OR #2 > :2)"
    assert request["ExpressionAttributeNames"]["#2"] == "ttl"
    assert request["ExpressionAttributeValues"][":2"] == {"N": "1700000000"}


# --- several at once ------------------------------------------------------------------------------------------


def test_merged_queries_are_each_asked_for_their_share(db: Kefir) -> None:
    requests = db.batches_by_status("ready").request(limit=50)
    assert [request["Limit"] for request in requests] == [26] * 4


def test_limit_of_a_plan_is_the_limit_of_its_request(db: Kefir) -> None:
    assert db.events(BATCH).limit(20).request()["Limit"] == 20
    assert db.events(BATCH).limit(20).request(limit=50)["Limit"] == 20
    assert db.events(BATCH).limit(20).request(limit=5)["Limit"] == 5


def test_walk_shows_what_each_of_its_parts_begins_with(feed: Feed) -> None:
    walk = feed.feed(datetime(2025, 3, 1, tzinfo=UTC), datetime(2025, 1, 1, tzinfo=UTC))
    partitions = [request["ExpressionAttributeValues"][":0"]["S"] for request in walk.request()]
    assert partitions == ["FEED#2025-03", "FEED#2025-02", "FEED#2025-01"]


def test_batch_get_asks_for_a_hundred_keys_at_a_time_and_for_none_twice(feed: Feed) -> None:
    keys = [
        Post(author_id=AuthorId("a"), post_id=PostId(f"p{n % 150}"), created_at=NOW).key for n in range(250)
    ]
    requests = feed.several(keys).request()
    assert [len(request["RequestItems"]["feed"]["Keys"]) for request in requests] == [100, 50]
    assert requests[0]["RequestItems"]["feed"]["Keys"][0] == {
        "PK": {"S": "AUTHOR#a"},
        "SK": {"S": f"POST#{TIME}#p0"},
    }


def test_queries_of_different_kinds_cannot_be_merged(db: Kefir) -> None:
    by_user, by_id = db.batches(USER), db.batch_by_id(BATCH)
    with pytest.raises(DeclarationError, match="no common order"):
        Merged([by_user, by_id])
    with pytest.raises(DeclarationError, match="no common order"):
        Merged([by_user, by_user.newest_first()])
    with pytest.raises(DeclarationError, match="says nothing of the whole"):
        Merged([by_user, by_user.limit(3)])


def test_merging_or_walking_nothing_is_refused() -> None:
    nothing: list[Query[Batch]] = []
    with pytest.raises(DeclarationError):
        Merged(nothing)


def test_plan_that_is_not_of_an_open_design_says_so() -> None:
    with pytest.raises(DeclarationError, match="not of an open design"):
        Batch.key.query(UserPK(user_id=USER)).page()


class MenuTable(Table):
    name = "menus"
    pk = "id"
    sk = None
    by_week = Index("ByWeek", pk="restaurant", sk="week")


class MenuPK(Key, template="{menu_id}"):
    menu_id: str


class RestaurantPK(Key, template="{restaurant}"):
    restaurant: str


class WeekSK(SortKey, template="{week}"):
    week: int


class Menu(Entity):
    key = Keys(MenuPK)
    by_week = MenuTable.by_week.keys(RestaurantPK, WeekSK)

    menu_id: str
    restaurant: str
    week: int


class Menus(Design):
    table = MenuTable
    entities = (Menu,)


def test_filter_by_a_key_of_what_is_read_is_refused() -> None:
    with Menus.open(":memory:") as db:
        plan = db.plan(Menu.by_week.query(RestaurantPK(restaurant="niagara")))
        with pytest.raises(
            KeyValueError, match="cannot filter by week = 3: the field is a key of what is read"
        ):
            plan.where(week=3).request()
        bounded = db.plan(
            Menu.by_week.query(RestaurantPK(restaurant="niagara"), ge=WeekSK(week=3), le=WeekSK(week=7))
        ).request()
    assert bounded["KeyConditionExpression"] == "#0 = :0 AND #1 BETWEEN :1 AND :2"
    assert bounded["ExpressionAttributeValues"] == {
        ":0": {"S": "niagara"},
        ":1": {"N": "3"},
        ":2": {"N": "7"},
    }
