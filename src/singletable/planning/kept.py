"""What a write takes of the items that are kept beside it: locks, counters, copies, derived items.

Whatever must agree at once is written with it, in one transaction. What the stream keeps follows later, and is
charged to the write that caused it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from singletable.blueprint import AggregateBlueprint, EntityBlueprint
from singletable.planning.amounts import Amount
from singletable.planning.charges import By, Charge, many
from singletable.planning.entries import Entries
from singletable.planning.fields import (
    auto_fields,
    condition_fields,
    expiry_fields,
    link_fields,
    optional_fields,
)
from singletable.planning.rules import read_units, write_units
from singletable.planning.sizes import Sizes
from singletable.planning.volumes import Counts

_DEPTH = 3  # a reaction to a comment counts in the comment, which may count in its post


class Kept:
    """Works out what is kept beside items."""

    def __init__(self, sizes: Sizes, counts: Counts, entries: Entries) -> None:
        self._sizes = sizes
        self._counts = counts
        self._entries = entries
        self._blueprint = sizes.blueprint
        # Who keeps something of an entity: most keep nothing, and a design may have many.
        self._keepers: dict[str, dict[str, EntityBlueprint]] = {}
        for other in self._blueprint.entities:
            sources = [*(each.of for each in other.aggregates), *(each.of for each in other.copies)]
            for name in [*sources, *([other.derived.of] if other.derived is not None else [])]:
                self._keepers.setdefault(name, {})[other.name] = other

    def beside(
        self,
        kind: str,
        entity: EntityBlueprint,
        fields: tuple[str, ...],
        depth: int = 0,
        *,
        certain: bool = True,
    ) -> Iterator[Charge]:
        """Yield what is read and written beside one write, as if each write stood alone."""
        for lock in self._locks(kind, entity, fields):
            is_sure = certain or kind != "update"
            yield lock if is_sure else replace(lock, units=lock.units.or_nothing())
        if depth < _DEPTH:
            for other in self._keepers.get(entity.name, {}).values():
                yield from self._counters(kind, entity, other, fields, depth)
                if other.derived is not None and other.derived.of == entity.name:
                    yield from self._derived(kind, entity, other, fields)
                if kind != "delete":
                    yield from self._fan_out(kind, entity, other, fields)
        yield from self._sources(kind, entity)

    # --- locks

    def _locks(self, kind: str, entity: EntityBlueprint, fields: tuple[str, ...]) -> Iterator[Charge]:
        changed = {*fields, *auto_fields(entity)}
        for unique in entity.uniques:
            units = write_units(self._sizes.lock(entity, unique))
            twice = units * 2  # a new value takes its lock, and the old one is given back
            may_be_none = bool(set(unique.fields) & optional_fields(entity))
            why = f"the lock of {unique.name}"
            request = "DeleteItem" if kind == "delete" else "PutItem"
            if kind in ("create", "delete"):
                units = units.or_nothing() if may_be_none else units
            elif kind == "update" and set(unique.fields) & changed:
                units = twice.or_nothing() if may_be_none else twice
            elif kind == "update" and expiry_fields(entity) & changed:
                units = units.or_nothing() if may_be_none or entity.ttl is None or entity.ttl.when else units
                why += ", which expires with its item"
            elif kind == "update" and fields:
                continue
            else:
                units = twice.at_worst()
            yield Charge(request, "write", units, why, entity.name)
            if unique.was is not None:
                old = f"{why}, under its old key as long as there are such locks"
                yield Charge(request, "write", units.at_worst(), old, entity.name)

    # --- counters

    def _counters(
        self,
        kind: str,
        child: EntityBlueprint,
        parent: EntityBlueprint,
        fields: tuple[str, ...],
        depth: int,
    ) -> Iterator[Charge]:
        """Yield the update of the parent: one, however many of its fields count the same child."""
        for by in ("transaction", "stream"):
            counting = [each for each in parent.aggregates if each.of == child.name and each.by == by]
            if counting:
                made = self._counted(kind, child, parent, counting, set(fields), depth)
                yield from made if by == "transaction" else self._by_stream(list(made))

    def _by_stream(self, made: list[Charge]) -> Iterator[Charge]:
        """Yield what the consumer of the stream does: a record counts once, so a guard is written with the number.

        The two are a transaction. The guard expires by itself.
        """
        for charge in made:
            if charge.index is None and charge.direction == "write":
                guard = Amount(min(charge.units.low, 1), min(charge.units.mean, 1), max(charge.units.high, 1))
                why = "a guard, so that a record counts once, twice in a transaction"
                yield Charge("PutItem", "write", guard * 2, why, charge.entity, by="stream")
                charge = replace(charge, units=charge.units * 2, why=f"{charge.why}, twice in a transaction")
            yield replace(charge, by="stream")

    def _counted(
        self,
        kind: str,
        child: EntityBlueprint,
        parent: EntityBlueprint,
        counting: list[AggregateBlueprint],
        fields: set[str],
        depth: int,
    ) -> Iterator[Charge]:
        linked = {name for each in counting for name in link_fields(child, parent, each.via)}
        read = {each.of_field for each in counting if each.of_field}
        read |= {name for each in counting for name in condition_fields(each.when)}
        names = tuple(each.field for each in counting)
        changed = fields | auto_fields(child)
        if kind == "update" and fields and not changed & (read | linked):
            return
        is_known = kind in ("create", "delete") or bool(changed & (read | linked))
        is_sure = kind in ("create", "delete") and any(each.when is None for each in counting)
        is_sure = is_sure and not linked & optional_fields(child)
        parents = 2.0 if kind == "put" or (kind == "update" and (not fields or linked & changed)) else 1.0
        update = list(self._item("update", parent, names))
        update += self.beside("update", parent, names, depth + 1)
        # A number that an average, an index key or a derived item depends on is read first (an optimistic lock).
        size = self._sizes.item(parent)
        first = read_units(size, consistent=True).at_worst()
        update.append(Charge("GetItem", "read", first, "read before it is changed", parent.name))
        for charge in update:
            units = charge.units * Amount(1, 1, parents)
            if not is_sure:
                units = units.or_nothing() if is_known else units.at_worst()
            yield replace(
                charge, units=units, why=f"{parent.name} counts it ({', '.join(names)}): {charge.why}"
            )

    # --- derived items

    def _derived(
        self, kind: str, source: EntityBlueprint, made: EntityBlueprint, fields: tuple[str, ...]
    ) -> Iterator[Charge]:
        assert made.derived is not None
        reads = made.derived.reads
        changed = {*fields, *auto_fields(source)}
        if kind == "update" and fields and reads is not None and not set(reads) & changed:
            return
        each = self._counts.per(made.name, source.name)
        by: By = "stream" if made.derived.by == "stream" else "call"
        if kind in ("create", "delete"):
            # Of some sources nothing is derived, and how many items are is known only of all together.
            found = many(self._item(kind, made, ()), each.or_nothing())
        else:
            # An item that stays is written again, one with another key is deleted and made anew.
            found = many(self._item("create", made, ()), Amount(0, each.mean, each.high * 2))
        for charge in found:
            is_known = kind in ("create", "delete") or bool(fields)
            units = charge.units if is_known else charge.units.at_worst()
            why = f"{each} {made.name} for each {source.name}: {charge.why}"
            yield replace(charge, units=units, why=why, by=by)
        if by == "stream":
            yield self._looked_up(source, 2, "its consumer reads the source before and after")
            if kind != "delete":
                yield self._looked_up(made, each * 2, "its consumer reads what it replaces")

    # --- copies

    def _fan_out(
        self, kind: str, source: EntityBlueprint, holder: EntityBlueprint, fields: tuple[str, ...]
    ) -> Iterator[Charge]:
        """Yield the fan-out: all items that repeat a field of the source are read, and updated."""
        copied = [each for each in holder.copies if each.of == source.name]
        changed = {each.of_field for each in copied} & {*fields, *auto_fields(source)}
        if not copied or (fields and not changed):
            return
        by: By = "call" if all(each.by == "transaction" for each in copied) else "stream"
        if kind == "create" and by == "call":
            return
        # Of a new source nobody has a copy yet, but a consumer looks.
        each = Amount.exactly(0) if kind == "create" else self._counts.per(holder.name, source.name)
        update = self._item("update", holder, tuple(each.field for each in copied))
        query = read_units(self._sizes.item(holder) * each, consistent=True)
        found = [
            *many(update, each.or_nothing()),
            Charge("Query", "read", query.or_nothing(), "finds the copies", holder.name),
            self._looked_up(holder, each, "each is read before it is changed"),
            self._looked_up(source, 2, "reads the source before and after"),
        ]
        for charge in found:
            units = charge.units if changed or kind == "create" else charge.units.at_worst()
            why = f"fan-out to {each} {holder.name}: {charge.why}"
            yield replace(charge, units=units, why=why, by=by)

    def _sources(self, kind: str, entity: EntityBlueprint) -> Iterator[Charge]:
        """Yield the reads of the sources that a new item copies from, and the check that they stay so."""
        for name in dict.fromkeys(each.of for each in entity.copies):
            source = self._blueprint.entity(name)
            if source is None or kind == "delete":
                continue
            units = read_units(self._sizes.item(source), consistent=True)
            units = units if kind == "create" else units.at_worst()
            yield Charge("GetItem", "read", units.or_nothing(), f"{entity.name} repeats fields of it", name)
            if any(each.of == name and each.by == "stream" for each in entity.copies):
                yield self._looked_up(source, 1, "its consumer reads the source of a new copy")
            if any(each.of == name and each.by == "transaction" for each in entity.copies):
                check = write_units(self._sizes.item(source))
                check = check.or_nothing() if kind == "create" else check.at_worst()
                yield Charge("ConditionCheck", "write", check, "it still has what is repeated", name)

    # --- items

    def _item(self, kind: str, entity: EntityBlueprint, fields: tuple[str, ...]) -> Iterator[Charge]:
        size = self._sizes.item(entity)
        request = {"create": "PutItem", "delete": "DeleteItem"}.get(kind, "UpdateItem")
        yield Charge(request, "write", write_units(size), f"{size} bytes in blocks of 1 KB", entity.name)
        yield from self._entries.of(kind, entity, fields, [])

    def _looked_up(self, entity: EntityBlueprint, times: float | Amount, why: str) -> Charge:
        units = read_units(self._sizes.item(entity), consistent=True) * times
        return Charge("GetItem", "read", units.or_nothing(), why, entity.name, by="stream")
