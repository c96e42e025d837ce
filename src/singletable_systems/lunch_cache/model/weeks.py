"""Weeks as ISO 8601 counts them, of the days in Stockholm.

The year is that of the week, not of the calendar (LC-02): 2024-12-30 is in week 1 of 2025, 2027-01-01 in week 53
of 2026.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from singletable.errors import SingleTableError

ZONE: Final = "Europe/Stockholm"


class TimeZoneMissingError(SingleTableError):
    """This machine has no time zones, and the package that has them is not installed."""

    def __init__(self) -> None:
        super().__init__(
            f"this machine does not know the time zone {ZONE}",
            hint="pip install 'singletable[systems]', which has all time zones",
        )


@dataclass(frozen=True, slots=True, order=True)
class Week:
    """A week: the year that it belongs to, and its number, from 1 to 52 or 53."""

    year: int
    number: int

    def __post_init__(self) -> None:
        date.fromisocalendar(self.year, self.number, 1)  # not every year has a week 53

    @classmethod
    def of_day(cls, day: date) -> Self:
        """Return the week that a day is in."""
        if isinstance(day, datetime):
            raise TypeError(
                "a moment is in different weeks in different zones: this_week(moment) takes Stockholm's"
            )
        year, number, _ = day.isocalendar()
        return cls(year, number)

    @property
    def monday(self) -> date:
        return date.fromisocalendar(self.year, self.number, 1)

    def after(self, weeks: int) -> Self:
        """Return the week so many weeks later; earlier, if the number is negative."""
        return self.of_day(self.monday + timedelta(weeks=weeks))

    def __str__(self) -> str:
        return f"{self.year}-W{self.number:02}"


def this_week(now: datetime) -> Week:
    """Return the week that it is in Stockholm at a moment."""
    if now.utcoffset() is None:
        raise ValueError(f"{now.isoformat()} has no time zone: datetime.now(UTC)")
    try:
        zone = ZoneInfo(ZONE)
    except ZoneInfoNotFoundError as error:
        raise TimeZoneMissingError from error
    return Week.of_day(now.astimezone(zone).date())
