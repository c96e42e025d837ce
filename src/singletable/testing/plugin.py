"""The pytest plugin: a fresh database for each test, and one boto3 client that follows it.

Every run of pytest in an environment with this package imports this module: it must load nothing but pytest.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from singletable import Database
    from singletable.wire.parameters import OperationContext


@pytest.fixture
def dynamodb() -> Iterator[Database]:
    """A singletable.Database in memory, empty, for this test alone."""
    from singletable import Database

    with Database.open(":memory:") as database:
        yield database


@pytest.fixture
def dynamodb_client(dynamodb: Database, _singletable_clients: _Clients) -> Iterator[Any]:
    """A boto3 client that the `dynamodb` of this test answers, without a network."""
    with _singletable_clients.answering(dynamodb):
        client = _singletable_clients.client()
        with _own_handlers(client):
            yield client


@pytest.fixture
def dynamodb_resource(dynamodb: Database, _singletable_clients: _Clients) -> Iterator[Any]:
    """A boto3 resource that the `dynamodb` of this test answers, without a network."""
    with _singletable_clients.answering(dynamodb):
        resource = _singletable_clients.resource()
        with _own_handlers(resource.meta.client):
            yield resource


@pytest.fixture(scope="session")
def _singletable_clients() -> _Clients:
    return _Clients()


class _Clients:
    """The client and the resource of a run, each built when first asked for."""

    def __init__(self) -> None:
        from singletable.boto.answering import Answers

        self._answers = Answers(self._find_session)
        self._session: OperationContext | None = None
        self._client: Any = None
        self._resource: Any = None

    @contextmanager
    def answering(self, database: Database) -> Iterator[None]:
        from singletable import Database

        if not isinstance(database, Database):  # a fixture of the project, or of another plugin
            raise TypeError(
                f"the fixture `dynamodb` gave {type(database).__name__}, not a singletable.Database; "
                "rename the other fixture of this name"
            )
        before, self._session = self._session, database._session
        try:
            yield
        finally:
            self._session = before

    def client(self) -> Any:
        if self._client is None:
            from singletable.boto.clients import answered_client

            region_name = self._find_session().region
            self._client = answered_client(self._answers, "dynamodb", region_name=region_name)
        return self._client

    def resource(self) -> Any:
        if self._resource is None:
            from singletable.boto.clients import answered_resource

            region_name = self._find_session().region
            self._resource = answered_resource(self._answers, region_name=region_name)
        return self._resource

    def _find_session(self) -> OperationContext:
        if self._session is None:
            from singletable.errors import DatabaseClosedError

            raise DatabaseClosedError(
                "this client belongs to a test that is over", hint="ask for the fixture in each test"
            )
        return self._session


@contextmanager
def _own_handlers(client: Any) -> Iterator[None]:
    """Forget the event handlers that a test registers: the client goes on to the next one."""
    from copy import copy

    events = client.meta.events
    client.meta.events = copy(events)
    try:
        yield
    finally:
        client.meta.events = events
