"""Shards and time buckets of key classes, and logic side by side: what patterns over many partitions use."""

from __future__ import annotations

import inspect
from collections.abc import Generator
from datetime import UTC, datetime, timedelta, timezone
from typing import Annotated, Any

import pytest

from designs.feed import AuthorPK, MonthPK, ShardPK
from designs.kefir import PendingPK, StatusPK
from singletable.client.calls import Call, Together, Wait, side_by_side
from singletable.design import BucketOf, Key, ShardOf, buckets, shards
from singletable.errors import DeclarationError


class YearPK(Key, template="Y#{year}"):
    year: Annotated[str, BucketOf("at", "year")]


class WeekPK(Key, template="W#{week}"):
    week: Annotated[str, BucketOf("at", "week")]


class DayPK(Key, template="D#{day}"):
    day: Annotated[str, BucketOf("at", "day")]


class WidePK(Key, template="{shard}#{kind}"):
    kind: str
    shard: Annotated[int, ShardOf(16, by="kind")]


def test_shards_are_those_that_the_key_declares() -> None:
    assert [list(shards(key)) for key in (StatusPK, PendingPK, ShardPK)] == [[0, 1, 2, 3], [0], [0, 1, 2, 3]]
    assert len(shards(WidePK)) == 16
    assert list(shards(2)) == [0, 1]
    with pytest.raises(DeclarationError, match=r"AuthorPK .* has no shards"):
        shards(AuthorPK)


DAY = datetime(2025, 1, 2, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("key", "oldest", "names"),
    [
        (MonthPK, DAY - timedelta(days=40), ["2025-01", "2024-12", "2024-11"]),
        (YearPK, DAY - timedelta(days=400), ["2025", "2024", "2023"]),
        (
            WeekPK,
            DAY - timedelta(days=10),
            ["2025-W01", "2024-W52"],
        ),  # 30 December is in the first week of 2025
        (DayPK, DAY - timedelta(days=3), ["2025-01-02", "2025-01-01", "2024-12-31", "2024-12-30"]),
        (DayPK, DAY, ["2025-01-02"]),
        (DayPK, DAY + timedelta(days=1), []),
    ],
)
def test_buckets_go_from_the_newest_to_the_oldest(key: type[Key], oldest: datetime, names: list[str]) -> None:
    assert list(buckets(key, newest=DAY, oldest=oldest)) == names


def test_buckets_are_those_of_utc() -> None:
    east = timezone(timedelta(hours=9))
    moment = datetime(2025, 1, 1, 3, tzinfo=east)  # still 2024 in UTC
    assert list(buckets(MonthPK, newest=moment, oldest=moment)) == ["2024-12"]


def test_key_without_buckets_is_refused() -> None:
    with pytest.raises(DeclarationError, match=r"AuthorPK .* has no time buckets"):
        list(buckets(AuthorPK, newest=DAY, oldest=DAY))


# --- side by side -----------------------------------------------------------------------------------------


def asks(*names: str, pause: float = 0) -> Generator[Any, Any, list[Any]]:
    answers = []
    for name in names:
        if pause:
            yield Wait(pause)
        answers.append((yield Call(name, {})))
    return answers


def test_what_pieces_ask_for_next_is_asked_for_together() -> None:
    def several() -> Generator[Any, Any, list[Any]]:
        both: list[Any] = yield Together((Call("c", {}), Call("d", {})))
        return both

    steps = side_by_side([asks("a", "b"), several(), asks()])
    assert next(steps) == Together((Call("a", {}), Call("c", {}), Call("d", {})))
    assert steps.send(["A", "C", "D"]) == Call("b", {})
    with pytest.raises(StopIteration) as end:
        steps.send("B")
    assert end.value.value == [["A", "B"], ["C", "D"], []]


def test_longest_of_several_pauses_is_made_once() -> None:
    steps = side_by_side([asks("a", pause=1), asks("b", pause=2), asks("c")])
    assert next(steps) == Wait(2)
    assert steps.send(None) == Call("c", {})
    assert steps.send("C") == Together((Call("a", {}), Call("b", {})))
    with pytest.raises(StopIteration) as end:
        steps.send(["A", "B"])
    assert end.value.value == [["A"], ["B"], ["C"]]


def test_error_ends_all_pieces() -> None:
    pieces = [asks("a"), asks("b")]
    steps = side_by_side(pieces)
    next(steps)
    with pytest.raises(RuntimeError, match="refused"):
        steps.throw(RuntimeError("refused"))
    assert [inspect.getgeneratorstate(piece) for piece in pieces] == [inspect.GEN_CLOSED] * 2
