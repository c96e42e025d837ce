"""How a plan is read whose items point to others: some of them, then what they point to, and so on."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final

from singletable.client.calls import Steps
from singletable.design.conditions import holds
from singletable.design.entity import key_values
from singletable.design.following import Followed
from singletable.design.pages import Found, Usage
from singletable.design.plans import BatchGet, Reading

Begin = Callable[[Any, int | None], Reading]
Fetch = Callable[[BatchGet[Any]], Steps[Found[list[Any]]]]

AT_ONCE_MAX: Final = 1000
_AHEAD_MAX: Final = 100  # what one BatchGetItem reads


class FollowedReading:
    """Reads what the items of a source point to, each target once.

    `begin` begins to read the source, from positions and with so many items in a request; `fetch` reads targets.
    The position of the source is remembered behind each of its items, so that reading ahead loses nothing.
    """

    def __init__(
        self, plan: Followed[Any], begin: Begin, fetch: Fetch, positions: Any, at_once: int | None
    ) -> None:
        self._plan = plan
        self._begin = begin
        self._fetch = fetch
        self._at_once = at_once
        self._ahead = 1
        self._source = begin(positions, at_once)
        self._standing = self._source.positions  # behind what was given out
        self._buffer: deque[tuple[Any, Any]] = deque()
        self._seen: set[Any] = set()

    @property
    def positions(self) -> Any:
        """Where the source is to be read on: behind what was given out, and what was thrown away after it."""
        return self._standing if self._buffer else self._source.positions

    def take(self, count: int | None, usage: Usage) -> Steps[list[Any]]:
        """Read so many targets more, or all."""
        targets: list[Any] = []
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
            target = found.get(pair)
            if target is not None and self._is_wanted(target):
                self._buffer.append((target, standing))
        usage.thrown_away += len(pointing) - len(self._buffer)
        if len(self._buffer) * 2 < len(pointing):
            self._read_more_at_once(len(pointing) * 2)

    def _pointing(self, count: int, usage: Usage) -> Steps[list[tuple[Any, Any]]]:
        """Read items of the source, each with where the source stands behind it."""
        pointing: list[tuple[Any, Any]] = []
        while len(pointing) < count:
            some = yield from self._source.take(1, usage)
            if not some:
                break
            pointing.append((some[0], self._source.positions))
        return pointing

    def _named(self, entity: Any) -> tuple[Any, Any] | None:
        """Return the keys that an item points to; None if it points nowhere, or where another has pointed."""
        key = self._plan.key(entity)
        if key is None:
            return None
        pair = key if isinstance(key, tuple) else (key, None)
        if pair in self._seen:
            return None
        self._seen.add(pair)
        return pair

    def _found(self, pairs: Sequence[tuple[Any, Any]], usage: Usage) -> Steps[dict[Any, Any]]:
        if not pairs:
            return {}
        found = yield from self._fetch(self._plan.to.batch_get(pairs))
        # What leads to nothing counts once, with the item that has pointed there.
        usage.add(Usage(found.usage.units, found.usage.read, 0))
        return dict(zip(pairs, found.item, strict=True))

    def _is_wanted(self, target: Any) -> bool:
        values = key_values(target)
        return all(holds(condition, values) for condition in self._plan.conditions)

    def _read_more_at_once(self, count: int) -> None:
        """Ask about more items at a time, where much of what they point to is thrown away."""
        self._ahead = min(count, _AHEAD_MAX)
        if self._at_once is None or self._at_once >= self._ahead or self._source.positions is None:
            return
        self._at_once = self._ahead
        self._source = self._begin(self._source.positions, self._at_once)
