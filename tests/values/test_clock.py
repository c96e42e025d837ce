"""Clocks: the time by which things are thrown away does not follow every jump of the machine's clock."""

from __future__ import annotations

import gc
import time

import pytest

from singletable.clock import ManualClock, SteadyTime, SystemClock

START_US = 1_700_000_000_000_000
HOUR_S = 3600
DAY_S = 24 * HOUR_S


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(START_US)


@pytest.fixture
def steady(clock: ManualClock) -> SteadyTime:
    return SteadyTime(clock)


def seconds(steady: SteadyTime) -> float:
    """Return the steady time, counted from the start."""
    return (steady.now_us() - START_US) / 1_000_000


def test_steady_time_follows_a_clock_that_runs(clock: ManualClock, steady: SteadyTime) -> None:
    for passed in (0, 1, HOUR_S, 40 * DAY_S):
        clock.advance(passed)
        assert steady.now_us() == clock.now_us()


def test_jump_ahead_is_not_believed_at_once(clock: ManualClock, steady: SteadyTime) -> None:
    clock.jump(365 * DAY_S)
    assert seconds(steady) == 0
    clock.advance(HOUR_S - 1)
    assert seconds(steady) == HOUR_S - 1


def test_jump_ahead_is_believed_after_an_hour(clock: ManualClock, steady: SteadyTime) -> None:
    clock.jump(365 * DAY_S)
    assert seconds(steady) == 0
    clock.advance(HOUR_S)
    assert seconds(steady) == 365 * DAY_S + HOUR_S


def test_hour_begins_when_the_jump_is_seen(clock: ManualClock, steady: SteadyTime) -> None:
    """Nobody looked for two hours: the clock may have jumped a moment ago."""
    clock.advance(2 * HOUR_S)
    clock.jump(DAY_S)
    assert seconds(steady) == 2 * HOUR_S
    clock.advance(HOUR_S)
    assert seconds(steady) == DAY_S + 3 * HOUR_S


def test_jump_that_is_taken_back_is_forgotten(clock: ManualClock, steady: SteadyTime) -> None:
    clock.jump(DAY_S)
    assert seconds(steady) == 0
    clock.advance(HOUR_S / 2)
    clock.jump(-DAY_S)
    assert seconds(steady) == HOUR_S / 2
    clock.jump(DAY_S)
    clock.advance(HOUR_S - 1)
    assert seconds(steady) == 1.5 * HOUR_S - 1  # its hour has begun anew
    clock.advance(1)
    assert seconds(steady) == 1.5 * HOUR_S
    clock.advance(HOUR_S)
    assert seconds(steady) == DAY_S + 2.5 * HOUR_S


def test_second_jump_within_the_hour_does_not_begin_it_anew(clock: ManualClock, steady: SteadyTime) -> None:
    clock.jump(DAY_S)
    assert seconds(steady) == 0
    clock.advance(HOUR_S / 2)
    clock.jump(DAY_S)
    assert seconds(steady) == HOUR_S / 2
    clock.advance(HOUR_S / 2)
    assert seconds(steady) == 2 * DAY_S + HOUR_S


def test_step_back_is_believed_at_once(clock: ManualClock, steady: SteadyTime) -> None:
    clock.jump(-DAY_S)
    assert seconds(steady) == -DAY_S
    clock.advance(60)
    assert seconds(steady) == -DAY_S + 60


def test_clock_that_is_put_right_after_a_step_back_counts_as_a_jump(
    clock: ManualClock, steady: SteadyTime
) -> None:
    clock.jump(-DAY_S)
    assert seconds(steady) == -DAY_S
    clock.jump(DAY_S)
    assert seconds(steady) == -DAY_S
    clock.advance(HOUR_S)
    assert seconds(steady) == HOUR_S


@pytest.mark.parametrize("step_s", [-10, -1, 0.001, 1, 10])
def test_small_corrections_are_followed(clock: ManualClock, steady: SteadyTime, step_s: float) -> None:
    clock.jump(step_s)
    assert seconds(steady) == step_s


def test_machine_that_was_suspended_has_not_jumped(clock: ManualClock, steady: SteadyTime) -> None:
    """Both clocks go on while it sleeps; the process sees a long time pass at once."""
    clock.advance(3 * DAY_S)
    assert seconds(steady) == 3 * DAY_S


def test_time_before_the_start_counts(clock: ManualClock) -> None:
    """What passed while nobody looked cannot be told from a jump, and in memory there is nobody to ask."""
    clock.jump(365 * DAY_S)
    assert SteadyTime(clock).now_us() == clock.now_us()


# --- a file that knows the newest time that was believed ---------------------------------------


@pytest.mark.parametrize("passed_s", [-365 * DAY_S, 0, 6 * DAY_S, 7 * DAY_S])
def test_week_before_the_start_counts(clock: ManualClock, passed_s: int) -> None:
    clock.jump(passed_s)
    steady = SteadyTime(clock)
    steady.start_from(START_US)
    assert seconds(steady) == passed_s
    assert not steady.is_held()


def test_more_than_a_week_before_the_start_does_not_count_until_it_is_confirmed(clock: ManualClock) -> None:
    clock.jump(40 * DAY_S)
    steady = SteadyTime(clock)
    steady.start_from(START_US)
    assert seconds(steady) == 0
    clock.advance(2 * DAY_S)
    assert seconds(steady) == 2 * DAY_S
    assert steady.is_held()
    steady.believe()
    assert seconds(steady) == 42 * DAY_S
    assert not steady.is_held()


def test_clock_that_is_put_right_is_believed_without_being_confirmed(clock: ManualClock) -> None:
    clock.jump(40 * DAY_S)
    steady = SteadyTime(clock)
    steady.start_from(START_US)
    assert steady.is_held()
    clock.jump(-38 * DAY_S)
    assert not steady.is_held()
    assert seconds(steady) == 2 * DAY_S


def test_what_another_process_believes_is_believed(clock: ManualClock) -> None:
    clock.jump(40 * DAY_S)
    steady = SteadyTime(clock)
    steady.start_from(START_US)
    steady.learn(START_US + 39 * DAY_S * 1_000_000)
    assert seconds(steady) == 40 * DAY_S


def test_jump_of_more_than_a_week_is_held_after_the_hour(clock: ManualClock, steady: SteadyTime) -> None:
    steady.start_from(None)
    clock.jump(8 * DAY_S)
    assert not steady.is_held()  # it may be over soon
    clock.advance(HOUR_S)
    assert steady.is_held()
    assert seconds(steady) == HOUR_S


def test_clock_that_was_put_back_and_is_right_again_is_not_held(
    clock: ManualClock, steady: SteadyTime
) -> None:
    steady.start_from(START_US)
    clock.jump(-365 * DAY_S)
    assert seconds(steady) == -365 * DAY_S
    clock.jump(365 * DAY_S)
    assert seconds(steady) == -365 * DAY_S
    clock.advance(HOUR_S)
    assert not steady.is_held()
    assert seconds(steady) == HOUR_S


# --- the clock of the machine ------------------------------------------------------------------


def test_system_clock_goes_on_by_both_of_its_times() -> None:
    clock = SystemClock()
    before = time.time_ns() // 1000
    now_us, elapsed_us = clock.now_us(), clock.elapsed_us()
    assert before <= now_us <= time.time_ns() // 1000
    assert clock.elapsed_us() >= elapsed_us
    assert SteadyTime(clock).now_us() >= now_us


# --- the clock of tests -------------------------------------------------------------------


class Follower:
    def __init__(self, clock: ManualClock) -> None:
        self.clock = clock
        self.seen: list[int] = []

    def time_moved(self) -> None:
        self.seen.append(self.clock.now_us())


def test_followers_are_told_when_time_has_passed(clock: ManualClock) -> None:
    follower = Follower(clock)
    clock.follow(follower)
    clock.advance(1.5)
    clock.jump(100)  # no time passes
    clock.advance(-10)
    assert follower.seen == [START_US + 1_500_000, START_US + 91_500_000]


def test_elapsed_time_never_goes_back(clock: ManualClock) -> None:
    for move, seconds_moved, elapsed_s in (
        (clock.advance, 5, 5),
        (clock.advance, -5, 5),
        (clock.jump, 7, 5),
        (clock.jump, -7, 5),
        (clock.advance, 1, 6),
    ):
        move(seconds_moved)
        assert clock.elapsed_us() == elapsed_s * 1_000_000


def test_clock_does_not_keep_its_followers_alive(clock: ManualClock) -> None:
    follower = Follower(clock)
    seen = follower.seen
    clock.follow(follower)
    clock.advance(1)
    del follower
    gc.collect()
    clock.advance(1)
    assert len(seen) == 1
