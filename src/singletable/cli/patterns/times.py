"""Times on the command line: ISO 8601, `now`, and what is so long before or after now."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import Final

TIME_HELP: Final = (
    "TIME is ISO 8601, as 2025-01-20T10:30 or 2025-01-20; without an offset it is UTC. Or: now, +2h, -3d "
    "(s, m, h, d, w)."
)
_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_SPAN: Final = re.compile(r"([+-]?)((?:\d+[smhdw])+)")
_PART: Final = re.compile(r"(\d+)([smhdw])")


def read_span(text: str) -> timedelta | None:
    """Return a length of time as `90m` or `-1d12h`; None if the text is none."""
    found = _SPAN.fullmatch(text)
    if found is None:
        return None
    parts = _PART.findall(found[2])
    length = sum((timedelta(**{_UNITS[unit]: int(count)}) for count, unit in parts), timedelta())
    return -length if found[1] == "-" else length


def read_time(text: str, now: datetime) -> datetime:
    """Return a moment, always with a time zone; raise ValueError if the text is none."""
    if text == "now":
        return now
    span = _relative(text)
    if span is not None:
        return now + span
    moment = datetime.fromisoformat(text)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment


def read_date(text: str, now: datetime) -> date:
    """Return a day, of UTC where it is told by now; raise ValueError if the text is none."""
    if text in ("now", "today"):
        return now.date()
    span = _relative(text)
    return date.fromisoformat(text) if span is None else (now + span).date()


def _relative(text: str) -> timedelta | None:
    """Return the distance from now: with a sign, since 2025 is a year and 5d could be anything."""
    return read_span(text) if text[:1] in ("+", "-") else None
