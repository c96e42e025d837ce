"""What a write takes of indexes: an entry comes, goes, is rewritten, moves to another key, or stays as it is."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.blueprint import EntityBlueprint, IndexBlueprint, PlaceBlueprint
from singletable.planning.amounts import NOTHING, Amount
from singletable.planning.charges import By, Charge
from singletable.planning.fields import (
    auto_fields,
    computed_fields,
    condition_fields,
    fixed_fields,
    key_fields,
    optional_fields,
    plain_key_fields,
    stored_names,
)
from singletable.planning.rules import moved_entry_units, write_units
from singletable.planning.sizes import Sizes


class Entries:
    """Works out what writes take of indexes."""

    def __init__(self, sizes: Sizes) -> None:
        self._sizes = sizes
        self._blueprint = sizes.blueprint

    def of(
        self,
        kind: str,
        entity: EntityBlueprint,
        fields: tuple[str, ...],
        notes: list[str],
        by: By = "call",
        *,
        certain: bool = True,
    ) -> Iterator[Charge]:
        """Yield what a write takes of each index; not `certain`, where fields may be set as they are."""
        for place in entity.places:
            if place.index is None:
                continue
            index = self._blueprint.index(place.index)
            if index is None:
                notes.append(f"{entity.name} is said to be in {place.index}, which is no index: not counted")
                continue
            size = self._sizes.copy(entity, index)
            if kind in ("create", "delete"):
                # An entry that comes, and one that goes, is one write (AWS guide, "Provisioned throughput
                # considerations for global secondary indexes").
                units = write_units(size) * self._sizes.presence(entity, place)
                why = f"an entry of {size} bytes"
            elif kind == "put":
                units, why = self._replaced(entity, place, size)
            else:
                units, why = self._changed(entity, place, index, size, set(fields), notes)
                if not certain:
                    same, _ = self._changed(entity, place, index, size, set(), [])
                    units = Amount(min(units.low, same.low), units.mean, units.high)
            yield Charge("index entry", "write", units, why, entity.name, index.name, by)

    def _replaced(self, entity: EntityBlueprint, place: PlaceBlueprint, size: Amount) -> tuple[Amount, str]:
        """A put writes the whole item: an entry that is the same afterwards is not charged, and one may move."""
        once, moved = write_units(size), moved_entry_units(size)
        may_move = bool((key_fields(place) | set(condition_fields(place.when))) - fixed_fields(entity))
        share = self._sizes.presence(entity, place).mean
        high = moved.high if may_move else once.high
        return Amount(0, once.mean * share, high), f"an entry of {size} bytes, as far as it changes"

    def _changed(
        self,
        entity: EntityBlueprint,
        place: PlaceBlueprint,
        index: IndexBlueprint,
        size: Amount,
        fields: set[str],
        notes: list[str],
    ) -> tuple[Amount, str]:
        once, moved = write_units(size), moved_entry_units(size)
        present = self._sizes.presence(entity, place)
        changed = auto_fields(entity) | fields
        keys, decisive = key_fields(place), set(condition_fields(place.when))
        is_projected = index.projection == "ALL" or bool(
            stored_names(entity, changed) & {*index.included, *index.pk, *index.sk}
        )
        if not fields:
            return self._any_change(entity, place, index, size, is_projected=is_projected, notes=notes)
        text = f"an entry of {size} bytes"
        moving = keys & changed
        deciding = (decisive | (keys & optional_fields(entity))) & changed
        computed = (keys | decisive) & computed_fields(entity)
        if not (moving or deciding or computed):
            # An update that changes nothing that the index holds costs the index nothing (the same section).
            return (once * present, text) if is_projected else (NOTHING, f"{text} that does not change")
        if moving & plain_key_fields(place) and not deciding and not computed:
            why = f"its key moves: {text} is deleted and written again"
            return moved * present, why
        # The item may come into the index, leave it, move in it, or have been outside before and after.
        may_move = bool(moving or computed)
        low = once.low if not deciding and is_projected else 0.0
        high = moved.high if may_move else once.high
        mean = (moved.mean if moving and not deciding else once.mean) * (present.mean or 1.0)
        return Amount(low * present.low, mean, high), f"{text} comes, goes{' or moves' if may_move else ''}"

    def _any_change(
        self,
        entity: EntityBlueprint,
        place: PlaceBlueprint,
        index: IndexBlueprint,
        size: Amount,
        *,
        is_projected: bool,
        notes: list[str],
    ) -> tuple[Amount, str]:
        """An update of fields that nobody has named."""
        once, moved = write_units(size), moved_entry_units(size)
        present = self._sizes.presence(entity, place)
        keys, auto = key_fields(place), auto_fields(entity)
        text = f"an entry of {size} bytes"
        deciding = set(condition_fields(place.when)) | (keys & optional_fields(entity))
        if plain_key_fields(place) & auto and not deciding:
            return moved * present, f"an update moves its key: {text} is deleted and written again"
        least = (
            once.low * present.low if is_projected and auto and not deciding - fixed_fields(entity) else 0.0
        )
        mutable = (keys | deciding) - fixed_fields(entity)
        rewritten = once.mean * present.mean if is_projected or index.projection == "INCLUDE" else 0.0
        if not mutable:
            high = NOTHING if index.projection == "KEYS_ONLY" else once * present
            return Amount(least, rewritten, high.high), text
        if keys & auto:
            return Amount(least, moved.mean * present.mean, moved.high), f"an update moves its key: {text}"
        share = self._moving_share(entity, mutable)
        if share is None:
            notes.append(
                f"how often an update of {entity.name} changes {', '.join(sorted(mutable))}, and so moves its "
                f"entry in {index.name}, is not declared: it is counted as not moved, at worst as always moved"
            )
            share = 0.0
        expected = rewritten * (1 - share) + moved.mean * present.mean * share
        return Amount(least, expected, moved.high), f"{text}; moved in {share:.0%} of the updates"

    def _moving_share(self, entity: EntityBlueprint, mutable: set[str]) -> float | None:
        """Return which share of the updates changes one of these fields, as their load or attributes say."""
        for load in self._blueprint.loads:
            if load.kind == "update" and load.of == entity.name and load.changes:
                return min(1.0, sum(load.changes.get(name, 0.0) for name in mutable))
        rates = {each.name: each.updates_per_month for each in entity.attributes}
        known = {name: rate for name, rate in rates.items() if rate is not None}
        if not mutable <= known.keys():
            return None
        most = max(known.values(), default=0.0)
        return min(1.0, sum(known[name] for name in mutable) / most) if most else 0.0
