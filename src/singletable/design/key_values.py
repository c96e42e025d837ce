"""The codec of a key's field, from its annotation and the format that its template gives it.

class TopSK(SortKey, template="SCORE#{score}#{week:02}"):
    score: Annotated[int, Pad(10, offset=5_000_000_000)]
    week: int
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, NewType, NoReturn, TypeVar, Union, get_args, get_origin
from uuid import UUID

from singletable.design.key_codecs import (
    ChoiceCodec,
    InitialsCodec,
    ShardCodec,
    TextCodec,
    UuidCodec,
    ValueCodec,
)
from singletable.design.key_numbers import Kind, NumberCodec, PaddedCodec
from singletable.design.key_times import BucketCodec, DateCodec, DateTimeCodec
from singletable.errors import DeclarationError, KeyValueError

__all__ = [
    "BucketCodec",
    "InitialsCodec",
    "Normalize",
    "Pad",
    "ShardCodec",
    "ValueCodec",
    "Verbatim",
    "codec_for",
    "initials_codec",
    "unwrap",
]

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


def codec_for(annotation: Any, spec: str = "", *, where: str = "a key field") -> ValueCodec:
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


def initials_codec(annotation: Any, letters: int) -> InitialsCodec:
    """Return the codec of the first letters of a text, in the form that its annotation says."""
    _, markers = unwrap(annotation)
    normalize = _marker(markers, Normalize)
    is_verbatim = _marker(markers, Verbatim) is not None
    return InitialsCodec(normalize.function if normalize else None, is_verbatim, letters=letters)


def unwrap(annotation: Any) -> tuple[Any, list[Any]]:
    """Return the type itself, and the markers of every layer around it."""
    markers: list[Any] = []
    while True:
        if get_origin(annotation) is Annotated:
            markers += annotation.__metadata__
            annotation = annotation.__origin__
        elif isinstance(annotation, NewType):
            annotation = annotation.__supertype__
        elif type(annotation).__name__ == "TypeAliasType":  # `type X = ...`, of Python 3.12
            annotation = annotation.__value__
        else:
            return annotation, markers


def _marker(markers: Sequence[Any], kind: type[_M]) -> _M | None:
    return next((marker for marker in markers if isinstance(marker, kind)), None)


def _codec_without_spec(base: Any) -> ValueCodec:
    if base is datetime:
        return DateTimeCodec()
    if base is date:
        return DateCodec()
    if base is not UUID:
        _refuse_type(base)
    return UuidCodec()


def _refuse_type(base: Any) -> NoReturn:
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


def _name(base: Any) -> str:
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


def _zeros(spec: str, base: Any) -> int:
    found = _ZEROS.fullmatch(spec)
    if found is None:
        _refuse_spec(spec, base)
    return int(found[1])


# --- one of several ---------------------------------------------------------------------------------


def _members(values: Sequence[Any], spec: str) -> tuple[tuple[Any, str], ...]:
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


def _choice_text(value: Any, spec: str) -> str:
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
