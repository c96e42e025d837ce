"""Validation of the lunches that a parser has found: valid ones are kept, errors are listed.

A lunch is kept when its name, price and weekday are right and nothing says that it belongs to another place or
week. `week` and `place` that were not found follow from the menu (LC-21).

Two shares tell how good a menu is, rounded to four decimals; both are 0 where nothing was found:

completeness   of the names, prices and weekdays that its lunches ought to have, those that are there
accuracy       of all values that are there, those that are right
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final, get_args
from unicodedata import normalize

from singletable_systems.lunch_cache.model.entities import DataQuality, Lunch, ValidationIssue, Weekday
from singletable_systems.lunch_cache.model.keys import slug
from singletable_systems.lunch_cache.model.weeks import Week

ISSUES_MAX: Final = 100  # of a menu, so that a page of nonsense is no item of 400 KB
PRICE_MAX: Final = Decimal(100_000)  # a higher one is two numbers that have run together

_REQUIRED: Final = ("name", "price", "weekday")  # 004:70-75; week and place follow from the menu
_WEEKDAYS: Final[tuple[str, ...]] = get_args(Weekday)
_SHORT: Final = {day[:3]: day for day in _WEEKDAYS} | {"tors": "torsdag"}
_PRICE: Final = re.compile(
    r"(?:sek|kr)?\s*(?P<kronor>[0-9]{1,3}(?:[ \u00a0][0-9]{3})+|[0-9]+)(?:[.,](?P<ore>[0-9]{1,2}))?"
    r"\s*(?:[:,.]?-|kr\.?|sek|kronor)?"
)
_WEEK: Final = re.compile(r"(?:v|vecka)?\.?\s*([0-9]{1,2})")
_SHARE: Final = Decimal("0.0001")
_SHOWN_MAX: Final = 60


@dataclass(frozen=True, slots=True)
class Validated:
    """The valid lunches of a menu, the errors of the others, and the quality of both."""

    lunches: list[Lunch]
    issues: list[ValidationIssue]
    quality: DataQuality


def validate(found: Sequence[object], *, place: str, week: Week) -> Validated:
    """Read lunches as a parser has found them, for the menu of a place in a week."""
    reading = _Reading(place, week)
    lunches = [reading.lunch(f"lunches[{number}]", each) for number, each in enumerate(found)]
    quality = DataQuality(
        completeness=_share(reading.required_there, len(_REQUIRED) * len(found)),
        accuracy=_share(reading.there - reading.wrong, reading.there),
    )
    return Validated([lunch for lunch in lunches if lunch is not None], reading.first_issues(), quality)


def _share(part: int, whole: int) -> Decimal:
    return (Decimal(part) / whole).quantize(_SHARE) if whole else Decimal(0)


# --- a lunch ----------------------------------------------------------------------------------------------


class _WrongError(Exception):
    """A value that is not right; the message says why."""


@dataclass(slots=True)
class _Reading:
    """Reads lunches one by one, and counts the values that are there and those that are wrong."""

    place: str
    week: Week
    issues: list[ValidationIssue] = field(default_factory=list)
    there: int = 0
    required_there: int = 0
    wrong: int = 0

    def lunch(self, where: str, found: object) -> Lunch | None:
        if not isinstance(found, Mapping):
            self.there += 1
            self._note_wrong(where, f"{_shown(found)} is no lunch")
            return None
        values: dict[str, Any] = {"week": self.week.number, "place": self.place}
        is_right = True
        for name, read in _READERS.items():
            value = found.get(name)
            if not _is_there(value):
                if name in _REQUIRED:
                    self._note(f"{where}.{name}", "is missing")
                    is_right = False
                continue
            self.there += 1
            self.required_there += name in _REQUIRED
            try:
                values[name] = read(value, self)
            except _WrongError as error:
                self._note_wrong(f"{where}.{name}", str(error))
                # Without its description it is still a lunch. With another week it is one of another menu.
                is_right = is_right and name == "description"
        return Lunch(**values) if is_right else None

    def first_issues(self) -> list[ValidationIssue]:
        """Return the issues: all of them, or the first ones and how many more there are."""
        more = len(self.issues) - ISSUES_MAX
        if more <= 0:
            return self.issues
        rest = ValidationIssue(field="lunches", message=f"{more + 1} more errors")
        return [*self.issues[: ISSUES_MAX - 1], rest]

    def _note(self, where: str, message: str) -> None:
        self.issues.append(ValidationIssue(field=where, message=message))

    def _note_wrong(self, where: str, message: str) -> None:
        self._note(where, message)
        self.wrong += 1


# --- its values -------------------------------------------------------------------------------------------


def _is_there(value: object) -> bool:
    return value is not None and not (isinstance(value, str) and not value.strip())


def _text(value: object, reading: _Reading) -> str:
    if not isinstance(value, str):
        raise _WrongError(f"{_shown(value)} is no text")
    return " ".join(normalize("NFC", value).split())


def _price(value: object, reading: _Reading) -> Decimal:
    price = _number(value)
    if price is None:
        raise _WrongError(f"{_shown(value)} is no price")
    if not 0 < price <= PRICE_MAX:
        raise _WrongError(f"{_shown(value)} is not between 0 and {PRICE_MAX}")
    if price != round(price, 2):
        raise _WrongError(f"{_shown(value)} has more than two decimals")
    return price


def _number(value: object) -> Decimal | None:
    """Return a number, however a page writes it: 125, 125.5, "125 kr", "125:-", "1 250,50 SEK"."""
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        number = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
        return number if number.is_finite() else None
    match = _PRICE.fullmatch(value.strip().casefold()) if isinstance(value, str) else None
    if match is None:
        return None
    kronor = "".join(match["kronor"].split())
    return Decimal(f"{kronor}.{match['ore'] or '0'}").normalize()


def _weekday(value: object, reading: _Reading) -> str:
    text = normalize("NFC", value).casefold().strip(" .:") if isinstance(value, str) else ""
    day = text if text in _WEEKDAYS else _SHORT.get(text)
    if day is None:
        raise _WrongError(f"{_shown(value)} is no Swedish weekday")
    return day


def _week(value: object, reading: _Reading) -> int:
    match = _WEEK.fullmatch(str(value).strip().casefold()) if isinstance(value, str | int) else None
    if match is None or isinstance(value, bool):
        raise _WrongError(f"{_shown(value)} is no week")
    if int(match[1]) != reading.week.number:
        raise _WrongError(f"{int(match[1])} is not the menu's week, {reading.week.number}")
    return reading.week.number


def _place(value: object, reading: _Reading) -> str:
    if slug(_text(value, reading)) != slug(reading.place):
        raise _WrongError(f"{_shown(value)} is not the menu's place, {reading.place}")
    return reading.place


_READERS: Final[Mapping[str, Callable[[object, _Reading], Any]]] = {
    "name": _text,
    "description": _text,
    "price": _price,
    "weekday": _weekday,
    "week": _week,
    "place": _place,
}


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN_MAX else f"{text[:_SHOWN_MAX]}…"
