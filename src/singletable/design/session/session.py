"""An open design: a client, the table's name there, the compiled entities, and a cache of answers."""

from __future__ import annotations

import json
import re
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Final, NamedTuple, TypeVar
from uuid import uuid4

from singletable.client.base import Client
from singletable.client.calls import RETRIES_MAX, Answer, Call, Params, Steps, Wait, backoff
from singletable.design.model.catalog import Catalog
from singletable.design.model.schema import LockForm
from singletable.design.values.items import Item, item_bytes
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
from singletable.limits import KIB

# The size of items as they are stored. In Python they take ten times as much.
KEPT_BYTES_MAX: Final = 8 * KIB * KIB
ABSENT_S_MAX: Final = 60.0
_ANSWER_BYTES: Final = KIB  # the overhead of an answer: texts of keys, dicts


class _Kept(NamedTuple):
    """A cached answer: until when it is valid, its size, and the keys that it concerns; None for any key."""

    until_us: int
    answer: Answer
    bytes: int
    keys: frozenset[str] | None


class AnswerCache:
    """Answers of reads that a plan allows to be a little old. Nobody may change one: it is shared by all who ask.

    A write through the same session forgets what it changes; what others write is seen when an answer is too old.
    An item that was not there may come at any moment, so an answer that lacks one is kept for a minute at most.
    The age of an answer is measured by the monotonic clock.
    """

    def __init__(self) -> None:
        self._answers: OrderedDict[str, _Kept] = OrderedDict()
        # Answers by the keys that they concern; those under None concern any key.
        self._about: defaultdict[str | None, set[str]] = defaultdict(set)
        self._bytes = 0
        self._emptied = 0
        self._lock = Lock()

    def get(self, key: str, elapsed_us: int) -> Answer | None:
        """Return an answer that is still valid; None if there is none."""
        with self._lock:
            kept = self._answers.get(key)
            return kept.answer if kept is not None and elapsed_us < kept.until_us else None

    def emptied(self) -> int:
        """Return how often answers were forgotten. A request from before may still bring an answer from before."""
        with self._lock:
            return self._emptied

    def put(
        self, key: str, answer: Answer, until_us: int, *, emptied: int, keys: frozenset[str] | None = None
    ) -> None:
        """Keep an answer about items of these keys, unless answers were forgotten since the request was sent."""
        size = _ANSWER_BYTES + sum(map(item_bytes, items_in(answer)))
        with self._lock:
            if emptied != self._emptied:
                return
            self._drop(key)
            self._bytes += size
            self._answers[key] = kept = _Kept(until_us, answer, size, keys)
            for about in kept.keys or (None,):
                self._about[about].add(key)
            while self._bytes > KEPT_BYTES_MAX:
                self._drop(next(iter(self._answers)))

    def forget(self, written: Item) -> None:
        """Forget the answers that a write of this key may change: reads of the key, and all queries."""
        with self._lock:
            self._emptied += 1
            if not self._answers:  # so in most designs; the text of a key costs a tenth of a delete
                return
        text = _key_text(written)
        if text is None:
            self.clear()
            return
        with self._lock:
            for key in [key for about in (text, None) for key in self._about.get(about, ())]:
                self._drop(key)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._answers.clear()
            self._about.clear()
            self._bytes = 0
            self._emptied += 1

    def _drop(self, key: str) -> None:
        dropped = self._answers.pop(key, None)
        if dropped is None:
            return
        self._bytes -= dropped.bytes
        for about in dropped.keys or (None,):
            self._about[about].discard(key)
            if not self._about[about]:
                del self._about[about]


def _key_text(key: Item) -> str | None:
    """Return a key of texts as one text; None if it holds a number, which can be written in several ways."""
    if not all("S" in value for value in key.values()):
        return None
    return json.dumps(key, sort_keys=True)


def keys_of(call: Call) -> frozenset[str] | None:
    """Return the keys of the items that a call reads; None if it may read others too."""
    keys: list[Item] = []
    if call.operation == "GetItem":
        keys = [call.params["Key"]]
    elif call.operation == "BatchGetItem":
        keys = [key for wanted in call.params["RequestItems"].values() for key in wanted["Keys"]]
    texts = {_key_text(key) for key in keys}
    return frozenset(text for text in texts if text is not None) if texts and None not in texts else None


def items_in(answer: Answer) -> list[Item]:
    """Return the items of an answer."""
    found = [answer["Item"]] if "Item" in answer else []
    return [
        *found,
        *answer.get("Items", ()),
        *(item for each in answer.get("Responses", {}).values() for item in each),
    ]


def is_lacking(call: Call, answer: Answer) -> bool:
    """Tell whether an answer lacks an item that may be created later."""
    keys = keys_of(call)
    return len(items_in(answer)) < (1 if keys is None else len(keys))


T = TypeVar("T")

# Codes of reasons for which a transaction is cancelled, with those of single requests.
THROTTLED: Final = {
    "ThrottlingError": "ThrottlingException",
    "ProvisionedThroughputExceeded": "ProvisionedThroughputExceededException",
}
# Reasons after which the same transaction may succeed.
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
    """The unique values that may have locks under old keys (`kept.unique.old_locks`), and when that was asked."""

    old: frozenset[LockForm] | None = None  # None before it is asked
    asked_us: int = 0
    none_since_us: int | None = None  # when there were first none
    is_final: bool = False

    def forget(self) -> None:
        """Ask again before the next lock."""
        self.old = self.none_since_us = None


def random_token() -> str:
    """Return a unique token of 32 hexadecimal digits."""
    return uuid4().hex


@dataclass(frozen=True, slots=True)
class Session:
    """An open design: its catalog on a client."""

    client: Client
    table: str
    catalog: Catalog
    cursor_key: bytes
    environment: Mapping[str, str]
    cache: AnswerCache = field(default_factory=AnswerCache)
    known_locks: KnownLocks = field(default_factory=KnownLocks)
    # Not from the client's `random`, which may be a constant: two writers must not have the same token.
    new_token: Callable[[], str] = random_token

    def now_us(self) -> int:
        return self.client.clock.now_us()

    def now_s(self) -> int:
        return self.client.clock.now_us() // 1_000_000

    def run(self, steps: Steps[T]) -> T:
        """Run steps; raise an error in the design's words if its table or index is missing or throttled."""
        try:
            return self.client.run(steps)
        except _REWORDED as error:
            reworded = self._reworded(error)
            if reworded is None:
                raise
            raise reworded from error

    async def arun(self, steps: Steps[T]) -> T:
        """Run steps without blocking the event loop. Over boto3 that means threads."""
        try:
            return await self.client.arun(steps)
        except _REWORDED as error:
            reworded = self._reworded(error)
            if reworded is None:
                raise
            raise reworded from error

    def _reworded(self, error: ApiError) -> SingleTableError | None:
        """Return an error of the target in the design's words; None if the original says it best."""
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
    session: Session, call: Call, cache_s: float | None, *, kept_as: Callable[[], Params] | None = None
) -> Steps[Answer]:
    """Send a request, or return a cached answer that is fresh enough for the plan, which costs nothing.

    `kept_as` returns the parameters under which an answer is cached, if those of the call change with time.
    """
    answer: Answer
    if cache_s is None:
        answer = yield call
        return answer
    params = call.params if kept_as is None else kept_as()
    key = json.dumps([call.operation, params], sort_keys=True, default=repr)
    clock = session.client.clock
    known = session.cache.get(key, clock.elapsed_us())
    if known is not None:
        return known
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
    """Return the error of a throttled request that is not retried any more."""
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
    """Return the error of a transaction that was cancelled by throttling; None if it was not."""
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
    """Return a hint what helps against these limits."""
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
    """Name a limit and its table or index: the end of an ARN, as table/orders/index/by-status."""
    return f"{reason.reason} of {reason.resource.rpartition(':')[2]}"


def waits(table: str) -> Iterator[Wait]:
    """Return the back-off before the unprocessed rest of a batch is sent again; raise an error in the end."""
    yield from backoff()
    raise TargetThrottledError(
        f"the table {table} has left a part of a batch undone {RETRIES_MAX + 1} times in a row",
        hint=f"what it has done stays done; {throttling_hint()}",
    )
