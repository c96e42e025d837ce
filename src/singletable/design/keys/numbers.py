"""Numbers inside keys: as they are, or padded to a fixed width so that they sort, negatives by an offset.

Every number is taken exactly. One with more decimals than the key has is refused rather than rounded, so that what
is read from a key is what was written.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Context, Decimal, Inexact, InvalidOperation
from math import isfinite
from typing import Any, Final

from singletable.design.keys.codecs import ValueCodec, wrong_type
from singletable.errors import DeclarationError, KeyValueError

Number = int | float | Decimal
Kind = type[int] | type[float] | type[Decimal]

DIGITS_MAX: Final = 38  # of a DynamoDB number
_EXACT: Final = Context(prec=2 * DIGITS_MAX, traps=[InvalidOperation, Inexact])


@dataclass(frozen=True)
class NumberCodec(ValueCodec):
    """A number without padding: easy to read, but 10 stands before 9."""

    kind: Kind
    decimals: int = 0
    is_signed: bool = True

    sorts = False

    @property
    def pattern(self) -> str:
        places = self.decimals
        whole = f"[1-9][0-9]{{0,{DIGITS_MAX - places - 1}}}"
        if not places:
            return f"(?:0|-?{whole})" if self.is_signed else f"(?:0|{whole})"
        digits = f"[0-9]{{{places}}}"
        below_zero = rf"|-(?:0\.(?!0{{{places}}}){digits}|{whole}\.{digits})" if self.is_signed else ""
        return rf"(?:(?:0|{whole})\.{digits}{below_zero})"

    def may_hold(self, character: str) -> bool:
        if character == "-":
            return self.is_signed
        return character in "0123456789" or (character == "." and self.decimals > 0)

    def without(self, separators: str) -> NumberCodec:
        if "." in separators and self.decimals:
            raise DeclarationError(
                "its decimal point is a separator of the template too", hint="choose another separator"
            )
        return replace(self, is_signed=self.is_signed and "-" not in separators)

    def normalize(self, value: object) -> Number:
        scaled = scaled_from(self.kind, value, self.decimals)
        if abs(scaled) >= 10**DIGITS_MAX:
            raise KeyValueError(f"{value} has more than {DIGITS_MAX} digits")
        if scaled < 0 and not self.is_signed:
            raise KeyValueError(
                f"{value} is negative, and its sign is a separator of the template",
                hint="pad it with an offset: Annotated[int, Pad(10, offset=5_000_000_000)]",
            )
        return scaled_to(self.kind, scaled, self.decimals)

    def render(self, value: object) -> str:
        if self.kind is int:
            return str(value)
        scaled = scaled_from(self.kind, value, self.decimals)
        return ("-" if scaled < 0 else "") + _with_point(abs(scaled), self.decimals + 1, self.decimals)

    def describe(self) -> str:
        return f"number with {self.decimals} decimals" if self.decimals else "whole number"

    def _read(self, text: str) -> Number:
        return scaled_to(self.kind, int(text.replace(".", "")), self.decimals)


@dataclass(frozen=True)
class PaddedCodec(ValueCodec):
    """A number of fixed width, with leading zeros. The offset is added first, so that no text has a sign."""

    kind: Kind
    width: int
    decimals: int = 0
    offset: int = 0

    def __post_init__(self) -> None:
        if self.kind is int and self.decimals:
            raise DeclarationError("a whole number has no decimals", hint="annotate it as Decimal or float")
        if self.decimals < 0 or self._digits <= self.decimals:
            raise DeclarationError(
                f"{self.width} characters do not hold a number with {self.decimals} decimals",
                hint="the width counts every character, the point too: 04.5 is 4 wide",
            )
        if self._digits > DIGITS_MAX:
            raise DeclarationError(
                f"{self.width} characters are more than the {DIGITS_MAX} digits of a number"
            )

    @property
    def pattern(self) -> str:
        if not self.decimals:
            return f"[0-9]{{{self.width}}}"
        return rf"[0-9]{{{self._digits - self.decimals}}}\.[0-9]{{{self.decimals}}}"

    @property
    def width_fixed(self) -> int:
        return self.width

    def may_hold(self, character: str) -> bool:
        return character in "0123456789" or (character == "." and self.decimals > 0)

    def normalize(self, value: object) -> Number:
        scaled = scaled_from(self.kind, value, self.decimals)
        if not 0 <= scaled + self._offset_scaled < 10**self._digits:
            raise KeyValueError(
                f"{value} does not fit: {self.width} characters hold {self._least} to {self._greatest}",
                hint=None
                if self.offset
                else f"Pad({self.width + 1}, ...) is wider; an offset makes room for negatives",
            )
        return scaled_to(self.kind, scaled, self.decimals)

    def render(self, value: Any) -> str:
        if not self.decimals and self.kind is int:
            return f"{value + self.offset:0{self.width}d}"
        shifted = scaled_from(self.kind, value, self.decimals) + self._offset_scaled
        return _with_point(shifted, self._digits, self.decimals)

    def describe(self) -> str:
        return f"number of {self.width} characters"

    def _read(self, text: str) -> Number:
        return scaled_to(self.kind, int(text.replace(".", "")) - self._offset_scaled, self.decimals)

    @property
    def _digits(self) -> int:
        return self.width - 1 if self.decimals else self.width

    @property
    def _offset_scaled(self) -> int:
        return int(self.offset * 10**self.decimals)

    @property
    def _least(self) -> Decimal:
        return Decimal(f"{-self._offset_scaled}E-{self.decimals}")

    @property
    def _greatest(self) -> Decimal:
        return Decimal(f"{10**self._digits - 1 - self._offset_scaled}E-{self.decimals}")


@dataclass(frozen=True)
class AttributeNumberCodec(ValueCodec):
    """A fractional number that is an attribute by itself: DynamoDB orders it, so its text has no fixed form."""

    kind: Kind

    @property
    def pattern(self) -> str:
        return r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"

    def may_hold(self, character: str) -> bool:
        return character in "0123456789.-+eE"

    def normalize(self, value: object) -> Number:
        if isinstance(value, bool) or not isinstance(value, (self.kind, int)):
            wrong_type(value, f"a {self.kind.__name__}")
        number = self.kind(value)
        if not isfinite(number):
            raise KeyValueError(f"{value} is no number that can be stored")
        return number

    def render(self, value: object) -> str:
        return str(Decimal(repr(value)) if isinstance(value, float) else value)

    def describe(self) -> str:
        return "number"

    def _read(self, text: str) -> Number:
        return self.kind(text)


def scaled_from(kind: Kind, value: object, decimals: int) -> int:
    """Return a number times a power of ten as a whole number, or refuse what is not exact."""
    if isinstance(value, bool) or not isinstance(value, (kind, int)):
        wrong_type(value, f"{'an' if kind is int else 'a'} {kind.__name__}")
    if isinstance(value, int):
        shift: int = 10**decimals
        return int(value) * shift
    exact = value if isinstance(value, Decimal) else Decimal(repr(float(value)))
    try:
        places = _EXACT.quantize(exact, Decimal(f"1E-{decimals}"))
        return int(_EXACT.scaleb(places, decimals))
    except (Inexact, InvalidOperation, OverflowError, ValueError):
        pass
    raise KeyValueError(
        f"{value} is no number with {decimals} decimals",
        hint=f"round it where it is made: round(value, {decimals})",
    )


def scaled_to(kind: Kind, scaled: int, decimals: int) -> Number:
    """Return the number that `scaled_from` has made whole."""
    # Text is read exactly, or rounded once: what the number's own repr is read as.
    return scaled if kind is int else kind(f"{scaled}E-{decimals}")


def _with_point(scaled: int, digits: int, decimals: int) -> str:
    text = f"{scaled:0{digits}d}"
    return f"{text[:-decimals]}.{text[-decimals:]}" if decimals else text
