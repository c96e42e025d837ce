"""What a call of a service takes: the patterns that it asks, and its writes, alone or in transactions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import cast

from singletable.blueprint import Blueprint, PatternBlueprint, ServiceBlueprint, StepBlueprint
from singletable.planning.amounts import Amount
from singletable.planning.charges import CallUnits, Charge, many
from singletable.planning.reads import Asked, Reads
from singletable.planning.volumes import Counts
from singletable.planning.writes import Kind, Writes


class Services:
    """Works out what the steps of services take."""

    def __init__(self, blueprint: Blueprint, reads: Reads, writes: Writes, counts: Counts) -> None:
        self._blueprint = blueprint
        self._reads = reads
        self._writes = writes
        self._counts = counts
        self._patterns = {
            name: each for each in blueprint.patterns for name in (each.number, each.method) if name
        }

    def steps(self, service: ServiceBlueprint) -> Iterator[CallUnits]:
        """Yield what each step takes."""
        for step in service.steps:
            made = self._pattern(step) if step.kind == "pattern" else self._write(step, service)
            if made is not None:
                yield replace(made, charges=tuple(many(made.charges, self._times(step))))

    def _times(self, step: StepBlueprint) -> Amount:
        if step.per:
            return self._counts.per(*step.per).or_nothing()
        middle = (step.least + step.most) / 2 if step.expected is None else step.expected
        return Amount(step.least, middle, step.most)

    def _pattern(self, step: StepBlueprint) -> CallUnits | None:
        pattern = self._patterns.get(step.of)
        if pattern is None:
            return None
        if step.is_consistent is not None:
            pattern = _consistent(pattern)
        made = self._reads.pattern(pattern, asked=Asked(step.limit, keys=1))
        written = [self._writes.pattern_write(write, pattern.operation) for write in pattern.writes]
        return replace(made, charges=(*made.charges, *(each for call in written for each in call.charges)))

    def _write(self, step: StepBlueprint, service: ServiceBlueprint) -> CallUnits | None:
        entity = self._blueprint.entity(step.of)
        if entity is None:
            return None
        if step.kind == "plan":
            return self._writes.deletion_plan(entity)
        made = self._writes.write(
            cast(Kind, step.kind), entity, step.fields, in_transaction=step.together > 0, certain=False
        )
        if step.kind == "delete":
            # What it owns may be gone already: services delete some of it by themselves, before.
            owned = [each if each.entity == step.of else _maybe(each) for each in made.charges]
            made = replace(made, charges=tuple(owned))
        beside = Counter(each.of for each in service.steps if each.together == step.together > 0)
        return replace(made, charges=tuple(_folded(each, step, beside) for each in made.charges))


def _folded(charge: Charge, step: StepBlueprint, beside: Counter[str]) -> Charge:
    """A transaction takes each item once: the update of a counter may be a part of another write of the parent."""
    is_other = charge.entity != step.of
    if step.together and is_other and (charge.entity in beside or beside[step.of] > 1):
        return replace(charge, units=charge.units.or_nothing())
    return charge


def _maybe(charge: Charge) -> Charge:
    return replace(charge, units=charge.units.or_nothing())


def _consistent(pattern: PatternBlueprint) -> PatternBlueprint:
    return replace(pattern, reads=tuple(replace(read, is_consistent=True) for read in pattern.reads))
