"""The histogram of latencies: its bounds, and percentiles as good as promised."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from singletable.metrics import Latency, Metrics
from singletable.metrics.latency import BOUNDS_S, RELATIVE_ERROR_MAX, merged

A_US = 0.000_001
latencies_s = st.one_of(
    st.floats(A_US, 100),
    st.floats(-6, 2).map(lambda exponent: min(10**exponent, 100.0)),  # as many short ones as long ones
    st.sampled_from(BOUNDS_S),
)
samples = st.lists(latencies_s, min_size=1, max_size=200)


def recorded(values_s: list[float]) -> Latency:
    metrics = Metrics()
    for value_s in values_s:
        metrics.succeeded("GetItem", "orders", value_s)
    return metrics.snapshot().latency("orders", "GetItem")


def exact_percentile_s(values_s: list[float], percent: float) -> float:
    return sorted(values_s)[math.ceil(len(values_s) * percent / 100) - 1]


def test_bounds_are_round_and_rise_by_at_most_twice_the_promised_error() -> None:
    assert BOUNDS_S[0] == A_US
    assert BOUNDS_S[-1] == 100.0
    assert {0.00025, 0.001, 0.1, 2.5} <= set(BOUNDS_S)
    for lower, upper in itertools.pairwise(BOUNDS_S):
        assert lower < upper <= lower * (1 + 2 * RELATIVE_ERROR_MAX) * (1 + 1e-12)


@given(samples, st.one_of(st.sampled_from([50, 90, 99, 99.9, 100]), st.floats(0.1, 100)))
@example([A_US], 50)
@example([100.0], 99.9)
@example([A_US, 100.0], 50)
def test_percentile_is_within_the_promised_error(values_s: list[float], percent: float) -> None:
    exact_ms = exact_percentile_s(values_s, percent) * 1000
    assert recorded(values_s).percentile_ms(percent) == pytest.approx(exact_ms, rel=RELATIVE_ERROR_MAX + 1e-9)


@given(samples)
def test_count_sum_least_and_greatest_are_exact(values_s: list[float]) -> None:
    latency = recorded(values_s)
    assert latency.count == len(values_s)
    assert (latency.min_ms, latency.max_ms) == (min(values_s) * 1000, max(values_s) * 1000)
    assert latency.sum_ms == pytest.approx(math.fsum(values_s) * 1000)
    assert latency.average_ms == pytest.approx(math.fsum(values_s) / len(values_s) * 1000)


@given(samples, samples)
def test_merged_histograms_are_that_of_all_samples(first: list[float], second: list[float]) -> None:
    together, apart = recorded(first + second), merged([recorded(first), Latency(), recorded(second)])
    assert apart.buckets == together.buckets
    assert (apart.count, apart.min_s, apart.max_s) == (together.count, together.min_s, together.max_s)
    assert apart.sum_s == pytest.approx(together.sum_s)


@given(samples, samples)
def test_difference_of_two_moments_is_what_came_between(before: list[float], between: list[float]) -> None:
    difference = recorded(before + between).since(recorded(before))
    assert difference.count == len(between)
    assert difference.sum_s == pytest.approx(math.fsum(between), rel=1e-6, abs=1e-9)
    assert difference.min_s <= min(between) <= difference.min_s * (1 + 2 * RELATIVE_ERROR_MAX) + A_US
    assert difference.max_s >= max(between) >= difference.max_s / (1 + 2 * RELATIVE_ERROR_MAX) - A_US
    exact_ms = exact_percentile_s(between, 50) * 1000
    assert difference.p50_ms == pytest.approx(exact_ms, rel=2 * RELATIVE_ERROR_MAX + 1e-9)


@pytest.mark.parametrize("value_s", [0.0, 1e-9, 5e-7, 100.5, 86_400.0])
def test_value_outside_the_bounds_is_kept_as_it_is(value_s: float) -> None:
    assert recorded([value_s]).p50_ms == value_s * 1000


def test_nothing_recorded_is_zero() -> None:
    nothing = Metrics().snapshot().latency("orders", "GetItem")
    assert (nothing.count, nothing.average_ms, nothing.min_ms, nothing.max_ms) == (0, 0.0, 0.0, 0.0)
    assert (nothing.p50_ms, nothing.p90_ms, nothing.p99_ms, nothing.p99_9_ms) == (0.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize("percent", [0, -1, 100.1, math.nan])
def test_percentile_out_of_range_is_refused(percent: float) -> None:
    with pytest.raises(ValueError, match="above 0 and at most 100"):
        Latency().percentile_ms(percent)
