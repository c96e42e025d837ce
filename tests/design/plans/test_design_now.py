"""The time of an open design: that of its clock, as times are stored."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from designs.kefir import Kefir, KefirTable, MetadataSK, User, UserId, UserPK
from singletable import Design, Get, pattern
from singletable.clock import ManualClock, SystemClock
from singletable.errors import DeclarationError
from support.opened_designs import opened_design
from support.targets import TARGETS


@pytest.mark.parametrize("target", TARGETS)
def test_now_is_the_time_of_the_clock_in_milliseconds(target: str) -> None:
    clock = ManualClock(1_700_000_000_123_999)
    with opened_design(Kefir, target, clock, stage="test") as db:
        assert db.now() == datetime(2023, 11, 14, 22, 13, 20, 123_000, tzinfo=UTC)
        assert db.now().tzinfo is UTC
        clock.advance(1.5)
        assert db.now() == datetime(2023, 11, 14, 22, 13, 21, 623_000, tzinfo=UTC)


def test_what_is_written_now_has_that_time() -> None:
    with opened_design(Kefir, "embedded", ManualClock(1_700_000_000_123_999), stage="test") as db:
        written = db.create(User(user_id=UserId("u1"), email="anna@example.com"))
        assert written.entity.created_at == db.now()


@pytest.mark.parametrize("target", TARGETS)
def test_clock_is_the_one_that_the_design_was_opened_with(target: str) -> None:
    clock = ManualClock()
    with opened_design(Kefir, target, clock, stage="test") as db:
        assert db.clock is clock


def test_design_that_is_opened_without_a_clock_has_that_of_the_machine() -> None:
    with opened_design(Kefir, "embedded", stage="test") as db:
        assert isinstance(db.clock, SystemClock)


def test_design_that_is_not_open_has_no_time() -> None:
    with pytest.raises(DeclarationError, match="Kefir is not open"):
        Kefir().now()
    with pytest.raises(DeclarationError, match="Kefir is not open"):
        _ = Kefir().clock


def test_pattern_cannot_be_called_now() -> None:
    with pytest.raises(
        DeclarationError, match="a pattern cannot be called 'now', which every design has already"
    ):

        class Timely(Design):
            table = KefirTable
            entities = (User,)

            @pattern("1 Get a user")
            def now(self, user_id: UserId) -> Get[User]:  # type: ignore[override]
                return User.key.get(UserPK(user_id=user_id), MetadataSK())
