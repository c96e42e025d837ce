"""Designs on clients that a test holds: such as write down what they are asked, and such as lack transactions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import pytest

from singletable import Database
from singletable.client import Call, Capabilities, Client, open_client
from singletable.client.calls import Answer
from singletable.clock import Clock
from singletable.design import Design
from singletable.design.tables.create import ensure_table
from support.limited_targets import LimitedClient, limited_endpoint
from support.targets import EVERY_TARGET, EVERY_TARGET_IN_TIME, TARGETS, no_aws_settings, opened

D = TypeVar("D", bound=Design)

# Every path by which unique values are kept.
ALL_TARGETS = [*TARGETS, "no-transactions"]
ALL_TARGETS_AND_WAYS = [*EVERY_TARGET, "no-transactions", "http-no-transactions"]
ALL_TARGETS_AND_WAYS_IN_TIME = [
    *EVERY_TARGET_IN_TIME,
    "no-transactions",
    pytest.param("http-no-transactions", marks=pytest.mark.soak),
]

WRITES = frozenset({"PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems", "BatchWriteItem"})


class Between(Client):
    """Stands before another client: writes down the calls, and may answer in its place."""

    def __init__(self, inner: Client) -> None:
        super().__init__(inner.clock, inner.sleep, inner.random)
        self.inner = inner
        self.calls: list[Call] = []
        self.before: Callable[[Call], Answer | None] = lambda call: None

    @property
    def capabilities(self) -> Capabilities:
        return self.inner.capabilities

    @property
    def is_trusted(self) -> bool:
        return self.inner.is_trusted

    @property
    def is_plain_file(self) -> bool:
        return self.inner.is_plain_file

    def lacks(self, feature: str) -> None:
        self.inner.lacks(feature)

    def call(self, operation: str, params: Mapping[str, Any]) -> Answer:
        call = Call(operation, dict(params))
        self.calls.append(call)
        answer = self.before(call)
        return self.inner.call(operation, params) if answer is None else answer

    async def acall(self, operation: str, params: Mapping[str, Any]) -> Answer:
        return self.call(operation, params)

    def call_together(self, calls: Sequence[Call]) -> list[Answer]:
        return [self.call(call.operation, call.params) for call in calls]

    async def acall_together(self, calls: Sequence[Call]) -> list[Answer]:
        return self.call_together(calls)

    def close(self) -> None:
        """Leave the other client open: it is the test's."""

    def operations(self) -> list[str]:
        return [call.operation for call in self.calls]


def on_client(design: type[D], client: Client, *, makes_table: bool = True, **environment: str) -> D:
    """Open a design on a client."""
    session = design._session_on(client, environment)
    if makes_table:
        session.run(ensure_table(session))
    return design._on(session)


@contextmanager
def opened_anyhow(target: str, *, clock: Clock, **options: Any) -> Iterator[Client]:
    """Open a fresh, empty target, one of `ALL_TARGETS_AND_WAYS`."""
    if not target.endswith("no-transactions"):
        with opened(target, clock=clock, **options) as client:
            yield client
        return
    with Database.open(":memory:", clock=clock) as database:
        if target == "no-transactions":
            yield LimitedClient(database, **options)
        else:
            with (
                limited_endpoint(database) as url,
                no_aws_settings(),
                open_client(url, clock=clock, **options) as client,
            ):
                yield client
        assert database.check() == []
