"""What each request counts for, and what must not grow."""

from __future__ import annotations

import json
import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from singletable import errors
from singletable.capacity.consumed import Consumed
from singletable.metrics import Dimensions, Failure, Metrics, MetricsSnapshot, failure_of
from singletable.metrics.names import COUNTERS
from singletable.metrics.recorder import TABLES_MAX
from singletable.metrics.series import INDEXES_MAX


def names_of_tables(snapshot: MetricsSnapshot) -> set[str | None]:
    counted = {where.table for values in snapshot.counts.values() for where in values}
    return (counted | {where.table for where in snapshot.latencies}) - {None}


# --- units ------------------------------------------------------------------------------------------


def test_reads_and_writes_consume_their_own_units() -> None:
    metrics = Metrics()
    metrics.succeeded("GetItem", "orders", 0.001, [Consumed("orders", 0.5)])
    metrics.succeeded("PutItem", "orders", 0.001, [Consumed("orders", 3.0)])
    metrics.succeeded("UpdateItem", "orders", 0.001, [Consumed("orders", 1.0)])
    snapshot = metrics.snapshot()
    assert snapshot.consumed_read_units("orders") == 0.5
    assert snapshot.consumed_write_units("orders") == 4.0


def test_local_index_counts_with_its_table_and_global_index_by_itself() -> None:
    metrics = Metrics()
    consumed = Consumed("orders", 3.0, local_units={"by-date": 1.0}, global_units={"by-stage": 2.0})
    metrics.succeeded("PutItem", "orders", 0.001, [consumed])
    metrics.succeeded("Query", "orders", 0.001, [Consumed("orders", global_units={"by-stage": 0.5})], 3)
    snapshot = metrics.snapshot()
    assert snapshot.consumed_write_units("orders") == 4.0
    assert snapshot.consumed_write_units("orders", "by-stage") == 2.0
    assert snapshot.consumed_write_units("orders", "by-date") == 0.0
    assert snapshot.consumed_read_units("orders") == 0.0
    assert snapshot.consumed_read_units("orders", "by-stage") == 0.5


def test_request_for_several_tables_counts_for_each() -> None:
    metrics = Metrics()
    metrics.failed(
        "BatchGetItem", None, Failure.SYSTEM_ERROR
    )  # so that the operation is known without a table
    metrics.succeeded("BatchGetItem", None, 0.002, [Consumed("orders", 1.0), Consumed("customers", 0.5)])
    snapshot = metrics.snapshot()
    assert snapshot.consumed_read_units("orders") == 1.0
    assert snapshot.consumed_read_units("customers") == 0.5
    assert snapshot.latency("orders", "BatchGetItem").count == 1
    assert snapshot.latency("customers", "BatchGetItem").count == 1


def test_units_of_another_table_than_the_named_one_go_there() -> None:
    metrics = Metrics()
    consumed = [Consumed("orders", 1.0), Consumed("customers", 2.0)]
    metrics.succeeded("TransactWriteItems", "orders", 0.001, consumed)
    assert metrics.snapshot().consumed_write_units("customers") == 2.0


# --- requests ---------------------------------------------------------------------------------------


def test_latency_is_kept_by_table_and_operation_and_asked_for_by_either() -> None:
    metrics = Metrics()
    for table, operation, latency_s in (
        ("orders", "GetItem", 0.001),
        ("orders", "PutItem", 0.004),
        ("customers", "GetItem", 0.010),
    ):
        metrics.succeeded(operation, table, latency_s, [Consumed(table, 1.0)])
    snapshot = metrics.snapshot()
    assert snapshot.latency("orders", "GetItem").max_ms == pytest.approx(1)
    assert snapshot.latency("orders").count == 2
    assert snapshot.latency(operation="GetItem").max_ms == pytest.approx(10)
    assert snapshot.latency().count == 3


def test_operation_on_tables_has_no_latency_as_in_cloudwatch() -> None:
    metrics = Metrics()
    for operation in ("CreateTable", "DescribeTable", "ListTables", "NoSuchOperation"):
        metrics.succeeded(operation, "orders", 0.001)
        metrics.succeeded(operation, None, 0.001)
    snapshot = metrics.snapshot()
    assert snapshot.latency().count == 0
    assert names_of_tables(snapshot) == set()


def test_only_query_and_scan_have_returned_items() -> None:
    metrics = Metrics()
    for operation, returned in (
        ("Query", 3),
        ("Query", 25),
        ("Scan", 0),
        ("GetItem", 1),
        ("BatchGetItem", 9),
    ):
        metrics.succeeded(operation, "orders", 0.001, [Consumed("orders", 1.0)], returned)
    snapshot = metrics.snapshot()
    queries = snapshot.returned_items("orders", "Query")
    assert (queries.count, queries.sum, queries.min, queries.max, queries.average) == (2, 28, 3, 25, 14.0)
    assert snapshot.returned_items("orders", "Scan").count == 1
    assert snapshot.returned_items("orders").count == 3
    assert snapshot.returned_items("orders").min == 0
    assert snapshot.returned_items("orders", "GetItem").count == 0


# --- failures ---------------------------------------------------------------------------------------


class ThroughputExceededError(errors.ApiError):
    code = "ProvisionedThroughputExceededException"


@pytest.mark.parametrize(
    ("error", "failure"),
    [
        (errors.ValidationError("no"), Failure.USER_ERROR),
        (errors.ResourceNotFoundError("no"), Failure.USER_ERROR),
        (errors.UnknownOperationError(""), Failure.USER_ERROR),
        (
            errors.TransactionCanceledError([errors.CancellationReason("ConditionalCheckFailed")]),
            Failure.USER_ERROR,
        ),
        (errors.ConditionFailedError(), Failure.CONDITION_FAILED),
        (ThroughputExceededError("slower"), Failure.THROTTLED),
        (errors.InternalServerError("broken"), Failure.SYSTEM_ERROR),
        (errors.DiskFullError("full"), Failure.SYSTEM_ERROR),
        (ZeroDivisionError(), Failure.SYSTEM_ERROR),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else value.name,
)
def test_error_belongs_to_one_metric(error: Exception, failure: Failure) -> None:
    assert failure_of(error) is failure


@pytest.mark.parametrize("failure", Failure)
def test_each_failure_raises_its_own_metric_and_no_other(failure: Failure) -> None:
    metrics = Metrics()
    metrics.succeeded("PutItem", "orders", 0.001, [Consumed("orders", 1.0)])
    metrics.failed("PutItem", "orders", failure)
    snapshot = metrics.snapshot()
    counted = {
        Failure.USER_ERROR: snapshot.user_errors(),
        Failure.SYSTEM_ERROR: snapshot.system_errors("orders", "PutItem"),
        Failure.THROTTLED: snapshot.throttled_requests("orders", "PutItem"),
        Failure.CONDITION_FAILED: snapshot.conditional_check_failed_requests("orders"),
    }
    assert counted == {each: int(each is failure) for each in Failure}
    assert snapshot.latency("orders", "PutItem").count == 1


def test_system_error_without_a_known_table_is_counted_without_one() -> None:
    metrics = Metrics()
    metrics.failed("GetItem", "invented", Failure.SYSTEM_ERROR)
    metrics.failed("ListTables", None, Failure.SYSTEM_ERROR)
    snapshot = metrics.snapshot()
    assert snapshot.system_errors() == 2
    assert snapshot.system_errors(operation="GetItem") == 1
    assert names_of_tables(snapshot) == set()


def test_throttle_events_are_of_the_table_or_of_one_global_index() -> None:
    metrics = Metrics()
    metrics.throttled("orders", None, is_read=True)
    metrics.throttled("orders", None, is_read=False)
    metrics.throttled("orders", "by-stage", is_read=False)
    metrics.throttled("orders", "by-stage", is_read=False)
    snapshot = metrics.snapshot()
    assert snapshot.read_throttle_events("orders") == 1
    assert snapshot.write_throttle_events("orders") == 1
    assert snapshot.read_throttle_events("orders", "by-stage") == 0
    assert snapshot.write_throttle_events("orders", "by-stage") == 2


# --- bounds -----------------------------------------------------------------------------------------


def test_invented_names_make_no_series() -> None:
    metrics = Metrics()
    for number in range(3 * TABLES_MAX):
        metrics.failed(f"Operation{number}", f"invented-{number}", Failure.USER_ERROR)
        metrics.failed(f"Operation{number}", f"invented-{number}", Failure.SYSTEM_ERROR)
    snapshot = metrics.snapshot()
    assert snapshot.user_errors() == snapshot.system_errors() == 3 * TABLES_MAX
    assert names_of_tables(snapshot) == set()
    assert set(snapshot.counts["SystemErrors"]) == {Dimensions()}


def test_of_too_many_tables_the_busy_ones_stay() -> None:
    metrics = Metrics()
    metrics.succeeded("PutItem", "busy", 0.001, [Consumed("busy", 1.0)])
    for number in range(3 * TABLES_MAX):
        name = f"table-{number}"
        metrics.succeeded("PutItem", name, 0.001, [Consumed(name, 1.0)])
        metrics.succeeded("PutItem", "busy", 0.001, [Consumed("busy", 1.0)])
    snapshot = metrics.snapshot()
    assert len(names_of_tables(snapshot)) <= TABLES_MAX
    assert snapshot.consumed_write_units("busy") == 3 * TABLES_MAX + 1
    assert snapshot.consumed_write_units(f"table-{3 * TABLES_MAX - 1}") == 1.0
    assert snapshot.consumed_write_units("table-0") == 0.0


def test_indexes_of_a_table_are_bounded() -> None:
    metrics = Metrics()
    for number in range(10 * INDEXES_MAX):
        metrics.throttled("orders", f"index-{number}", is_read=True)
    of_indexes = [where for where in metrics.snapshot().counts["ReadThrottleEvents"] if where.index]
    assert len(of_indexes) == INDEXES_MAX
    assert of_indexes[-1].index == f"index-{10 * INDEXES_MAX - 1}"


# --- threads, signals, forks ------------------------------------------------------------------------


def test_request_that_ends_while_another_is_counted_waits_its_turn() -> None:
    metrics = Metrics()
    metrics.succeeded("PutItem", "orders", 0.001, [Consumed("orders", 1.0)])
    other = threading.Thread(
        target=lambda: metrics.succeeded("PutItem", "orders", 0.001, [Consumed("orders", 1.0)])
    )

    class InTheMiddle(float):
        """Units during whose addition another thread has all the time that it can use."""

        def __radd__(self, sum_before: float) -> float:
            other.start()
            other.join(0.1)  # it would be done by now, if nothing held it up; and lost
            return sum_before + float(self)

    metrics.succeeded("PutItem", "orders", 0.001, [Consumed("orders", InTheMiddle(1.0))])
    other.join()
    assert metrics.snapshot().consumed_write_units("orders") == 3.0


def test_nothing_is_lost_among_threads_or_while_snapshots_are_taken() -> None:
    metrics, threads, calls = Metrics(), 8, 1000
    begin = threading.Barrier(threads + 1)

    def work() -> None:
        begin.wait()
        for number in range(calls):
            metrics.succeeded("Query", "orders", number * 1e-6, [Consumed("orders", 0.5)], 2)
            metrics.succeeded(
                "PutItem", f"table-{number % 50}", 0.001, [Consumed(f"table-{number % 50}", 1.0)]
            )
            metrics.failed("PutItem", "orders", Failure.USER_ERROR)

    with ThreadPoolExecutor(threads) as pool:
        running = [pool.submit(work) for _ in range(threads)]
        begin.wait()
        while not all(future.done() for future in running):
            latency = metrics.snapshot().latency("orders", "Query")
            assert latency.count == sum(latency.buckets.values())
        for future in running:
            future.result()
    snapshot = metrics.snapshot()
    assert snapshot.latency("orders", "Query").count == threads * calls
    assert snapshot.consumed_read_units("orders") == threads * calls * 0.5
    assert snapshot.returned_items("orders", "Query").sum == threads * calls * 2
    assert sum(snapshot.consumed_write_units(f"table-{number}") for number in range(50)) == threads * calls
    assert snapshot.user_errors() == threads * calls


def test_signal_handler_may_count_while_its_thread_is_counting() -> None:
    metrics = Metrics()

    def count(*_: object) -> None:
        metrics.failed("GetItem", "orders", Failure.USER_ERROR)

    before = signal.signal(signal.SIGUSR1, count)
    try:
        with metrics._lock:  # where the signal would find the thread
            signal.raise_signal(signal.SIGUSR1)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert metrics.snapshot().user_errors() == 1


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # Python 3.12: threads and fork
def test_forked_child_counts_anew_even_if_a_thread_was_counting() -> None:
    metrics = Metrics()
    metrics.succeeded("GetItem", "orders", 0.001, [Consumed("orders", 0.5)])
    is_held, may_go = threading.Event(), threading.Event()

    def hold() -> None:
        with metrics._lock:
            is_held.set()
            may_go.wait()

    holder = threading.Thread(target=hold)
    holder.start()
    is_held.wait()
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # a child that waits for the lock ends here
        metrics.succeeded("GetItem", "orders", 0.001, [Consumed("orders", 0.5)])
        os._exit(metrics.snapshot().latency().count)
    may_go.set()
    holder.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
    assert metrics.snapshot().latency().count == 1


# --- snapshots --------------------------------------------------------------------------------------


def test_snapshot_does_not_change_and_cannot_be_changed() -> None:
    metrics = Metrics()
    metrics.succeeded("Query", "orders", 0.001, [Consumed("orders", 0.5)], 1)
    snapshot = metrics.snapshot()
    metrics.succeeded("Query", "orders", 0.001, [Consumed("orders", 0.5)], 1)
    assert snapshot.consumed_read_units("orders") == 0.5
    assert snapshot.latency("orders", "Query").count == 1
    with pytest.raises(TypeError):
        snapshot.counts["UserErrors"][Dimensions()] = 5  # type: ignore[index]
    with pytest.raises(TypeError):
        snapshot.latency("orders", "Query").buckets[0] = 5  # type: ignore[index]


def test_difference_of_two_snapshots_is_what_came_between() -> None:
    metrics = Metrics()
    metrics.succeeded("Query", "orders", 0.001, [Consumed("orders", 0.5)], 4)
    metrics.failed("Query", "orders", Failure.USER_ERROR)
    earlier = metrics.snapshot()
    metrics.succeeded("Query", "orders", 0.200, [Consumed("orders", 2.5)], 6)
    metrics.failed("Query", "orders", Failure.THROTTLED)
    between = metrics.snapshot().since(earlier)
    assert between.consumed_read_units("orders") == 2.5
    assert between.user_errors() == 0
    assert between.throttled_requests("orders", "Query") == 1
    assert between.latency("orders").count == 1
    assert between.latency("orders").average_ms == pytest.approx(200)
    assert (between.returned_items("orders").count, between.returned_items("orders").sum) == (1, 6)


def test_difference_to_before_a_restart_is_what_there_is_now() -> None:
    old, new = Metrics(), Metrics()
    for _ in range(5):
        old.succeeded("Query", "orders", 0.001, [Consumed("orders", 0.5)], 4)
    new.succeeded("Query", "orders", 0.002, [Consumed("orders", 0.5)], 1)
    between = new.snapshot().since(old.snapshot())
    assert between.consumed_read_units("orders") == 0.5
    assert between.latency("orders").count == 1
    assert between.returned_items("orders").sum == 1


def test_json_has_the_words_of_cloudwatch_and_nothing_that_is_zero() -> None:
    metrics = Metrics()
    metrics.succeeded("Scan", "orders", 0.004, [Consumed("orders", global_units={"by-stage": 0.5})], 2)
    metrics.failed("Scan", "orders", Failure.USER_ERROR)
    document = json.loads(json.dumps(metrics.snapshot().to_json()))
    table = {"Name": "TableName", "Value": "orders"}
    index = {"Name": "GlobalSecondaryIndexName", "Value": "by-stage"}
    operation = {"Name": "Operation", "Value": "Scan"}
    assert document == {
        "Namespace": "AWS/DynamoDB",
        "Metrics": [
            {
                "MetricName": "ConsumedReadCapacityUnits",
                "Dimensions": [table, index],
                "Unit": "Count",
                "Sum": 0.5,
            },
            {"MetricName": "UserErrors", "Dimensions": [], "Unit": "Count", "Sum": 1},
            {
                "MetricName": "SuccessfulRequestLatency",
                "Dimensions": [table, operation],
                "Unit": "Milliseconds",
                "SampleCount": 1,
                **dict.fromkeys(("Sum", "Average", "Minimum", "Maximum"), 4.0),
                "ExtendedStatistics": dict.fromkeys(("p50", "p90", "p99", "p99.9"), 4.0),
            },
            {
                "MetricName": "ReturnedItemCount",
                "Dimensions": [table, operation],
                "Unit": "Count",
                "SampleCount": 1,
                "Sum": 2,
                "Average": 2.0,
                "Minimum": 2,
                "Maximum": 2,
            },
        ],
    }


def test_empty_snapshot_answers_every_question() -> None:
    snapshot = Metrics().snapshot()
    assert set(snapshot.counts) == set(COUNTERS)
    assert snapshot.consumed_read_units("orders") == 0
    assert snapshot.user_errors() == snapshot.system_errors() == snapshot.throttled_requests() == 0
    assert snapshot.returned_items("orders", "Query").average == 0.0
    assert snapshot.to_json()["Metrics"] == []
