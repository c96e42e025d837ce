"""Pydantic's constraints on a value beyond its type, `Field(ge=1, le=53)`: parsed, as text and as data.

Errors use Pydantic's words, except for regular expressions, which say little to people. There they use the type's
description, `Field(pattern="^[a-z]+$", description="lower case letters")`, or else an example value that matches.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from string import ascii_lowercase, ascii_uppercase, digits
from types import UnionType
from typing import Annotated, Any, Final, Union, get_args, get_origin
from uuid import UUID

from annotated_types import BaseMetadata, Unit
from pydantic import BaseModel, GetCoreSchemaHandler, Strict
from pydantic.fields import FieldInfo
from pydantic.types import UuidVersion
from pydantic_core import CoreSchema, core_schema, to_json

from singletable.design.values.annotations import plain_value
from singletable.design.values.conditions import Condition, condition_data
from singletable.errors import DeclarationError

_NAMES: Final = ("ge", "gt", "le", "lt", "multiple_of", "min_length", "max_length", "pattern")


def flat(markers: Iterable[object]) -> Iterator[object]:
    """Return single markers from groups: from a `Field`, and from annotated_types' Interval or Len."""
    for each in markers:
        members = getattr(each, "metadata", None)  # of a Field
        if members is None and isinstance(each, Iterable) and not isinstance(each, str):
            members = each  # annotated_types.GroupedMetadata, as Interval or Len
        if members is None:
            yield each
        else:
            yield from flat(members)


def constraints_in(markers: Iterable[object]) -> list[object]:
    """Return the constraints among markers, without functions that may change a value."""
    return [each for each in flat(markers) if _is_constraint(each)]


def _is_constraint(marker: object) -> bool:
    return isinstance(marker, BaseMetadata | UuidVersion) and not isinstance(marker, Strict | Unit)


def values_of(constraints: Iterable[object], *names: str) -> Iterator[Any]:
    """Return the values of the constraints with these names."""
    for each in constraints:
        yield from (value for name in names if (value := getattr(each, name, None)) is not None)


def constraints_text(constraints: Iterable[object]) -> str:
    """Return constraints as text: ge=2000, pattern='^[a-z]+$'."""
    texts = []
    for each in flat(constraints):
        known = [f"{name}={value!r}" for name in _NAMES for value in values_of([each], name)]
        texts += known or [repr(each)]
    return ", ".join(texts)


# --- as data --------------------------------------------------------------------------------------------


def marker_data(markers: Iterable[object]) -> Iterator[dict[str, object]]:
    """Return markers as data: their kinds and their values."""
    for marker in markers:
        if hasattr(marker, "metadata"):  # a Field
            yield from marker_data(marker.metadata)
        elif is_dataclass(marker):
            yield {"kind": type(marker).__name__, **_values(marker)}
        elif isinstance(marker, BaseMetadata):  # Pydantic's own: it has no class for each, only their names
            yield from ({"kind": name, "value": plain_value(value)} for name, value in vars(marker).items())
        else:
            yield {"kind": type(marker).__name__}


def _values(marker: Any) -> dict[str, object]:
    given = {field.name: getattr(marker, field.name) for field in fields(marker)}
    return {
        name: condition_data(value) if isinstance(value, Condition) else plain_value(value)
        for name, value in given.items()
        if value is not None
    }


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

# Texts have only letters and digits: other characters may be separators in a key.
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
class SizeLimits:
    """The limits of a value's size. Whether a limit itself is allowed is found by trying."""

    low: Any = None
    high: Any = None
    step: Any = None
    length_min: int = 0
    length_max: int | None = None

    @classmethod
    def of(cls, constraints: Iterable[object]) -> SizeLimits:
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
        """Return how many members a sample collection has: at least one."""
        return max(1, self.length_min)


def candidates(kind: type[Any], name: str, limits: SizeLimits) -> Iterator[Any]:
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


def _numbers(limits: SizeLimits, *, is_whole: bool) -> Iterator[Decimal]:
    low, high, step = map(_exact, (limits.low, limits.high, limits.step or 1))
    assert step is not None
    first = None if low is None else (low / step).to_integral_value(ROUND_CEILING) * step
    last = None if high is None else (high / step).to_integral_value(ROUND_FLOOR) * step
    yield from _beside(SizeLimits(low=first, high=last), step)
    yield from (step * number for number in range(1, _TRIES + 1))
    if low is not None and high is not None and not is_whole:
        yield from (low + (high - low) * number / 8 for number in range(1, 8))


def _exact(value: object) -> Decimal | None:
    return None if value is None else Decimal(str(value))


def _beside(limits: SizeLimits, step: Any) -> Iterator[Any]:
    """Return the values from the lower limit up, and from the upper one down."""
    # One more than is asked for: a limit may be excluded.
    for number in range(_TRIES + 1):
        if limits.low is not None:
            yield limits.low + number * step
        if limits.high is not None:
            yield limits.high - number * step


def _texts(plain: list[str], limits: SizeLimits) -> Iterator[str]:
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


_PATTERN: Final = "string_pattern_mismatch"
# Readable texts come first, then any text that fits.
_TEXTS_TO_TRY: Final = ("niagara", "la-cantina", "Niagara", "NIAGARA", "AB12", "AB-12", "ab12", "12345")


def problem_text(problem: Mapping[str, Any], annotation: Any = None) -> str:
    """Say what is wrong with a value of a type, by one of the errors of Pydantic's ValidationError."""
    if problem["type"] != _PATTERN:
        return str(problem["msg"])
    words = _words_at(annotation, problem["loc"])
    if words is not None:
        return f"it should be {words}"
    example = _example(problem.get("ctx", {}).get("pattern", ""))
    return "it should have another form" + ("" if example is None else f", as {example!r} has")


def _words_at(annotation: object, place: Iterable[int | str]) -> str | None:
    """Return the description of a type's values, or of the values at a location inside them."""
    words = _words(annotation)
    for step in place:
        field = next((each[step] for each in _fields(annotation) if step in each), None)
        if field is not None:
            words, annotation = field.description or _words(field.annotation), field.annotation
        else:  # a member of a list
            words = next(filter(None, map(_words, get_args(annotation))), words)
    return words


def _words(annotation: object) -> str | None:
    if get_origin(annotation) is Annotated:
        said = (getattr(each, "description", None) for each in get_args(annotation)[1:])
        return next(filter(None, said), None)
    if get_origin(annotation) in (Union, UnionType):
        return next(filter(None, map(_words, get_args(annotation))), None)
    return None


def _fields(annotation: object) -> Iterator[Mapping[Any, FieldInfo]]:
    """Return the fields of a model, or of the models that a type is made of."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation.model_fields
    for each in get_args(annotation):
        yield from _fields(each)


def _example(pattern: str) -> str | None:
    try:
        fits = re.compile(pattern).search
    except re.error:
        return None
    return next(filter(fits, (*_TEXTS_TO_TRY, *candidates(str, "text", SizeLimits()))), None)


@dataclass(frozen=True, slots=True)
class MaxBytes:
    """The value has at most this many bytes, as JSON before compression; a larger one is refused.

    If all fields of an entity are bounded, so is its item, and so are its costs: a write costs the whole size.
    """

    count: int

    def __post_init__(self) -> None:
        if self.count < 1:
            raise DeclarationError(f"{self!r} allows nothing", hint="MaxBytes(64_000)")

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._check, handler(source))

    def _check(self, value: object) -> object:
        size = len(to_json(value))
        if size > self.count:
            raise ValueError(f"it has {size:,} bytes, and {self.count:,} are allowed")
        return value


def is_waived() -> bool:
    """Tell whether constraints are off, because keys are built from sample values."""
    return _is_waived.get()


_is_waived: ContextVar[bool] = ContextVar("_is_waived", default=False)


@contextmanager
def without_constraints() -> Iterator[None]:
    """Turn constraints off while keys are built from sample values, which stand for values of a caller."""
    token = _is_waived.set(True)
    try:
        yield
    finally:
        _is_waived.reset(token)
