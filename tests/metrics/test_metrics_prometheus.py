"""The text that Prometheus scrapes: exact, and as its own parser reads it."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from singletable.capacity.consumed import Consumed
from singletable.metrics import Failure, Metrics, to_prometheus
from singletable.metrics.names import COUNTERS, LATENCY, RETURNED_ITEMS
from singletable.metrics.prometheus import LE_BOUNDS_S

LATENCY_NAME = "singletable_successful_request_latency_seconds"
KINDS = {
    LATENCY_NAME: "histogram",
    "singletable_clock_held": "gauge",
    "singletable_damaged_pages": "gauge",
    "singletable_counted_seconds": "gauge",
}
# A sample of the exposition format 0.0.4: a name, labels whose values escape \ " and newline, a number.
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\\\|\\"|\\n)*"'
SAMPLE = re.compile(
    rf"(?P<name>[a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{{(?P<labels>{LABEL}(?:,{LABEL})*)?\}})? (?P<value>\S+)"
)


def filled() -> Metrics:
    metrics = Metrics()
    metrics.succeeded("GetItem", "orders", 0.0001, [Consumed("orders", 0.5)])
    metrics.succeeded("GetItem", "orders", 0.0001001, [Consumed("orders", 0.5)])
    metrics.succeeded("GetItem", "orders", 20.0, [Consumed("orders", 0.5)])
    metrics.succeeded("Query", "orders", 0.002, [Consumed("orders", global_units={"by-stage": 1.5})], 7)
    metrics.failed("PutItem", "orders", Failure.CONDITION_FAILED)
    metrics.failed("PutItem", "orders", Failure.USER_ERROR)
    metrics.failed("PutItem", "orders", Failure.THROTTLED)
    metrics.failed("PutItem", "orders", Failure.SYSTEM_ERROR)
    metrics.throttled("orders", "by-stage", is_read=False)
    return metrics


def lines_of(metrics: Metrics) -> list[str]:
    text = to_prometheus(metrics.snapshot()).decode()
    assert text.endswith("\n")
    return text.splitlines()


def samples_of(metrics: Metrics, name: str) -> dict[str, float]:
    found = {}
    for line in lines_of(metrics):
        if not line.startswith("#"):
            sample = SAMPLE.fullmatch(line)
            assert sample is not None, line
            if sample["name"] == name:
                found[sample["labels"] or ""] = float(sample["value"])
    return found


@pytest.mark.parametrize(
    ("name", "samples"),
    [
        (
            "singletable_consumed_read_capacity_units_total",
            {'table="orders",index=""': 1.5, 'table="orders",index="by-stage"': 1.5},
        ),
        (
            "singletable_consumed_write_capacity_units_total",
            {'table="orders",index=""': 0.0, 'table="orders",index="by-stage"': 0.0},
        ),
        (
            "singletable_write_throttle_events_total",
            {'table="orders",index=""': 0.0, 'table="orders",index="by-stage"': 1.0},
        ),
        ("singletable_conditional_check_failed_requests_total", {'table="orders"': 1.0}),
        (
            "singletable_throttled_requests_total",
            {
                'table="orders",operation="GetItem"': 0.0,
                'table="orders",operation="Query"': 0.0,
                'table="orders",operation="PutItem"': 1.0,
            },
        ),
        (
            "singletable_system_errors_total",
            {
                'table="orders",operation="GetItem"': 0.0,
                'table="orders",operation="Query"': 0.0,
                'table="orders",operation="PutItem"': 1.0,
            },
        ),
        ("singletable_user_errors_total", {"": 1.0}),
        ("singletable_returned_items_total", {'table="orders",operation="Query"': 7.0}),
        (
            f"{LATENCY_NAME}_count",
            {'table="orders",operation="GetItem"': 3.0, 'table="orders",operation="Query"': 1.0},
        ),
        (
            f"{LATENCY_NAME}_sum",
            {'table="orders",operation="GetItem"': 20.0002001, 'table="orders",operation="Query"': 0.002},
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_metric_has_its_samples(name: str, samples: dict[str, float]) -> None:
    assert samples_of(filled(), name) == pytest.approx(samples)


def test_every_cloudwatch_name_is_in_the_help_of_one_metric() -> None:
    helps = [line for line in lines_of(Metrics()) if line.startswith("# HELP ")]
    assert len(helps) == len(COUNTERS) + 7  # and five that CloudWatch does not have
    for name in (*COUNTERS, LATENCY, RETURNED_ITEMS):
        assert len([line for line in helps if line.endswith(f" (CloudWatch: {name}).")]) == 1


def test_help_and_type_stand_before_all_samples_of_their_metric() -> None:
    current = ""
    seen: set[str] = set()
    for line in lines_of(filled()):
        if line.startswith("# HELP "):
            current = line.split(" ")[2]
            assert current not in seen
            seen.add(current)
        elif line.startswith("# TYPE "):
            assert line.split(" ")[2:] == [current, KINDS.get(current, "counter")]
        else:
            assert re.split(r"[{ ]", line)[0].removeprefix(current) in ("", "_bucket", "_sum", "_count")


def test_buckets_add_up_and_a_value_at_a_bound_is_within_it() -> None:
    of_get = {
        labels.partition(',le="')[2].rstrip('"'): count
        for labels, count in samples_of(filled(), f"{LATENCY_NAME}_bucket").items()
        if 'operation="GetItem"' in labels
    }
    assert list(of_get) == [*map(repr, LE_BOUNDS_S), "+Inf"]
    assert (of_get["5e-05"], of_get["0.0001"], of_get["0.00025"]) == (0, 1, 2)
    assert (of_get["10.0"], of_get["+Inf"]) == (2, 3)


@given(st.lists(st.one_of(st.floats(0, 200), st.sampled_from(LE_BOUNDS_S)), min_size=1, max_size=50))
def test_buckets_count_exactly_what_is_at_most_their_bound(values_s: list[float]) -> None:
    metrics = Metrics()
    for value_s in values_s:
        metrics.succeeded("GetItem", "orders", value_s)
    counts = list(samples_of(metrics, f"{LATENCY_NAME}_bucket").values())
    bounds = (*LE_BOUNDS_S, math.inf)
    assert counts == [sum(value_s <= bound for value_s in values_s) for bound in bounds]


@given(st.text(st.sampled_from('ab\\"\nä{}= ,'), min_size=1, max_size=12))
def test_any_name_is_escaped_so_that_it_can_be_read_back(name: str) -> None:
    metrics = Metrics()
    metrics.failed("PutItem", name, Failure.CONDITION_FAILED)
    [labels] = samples_of(metrics, "singletable_conditional_check_failed_requests_total")
    escaped = labels.removeprefix('table="').removesuffix('"')
    read = re.sub(r"\\(.)", lambda match: "\n" if match[1] == "n" else match[1], escaped)
    assert read == name


def test_prometheus_own_parser_reads_the_same() -> None:
    parser: Any = pytest.importorskip("prometheus_client.parser")
    awkward = 'a\\b"c\nd'
    metrics = filled()
    metrics.failed("PutItem", awkward, Failure.CONDITION_FAILED)
    families = {
        family.name: family
        for family in parser.text_string_to_metric_families(to_prometheus(metrics.snapshot()).decode())
    }
    assert len(families) == len(COUNTERS) + 7
    assert {family.type for family in families.values()} == {"counter", "histogram", "gauge"}
    failed = families["singletable_conditional_check_failed_requests"].samples
    assert {sample.labels["table"]: sample.value for sample in failed} == {"orders": 1.0, awkward: 1.0}
    of_get = [sample for sample in families[LATENCY_NAME].samples if sample.labels["operation"] == "GetItem"]
    buckets = [sample.value for sample in of_get if sample.name.endswith("_bucket")]
    assert buckets == sorted(buckets)
    assert buckets[-1] == next(sample.value for sample in of_get if sample.name.endswith("_count"))
