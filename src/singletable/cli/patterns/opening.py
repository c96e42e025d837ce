"""Where a pattern runs: its design on a target, with the requests written down; or on nothing at all."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from singletable.cli.messages import WrongUseError
from singletable.cli.patterns.finding import PatternSource
from singletable.cli.targets import is_remote, refuse_missing_file
from singletable.client import DYNAMODB, Call, Capabilities, Client
from singletable.client.calls import Answer, read_units
from singletable.clock import Clock, SystemClock
from singletable.errors import DeclarationError, TableMissingError

if TYPE_CHECKING:
    from singletable.client import Capabilities
    from singletable.design import Design
    from singletable.design.session.session import Session


_EMPTY: Final[dict[str, Answer]] = {
    "Query": {"Items": [], "Count": 0, "ScannedCount": 0},
    "BatchGetItem": {"Responses": {}},
}


@dataclass(frozen=True, slots=True)
class Opened:
    """An open design, the session that its plans are to run on, and the requests that were made there."""

    design: Design
    session: Session
    sent: list[Sent]

    @property
    def table(self) -> str:
        return self.session.table


@contextmanager
def opened(
    source: PatternSource, target: str, given: Mapping[str, str], capabilities: Capabilities | None = None
) -> Iterator[Opened]:
    """Open a design on a target that is there. Nothing is made."""
    makes_it = f"{source.makes_table(target, given)} makes it"
    refuse_missing_file(target, hint=makes_it)
    environment: dict[str, Any] = {**source.environment, **given}
    _table_name(source, target, environment)
    with source.design.open(target, create=False, capabilities=capabilities, **environment) as design:
        client = RecordingClient(design.session.client)
        session = replace(design.session, client=client)
        try:
            # On the session that is written down, since a pattern may read while it runs.
            yield Opened(type(design)._on(session), session, client.sent)
        except TableMissingError as error:
            raise TableMissingError(f"the table {session.table} is not there", hint=makes_it) from error


@contextmanager
def rehearsed(
    source: PatternSource, target: str, given: Mapping[str, str], capabilities: Capabilities | None = None
) -> Iterator[Opened]:
    """Open a design for a target that need not be there, and is not asked anything."""
    environment: dict[str, Any] = {**source.environment, **given}
    table = _table_name(source, target, environment)
    client = DryClient(SystemClock(), capabilities or DYNAMODB)
    with source.design.open(":memory:", create=False, **environment) as design:
        session = replace(design.session, client=client, table=table)
        yield Opened(type(design)._on(session), session, client.sent)


def _table_name(source: PatternSource, target: str, environment: Mapping[str, str]) -> str:
    """Return the table's name. Only where nobody else can have it, what is not given may be "dev"."""
    table = source.design.table
    otherwise = table.name_in(environment, otherwise="dev")
    if not is_remote(target):
        return otherwise
    try:
        return table.name_in(environment)
    except DeclarationError as error:
        raise WrongUseError(
            error.message, hint="give it with --env NAME=VALUE, as --env stage=prod"
        ) from error


# --- clients that write down what is asked --------------------------------------------------------------------


@dataclass(slots=True)
class Sent:
    """A request, and what its answer says of it. Of one that was not answered there are no units."""

    operation: str
    params: Mapping[str, Any]
    units: float = 0.0
    read: int = 0
    error: str | None = None

    @property
    def index(self) -> str | None:
        found: str | None = self.params.get("IndexName")
        return found

    def data(self, table: str) -> dict[str, Any]:
        """Return it as JSON can hold it: binary values are base64."""
        return {
            "operation": self.operation,
            "table": table,
            "index": self.index,
            "params": _plain(self.params),
            "units": self.units,
            "read": self.read,
            "error": self.error,
        }


class RecordingClient(Client):
    """Asks another client, and writes down the requests in their order."""

    def __init__(self, inner: Client) -> None:
        super().__init__(inner.clock, inner.sleep, inner.random)
        self.sent: list[Sent] = []
        self._inner = inner

    @property
    def capabilities(self) -> Capabilities:
        return self._inner.capabilities

    @property
    def is_trusted(self) -> bool:
        return self._inner.is_trusted

    def lacks(self, feature: str) -> None:
        self._inner.lacks(feature)

    def call(self, operation: str, params: Mapping[str, Any]) -> Answer:
        sent = self._add(operation, params)
        try:
            answer = self._inner.call(operation, params)
        except Exception as error:
            sent.error = type(error).__name__
            raise
        return _answered(sent, answer)

    async def acall(self, operation: str, params: Mapping[str, Any]) -> Answer:
        return self.call(operation, params)

    def call_together(self, calls: Sequence[Call]) -> list[Answer]:
        sent = [self._add(call.operation, call.params) for call in calls]
        try:
            answers = self._inner.call_together(calls)
        except Exception as error:
            for each in sent:  # which of them it was, nobody says
                each.error = type(error).__name__
            raise
        return [_answered(each, answer) for each, answer in zip(sent, answers, strict=True)]

    async def acall_together(self, calls: Sequence[Call]) -> list[Answer]:
        return self.call_together(calls)

    def close(self) -> None:
        self._inner.close()

    def _add(self, operation: str, params: Mapping[str, Any]) -> Sent:
        self.sent.append(Sent(operation, dict(params)))
        return self.sent[-1]


class DryClient(Client):
    """Asks nobody: answers as a table without items would, in which every write succeeds."""

    def __init__(self, clock: Clock, capabilities: Capabilities = DYNAMODB) -> None:
        super().__init__(clock)
        self.sent: list[Sent] = []
        self._capabilities = capabilities

    @property
    def capabilities(self) -> Capabilities:
        return self._capabilities

    @property
    def is_trusted(self) -> bool:
        return False

    def lacks(self, feature: str) -> None:
        self._capabilities = self._capabilities.without(feature)

    def call(self, operation: str, params: Mapping[str, Any]) -> Answer:
        self.sent.append(Sent(operation, dict(params)))
        return dict(_EMPTY.get(operation, {}))

    async def acall(self, operation: str, params: Mapping[str, Any]) -> Answer:
        return self.call(operation, params)

    def call_together(self, calls: Sequence[Call]) -> list[Answer]:
        return [self.call(call.operation, call.params) for call in calls]

    async def acall_together(self, calls: Sequence[Call]) -> list[Answer]:
        return self.call_together(calls)

    def close(self) -> None:
        """Close nothing: nothing was opened."""


def _answered(sent: Sent, answer: Answer) -> Answer:
    sent.units = read_units(answer)
    items = answer.get("Items", ())
    found = sum(map(len, answer.get("Responses", {}).values())) if sent.operation == "BatchGetItem" else 0
    sent.read = answer.get("ScannedCount", len(items)) + found + int("Item" in answer)
    return answer


def _plain(value: Any) -> Any:
    match value:
        case Mapping():
            return {name: _plain(member) for name, member in value.items()}
        case list() | tuple():
            return [_plain(member) for member in value]
        case bytes():
            return base64.b64encode(value).decode()
        case _:
            return value
