"""An open design: a client, the table's name there, and the compiled entities. Plans and writes run on it."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Final, TypeVar

from singletable.client.base import Client
from singletable.client.calls import Call, Steps
from singletable.design.catalog import Catalog
from singletable.errors import ResourceNotFoundError, TableMissingError

T = TypeVar("T")

_CACHED_ITEMS_MAX: Final = 20_000


class AnswerCache:
    """Answers of reads that a plan allows to be a little old. Any write through the session empties it.

    Nobody may change an answer: it is shared by all who ask.
    """

    def __init__(self) -> None:
        self._answers: OrderedDict[str, tuple[int, Any, int]] = OrderedDict()
        self._items = 0
        self._emptied = 0
        self._lock = Lock()

    def get(self, key: str, now_us: int) -> Any:
        """Return an answer that may still be given; None if there is none."""
        with self._lock:
            until_us, answer, _ = self._answers.get(key, (0, None, 0))
            return answer if now_us < until_us else None

    def emptied(self) -> int:
        """Return how often the cache was emptied: an answer to a question from before may be of before, too."""
        with self._lock:
            return self._emptied

    def put(self, key: str, answer: Any, until_us: int, *, emptied: int) -> None:
        """Keep an answer, unless the cache was emptied since it was asked for."""
        found = [answer.get("Items", ()), *answer.get("Responses", {}).values()]
        items = 1 + sum(map(len, found))
        with self._lock:
            if emptied != self._emptied:
                return
            self._items += items - self._answers.pop(key, (0, None, 0))[2]
            self._answers[key] = (until_us, answer, items)
            while self._items > _CACHED_ITEMS_MAX:
                _, (_, _, forgotten) = self._answers.popitem(last=False)
                self._items -= forgotten

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._answers.clear()
            self._items = 0
            self._emptied += 1


@dataclass(frozen=True, slots=True)
class Session:
    """Where a design runs."""

    client: Client
    table: str
    catalog: Catalog
    cursor_key: bytes
    environment: Mapping[str, str]
    cache: AnswerCache = field(default_factory=AnswerCache)

    def now_us(self) -> int:
        return self.client.clock.now_us()

    def now_s(self) -> int:
        return self.client.clock.now_us() // 1_000_000

    def run(self, steps: Steps[T]) -> T:
        """Go through steps; say it in the design's words when its table is missing."""
        try:
            return self.client.run(steps)
        except ResourceNotFoundError as error:
            raise self._missing(error) from error

    async def arun(self, steps: Steps[T]) -> T:
        """Go through steps without holding up the event loop. Over boto3 that means threads."""
        try:
            return await self.client.arun(steps)
        except ResourceNotFoundError as error:
            raise self._missing(error) from error

    def _missing(self, error: ResourceNotFoundError) -> TableMissingError:
        return TableMissingError(
            f"the table {self.table} of {self.catalog.name}, or an index of it, is not there: {error}",
            hint="create_table() makes it; diff(target) shows what differs",
        )


def ask(
    session: Session,
    call: Call,
    cache_s: float | None,
    *,
    kept_as: Callable[[], dict[str, Any]] | None = None,
) -> Steps[Any]:
    """Ask, or take an answer that is not older than a plan allows: it costs nothing.

    `kept_as` returns the parameters under which an answer is kept, where those of the call change with the time.
    """
    if cache_s is None:
        return (yield call)
    params = call.params if kept_as is None else kept_as()
    key = json.dumps([call.operation, params], sort_keys=True, default=repr)
    answer = session.cache.get(key, session.now_us())
    if answer is not None:
        return answer
    emptied = session.cache.emptied()
    answer = yield call
    if not answer.get("UnprocessedKeys"):
        free = {name: value for name, value in answer.items() if name != "ConsumedCapacity"}
        session.cache.put(key, free, session.now_us() + int(cache_s * 1_000_000), emptied=emptied)
    return answer
