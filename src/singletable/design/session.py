"""An open design: a client, the table's name there, and the compiled entities. Plans and writes run on it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from singletable.client.base import Client
from singletable.client.calls import Call, Steps
from singletable.design.answer_cache import ABSENT_S_MAX, AnswerCache, is_lacking, keys_of
from singletable.design.catalog import Catalog
from singletable.design.relations import LockForm
from singletable.errors import ResourceNotFoundError, TableMissingError

T = TypeVar("T")


@dataclass(slots=True)
class KnownLocks:
    """Which unique values may have locks under old keys (`uniqueness.old_locks`), and when that was asked."""

    old: frozenset[LockForm] | None = None  # nobody has asked
    asked_us: int = 0


@dataclass(frozen=True, slots=True)
class Session:
    """Where a design runs."""

    client: Client
    table: str
    catalog: Catalog
    cursor_key: bytes
    environment: Mapping[str, str]
    cache: AnswerCache = field(default_factory=AnswerCache)
    known_locks: KnownLocks = field(default_factory=KnownLocks)

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
    clock = session.client.clock
    answer = session.cache.get(key, clock.elapsed_us())
    if answer is not None:
        return answer
    emptied = session.cache.emptied()
    answer = yield call
    if not answer.get("UnprocessedKeys"):
        free = {name: value for name, value in answer.items() if name != "ConsumedCapacity"}
        kept_s = min(cache_s, ABSENT_S_MAX) if is_lacking(call, answer) else cache_s
        until_us = clock.elapsed_us() + int(kept_s * 1_000_000)
        session.cache.put(key, free, until_us, emptied=emptied, keys=keys_of(call))
    return answer
