"""How many items there are of each entity, and how many of them lie together under one partition key."""

from __future__ import annotations

import re
from typing import Final

from singletable.blueprint import Blueprint, EntityBlueprint, KeyBlueprint, PlaceBlueprint
from singletable.planning.amounts import NOTHING, Amount
from singletable.planning.fields import PLACEHOLDER
from singletable.planning.sizes import Profile

_CHOICE: Final = re.compile(r"\"[^\"]*\"|'[^']*'|\b\d+\b")
_USER: Final = "user"


class Counts:
    """The numbers of items of a design for so many users. A measured profile counts before what is declared."""

    def __init__(self, blueprint: Blueprint, users: float | None, profile: Profile | None = None) -> None:
        self.blueprint = blueprint
        self.users = users
        self._profile = profile or {}
        self._volumes = {volume.entity.lower(): volume for volume in blueprint.volumes}
        self._found: dict[str, float | None] = {}
        # By the field that tells items of an entity apart; a design may have many entities. An entity whose key
        # has no other field is what the id names: a user, and not the votes of users.
        self._by_identity: dict[str | None, list[str]] = {}
        named: dict[str | None, list[str]] = {}
        for entity in blueprint.entities:
            if (home := entity.place(None)) is not None:
                name = self._last_name(home)
                is_alone = len({each for key in (home.pk, home.sk) if key for each in self._names(key)}) == 1
                (named if is_alone else self._by_identity).setdefault(name, []).append(entity.name)
        self._by_identity |= named

    def count(self, entity: str) -> float | None:
        """Return how many items of an entity there are; None where nobody has said it."""
        key = entity.lower()
        if key not in self._found:
            self._found[key] = None  # a volume for each of itself is unsaid
            self._found[key] = self._counted(key)
        return self._found[key]

    def together(self, entity: EntityBlueprint, place: PlaceBlueprint) -> Amount:
        """Return how many items of an entity lie under one partition key of a place."""
        found = self._profile.get(entity.name)
        if found is not None:
            return found.together.get(place.index, NOTHING)
        count = self.count(entity.name)
        if count is None:
            return Amount(0, 1, 1) if self._is_identity(entity, place.pk) else Amount(0, 10, 100)
        partitions = self.partitions(entity, place.pk)
        if partitions is None:
            return (
                Amount(0, 1, 1) if self._is_identity(entity, place.pk) else Amount(0, min(count, 10), count)
            )
        mean = count / max(1.0, min(partitions, count))
        volume = self._volumes.get(entity.name.lower())
        most = mean if volume is None or volume.hottest_share is None else volume.hottest_share * count
        if self._is_identity(entity, place.pk):
            return Amount(0, min(1.0, mean), 1)
        return Amount(0, mean, max(mean, most))

    def per(self, child: str, parent: str) -> Amount:
        """Return how many items of one entity belong to one item of another."""
        found = self._profile.get(child)
        if found is not None:
            return found.per.get(parent, NOTHING)
        own, its = self.count(parent), self.count(child)
        mean = its / own if own and its is not None else 1.0
        # Nobody declares how unequal parents are: ten times the mean is taken for the most.
        return Amount(0, mean, max(1.0, mean * 10))

    def partitions(self, entity: EntityBlueprint, key: KeyBlueprint) -> float | None:
        """Return how many values a partition key has; None where that cannot be told."""
        product = 1.0
        for name in self._names(key):
            values = self._values(entity, key, name)
            if values is None:
                return None
            product *= values
        return product

    # --- counting

    def _counted(self, key: str) -> float | None:
        for entity, profile in self._profile.items():
            if entity.lower() == key:
                return profile.count
        volume = self._volumes.get(key)
        if volume is None:
            return None
        each = self._each(volume.per)
        return None if each is None else volume.count * each

    def _each(self, per: str) -> float | None:
        """Return how many there are of what a volume is counted for."""
        if not per:
            return 1.0
        if per.lower() == _USER and self.users is not None:
            return self.users
        return self.count(per)

    @staticmethod
    def _names(key: KeyBlueprint) -> list[str]:
        if key.template is None:
            return [part.name for part in key.parts]
        return PLACEHOLDER.findall(key.template)

    def _values(self, entity: EntityBlueprint, key: KeyBlueprint, name: str) -> float | None:
        part = next((part for part in key.parts if part.name == name), None)
        if part is not None and part.shards is not None:
            return float(part.shards)
        if part is not None and (part.bucket is not None or part.letters is not None):
            return 26.0**part.letters if part.letters is not None else None
        field = name if part is None else part.field
        attribute = next((each for each in entity.attributes if each.name == field), None)
        if attribute is not None:
            if attribute.values:
                return float(len(attribute.values))
            if attribute.type == "bool":
                return 2.0
            if choices := _CHOICE.findall(attribute.type):
                return float(len(choices))
        return self._identified(entity, field)

    def _identified(self, entity: EntityBlueprint, field: str) -> float | None:
        """Return how many values an id has: as many as there are items of the entity that it names."""
        counts = [self.count(name) for name in self._by_identity.get(field, ())]
        known = [count for count in counts if count is not None]
        if known:
            return max(known)
        return self.users if field.lower().startswith(_USER) else None

    def _last_name(self, place: PlaceBlueprint) -> str | None:
        """Return the field that tells items of an entity apart: the last one of its key."""
        keys = [key for key in (place.pk, place.sk) if key is not None]
        names = [(key, name) for key in keys for name in self._names(key)]
        if not names:
            return None
        key, name = names[-1]
        part = next((part for part in key.parts if part.name == name), None)
        return name if part is None else part.field

    def _is_identity(self, entity: EntityBlueprint, key: KeyBlueprint) -> bool:
        """Tell whether a partition key has the fields that tell one item from all others."""
        home = entity.place(None)
        return home is not None and self._last_name(home) in self._names(key)
