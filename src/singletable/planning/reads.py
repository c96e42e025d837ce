"""What an access pattern takes, from its requests alone: each kind of request by AWS's rules."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from singletable.blueprint import EntityBlueprint, PatternBlueprint, PlaceBlueprint, ReadBlueprint
from singletable.planning.amounts import NOTHING, Amount, stepped, total
from singletable.planning.charges import CallUnits, Charge
from singletable.planning.rules import PAGE_BYTES, READ_UNIT_BYTES, paged_read_units, read_units
from singletable.planning.sizes import Sizes
from singletable.planning.volumes import Counts

_MISSING = Amount.exactly(0)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a caller asks for: so many items (a page; None: all there are), so many keys of a batch.

    `is_examined` tells that the limit counts the items that are read, with those that a filter drops.
    """

    limit: int | None = None
    keys: int | None = None
    is_examined: bool = False


ALL: Final = Asked()
Pages = Sequence[Sequence[float]]  # of each request, the sizes of the items that it read


class Reads:
    """Works out what patterns read."""

    def __init__(self, sizes: Sizes, counts: Counts) -> None:
        self._sizes = sizes
        self._counts = counts
        self._blueprint = sizes.blueprint

    def pattern(self, pattern: PatternBlueprint, items: float | None = None, asked: Asked = ALL) -> CallUnits:
        """Return what one call of a pattern takes, if nothing of it is cached; `items` as its load declares it."""
        charges: list[Charge] = []
        notes: list[str] = []
        returned: dict[str, Amount] = {}
        for each in pattern.reads:
            read, wanted = _declared(each, items, asked)
            charge, found = self._read(read, pattern.operation, returned, notes, wanted)
            if pattern.operation == "Composed":
                # Functions of the project decide what is asked, from what they have found.
                charge = replace(charge, units=charge.units.or_nothing())
            charges.append(charge)
            for entity in read.entities:
                returned[entity] = found
        if pattern.cached_s:
            notes.append(f"answers are cached for {pattern.cached_s:g} s: this is what one costs that is not")
        return _call(pattern, charges, notes)

    def answered(self, pattern: PatternBlueprint, pages: Sequence[Pages]) -> CallUnits:
        """Return what one call of a pattern takes whose answers are known: for each of its reads, what was read.

        Nothing varies then: a page is rounded as a whole, the items of a batch each by itself.
        """
        charges = []
        for read, found in zip(pattern.reads, pages, strict=True):
            units = total(self._known(read, sizes) for sizes in found)
            why = f"{len(found)} requests, {sum(map(len, found))} items, {_consistency(read)}"
            charges.append(Charge(read.operation, "read", units, why, _entities(read), read.index))
        return _call(pattern, charges, [])

    def _known(self, read: ReadBlueprint, sizes: Sequence[float]) -> Amount:
        is_transaction = read.operation == "TransactGetItems"
        is_page = read.operation in ("Query", "Scan")
        charged = [sum(sizes)] if is_page else sizes
        return total(
            read_units(Amount.exactly(size), consistent=read.is_consistent, transaction=is_transaction)
            for size in charged
        )

    def _read(
        self,
        read: ReadBlueprint,
        operation: str,
        returned: dict[str, Amount],
        notes: list[str],
        asked: Asked,
    ) -> tuple[Charge, Amount]:
        """Return what one kind of request takes, and how many items it returns."""
        match read.operation:
            case "GetItem" | "TransactGetItems" | "BatchGetItem":
                return self._get(read, returned, asked)
            case "Query":
                return self._query(read, operation, notes, asked)
            case "Scan":
                return self._scan(read, notes)
            case _:
                notes.append(f"{read.operation} is no operation that reads items: it is not counted")
                return Charge(read.operation, "read", NOTHING, "not counted", index=read.index), NOTHING

    # --- one item, or a batch of them

    def _get(self, read: ReadBlueprint, returned: dict[str, Amount], asked: Asked) -> tuple[Charge, Amount]:
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
            keys = keys if asked.limit is None else keys.at_most(asked.limit)
        elif read.operation == "BatchGetItem" and asked.keys is not None:
            keys = Amount.exactly(asked.keys)
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

    def _query(
        self, read: ReadBlueprint, operation: str, notes: list[str], asked: Asked
    ) -> tuple[Charge, Amount]:
        held = list(self._held(read))
        if not held:
            notes.append(
                "what a query reads is not known where no entity is named: counted as one small page"
            )
        if read.filter is not None and read.examined is None:
            notes.append("a filter drops items after they were read: all of the collection is counted")
        there = _Collection.of(held)
        if read.examined is not None or read.returned is not None:
            there = there.of_items(float(read.examined or read.returned or 0))
        limit = min((each for each in (read.limit, asked.limit) if each is not None), default=None)
        is_filtered = read.filter is not None or any(entity.ttl is not None for entity, _, _ in held)
        is_filtered = is_filtered and not asked.is_examined
        if operation == "Walk" and limit is None:
            # How many partitions there are follows from arguments: a month may have 28 days.
            units = _page(there, read, limit) * Amount(1, read.count, read.count)
        elif operation == "Walk" and limit is not None:
            units = _walked(there, read, limit, reads_on=is_filtered)
        elif operation == "Merged" and read.count > 1 and limit is not None:
            units = _merged(there, read, limit, reads_on=is_filtered and read.filter is not None)
        elif is_filtered and limit is not None:
            units = _filtered(there, read, limit)
        else:
            units = _page(there, read, limit) * read.count
        items = there.items if limit is None else there.items.at_most(limit)
        why = f"{items} items, {_blocks(there.first(limit).size)} for a page, {_consistency(read)}"
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
        if read.count > 1:
            found = found.or_nothing()  # of several partitions, such as the days of a month, some are empty
        if read.sort is not None and read.sort.operator == "=":
            return found.at_most(1)
        if read.sort is None:
            return found
        if read.sort.operator == "begins_with":
            # A prefix of constant text is that of an entity, one with arguments may be that of a few of its items.
            has_arguments = any("{" in template for template in read.sort.templates)
            return found.or_nothing() if has_arguments else found
        return Amount(0, found.mean / 2, found.high)

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


# --- what lies in one partition -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Collection:
    """Items that a query finds together: how many, how large one is, and how large all of them are."""

    items: Amount
    one: Amount
    size: Amount

    @classmethod
    def of(cls, held: Sequence[tuple[EntityBlueprint, Amount, Amount]]) -> _Collection:
        items = total(count for _, _, count in held)
        size = total(size * count for _, size, count in held)
        if not held:
            return cls(items, NOTHING, size)
        mean = size.mean / items.mean if items.mean else sum(size.mean for _, size, _ in held) / len(held)
        least = min(size.low for _, size, _ in held)
        most = max(size.high for _, size, _ in held)
        return cls(items, Amount(least, mean, most), size)

    def of_items(self, count: float) -> _Collection:
        """Return so many of such items."""
        return _Collection(Amount.exactly(count), self.one, self.one * count)

    def first(self, limit: float | None) -> _Collection:
        """Return what a page of it holds: so many items at most, and 1 MB, which the last item may exceed."""
        items = self.items if limit is None else self.items.at_most(limit)
        size = self.size
        if limit is not None and limit < self.items.high:
            size = Amount(
                min(size.low, self.one.low * items.low),
                min(size.mean, self.one.mean * items.mean),
                min(size.high, self.one.high * items.high),
            )
        most = Amount(PAGE_BYTES, PAGE_BYTES, PAGE_BYTES + self.one.high)
        bounded = Amount(min(size.low, most.low), min(size.mean, most.mean), min(size.high, most.high))
        return _Collection(items, self.one, bounded)


def _page(there: _Collection, read: ReadBlueprint, limit: float | None) -> Amount:
    """One request; where a pattern is said to read on, all pages."""
    if limit is None and read.is_paged:
        return paged_read_units(Amount.exactly(1), there.size, consistent=read.is_consistent)
    return read_units(there.first(limit).size, consistent=read.is_consistent)


def _filtered(there: _Collection, read: ReadBlueprint, limit: int) -> Amount:
    """A filter drops items after they were read, so that one reads on: at worst to the end, with an empty page."""
    once = _page(there, read, limit)
    requests = math.ceil(there.items.high / max(limit, 1)) + 1
    whole = read_units(Amount.exactly(there.size.high), consistent=read.is_consistent)
    step = _step(read)
    return Amount(once.low, once.mean, max(once.high, whole.high + step * (requests - 1))) * read.count


def _merged(there: _Collection, read: ReadBlueprint, limit: int, *, reads_on: bool) -> Amount:
    """Partitions are read side by side, each twice its share; one that has more is read again."""
    share = min(limit, 2 * limit // read.count + 1)
    each = _page(there, read, share)
    again = math.ceil(limit / share)
    if reads_on:
        each = Amount(each.low, each.mean, _filtered(there, replace(read, count=1), share).high)
    return Amount(each.low * read.count, each.mean * read.count, each.high * (read.count + again))


def _walked(there: _Collection, read: ReadBlueprint, limit: int, *, reads_on: bool) -> Amount:
    """Partitions are read one after the other, until there are enough items."""
    each = _page(there, read, limit)
    needed = min(read.count, math.ceil(limit / there.items.mean)) if there.items.mean else read.count
    most = _filtered(there, replace(read, count=1), limit).high if reads_on else each.high
    return Amount(_step(read), each.mean * needed, most * read.count)


def _step(read: ReadBlueprint) -> float:
    return 1.0 if read.is_consistent else 0.5


def _declared(read: ReadBlueprint, items: float | None, asked: Asked) -> tuple[ReadBlueprint, Asked]:
    """Return a read as a load says that it is asked: for so many items in all, of one partition or of several."""
    if items is None:
        return read, asked
    if read.operation == "BatchGetItem":
        return read, replace(asked, keys=math.ceil(items)) if asked.keys is None else asked
    if read.operation != "Query" or read.examined is not None:
        return read, asked
    if read.count > 1:
        limit = max(1, math.ceil(items))
        return read, replace(asked, limit=limit, is_examined=True) if asked.limit is None else asked
    return replace(read, examined=items), asked


def _call(pattern: PatternBlueprint, charges: Sequence[Charge], notes: Sequence[str]) -> CallUnits:
    name = pattern.method or pattern.number
    return CallUnits("pattern", name, tuple(charges), tuple(dict.fromkeys(notes)))


# --- sentences ------------------------------------------------------------------------------------------


def _entities(read: ReadBlueprint) -> str:
    return ", ".join(read.entities)


def _consistency(read: ReadBlueprint) -> str:
    return "consistent" if read.is_consistent else "eventually consistent: half"


def _blocks(size: Amount) -> str:
    blocks = stepped(size, READ_UNIT_BYTES)
    return f"{size} bytes in blocks of 4 KB: {blocks}"
