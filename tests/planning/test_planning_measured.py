"""What a running server has counted, compared with one partition."""

from __future__ import annotations

import socket
from contextlib import closing

import pytest

import singletable
from singletable.blueprint import (
    Blueprint,
    EntityBlueprint,
    IndexBlueprint,
    KeyBlueprint,
    LoadBlueprint,
    PlaceBlueprint,
    TableBlueprint,
    VolumeBlueprint,
)
from singletable.errors import TargetError
from singletable.planning.heat import BACK_PRESSURE
from singletable.planning.measured import measured_from, measured_heat
from singletable.planning.workload import Planner
from singletable.server import BackgroundServer

READS = "singletable_consumed_read_capacity_units_total"
WRITES = "singletable_consumed_write_capacity_units_total"


def text(*samples: str, seconds: float = 100.0) -> str:
    return "\n".join(
        (f"# HELP {READS} Read units.", *samples, f"singletable_counted_seconds {seconds!r}", "")
    )


COUNTED = text(
    f'{READS}{{table="orders-dev",index=""}} 30000.0',
    f'{WRITES}{{table="orders-dev",index=""}} 20000.0',
    f'{WRITES}{{table="orders-dev",index="GSI1"}} 50000.0',
    'singletable_write_throttle_events_total{table="orders-dev",index="GSI1"} 3',
    f'{READS}{{table="other",index=""}} 1.0',
)


def plan() -> Planner:
    """Orders by their ids, and all of them under one key of an index."""
    places = (
        PlaceBlueprint("table", KeyBlueprint(("PK",), "ORDER#{order_id}")),
        PlaceBlueprint("all", KeyBlueprint(("GSI1PK",), "ORDERS"), None, "GSI1"),
    )
    blueprint = Blueprint(
        name="orders",
        table=TableBlueprint("orders-{stage}"),
        indexes=(IndexBlueprint("GSI1", ("GSI1PK",)),),
        entities=(EntityBlueprint("Order", "order", places=places),),
        loads=(LoadBlueprint("create", "Order", monthly_per_user=1),),
        volumes=(VolumeBlueprint("Order", 10, 1, per="user"),),
        users=100,
    )
    return Planner(blueprint)


def test_rates_are_units_by_the_time_that_was_counted() -> None:
    found = measured_from("here", COUNTED)
    assert found.counted_s == 100
    assert [(each.table, each.place) for each in found.places] == [
        *(("orders-dev", "GSI1"), ("orders-dev", "table"), ("other", "table"))
    ]
    index, table, _ = found.places
    assert (index.writes_per_s, index.share_at_most) == (500, 0.5)
    assert (table.reads_per_s, table.writes_per_s, table.share_at_most) == (300, 200, 0.2)
    assert (index.key, index.share) == ("", None)


def test_throttled_writes_of_an_index_are_said() -> None:
    index = measured_from("here", COUNTED).places[0]
    assert index.notes == ("0 reads and 3 writes were throttled", BACK_PRESSURE)


def test_report_says_that_keys_are_not_counted() -> None:
    assert any("no keys" in note for note in measured_from("here", COUNTED).notes)


def test_design_gives_the_part_of_its_busiest_key() -> None:
    index, table, other = measured_from("here", COUNTED, plan()).places
    assert (index.key, table.key) == ("ORDERS", "ORDER#{order_id}")
    assert index.share == pytest.approx(0.5)  # all of it
    assert table.share == pytest.approx(0.2 / 1_000)
    assert (other.key, other.share) == ("", None)  # it is not a table of the design


def test_one_table_can_be_asked_for() -> None:
    assert [each.table for each in measured_from("here", COUNTED, table="other").places] == ["other"]
    with pytest.raises(TargetError, match="nothing of a table 'no'") as raised:
        measured_from("here", COUNTED, table="no")
    assert raised.value.hint == "tables: orders-dev, other"


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("127.0.0.1:8000", "is no address of a server"),
        ("file:///etc/passwd", "is no address of a server"),
        ("http://", "is no address of a server"),
        ("http://127.0.0.1:{closed}", "cannot be asked"),
    ],
)
def test_server_that_cannot_be_asked_is_said_in_a_sentence(url: str, says: str) -> None:
    with closing(socket.socket()) as bound:  # nobody listens there
        bound.bind(("127.0.0.1", 0))
        with pytest.raises(TargetError, match=says) as raised:
            measured_heat(url.format(closed=bound.getsockname()[1]), timeout_s=2)
    assert raised.value.hint


def test_server_that_does_not_answer_is_given_up() -> None:
    with (
        closing(socket.create_server(("127.0.0.1", 0))) as silent,
        pytest.raises(TargetError, match="cannot be asked: timed out"),
    ):
        measured_heat(f"http://127.0.0.1:{silent.getsockname()[1]}", timeout_s=0.05)


@pytest.mark.parametrize("answer", ["", "<html>", "# HELP up Another server.\nup 1\n"])
def test_answer_of_another_server_is_refused(answer: str) -> None:
    with pytest.raises(TargetError, match="no metrics of singletable"):
        measured_from("here", answer)


def test_answer_without_its_time_is_refused() -> None:
    with pytest.raises(TargetError, match="do not say for how long"):
        measured_from("here", f"# HELP {READS} Read units.\n")


def test_running_server_is_asked() -> None:
    with singletable.Database.open(":memory:") as db:
        db.create_table(
            TableName="orders-dev",
            KeySchema=[{"AttributeName": "PK", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "PK", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
        for number in range(4):
            db.put_item(TableName="orders-dev", Item={"PK": {"S": str(number)}})
        db.get_item(TableName="orders-dev", Key={"PK": {"S": "1"}}, ConsistentRead=True)
        with BackgroundServer(db) as address:
            found = measured_heat(address.url, plan())
        (place,) = found.places
    assert (place.table, place.place, place.read_units, place.write_units) == ("orders-dev", "table", 1, 4)
    assert place.writes_per_s == pytest.approx(4 / found.counted_s)
    assert found.counted_s > 0
    assert place.key == "ORDER#{order_id}"


def test_difference_of_two_snapshots_has_the_time_in_between() -> None:
    with singletable.Database.open(":memory:") as db:
        earlier = db.metrics()
        later = db.metrics()
    assert later.counted_s > earlier.counted_s > 0
    assert later.since(earlier).counted_s == pytest.approx(later.counted_s - earlier.counted_s)
