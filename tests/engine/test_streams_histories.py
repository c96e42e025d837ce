"""For any history, a stream shows each change of an item once, in order, as its view says, whatever its shards."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from singletable import Database, limits
from singletable.clock import ManualClock
from support.streamed_tables import create_streamed, delete, put, records_of, shards_of

KEYS = [f"item{number}" for number in range(6)]
VIEWS = ("KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES")

Item = dict[str, Any]


class Shown(NamedTuple):
    event: str
    old: Item | None
    new: Item | None


class Step(NamedTuple):
    """What happens: an item gets a value, or goes; or time passes."""

    key: str | None
    value: int | None = None
    seconds: int = 0


steps = st.one_of(
    st.builds(Step, st.sampled_from(KEYS), st.integers(0, 3)),
    st.builds(Step, st.sampled_from(KEYS)),
    st.builds(Step, st.none(), seconds=st.sampled_from((1, 600, 2 * 3600, 5 * 3600))),
)


@pytest.fixture(autouse=True)
def _small_shards() -> Iterator[None]:
    """Shards that are full with four records: a short history goes through many."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limits, "SHARD_RECORDS_MAX", 4)
        yield


def expected(history: list[Step], view: str) -> dict[str, list[Shown]]:
    """Return what the stream shows of each item, from a model that is a dict."""
    items: dict[str, Item] = {}
    shown: dict[str, list[Shown]] = {}
    for step in history:
        if step.key is None:
            continue
        old = items.get(step.key)
        new = None if step.value is None else {"id": {"S": step.key}, "n": {"N": str(step.value)}}
        if old == new:
            continue
        event = "INSERT" if old is None else "REMOVE" if new is None else "MODIFY"
        shown.setdefault(step.key, []).append(
            Shown(event, old if "OLD" in view else None, new if "NEW" in view else None)
        )
        items.pop(step.key, None)
        if new is not None:
            items[step.key] = new
    return shown


def play(db: Database, clock: ManualClock, history: list[Step]) -> None:
    for step in history:
        if step.key is None:
            clock.advance(step.seconds)
        elif step.value is None:
            delete(db, step.key)
        else:
            put(db, step.key, n={"N": str(step.value)})


@pytest.mark.parametrize("view", VIEWS)
@given(history=st.lists(steps, max_size=60), limit=st.sampled_from((1, 3, 1000)))
def test_a_stream_shows_the_history_of_each_item_exactly_once(
    view: str, history: list[Step], limit: int
) -> None:
    # No more than a day: the rest would be trimmed.
    passed_s = 0
    kept = []
    for step in history:
        passed_s += step.seconds
        if passed_s < limits.STREAM_KEPT_S or step.key is not None:
            kept.append(step)
        else:
            passed_s -= step.seconds
    clock = ManualClock()
    with Database.open(":memory:", clock=clock) as db:
        arn = create_streamed(db, view=view)
        play(db, clock, kept)
        shown: dict[str, list[Shown]] = {}
        numbers: list[str] = []
        for record in records_of(db, arn, Limit=limit):
            body = record["dynamodb"]
            numbers.append(body["SequenceNumber"])
            shown.setdefault(body["Keys"]["id"]["S"], []).append(
                Shown(record["eventName"], body.get("OldImage"), body.get("NewImage"))
            )
        assert shown == expected(kept, view)
        assert len(set(numbers)) == len(numbers)
        assert db.check() == []


def test_histories_go_through_many_shards() -> None:
    """The property above would hold of one shard as well; this shows that there are more."""
    clock = ManualClock()
    with Database.open(":memory:", clock=clock) as db:
        arn = create_streamed(db)
        steps = [Step(key, value) for value in range(10) for key in KEYS]
        play(db, clock, [one for step in steps for one in (step, Step(None, seconds=1))])
        assert len(shards_of(db, arn)) > 10
