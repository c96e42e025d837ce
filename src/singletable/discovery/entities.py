"""Entities proposed from items: grouped by an attribute that names their kind, else by the words of their keys."""

from __future__ import annotations

import base64
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from singletable.blueprint import (
    AttributeBlueprint,
    EntityBlueprint,
    IndexBlueprint,
    KeyBlueprint,
    KeyPart,
    PlaceBlueprint,
    TableBlueprint,
    TtlBlueprint,
)
from singletable.discovery.shapes import Shape, head_of, is_constant, separator_of, shape_of
from singletable.limits import KIB
from singletable.values.sizes import item_bytes

Item = Mapping[str, Any]  # {"PK": {"S": "USER#u1"}}

_KINDS_MAX: Final = 100
_VALUES_MAX: Final = 8  # different values of what is an enumeration
_FEW: Final = 20  # items, below which nothing is said of all values
_FITS: Final = 0.95
_NAMES_OF_KINDS: Final = (
    "entitytype",
    "type",
    "_type",
    "entity",
    "__typename",
    "kind",
    "__edb_e__",
    "_et",
    "itemtype",
)

_FORMATS: Final = (
    ("iso-8601-ms", re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}(?:Z|[+-]\d\d:\d\d)")),
    ("iso-8601", re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?")),
    ("date", re.compile(r"\d{4}-\d\d-\d\d")),
    ("iso-week", re.compile(r"\d{4}-W\d\d")),
    ("uuid", re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")),
    ("ulid", re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")),
    ("email", re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")),
)
_TYPES: Final = {
    "S": "str", "BOOL": "bool", "B": "bytes", "L": "list", "M": "dict",
    "SS": "set[str]", "NS": "set[Decimal]", "BS": "set[bytes]",
}  # fmt: skip
_EPOCH_S: Final = (1_000_000_000, 4_102_444_800)  # from 2001 to 2100


@dataclass(frozen=True, slots=True)
class ProposedEntity:
    """An entity, how many items it was proposed from, and how sure that is: 0 to 1, with the reasons."""

    entity: EntityBlueprint
    items: int
    sure: float
    because: tuple[str, ...]
    kb: float
    upto_kb: float
    questions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Proposal:
    """Entities, the most frequent first, and the attribute that names an item's entity, if there is one."""

    entities: tuple[ProposedEntity, ...]
    discriminator: str | None = None


def propose(
    table: TableBlueprint, indexes: Sequence[IndexBlueprint], items: Sequence[Item], *, samples: int = 2
) -> Proposal:
    """Propose entities for the items of a table. Of each attribute so many values are kept as samples."""
    keys = tuple(filter(None, (table.pk, table.sk)))
    separators = {
        name: separator_of(_text(item[name]) for item in items if name in item)
        for name in {*keys, *(each for index in indexes for each in (*index.pk, *index.sk))}
    }
    kind = _discriminator(items, separators, keys)
    shaped: defaultdict[str, set[tuple[str, ...]]] = defaultdict(set)
    for item in items:
        shaped[_kind_of(item, kind)].add(_words(item, keys, separators))
    groups: defaultdict[tuple[str, ...], list[Item]] = defaultdict(list)
    for item in items:
        # A kind whose keys have several shapes, such as locks of unique values, is several entities.
        named = _kind_of(item, kind)
        words = _words(item, keys, separators)
        groups[(named, *words) if len(shaped[named]) > 1 or not named else (named,)].append(item)
    names = _Names()
    proposed = [
        _Proposer(table, indexes, separators, kind, members, samples).entity(
            names.of(group, kind is not None)
        )
        for group, members in sorted(groups.items(), key=lambda each: (-len(each[1]), each[0]))
    ]
    return Proposal(tuple(proposed), kind)


# --- groups -----------------------------------------------------------------------------------------------


def _discriminator(items: Sequence[Item], separators: Mapping[str, str], keys: tuple[str, ...]) -> str | None:
    """Find the attribute that names the kind of an item: few texts, and each goes with one shape of key."""
    seen = Counter(name for item in items for name, value in item.items() if "S" in value)
    fitting: list[tuple[int, int, str]] = []
    for name, count in seen.items():
        if name in separators or count < _FITS * len(items):
            continue
        shapes: defaultdict[str, set[tuple[str, ...]]] = defaultdict(set)
        for item in items:
            if name in item and "S" in item[name]:
                shapes[item[name]["S"]].add(_words(item, keys, separators))
        wanted = {shape for found in shapes.values() for shape in found}
        several = sum(len(found) > 1 for found in shapes.values())
        if len(shapes) > _KINDS_MAX or several > len(shapes) / 5:
            continue
        # With one kind of item, any constant would do: then only its name tells.
        known = name.lower().replace("_", "") in {each.replace("_", "") for each in _NAMES_OF_KINDS}
        if known or 1 < len(shapes) == len(wanted):
            fitting.append((0 if known else 1, len(shapes), name))
    return min(fitting)[2] if fitting else None


def _kind_of(item: Item, kind: str | None) -> str:
    return "" if kind is None else item.get(kind, {}).get("S", "")


def _words(item: Item, keys: tuple[str, ...], separators: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(head_of(_text(item[key]), separators[key]) or "" for key in keys if key in item)


class _Names:
    """Names of entities: those that items have, or made from the words of their keys; each is given once."""

    def __init__(self) -> None:
        self._given: set[str] = set()

    def of(self, group: tuple[str, ...], is_kind: bool) -> str:
        if is_kind and group[0]:
            group = (*group[:1], *group[1:2])
        words = [word for each in group for word in re.findall(r"[A-Za-z0-9]+", each)]
        common = {"METADATA", "PROFILE", "INFO", "DETAILS", "A", "META", "ITEM"}
        if not is_kind:  # USER, PROFILE is a User; USER, ORDER is an Order
            words = [word for word in words[1:] if word.upper() not in common] or words[:1]
        base = "".join(
            word[:1].upper() + (word[1:].lower() if word.isupper() else word[1:]) for word in words
        )
        name, number = base if base[:1].isalpha() else f"Item{base}", 2
        while name in self._given:
            name, number = f"{base}{number}", number + 1
        self._given.add(name)
        return name


# --- one entity -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Proposer:
    table: TableBlueprint
    indexes: Sequence[IndexBlueprint]
    separators: Mapping[str, str]
    kind: str | None
    items: list[Item]
    samples: int

    def entity(self, name: str) -> ProposedEntity:
        attributes = tuple(self._attributes())
        questions: list[str] = []
        keys = tuple(filter(None, (self.table.pk, self.table.sk)))
        key, fit, explained = self._place("key", None, keys[:1], keys[1:], questions)
        places = [key]
        for index in self.indexes:
            held = [item for item in self.items if all(each in item for each in (*index.pk, *index.sk))]
            if held:
                part = _Proposer(self.table, self.indexes, self.separators, self.kind, held, self.samples)
                places.append(
                    part._place(f"by_{_snake(index.name)}", index.name, index.pk, index.sk, questions)[0]
                )
                if len(held) < len(self.items):
                    share = f"{len(held):,} of {len(self.items):,}"
                    questions.append(f"{share} items are in {index.name}; on what condition?")
        sizes = [item_bytes(item) / KIB for item in self.items]
        because = tuple(self._reasons(fit, explained))
        sure = round(fit * (1 - 0.5 / len(self.items)) * (0.7 + 0.3 * explained), 2)
        ttl = self.table.ttl
        entity = EntityBlueprint(
            name=name,
            discriminator=self._kind() or name,
            attributes=attributes,
            places=tuple(places),
            ttl=TtlBlueprint(ttl, ttl) if ttl and any(ttl in item for item in self.items) else None,
            about=f"proposed from {len(self.items):,} items, sure {sure:.2f}: {'; '.join(because)}",
        )
        kb = sum(sizes) / len(sizes)
        return ProposedEntity(
            entity,
            len(self.items),
            sure,
            because,
            round(kb, 3),
            round(max(sizes), 3),
            tuple(f"{name}: {each}" for each in questions),
        )

    def _kind(self) -> str | None:
        return None if self.kind is None else self.items[0].get(self.kind, {}).get("S")

    def _reasons(self, fit: float, explained: float) -> Iterator[str]:
        if self._kind() is not None:
            yield f"{self.kind} names it"
        yield "all keys have one shape" if fit == 1 else f"{fit:.0%} of the keys have this shape"
        yield (
            "every part of the key is an attribute" if explained == 1 else "parts of the key are no attribute"
        )
        if len(self.items) < _FEW:
            yield "few items were seen"

    # --- keys ---------------------------------------------------------------------------------------------

    def _place(
        self, name: str, index: str | None, pk: tuple[str, ...], sk: tuple[str, ...], questions: list[str]
    ) -> tuple[PlaceBlueprint, float, float]:
        found = [self._key(names, questions) for names in (pk, sk) if names]
        place = PlaceBlueprint(name, found[0][0], found[1][0] if sk else None, index)
        return place, min(fit for _, fit, _ in found), min(explained for _, _, explained in found)

    def _key(self, names: tuple[str, ...], questions: list[str]) -> tuple[KeyBlueprint, float, float]:
        if len(names) > 1 or self._is_plain_key(names[0]):
            parts = tuple(KeyPart(each, self._type(each), each) for each in names)
            return KeyBlueprint(names, None, parts), 1.0, 1.0
        (name,) = names
        if not self.separators[name] and (woven := self._woven(name)) is not None:
            return woven, 1.0, 1.0
        texts = [_text(item[name]) for item in self.items]
        shape = self._shape(texts, self.separators[name])
        fitting = [
            (item, found)
            for item, text in zip(self.items, texts, strict=True)
            if (found := shape.values(text)) is not None
        ]
        parts, unknown = self._parts(name, shape, fitting)
        questions.extend(
            f"{{{part}}} in {name} is no attribute of the items: what is it?" for part in unknown
        )
        template = shape.template([part.name for part in parts])
        shown = tuple(dict.fromkeys(texts))[: self.samples]
        explained = 1 - len(unknown) / len(parts) if parts else 1.0
        return KeyBlueprint(names, template, parts, samples=shown), len(fitting) / len(texts), explained

    def _woven(self, key: str) -> KeyBlueprint | None:
        """Find a template of attributes with any text between them, as {restaurant}-{year}-{week:02}."""
        # The item whose numbers are shortest shows whether they are padded.
        first = min(
            self.items, key=lambda item: sum(len(value["N"]) for value in item.values() if "N" in value)
        )
        text = _text(first[key])
        pieces: list[str | tuple[str, int]] = []  # text, or an attribute with the width of its number
        at = 0
        while at < len(text):
            found = self._written_at(first, key, text, at)
            pieces.append(text[at] if found is None else found[0])
            at += 1 if found is None else found[1]
        fields = [piece for piece in pieces if not isinstance(piece, str)]
        if not fields or any(_woven_text(pieces, item) != _text(item[key]) for item in self.items):
            return None
        template = "".join(
            piece if isinstance(piece, str) else f"{{{piece[0]}{f':0{piece[1]}' if piece[1] else ''}}}"
            for piece in pieces
        )
        shown = tuple(dict.fromkeys(_text(item[key]) for item in self.items))[: self.samples]
        parts = tuple(KeyPart(name, self._type(name), name) for name, _ in fields)
        return KeyBlueprint((key,), template, parts, samples=shown)

    def _written_at(self, item: Item, key: str, text: str, at: int) -> tuple[tuple[str, int], int] | None:
        """Find the attribute whose value, of two characters or more, stands at a place of a text."""
        found = [
            (-len(written), name, width)
            for name, value in item.items()
            if name != key and ("S" in value or "N" in value)
            for width in ((0, 2) if "N" in value else (0,))
            if len(written := _text(value).zfill(width)) > 1 and text.startswith(written, at)
        ]
        if not found:
            return None
        length, name, width = min(found)
        return (name, width), -length

    def _shape(self, texts: Sequence[str], separator: str) -> Shape:
        """Return the shape of most keys: a few that are odd do not make a placeholder of a constant."""
        heads = Counter(head_of(text, separator) for text in texts)
        head, count = heads.most_common(1)[0]
        if head is not None and count < len(texts) and count >= _FITS * len(texts):
            texts = [text for text in texts if head_of(text, separator) == head]
        return shape_of(texts, separator)

    def _parts(
        self, key: str, shape: Shape, fitting: Sequence[tuple[Item, tuple[str, ...]]]
    ) -> tuple[tuple[KeyPart, ...], list[str]]:
        """Name the placeholders by the attributes that have their values; return those that have none, too."""
        parts: list[KeyPart] = []
        unknown: list[str] = []
        placed = [place for place, part in enumerate(shape.parts) if part is None]
        if shape.has_rest:
            placed.append(len(shape.parts))
        for number, place in enumerate(placed):
            field = self._field([(item, values[number]) for item, values in fitting])
            name = field or self._made_up(key, shape, place)
            name = name if name not in [part.name for part in parts] else f"{name}_{place}"
            parts.append(KeyPart(name, self._type(field) if field else "str", field or name))
            if field is None:
                unknown.append(name)
        return tuple(parts), unknown

    def _field(self, pairs: Sequence[tuple[Item, str]]) -> str | None:
        """Find the attribute whose values stand in a place of the key, written in the same way."""
        if not pairs:
            return None
        known = (name for name in pairs[0][0] if not self.separators.get(name))
        names = sorted(known, key=lambda name: (len(name), name))
        for name in names:
            if all(name in item and _same(item[name], text) for item, text in pairs):
                return name
        return None

    def _made_up(self, key: str, shape: Shape, place: int) -> str:
        before = shape.parts[place - 1] if 0 < place <= len(shape.parts) else None
        name = f"{_snake(before)}_id" if before else ""
        return name if name and not any(name in item for item in self.items) else f"{_snake(key)}_{place + 1}"

    # --- attributes ---------------------------------------------------------------------------------------

    def _attributes(self) -> Iterator[AttributeBlueprint]:
        names = dict.fromkeys(name for item in self.items for name in item)
        hidden = {*self.separators, self.kind}
        for name in names:
            if name not in hidden or (name in self.separators and self._is_plain_key(name)):
                yield self._attribute(name)

    def _is_plain_key(self, name: str) -> bool:
        """Tell whether a key holds a value of its own, and no template: then it is an attribute as well."""
        values = [item[name] for item in self.items if name in item]
        if any("S" not in value for value in values):
            return True
        in_table = name in (self.table.pk, self.table.sk)
        return not (self.separators[name] or in_table or all(is_constant(value["S"]) for value in values))

    def _attribute(self, name: str) -> AttributeBlueprint:
        values = [item[name] for item in self.items if name in item]
        kinds = {next(iter(value)) for value in values}
        plain = [_plain(value) for value in values]
        numbers = [float(value["N"]) for value in values if "N" in value]
        texts = [value["S"] for value in values if "S" in value]
        counts = [
            len(value[kind]) for value in values for kind in ("L", "M", "SS", "NS", "BS") if kind in value
        ]
        distinct = list(dict.fromkeys(texts))
        is_few = len(values) >= _FEW and 0 < len(distinct) <= _VALUES_MAX and kinds <= {"S", "NULL"}
        return AttributeBlueprint(
            name=name,
            stored=name,
            type=self._type(name),
            is_optional="NULL" in kinds,
            is_required=len(values) == len(self.items),
            dynamodb=next(iter(kinds)) if len(kinds) == 1 else None,
            format=_format(texts, numbers) if kinds <= {"S"} or kinds <= {"N"} else "",
            values=tuple(sorted(distinct)) if is_few and self.samples else (),
            samples=_distinct(plain, self.samples),
            about="; ".join(_seen(numbers if self.samples else [], [len(text) for text in texts], counts)),
        )

    def _type(self, name: str) -> str:
        values = [item[name] for item in self.items if name in item]
        whole = all(_is_whole(value["N"]) for value in values if "N" in value)
        kinds = dict.fromkeys(kind for value in values for kind in value if kind != "NULL")
        named = [("int" if whole else "Decimal") if kind == "N" else _TYPES[kind] for kind in kinds]
        return " | ".join(named) or "None"


def _text(value: Mapping[str, Any]) -> str:
    (found,) = value.values()
    return found if isinstance(found, str) else base64.b64encode(found).decode()


def _woven_text(pieces: Sequence[str | tuple[str, int]], item: Item) -> str:
    return "".join(
        piece if isinstance(piece, str) else _text(item.get(piece[0], {"S": ""})).zfill(piece[1])
        for piece in pieces
    )


def _same(value: Mapping[str, Any], text: str) -> bool:
    if "N" in value:
        return text.lstrip("0") == value["N"] or (value["N"] == "0" and text.strip("0") == "" != text)
    return value.get("S") == text


def _is_whole(number: str) -> bool:
    return Decimal(number) == Decimal(number).to_integral_value()


def _plain(value: Mapping[str, Any]) -> Any:
    """Return a stored value as plain JSON."""
    ((kind, found),) = value.items()
    match kind:
        case "N":
            number = Decimal(found)
            return (
                int(number) if abs(number) < 2**53 and number == number.to_integral_value() else float(number)
            )
        case "L":
            return [_plain(each) for each in found]
        case "M":
            return {name: _plain(each) for name, each in found.items()}
        case "NS":
            return sorted(float(each) for each in found)
        case "SS":
            return sorted(found)
        case "B":
            return base64.b64encode(found).decode()
        case "BS":
            return sorted(base64.b64encode(each).decode() for each in found)
        case "NULL":
            return None
        case _:
            return found


def _seen(numbers: Sequence[float], lengths: Sequence[int], counts: Sequence[int]) -> Iterator[str]:
    """Say which values were seen. That bounds nothing: the next item may have others."""
    for found, what in ((numbers, ""), (lengths, " characters"), (counts, " members")):
        if found:
            least, most = min(found), max(found)
            yield f"seen: {least:,.15g}{f' to {most:,.15g}' if most > least else ''}{what}"


def _distinct(values: Iterable[Any], most: int) -> tuple[Any, ...]:
    found: list[Any] = []
    for value in values:
        if len(found) == most:
            break
        if value is not None and value not in found:
            found.append(value)
    return tuple(found)


def _format(texts: Sequence[str], numbers: Sequence[float]) -> str:
    if texts:
        return next((name for name, form in _FORMATS if all(form.fullmatch(text) for text in texts)), "")
    first, last = _EPOCH_S
    if numbers and all(first <= number < last for number in numbers):
        return "epoch-seconds"
    if numbers and all(first <= number / 1000 < last for number in numbers):
        return "epoch-ms"
    return ""


def _snake(text: str) -> str:
    parts = re.findall(r"[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*|\d+", text)
    return "_".join(parts).lower() or "part"
