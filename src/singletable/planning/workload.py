"""What a design does in a month and at its peak, for so many users: its calls with their units, and its storage.

Loads of patterns and of writes count all of theirs, whoever makes them. Services are made of them: what one call
of a service takes can be asked, and adds nothing. A pattern that writes is a part of the writes of its entity.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, cast

from singletable.blueprint import (
    Blueprint,
    EntityBlueprint,
    LoadBlueprint,
    PatternBlueprint,
    ServiceBlueprint,
)
from singletable.planning.amounts import NOTHING, Amount, total
from singletable.planning.charges import CallUnits, together
from singletable.planning.reads import ALL, Asked, Pages, Reads
from singletable.planning.rules import COLLECTION_BYTES, PARTITION_WRITES, stored_bytes
from singletable.planning.services import Services
from singletable.planning.sizes import Profile, Sizes
from singletable.planning.volumes import Counts
from singletable.planning.writes import OPERATIONS, Kind, Writes

MONTH_S: Final = 730 * 3_600  # AWS's calculator has 730 hours in a month
POLLS_PER_S: Final = 4.0
_LAMBDA: Final = "lambda"
WRITE_KINDS: Final = ("create", "update", "delete")
_Writing = Literal["create", "update", "delete"]
EXPIRE: Final = "expire"


@dataclass(frozen=True, slots=True)
class WorkloadLine:
    """A call of the design: what one takes, how often it is made, and what that rests on."""

    kind: str  # pattern, create, update, delete, expire
    of: str  # the method or number of a pattern; the name of an entity
    title: str
    call: CallUnits
    calls_month: float
    peak_per_s: float
    because: str
    hottest_share: float | None = None

    @property
    def reads_month(self) -> Amount:
        """The read units of a month."""
        return self.call.reads * self.calls_month

    @property
    def writes_month(self) -> Amount:
        """The write units of a month."""
        return self.call.writes * self.calls_month


@dataclass(frozen=True, slots=True)
class StoredPart:
    """What an entity takes in the table or in an index, with AWS's overhead for each item or entry."""

    entity: str
    index: str | None
    items: Amount
    size: Amount  # bytes


@dataclass(frozen=True, slots=True)
class Workload:
    """All calls and all storage of a design for so many users. `left_out` says what is not counted, and why."""

    users: float | None
    lines: tuple[WorkloadLine, ...]
    stored: tuple[StoredPart, ...]
    left_out: tuple[str, ...]
    stream_reads_month: float = 0.0  # GetRecords requests that are charged: those of Lambda are free
    stream_polls_month: float = 0.0  # all of them

    @property
    def reads_month(self) -> Amount:
        """The read units of a month."""
        return total(line.reads_month for line in self.lines)

    @property
    def writes_month(self) -> Amount:
        """The write units of a month."""
        return total(line.writes_month for line in self.lines)

    @property
    def peak_reads_per_s(self) -> float:
        """The read units of the busiest second, if all calls have theirs at once."""
        return sum(line.call.reads.mean * line.peak_per_s for line in self.lines)

    @property
    def peak_writes_per_s(self) -> float:
        """The write units of the busiest second, if all calls have theirs at once."""
        return sum(line.call.writes.mean * line.peak_per_s for line in self.lines)

    @property
    def stored_bytes(self) -> Amount:
        """The bytes of the table and of all indexes."""
        return total(part.size for part in self.stored)


class Planner:
    """Works out what a design takes, for so many users; without a number, for as many as it declares."""

    def __init__(
        self, blueprint: Blueprint, users: float | None = None, profile: Profile | None = None
    ) -> None:
        blueprint = replace(blueprint, loads=(*blueprint.loads, *_loads_of_rates(blueprint)))
        self.blueprint = blueprint
        self.users = blueprint.users if users is None else users
        self.sizes = Sizes(blueprint, profile)
        self.counts = Counts(blueprint, self.users, profile)
        self._reads = Reads(self.sizes, self.counts)
        self._writes = Writes(self.sizes, self.counts)
        self._is_measured = bool(profile)
        self._items = {load.of: load.items for load in blueprint.loads if load.kind == "pattern"}
        self._services = Services(blueprint, self._reads, self._writes, self.counts)

    # --- one call

    def pattern(self, pattern: PatternBlueprint, asked: Asked = ALL) -> CallUnits:
        """Return what one call of a pattern takes; `asked` are the items or keys that its caller asks for.

        How many items it reads is measured in a profile, or else as its load declares it.
        """
        name = pattern.method or pattern.number
        items = (
            None if self._is_measured else self._items.get(pattern.method, self._items.get(pattern.number))
        )
        written = [self._writes.pattern_write(write, pattern.operation) for write in pattern.writes]
        return together("pattern", name, (self._reads.pattern(pattern, items, asked), *written))

    def answered(self, pattern: PatternBlueprint, pages: Sequence[Pages]) -> CallUnits:
        """Return what a call of a pattern takes whose answers are known: see `Reads.answered`."""
        return self._reads.answered(pattern, pages)

    def write(self, kind: Kind, entity: EntityBlueprint, fields: Iterable[str] = ()) -> CallUnits:
        """Return what one write of an entity takes. `fields` are those that an update changes."""
        return self._writes.write(kind, entity, tuple(fields))

    def transacted(self, kind: Kind, entity: EntityBlueprint, fields: Iterable[str] = ()) -> CallUnits:
        """Return what a write or a condition check takes as a part of a transaction."""
        return self._writes.write(kind, entity, tuple(fields), in_transaction=True)

    def failed(self, kind: Kind, entity: EntityBlueprint) -> CallUnits:
        """Return what a write takes whose condition fails."""
        return self._writes.failed(kind, entity)

    def expired(self, entity: EntityBlueprint) -> CallUnits:
        """Return what it takes that an item expires: nothing, but for what the stream keeps."""
        return self._writes.expired(entity)

    def moved_key(self, entity: EntityBlueprint) -> CallUnits:
        """Return what it takes that an item moves to another key (`was=`), before a write or in a migration."""
        return self._writes.moved_key(entity)

    def service(self, service: ServiceBlueprint) -> CallUnits:
        """Return what one call of a service takes: its steps, each as often as it is done."""
        if not service.steps:
            note = f"what one call of {service.name} does is not declared"
            return CallUnits("service", service.name, (), (note,))
        return together("service", service.name, self._services.steps(service))

    def find_pattern(self, name: str) -> PatternBlueprint | None:
        """Find a pattern by its method or number."""
        return next((each for each in self.blueprint.patterns if name in (each.method, each.number)), None)

    # --- all of them

    def workload(self) -> Workload:
        """Return all calls whose load is declared, and all storage."""
        left_out: list[str] = []
        lines = tuple(self._lines(left_out))
        stored = tuple(self._stored(left_out))
        made = Workload(self.users, lines, stored, ())
        polls = self._polls(made)
        return replace(
            made,
            left_out=tuple(dict.fromkeys(left_out)),
            stream_reads_month=sum(count for kind, count in polls if kind != _LAMBDA),
            stream_polls_month=sum(count for _, count in polls),
        )

    def _polls(self, made: Workload) -> list[tuple[str, float]]:
        """Return the kind of each reader of the stream, and how often it asks in a month.

        Lambda polls each shard of a stream four times a second (AWS Lambda guide, "Process DynamoDB records with
        Lambda"); its GetRecords calls are free (AWS, "Amazon
        DynamoDB pricing"). Any other reader is taken to ask as often. A partition of the table has one open shard,
        and there are as many partitions as its writes and its size need.
        """
        if self.blueprint.table.stream is None:
            return []
        table = sum(part.size.mean for part in made.stored if part.index is None)
        shards = max(
            1.0,
            math.ceil(made.peak_writes_per_s / PARTITION_WRITES),
            math.ceil(table / COLLECTION_BYTES),
        )
        return [(each.kind, POLLS_PER_S * shards * MONTH_S) for each in self.blueprint.consumers]

    def _lines(self, left_out: list[str]) -> Iterator[WorkloadLine]:
        counted: set[tuple[str, str]] = set()
        for load in self.blueprint.loads:
            call, title = self._call(load)
            if call is None:
                if load.kind in ("pattern", *WRITE_KINDS, EXPIRE):
                    left_out.append(f"the load of the {load.kind} {load.of}: the design has no such thing")
                continue
            calls_month = self._monthly(load, left_out)
            if calls_month is None:
                continue
            counted.add((load.kind, call.of))
            calls_month = max(0.0, calls_month - self._by_patterns(load))
            peak = self._peak(load, calls_month)
            failing = load.fails or 0.0
            made = WorkloadLine(
                load.kind,
                call.of,
                title,
                call,
                calls_month * (1 - failing),
                peak * (1 - failing),
                load.because,
                load.hottest_share,
            )
            yield made
            if failing:
                yield self._failing(load, made, calls_month * failing, peak * failing)
        yield from self._expiring()
        left_out += self._unsaid(counted)

    def _failing(self, load: LoadBlueprint, line: WorkloadLine, calls: float, peak: float) -> WorkloadLine:
        """Return the line of those calls whose condition fails: AWS charges them, and nothing is written."""
        call = self._refused(load) or line.call
        title = f"{line.title}, whose condition fails"
        return replace(line, call=call, calls_month=calls, peak_per_s=peak, title=title)

    def _refused(self, load: LoadBlueprint) -> CallUnits | None:
        if load.kind in WRITE_KINDS:
            entity = self.blueprint.entity(load.of)
            return None if entity is None else self._writes.failed(cast(Kind, load.kind), entity)
        pattern = self.find_pattern(load.of)
        if pattern is None or not pattern.writes:
            return None
        refused = [
            self._writes.failed(OPERATIONS[write.operation], entity)
            for write in pattern.writes
            if write.operation in OPERATIONS and (entity := self.blueprint.entity(write.entity)) is not None
        ]
        return together("pattern", pattern.method or pattern.number, refused)

    def _expiring(self) -> Iterator[WorkloadLine]:
        """Yield what the time to live deletes and no load says: what is made, and is not deleted before."""
        said = {load.of for load in self.blueprint.loads if load.kind == EXPIRE}
        for entity in self.blueprint.entities:
            if entity.ttl is None or entity.name in said:
                continue
            made = {
                load.kind: self._monthly(load, []) or 0.0
                for load in self.blueprint.loads
                if load.of == entity.name and load.kind in ("create", "delete")
            }
            expiring = max(0.0, made.get("create", 0.0) - made.get("delete", 0.0))
            if expiring:
                title = f"{entity.name} expires (TTL)"
                because = "what is made expires, unless it is deleted before; AWS does not charge it"
                call = self._writes.expired(entity)
                yield WorkloadLine(EXPIRE, entity.name, title, call, expiring, expiring / MONTH_S, because)

    def _by_patterns(self, load: LoadBlueprint) -> float:
        """Return how many of an entity's writes are those of patterns, whose lines count them."""
        if load.kind not in WRITE_KINDS:
            return 0.0
        writing = {
            name: sum(
                write.count
                for write in pattern.writes
                if write.entity == load.of and OPERATIONS.get(write.operation) == load.kind
            )
            for pattern in self.blueprint.patterns
            for name in (pattern.method, pattern.number)
            if name and pattern.writes
        }
        return sum(
            writing[each.of] * (self._monthly(each, []) or 0.0)
            for each in self.blueprint.loads
            if each.kind == "pattern" and each.of in writing
        )

    def _call(self, load: LoadBlueprint) -> tuple[CallUnits | None, str]:
        if load.kind == "pattern":
            pattern = self.find_pattern(load.of)
            return (None, "") if pattern is None else (self.pattern(pattern), pattern.title)
        entity = self.blueprint.entity(load.of) if load.kind in (*WRITE_KINDS, EXPIRE) else None
        if entity is None:
            return None, ""
        if load.kind == EXPIRE:
            return self.expired(entity), f"{entity.name} expires (TTL)"
        return self.write(cast(Kind, load.kind), entity), f"{load.kind} {entity.name}"

    def _monthly(self, load: LoadBlueprint, left_out: list[str]) -> float | None:
        """Return how often something is done in a month. What is said for each user grows with them."""
        if load.monthly_per_user is not None:
            if self.users is not None:
                return load.monthly_per_user * self.users
            left_out.append(
                f"the load of {load.of} is said for each user, and how many users there are is not"
            )
            return None
        if load.monthly is not None:
            return load.monthly
        if load.peak_per_s is not None:
            return load.peak_per_s * MONTH_S
        left_out.append(f"the load of {load.of} has no number")
        return None

    def _peak(self, load: LoadBlueprint, calls_month: float) -> float:
        """Return how often it is done in the busiest second: as declared, for as many users as there are now."""
        mean = calls_month / MONTH_S
        if load.peak_per_s is None:
            return mean
        declared = self.blueprint.users
        if load.monthly_per_user is not None and declared and self.users is not None:
            return max(mean, load.peak_per_s * self.users / declared)
        return max(mean, load.peak_per_s)

    def _unsaid(self, counted: set[tuple[str, str]]) -> Iterator[str]:
        """Name what has no load, and so is not counted."""
        silent = [
            each.method or each.number
            for each in self.blueprint.patterns
            if ("pattern", each.method or each.number) not in counted
        ]
        if silent:
            yield f"patterns without a load: {', '.join(silent)}"
        unwritten = [
            entity.name
            for entity in self.blueprint.entities
            if entity.derived is None and not any((kind, entity.name) in counted for kind in WRITE_KINDS)
        ]
        if unwritten:
            yield f"entities without a load of writes: {', '.join(unwritten)}"

    # --- storage

    def _stored(self, left_out: list[str]) -> Iterator[StoredPart]:
        for entity in self.blueprint.entities:
            count = self.counts.count(entity.name)
            if count is None:
                left_out.append(f"the storage of {entity.name}: how many there are is not declared")
                continue
            items = Amount.exactly(count)
            yield StoredPart(entity.name, None, items, stored_bytes(self.sizes.item(entity), items))
            for place in entity.places:
                index = self.blueprint.index(place.index or "")
                if index is not None:
                    held = self.sizes.presence(entity, place) * count
                    yield StoredPart(
                        entity.name, index.name, held, stored_bytes(self.sizes.copy(entity, index), held)
                    )
            for unique in entity.uniques:
                known = self.sizes.profile.get(entity.name)
                locks = items if known is None else Amount.exactly(known.lock_count(unique.name))
                size = stored_bytes(self.sizes.lock(entity, unique), locks)
                yield StoredPart(f"{entity.name}, locks of {unique.name}", None, locks, size)
        others = getattr(self.sizes.profile, "others", None)
        if others is not None and others.count:
            items = Amount.exactly(others.count)
            yield StoredPart("items of no entity", None, items, stored_bytes(others.size, items))
        if not self.blueprint.entities:
            yield StoredPart("", None, NOTHING, NOTHING)


def _loads_of_rates(blueprint: Blueprint) -> Iterator[LoadBlueprint]:
    """Yield what is declared as a rate of a second alone: a load, which is newer, counts before it."""
    said = {(load.kind, load.of) for load in blueprint.loads}
    for pattern in blueprint.patterns:
        names = {pattern.method, pattern.number}
        if pattern.rps and not any(("pattern", name) in said for name in names):
            of = pattern.method or pattern.number
            yield LoadBlueprint("pattern", of, peak_per_s=pattern.rps, because=f"rps of {of}, as the mean")
    for rate in blueprint.rates:
        for kind, per_s in zip(WRITE_KINDS, (rate.creates, rate.updates, rate.deletes), strict=True):
            if per_s and (kind, rate.entity) not in said:
                because = f"rates of {rate.entity}, as the mean"
                yield LoadBlueprint(cast(_Writing, kind), rate.entity, peak_per_s=per_s, because=because)
