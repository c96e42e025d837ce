"""Expiry: the order of items by their time to live, and the sweep that deletes those whose time is over."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from singletable import limits
from singletable.clock import ManualClock
from singletable.storage.check import check_file
from singletable.storage.chores import backfilling, sweeping
from singletable.storage.file.connections import Location
from singletable.storage.log import EXPIRED, REMOVED
from singletable.storage.store import Store
from support.logged_tables import DAY_S, Logged, opened
from support.sample_tables import FastClock

YEAR_S = 365 * DAY_S
NOW_S = 1_700_000_000
LATER_S = NOW_S + DAY_S


@pytest.fixture(params=["memory", "file"])
def logged(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Logged]:
    path = ":memory:" if request.param == "memory" else tmp_path / "test.db"
    with opened(path, ManualClock(NOW_S * 1_000_000)) as store:
        store.create(ttl="t")
        finish_filling(store)
        yield store


def finish_filling(logged: Logged) -> None:
    """Let all items that were there have their place in the order."""
    logged.clock.advance(0)
    expiry = logged.table().expiry
    assert expiry is not None
    assert expiry.is_ready


# --- the order ------------------------------------------------------------------------------------


def test_items_stand_in_the_order_of_their_times(logged: Logged) -> None:
    logged.put("late", t=LATER_S + 5)
    logged.put("early", t=LATER_S)
    logged.put("never")
    assert logged.expiries() == [(LATER_S, "early"), (LATER_S + 5, "late")]


def test_items_of_one_second_stand_beside_each_other(logged: Logged) -> None:
    for name in "abc":
        logged.put(name, t=LATER_S)
    assert logged.expiries() == [(LATER_S, "a"), (LATER_S, "b"), (LATER_S, "c")]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param(None, {"N": "1800000000"}, 1_800_000_000, id="made"),
        pytest.param({"N": "1800000000"}, {"N": "1900000000"}, 1_900_000_000, id="moved"),
        pytest.param({"N": "1800000000"}, {"N": "1800000000"}, 1_800_000_000, id="unchanged"),
        pytest.param({"N": "1800000000"}, None, None, id="attribute-gone"),
        pytest.param({"N": "1800000000"}, {"S": "1800000000"}, None, id="becomes-a-string"),
        pytest.param({"S": "soon"}, {"N": "1800000000"}, 1_800_000_000, id="becomes-a-number"),
        pytest.param({"NULL": True}, {"NS": ["1800000000"]}, None, id="never-a-number"),
    ],
)
def test_order_follows_the_item(logged: Logged, before: Any, after: Any, expected: int | None) -> None:
    logged.put("a", **({} if before is None else {"t": before}))
    logged.put("a", **({} if after is None else {"t": after}), n=1)
    assert logged.expiries() == ([] if expected is None else [(expected, "a")])
    logged.delete("a")
    assert logged.expiries() == []


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        ("1800000000", 1_800_000_000),
        ("1800000000.9", 1_800_000_000),
        ("0.5", 0),
        ("0", 0),
        ("-1", -1),
        ("-1.5", -1),
        ("1800000000000", 1_800_000_000_000),
        ("999999999999999999", 999_999_999_999_999_999),
        ("4611686018427387903", 4_611_686_018_427_387_903),
        ("4611686018427387904", None),
        ("-4611686018427387903", -4_611_686_018_427_387_903),
        ("-4611686018427387904", None),
        ("9" * 38, None),
        ("1" + "0" * 125, None),
        ("-1" + "0" * 125, None),
        ("0." + "0" * 129 + "1", 0),
    ],
)
def test_any_number_can_be_a_time(logged: Logged, number: str, expected: int | None) -> None:
    logged.put("a", t={"N": number})
    assert logged.expiries() == ([] if expected is None else [(expected, "a")])
    logged.clock.advance(1)
    assert logged.ids() == ["a"]
    logged.put("a", t={"N": "5"})
    assert logged.expiries() == [(5, "a")]


def test_row_that_is_used_again_does_not_inherit_a_time(logged: Logged) -> None:
    """SQLite gives the id of the last row to the next one when it is gone."""
    logged.put("a", t=LATER_S)
    logged.delete("a")
    logged.put("b")
    assert logged.expiries() == []
    logged.clock.advance(2 * DAY_S)
    assert logged.ids() == ["b"]


# --- sweeping --------------------------------------------------------------------------------------------


def test_item_goes_in_the_second_after_its_time(logged: Logged) -> None:
    logged.put("a", t=NOW_S + 10)
    logged.clock.advance(10)
    assert logged.ids() == ["a"]
    logged.clock.advance(1)
    assert logged.ids() == []


def test_what_expired_first_goes_first(logged: Logged) -> None:
    logged.alter(stream=True)
    numbers = list(range(100))
    random.Random(7).shuffle(numbers)
    for number in numbers:
        logged.put(f"{number:02}", t=LATER_S + number)
    logged.clock.advance(2 * DAY_S)
    expired = [entry.before for entry in logged.log() if entry.event == EXPIRED]
    assert [raw[12:14] for raw in expired if raw] == [b"%02d" % number for number in range(100)]


def test_item_that_expired_more_than_five_years_ago_stays(logged: Logged) -> None:
    """Such a number is taken for something else than a time (AWS guide, "Using time to live")."""
    old_s = NOW_S - limits.TTL_AGE_S_MAX
    logged.put("just within", t=old_s + 1)
    logged.put("too old", t=old_s)
    logged.put("year 1970", t=5)
    logged.clock.advance(1)
    assert logged.ids() == ["too old", "year 1970"]


def test_milliseconds_are_a_time_far_away(logged: Logged) -> None:
    logged.put("a", t=NOW_S * 1000)
    logged.clock.advance(100 * DAY_S)
    assert logged.ids() == ["a"]


def test_item_that_is_given_more_time_stays(logged: Logged) -> None:
    logged.put("a", t=NOW_S + 10)
    logged.clock.advance(5)
    logged.put("a", t=NOW_S + 1_000)
    logged.clock.advance(100)
    assert logged.ids() == ["a"]


def test_sweep_of_many_items_is_done_in_pieces_and_complete(logged: Logged) -> None:
    for number in range(2_500):
        logged.put(f"{number}", t=NOW_S + 10 if number % 5 else LATER_S)
    logged.clock.advance(60)
    assert len(logged.ids()) == 500
    assert len(logged.expiries()) == 500


def test_deletion_by_hand_and_by_expiry_are_told_apart(logged: Logged) -> None:
    logged.alter(stream=True)
    logged.put("a", t=NOW_S + 10)
    logged.put("b", t=NOW_S + 10)
    logged.delete("a")
    logged.clock.advance(60)
    assert [entry.event for entry in logged.log()][2:] == [REMOVED, EXPIRED]


def test_each_table_expires_by_its_own_attribute(logged: Logged) -> None:
    logged.create("other", ttl="u")
    for name in ("t", "other"):
        logged.put("t", name, t=NOW_S + 10)
        logged.put("u", name, u=NOW_S + 10)
    logged.clock.advance(60)
    assert (logged.ids("t"), logged.ids("other")) == (["u"], ["t"])


def test_clock_that_is_wrong_for_a_while_expires_nothing(logged: Logged) -> None:
    logged.put("a", t=NOW_S + DAY_S)
    logged.clock.jump(30 * DAY_S)
    logged.clock.advance(60)
    assert logged.ids() == ["a"]
    logged.clock.jump(-30 * DAY_S)
    logged.clock.advance(60)
    assert logged.ids() == ["a"]
    logged.clock.advance(DAY_S)
    assert logged.ids() == []


def test_clock_that_was_put_back_expires_later(logged: Logged) -> None:
    logged.put("a", t=NOW_S + 10)
    logged.clock.jump(-DAY_S)
    logged.clock.advance(60)
    assert logged.ids() == ["a"]
    logged.clock.advance(DAY_S)
    assert logged.ids() == []


def test_chore_is_not_due_when_it_has_nothing_left(logged: Logged) -> None:
    logged.put("a", t=NOW_S + 10)
    logged.put("old", t=5)
    logged.put("far", t={"N": "9" * 30})
    for ahead_s in (0, 60, 10 * YEAR_S):
        now_us = (NOW_S + ahead_s) * 1_000_000
        while not logged.store.write(lambda txn, now=now_us: sweeping.step(txn, now)):  # type: ignore[misc]
            pass
        assert not logged.store.read(lambda e, catalog, now=now_us: sweeping.is_due(e, catalog, now))  # type: ignore[misc]


# --- turning it on and off ---------------------------------------------------------------------------------


@pytest.fixture
def by_hand(tmp_path: Path) -> Iterator[Logged]:
    """A store with 300 items, half of which could expire, whose background work is done piece by piece."""
    clock = FastClock(NOW_S * 1_000_000)
    store = Store(Location(str(tmp_path / "test.db"), "relaxed"), clock)
    store.background.stop()
    logged = Logged(store, clock)  # type: ignore[arg-type]
    logged.create()
    for number in range(300):
        times: dict[str, Any] = {"t": LATER_S + number} if number % 2 else {}
        logged.put(f"{number:03}", **times)
    yield logged
    store.close()
    assert check_file(tmp_path / "test.db") == []


def all_expiries(logged: Logged) -> list[tuple[int, str]]:
    """Compute the order anew from the items."""
    sql = (
        "SELECT json_extract(CAST(item AS TEXT), '$.t.N'), json_extract(CAST(item AS TEXT), '$.id.S')"
        f" FROM item_{logged.table().id}"
    )
    return sorted((int(number), item_id) for number, item_id in logged.rows(sql) if number is not None)


def fill_a_piece(logged: Logged) -> None:
    assert not logged.store.write(lambda transaction: backfilling.step(transaction, 0))


def is_filled(logged: Logged) -> bool:
    expiry = logged.table().expiry
    assert expiry is not None
    return expiry.is_ready


def test_items_that_were_there_before_get_their_times(by_hand: Logged) -> None:
    by_hand.alter(ttl="t")
    assert by_hand.expiries() == []
    while not is_filled(by_hand):
        fill_a_piece(by_hand)
    assert by_hand.expiries() == all_expiries(by_hand)
    assert len(by_hand.expiries()) == 150
    assert by_hand.rows("SELECT * FROM backfill") == []


def test_writers_go_on_while_the_order_is_being_made(by_hand: Logged) -> None:
    """They change items before and behind the place up to which it is made."""
    chance = random.Random(11)
    by_hand.alter(ttl="t")
    while not is_filled(by_hand):
        fill_a_piece(by_hand)
        for _ in range(60):
            item_id = f"{chance.randrange(320):03}"
            match chance.randrange(4):
                case 0:
                    by_hand.delete(item_id)
                case 1:
                    by_hand.put(item_id, t={"S": "no time"})
                case _:
                    by_hand.put(item_id, t=LATER_S + chance.randrange(1_000))
    assert by_hand.expiries() == all_expiries(by_hand)


def test_order_that_is_being_made_is_gone_on_with_after_a_new_open(tmp_path: Path, by_hand: Logged) -> None:
    by_hand.alter(ttl="t")
    fill_a_piece(by_hand)
    assert 0 < len(by_hand.expiries()) < 150
    by_hand.store.close()
    with opened(tmp_path / "test.db", ManualClock(NOW_S * 1_000_000)) as logged:
        logged.clock.advance(0)
        assert is_filled(logged)
        assert logged.expiries() == all_expiries(logged)


def test_time_to_live_that_is_turned_off_deletes_nothing(logged: Logged) -> None:
    logged.put("a", t=NOW_S + 10)
    logged.alter(ttl=None)
    logged.clock.advance(60)
    assert logged.ids() == ["a"]
    assert logged.rows("SELECT name FROM sqlite_schema WHERE name GLOB 'expiry_*'") == []
    assert logged.rows("SELECT * FROM dropped") == []


def test_time_to_live_that_is_turned_on_again_knows_all_items(logged: Logged) -> None:
    logged.put("before", t=LATER_S)
    logged.alter(ttl=None)
    logged.put("between", t=LATER_S + 1)
    logged.put("before", t=LATER_S + 2)
    logged.alter(ttl="t")
    logged.put("behind", t=LATER_S + 3)
    finish_filling(logged)
    assert logged.expiries() == [(LATER_S + 1, "between"), (LATER_S + 2, "before"), (LATER_S + 3, "behind")]


def test_time_to_live_that_moves_to_another_attribute_forgets_the_first(logged: Logged) -> None:
    logged.put("a", t=LATER_S, u=LATER_S + 1)
    logged.alter(ttl="u")
    finish_filling(logged)
    assert logged.expiries() == [(LATER_S + 1, "a")]


def test_time_to_live_that_is_turned_off_while_it_is_being_made_leaves_nothing(by_hand: Logged) -> None:
    by_hand.alter(ttl="t")
    fill_a_piece(by_hand)
    by_hand.alter(ttl=None)
    while not by_hand.store.background.piece():
        pass
    assert by_hand.rows("SELECT * FROM backfill") == []
    assert by_hand.rows("SELECT name FROM sqlite_schema WHERE name GLOB 'expiry_*'") == []


def test_deleted_table_leaves_no_order_behind(logged: Logged) -> None:
    logged.put("a", t=LATER_S)
    logged.delete_table()
    logged.clock.advance(0)
    assert logged.rows("SELECT name FROM sqlite_schema WHERE name GLOB 'expiry_*'") == []


def test_store_that_does_not_sweep_leaves_items_until_it_is_told(tmp_path: Path) -> None:
    clock = ManualClock(NOW_S * 1_000_000)
    with opened(tmp_path / "test.db", clock, sweep_s=None) as logged:
        logged.create(ttl="t")
        logged.put("a", t=NOW_S + 10)
        clock.advance(60)
        assert logged.ids() == ["a"]
        assert logged.store.background.sweep() == 1
        assert logged.ids() == []
