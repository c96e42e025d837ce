"""Endpoints that carry out a request and lose its answer: whoever sent it sends it again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace

import orjson
import pytest

from singletable import Database
from singletable.client import Client, open_client
from singletable.clock import Clock
from singletable.server import BackgroundServer
from singletable.wire.answers import WireAnswer
from singletable.wire.execution import Execution
from support.limited_targets import LimitedDatabase
from support.targets import no_aws_settings


class LosingDatabase(LimitedDatabase):
    """Carries out every request; the answers to the next ones of some operations are lost."""

    def __init__(self, database: Database, unknown: frozenset[str] = frozenset()) -> None:
        super().__init__(database, unknown)
        self.loses: list[str] = []
        self.lost: list[str] = []

    def begin(self, operation: str, body: bytes) -> WireAnswer | Execution | None:
        if operation not in self.loses:
            return super().begin(operation, body)
        self.loses.remove(operation)
        self.lost.append(operation)
        self._database.answer(operation, body)
        error = {"__type": "com.amazonaws.dynamodb.v20120810#InternalServerError", "message": "lost"}
        return WireAnswer(500, orjson.dumps(error))


@contextmanager
def losing_endpoint(
    unknown: frozenset[str] = frozenset(), *, clock: Clock
) -> Iterator[tuple[Client, LosingDatabase]]:
    """Open an empty endpoint that can lose answers. botocore sends again at once, instead of after a while."""
    with Database.open(":memory:", clock=clock) as database, pytest.MonkeyPatch.context() as patch:
        patch.setattr("botocore.endpoint.time", SimpleNamespace(sleep=lambda seconds: None))
        losing = LosingDatabase(database, unknown)
        with (
            BackgroundServer(losing) as address,
            no_aws_settings(),
            open_client(address.url, clock=clock) as client,
        ):
            yield client, losing
