"""What a write of an entity takes: the item, its index entries, and all that is kept beside it.

Whatever must agree at once is one transaction. What the stream keeps follows later, and is charged to the write
that caused it. An item that owns others is deleted with all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final, Literal

from singletable.blueprint import EntityBlueprint, WriteBlueprint
from singletable.planning.amounts import NOTHING, Amount
from singletable.planning.charges import CallUnits, Charge, many
from singletable.planning.entries import Entries
from singletable.planning.kept import Kept
from singletable.planning.rules import TRANSACTION_FACTOR, read_units, write_units
from singletable.planning.sizes import Sizes
from singletable.planning.volumes import Counts

Kind = Literal["create", "update", "delete", "put", "check"]

OPERATIONS: Final[dict[str, Kind]] = {
    "PutItem": "create",
    "UpdateItem": "update",
    "DeleteItem": "delete",
    "ConditionCheck": "check",
}
_REQUESTS: Final = {
    "create": "PutItem",
    "put": "PutItem",
    "update": "UpdateItem",
    "delete": "DeleteItem",
    "check": "ConditionCheck",
}
_OWNED_DEPTH: Final = 5  # a user owns posts, which own comments, which own reactions
_CASCADE_PAGE: Final = 100  # owned items are read in pages of so many


class Writes:
    """Works out what writes take."""

    def __init__(self, sizes: Sizes, counts: Counts) -> None:
        self._sizes = sizes
        self._counts = counts
        self._blueprint = sizes.blueprint
        self._entries = Entries(sizes)
        self._kept = Kept(sizes, counts, self._entries)

    def write(
        self,
        kind: Kind,
        entity: EntityBlueprint,
        fields: tuple[str, ...] = (),
        *,
        in_transaction: bool = False,
        certain: bool = True,
    ) -> CallUnits:
        """Return what one write takes. `fields` are those that an update changes, where that is known.

        Where an update sets fields that may have the value already, it is not `certain`.
        """
        notes: list[str] = []
        charges = [
            *self._written(kind, entity, fields, notes, in_transaction=in_transaction, certain=certain)
        ]
        if kind == "delete" and entity.owns and not in_transaction:
            charges += self._cascade(entity, depth=0)
        return CallUnits(kind, entity.name, tuple(charges), tuple(dict.fromkeys(notes)))

    def failed(self, kind: Kind, entity: EntityBlueprint) -> CallUnits:
        """Return what a write takes whose condition fails.

        A write whose condition is false consumes units by the size of the existing item, one at least (AWS guide,
        "Working with items": conditional writes). Index entries are not written.
        """
        made = self._written(kind, entity, (), [], in_transaction=False)
        refused = [
            replace(each, why=f"{each.why}; refused, and charged all the same")
            for each in made
            if each.index is None and each.by == "call"
        ]
        return CallUnits(kind, entity.name, tuple(refused))

    def expired(self, entity: EntityBlueprint) -> CallUnits:
        """Return what it takes that the time to live removes an item: nothing, but for what the stream keeps.

        Expired items are deleted without consuming write throughput (AWS guide, "Using time to live in DynamoDB").
        """
        free = Charge("TTL delete", "write", NOTHING, "free of charge", entity.name)
        later = [each for each in self._kept.beside("delete", entity, ()) if each.by == "stream"]
        return CallUnits("expire", entity.name, (free, *later))

    def moved_key(self, entity: EntityBlueprint) -> CallUnits:
        """Return what it takes to move an item to its new key (`was=`): a put and a delete in a transaction."""
        size = self._sizes.item(entity)
        put, delete = (self._entries.of(kind, entity, (), []) for kind in ("create", "delete"))
        charges = [
            Charge(
                "GetItem", "read", read_units(size, consistent=True) * 2, "read under both keys", entity.name
            ),
            _doubled(Charge("PutItem", "write", write_units(size), "under its new key", entity.name)),
            _doubled(Charge("DeleteItem", "write", write_units(size), "under its old key", entity.name)),
            *put,
            *delete,
        ]
        for unique in entity.uniques:
            lock = write_units(self._sizes.lock(entity, unique))
            charges.append(
                _doubled(Charge("UpdateItem", "write", lock, f"the lock of {unique.name}", entity.name))
            )
        return CallUnits("move", entity.name, tuple(charges))

    def deletion_plan(self, entity: EntityBlueprint) -> CallUnits:
        """Return what it takes to count all that an item owns, without deleting any of it."""
        owner, *owned = [each for each in self._cascade(entity, depth=0) if each.direction == "read"]
        # There may be nothing any more, and found items need not be read whole before they are counted.
        counted = [owner, *map(_maybe, owned)]
        return CallUnits("plan", entity.name, tuple(counted))

    def pattern_write(self, write: WriteBlueprint, operation: str = "") -> CallUnits:
        """Return what a write of a pattern takes; `operation` is the pattern's: Put tells an upsert."""
        entity = self._blueprint.entity(write.entity)
        kind = "put" if operation == "Put" else OPERATIONS.get(write.operation)
        if entity is None or kind is None:
            return CallUnits("write", write.entity, (), (f"{write.operation} {write.entity} is not counted",))
        made = self.write(kind, entity, write.fields)
        return replace(made, charges=tuple(many(made.charges, Amount.exactly(write.count))))

    # --- one item, with what is kept beside it

    def _written(
        self,
        kind: Kind,
        entity: EntityBlueprint,
        fields: tuple[str, ...],
        notes: list[str],
        *,
        in_transaction: bool,
        certain: bool = True,
    ) -> Iterator[Charge]:
        kept = [] if kind == "check" else list(self._kept.beside(kind, entity, fields, certain=certain))
        with_it = [each for each in kept if each.by == "call" and each.direction == "write"]
        beside = [each for each in with_it if each.index is None and each.units.high]
        size = self._sizes.item(entity)
        why = f"{size} bytes in blocks of 1 KB"
        own = Charge(_REQUESTS[kind], "write", write_units(size), why, entity.name)
        is_sure = in_transaction or any(each.units.low for each in beside)
        is_likely = is_sure or any(each.units.mean for each in beside)
        if is_sure or beside:
            yield _doubled(own, sure=is_sure, likely=is_likely)
        else:
            yield own
        if kind != "check":
            yield from self._entries.of(kind, entity, fields, notes, certain=certain)
        yield from map(_doubled, with_it)
        yield from (each for each in kept if each.direction == "read" or each.by == "stream")
        yield from self._read_first(kind, entity, has_effects=bool(beside))

    def _read_first(self, kind: Kind, entity: EntityBlueprint, *, has_effects: bool) -> Iterator[Charge]:
        """Yield the reads of the stored item: who writes by key alone, and needs to know more, reads it first.

        A transaction returns no item, so that it may be read again afterwards.
        """
        reads = {
            "update": 2 if has_effects else 1,
            "put": 1 if has_effects else 0,
            "delete": int(has_effects),
        }
        times = reads.get(kind, 0) + (1 if entity.aggregates and kind != "create" else 0)
        if times:
            units = (read_units(self._sizes.item(entity), consistent=True) * times).at_worst()
            yield Charge("GetItem", "read", units, "read first, if the caller has not", entity.name)

    # --- what it owns

    def _cascade(self, owner: EntityBlueprint, depth: int) -> Iterator[Charge]:
        """Yield what it takes to find and delete all that an item owns: the deepest first, the owner last."""
        read = read_units(self._sizes.item(owner), consistent=True)
        yield Charge("GetItem", "read", read, "the owner is read first", owner.name)
        yield from self._owned(owner, depth)

    def _owned(self, owner: EntityBlueprint, depth: int) -> Iterator[Charge]:
        for name in owner.owns if depth < _OWNED_DEPTH else ():
            child = self._blueprint.entity(name)
            if child is None:
                continue
            each = self._counts.per(name, owner.name)
            yield self._found(owner, child, each)
            deleted = list(self._written("delete", child, (), [], in_transaction=False))
            size = self._sizes.item(child)
            first = Charge(
                "GetItem", "read", read_units(size, consistent=True), "read before its delete", name
            )
            has_effects = any(charge.entity != name or "lock" in charge.why for charge in deleted)
            deeper = list(self._owned(child, depth + 1))
            all_of_one = [*deleted, *([first] if has_effects else []), *deeper]
            yield from many(all_of_one, each, why=f"{each} {name} of {owner.name}: ")

    def _found(self, owner: EntityBlueprint, child: EntityBlueprint, each: Amount) -> Charge:
        """Return the queries that find owned items: each page is rounded by itself, and an empty one counts."""
        held = self._sizes.item(child) * each
        pages = Amount(1, 1 + each.mean // _CASCADE_PAGE, 1 + each.high // _CASCADE_PAGE)
        units = read_units(held, consistent=True)
        # Of an index the query is eventually consistent, and made once more; a partition may hold other items too.
        low = Amount(0.5, units.mean, units.high * 2 + 2 * pages.high)
        return Charge("Query", "read", low, f"finds {each} {child.name}", child.name)


def _maybe(charge: Charge) -> Charge:
    return replace(charge, units=charge.units.or_nothing())


def _doubled(charge: Charge, *, sure: bool = True, likely: bool = True) -> Charge:
    """Return a charge as it is in a transaction: twice in the table; in an index as outside."""
    if charge.index is not None:
        return charge
    twice = charge.units * TRANSACTION_FACTOR
    units = Amount(
        twice.low if sure else charge.units.low,
        twice.mean if likely else charge.units.mean,
        twice.high,
    )
    return replace(charge, units=units, why=f"{charge.why}, twice in a transaction")
