"""What each call of a design takes of one partition key: which key it goes to, with which share of its units.

Reads go where their pattern asks. Writes go to the places of the item that is written, be it the caller's, or one
that is kept beside it: a counter of a parent, a lock, a derived item, a copy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from singletable.blueprint import EntityBlueprint, PatternBlueprint, PlaceBlueprint, ReadBlueprint
from singletable.planning.charges import CallUnits, Charge, Direction
from singletable.planning.shares import (
    PLACEHOLDER,
    Spread,
    SpreadKind,
    Spreads,
    bindings,
    key_fields,
    key_names,
    key_text,
)
from singletable.planning.workload import WRITE_KINDS, Planner, WorkloadLine
from singletable.planning.writes import OPERATIONS

_LOCK: Final = "the lock of "
_NO_LOAD: Final = "no load is declared"


@dataclass(frozen=True, slots=True)
class KeySpace:
    """A partition key of the table or of an index: its template, and the placeholders that are constants."""

    index: str | None  # None: the table
    shape: str  # the template, its placeholders without names: items of several entities may share it
    template: str
    bound: tuple[tuple[int, str], ...] = ()  # placeholder by position, and its value

    @property
    def text(self) -> str:
        """The template with its constants filled in."""
        filled = dict(self.bound)
        at = iter(range(len(PLACEHOLDER.findall(self.template))))

        def fill(found: object) -> str:
            return filled.get(next(at), str(found))

        return PLACEHOLDER.sub(lambda found: fill(found.group(0)), self.template)

    def takes(self, other: KeySpace) -> bool:
        """Tell whether calls of another key may go to this one: it has no other constant."""
        return self.index == other.index and self.shape == other.shape and set(other.bound) <= set(self.bound)


@dataclass(frozen=True, slots=True)
class HeatLine:
    """What a pattern or a write takes of the busiest key, in the busiest second."""

    kind: str  # pattern, create, update, delete
    of: str
    direction: Direction
    calls_per_s: float
    units: float  # of one call, in this table or index, whatever key they go to
    share: (
        float | None
    )  # of them, those of the busiest key; None: the key has many values, nobody says how many
    assumption: str
    spread: SpreadKind
    entity: str = ""
    shards: int = 1

    @property
    def units_per_s(self) -> float:
        """The units that go to the busiest key in a second."""
        return self.calls_per_s * self.units * (self.share or 0.0)

    @property
    def units_of_call(self) -> float:
        """The units of the busiest key that one call takes on average."""
        return self.units * (self.share or 0.0)

    def __str__(self) -> str:
        share = "not counted" if self.share is None else f"{self.share:.3g} of it"
        return (
            f"{self.kind} {self.of}: {self.calls_per_s:,.3g} a second, of {self.units:,.3g} {self.direction} "
            f"units each, {share}: {self.units_per_s:,.3g} a second ({self.assumption})"
        )


@dataclass(frozen=True, slots=True)
class Contribution:
    """A line, and the key that it goes to."""

    key: KeySpace
    line: HeatLine


@dataclass(frozen=True, slots=True)
class _Step:
    """A charge of a call, with the key that it goes to by itself."""

    charge: Charge
    key: KeySpace
    spread: Spread
    fields: frozenset[str]
    is_own: bool  # of the entity that is read or written, and not of what is kept beside it


class Contributions:
    """Finds what each call of a plan takes of one key."""

    def __init__(self, planner: Planner) -> None:
        self._planner = planner
        self._blueprint = planner.blueprint
        self._spreads = Spreads(planner.sizes, planner.counts)
        self._local = {index.name for index in self._blueprint.indexes if index.is_local}

    def all(self) -> Iterator[Contribution]:
        """Yield what every call takes; calls without a load take it 0 times a second."""
        for line in (*self._planner.workload().lines, *self._unsaid()):
            yield from self._of_line(line)

    def _unsaid(self) -> Iterator[WorkloadLine]:
        """Yield the calls that have no load: what they would heat is known all the same."""
        loads = self._blueprint.loads
        asked = {load.of for load in loads if load.kind == "pattern"}
        written = {load.of for load in loads if load.kind in WRITE_KINDS}
        for pattern in self._blueprint.patterns:
            if not asked & {pattern.method, pattern.number} - {""}:
                call = self._planner.pattern(pattern)
                yield WorkloadLine("pattern", call.of, pattern.title, call, 0.0, 0.0, _NO_LOAD)
        for entity in self._blueprint.entities:
            if entity.derived is None and entity.name not in written:
                call = self._planner.write("create", entity)
                yield WorkloadLine("create", call.of, f"create {entity.name}", call, 0.0, 0.0, _NO_LOAD)

    # --- one line of the workload

    def _of_line(self, line: WorkloadLine) -> Iterator[Contribution]:
        steps = [step for step in self._steps(line.kind, line.call) if step.charge.units.mean]
        # A write that its patterns make is in their lines: nothing of it is left for its own.
        calls_per_s = line.peak_per_s if line.calls_month else 0.0
        merged: dict[tuple[KeySpace, Direction], HeatLine] = {}
        for step in _with_declared(steps, line.hottest_share):
            for key in self._keys(step):
                made = HeatLine(
                    *(line.kind, line.of, step.charge.direction, calls_per_s, step.charge.units.mean),
                    *(step.spread.share, step.spread.assumption, step.spread.kind, step.charge.entity),
                    step.spread.shards,
                )
                at = key, made.direction
                merged[at] = _merged(merged[at], made) if at in merged else made
        for (key, _), made in merged.items():
            if line.because == _NO_LOAD:
                made = replace(made, assumption=f"{_NO_LOAD}; {made.assumption}")
            yield Contribution(key, made)

    def _keys(self, step: _Step) -> Iterator[KeySpace]:
        yield step.key
        if step.key.index in self._local:  # a local index lies in the partitions of its table
            yield replace(step.key, index=None)

    def _steps(self, kind: str, call: CallUnits) -> Iterator[_Step]:
        pattern = self._planner.find_pattern(call.of) if kind == "pattern" else None
        reads = [] if pattern is None else list(pattern.reads)
        found: dict[str, tuple[ReadBlueprint, Spread]] = {}
        for charge in call.charges:
            if charge.direction == "write":
                yield from self._write(charge, _written(kind, call, pattern))
                continue
            read = _take(reads, charge)
            step = self._read(charge, read)
            if step is None:
                continue
            if read is not None and read.named_by in found:
                step = replace(step, spread=_followed(step.spread, *found[read.named_by], read))
            if read is not None:
                found.update(dict.fromkeys(read.entities, (read, step.spread)))
            yield step

    # --- reads

    def _read(self, charge: Charge, read: ReadBlueprint | None) -> _Step | None:
        if charge.operation == "Scan":
            return None  # it reads one partition after the other
        names = read.entities if read is not None else tuple(charge.entity.split(", "))
        entities = [entity for name in names if (entity := self._blueprint.entity(name)) is not None]
        if read is not None and read.lock is not None and entities:
            return self._lock(charge, entities[0], read.lock)
        asked = "" if read is None else self._asked(read)
        for entity in entities:
            place = self._place(entity, charge.index)
            bound = None if place is None else bindings(key_text(place.pk), asked) if asked else {}
            if place is not None and bound is not None:
                requests = 1 if read is None else read.count
                spread = self._spreads.over(entity, place, bound, requests=requests)
                spread = self._spreads.with_volume(entity, place, spread)
                return _Step(
                    charge, _key(charge.index, place, bound), spread, key_fields(place.pk), is_own=True
                )
        if not asked:
            return None
        key = KeySpace(charge.index, PLACEHOLDER.sub("{}", asked), asked)
        return _Step(charge, key, self._spreads.over_text(asked), frozenset(), is_own=True)

    def _asked(self, read: ReadBlueprint) -> str:
        """Return the template of the partition that a read asks for."""
        index = None if read.index is None else self._blueprint.index(read.index)
        table = self._blueprint.table
        pk, sk = (table.pk, table.sk) if index is None else (index.pk[0] if index.pk else "", None)
        for condition in read.key_conditions(pk, sk):
            if condition.attribute == pk and condition.operator == "=" and condition.templates:
                return condition.templates[0]
        return ""

    def _place(self, entity: EntityBlueprint, index: str | None) -> PlaceBlueprint | None:
        place = entity.place(index)
        return entity.place(None) if place is None and index in self._local else place

    # --- writes

    def _write(self, charge: Charge, own: Mapping[str, str]) -> Iterator[_Step]:
        entity = self._blueprint.entity(charge.entity)
        if entity is None:
            return
        for unique in entity.uniques:
            if charge.index is None and _lock_name(charge) == unique.name:
                yield self._lock(charge, entity, unique.name)
                return
        place = self._place(entity, charge.index)
        if place is None:
            return
        spread = self._spreads.with_volume(entity, place, self._spreads.over(entity, place))
        if spread.kind == "time" and own.get(entity.name) in ("update", "delete"):
            spread = replace(
                spread, assumption=f"{spread.assumption}; at worst, all that is changed is in one of them"
            )
        key = _key(charge.index, place, {})
        yield _Step(charge, key, spread, key_fields(place.pk), is_own=entity.name in own)

    def _lock(self, charge: Charge, entity: EntityBlueprint, name: str) -> _Step:
        template = next((unique.template for unique in entity.uniques if unique.name == name), name)
        key = KeySpace(None, PLACEHOLDER.sub("{}", template), template)
        fields = frozenset(PLACEHOLDER.findall(template))
        return _Step(charge, key, self._spreads.lock(entity), fields, is_own=False)


# --- shares that are declared ---------------------------------------------------------------------------


def _with_declared(steps: list[_Step], declared: float | None) -> list[_Step]:
    """Return the steps with the declared share of a load, at the keys that it is said for.

    A load has one share, and may reach several keys. It is that of the key with the fewest values, since the share
    of any other is smaller; only a share of all is said for a constant key. What is kept under the same fields has
    it too.
    """
    own = [step for step in steps if step.is_own]
    if declared is None or not own:
        return steps
    if declared < 1:
        own = [step for step in own if not step.spread.is_constant] or own
    most = max(step.spread.weight for step in own)
    said = [step for step in own if step.spread.weight == most]
    keys = {step.key for step in said}
    fields = {step.fields for step in said if step.fields}
    why = f"declared: {declared:.3g} of the calls go to the busiest key"
    return [
        replace(step, spread=_declared(step.spread, declared, why))
        if step.key in keys or (not step.is_own and step.fields in fields)
        else step
        for step in steps
    ]


def _declared(spread: Spread, share: float, why: str) -> Spread:
    if spread.is_constant:
        return spread
    return replace(spread, share=share, kind="declared", assumption=why)


def _followed(spread: Spread, naming: ReadBlueprint, named: Spread, read: ReadBlueprint) -> Spread:
    """Return the spread of items that a list names: whoever reads the same list reads the same items."""
    items = read.limit or naming.limit or naming.returned
    if not items or named.share is None or named.share / items <= spread.weight:
        return spread
    why = f"the {items:g} items of a list that is read with a share of {named.share:.3g} are read again and again"
    return replace(spread, share=named.share / items, kind="followed", assumption=why)


# --- finding --------------------------------------------------------------------------------------------


def _key(index: str | None, place: PlaceBlueprint, bound: Mapping[str, str]) -> KeySpace:
    template = key_text(place.pk)
    positions = tuple((at, bound[name]) for at, name in enumerate(key_names(place.pk)) if name in bound)
    return KeySpace(index, PLACEHOLDER.sub("{}", template), template, positions)


def _take(reads: list[ReadBlueprint], charge: Charge) -> ReadBlueprint | None:
    """Take the request that a charge is of: they have the same order."""
    for at, read in enumerate(reads):
        if (read.operation, read.index, ", ".join(read.entities)) == (
            charge.operation,
            charge.index,
            charge.entity,
        ):
            return reads.pop(at)
    return None


def _written(kind: str, call: CallUnits, pattern: PatternBlueprint | None) -> dict[str, str]:
    """Return the entities that a call writes by itself, and how."""
    if pattern is None:
        return {call.of: kind}
    return {write.entity: OPERATIONS.get(write.operation, "update") for write in pattern.writes}


def _merged(one: HeatLine, other: HeatLine) -> HeatLine:
    """Return two charges of a call for the same key as one."""
    units = one.units + other.units
    known = [line for line in (one, other) if line.share is not None]
    share = sum(line.units_of_call for line in known) / units if known and units else None
    why = "; ".join(dict.fromkeys((*one.assumption.split("; "), *other.assumption.split("; "))))
    hotter = max(one, other, key=lambda line: line.units_of_call)
    return replace(hotter, units=units, share=share, assumption=why, shards=max(one.shards, other.shards))


def _lock_name(charge: Charge) -> str | None:
    if not charge.why.startswith(_LOCK):
        return None
    return charge.why.removeprefix(_LOCK).partition(",")[0]
