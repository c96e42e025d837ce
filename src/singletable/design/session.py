"""An open design: a client, the table's name there, and the compiled entities. Plans and writes run on it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from singletable.client.base import Client
from singletable.client.calls import Call, Steps
from singletable.design.answer_cache import ABSENT_S_MAX, AnswerCache, is_lacking, keys_of
from singletable.design.catalog import Catalog
from singletable.design.relations import LockForm
from singletable.errors import (
    ApiError,
    IndexMissingError,
    ResourceNotFoundError,
    SingleTableError,
    TableMissingError,
    TargetThrottledError,
    ThrottledError,
    ThrottlingReason,
    TransactionCanceledError,
    ValidationError,
)

T = TypeVar("T")

# Codes of reasons for which a transaction is cancelled, with those of single requests.
THROTTLED: Final = {
    "ThrottlingError": "ThrottlingException",
    "ProvisionedThroughputExceeded": "ProvisionedThroughputExceededException",
}
# Those after which the same transaction may be carried out.
TRANSIENT: Final = frozenset({"TransactionConflict", *THROTTLED})
_REWORDED: Final = (ResourceNotFoundError, ThrottledError, ValidationError)
# How services say that a table lacks an index: Amazon's words, which DynamoDB Local and most others take over;
# those of Amazon's UpdateTable and of Alternator (executor.cc); moto's.
_NO_INDEX: Final = (
    re.compile(r"The table does not have the specified index: ([\w.-]+)"),
    re.compile(r"Requested resource not found: Index:? '?([\w.-]+)"),
    re.compile(r"Invalid index: ([\w.-]+) for table"),
)
_UNFILLED_INDEX: Final = re.compile(r"Cannot read from backfilling global secondary index(?:: ([\w.-]+))?")


@dataclass(slots=True)
class KnownLocks:
    """Which unique values may have locks under old keys (`uniqueness.old_locks`), and when that was asked."""

    old: frozenset[LockForm] | None = None  # nobody has asked
    asked_us: int = 0
    none_since_us: int | None = None  # when there were none for the first time
    is_final: bool = False

    def forget(self) -> None:
        """Ask again before the next lock."""
        self.old = self.none_since_us = None


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
        """Go through steps; say it in the design's words when its table or index is missing or throttled."""
        try:
            return self.client.run(steps)
        except _REWORDED as error:
            reworded = self._reworded(error)
            if reworded is None:
                raise
            raise reworded from error

    async def arun(self, steps: Steps[T]) -> T:
        """Go through steps without holding up the event loop. Over boto3 that means threads."""
        try:
            return await self.client.arun(steps)
        except _REWORDED as error:
            reworded = self._reworded(error)
            if reworded is None:
                raise
            raise reworded from error

    def _reworded(self, error: ApiError) -> SingleTableError | None:
        """Return what a refusal means for this design; None if it says it best itself."""
        match error:
            case TargetThrottledError():
                return None
            case ThrottledError():
                return still_throttled(self.table, error)
            case _:
                return self._missing(error)

    def _missing(self, error: ApiError) -> TableMissingError | IndexMissingError | None:
        table = f"the table {self.table} of {self.catalog.name}"
        if (unfilled := _UNFILLED_INDEX.search(error.message)) is not None:
            index = unfilled[1] or ""
            return IndexMissingError(
                f"{table} is still filling its index {index}".rstrip(),
                index=index,
                hint="wait until its IndexStatus is ACTIVE, in DescribeTable; create_table() waits for that",
            )
        for words in _NO_INDEX:
            if (lacking := words.search(error.message)) is not None:
                return IndexMissingError(
                    f"{table} has no index {lacking[1]}",
                    index=lacking[1],
                    hint="a migration adds it (`singletable migrate new`); diff(target) shows what else differs",
                )
        if isinstance(error, ResourceNotFoundError):
            return TableMissingError(
                f"{table}, or an index of it, is not there: {error}",
                hint="create_table() makes it; diff(target) shows what differs",
            )
        return None


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


# --- throttling -------------------------------------------------------------------------------------------


def still_throttled(table: str, error: ThrottledError) -> TargetThrottledError:
    """Return what a throttled request means that nobody tries again."""
    tries = f", {error.retries + 1} times in a row" if error.retries else ""
    where = ", ".join(dict.fromkeys(_limit(reason) for reason in error.reasons))
    met = f" ({where})" if where else ""
    return TargetThrottledError(
        f"the table {table} is throttled{tries}{met}: {error.message}",
        error.reasons,
        hint=throttling_hint(error.reasons),
        code=error.code,
    )


def throttled_transaction(table: str, error: TransactionCanceledError) -> TargetThrottledError | None:
    """Return what a cancelled transaction means if one of its reasons is throttling, and nobody tries it again."""
    for reason in error.reasons:
        if reason.code in THROTTLED:
            said = f": {reason.message}" if reason.message else ""
            return TargetThrottledError(
                f"the table {table} is throttled, and cancels the transaction{said}",
                hint=throttling_hint(),
                code=THROTTLED[reason.code],
            )
    return None


def throttling_hint(reasons: Sequence[ThrottlingReason] = ()) -> str:
    """Say what helps against the limits that were met."""
    names = " ".join(reason.reason for reason in reasons)
    if "KeyRangeThroughputExceeded" in names:
        return "one partition key takes more than its share: spread it over shards, or ask for it less often"
    if "MaxOnDemandThroughputExceeded" in names:
        return "raise the maximum of the table or index (OnDemandThroughput), or ask for less at a time"
    if "AccountLimitExceeded" in names:
        return "ask AWS for a higher quota of the account, or ask for less at a time"
    return (
        "try again later, or ask for less at a time; raise the capacity of the table and its indexes, or let them "
        "be billed per request"
    )


def _limit(reason: ThrottlingReason) -> str:
    """Name a limit and whose it is: the end of an ARN, as table/orders/index/by-status."""
    return f"{reason.reason} of {reason.resource.rpartition(':')[2]}"
