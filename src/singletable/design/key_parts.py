"""The parts of a key class: each field with its codec, and what computes it from an entity.

A shard spreads items by the hash of one of their fields; a bucket is the year, month, week or day of a time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from hashlib import blake2b
from typing import Annotated, Any, Final, get_args, get_origin

from singletable.design.key_constraints import Check, check_for
from singletable.design.key_numbers import AttributeNumberCodec
from singletable.design.key_times import BucketCodec, DateTimeCodec
from singletable.design.key_values import ShardCodec, ValueCodec, codec_for, unwrap
from singletable.design.markers import BucketOf, ShardOf
from singletable.errors import DeclarationError

_TIMES: Final = DateTimeCodec()


@dataclass(frozen=True, slots=True)
class Part:
    """One field of a key class: how its value is written, and what computes it when an entity is."""

    name: str
    annotation: Any
    codec: ValueCodec
    source: ShardOf | BucketOf | None
    check: Check | None = None  # of Pydantic's constraints

    @property
    def reads(self) -> str:
        """Name the field of the entity that the part comes from."""
        return self.source.by if self.source else self.name

    def of(self, values: Mapping[str, Any]) -> Any:
        """Return the part's value for the values of an entity; None if it has none."""
        if self.source is None:
            return values.get(self.name)
        value = values.get(self.source.by)
        if value is None:
            return None
        if isinstance(self.source, ShardOf):
            return shard_of(value, self.source.count)
        return bucket_of(value, self.source.every)


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
            return Part(name, annotation, BucketCodec(every), source)
        case _:
            codec = codec_for(annotation, spec, where=where)
            return Part(name, annotation, codec, None, check_for(*unwrap(annotation), where=where))


def attribute_of(name: str, annotation: Any, *, where: str) -> Part:
    """Compile a field that is an attribute by itself. A number is stored as one, so it has any decimals."""
    base = get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation
    base = getattr(base, "__supertype__", base)
    if _source(annotation) is not None:
        raise DeclarationError(
            f"{where}: shards and time buckets are parts of a template, not attributes of their own"
        )
    if base in (float, Decimal):
        check = check_for(*unwrap(annotation), where=where)
        return Part(name, annotation, AttributeNumberCodec(base), None, check)
    return part_of(name, annotation, "", where=where)


def _source(annotation: Any) -> ShardOf | BucketOf | None:
    markers = get_args(annotation)[1:] if get_origin(annotation) is Annotated else ()
    return next((marker for marker in markers if isinstance(marker, ShardOf | BucketOf)), None)


def _require(annotation: Any, kind: type[Any], source: ShardOf | BucketOf, where: str) -> None:
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
    """Return the year, month, ISO week or day of a time, in UTC."""
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
        case _:
            return value.isoformat()
