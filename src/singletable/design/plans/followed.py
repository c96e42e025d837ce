"""Followed plans: read some items of a source plan, then the items that they point to, and so on.

CardScore.ranked.query(pk).newest_first().follow(
    Card.key, lambda score: (CardPK(card_id=score.card_id), MetadataSK())
)
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Generic, Protocol, Self, TypeAlias, TypeVar, overload, runtime_checkable

from pydantic import BaseModel

from singletable.blueprint import ReadBlueprint
from singletable.client.calls import Steps
from singletable.design.keys.key import Key, NoSortKey, SortKey
from singletable.design.model.entity import key_values
from singletable.design.plans.batch_get import BatchGet, BatchGetRun
from singletable.design.plans.plan import (
    E,
    Identity,
    Many,
    PlanRunner,
    Positions,
    Reading,
    Requests,
    Run,
    Usage,
    inherited,
)
from singletable.design.plans.shape import PatternCalls, ReadsOf, filter_of, named_read
from singletable.design.session.expressions import condition_identity
from singletable.design.values.arguments import require_kind
from singletable.design.values.condition_values import conditions_on
from singletable.design.values.conditions import Condition, holds
from singletable.limits import BATCH_GET_ITEMS_MAX

T = TypeVar("T", bound=BaseModel)
PK = TypeVar("PK", bound=Key)
SK = TypeVar("SK", bound=SortKey)

AT_ONCE_MAX: Final = 1000

_Pair: TypeAlias = tuple[Key, SortKey | None]


class KeyPair(Protocol[PK, SK]):
    """The classes of a whole key."""

    pk: type[PK]
    sk: type[SK]


@runtime_checkable
class Target(Protocol[T, PK, SK]):
    """The keys of an entity in its table: `Card.key`."""

    @property
    def entity(self) -> type[T]: ...
    @property
    def keys(self) -> KeyPair[PK, SK]: ...
    def batch_get(self, keys: Iterable[Any]) -> BatchGet[T]: ...


class Followed(Many[T]):
    """Reads the items (targets) that the items of another plan (the source) point to, in the order of the source.

    Targets that are gone, expired, or already on the same page are left out. Cursors are positions of the source,
    so pages are exact. `consistent()` applies to the targets; the source decides how fresh the list of them is.
    `request()` returns the requests of the source, since only its answers hold the keys of the targets.
    """

    def __init__(
        self,
        source: Many[Any],
        to: Target[T, Any, Any],
        key: Callable[[Any], tuple[Key, SortKey] | Key | None],
    ) -> None:
        require_kind(to, Target, "items point to the keys of an entity, like Card.key")
        require_kind(key, Callable, "what tells where an item points is a function")
        to.batch_get(())  # refuses the keys of an index
        self.source = source
        self.to = to
        self.key = key
        self.conditions: tuple[Condition, ...] = ()
        self.runner = source.runner

    def __repr__(self) -> str:
        return f"{self.entity.__name__} named by {self.source!r}"

    @property
    def entity(self) -> type[T]:
        """Return what is read in the end."""
        return self.to.entity

    def consistent(self) -> Self:
        """Read the targets strongly consistent, at twice the units; the list of them is not."""
        return self.with_(is_consistent=True)

    def where(self, *conditions: Condition, **equal: Any) -> Self:
        """Leave out targets that do not meet conditions, after they were read: a BatchGetItem has no filter."""
        more = conditions_on(self.entity, conditions, equal)
        return self.with_(conditions=(*self.conditions, *more))


class Followable(Many[E]):
    """The base of plans whose items may point to other items."""

    @overload
    def follow(self, to: Target[T, PK, NoSortKey], key: Callable[[E], PK | None]) -> Followed[T]: ...
    @overload
    def follow(self, to: Target[T, PK, SK], key: Callable[[E], tuple[PK, SK] | None]) -> Followed[T]: ...
    def follow(self, to: Any, key: Any) -> Followed[Any]:
        """Plan to read the items that these point to: `key` returns the key of a target, or None if there is none.

        Targets are read a hundred in a request.
        """
        return Followed(self, to, key)


class FollowedRun(Run[Followed[T]]):
    """Carries out a followed plan. Its requests are those of its source."""

    def request(self, limit: int | None) -> Requests:
        return self.runner.request(_source(self.plan), limit)

    def identity(self) -> Identity:
        plan, runner = self.plan, self.runner
        schema = runner.session.catalog.schema_for(plan.entity)
        conditions = [condition_identity(condition, schema) for condition in plan.conditions]
        return ["followed", runner.identity(plan.source), schema.name, conditions, plan.limited]

    def reading(self, positions: Positions | None, at_once: int | None) -> FollowedReading[T]:
        return FollowedReading(self.runner, self.plan, positions, at_once)


def _source(plan: Followed[T]) -> Many[Any]:
    """Return the source plan. The freshness of the targets does not apply to it."""
    return inherited(plan.with_(is_consistent=False), plan.source)


class FollowedReading(Generic[T]):
    """Reads the targets of a source, each target once.

    The position of the source after each of its items is remembered, so that reading ahead loses nothing.
    """

    def __init__(
        self, runner: PlanRunner, plan: Followed[T], positions: Positions | None, at_once: int | None
    ) -> None:
        self._runner = runner
        self._plan = plan
        self._at_once = at_once
        self._ahead = 1
        self._source = self._begin(positions)
        self._standing = self._source.positions  # behind what was given out
        self._buffer: deque[tuple[T, Positions | None]] = deque()
        self._seen: set[_Pair] = set()

    def _begin(self, positions: Positions | None) -> Reading[BaseModel]:
        return self._runner.reading(_source(self._plan), positions, at_once=self._at_once)

    @property
    def positions(self) -> Positions | None:
        """The position from which the source continues: after items given out, and those thrown away then."""
        return self._standing if self._buffer else self._source.positions

    def take(self, count: int | None, usage: Usage) -> Steps[list[T]]:
        """Read the next targets, this many or all."""
        targets: list[T] = []
        while count is None or len(targets) < count:
            if self._buffer:
                target, self._standing = self._buffer.popleft()
                targets.append(target)
            elif self._source.positions is None:
                break
            else:
                yield from self._fill(AT_ONCE_MAX if count is None else count - len(targets), usage)
        return targets

    def _fill(self, wanted: int, usage: Usage) -> Steps[None]:
        pointing = yield from self._pointing(min(max(wanted, self._ahead), AT_ONCE_MAX), usage)
        named = [self._named(entity) for entity, _ in pointing]
        found = yield from self._found([pair for pair in named if pair is not None], usage)
        for pair, (_, standing) in zip(named, pointing, strict=True):
            target = None if pair is None else found.get(pair)
            if target is not None and meets(target, self._plan.conditions):
                self._buffer.append((target, standing))
        usage.thrown_away += len(pointing) - len(self._buffer)
        if len(self._buffer) * 2 < len(pointing):
            self._read_more_at_once(len(pointing) * 2)

    def _pointing(self, count: int, usage: Usage) -> Steps[list[tuple[BaseModel, Positions | None]]]:
        """Read items of the source, each with where the source stands behind it."""
        pointing: list[tuple[BaseModel, Positions | None]] = []
        while len(pointing) < count:
            some = yield from self._source.take(1, usage)
            if not some:
                break
            pointing.append((some[0], self._source.positions))
        return pointing

    def _named(self, entity: BaseModel) -> _Pair | None:
        """Return the key of an item's target; None if it has none, or the target was seen before."""
        key = self._plan.key(entity)
        if key is None:
            return None
        pair = key if isinstance(key, tuple) else (key, None)
        if pair in self._seen:
            return None
        self._seen.add(pair)
        return pair

    def _found(self, pairs: Sequence[_Pair], usage: Usage) -> Steps[Mapping[_Pair, T | None]]:
        if not pairs:
            return {}
        batch = inherited(self._plan, self._plan.to.batch_get(pairs))
        found = yield from BatchGetRun(self._runner, batch).found()
        # A missing target counts once, with the item that points to it.
        usage.add(Usage(found.usage.units, found.usage.read, 0))
        return dict(zip(pairs, found.item, strict=True))

    def _read_more_at_once(self, count: int) -> None:
        """Read more items at a time, if many targets are thrown away."""
        self._ahead = min(count, BATCH_GET_ITEMS_MAX)
        if self._at_once is None or self._at_once >= self._ahead or self._source.positions is None:
            return
        self._at_once = self._ahead
        self._source = self._begin(self._source.positions)


def meets(entity: Any, conditions: Iterable[Condition]) -> bool:
    """Tell whether an entity that was read whole meets conditions."""
    values = key_values(entity)
    return all(holds(condition, values) for condition in conditions)


def followed_reads(
    calls: PatternCalls[Followed[T]], name: str | None, reads_of: ReadsOf
) -> tuple[ReadBlueprint, ...]:
    """Return the shape of a followed plan: its source, and the items that this points to."""
    plan, *_ = plans = calls.plans
    naming = reads_of(calls.of([each.source for each in plans]), name)
    named = replace(
        named_read(calls.catalog, plan.entity, name, by=naming[0].entities[0]),
        filter=filter_of([each.conditions for each in plans], calls),
        limit=plan.limited,
        is_consistent=plan.is_consistent,
    )
    return (*naming, named)
