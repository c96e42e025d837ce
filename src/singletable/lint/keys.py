"""Keys as the linter sees them: constant text and slots, and what the values of a slot can be.

A template is `TEXT#{name}` or `TEXT#{name:05}`. Two templates overlap if one text can be written by both.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, Final

from singletable.blueprint.entities import AttributeBlueprint, KeyBlueprint, KeyPart
from singletable.blueprint.patterns import ParameterBlueprint

_SLOT: Final = re.compile(r"\{\{|\}\}|\{(?P<name>\w+)(?::(?P<spec>[^{}]*))?\}")
_LITERAL: Final = re.compile(r'"([^"]*)"|(-?\d+)\b|\b(True|False)\b')
_NUMBERS: Final = frozenset(  # as Python, JSON Schema and SQL call them
    ["int", "float", "decimal", "integer", "number", "double", "long", "short", "bigint", "numeric", "n"]
)
_TIMES: Final = ("iso-8601", "epoch", "date", "iso-week", "calendar", "time")
_FIXED_WIDTHS: Final = {
    "uuid": 36,
    "ulid": 26,
    "date": 10,
    "iso-8601": 20,
    "iso-8601-ms": 24,
    "iso-week": 8,
    "epoch-seconds": 10,
    "epoch-ms": 13,
}
_SAFE_FORMATS: Final = {  # the characters that values of these formats can have
    "uuid": "0123456789abcdef-",
    "ulid": "0123456789ABCDEFGHJKMNPQRSTVWXYZ",
    "date": "0123456789-",
    "iso-8601": "0123456789-:TZ",
    "iso-8601-ms": "0123456789-:.TZ",
    "iso-8601-offset": "0123456789-:.TZ+",
    "iso-week": "0123456789-W",
    "epoch-seconds": "0123456789",
    "epoch-ms": "0123456789",
    "calendar-year": "0123456789",
    "slug": "abcdefghijklmnopqrstuvwxyz0123456789-",
    "geohash": "0123456789bcdefghjkmnpqrstuvwxyz",
}


@dataclass(frozen=True)
class Slot:
    """A placeholder of a template, with the attribute or parameter that fills it; None if nobody defined it."""

    name: str
    spec: str = ""  # "05" of {week:05}
    source: AttributeBlueprint | ParameterBlueprint | None = None
    part: KeyPart | None = None

    @property
    def type(self) -> str:
        """Return the type of its values; empty where nobody said it."""
        if self.part is not None:
            return self.part.type
        return self.source.type if self.source is not None else ""

    @property
    def format(self) -> str:
        """Return the format of its values: iso-8601, uuid; empty where nobody said it."""
        return self.source.format if self.source is not None else ""

    @property
    def is_encoded(self) -> bool:
        """Tell whether a typed design writes it: escaped, in UTC, in an order that holds."""
        return self.part is not None and self.part.type != "" and not self.marker("Verbatim")

    @property
    def is_number(self) -> bool:
        """Tell whether its values are numbers, which text does not sort by value."""
        base = self.type.partition("[")[0].strip()
        has_type = base.lower() in _NUMBERS or bool(re.fullmatch(r"-?\d+(?: \| -?\d+)*", base))
        return has_type or getattr(self.source, "dynamodb", None) == "N"

    @property
    def is_time(self) -> bool:
        """Tell whether its values are times, days, weeks or years."""
        return self.type in ("datetime", "date") or self.format.startswith(_TIMES)

    @property
    def width(self) -> int | None:
        """Return how many characters every value has; None where that varies or is unknown."""
        pad = self.marker("Pad")
        if pad is not None:
            return int(pad["width"])
        if found := re.fullmatch(r"0?(\d+)d?", self.spec):
            return int(found[1])
        if self.values is not None and len(widths := {len(str(value)) for value in self.values}) == 1:
            return widths.pop()
        return _FIXED_WIDTHS.get(self.format)

    @property
    def is_padded(self) -> bool:
        """Tell whether it is written with leading zeros."""
        return self.marker("Pad") is not None or bool(re.fullmatch(r"0\d+d?", self.spec))

    @cached_property
    def values(self) -> tuple[Any, ...] | None:
        """Return all values that it can have; None where they are not known or without end."""
        if self.part is not None and self.part.shards is not None:
            return tuple(range(self.part.shards))
        if found := getattr(self.source, "values", ()):
            return tuple(found)
        if self.type == "bool":
            return (False, True)
        literals = [first or second or third for first, second, third in _LITERAL.findall(self.type)]
        return tuple(literals) or None

    @property
    def samples(self) -> tuple[Any, ...]:
        """Return values that it has: samples, else all that it can have."""
        return (
            tuple(self.source.samples)
            if self.source is not None and self.source.samples
            else self.values or ()
        )

    @property
    def is_open(self) -> bool:
        """Tell whether nobody said what stands here."""
        return self.source is None and self.part is None

    def marker(self, kind: str) -> Mapping[str, Any] | None:
        """Find a marker by its kind: Pad, Verbatim, Normalize."""
        markers = [*getattr(self.part, "markers", ()), *getattr(self.source, "markers", ())]
        return next((marker for marker in markers if marker["kind"] == kind), None)

    def can_hold(self, text: str) -> bool:
        """Tell whether a value can contain a text, by what is known of it."""
        if self.is_encoded or self.is_number:
            return self.is_number and text in "-."
        if self.values is not None:
            return any(text in str(value) for value in self.values)
        characters = _SAFE_FORMATS.get(self.format)
        return characters is None or set(text) <= set(characters)

    def written(self, value: Any) -> str:
        """Return how a value stands in a key."""
        pad = self.marker("Pad")
        if isinstance(value, int | float) and not isinstance(value, bool):
            if pad is not None:
                return f"{value + pad.get('offset', 0):0{pad['width']}.{pad.get('decimals', 0)}f}"
            if self.spec:
                try:
                    return format(value, self.spec)
                except ValueError:
                    return str(value)
        return str(value)


Piece = str | Slot


@dataclass(frozen=True)
class Template:
    """A template: text and slots, in order."""

    text: str
    pieces: tuple[Piece, ...]

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        """Return its slots, in order."""
        return tuple(piece for piece in self.pieces if isinstance(piece, Slot))

    @cached_property
    def prefix(self) -> str:
        """Return the constant text before the first slot."""
        return self.pieces[0] if self.pieces and isinstance(self.pieces[0], str) else ""

    @property
    def is_constant(self) -> bool:
        """Tell whether it has no slot."""
        return not self.slots

    @cached_property
    def shape(self) -> str:
        """Return its text with all that is known of its slots: two of one shape meet the same templates."""
        known = (
            (
                each.name,
                each.type,
                each.format,
                each.values,
                each.marker("Pad"),
                each.is_encoded,
                each.is_number,
            )
            for each in self.slots
        )
        return f"{self.text} {[*known]}"

    @cached_property
    def separators(self) -> frozenset[str]:
        """Return the characters that stand between slots, or before one: those a value should not have."""
        return frozenset(
            piece[-1]
            for piece, _ in pairwise(self.pieces)
            if isinstance(piece, str) and not piece[-1].isalnum()
        ) | frozenset(
            piece[0]
            for _, piece in pairwise(self.pieces)
            if isinstance(piece, str) and not piece[0].isalnum()
        )

    @cached_property
    def characters(self) -> tuple[str | Slot, ...]:
        """Return its characters, with its slots between them."""
        return tuple(
            each for piece in self.pieces for each in ([piece] if isinstance(piece, Slot) else piece)
        )

    @cached_property
    def spelled(self) -> tuple[tuple[str, ...], ...]:
        """Return its characters, a slot as _ANY; one of few values is spelled out."""
        return tuple(_spelled(self))

    def render(self, values: Mapping[str, Any]) -> str | None:
        """Write the key of some values by the names of slots; None where one is missing."""
        written: list[str] = []
        for piece in self.pieces:
            if isinstance(piece, str):
                written.append(piece)
            elif piece.name in values:
                written.append(piece.written(values[piece.name]))
            else:
                return None
        return "".join(written)

    def example(self, **chosen: Any) -> str:
        """Write the key with samples; `<name>` stands where there are none."""
        return "".join(
            piece
            if isinstance(piece, str)
            else piece.written(chosen[piece.name])
            if piece.name in chosen
            else piece.written(piece.samples[0])
            if piece.samples
            else f"<{piece.name}>"
            for piece in self.pieces
        )


def read_template(
    text: str,
    sources: Mapping[str, AttributeBlueprint | ParameterBlueprint],
    parts: Iterable[KeyPart] = (),
    *,
    fields: Mapping[str, AttributeBlueprint] | None = None,
) -> Template:
    """Read a template. `sources` are what a slot of a name may be; `fields` are what parts are derived from."""
    known = {part.name: part for part in parts}
    pieces: list[Piece] = []
    constant, at = "", 0
    for found in _SLOT.finditer(text):
        constant += text[at : found.start()]
        at = found.end()
        if found["name"] is None:
            constant += found[0][0]  # {{ is a brace
            continue
        if constant:
            pieces.append(constant)
            constant = ""
        part = known.get(found["name"])
        source = sources.get(part.field if part is not None else found["name"])
        if source is None and part is not None and fields is not None:
            source = fields.get(part.field)
        pieces.append(Slot(found["name"], found["spec"] or "", source, part))
    constant += text[at:]
    if constant:
        pieces.append(constant)
    return Template(text, tuple(pieces))


def key_templates(key: KeyBlueprint, sources: Mapping[str, AttributeBlueprint]) -> tuple[Template, ...]:
    """Return the template of each attribute of a key; without a template, each part is an attribute."""
    if key.template is not None:
        return (read_template(key.template, sources, key.parts),)
    if key.parts:
        return tuple(read_template(f"{{{part.name}}}", sources, (part,)) for part in key.parts)
    return tuple(read_template(f"{{{name}}}", sources) for name in key.attributes)


def characters(slot: Slot, *, is_first: bool = False) -> frozenset[str] | None:
    """Return the characters that values of a slot can have, or can begin with; None if nobody said."""
    if slot.is_encoded and slot.part is not None and slot.part.shards is None and not slot.is_time:
        return None
    if slot.values is not None:
        texts = [slot.written(value) for value in slot.values]
        return frozenset(text[0] for text in texts if text) if is_first else frozenset("".join(texts))
    if slot.type in ("datetime", "date") or (slot.part is not None and slot.part.bucket is not None):
        return frozenset("0123456789" if is_first else "0123456789-:.TWZ")
    if slot.is_number:
        return frozenset("0123456789-") if is_first else frozenset("0123456789-.")
    known = _SAFE_FORMATS.get(slot.format)
    if known is None:
        return None
    return frozenset("0123456789") if is_first and slot.is_time else frozenset(known)


# --- what two templates have in common ------------------------------------------------------------------

_ANY: Final = ""  # stands for a slot: one or more characters that are no separator


def overlap(one: Template, other: Template) -> bool:
    """Tell whether some text can be written by both templates, if no value contains their separators."""
    return _meet(one, other, is_prefix=False)


def begins(prefix: Template, whole: Template) -> bool:
    """Tell whether some text of `whole` can begin with some text of `prefix`."""
    return _meet(prefix, whole, is_prefix=True)


def _meet(one: Template, other: Template, *, is_prefix: bool) -> bool:
    if not one.prefix.startswith(other.prefix) and not other.prefix.startswith(one.prefix):
        return False
    separators = _joined(one.separators, other.separators)
    return any(
        _common(first, second, separators, is_prefix) for first in one.spelled for second in other.spelled
    )


@lru_cache(maxsize=1_024)
def _joined(one: frozenset[str], other: frozenset[str]) -> str:
    return "".join(sorted(one | other))


def _spelled(template: Template, most: int = 64) -> list[tuple[str, ...]]:
    """Return the characters of a template, a slot as _ANY; one of few values is spelled out."""
    found: list[tuple[str, ...]] = [()]
    for piece in template.pieces:
        if isinstance(piece, str):
            endings = [tuple(piece)]
        elif piece.values is not None and len(piece.values) * len(found) <= most:
            endings = [tuple(piece.written(value)) for value in piece.values]
        else:
            endings = [(_ANY,)]
        found = [(*begin, *end) for begin in found for end in endings]
    return found


@lru_cache(maxsize=65_536)
def _common(one: tuple[str, ...], other: tuple[str, ...], separators: str, is_prefix: bool) -> bool:
    """Walk both at once: a slot takes one character that is no separator, and then perhaps another."""
    reached, seen = [(0, 0)], {(0, 0)}
    while reached:
        first, second = reached.pop()
        if first == len(one):
            if is_prefix or second == len(other):
                return True
            continue
        if second == len(other) or not _agree(one[first], other[second], separators):
            continue
        for state in [
            (first + 1, second + 1),
            *([(first, second + 1)] if one[first] == _ANY else ()),
            *([(first + 1, second)] if other[second] == _ANY else ()),
        ]:
            if state not in seen:
                seen.add(state)
                reached.append(state)
    return False


def _agree(one: str, other: str, separators: str) -> bool:
    if one == _ANY:
        return other == _ANY or other not in separators
    return one == other or (other == _ANY and one not in separators)
