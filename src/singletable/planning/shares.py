"""Which share of some calls goes to the busiest value of a partition key, and what is assumed for that.

A share that is declared counts first. Without one, the key says it: a constant key takes all; of some values, ids
or shards, each takes as much as the others; of a bucket of time, the current one takes all that is new.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from singletable.blueprint import AttributeBlueprint, EntityBlueprint, KeyBlueprint, PlaceBlueprint
from singletable.planning.sizes import Sizes
from singletable.planning.volumes import Counts

SpreadKind = Literal[
    "constant", "shards", "time", "choices", "ids", "unknown", "declared", "followed", "scan"
]

PLACEHOLDER: Final = re.compile(r"\{(\w+)(?::[^{}]*)?\}")
_CHOICE: Final = re.compile(r"\"[^\"]*\"|'[^']*'|\b\d+\b")
_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
_TIMES: Final = frozenset({"date", "day", "hour", "month", "quarter", "today", "week", "year"})
_ID_FORMATS: Final = frozenset({"uuid", "ulid", "slug"})
_ID_WORDS: Final = frozenset({"digest", "email", "hash", "id", "name", "probe", "token", "username", "uuid"})
_LETTERS: Final = 26


@dataclass(frozen=True, slots=True)
class Spread:
    """How calls spread over the values of a key. No share: the key has many values, nobody says how many."""

    share: float | None
    kind: SpreadKind
    assumption: str
    shards: int = 1

    @property
    def is_constant(self) -> bool:
        """Whether the key has but one value."""
        return self.kind == "constant"

    @property
    def weight(self) -> float:
        """The share; 0 where it is not known."""
        return self.share or 0.0


@dataclass(frozen=True, slots=True)
class _Part:
    """One placeholder of a key: which share its busiest value has."""

    share: float | None
    kind: SpreadKind
    why: str
    shards: int = 1


class Spreads:
    """Tells how calls spread over the keys of a design."""

    def __init__(self, sizes: Sizes, counts: Counts) -> None:
        self._sizes = sizes
        self._counts = counts
        self._found: dict[tuple[object, ...], Spread] = {}
        self._values: dict[str, float | None] = {}

    def over(
        self,
        entity: EntityBlueprint,
        place: PlaceBlueprint,
        bound: Mapping[str, str] | None = None,
        *,
        requests: int = 1,
    ) -> Spread:
        """Return how calls spread over a partition key, by the key alone.

        `bound` are placeholders that a pattern fills with a constant; of `requests` for one call, each reads
        another shard or bucket.
        """
        of = entity.name, place.index, tuple(bound or ()), requests
        if of not in self._found:
            names = [name for name in key_names(place.pk) if name not in (bound or {})]
            self._found[of] = _spread([self._part(entity, place, name, requests) for name in names])
        return self._found[of]

    def over_text(self, template: str) -> Spread:
        """Return how calls spread over a key that no entity has: by its text alone."""
        return _spread([_unnamed(name) for name in PLACEHOLDER.findall(template)])

    def with_volume(self, entity: EntityBlueprint, place: PlaceBlueprint, spread: Spread) -> Spread:
        """Return the spread with the share of the largest partition, where a volume declares it."""
        volume = self._sizes.volume(entity.name)
        if volume is None or volume.hottest_share is None or identity(entity) in key_names(place.pk):
            return spread
        if spread.weight >= volume.hottest_share:
            return spread
        why = f"declared: {volume.hottest_share:.3g} of all {entity.name} are in the largest partition"
        return replace(spread, share=volume.hottest_share, kind="declared", assumption=why)

    def lock(self, entity: EntityBlueprint) -> Spread:
        """Return how the locks of unique values spread: each value has one of its own."""
        count = self._counts.count(entity.name)
        if not count:
            return Spread(None, "ids", f"a lock for each {entity.name}; how many there are is not declared")
        return Spread(
            1 / max(1.0, count), "ids", f"{count:,.0f} locks, one for each {entity.name}, used evenly"
        )

    # --- one placeholder

    def _part(self, entity: EntityBlueprint, place: PlaceBlueprint, name: str, requests: int) -> _Part:
        key = place.pk
        part = next((each for each in key.parts if each.name == name), None)
        field = name if part is None else part.field
        if part is not None and part.shards is not None:
            return _Part(1 / part.shards, "shards", f"{part.shards} shards divide it", part.shards)
        attribute = next((each for each in entity.attributes if field in (each.name, each.stored)), None)
        if part is not None and part.letters is not None:
            values = float(_LETTERS**part.letters)
            return _Part(1 / values, "choices", f"{values:g} beginnings of {field}, used evenly")
        if (part is not None and part.bucket is not None) or _is_time(name, attribute):
            return _current(name, part.bucket if part is not None else None, requests // _shards(key))
        fixed = _values_of_condition(place.when, field)
        if fixed == 1:
            return _Part(1.0, "constant", "")
        choices = fixed or _choices(entity, attribute)
        if choices:
            return _Part(1 / choices, "choices", f"{choices} values of {name}, used evenly")
        return self._identified(entity, name, field, attribute)

    def _identified(
        self, entity: EntityBlueprint, name: str, field: str, attribute: AttributeBlueprint | None
    ) -> _Part:
        if field not in self._values:  # of an id, they do not depend on the entity that has it
            self._values[field] = self._counts.partitions(entity, KeyBlueprint((), f"{{{field}}}"))
        values = self._values[field] or self._named(attribute)
        if values:
            return _Part(1 / max(1.0, values), "ids", f"{values:,.0f} values of {name}, used evenly")
        return _unnamed(name, attribute)

    def _named(self, attribute: AttributeBlueprint | None) -> float | None:
        """Return how many there are of the entity that the type of an id names: CategoryId, of Category."""
        alias = "" if attribute is None else attribute.alias or ""
        if not alias.endswith("Id") or len(alias) == len("Id"):
            return None
        named = alias.removesuffix("Id")
        return self._counts.users if named == "User" else self._counts.count(named)


# --- keys -----------------------------------------------------------------------------------------------


def key_names(key: KeyBlueprint) -> list[str]:
    """Return the placeholders of a key, in their order; of one that is written nowhere, its attributes."""
    if key.template is None:
        return [part.name for part in key.parts] or [*key.attributes]
    return PLACEHOLDER.findall(key.template)


def key_fields(key: KeyBlueprint) -> frozenset[str]:
    """Return the fields that a key is made of."""
    fields = {part.name: part.field for part in key.parts}
    return frozenset(fields.get(name, name) for name in key_names(key))


def key_text(key: KeyBlueprint) -> str:
    """Return the template of a key; of one with several attributes, all of them."""
    return " ".join(f"{{{name}}}" for name in key_names(key)) if key.template is None else key.template


def identity(entity: EntityBlueprint) -> str | None:
    """Return the placeholder that tells an item from all others: the last one of its key."""
    home = entity.place(None)
    keys = [] if home is None else [key for key in (home.pk, home.sk) if key is not None]
    names = [name for key in keys for name in key_names(key)]
    return names[-1] if names else None


def bindings(template: str, asked: str) -> dict[str, str] | None:
    """Return the placeholders of a template that a pattern fills with constants; None if it is another key."""
    names = PLACEHOLDER.findall(template)
    pieces = PLACEHOLDER.split(template)[::2]
    found = re.fullmatch("(.+?)".join(re.escape(piece) for piece in pieces), asked, re.DOTALL)
    if found is None:
        return None
    values = zip(names, found.groups(), strict=True)
    return {name: value for name, value in values if PLACEHOLDER.search(value) is None}


def _spread(found: list[_Part]) -> Spread:
    parts = [part for part in found if part.kind != "constant"]
    if not parts:
        return Spread(1.0, "constant", "the key is constant: all of it goes there")
    shards = 1
    for part in parts:
        shards *= part.shards
    share = _product([part.share for part in parts])
    why = "; ".join(dict.fromkeys(part.why for part in parts))
    return Spread(share, _finest(parts).kind, why, shards)


# --- values ---------------------------------------------------------------------------------------------


def _product(shares: list[float | None]) -> float | None:
    product = 1.0
    for share in shares:
        if share is None:
            return None
        product *= share
    return product


def _finest(parts: list[_Part]) -> _Part:
    """Return the part that decides what would help: the one with the most values."""
    return min(parts, key=lambda part: part.share or 0.0)


def _shards(key: KeyBlueprint) -> int:
    names = key_names(key)
    return max([1, *(part.shards for part in key.parts if part.shards and part.name in names)])


def _current(name: str, bucket: str | None, requests: int) -> _Part:
    what = bucket or ("day" if name == "today" else name)
    if requests > 1:
        return _Part(1 / requests, "time", f"one of {requests} requests reads the current {what}")
    return _Part(1.0, "time", f"all that is new goes to the current {what}")


def _unnamed(name: str, attribute: AttributeBlueprint | None = None) -> _Part:
    """Return a part of which nobody says how many values it has."""
    if _is_time(name, attribute):
        return _current(name, None, 1)
    if _is_id(name, attribute):
        return _Part(None, "ids", f"how many values {name} has is not declared: not counted, as one of many")
    return _Part(1.0, "unknown", f"how many values {name} has is not declared: counted as if all had one")


def _words(name: str) -> set[str]:
    return {word.lower() for word in _WORD.findall(name)}


def _is_time(name: str, attribute: AttributeBlueprint | None) -> bool:
    if attribute is not None and (attribute.type == "date" or attribute.format in ("date", "iso-week")):
        return True
    return bool(_words(name) & _TIMES)


def _is_id(name: str, attribute: AttributeBlueprint | None) -> bool:
    if attribute is not None and (attribute.type == "UUID" or attribute.format in _ID_FORMATS):
        return True
    return bool(_words(name) & _ID_WORDS)


def _choices(entity: EntityBlueprint, attribute: AttributeBlueprint | None) -> int:
    """Return how many values an attribute can have, where its type or the design names them; else 0."""
    if attribute is None:
        return 0
    if attribute.values:
        return len(attribute.values)
    plain = attribute.type.removesuffix(" | None").removeprefix("None | ")
    if plain == "bool":
        return 2
    for model in entity.models:
        if model.name == plain and model.values:
            return len(model.values)
    return len(_CHOICE.findall(attribute.type))


def _values_of_condition(condition: Mapping[str, Any] | None, field: str) -> int:
    """Return how many values of a field a condition lets in, where it names them; else 0."""
    for one in _conditions(condition):
        if one.get("field") != field:
            continue
        if one.get("operator") == "=" and "value" in one:
            return 1
        if one.get("operator") == "in" and isinstance(one.get("values"), list | tuple):
            return len(one["values"])
    return 0


def _conditions(condition: Mapping[str, Any] | None) -> Iterator[Mapping[str, Any]]:
    if condition is None:
        return
    if condition.get("operator") == "and":
        for member in condition.get("conditions", ()):
            yield from _conditions(member)
    else:
        yield condition
