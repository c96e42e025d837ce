"""All buckets of a database: which of them a request needs, and which of them are kept."""

from __future__ import annotations

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import orjson
import pytest

from singletable.clock import ManualClock
from singletable.engine.charges import Charge, failed_charge, read_charge, write_charges
from singletable.engine.plans import consumed_by_write
from singletable.engine.requests import DeleteItem, PutItem
from singletable.engine.throttling import PARTITIONS_MAX, Throttle
from singletable.engine.throughput_limits import Direction
from singletable.errors import ThrottledError, ThrottlingError, ThroughputExceededError
from singletable.storage.changes import Change
from singletable.storage.images import Image, StoredImage
from singletable.storage.tables import Table
from support.throttled_tables import table

ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/"


@pytest.fixture
def throttle(clock: ManualClock) -> Throttle:
    return Throttle(clock, lambda name: ARN + name)


def reasons(refusal: ThrottledError | None) -> list[tuple[str, str]]:
    assert refusal is not None
    return [(reason.reason, reason.resource.removeprefix(ARN)) for reason in refusal.reasons]


def refusal(throttle: Throttle, direction: Direction, charge: Charge) -> ThrottledError | None:
    """Ask whether a request is admitted, which costs nothing."""
    try:
        throttle.admit(direction, charge)
    except ThrottledError as error:
        return error
    return None


def drain(throttle: Throttle, charge: Charge, direction: Direction = "Write", most: int = 100_000) -> int:
    """Take a charge until it is refused, and return how often it was not."""
    for number in range(most):
        if throttle.take(direction, [charge]) is not None:
            return number
    return most


# --- tables --------------------------------------------------------------------------------------


def test_table_that_was_idle_for_five_minutes_may_burst(clock: ManualClock, throttle: Throttle) -> None:
    one = Charge(table(writes=5, age_s=1_000), None, None, 1.0)
    assert drain(throttle, one) == 1_500
    clock.advance(1)
    assert drain(throttle, one) == 5


def test_new_table_has_saved_up_one_second(throttle: Throttle) -> None:
    assert drain(throttle, Charge(table(writes=5), None, None, 1.0)) == 5


def test_table_has_saved_up_what_it_did_not_use_since_it_was_made(throttle: Throttle) -> None:
    assert drain(throttle, Charge(table(writes=5, age_s=60), None, None, 1.0)) == 305


def test_refused_request_costs_nothing(clock: ManualClock, throttle: Throttle) -> None:
    one = Charge(table(writes=5), None, None, 1.0)
    drain(throttle, one)
    for _ in range(100):
        assert throttle.take("Write", [one]) is not None
    clock.advance(1)
    assert drain(throttle, one) == 5


def test_reads_and_writes_do_not_compete(throttle: Throttle) -> None:
    orders = table(reads=5, writes=5)
    drain(throttle, Charge(orders, None, b"p", 1.0), "Write")
    assert drain(throttle, Charge(orders, None, b"p", 0.5), "Read") == 10


def test_large_read_is_admitted_and_then_paid_for(clock: ManualClock, throttle: Throttle) -> None:
    page = Charge(table(reads=10), None, None, 128.0)
    assert refusal(throttle, "Read", page) is None
    throttle.charge("Read", [page])
    clock.advance(11)
    assert reasons(refusal(throttle, "Read", page)) == [("TableReadProvisionedThroughputExceeded", "orders")]
    clock.advance(1)
    assert refusal(throttle, "Read", page) is None


def test_changed_table_goes_on_at_its_new_rate_from_that_moment(
    clock: ManualClock, throttle: Throttle
) -> None:
    slow = table(writes=1)
    drain(throttle, Charge(slow, None, None, 1.0))
    clock.advance(2)
    fast = table(writes=100)
    throttle.follow(fast)
    clock.advance(1)
    assert drain(throttle, Charge(fast, None, None, 1.0)) == 102


def test_change_by_another_process_is_followed_when_it_is_seen(
    clock: ManualClock, throttle: Throttle
) -> None:
    drain(throttle, Charge(table(writes=1), None, None, 1.0))
    fast = Charge(table(writes=100), None, None, 1.0)
    assert throttle.take("Write", [fast]) is not None
    clock.advance(1)
    assert drain(throttle, fast) == 100


def test_table_that_is_paid_per_request_from_now_on_has_other_limits(throttle: Throttle) -> None:
    drain(throttle, Charge(table(writes=1), None, None, 1.0))
    on_demand = Charge(table(billing="PAY_PER_REQUEST"), None, None, 1.0)
    assert isinstance(throttle.take("Write", [on_demand]), ThrottlingError)


def test_clock_that_is_put_back_does_not_stop_a_table(clock: ManualClock, throttle: Throttle) -> None:
    one = Charge(table(writes=5), None, None, 1.0)
    drain(throttle, one)
    clock.advance(-3_600)
    assert drain(throttle, one) == 0
    clock.advance(1)
    assert drain(throttle, one) == 5


# --- partitions ------------------------------------------------------------------------------------


def test_hot_partition_is_refused_where_its_table_is_not(clock: ManualClock, throttle: Throttle) -> None:
    orders = table(writes=20_000)
    assert drain(throttle, Charge(orders, None, b"hot", 1.0)) == 1_000
    refused = throttle.take("Write", [Charge(orders, None, b"hot", 1.0)])
    assert reasons(refused) == [("TableWriteKeyRangeThroughputExceeded", "orders")]
    assert throttle.take("Write", [Charge(orders, None, b"cold", 1.0)]) is None
    clock.advance(0.5)
    assert drain(throttle, Charge(orders, None, b"hot", 1.0)) == 500


def test_partition_saves_up_one_second_only(clock: ManualClock, throttle: Throttle) -> None:
    hot = Charge(table(reads=20_000, age_s=300), None, b"hot", 1.0)
    drain(throttle, hot, "Read")
    clock.advance(60)
    assert drain(throttle, hot, "Read") == 3_000


def test_partitions_of_a_table_and_of_its_index_are_different_ones(throttle: Throttle) -> None:
    orders = table(writes=20_000, index_writes=20_000)
    drain(throttle, Charge(orders, None, b"same", 1.0))
    assert drain(throttle, Charge(orders, orders.indexes[0], b"same", 1.0)) == 1_000


def test_idle_partitions_are_forgotten(clock: ManualClock, throttle: Throttle) -> None:
    orders = table(writes=20_000, age_s=300)
    for number in range(1_000):
        throttle.charge("Write", [Charge(orders, None, b"%d" % number, 1.0)])
    assert throttle.partitions == 1_000
    clock.advance(1)
    for number in range(1_000):
        throttle.charge("Write", [Charge(orders, None, b"again %d" % number, 1.0)])
    assert throttle.partitions == 1_000


def test_partition_that_owes_is_not_forgotten_with_the_idle_ones(
    clock: ManualClock, throttle: Throttle
) -> None:
    orders = table(writes=20_000, age_s=300)
    hot = Charge(orders, None, b"hot", 1.0)
    throttle.charge("Write", [replace(hot, units=3_000.0)])
    clock.advance(1)
    for number in range(1_000):
        throttle.charge("Write", [Charge(orders, None, b"%d" % number, 1.0)])
    assert throttle.take("Write", [hot]) is not None


def test_partitions_that_owe_are_bounded_and_the_oldest_are_forgiven(throttle: Throttle) -> None:
    orders = table(writes=40_000, age_s=300)
    charges = [Charge(orders, None, b"%d" % number, 1_001.0) for number in range(PARTITIONS_MAX + 500)]
    for charge in charges:
        throttle.charge("Write", [charge])
    assert throttle.partitions <= PARTITIONS_MAX
    assert refusal(throttle, "Write", charges[0]) is None
    assert reasons(refusal(throttle, "Write", charges[-1])) == [
        ("TableWriteKeyRangeThroughputExceeded", "orders")
    ]


# --- several limits at once --------------------------------------------------------------------------


def test_every_limit_that_is_exceeded_is_named(throttle: Throttle) -> None:
    orders = table(writes=1_000, index_writes=1)
    parts = [Charge(orders, None, b"p", 1_000.0), Charge(orders, orders.indexes[0], b"open", 1.0)]
    assert throttle.take("Write", parts) is None
    refused = throttle.take("Write", parts)
    assert reasons(refused) == [
        ("TableWriteProvisionedThroughputExceeded", "orders"),
        ("TableWriteKeyRangeThroughputExceeded", "orders"),
        ("IndexWriteProvisionedThroughputExceeded", "orders/index/by-status"),
    ]
    assert refused is not None
    assert "for the table was exceeded" in refused.message


def test_limit_of_table_and_partition_by_one_name_is_named_once(throttle: Throttle) -> None:
    hot = Charge(table(billing="PAY_PER_REQUEST"), None, b"hot", 4_000.0)
    assert throttle.take("Write", [hot]) is None
    assert reasons(throttle.take("Write", [hot])) == [("TableWriteKeyRangeThroughputExceeded", "orders")]


def test_all_parts_are_charged_or_none(throttle: Throttle) -> None:
    orders = table(writes=5, index_writes=1)
    of_table = Charge(orders, None, None, 1.0)
    of_index = Charge(orders, orders.indexes[0], None, 1.0)
    drain(throttle, of_index)
    answers = throttle.take_all("Write", [[of_table], [of_table, of_index], [of_table]])
    assert answers[0] is None
    assert reasons(answers[1]) == [("IndexWriteProvisionedThroughputExceeded", "orders/index/by-status")]
    assert answers[2] is None
    assert drain(throttle, of_table) == 5


def test_threads_share_the_buckets(throttle: Throttle) -> None:
    one = Charge(table(writes=1_000), None, b"p", 1.0)

    def take() -> int:
        return sum(throttle.take("Write", [one]) is None for _ in range(500))

    with ThreadPoolExecutor(4) as threads:
        taken = [threads.submit(take) for _ in range(4)]
        assert sum(future.result() for future in taken) == 1_000


def test_request_that_cannot_pay_is_told_why_and_costs_nothing(throttle: Throttle) -> None:
    orders = table(writes=2, index_writes=1)
    both = [Charge(orders, None, None, 1.0), Charge(orders, orders.indexes[0], None, 1.0)]
    throttle.pay("Write", both)
    with pytest.raises(ThroughputExceededError, match="for one or more global secondary indexes") as refused:
        throttle.pay("Write", both)
    assert reasons(refused.value) == [("IndexWriteProvisionedThroughputExceeded", "orders/index/by-status")]
    assert drain(throttle, both[0]) == 1


# --- what requests consume, and where ------------------------------------------------------------------


def item(status: str | None, size: int = 100) -> dict[str, Any]:
    attributes: dict[str, Any] = {"pk": {"S": "p"}, "sk": {"S": "s"}, "fill": {"S": "x" * size}}
    return attributes if status is None else {**attributes, "status": {"S": status}}


def write(orders: Table, before: dict[str, Any] | None, after: dict[str, Any] | None) -> list[Charge]:
    """Return the charges of a change of one item; its size is as good as any."""
    stored = None if before is None else StoredImage(1, len(str(before)), orjson.dumps(before))
    image = None if after is None else Image.of(after, len(str(after)))
    change = Change(orders, orders.key_of(item(None)), stored, image, 0)
    return write_charges(change, consumed_by_write(change))


def entry(orders: Table, status: str) -> bytes:
    key = orders.indexes[0].entry_key(item(status))
    assert key is not None
    return key[0]


def test_write_of_an_item_that_no_index_holds_is_the_tables_alone() -> None:
    orders = table()
    partition = orders.key_of(item(None)).partition
    assert write(orders, None, item(None)) == [Charge(orders, None, partition, 1.0)]


def test_local_index_is_charged_to_the_table_and_a_global_one_to_itself() -> None:
    orders = table()
    charges = write(orders, None, item("open"))
    assert [(charge.index, charge.units) for charge in charges] == [(None, 2.0), (orders.indexes[0], 1.0)]
    assert charges[1].partition == entry(orders, "open")


def test_entry_that_moves_is_charged_to_both_of_its_partitions() -> None:
    orders = table()
    charges = write(orders, item("open", 3_000), item("done", 100))
    assert [(charge.index, charge.partition, charge.units) for charge in charges[1:]] == [
        (orders.indexes[0], entry(orders, "open"), 4.0),
        (orders.indexes[0], entry(orders, "done"), 1.0),
    ]


def test_entry_that_goes_is_charged_to_where_it_was() -> None:
    orders = table()
    charges = write(orders, item("open"), None)
    assert [(charge.partition, charge.units) for charge in charges[1:]] == [(entry(orders, "open"), 1.0)]


def test_write_that_leaves_an_index_alone_does_not_need_it(throttle: Throttle) -> None:
    orders = table(writes=100, index_writes=1)
    drain(throttle, Charge(orders, orders.indexes[0], None, 1.0))
    assert throttle.take("Write", write(orders, item("open"), item("open"))) is None
    refused = throttle.take("Write", write(orders, item("open"), item("done")))
    assert reasons(refused) == [("IndexWriteProvisionedThroughputExceeded", "orders/index/by-status")]


def test_read_through_a_local_index_is_one_of_the_table() -> None:
    orders = table()
    by_status, local = orders.indexes
    assert read_charge(orders, local, b"p", 2.0) == Charge(orders, None, b"p", 2.0)
    assert read_charge(orders, by_status, b"open", 2.0) == Charge(orders, by_status, b"open", 2.0)


def test_failed_condition_costs_what_the_larger_item_would_have() -> None:
    orders = table()
    key = orders.key_of(item(None))
    stored = StoredImage(1, 3_000, b"{}")
    put = PutItem(table="orders", item=item(None), item_bytes=5_000)
    delete = DeleteItem(table="orders", key={})
    assert failed_charge(put, orders, key, stored) == Charge(orders, None, key.partition, 5.0)
    assert failed_charge(delete, orders, key, stored) == Charge(orders, None, key.partition, 3.0)
    assert failed_charge(delete, orders, key, None) == Charge(orders, None, key.partition, 1.0)


# --- forks ---------------------------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_forked_child_does_not_wait_for_a_thread_of_its_parent(throttle: Throttle) -> None:
    one = Charge(table(writes=1), None, None, 1.0)
    with throttle._lock:
        child = os.fork()
        if child == 0:
            signal.alarm(10)
            os._exit(0 if throttle.take("Write", [one]) is None else 1)
        _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert throttle.take("Write", [one]) is None
