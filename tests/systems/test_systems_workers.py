"""Workers: done again and again, tried again ever later when they fail, and ended before they are left."""

from __future__ import annotations

import logging
from threading import Event

import pytest

from singletable.systems import Step, Worker, Workers


def pauses_of(every_s: float, *results: int | Step | Exception) -> list[float]:
    """Let a worker have these results, one after the other, and then stop; return how long it has waited."""
    pauses: list[float] = []
    left = iter(results)

    def step() -> int | Step:
        result = next(left, None)
        if result is None:
            workers.close()
            return 0
        if isinstance(result, Exception):
            raise result
        return result

    workers = Workers([Worker("counter", every_s, step)], wait=pauses.append)
    with workers:
        pass_by(workers)
    return pauses[: len(results)]


def pass_by(workers: Workers) -> None:
    """Wait until they have stopped by themselves: leaving the block would stop them."""
    for thread in workers._threads:
        thread.join()


def test_worker_rests_after_each_step() -> None:
    assert pauses_of(5.0, 1, 0, 2) == [5.0, 5.0, 5.0]


def test_worker_that_has_left_more_goes_on_at_once() -> None:
    down = ValueError("down")
    more = Step(50, more=True)
    assert pauses_of(5.0, more, more, Step(10), 0) == [5.0, 5.0, 5.0], (
        "after the third, the fourth, and the last"
    )
    assert pauses_of(5.0, more, down, down, more, Step(0), down) == [10, 20, 5, 10, 5]


def test_worker_that_has_left_more_is_stopped_between_two_steps() -> None:
    begun, go_on = Event(), Event()
    steps: list[int] = []

    def step() -> Step:
        steps.append(1)
        begun.set()
        go_on.wait()
        return Step(1, more=True)

    workers = Workers([Worker("endless", 5.0, step)], wait=lambda seconds: None)
    with workers:
        begun.wait()
        workers._stop.set()
        go_on.set()
    assert steps == [1]


def test_worker_that_fails_is_tried_again_ever_later_and_then_as_before() -> None:
    down = ValueError("down")
    assert pauses_of(5.0, 1, down, down, down, down, down, 1, down) == [5, 10, 20, 40, 60, 60, 5, 10]


def test_worker_that_rests_for_longer_than_that_is_not_tried_more_often() -> None:
    assert pauses_of(600.0, ValueError("down"), ValueError("down"), 1) == [600, 600, 600]


def test_worker_without_a_rest_gets_one_when_it_fails() -> None:
    assert pauses_of(0.0, 1, ValueError("down"), ValueError("down"), 1) == [0, 1, 2, 0]


def test_failure_is_logged_with_its_name_and_what_was_done_too(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "singletable.workers"):
        pauses_of(5.0, Step(50, more=True), 3, 0, ValueError("down"))
    assert [record.getMessage() for record in caplog.records] == [
        "counter: 50",
        "counter: 3",
        "counter failed; again in 10 s",
    ]
    assert caplog.records[-1].exc_info is not None


def test_step_that_has_begun_is_ended_before_the_block_is_left() -> None:
    begun, ended = Event(), Event()

    def step() -> int:
        begun.set()
        workers._stop.wait()
        ended.set()
        return 0

    workers = Workers([Worker("slow", 5.0, step)])
    with workers:
        begun.wait()
    assert ended.is_set()
    assert not any(thread.is_alive() for thread in workers._threads)


def test_worker_that_rests_does_not_keep_the_block_from_being_left() -> None:
    done = Event()

    def step() -> int:
        done.set()
        return 0

    with Workers([Worker("hourly", 3600.0, step)]):
        done.wait()


def test_workers_that_were_never_started_are_closed() -> None:
    Workers([Worker("idle", 5.0, lambda: 0)]).close()
