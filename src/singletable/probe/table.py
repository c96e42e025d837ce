"""The table that a probe makes, runs its checks on and deletes. No request can name any other table."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier, BrokenBarrierError
from typing import Any, Final, TypeVar

from singletable.client.base import Client
from singletable.client.calls import Answer
from singletable.client.capabilities import is_unknown_operation
from singletable.errors import (
    AccessDeniedError,
    ApiError,
    ResourceInUseError,
    ResourceNotFoundError,
    SingleTableError,
    TableInUseError,
    TableNotFoundError,
    TargetError,
    ThrottledError,
    ValidationError,
)

T = TypeVar("T")
Item = dict[str, dict[str, Any]]

PREFIX: Final = "singletable-probe-"
WRITERS: Final = 8
SETTLED_S_MAX: Final = 300.0  # AWS takes minutes for an index, and a moment for everything else
SEEN_S_MAX: Final = 10.0  # until an index or a stream shows a write
_WAIT_S: Final = 0.01
_WAIT_S_MAX: Final = 1.0
_PAGES_MAX: Final = 100

NOT_FOUND: Final = (ResourceNotFoundError, TableNotFoundError)
_IN_USE: Final = (ResourceInUseError, TableInUseError)
# Settings that CreateTable may refuse, and that a table can do without.
_SETTINGS: Final = ("StreamSpecification", "SSESpecification", "Tags")

TIES: Final = "ties"  # the index in which entries have equal keys
NARROW: Final = "narrow"  # the index that projects keys alone
ADDED: Final = "added"  # the index that comes later
_NAMED: Final = frozenset({"TableName", "ResourceArn", "StreamArn", "BackupArn", "TableArn"})


def is_refusal(error: ApiError) -> bool:
    """Tell whether an answer says that something is not to be had here."""
    return isinstance(error, ValidationError | AccessDeniedError) or is_unknown_operation(error)


def text(**values: str) -> Item:
    return {name: {"S": value} for name, value in values.items()}


def key(pk: str, sk: str = "-") -> Item:
    return text(PK=pk, SK=sk)


class ProbeTable:
    """A table of a name that nobody else has, on a client; and another of nearly the same name for a while."""

    def __init__(self, client: Client, token: str, seconds_max: float) -> None:
        self.client = client
        self.name = f"{PREFIX}{token}"
        self.again = f"{self.name}-again"
        self.description: dict[str, Any] = {}
        self._made: list[str] = []
        self._until_us = client.clock.elapsed_us() + int(seconds_max * 1_000_000)

    # --- asking -------------------------------------------------------------------------------------------

    def ask(self, operation: str, params: Mapping[str, Any] | None = None, **more: Any) -> Answer:
        """Carry out one operation with these parameters. Refuse one that names a table that is not the probe's."""
        asked = {**(params or {}), **more}
        strangers = [name for name in _tables_in(asked) if self.name not in name]
        if strangers:  # also where Python leaves assertions out
            raise AssertionError(f"the probe was about to touch {strangers[0]}")
        return self.client.call(operation, asked)

    def on(self, operation: str, **params: Any) -> Answer:
        """Carry out one operation on the table."""
        return self.ask(operation, TableName=self.name, **params)

    def put(self, item: Item, **more: Any) -> Answer:
        return self.on("PutItem", Item=item, **more)

    def get(self, wanted: Item) -> Item | None:
        answer: Item | None = self.on("GetItem", Key=wanted, ConsistentRead=True).get("Item")
        return answer

    def query(self, pk: str, **more: Any) -> list[Item]:
        """Return the items of a partition, of the table or of an index."""
        return [item for page in self.pages(self.condition(pk, **more)) for item in page]

    @staticmethod
    def condition(
        pk: str, *, index: str | None = None, attribute: str | None = None, **more: Any
    ) -> dict[str, Any]:
        """Return a Query of one partition."""
        where = {"ConsistentRead": True} if index is None else {"IndexName": index}
        return {
            "KeyConditionExpression": "#pk = :pk",
            "ExpressionAttributeNames": {"#pk": attribute or ("PK" if index is None else "GPK")},
            "ExpressionAttributeValues": {":pk": {"S": pk}},
            **where,
            **more,
        }

    def pages(self, params: Mapping[str, Any], operation: str = "Query") -> Iterator[list[Item]]:
        """Yield the pages of a query or a scan, to the last one; stop after some if the cursors never end."""
        start: dict[str, Any] = {}
        for _ in range(_PAGES_MAX):
            answer = self.on(operation, **params, **start)
            yield answer.get("Items", [])
            if not answer.get("LastEvaluatedKey"):
                return
            start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}

    # --- waiting and racing -------------------------------------------------------------------------------

    @property
    def left_s(self) -> float:
        """How much time is left."""
        return (self._until_us - self.client.clock.elapsed_us()) / 1_000_000

    def wait(self, seconds: float) -> None:
        (self.client.sleep or time.sleep)(seconds)

    def pauses(self, seconds_max: float) -> Iterator[None]:
        """Yield at once, and then after longer and longer pauses, until the time is over."""
        waited_s, pause_s = 0.0, _WAIT_S
        yield
        while waited_s < seconds_max and self.left_s > 0:
            self.wait(pause_s)
            waited_s += pause_s
            pause_s = min(pause_s * 2, _WAIT_S_MAX)
            yield

    def eventually(self, is_so: Callable[[], bool], seconds_max: float = SEEN_S_MAX) -> bool:
        """Tell whether something becomes true before the time is over."""
        return any(is_so() for _ in self.pauses(seconds_max))

    def race(self, act: Callable[[int], T]) -> list[T | ApiError]:
        """Let all writers act at the same moment; return the result of each.

        A throttled writer says nothing about the race, so that error is raised.
        """
        start = Barrier(WRITERS)

        def take_part(number: int) -> T | ApiError:
            with suppress(BrokenBarrierError):
                start.wait(timeout=SEEN_S_MAX)
            try:
                return act(number)
            except ThrottledError:
                raise
            except ApiError as error:
                return error

        with ThreadPoolExecutor(WRITERS, thread_name_prefix="singletable-probe") as threads:
            try:
                return list(threads.map(take_part, range(WRITERS)))
            finally:
                start.abort()  # after Ctrl-C nobody waits for the others

    # --- making and taking away ---------------------------------------------------------------------------

    def make(self) -> None:
        """Make the table with its indexes, and with the settings that the target takes."""
        if self.describe(self.name) is not None:
            raise TargetError(
                f"there is a table {self.name} already", hint="run it again: it takes another name"
            )
        indexes = [
            _index(TIES, "GPK", "GSK", projection="ALL"),
            _index(NARROW, "GPK", "GSK", projection="KEYS_ONLY"),
        ]
        request = {
            **_table_request("PK", "SK", "GPK", "GSK", indexes=indexes),
            "SSESpecification": {"Enabled": True, "SSEType": "KMS"},
            "Tags": [{"Key": "singletable", "Value": "probe"}],
        }
        # A setting that is refused alone must not take the others along.
        for left_out in ((), *((name,) for name in _SETTINGS), _SETTINGS):
            try:
                self.create(self.name, {name: each for name, each in request.items() if name not in left_out})
                break
            except ApiError as error:
                if not is_refusal(error) or left_out == _SETTINGS:
                    raise
        self.description = self.describe(self.name) or {}

    def make_again(self, indexes: list[dict[str, Any]], *attributes: str) -> dict[str, Any]:
        """Make the other table; return its description."""
        self.create(self.again, _table_request("PK", "SK", *attributes, indexes=indexes))
        return self.describe(self.again) or {}

    def create(self, name: str, request: dict[str, Any]) -> None:
        self._made.append(name)  # also if the answer is lost
        self.ask("CreateTable", request, TableName=name)
        if not self.eventually(lambda: _is_settled(self.describe(name)), SETTLED_S_MAX):
            raise TargetError(
                f"the table {name} is not ready after {SETTLED_S_MAX:.0f} s", hint="try it again later"
            )

    def describe(self, name: str) -> dict[str, Any] | None:
        try:
            description: dict[str, Any] = self.ask("DescribeTable", TableName=name)["Table"]
        except NOT_FOUND:
            return None
        return description

    def settle(self) -> bool:
        """Wait until the table and its indexes can be used; tell whether they can."""
        return self.eventually(lambda: _is_settled(self.describe(self.name)), SETTLED_S_MAX)

    def remove(self, name: str) -> bool:
        """Delete a table, also a protected one; tell whether it is gone."""
        is_gone = self.eventually(lambda: self._delete(name), SETTLED_S_MAX) and self.eventually(
            lambda: self.describe(name) is None, SETTLED_S_MAX
        )
        if is_gone and name in self._made:
            self._made.remove(name)
        return is_gone

    def remove_all(self) -> bool:
        """Delete all tables that were made; tell whether all are gone. Errors on the way are not raised.

        This has time of its own, also when the time of the probe is over.
        """
        is_gone = True
        for name in list(self._made):
            until_us = self.client.clock.elapsed_us() + int(SETTLED_S_MAX * 1_000_000)
            self._until_us = max(self._until_us, until_us)
            try:
                is_gone = self.remove(name) and is_gone
            except SingleTableError:
                is_gone = False
        return is_gone

    def _delete(self, name: str) -> bool:
        """Ask for the deletion; False if that has to wait."""
        description = self.describe(name)
        if description is None:
            return True
        if description.get("DeletionProtectionEnabled"):
            with suppress(*_IN_USE):
                self.ask("UpdateTable", TableName=name, DeletionProtectionEnabled=False)
        with suppress(ApiError):  # otherwise the last state of the table is kept as a backup
            off = {"PointInTimeRecoveryEnabled": False}
            self.ask("UpdateContinuousBackups", TableName=name, PointInTimeRecoverySpecification=off)
        try:
            self.ask("DeleteTable", TableName=name)
        except NOT_FOUND:
            return True
        except _IN_USE:
            return False
        return True


def _tables_in(params: Any) -> Iterator[str]:
    """Return every table that a request names, by its name or in an ARN."""
    if isinstance(params, Mapping):
        for name, value in params.items():
            if name in _NAMED and isinstance(value, str):
                yield value
            elif name == "RequestItems":
                yield from value
            elif name not in ("Item", "Key"):
                yield from _tables_in(value)
    elif isinstance(params, list):
        for each in params:
            yield from _tables_in(each)


def _index(name: str, pk: str, sk: str, *, projection: str) -> dict[str, Any]:
    return {
        "IndexName": name,
        "KeySchema": _keys([pk], [sk]),
        "Projection": {"ProjectionType": projection},
    }


def wide_index(name: str, pk: list[str], sk: list[str]) -> dict[str, Any]:
    """Return an index with several attributes in each key."""
    return {"IndexName": name, "KeySchema": _keys(pk, sk), "Projection": {"ProjectionType": "ALL"}}


def _keys(pk: list[str], sk: list[str]) -> list[dict[str, str]]:
    hashes = [{"AttributeName": name, "KeyType": "HASH"} for name in pk]
    return hashes + [{"AttributeName": name, "KeyType": "RANGE"} for name in sk]


def definitions(*attributes: str) -> list[dict[str, str]]:
    return [{"AttributeName": name, "AttributeType": "S"} for name in attributes]


def _table_request(*attributes: str, indexes: list[dict[str, Any]]) -> dict[str, Any]:
    request: dict[str, Any] = {
        "AttributeDefinitions": definitions(*attributes),
        "KeySchema": _keys(["PK"], ["SK"]),
        "BillingMode": "PAY_PER_REQUEST",
        "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
    }
    return {**request, "GlobalSecondaryIndexes": indexes} if indexes else request


def _is_settled(description: dict[str, Any] | None) -> bool:
    if description is None or description.get("TableStatus", "ACTIVE") != "ACTIVE":
        return False
    indexes = description.get("GlobalSecondaryIndexes") or ()
    return all(index.get("IndexStatus", "ACTIVE") == "ACTIVE" for index in indexes)
