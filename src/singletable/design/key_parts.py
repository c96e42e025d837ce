"""The parts of a key class: each field with its codec, and what computes it from an entity.

A shard spreads items by the hash of one of their fields; a bucket is the year, month, week or day of a time; an
initial is the first letters of a text. One shard, one bucket for all times and no letters render as nothing: a
design can begin with the plain key, and divide it later.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from hashlib import blake2b
from typing import Annotated, Any, Final, assert_never, get_args, get_origin

from singletable.design.key_constraints import Check, check_for, is_waived
from singletable.design.key_numbers import AttributeNumberCodec
from singletable.design.key_times import BucketCodec, DateTimeCodec, Every
from singletable.design.key_values import (
    InitialsCodec,
    ShardCodec,
    ValueCodec,
    codec_for,
    initials_codec,
    unwrap,
)
from singletable.design.markers import BucketOf, InitialOf, ShardOf
from singletable.errors import DeclarationError, KeyValueError

Source = ShardOf | BucketOf | InitialOf

_TIMES: Final = DateTimeCodec()


@dataclass(frozen=True, slots=True)
class Part:
    """One field of a key class: how its value is written, and what computes it when an entity is."""

    name: str
    annotation: Any
    codec: ValueCodec
    source: Source | None
    check: Check | None = None  # of Pydantic's constraints, or of a text that is to be cut

    @property
    def reads(self) -> str:
        """Name the field of the entity that the part comes from."""
        match self.source:
            case None:
                return self.name
            case InitialOf(of=field):
                return field
            case ShardOf(by=field) | BucketOf(by=field):
                return field
            case _:
                assert_never(self.source)

    @property
    def choices(self) -> Sequence[Any] | None:
        """Return every value of a computed part, whatever the item; None where they are not counted."""
        if isinstance(self.source, ShardOf):
            return range(self.source.count)
        return (self.codec.nothing,) if self.codec.is_omitted else None

    def of(self, values: Mapping[str, Any]) -> Any:
        """Return the part's value for the values of an entity; None if it has none."""
        if self.source is None:
            return values.get(self.name)
        value = values.get(self.reads)
        if value is None:
            return None
        match self.source:
            case ShardOf(count=count):
                return shard_of(value, count)
            case BucketOf(every=every):
                return bucket_of(value, every)
            case InitialOf():
                return value  # which the codec cuts


def part_of(name: str, annotation: Any, spec: str, *, where: str) -> Part:
    """Compile a field of a template: `{name:spec}`."""
    source = _source(annotation)
    match source:
        case ShardOf(count=count):
            _require(annotation, int, source, where)
            return Part(name, annotation, _shard_codec(count, spec, where), source)
        case BucketOf(every=every):
            _require(annotation, str, source, where)
            if spec:
                raise DeclarationError(f"{where}: a time bucket has no format {spec!r}")
            if every not in get_args(Every):
                raise DeclarationError(
                    f"{where}: no bucket is called {every!r}", hint=", ".join(get_args(Every))
                )
            return Part(name, annotation, BucketCodec(every), source)
        case InitialOf(letters=letters):
            _require(annotation, str, source, where)
            if spec:
                raise DeclarationError(f"{where}: initials have no format {spec!r}")
            codec = _initials_codec(annotation, letters, where)
            return Part(name, annotation, codec, source, _refusing_short(codec) if letters else None)
        case _:
            check = check_for(*unwrap(annotation), where=where)
            return Part(name, annotation, codec_for(annotation, spec, where=where), None, check)


def attribute_of(name: str, annotation: Any, *, where: str) -> Part:
    """Compile a field that is an attribute by itself. A number is stored as one, so it has any decimals."""
    base = get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation
    base = getattr(base, "__supertype__", base)
    if _source(annotation) is not None:
        raise DeclarationError(
            f"{where}: shards, time buckets and initials are parts of a template, not attributes of their own"
        )
    if base in (float, Decimal):
        check = check_for(*unwrap(annotation), where=where)
        return Part(name, annotation, AttributeNumberCodec(base), None, check)
    return part_of(name, annotation, "", where=where)


def _source(annotation: Any) -> Source | None:
    markers = get_args(annotation)[1:] if get_origin(annotation) is Annotated else ()
    return next((marker for marker in markers if isinstance(marker, Source)), None)


def _require(annotation: Any, kind: type[Any], source: Source, where: str) -> None:
    given = get_args(annotation)[0]
    if given is not kind:
        raise DeclarationError(
            f"{where} is {getattr(given, '__name__', given)}, and {type(source).__name__} makes "
            f"{'an' if kind is int else 'a'} {kind.__name__}",
            hint=f"Annotated[{kind.__name__}, {source}]",
        )


def _shard_codec(count: int, spec: str, where: str) -> ShardCodec:
    if spec and not (spec.isascii() and spec.isdigit() and spec.startswith("0") and int(spec) > 0):
        raise DeclarationError(f"{where}: a shard has no format {spec!r}", hint="02 pads it to two digits")
    try:
        return ShardCodec(count, int(spec) if spec else 1)
    except DeclarationError as error:
        raise DeclarationError(f"{where}: {error.message}", hint=error.hint) from None


def _initials_codec(annotation: Any, letters: int, where: str) -> InitialsCodec:
    try:
        return initials_codec(annotation, letters)
    except DeclarationError as error:
        raise DeclarationError(f"{where}: {error.message}", hint=error.hint) from None


def _refusing_short(codec: InitialsCodec) -> Check:
    """Return what refuses to look for a text shorter than its letters: longer ones are in other partitions."""

    def check(given: Any, value: Any) -> None:
        whole = codec.whole(given)
        if len(whole) < codec.letters and not is_waived():
            raise KeyValueError(
                f"{whole!r} is shorter than the {codec.letters} letters of the key, so no one key has all texts "
                "that begin so",
                hint=f"ask for at least {codec.letters} letters, or declare InitialOf() with fewer",
            )

    return check


def shard_of(value: Any, count: int) -> int:
    """Return the shard of a value. It never changes: stored keys depend on it."""
    if count == 1:
        return 0
    digest = blake2b(_constant_text(value).encode(), digest_size=2).digest()
    return int.from_bytes(digest, "big") % count


def _constant_text(value: Any) -> str:
    """Return a text that equal values share, whatever zone a time is in or class a text has."""
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, datetime):
        return _TIMES.render(_TIMES.normalize(value))
    return str(value)


def bucket_of(value: datetime | date, every: str) -> str:
    """Return the year, month, ISO week or day of a time, in UTC; nothing where times are not divided."""
    if isinstance(value, datetime):
        value = _TIMES.normalize(value).date()
    match every:
        case "year":
            return f"{value.year:04}"
        case "month":
            return f"{value.year:04}-{value.month:02}"
        case "week":
            year, week, _ = value.isocalendar()
            return f"{year:04}-W{week:02}"
        case "never":
            return ""
        case _:
            return value.isoformat()
