"""Values to try where a type has constraints: plain ones first, then those beside its limits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Any, Final
from uuid import UUID

from singletable.design.constraints import flat, values_of

SAMPLE_TIME: Final = datetime(2025, 1, 20, 10, 30, tzinfo=UTC)
_TRIES: Final = 4  # values of each kind
_TEXT_LENGTH_MAX: Final = 64  # that is tried for a pattern
_EXAMPLES: Final = (
    "{n}@example.com",
    "https://example.com/{n}",
    "2025-01-{n:02}",
    "2025-{n:02}",
    "2025-W{n:02}",
    "{n:02}:30",
    "2025-01-{n:02}T10:30:00Z",
    "+4670123456{n}",
    "{n}.0",
    "{n}.0.0",
    "00000000-0000-0000-0000-{n:012}",
)

# Texts are letters and digits, because anything else may separate the parts of a key.
DEFAULTS: Final[dict[type[Any], Callable[[str, int], Any]]] = {
    str: lambda name, variant: f"{name.replace('_', '')}{variant + 1}",
    bool: lambda name, variant: bool(variant),
    int: lambda name, variant: variant + 1,
    float: lambda name, variant: variant + 1.0,
    Decimal: lambda name, variant: Decimal(variant + 1),
    bytes: lambda name, variant: bytes([variant + 1]),
    datetime: lambda name, variant: SAMPLE_TIME + timedelta(days=variant),
    date: lambda name, variant: (SAMPLE_TIME + timedelta(days=variant)).date(),
    timedelta: lambda name, variant: timedelta(days=variant + 1),
    UUID: lambda name, variant: UUID(int=variant + 1),
}


@dataclass(frozen=True, slots=True)
class Limits:
    """What constraints say of a value's size. Whether they include the limit itself is found out by trying."""

    low: Any = None
    high: Any = None
    step: Any = None
    length_min: int = 0
    length_max: int | None = None

    @classmethod
    def of(cls, constraints: Iterable[Any]) -> Limits:
        """Read the limits off constraints, also off those of a `Field` or another group."""
        said = list(flat(constraints))
        return cls(
            low=max(values_of(said, "ge", "gt"), default=None),
            high=min(values_of(said, "le", "lt"), default=None),
            step=next(values_of(said, "multiple_of"), None),
            length_min=max(values_of(said, "min_length"), default=0),
            length_max=min(values_of(said, "max_length"), default=None),
        )

    @property
    def count_min(self) -> int:
        """Return how many members a collection is made with: one, where it may be empty."""
        return max(1, self.length_min)


def candidates(kind: type[Any], name: str, limits: Limits) -> Iterator[Any]:
    """Return values of a type to try, each once."""
    plain = [DEFAULTS[kind](name, variant) for variant in range(_TRIES)]
    if kind is str:
        more = _texts(plain, limits)
    elif kind is bytes:
        more = (each.ljust(limits.length_min, b"\0") for each in plain)
    elif kind in (int, float, Decimal):
        more = map(kind, _numbers(limits, is_whole=kind is int))
    elif kind in (datetime, date, timedelta):
        more = _beside(limits, timedelta(days=1))
    else:
        more = iter(())
    return iter(dict.fromkeys([*plain, *more]))


def _numbers(limits: Limits, *, is_whole: bool) -> Iterator[Decimal]:
    low, high, step = map(_exact, (limits.low, limits.high, limits.step or 1))
    assert step is not None
    first = None if low is None else (low / step).to_integral_value(ROUND_CEILING) * step
    last = None if high is None else (high / step).to_integral_value(ROUND_FLOOR) * step
    yield from _beside(Limits(low=first, high=last), step)
    yield from (step * number for number in range(1, _TRIES + 1))
    if low is not None and high is not None and not is_whole:
        yield from (low + (high - low) * number / 8 for number in range(1, 8))


def _exact(value: Any) -> Decimal | None:
    return None if value is None else Decimal(str(value))


def _beside(limits: Limits, step: Any) -> Iterator[Any]:
    """Return the values from the lower limit up, and from the upper one down."""
    # One more than is asked for: a limit may be excluded.
    for number in range(_TRIES + 1):
        if limits.low is not None:
            yield limits.low + number * step
        if limits.high is not None:
            yield limits.high - number * step


def _texts(plain: list[str], limits: Limits) -> Iterator[str]:
    """Return texts of the lengths that are allowed: names, then texts of one alphabet, then common forms."""
    longest = _TEXT_LENGTH_MAX if limits.length_max is None else limits.length_max
    for text in plain:
        number, stem = text[-1], text[:-1]
        yield stem[: max(0, longest - 1)] + number.rjust(max(1, limits.length_min - len(stem)), "0")
    for length in range(max(1, limits.length_min), min(longest, _TEXT_LENGTH_MAX) + 1):
        for alphabet in (ascii_lowercase, ascii_uppercase, digits):
            yield from (letter.rjust(length, alphabet[0]) for letter in alphabet[1 : _TRIES + 1])
    for example in _EXAMPLES:
        yield from (example.format(n=number) for number in range(1, _TRIES + 1))
