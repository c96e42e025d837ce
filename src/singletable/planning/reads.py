"""What an access pattern takes, from its requests alone: each kind of request by AWS's rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from singletable.blueprint import EntityBlueprint, PatternBlueprint, PlaceBlueprint, ReadBlueprint
from singletable.planning.amounts import NOTHING, Amount, stepped, total
from singletable.planning.charges import CallUnits, Charge
from singletable.planning.rules import PAGE_BYTES, READ_UNIT_BYTES, paged_read_units, read_units
from singletable.planning.sizes import Sizes
from singletable.planning.volumes import Counts

_MISSING = Amount.exactly(0)


class Reads:
    """Works out what patterns read."""

    def __init__(self, sizes: Sizes, counts: Counts) -> None:
        self._sizes = sizes
        self._counts = counts
        self._blueprint = sizes.blueprint

    def pattern(self, pattern: PatternBlueprint, items: float | None = None) -> CallUnits:
        """Return what one call of a pattern takes, if nothing of it is cached; `items` as its load declares it."""
        charges: list[Charge] = []
        notes: list[str] = []
        returned: dict[str, Amount] = {}
        for read in pattern.reads:
            if items is not None and read.operation == "Query" and read.examined is None:
                read = replace(read, examined=items)
            charge, found = self._read(read, returned, notes)
            charges.append(charge)
            for entity in read.entities:
                returned[entity] = found
        if pattern.cached_s:
            notes.append(f"answers are cached for {pattern.cached_s:g} s: this is what one costs that is not")
        return CallUnits(
            "pattern", pattern.method or pattern.number, tuple(charges), tuple(dict.fromkeys(notes))
        )

    def _read(
        self, read: ReadBlueprint, returned: dict[str, Amount], notes: list[str]
    ) -> tuple[Charge, Amount]:
        """Return what one kind of request takes, and how many items it returns."""
        match read.operation:
            case "GetItem" | "TransactGetItems" | "BatchGetItem":
                return self._get(read, returned)
            case "Query":
                return self._query(read, notes)
            case "Scan":
                return self._scan(read, notes)
            case _:
                notes.append(f"{read.operation} is no operation that reads items: it is not counted")
                return Charge(read.operation, "read", NOTHING, "not counted", index=read.index), NOTHING

    # --- one item, or a batch of them

    def _get(self, read: ReadBlueprint, returned: dict[str, Amount]) -> tuple[Charge, Amount]:
        size = self._one_of(read)
        is_transaction = read.operation == "TransactGetItems"
        # A missing item is charged as a small one, so that a read may be that of nothing.
        units = read_units(
            Amount(min(_MISSING.low, size.low), size.mean, size.high),
            consistent=read.is_consistent,
            transaction=is_transaction,
        )
        keys = Amount.exactly(read.count)
        if read.named_by is not None:
            keys = returned.get(read.named_by, NOTHING)
        elif read.operation == "BatchGetItem" and read.returned is not None:
            keys = Amount.exactly(read.returned)
        how = "twice in a transaction" if is_transaction else _consistency(read)
        why = f"{_blocks(size)} an item, {how}, {keys} of them"
        charge = Charge(read.operation, "read", units * keys, why, _entities(read), read.index)
        return charge, keys

    def _one_of(self, read: ReadBlueprint) -> Amount:
        found = [self._blueprint.entity(name) for name in read.entities]
        entities = [entity for entity in found if entity is not None]
        if read.lock is not None:
            locks = [
                self._sizes.lock(entity, unique)
                for entity in entities
                for unique in entity.uniques
                if unique.name == read.lock
            ]
            return locks[0] if locks else Amount.exactly(100)
        sizes = [self._sizes.item(entity) for entity in entities]
        if not sizes:
            return Amount(0, READ_UNIT_BYTES, READ_UNIT_BYTES)
        return Amount(
            min(size.low for size in sizes),
            sum(size.mean for size in sizes) / len(sizes),
            max(size.high for size in sizes),
        )

    # --- a collection

    def _query(self, read: ReadBlueprint, notes: list[str]) -> tuple[Charge, Amount]:
        held = list(self._held(read))
        if not held:
            notes.append(
                "what a query reads is not known where no entity is named: counted as one small page"
            )
        items = total(count for _, _, count in held)
        size = total(size * count for _, size, count in held)
        if read.examined is not None or read.returned is not None:
            expected = float(read.examined or read.returned or 0)
            size = _mean_size(held) * Amount.exactly(expected)
            items = Amount.exactly(expected)
        if read.limit is not None and read.limit < items.high:
            size = Amount(
                min(size.low, _smallest(held) * read.limit),
                min(size.mean, _mean_size(held).mean * read.limit),
                min(size.high, _mean_size(held).high * read.limit),
            )
            items = items.at_most(read.limit)
        size = size.at_most(PAGE_BYTES)
        if read.filter is not None and read.examined is None:
            notes.append("a filter drops items after they were read: all of the collection is counted")
        units = paged_read_units(Amount.exactly(1), size, consistent=read.is_consistent) * read.count
        why = f"{items} items, {_blocks(size)} for a page, {_consistency(read)}"
        if read.count > 1:
            why += f", {read.count} such requests"
        return Charge("Query", "read", units, why, _entities(read), read.index), items

    def _held(self, read: ReadBlueprint) -> Iterator[tuple[EntityBlueprint, Amount, Amount]]:
        """Yield the entities that a query meets in one partition: size of one, and how many of them."""
        index = None if read.index is None else self._blueprint.index(read.index)
        for name in read.entities:
            entity = self._blueprint.entity(name)
            if entity is None:
                continue
            size = self._sizes.item(entity) if index is None else self._sizes.copy(entity, index)
            place = entity.place(read.index)
            yield entity, size, self._count_in(entity, place, read)

    def _count_in(self, entity: EntityBlueprint, place: PlaceBlueprint | None, read: ReadBlueprint) -> Amount:
        if place is None:
            return Amount(0, 1, 10)
        found = self._counts.together(entity, place)
        if read.sort is not None and read.sort.operator == "=":
            return found.at_most(1)
        is_whole = read.sort is None or read.sort.operator == "begins_with"
        return found if is_whole else Amount(0, found.mean / 2, found.high)

    def _scan(self, read: ReadBlueprint, notes: list[str]) -> tuple[Charge, Amount]:
        notes.append("a scan reads every item of the table or index, whatever it returns")
        size, items = NOTHING, NOTHING
        index = None if read.index is None else self._blueprint.index(read.index)
        for entity in self._blueprint.entities:
            place = entity.place(read.index)
            count = self._counts.count(entity.name)
            if place is None or count is None:
                continue
            one = self._sizes.item(entity) if index is None else self._sizes.copy(entity, index)
            held = self._sizes.presence(entity, place) * count
            size, items = size + one * held, items + held
        if read.limit is not None:
            size = size.at_most(PAGE_BYTES)
        units = paged_read_units(Amount.exactly(1), size, consistent=read.is_consistent)
        why = f"{items} items, {_blocks(size)} in all, {_consistency(read)}"
        return Charge("Scan", "read", units, why, _entities(read), read.index), items


# --- sentences ------------------------------------------------------------------------------------------


def _entities(read: ReadBlueprint) -> str:
    return ", ".join(read.entities)


def _consistency(read: ReadBlueprint) -> str:
    return "consistent" if read.is_consistent else "eventually consistent: half"


def _blocks(size: Amount) -> str:
    blocks = stepped(size, READ_UNIT_BYTES)
    return f"{size} bytes in blocks of 4 KB: {blocks}"


def _mean_size(held: list[tuple[EntityBlueprint, Amount, Amount]]) -> Amount:
    sizes = [size for _, size, _ in held]
    if not sizes:
        return NOTHING
    return Amount(
        min(size.low for size in sizes),
        sum(size.mean for size in sizes) / len(sizes),
        max(size.high for size in sizes),
    )


def _smallest(held: list[tuple[EntityBlueprint, Amount, Amount]]) -> float:
    return min((size.low for _, size, _ in held), default=0.0)
