"""Token buckets: what they let through in any stretch of time, and that nothing is lost or made on the way."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from singletable.capacity.buckets import TokenBucket

SECOND_US = 1_000_000

rates = st.integers(1, 5_000)
depths = st.integers(0, 10_000)
steps_us = st.one_of(st.integers(0, 2_000), st.integers(0, 5 * SECOND_US))
costs = st.integers(1, 1_600).map(lambda halves: halves / 2)  # up to a transaction's write of 400 KB


def full(rate: int, depth: int) -> TokenBucket:
    return TokenBucket(rate=rate, depth=depth, level=depth, at_us=0)


@given(rates, depths, st.lists(st.tuples(steps_us, costs), max_size=60))
def test_no_stretch_of_time_admits_more_than_rate_and_depth_and_one_debt(
    rate: int, depth: int, requests: list[tuple[int, float]]
) -> None:
    bucket = full(rate, depth)
    now_us = 0
    admitted: list[tuple[int, float]] = []
    for step_us, cost in requests:
        now_us += step_us
        if bucket.admits(now_us):
            bucket.charge(cost, now_us)
            admitted.append((now_us, cost))
    for first in range(len(admitted)):
        began_us = admitted[first][0]
        before_last = 0.0
        for at_us, cost in admitted[first:]:
            assert before_last * SECOND_US < depth * SECOND_US + rate * (at_us - began_us)
            before_last += cost


@given(rates, st.lists(st.tuples(steps_us, costs), max_size=60))
def test_every_unit_comes_back_while_there_is_room(rate: int, requests: list[tuple[int, float]]) -> None:
    bucket = TokenBucket(rate=rate, depth=10_000_000, level=0, at_us=0)
    now_us = 0
    spent = 0.0
    for step_us, cost in requests:
        now_us += step_us
        spent += cost
        bucket.charge(cost, now_us)
        assert bucket.level(now_us) == (rate * now_us - int(spent * SECOND_US)) / SECOND_US


@given(rates, depths, costs, st.lists(steps_us, max_size=20))
def test_looking_often_changes_nothing(rate: int, depth: int, cost: float, steps: list[int]) -> None:
    often, once = full(rate, depth), full(rate, depth)
    often.charge(cost, 0)
    once.charge(cost, 0)
    now_us = 0
    for step_us in steps:
        now_us += step_us
        often.admits(now_us)
    assert often.level(now_us) == once.level(now_us)
    assert often.is_full(now_us) == once.is_full(now_us)


@given(
    rates,
    depths,
    st.lists(
        st.tuples(st.integers(-3 * SECOND_US, 3 * SECOND_US), st.one_of(st.just(0.0), costs)), max_size=30
    ),
)
def test_clock_that_goes_back_brings_nothing_and_takes_nothing(
    rate: int, depth: int, moves: list[tuple[int, float]]
) -> None:
    wavering, steady = full(rate, depth), full(rate, depth)
    now_us = latest_us = 0
    for move_us, cost in moves:
        now_us += move_us
        latest_us = max(latest_us, now_us)
        wavering.charge(cost, now_us)
        steady.charge(cost, latest_us)
        assert wavering.level(now_us) == steady.level(latest_us)


@given(rates, costs)
def test_debt_is_paid_back_before_the_next_request(rate: int, cost: float) -> None:
    bucket = TokenBucket(rate=rate, depth=1, level=1, at_us=0)
    bucket.charge(cost + 1, 0)
    paid_us = -(-int(cost * SECOND_US) // rate)
    assert not bucket.admits(paid_us - 1)
    assert bucket.admits(paid_us + 1)


def test_empty_bucket_admits_with_the_first_part_of_a_unit() -> None:
    bucket = TokenBucket(rate=1, depth=300, level=0, at_us=5)
    assert not bucket.admits(5)
    assert bucket.admits(6)


def test_bucket_holds_no_more_than_its_depth() -> None:
    bucket = TokenBucket(rate=10, depth=40, level=70, at_us=0)
    assert bucket.level(0) == 40
    assert bucket.level(60 * SECOND_US) == 40
    assert bucket.is_full(60 * SECOND_US)
    bucket.charge(0.5, 60 * SECOND_US)
    assert not bucket.is_full(60 * SECOND_US)


def test_new_rate_counts_from_its_moment_on() -> None:
    bucket = TokenBucket(rate=1, depth=300, level=0, at_us=0)
    bucket.change(rate=100, depth=30_000, now_us=10 * SECOND_US)
    assert bucket.level(10 * SECOND_US) == 10
    assert bucket.level(12 * SECOND_US) == 210


def test_smaller_depth_keeps_what_it_has_room_for() -> None:
    bucket = TokenBucket(rate=100, depth=30_000, level=30_000, at_us=0)
    bucket.change(rate=1, depth=300, now_us=0)
    assert bucket.level(0) == 300


def test_debt_outlives_a_change_of_the_rate() -> None:
    bucket = TokenBucket(rate=1, depth=300, level=0, at_us=0)
    bucket.charge(50, 0)
    bucket.change(rate=10, depth=3_000, now_us=0)
    assert bucket.level(4 * SECOND_US) == -10
