"""One pass over a table: every item is looked at, and those that differ are changed, page by page.

After each page the record in the table says how far the pass is. Who goes on from there looks at one page once
more at most, and finds what is done to be as it should be.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from singletable.client.calls import Call, Steps, Together, read_units
from singletable.design.session.session import Session
from singletable.design.values.items import Item
from singletable.errors import DesignError
from singletable.migrate.applying import Applied, Applier, Decide, failure
from singletable.migrate.forms import Forms, ItemRewrite
from singletable.migrate.leases import MigrationLease
from singletable.migrate.pacing import Pacer
from singletable.migrate.records import FAILURES_MAX, Counts, Record, Segment

PAGE_ITEMS: Final = 100
SAMPLES_MAX: Final = 3


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a step is. The total is an estimate: DynamoDB counts items every few hours."""

    migration: str
    step: int
    says: str
    done: int = 0
    total: int = 0
    per_s: float = 0.0
    left_s: float | None = None
    detail: str = ""


Watch: TypeAlias = Callable[[Progress], object]


@dataclass(slots=True)
class PassOutcome:
    """What a pass has found, or done."""

    counts: Counts = field(default_factory=Counts)
    samples: list[dict[str, Any]] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    strangers: list[str] = field(default_factory=list)  # items of no entity, where those are a failure

    @property
    def differing(self) -> int:
        """How many items were, or are, not as they should be."""
        return self.counts.changed + self.counts.moved + self.counts.failed

    @property
    def wrong(self) -> int:
        """How many items differ, or are of no entity where that is a failure."""
        return self.differing + (self.counts.unknown if self.strangers else 0)


class Pass:
    """A pass over all items of a table."""

    def __init__(
        self,
        session: Session,
        lease: MigrationLease,
        pacer: Pacer,
        decide: Decide,
        *,
        forms: Forms,
        knows: Callable[[Item], object],
        writes: bool,
        minds_strangers: bool = False,
        gone: Collection[str] = (),
        looks_again: bool = False,
        imagined: Callable[[Item], Item] = lambda item: item,
        segments: int = 1,
        page_items: int = PAGE_ITEMS,
        watch: Callable[[int], object] = lambda seen: None,
    ) -> None:
        self._session = session
        self._lease = lease
        self._pacer = pacer
        self._decide = decide
        self._forms = forms
        self._knows = knows
        self._writes = writes
        self._minds_strangers = minds_strangers
        self._gone = gone  # entities that there must be no items of, whoever shares the table
        self._looks_again = looks_again
        self._imagined = imagined  # an item as it would be by now, in a dry run
        self._applier = Applier(session, decide, lease)
        self._segments = segments
        self._at_once = pacer.page_items(page_items)
        self._watch = watch
        self.outcome = PassOutcome()

    def run(self) -> Steps[PassOutcome]:
        """Go through the table, from where the record says."""
        before = self._lease.record
        segments = before.segments or (Segment(),) * self._segments
        while any(not segment.is_done for segment in segments):
            numbers = [number for number, segment in enumerate(segments) if not segment.is_done]
            answers = yield from self._scan(segments, numbers)
            for number, answer in zip(numbers, answers, strict=True):
                yield from self._take(answer)
                last = answer.get("LastEvaluatedKey")
                segments = (*segments[:number], Segment(last, last is None), *segments[number + 1 :])
            self._watch(self.outcome.counts.seen)
            yield from self._save(segments, before)
        return self.outcome

    def _save(self, segments: tuple[Segment, ...], before: Record) -> Steps[None]:
        """Write how far the pass is."""
        if self._writes:
            failures = dict.fromkeys((*before.failures, *self.outcome.failures))
            counts = before.counts.plus(self.outcome.counts)
            yield from self._lease.save(
                segments=segments,
                counts=counts,
                failures=tuple(failures)[:FAILURES_MAX],
                differing=before.differing + self.outcome.counts.failed,
            )
        else:
            differing = before.differing + self.outcome.wrong
            yield from self._lease.save(segments=segments, differing=differing)

    def _scan(self, segments: tuple[Segment, ...], numbers: list[int]) -> Steps[list[dict[str, Any]]]:
        calls = [self._scan_call(segments, number) for number in numbers]
        if len(calls) == 1:
            return [(yield calls[0])]
        answers: list[dict[str, Any]] = yield Together(tuple(calls))
        return answers

    def _scan_call(self, segments: tuple[Segment, ...], number: int) -> Call:
        params: dict[str, Any] = {
            "TableName": self._session.table,
            "ConsistentRead": True,
            "Limit": self._at_once,
            "ReturnConsumedCapacity": "TOTAL",
        }
        if len(segments) > 1:
            params |= {"Segment": number, "TotalSegments": len(segments)}
        last = segments[number].last
        if last is not None:
            params["ExclusiveStartKey"] = last
        return Call("Scan", params)

    def _take(self, answer: dict[str, Any]) -> Steps[None]:
        """Deal with the items of one page."""
        items = [item for item in answer["Items"] if not self._is_passed_over(item)]
        yield from self._pay(read_units(answer), len(items))
        yield from self._deal(items)

    def _is_passed_over(self, item: Item) -> bool:
        """Tell whether an item is none of the pass: the layer keeps it for itself."""
        return self._forms.is_reserved(item)

    def _deal(self, items: list[Item]) -> Steps[None]:
        """Change those items of a page that differ."""
        changes = list(self._changes(items))
        for at in range(0, len(changes), self._at_once):
            some = changes[at : at + self._at_once]
            if self._looks_again:
                some = yield from self._still_wanted(some)
            self.outcome.samples += [each.shown() for each in some[: SAMPLES_MAX - len(self.outcome.samples)]]
            applied = (yield from self._applier.apply(some)) if self._writes else _imagined(some)
            self._note(applied)
            if self._writes:
                yield from self._pay(applied.units, len(some))
                yield from self._lease.keep()

    def _still_wanted(self, changes: list[ItemRewrite]) -> Steps[list[ItemRewrite]]:
        """Return those changes that items still need: a writer may have made some since the page was read."""
        found = []
        for change in changes:
            applied = Applied()
            try:
                wanted = yield from self._applier.again(change.key, applied)
            except DesignError as error:
                self._fail(failure(change.key, error))
                wanted = None
            found += [] if wanted is None else [wanted]
            yield from self._pay(applied.units, 1)
            yield from self._lease.keep()
        return found

    def _changes(self, items: list[Item]) -> Iterator[ItemRewrite]:
        for item in items:
            self._add(seen=1)
            try:
                if not self._knows(item):
                    self._note_stranger(item)
                change = self._decide(item)
            except DesignError as error:
                self._fail(failure(self._key(item), error))
                continue
            if change is not None:
                yield change

    def _note_stranger(self, item: Item) -> None:
        self._add(unknown=1)
        catalog = self._session.catalog
        stored = item.get(catalog.discriminator, {}).get("S")
        is_minded = self._minds_strangers or stored in self._gone
        if is_minded and len(self.outcome.strangers) < FAILURES_MAX:
            why = (
                f"its {catalog.discriminator} is {stored}" if stored else f"it has no {catalog.discriminator}"
            )
            self.outcome.strangers.append(failure(self._key(item), f"{why}, so it is of no entity"))

    def _key(self, item: Item) -> Item:
        return self._session.catalog.key_in(item)

    def _pay(self, units: float, items: int) -> Steps[None]:
        seconds = self._pacer.spent(units=units, items=items)
        if seconds > 0:
            yield from self._lease.wait(seconds)

    def _note(self, applied: Applied) -> None:
        self._add(changed=applied.changed, moved=applied.moved)
        for text in applied.failures:
            self._fail(text)

    def _fail(self, text: str) -> None:
        self._add(failed=1)
        if len(self.outcome.failures) < FAILURES_MAX:
            self.outcome.failures.append(text)

    def _add(self, **more: int) -> None:
        counts = self.outcome.counts
        self.outcome.counts = replace(
            counts, **{name: getattr(counts, name) + number for name, number in more.items()}
        )


def _imagined(changes: list[ItemRewrite]) -> Applied:
    moved = sum(change.move is not None for change in changes)
    return Applied(changed=len(changes) - moved, moved=moved)
