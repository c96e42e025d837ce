"""The parts of a key class: each field with its codec, what computes it, and what it may be asked for.

The codec of a field comes from its annotation, and from the format that its template gives it:

    class TopSK(SortKey, template="SCORE#{score}#{week:02}"):
        score: Annotated[int, Pad(10, offset=5_000_000_000)]
        week: int
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from hashlib import blake2b
from reprlib import Repr
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    NoReturn,
    TypeVar,
    Union,
    assert_never,
    get_args,
    get_origin,
)
from uuid import UUID

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic_core import SchemaError

from singletable.design.keys.codecs import (
    ChoiceCodec,
    InitialsCodec,
    ShardCodec,
    TextCodec,
    UuidCodec,
    ValueCodec,
)
from singletable.design.keys.numbers import AttributeNumberCodec, Kind, NumberCodec, PaddedCodec
from singletable.design.keys.times import BucketCodec, DateCodec, DateTimeCodec, Every
from singletable.design.values.annotations import unwrap
from singletable.design.values.constraints import (
    DEFAULTS,
    constraints_in,
    constraints_text,
    is_waived,
    problem_text,
)
from singletable.design.values.markers import BucketOf, InitialOf, ShardOf
from singletable.errors import DeclarationError, KeyValueError

# --- codecs ---------------------------------------------------------------------------------------

_ZEROS: Final = re.compile(r"0([1-9][0-9]?)d?")  # 02, 06d
_DECIMALS: Final = re.compile(r"(?:0([1-9][0-9]?))?\.([0-9]{1,2})f")  # .1f, 04.1f

_M = TypeVar("_M")


@dataclass(frozen=True, slots=True)
class Pad:
    """A number is written with so many characters, leading zeros included, after the offset is added to it.

    The texts sort as the numbers do. `Pad(4, decimals=1)` writes 4.5 as 04.5.
    """

    width: int
    decimals: int = 0
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Normalize:
    """A text is written in the form that a function gives it; reads use the same form."""

    function: Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Verbatim:
    """A text may hold the separators of its template. Its other fields must then tell where it begins and ends."""


def codec_for(annotation: object, spec: str = "", *, where: str = "a key field") -> ValueCodec:
    """Return the codec of a field's annotation, in the format that stands behind its name in the template."""
    base, markers = unwrap(annotation)
    pad = _marker(markers, Pad)
    normalize = _marker(markers, Normalize)
    is_verbatim = _marker(markers, Verbatim) is not None
    try:
        if (base is not str and normalize) or (pad and base not in (int, float, Decimal)):
            raise DeclarationError(f"{'Pad' if pad else 'Normalize'}() is not for {_name(base)}")
        if base in (int, float, Decimal):
            return _number_codec(base, spec, pad)
        if get_origin(base) is Literal:
            return ChoiceCodec(_members(get_args(base), spec), is_verbatim=is_verbatim)
        if isinstance(base, type) and issubclass(base, Enum):
            return ChoiceCodec(_members(list(base), spec), base, is_verbatim)
        if spec:
            _refuse_spec(spec, base)
        if base is str:
            return TextCodec(normalize.function if normalize else None, is_verbatim)
        return _codec_without_spec(base)
    except DeclarationError as error:
        raise DeclarationError(f"{where}: {error.message}", hint=error.hint) from None


def initials_codec(annotation: object, letters: int) -> InitialsCodec:
    """Return the codec of the first letters of a text, in the form that its annotation says."""
    _, markers = unwrap(annotation)
    normalize = _marker(markers, Normalize)
    is_verbatim = _marker(markers, Verbatim) is not None
    return InitialsCodec(normalize.function if normalize else None, is_verbatim, letters=letters)


def _marker(markers: Sequence[object], kind: type[_M]) -> _M | None:
    return next((marker for marker in markers if isinstance(marker, kind)), None)


def _codec_without_spec(base: object) -> ValueCodec:
    if base is datetime:
        return DateTimeCodec()
    if base is date:
        return DateCodec()
    if base is not UUID:
        _refuse_type(base)
    return UuidCodec()


def _refuse_type(base: object) -> NoReturn:
    hint = "a field of a key is a str, int, Decimal, float, datetime, date, UUID, Literal or Enum"
    if base is bool:
        hint = 'Literal["public", "private"] says what the two stand for'
    elif get_origin(base) in (Union, UnionType):
        if NoneType in get_args(base):
            hint = (
                "a key is written whole; make the index sparse (when=Exists(...)) where a part may be missing"
            )
    elif base is bytes:
        hint = "write it as text, in hexadecimal digits"
    raise DeclarationError(f"{_name(base)} cannot be part of a key", hint=hint)


def _refuse_spec(spec: str, base: Any) -> NoReturn:
    hints = {
        int: "02 pads with zeros to two characters",
        float: ".1f writes one decimal, 04.1f pads it to four characters",
        Decimal: ".1f writes one decimal, 04.1f pads it to four characters",
        datetime: "times have one format; BucketOf() makes a year, month, week or day of them",
        date: "days have one format; BucketOf() makes a year, month or week of them",
    }
    raise DeclarationError(f"{_name(base)} has no format {spec!r}", hint=hints.get(base))


def _name(base: object) -> str:
    return base.__name__ if isinstance(base, type) else str(base).replace("typing.", "")


# --- numbers ---------------------------------------------------------------------------------------


def _number_codec(kind: Kind, spec: str, pad: Pad | None) -> ValueCodec:
    if pad and spec:
        raise DeclarationError(f"it has both Pad() and the format {spec!r}", hint="one of them is enough")
    if pad:
        return PaddedCodec(kind, pad.width, pad.decimals, pad.offset)
    if kind is int:
        return PaddedCodec(int, _zeros(spec, int)) if spec else NumberCodec(int)
    if not spec:
        raise DeclarationError(
            f"{_name(kind)} needs to know how many decimals a key has",
            hint="{name:.1f} in the template, or Annotated[..., Pad(4, decimals=1)]",
        )
    found = _DECIMALS.fullmatch(spec)
    if found is None:
        _refuse_spec(spec, kind)
    decimals = int(found[2])
    return PaddedCodec(kind, int(found[1]), decimals) if found[1] else NumberCodec(kind, decimals)


def _zeros(spec: str, base: object) -> int:
    found = _ZEROS.fullmatch(spec)
    if found is None:
        _refuse_spec(spec, base)
    return int(found[1])


# --- one of several ---------------------------------------------------------------------------------


def _members(values: Sequence[object], spec: str) -> tuple[tuple[object, str], ...]:
    members = tuple((value, _choice_text(value, spec)) for value in values)
    if not members:
        raise DeclarationError("it has no values")
    texts = [text for _, text in members]
    for value, text in members:
        if texts.count(text) > 1:
            raise DeclarationError(f"two of its values are written {text!r} in a key")
        try:
            TextCodec().parse(text)
        except KeyValueError:
            raise DeclarationError(f"its value {value!r} cannot be text of a key") from None
    return members


def _choice_text(value: object, spec: str) -> str:
    plain = value.value if isinstance(value, Enum) else value
    if isinstance(plain, bool) or not isinstance(plain, str | int):
        raise DeclarationError(f"its value {plain!r} is neither a str nor an int")
    if isinstance(plain, str):
        if spec:
            _refuse_spec(spec, str)
        return str.__str__(plain)
    return _padded(int(plain), _zeros(spec, int)) if spec else str(int(plain))


def _padded(number: int, width: int) -> str:
    text = f"{number:0{width}d}"
    if number < 0 or len(text) > width:
        raise DeclarationError(f"its value {number} does not fit {width} characters")
    return text


# --- constraints ------------------------------------------------------------------------------------

# What refuses a value: as it was given, and as the key holds it.
Check = Callable[[object, object], None]

_CHARACTERS_MAX: Final = 60
_HINT: Final = "no item can have such a key: give a value that the annotation of the field allows"


def check_for(base: Any, markers: list[Any], *, where: str) -> Check | None:
    """Compile what asks the constraints among the markers of a type; None where there are none."""
    constraints = constraints_in(markers)
    if not constraints:
        return None
    text = constraints_text(constraints)
    annotation = Annotated[(base, *markers)]
    asked = constraints_text(each for each in constraints if not hasattr(each, "pattern"))
    validate = _validator(base, constraints, text, where)

    def refusal(value: object) -> str | None:
        try:
            kept = validate(value, strict=True)
        except ValidationError as error:
            return f"{_short(value)} is refused{_reason(error, annotation, text)}"
        # to_lower and their like: an entity stores something else.
        return None if kept == value else f"{_short(value)} is stored as {_short(kept)} ({asked})"

    def check(given: object, value: object) -> None:
        refused = refusal(value)
        # An entity has its value as it is given, and a normal form may be longer: "ß" becomes "ss".
        if refused is None or (given is not value and refusal(given) is None) or is_waived():
            return
        raise KeyValueError(refused, hint=_HINT)

    return check


def _validator(base: object, constraints: list[object], text: str, where: str) -> Callable[..., Any]:
    try:
        validate = _compiled(base, constraints)
        validate(_any_value(base), strict=True)
    except ValidationError:
        pass  # it is only asked whether they apply to the type at all
    except (TypeError, SchemaError) as error:
        name = getattr(base, "__name__", str(base))
        raise DeclarationError(f"{where} is {name}, of which nobody can ask {text}: {error}") from error
    return validate


def _compiled(base: Any, constraints: list[Any]) -> Callable[..., Any]:
    annotated = Annotated[(base, *constraints)]
    try:
        return TypeAdapter(annotated).validator.validate_python
    except SchemaError:  # a pattern that looks ahead, which a model may ask Python for
        return TypeAdapter(annotated, config=ConfigDict(regex_engine="python-re")).validator.validate_python


def _any_value(base: Any) -> Any:
    if get_origin(base) is Literal:
        return get_args(base)[0]
    return next(iter(base)) if issubclass(base, Enum) else DEFAULTS[base]("a", 0)


def _reason(error: ValidationError, annotation: object, otherwise: str) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    context = first.get("ctx", {})
    if "pattern" in context:
        return f": {problem_text(first, annotation)}"
    return f" by {', '.join(f'{name}={value!r}' for name, value in context.items()) or otherwise}"


def _short(value: object) -> str:
    shown = Repr()
    shown.maxstring = shown.maxother = shown.maxlong = _CHARACTERS_MAX
    return shown.repr(value)


# --- parts ------------------------------------------------------------------------------------------

Source = ShardOf | BucketOf | InitialOf

_TIMES: Final = DateTimeCodec()


@dataclass(frozen=True, slots=True)
class Part:
    """One field of a key class: how its value is written, and what computes it when an entity is."""

    name: str
    annotation: object
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
    def choices(self) -> Sequence[object] | None:
        """Return every value of a computed part, whatever the item; None where they are not counted."""
        if isinstance(self.source, ShardOf):
            return range(self.source.count)
        return (self.codec.nothing,) if self.codec.is_omitted else None

    def of(self, values: Mapping[str, Any]) -> object:
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


def part_of(name: str, annotation: object, spec: str, *, where: str) -> Part:
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


def attribute_of(name: str, annotation: object, *, where: str) -> Part:
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


def _source(annotation: object) -> Source | None:
    markers = get_args(annotation)[1:] if get_origin(annotation) is Annotated else ()
    return next((marker for marker in markers if isinstance(marker, Source)), None)


def _require(annotation: object, kind: type[object], source: Source, where: str) -> None:
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


def _initials_codec(annotation: object, letters: int, where: str) -> InitialsCodec:
    try:
        return initials_codec(annotation, letters)
    except DeclarationError as error:
        raise DeclarationError(f"{where}: {error.message}", hint=error.hint) from None


def _refusing_short(codec: InitialsCodec) -> Check:
    """Return what refuses to look for a text shorter than its letters: longer ones are in other partitions."""

    def check(given: object, value: object) -> None:
        whole = codec.whole(given)
        if len(whole) < codec.letters and not is_waived():
            raise KeyValueError(
                f"{whole!r} is shorter than the {codec.letters} letters of the key, so no one key has all texts "
                "that begin so",
                hint=f"ask for at least {codec.letters} letters, or declare InitialOf() with fewer",
            )

    return check


def shard_of(value: object, count: int) -> int:
    """Return the shard of a value. It never changes: stored keys depend on it."""
    if count == 1:
        return 0
    digest = blake2b(_constant_text(value).encode(), digest_size=2).digest()
    return int.from_bytes(digest, "big") % count


def _constant_text(value: object) -> str:
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
