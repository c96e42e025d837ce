"""Times inside keys: each kind has one format of fixed width, so that texts are in the order of the times."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, Final, Literal

from singletable.design.keys.codecs import ValueCodec, plain_text, wrong_type
from singletable.errors import KeyValueError

_YEAR: Final = "(?!0000)[0-9]{4}"
_MONTH: Final = "(?:0[1-9]|1[0-2])"
_WEEK: Final = "(?:0[1-9]|[1-4][0-9]|5[0-3])"
_DAY: Final = "(?:0[1-9]|[12][0-9]|3[01])"
_TIME: Final = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{3}"

_TWO: Final = tuple(f"{number:02}" for number in range(60))
_THREE: Final = tuple(f"{number:03}" for number in range(1000))

Every = Literal["year", "month", "week", "day", "never"]


@dataclass(frozen=True)
class DateTimeCodec(ValueCodec):
    """A moment, in UTC and to the millisecond: `2025-01-20T10:30:00.000Z`."""

    @property
    def pattern(self) -> str:
        return f"{_YEAR}-{_MONTH}-{_DAY}T{_TIME}Z"

    @property
    def width_fixed(self) -> int:
        return len("2025-01-20T10:30:00.000Z")

    def normalize(self, value: object) -> datetime:
        if not isinstance(value, datetime):
            wrong_type(value, "a datetime")
        moment = value if value.tzinfo is UTC else _in_utc(value)
        beyond = moment.microsecond % 1000
        return moment.replace(microsecond=moment.microsecond - beyond) if beyond else moment

    def render(self, value: Any) -> str:
        # Three times as fast as isoformat(), which asks for the offset.
        day = f"{value.year:04}-{_TWO[value.month]}-{_TWO[value.day]}"
        time = f"{_TWO[value.hour]}:{_TWO[value.minute]}:{_TWO[value.second]}"
        return f"{day}T{time}.{_THREE[value.microsecond // 1000]}Z"

    def describe(self) -> str:
        return "time like 2025-01-20T10:30:00.000Z"

    def _read(self, text: str) -> datetime:
        try:
            return datetime.fromisoformat(text)
        except ValueError:  # a day that its month does not have
            raise KeyValueError(f"{text!r} is no {self.describe()}") from None


def _in_utc(value: datetime) -> datetime:
    if value.utcoffset() is None:
        raise KeyValueError(
            f"{value.isoformat()} has no time zone, so its place among other times is not known",
            hint="datetime.now(UTC), or value.replace(tzinfo=UTC) if it is in UTC",
        )
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise KeyValueError(f"{value.isoformat()} is not within the years 1 to 9999 in UTC") from None


@dataclass(frozen=True)
class DateCodec(ValueCodec):
    """A day: `2025-01-20`."""

    @property
    def pattern(self) -> str:
        return f"{_YEAR}-{_MONTH}-{_DAY}"

    @property
    def width_fixed(self) -> int:
        return len("2025-01-20")

    def normalize(self, value: object) -> date:
        if isinstance(value, datetime):
            wrong_type(value, "a date", hint="value.date() is the day in the value's own time zone")
        if not isinstance(value, date):
            wrong_type(value, "a date")
        return value

    def render(self, value: Any) -> str:
        return value.isoformat()  # type: ignore[no-any-return]

    def describe(self) -> str:
        return "day like 2025-01-20"

    def _read(self, text: str) -> date:
        try:
            return date.fromisoformat(text)
        except ValueError:  # a day that its month does not have
            raise KeyValueError(f"{text!r} is no {self.describe()}") from None


@dataclass(frozen=True)
class BucketCodec(ValueCodec):
    """The text of a span of time: `2025`, `2025-01`, `2025-W04` or `2025-01-20`. Of all time, it is nothing."""

    every: Every

    @property
    def is_omitted(self) -> bool:  # type: ignore[override]  # depends on the span
        return self.every == "never"

    @property
    def pattern(self) -> str:
        match self.every:
            case "year":
                return _YEAR
            case "month":
                return f"{_YEAR}-{_MONTH}"
            case "week":
                return f"{_YEAR}-W{_WEEK}"
            case "day":
                return f"{_YEAR}-{_MONTH}-{_DAY}"
            case "never":
                return ""

    @property
    def width_fixed(self) -> int:
        return {"year": 4, "month": 7, "week": 8, "day": 10, "never": 0}[self.every]

    def normalize(self, value: object) -> str:
        text = plain_text(value)
        if self._match(text) is None:
            raise KeyValueError(f"{text!r} is no {self.describe()}", hint=self._hint())
        return text

    def render(self, value: Any) -> str:
        return value  # type: ignore[no-any-return]  # normalized

    def _hint(self) -> str | None:
        if not self.is_omitted:
            return None
        return 'BucketOf(..., "never") has one bucket, "", with the items of every time; buckets() names it'

    def describe(self) -> str:
        if self.is_omitted:
            return "bucket of a key that is not divided by time"
        sample = {"year": "2025", "month": "2025-01", "week": "2025-W04", "day": "2025-01-20"}[self.every]
        return f"{self.every} like {sample}"

    def _read(self, text: str) -> str:
        return text
