"""Runs scripts on a database in memory: every call that is made, what it gives, and what is stored in the end.

A line is a step ("do"), a call that the design makes for it, what the step gives, or an item that is stored in the
end. Names of tables are left out, and random tokens, which are numbered as they come. Parameters have short names,
{"S": "x"} is "x" and {"N": "1"} is 1, names and values stand in expressions, changes of an update are sorted, and
entities that a step gives are told by a hash of their values.
"""

from __future__ import annotations

import base64
import dataclasses
import gzip
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeVar

from golden import scripts
from golden.stage import Stage
from singletable import Database
from singletable.client import Call
from singletable.clock import ManualClock
from singletable.design import Collection, Design, Entity, Page, Written
from singletable.errors import SingleTableError
from singletable.systems import installed_systems
from support.design_clients import on_client
from support.limited_targets import TRANSACTIONS, LimitedClient

T = TypeVar("T")
D = TypeVar("D", bound=Design)

# Parameters that most calls have, by shorter names.
_SHORT: Final = {
    "ConditionExpression": "if",
    "ConsistentRead": "consistent",
    "FilterExpression": "filter",
    "KeyConditionExpression": "where",
    "ProjectionExpression": "only",
    "ReturnValues": "returns",
    "UpdateExpression": "change",
}
_IN_THE_WAY: Final = "ReturnValuesOnConditionCheckFailure"
_EXPRESSIONS: Final = {name for name in _SHORT if name.endswith("Expression")}
# These ask for the units that they cost, unless it is said that they do not.
_CHARGED: Final = {
    "BatchGetItem", "BatchWriteItem", "DeleteItem", "GetItem", "PutItem", "Query", "Scan", "TransactGetItems",
    "TransactWriteItems", "UpdateItem",
}  # fmt: skip
_LEFT_OUT: Final = {"TableName", "ExpressionAttributeNames", "ExpressionAttributeValues"}
_GZIP: Final = b"\x1f\x8b"
_TOKEN: Final = re.compile(r"[0-9a-f]{32}")
WITHOUT: Final = "-without-transactions"

SCRIPTS: Final[dict[str, Callable[[Stage], None]]] = {
    **{script.__name__: script for script in (*scripts.EITHER, *scripts.WITH_TRANSACTIONS)},
    **{script.__name__ + WITHOUT: script for script in scripts.EITHER},
}


def recorded_lines(name: str) -> list[str]:
    """Run a script; return what was recorded."""
    with Database.open(":memory:", clock=ManualClock(), ttl_sweep_s=None) as database:
        recording = _Recording(database, has_transactions=not name.endswith(WITHOUT))
        SCRIPTS[name](recording)
        recording.write_stored()
        assert database.check() == []
    return recording.lines


class _Recording(Stage):
    def __init__(self, database: Database, *, has_transactions: bool) -> None:
        assert isinstance(database.clock, ManualClock)
        super().__init__(database, database.clock)
        self.lines: list[str] = []
        self._tokens: dict[str, str] = {}
        self._is_writing = True
        self._client = _RecordingClient(self, frozenset() if has_transactions else TRANSACTIONS)

    def open(self, design: type[D], *, is_told: bool = False, **environment: str) -> D:
        self.write({"open": design.__name__})
        self._is_writing = is_told
        db = on_client(design, self._client, makes_table=True, **environment)
        self._is_writing = True
        return db

    def do(self, words: str, function: Callable[[], T]) -> T:
        self.write({"do": words})
        result = function()
        self.write({"gives": shown(result)})
        return result

    def refuse(self, words: str, function: Callable[[], Any]) -> None:
        self.write({"do": words})
        try:
            function()
        except SingleTableError as error:
            self.write({"raises": type(error).__name__, "says": str(error)})
        else:
            raise AssertionError(f"{words}: nothing was refused")

    def together(self, words: str, function: Callable[[], Any]) -> None:
        play = self.do if self._client.capabilities.transactions else self.refuse
        play(words, function)

    def write(self, line: Mapping[str, Any]) -> None:
        if self._is_writing:
            self.lines.append(_TOKEN.sub(self._token, _text(line)))

    def _token(self, found: re.Match[str]) -> str:
        return self._tokens.setdefault(found[0], f"token{len(self._tokens) + 1}")

    def write_stored(self) -> None:
        calls, self.lines = self.lines, []
        for table in self.database.list_tables()["TableNames"]:
            for item in self.database.scan(TableName=table)["Items"]:
                self.write({"stored": item})
        self.lines = calls + sorted(self.lines)


class _RecordingClient(LimitedClient):
    def __init__(self, recording: _Recording, unknown: frozenset[str]) -> None:
        super().__init__(recording.database, unknown, sleep=recording.clock.advance, random=lambda: 0.5)
        self._recording = recording

    def call(self, operation: str, params: Mapping[str, Any]) -> dict[str, Any]:
        told = _told(params)
        if operation in _CHARGED and told.pop("ReturnConsumedCapacity", None) != "TOTAL":
            told["units"] = "not asked for"
        self._recording.write({operation: told})
        return super().call(operation, params)

    def call_together(self, calls: Sequence[Call]) -> list[dict[str, Any]]:
        self._recording.write({"together": len(calls)})
        return super().call_together(calls)


def _told(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a call, or of an action of a transaction, as they are written down."""
    kept = {name: value for name, value in params.items() if name not in _LEFT_OUT}
    if "RequestItems" in kept:
        (kept["RequestItems"],) = kept["RequestItems"].values()
    if "TransactItems" in kept:
        kept["TransactItems"] = [
            {action: _told(each) for action, each in entry.items()} for entry in kept["TransactItems"]
        ]
    # A write on a condition asks for the item that is in the way, unless it is said that it does not.
    if "ConditionExpression" in kept and kept.pop(_IN_THE_WAY, None) != "ALL_OLD":
        kept["refused"] = "not asked for"
    for name in _EXPRESSIONS & kept.keys():
        parts = _changes(kept[name]) if name == "UpdateExpression" else [kept[name]]
        kept[name] = " ".join(sorted(_filled(part, params) for part in parts))
    return kept


def _changes(expression: str) -> list[str]:
    """Return the changes of an update, each with its verb: DynamoDB carries them out in no order."""
    changes: list[str] = []
    for clause in re.split(r" (?=(?:SET|REMOVE|ADD|DELETE) )", expression):
        verb, _, text = clause.partition(" ")
        changes += [f"{verb} {part}" for part in re.split(r", (?![^(]*\))", text)]
    return changes


def _filled(expression: str, params: Mapping[str, Any]) -> str:
    """Put names and values where their placeholders stand."""
    names = params.get("ExpressionAttributeNames", {})
    values = params.get("ExpressionAttributeValues", {})
    told = {key: _text(value).replace('"', "'") for key, value in values.items()}
    return re.sub(r"[#:]\w+", lambda found: (names if found[0][0] == "#" else told)[found[0]], expression)


def _text(value: Any) -> str:
    return json.dumps(plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it, and short; sets of strings and numbers have no order."""
    match value:
        case {"S": str(text), **others} if not others:
            return text
        case {"N": str(number), **others} if not others and number.lstrip("-").isdigit():
            return int(number)
        case Mapping():
            return {
                _SHORT.get(name, name): sorted(each) if name in ("SS", "NS") else plain(each)
                for name, each in value.items()
            }
        case bytes() if value.startswith(_GZIP):  # other builds of zlib may make other bytes of the same
            return f"gzip of {gzip.decompress(value).decode()}"
        case bytes() | bytearray():
            return base64.b64encode(value).decode()
        case list() | tuple():
            return [plain(each) for each in value]
        case set() | frozenset():
            return sorted(plain(each) for each in value)
        case str() | int() | float() | None:
            return value
        case _:
            return str(value)


def shown(value: Any) -> Any:
    """Return what a step gave."""
    if isinstance(value, Written):
        return [shown(value.entity), value.units]
    if isinstance(value, Page):
        return {
            "items": shown(value.items),
            "cursor": value.cursor,
            "usage": dataclasses.astuple(value.usage),
        }
    if isinstance(value, Entity):
        text = json.dumps({name: plain(each) for name, each in dict(value).items()}, sort_keys=True)
        return f"{type(value).__name__} {_hash(text)}"
    if isinstance(value, Collection):
        return {name: shown(each) for name, each in value}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: shown(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {name: shown(each) for name, each in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        return [shown(each) for each in value]
    return plain(value)


# --- blueprints -------------------------------------------------------------------------------------------


def blueprint_lines() -> list[str]:
    """Return what tells the blueprints of the systems from others: their sizes, and hashes of their parts."""
    lines: list[str] = []
    for name, system in installed_systems().items():
        text = system.design.blueprint().to_json()
        lines.append(f"{name}: {len(text.encode())} bytes, {_hash(text)}")
        for part, value in json.loads(text).items():
            entries = value if isinstance(value, list) else [value]
            for number, entry in enumerate(entries):
                called = (
                    entry.get("method") or entry.get("name") or number if isinstance(entry, dict) else number
                )
                lines.append(f"    {part} {called}: {_hash(json.dumps(entry, sort_keys=True))}")
    return lines


def _hash(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
