"""Weeks: by ISO 8601, of the days in Stockholm."""

from __future__ import annotations

import sys
import zoneinfo
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from singletable_systems.lunch_cache.model.weeks import TimeZoneMissingError, Week, this_week

DAYS = [
    ("2024-12-29", "2024-W52"),
    ("2024-12-30", "2025-W01"),  # LC-02: in the calendar it is still 2024
    ("2025-01-20", "2025-W04"),  # LC-09
    ("2025-03-02", "2025-W09"),
    ("2025-03-03", "2025-W10"),
    ("2026-12-31", "2026-W53"),
    ("2027-01-01", "2026-W53"),  # LC-02
    ("2027-01-03", "2026-W53"),
    ("2027-01-04", "2027-W01"),
]


@pytest.mark.parametrize(("day", "week"), DAYS)
def test_day_is_in_the_week_of_its_week_year(day: str, week: str) -> None:
    assert str(Week.of_day(date.fromisoformat(day))) == week


MOMENTS = [
    (datetime(2025, 1, 19, 22, 59, 59, tzinfo=UTC), Week(2025, 3)),
    (datetime(2025, 1, 19, 23, 0, tzinfo=UTC), Week(2025, 4)),  # midnight in Stockholm, in winter
    (datetime(2025, 7, 6, 21, 59, 59, tzinfo=UTC), Week(2025, 27)),
    (datetime(2025, 7, 6, 22, 0, tzinfo=UTC), Week(2025, 28)),  # midnight in Stockholm, in summer
    (datetime(2026, 12, 31, 23, 30, tzinfo=UTC), Week(2026, 53)),
    (datetime(2027, 1, 3, 23, 0, tzinfo=UTC), Week(2027, 1)),
    (datetime(2025, 1, 20, 8, 0, tzinfo=ZoneInfo("Asia/Tokyo")), Week(2025, 4)),
    (datetime(2025, 1, 20, 7, 59, tzinfo=ZoneInfo("Asia/Tokyo")), Week(2025, 3)),
    (datetime(2025, 1, 19, 18, 0, tzinfo=ZoneInfo("America/New_York")), Week(2025, 4)),
]


@pytest.mark.parametrize(("moment", "week"), MOMENTS)
def test_week_begins_at_midnight_in_stockholm(moment: datetime, week: Week) -> None:
    assert this_week(moment) == week


def test_moment_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="has no time zone"):
        this_week(datetime(2025, 1, 20))  # noqa: DTZ001
    with pytest.raises(TypeError, match="this_week"):
        Week.of_day(datetime(2025, 1, 20, tzinfo=UTC))


@pytest.mark.parametrize(("year", "number"), [(2025, 53), (2025, 0), (2025, -1), (2026, 54)])
def test_week_that_a_year_does_not_have_is_refused(year: int, number: int) -> None:
    with pytest.raises(ValueError, match="Invalid week"):
        Week(year, number)


@given(st.dates(date(2000, 1, 10), date(2100, 1, 1)), st.integers(-100, 100))
def test_weeks_follow_each_other_from_monday_to_monday(day: date, weeks: int) -> None:
    week = Week.of_day(day)
    assert week.monday <= day < week.monday + timedelta(days=7)
    assert week.monday.weekday() == 0
    assert week.after(weeks).monday == week.monday + timedelta(weeks=weeks)
    assert week.after(weeks).after(-weeks) == week
    assert (week.after(1) > week) is True


def test_machine_without_time_zones_is_one_error_with_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    # A zone that another test has read from the package leaves the package's folders imported.
    for name in {"tzdata", *(name for name in sys.modules if name.startswith("tzdata."))}:
        monkeypatch.setitem(sys.modules, name, None)
    zoneinfo.reset_tzpath(to=())
    zoneinfo.ZoneInfo.clear_cache()
    try:
        with pytest.raises(
            TimeZoneMissingError, match="does not know the time zone Europe/Stockholm"
        ) as caught:
            this_week(datetime(2026, 3, 4, tzinfo=UTC))
    finally:
        zoneinfo.reset_tzpath()
    assert "singletable[systems]" in str(caught.value.hint)
