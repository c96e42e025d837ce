"""Sharding: shards are followed by others when they are old or full, and every record is in exactly one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from singletable import limits
from singletable.storage.chores import sharding
from singletable.storage.log import Entry
from singletable.storage.streams import Shard
from support.logged_tables import DAY_S, HOUR_S, Logged, opened

FULL = 20  # records of a shard, instead of thousands


@pytest.fixture(params=["memory", "file"])
def logged(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Logged]:
    with opened(":memory:" if request.param == "memory" else tmp_path / "test.db") as store:
        store.create(stream=True)
        yield store


@pytest.fixture
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SHARD_RECORDS_MAX", FULL)


def holds(shard: Shard, entry: Entry) -> bool:
    low, high = shard.partitions
    is_in_part = low <= entry.pk and (high is None or entry.pk < high)
    return is_in_part and shard.first <= entry.seq and (shard.last is None or entry.seq <= shard.last)


def assert_each_record_is_in_one_shard(logged: Logged) -> None:
    shards = logged.shards()
    for entry in logged.log():
        assert [shard.number for shard in shards if holds(shard, entry)].__len__() == 1, entry


def assert_items_move_only_to_descendants(logged: Logged) -> None:
    """Who reads parents before children reads the records of each item in order."""
    shards = {shard.number: shard for shard in logged.shards()}
    place: dict[bytes, int] = {}
    for entry in logged.log():
        (number,) = (shard.number for shard in shards.values() if holds(shard, entry))
        before = place.get(entry.pk, number)
        while number not in (before, None):
            number = shards[number].parent  # type: ignore[assignment]
        assert number == before, entry
        place[entry.pk] = next(shard.number for shard in shards.values() if holds(shard, entry))


def test_new_stream_has_one_shard_for_all(logged: Logged) -> None:
    stream = logged.streams()[0]
    began_us = logged.clock.now_us()
    assert logged.shards() == [Shard(stream.id, 0, None, 0, 1, 1, None, began_us, None)]
    assert logged.shards()[0].partitions == (b"\x00\x00\x00\x00", None)


def test_shard_is_followed_by_one_when_it_is_four_hours_old(logged: Logged) -> None:
    began_us = logged.clock.now_us()
    logged.put("a")
    logged.clock.advance(4 * HOUR_S - 1)
    assert len(logged.shards()) == 1
    logged.clock.advance(1)
    now_us, stream = logged.clock.now_us(), logged.streams()[0]
    assert logged.shards() == [
        Shard(stream.id, 0, None, 0, 1, 1, 1, began_us, now_us),
        Shard(stream.id, 1, 0, 0, 1, 2, None, now_us, None),
    ]


def test_shard_without_a_record_is_followed_as_well(logged: Logged) -> None:
    logged.clock.advance(4 * HOUR_S)
    assert [(shard.first, shard.last) for shard in logged.shards()] == [(1, 0), (1, None)]
    logged.put("a")
    assert_each_record_is_in_one_shard(logged)


def test_long_pause_makes_one_shard_and_not_many(logged: Logged) -> None:
    logged.clock.advance(23 * HOUR_S)
    assert len(logged.shards()) == 2


@pytest.mark.usefixtures("small_shards")
def test_shard_is_halved_when_it_is_full(logged: Logged) -> None:
    logged.put_many(f"{number}" for number in range(FULL - 1))
    logged.clock.advance(1)
    assert len(logged.shards()) == 1
    logged.put("last")
    logged.clock.advance(1)
    parent, low, high = logged.shards()
    assert (parent.first, parent.last) == (1, FULL)
    assert [(child.parent, child.part, child.parts, child.first) for child in (low, high)] == [
        (0, 0, 2, FULL + 1),
        (0, 1, 2, FULL + 1),
    ]
    assert low.partitions == (b"\x00\x00\x00\x00", b"\x80\x00\x00\x00")
    assert high.partitions == (b"\x80\x00\x00\x00", None)


@pytest.mark.usefixtures("small_shards")
def test_stream_that_grows_has_a_bounded_number_of_open_shards(logged: Logged) -> None:
    for step in range(60):
        logged.put_many(f"{step}-{number}" for number in range(FULL))
        logged.clock.advance(60)
        still_open = [shard for shard in logged.shards() if shard.last is None]
        assert len(still_open) <= limits.SHARDS_OPEN_MAX
    assert len(still_open) == limits.SHARDS_OPEN_MAX
    assert_each_record_is_in_one_shard(logged)


@pytest.mark.usefixtures("small_shards")
def test_records_of_an_item_move_from_parents_to_children(logged: Logged) -> None:
    for step in range(30):
        for number in range(FULL // 2):
            logged.put(f"{number}", n=step)
        logged.clock.advance(30 * 60)
    assert len(logged.shards()) > 10
    assert_each_record_is_in_one_shard(logged)
    assert_items_move_only_to_descendants(logged)


def test_shards_of_a_stream_end_with_it(logged: Logged) -> None:
    logged.put("a")
    logged.clock.advance(4 * HOUR_S)
    logged.put("b")
    logged.alter(stream=False)
    logged.put("c")
    ended_us = logged.clock.now_us()
    assert [(shard.first, shard.last, shard.ended_us) for shard in logged.shards()] == [
        (1, 1, ended_us),
        (2, 2, ended_us),
    ]
    logged.clock.advance(5 * HOUR_S)
    assert len(logged.shards()) == 2


def test_streams_of_several_tables_have_shards_of_their_own(logged: Logged) -> None:
    for number in range(100):
        logged.create(f"other-{number}", stream=True)
    logged.clock.advance(4 * HOUR_S)
    for stream in logged.streams():
        assert [shard.number for shard in logged.shards(stream)] == [0, 1]


def test_clock_that_was_put_back_does_not_end_shards_again_and_again(logged: Logged) -> None:
    logged.put("a")
    logged.clock.jump(10 * DAY_S)
    logged.put("b")
    logged.clock.jump(-10 * DAY_S)
    for _ in range(3):
        logged.clock.advance(4 * HOUR_S)
        logged.put("c", n=logged.clock.now_us())
    began = [shard.began_us for shard in logged.shards()]
    assert began == sorted(began)
    assert len(began) <= 4
    assert_each_record_is_in_one_shard(logged)


def test_chore_is_not_due_when_it_has_nothing_left(logged: Logged) -> None:
    for ahead_s in (0, 4 * HOUR_S):
        logged.clock.advance(ahead_s)
        now_us = logged.clock.now_us()
        assert not logged.store.read(lambda e, catalog, now=now_us: sharding.search(e, catalog, now))  # type: ignore[misc]
        found = [stream.id for stream in logged.streams()]
        assert logged.store.write(lambda txn, now=now_us, ids=found: sharding.step_found(txn, now, ids))  # type: ignore[misc]


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.integers(0, 40)),
        st.tuples(st.just("pass"), st.sampled_from([60, HOUR_S, 5 * HOUR_S])),
    ),
    max_size=60,
)


@settings(max_examples=40)
@given(steps=STEPS)
def test_every_history_has_each_record_in_one_shard(steps: list[tuple[str, int]]) -> None:
    with pytest.MonkeyPatch.context() as patch, opened(":memory:") as logged:
        patch.setattr(limits, "SHARD_RECORDS_MAX", 3)
        logged.create(stream=True)
        began_us = logged.clock.now_us()
        for place, (kind, value) in enumerate(steps):
            if kind == "put":
                logged.put(f"{value}", n=place)
            elif logged.clock.now_us() - began_us < 15 * HOUR_S * 1_000_000:  # nothing is trimmed
                logged.clock.advance(value)
        assert_each_record_is_in_one_shard(logged)
        assert_items_move_only_to_descendants(logged)
