"""How an item collection is read: a partition from its beginning, a request at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from singletable.client.calls import Call, Steps
from singletable.design.answers import entity_of, read_units
from singletable.design.collections import Collect, members_of
from singletable.design.entity import Entity
from singletable.design.pages import Usage
from singletable.design.plans import Reading
from singletable.design.requests import collection_params
from singletable.design.session import Session, ask

Begin = Callable[[], Reading]


class CollectionReading:
    """Reads the items of a partition that a collection has a field for, in the order of the sort key.

    `without` names fields whose items are not read here; `others` read what lies elsewhere, after the partition.
    """

    def __init__(
        self,
        session: Session,
        plan: Collect[Any],
        *,
        without: Sequence[str] = (),
        others: Sequence[Begin] = (),
    ) -> None:
        members = members_of(plan.into)
        self._session = session
        self._plan = plan
        self._wanted = frozenset(member.entity for member in members if member.name not in without)
        self._buffer: deque[Entity] = deque()
        self._start: Any = None
        self._is_read = False
        self._others = deque(others)
        self._other: Reading | None = None

    @property
    def positions(self) -> Any:
        """Whether there may be more: True, or None at the end. A collection has no cursors."""
        return None if self._is_over else True

    @property
    def _is_over(self) -> bool:
        return self._is_read and not self._buffer and not self._others and self._other is None

    def take(self, count: int | None, usage: Usage) -> Steps[list[Any]]:
        """Read all entities; or so many more, and fewer rather than to hold what two requests have found."""
        entities: list[Any] = []
        while not self._is_over and (count is None or len(entities) < count):
            if self._buffer:
                room = len(self._buffer) if count is None else count - len(entities)
                entities += [self._buffer.popleft() for _ in range(min(room, len(self._buffer)))]
            elif entities and count is not None:
                break
            elif not self._is_read:
                yield from self._fill(usage)
            else:
                left = None if count is None else count - len(entities)
                entities += yield from self._take_elsewhere(left, usage)
        return entities

    def _fill(self, usage: Usage) -> Steps[None]:
        session = self._session
        call = Call("Query", collection_params(session, self._plan, self._start))
        answer = yield from ask(session, call, self._plan.cache_s)
        items = answer["Items"]
        for item in items:
            schema = session.catalog.schema_of(item)
            if schema is not None and schema.entity in self._wanted:
                entity = entity_of(schema, session, item)
                if entity is not None:
                    self._buffer.append(entity)
        usage.add(Usage(read_units(answer), len(items), len(items) - len(self._buffer)))
        self._start = answer.get("LastEvaluatedKey")
        self._is_read = self._start is None

    def _take_elsewhere(self, count: int | None, usage: Usage) -> Steps[list[Any]]:
        if self._other is None:
            self._other = self._others.popleft()()
        entities = yield from self._other.take(count, usage)
        if self._other.positions is None:
            self._other = None
        return entities
