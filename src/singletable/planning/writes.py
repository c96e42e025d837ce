"""What a write of an entity takes: the item, its index entries, and all that is kept beside it.

Whatever must agree at once is one transaction: locks of unique values, counters and derived items that are kept by
it. What the stream keeps follows later, and is charged to the write that caused it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal

from singletable.blueprint import EntityBlueprint, PlaceBlueprint, WriteBlueprint
from singletable.planning.amounts import Amount
from singletable.planning.charges import CallUnits, Charge
from singletable.planning.rules import TRANSACTION_FACTOR, moved_entry_units, write_units
from singletable.planning.sizes import Sizes
from singletable.planning.volumes import Counts

Kind = Literal["create", "update", "delete"]
By = Literal["call", "stream"]

OPERATIONS: Final[dict[str, Kind]] = {"PutItem": "create", "UpdateItem": "update", "DeleteItem": "delete"}
_REQUESTS: Final = {"create": "PutItem", "update": "UpdateItem", "delete": "DeleteItem"}
_STREAM: Final = "stream"


class Writes:
    """Works out what writes take."""

    def __init__(self, sizes: Sizes, counts: Counts) -> None:
        self._sizes = sizes
        self._counts = counts
        self._blueprint = sizes.blueprint

    def write(self, kind: Kind, entity: EntityBlueprint, fields: tuple[str, ...] = ()) -> CallUnits:
        """Return what one write takes. `fields` are those that an update changes, where that is known."""
        notes: list[str] = []
        kept = list(self._kept(kind, entity, fields))
        with_it = [charge for charge in kept if charge.by == "call"]
        is_transaction = any(charge.units.high and charge.index is None for charge in with_it)
        own = list(self._item(kind, entity, fields, notes))
        if is_transaction:
            may_be_alone = all(charge.units.low == 0 for charge in with_it if charge.index is None)
            own = [_doubled(charge, may_be_alone=may_be_alone) for charge in own]
            with_it = [_doubled(charge, may_be_alone=False) for charge in with_it]
        later = [charge for charge in kept if charge.by == _STREAM]
        return CallUnits(kind, entity.name, (*own, *with_it, *later), tuple(dict.fromkeys(notes)))

    def pattern_write(self, write: WriteBlueprint) -> CallUnits:
        """Return what a write of a pattern takes."""
        entity = self._blueprint.entity(write.entity)
        kind = OPERATIONS.get(write.operation)
        if entity is None or kind is None:
            return CallUnits("write", write.entity, (), (f"{write.operation} {write.entity} is not counted",))
        made = self.write(kind, entity, write.fields)
        many = Amount.exactly(write.count)
        charges = [
            Charge(
                each.operation, each.direction, each.units * many, each.why, each.entity, each.index, each.by
            )
            for each in made.charges
        ]
        return CallUnits(kind, entity.name, tuple(charges), made.notes)

    # --- the item and its index entries

    def _item(
        self, kind: Kind, entity: EntityBlueprint, fields: tuple[str, ...], notes: list[str], by: By = "call"
    ) -> Iterator[Charge]:
        size = self._sizes.item(entity)
        why = f"{size} bytes in blocks of 1 KB"
        yield Charge(_REQUESTS[kind], "write", write_units(size), why, entity.name, by=by)
        for place in entity.places:
            if place.index is not None:
                yield from self._entry(kind, entity, place, fields, notes, by)

    def _entry(
        self,
        kind: Kind,
        entity: EntityBlueprint,
        place: PlaceBlueprint,
        fields: tuple[str, ...],
        notes: list[str],
        by: By,
    ) -> Iterator[Charge]:
        index = self._blueprint.index(place.index or "")
        if index is None:
            notes.append(f"{entity.name} is said to be in {place.index}, which is no index: not counted")
            return
        size = self._sizes.copy(entity, index)
        present = self._sizes.presence(entity, place)
        if kind != "update":
            units = write_units(size) * present
            why = f"an entry of {size} bytes"
        else:
            units, why = self._changed_entry(entity, place, size, present, fields, notes)
        yield Charge("index entry", "write", units, why, entity.name, index.name, by)

    def _changed_entry(
        self,
        entity: EntityBlueprint,
        place: PlaceBlueprint,
        size: Amount,
        present: Amount,
        fields: tuple[str, ...],
        notes: list[str],
    ) -> tuple[Amount, str]:
        index = self._blueprint.index(place.index or "")
        assert index is not None
        once, moved = write_units(size) * present, moved_entry_units(size) * present
        led_by = _key_fields(place) | ({entity.version} & _key_fields(place) if entity.version else set())
        written = _auto_fields(entity)
        if led_by & written or (fields and led_by & set(fields)):
            return moved, f"an update moves its key: an entry of {size} bytes is deleted and written again"
        is_projected = index.projection == "ALL" or bool(
            _stored(entity, written | set(fields)) & set(index.included)
        )
        least = once.low if is_projected and (written or fields) else 0.0
        mutable = led_by - _fixed_fields(entity)
        if fields or not mutable:
            rewritten = once if is_projected else once.at_worst() if not fields else Amount.exactly(0)
            return Amount(
                min(least, rewritten.low), rewritten.mean, rewritten.high
            ), f"an entry of {size} bytes"
        share = _moving_share(entity, mutable)
        if share is None:
            notes.append(
                f"how often an update of {entity.name} changes {', '.join(sorted(mutable))}, and so moves its "
                f"entry in {index.name}, is not declared: it is counted as not moved, at worst as always moved"
            )
            share = 0.0
        expected = once.mean * (1 - share) + moved.mean * share if is_projected else moved.mean * share
        return Amount(
            least, expected, moved.high
        ), f"an entry of {size} bytes; moved in {share:.0%} of the updates"

    # --- what is kept beside it

    def _kept(self, kind: Kind, entity: EntityBlueprint, fields: tuple[str, ...]) -> Iterator[Charge]:
        yield from self._locks(kind, entity, fields)
        for parent in self._blueprint.entities:
            yield from self._counters(kind, entity, parent, fields)
            if parent.derived is not None and parent.derived.of == entity.name:
                yield from self._derived(kind, entity, parent, fields)
            if kind == "update":
                yield from self._copies(entity, parent, fields)

    def _locks(self, kind: Kind, entity: EntityBlueprint, fields: tuple[str, ...]) -> Iterator[Charge]:
        for unique in entity.uniques:
            units = write_units(self._sizes.lock(entity, unique))
            if kind == "update":
                is_changed = bool(set(fields) & set(unique.fields))
                units = units * 2 if is_changed else (units * 2).at_worst()
                if fields and not is_changed:
                    continue
            yield Charge(_REQUESTS[kind], "write", units, f"the lock of {unique.name}", entity.name)

    def _counters(
        self, kind: Kind, child: EntityBlueprint, parent: EntityBlueprint, fields: tuple[str, ...]
    ) -> Iterator[Charge]:
        """Yield the update of the parent: one, however many of its fields count the same child."""
        counting = [each for each in parent.aggregates if each.of == child.name and each.by != "application"]
        if not counting:
            return
        by: By = _STREAM if all(each.by == _STREAM for each in counting) else "call"
        names = tuple(each.field for each in counting)
        read = {each.of_field for each in counting if each.of_field} | {
            name for each in counting for name in _condition_fields(each.when)
        }
        is_sure = kind != "update" and any(each.when is None for each in counting)
        is_asked = kind == "update" and bool(set(fields) & read)
        if kind == "update" and ((fields and not is_asked) or not read):
            return
        for charge in self._item("update", parent, names, [], by):
            units = charge.units if is_sure or is_asked else charge.units.or_nothing()
            if kind == "update" and not is_asked:
                units = charge.units.at_worst()
            why = f"{parent.name} counts it ({', '.join(names)}): {charge.why}"
            yield Charge(charge.operation, "write", units, why, parent.name, charge.index, by)

    def _derived(
        self, kind: Kind, source: EntityBlueprint, made: EntityBlueprint, fields: tuple[str, ...]
    ) -> Iterator[Charge]:
        assert made.derived is not None
        by: By = _STREAM if made.derived.by == _STREAM else "call"
        own, its = self._counts.count(source.name), self._counts.count(made.name)
        each = its / own if own and its is not None else 1.0
        reads = set(made.derived.reads or ())
        if kind == "update" and fields and reads and not reads & set(fields):
            return
        for charge in self._item(kind, made, (), [], by):
            units = charge.units * Amount(0, each, max(1.0, each * 10))
            if kind == "update" and not (set(fields) & reads):
                units = (units * 2).at_worst()
            why = f"{each:g} {made.name} for each {source.name}: {charge.why}"
            yield Charge(charge.operation, "write", units, why, made.name, charge.index, by)

    def _copies(
        self, source: EntityBlueprint, holder: EntityBlueprint, fields: tuple[str, ...]
    ) -> Iterator[Charge]:
        """Yield the fan-out: every item that repeats a field of the source is updated when the field is."""
        copied = [each for each in holder.copies if each.of == source.name]
        if not copied:
            return
        names = {each.of_field for each in copied}
        if fields and not names & set(fields):
            return
        by: By = "call" if all(each.by == "transaction" for each in copied) else _STREAM
        own, its = self._counts.count(source.name), self._counts.count(holder.name)
        each = its / own if own and its is not None else 1.0
        for charge in self._item("update", holder, tuple(each.field for each in copied), [], by):
            units = charge.units * Amount(0, each, max(1.0, each * 10))
            units = units if names & set(fields) else units.at_worst()
            why = f"fan-out to {each:g} {holder.name}: {charge.why}"
            yield Charge(charge.operation, "write", units, why, holder.name, charge.index, by)


# --- fields ---------------------------------------------------------------------------------------------


def _doubled(charge: Charge, *, may_be_alone: bool) -> Charge:
    """Return a charge as it is in a transaction: twice in the table; in an index as outside."""
    if charge.index is not None:
        return charge
    twice = charge.units * TRANSACTION_FACTOR
    units = Amount(charge.units.low, charge.units.mean, twice.high) if may_be_alone else twice
    why = f"{charge.why}, twice in a transaction"
    return Charge(charge.operation, charge.direction, units, why, charge.entity, None, charge.by)


def _key_fields(place: PlaceBlueprint) -> set[str]:
    fields = {part.field for key in (place.pk, place.sk) if key is not None for part in key.parts}
    return fields | set(_condition_fields(place.when))


def _condition_fields(condition: object) -> Iterator[str]:
    if isinstance(condition, dict):
        if isinstance(condition.get("field"), str):
            yield condition["field"]
        for member in condition.values():
            yield from _condition_fields(member)
    elif isinstance(condition, list | tuple):
        for member in condition:
            yield from _condition_fields(member)


def _auto_fields(entity: EntityBlueprint) -> set[str]:
    """Return the fields that every write changes: the time of the update, the number of writes."""
    found = {
        attribute.name
        for attribute in entity.attributes
        for marker in attribute.markers
        if marker.get("kind") == "Auto" and marker.get("when") == "write"
    }
    return found | ({entity.version} if entity.version is not None else set())


def _fixed_fields(entity: EntityBlueprint) -> set[str]:
    """Return the fields that no update changes: those of the key, of the creation, and those said to be so."""
    home = entity.place(None)
    fixed = set() if home is None else _key_fields(home)
    for attribute in entity.attributes:
        is_made_once = any(
            marker.get("kind") == "Auto" and marker.get("when") == "create" for marker in attribute.markers
        )
        if attribute.is_immutable or is_made_once:
            fixed.add(attribute.name)
    return fixed


def _stored(entity: EntityBlueprint, fields: set[str]) -> set[str]:
    return {attribute.stored for attribute in entity.attributes if attribute.name in fields}


def _moving_share(entity: EntityBlueprint, mutable: set[str]) -> float | None:
    """Return which share of the updates changes one of these fields, as far as update rates are declared."""
    rates = {
        each.name: each.updates_per_month for each in entity.attributes if each.updates_per_month is not None
    }
    if not mutable <= rates.keys():
        return None
    most = max(rates.values(), default=0.0)
    return min(1.0, sum(rates[name] for name in mutable) / most) if most else 0.0
