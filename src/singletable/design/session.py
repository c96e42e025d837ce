"""An open design: a client, the table's name there, and the compiled entities. Plans and writes run on it."""

from __future__ import annotations

import json
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Final, NamedTuple, TypeVar

from singletable.client.base import Client
from singletable.client.calls import Call, Steps
from singletable.design.catalog import Catalog
from singletable.design.stored_values import Item
from singletable.errors import ResourceNotFoundError, TableMissingError

T = TypeVar("T")

_CACHED_ITEMS_MAX: Final = 20_000


class _Kept(NamedTuple):
    """An answer, how long it may be given, how many items it holds, and the keys that it is about; None if any."""

    until_us: int
    answer: Any
    items: int
    keys: frozenset[str] | None


class AnswerCache:
    """Answers of reads that a plan allows to be a little old. Writes through the session forget what they change.

    Nobody may change an answer: it is shared by all who ask.
    """

    def __init__(self) -> None:
        self._answers: OrderedDict[str, _Kept] = OrderedDict()
        self._about: defaultdict[str | None, set[str]] = defaultdict(
            set
        )  # answers by the keys they are about
        self._items = 0
        self._emptied = 0
        self._lock = Lock()

    def get(self, key: str, now_us: int) -> Any:
        """Return an answer that may still be given; None if there is none."""
        with self._lock:
            kept = self._answers.get(key)
            return kept.answer if kept is not None and now_us < kept.until_us else None

    def emptied(self) -> int:
        """Return how often something was forgotten: an answer to a question from before may be of before, too."""
        with self._lock:
            return self._emptied

    def put(
        self, key: str, answer: Any, until_us: int, *, emptied: int, keys: frozenset[str] | None = None
    ) -> None:
        """Keep an answer about items of these keys, unless something was forgotten since it was asked for."""
        found = [answer.get("Items", ()), *answer.get("Responses", {}).values()]
        items = 1 + sum(map(len, found))
        with self._lock:
            if emptied != self._emptied:
                return
            self._drop(key)
            self._items += items
            self._answers[key] = kept = _Kept(until_us, answer, items, keys)
            for about in kept.keys or (None,):
                self._about[about].add(key)
            while self._items > _CACHED_ITEMS_MAX:
                self._drop(next(iter(self._answers)))

    def forget(self, written: Item) -> None:
        """Forget what a write of the item of a key may change: reads of this key, and all queries."""
        text = _key_text(written)
        if text is None:
            self.clear()
            return
        with self._lock:
            for key in [key for about in (text, None) for key in self._about.get(about, ())]:
                self._drop(key)
            self._emptied += 1

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._answers.clear()
            self._about.clear()
            self._items = 0
            self._emptied += 1

    def _drop(self, key: str) -> None:
        dropped = self._answers.pop(key, None)
        if dropped is None:
            return
        self._items -= dropped.items
        for about in dropped.keys or (None,):
            self._about[about].discard(key)
            if not self._about[about]:
                del self._about[about]


def _key_text(key: Item) -> str | None:
    """Return a key of texts as one text; None where it holds numbers, which can be written in several ways."""
    if not all("S" in value for value in key.values()):
        return None
    return json.dumps(key, sort_keys=True)


def _keys_of(call: Call) -> frozenset[str] | None:
    """Return the keys of the items that a call asks for; None if it asks for others too."""
    keys: list[Item] = []
    if call.operation == "GetItem":
        keys = [call.params["Key"]]
    elif call.operation == "BatchGetItem":
        keys = [key for wanted in call.params["RequestItems"].values() for key in wanted["Keys"]]
    texts = {_key_text(key) for key in keys}
    return frozenset(text for text in texts if text is not None) if texts and None not in texts else None


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
        until_us = session.now_us() + int(cache_s * 1_000_000)
        session.cache.put(key, free, until_us, emptied=emptied, keys=_keys_of(call))
    return answer
