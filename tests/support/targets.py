"""The targets that designs run on, for tests that hold everywhere: in the process, HTTP, DynamoDB Local."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from singletable import Database
from singletable.client import Client, EmbeddedClient, open_client
from singletable.clock import Clock
from singletable.server import BackgroundServer

AWS_LOCAL_URL = os.environ.get("SINGLETABLE_AWS_LOCAL")
_AWS_LOCAL_MARKS = [
    pytest.mark.aws_local,
    pytest.mark.skipif(
        AWS_LOCAL_URL is None, reason="SINGLETABLE_AWS_LOCAL, a DynamoDB Local's URL, is unset"
    ),
]
_AWS_LOCAL = pytest.param("aws-local", marks=_AWS_LOCAL_MARKS)
# For what a design does with the answers of a target: over HTTP they are the same, as other tests prove.
TARGETS = ["embedded", _AWS_LOCAL]
# For what the way to the target may change: requests, answers, errors, pages, asyncio.
EVERY_TARGET = ["embedded", "http", _AWS_LOCAL]
# For many cases of which a few cross HTTP in the quick suite elsewhere: the others do with `make soak`.
EVERY_TARGET_IN_TIME = ["embedded", pytest.param("http", marks=pytest.mark.soak), _AWS_LOCAL]


@contextmanager
def no_aws_settings(**environment: str) -> Iterator[None]:
    """Let botocore find nothing but this in the environment, and nothing in anybody's ~/.aws."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("AWS_")]:
            patch.delenv(name)
        patch.setenv("AWS_CONFIG_FILE", os.devnull)
        patch.setenv("AWS_SHARED_CREDENTIALS_FILE", os.devnull)
        for name, value in environment.items():
            patch.setenv(name, value)
        yield


@contextmanager
def opened_place(target: str, *, clock: Clock | None = None) -> Iterator[Any]:
    """Make a fresh, empty target, one of `EVERY_TARGET`; yield what `open` of a design takes for it."""
    if target == "aws-local":
        assert AWS_LOCAL_URL is not None
        # DynamoDB Local keeps a database for each access key, so a fresh key is a fresh database.
        key = {"AWS_ACCESS_KEY_ID": uuid.uuid4().hex, "AWS_SECRET_ACCESS_KEY": "unused"}
        with no_aws_settings(**key):
            yield AWS_LOCAL_URL
        return
    with Database.open(":memory:", clock=clock) as database:
        if target == "embedded":
            yield database
        else:
            with BackgroundServer(database) as address, no_aws_settings():
                yield address.url
        assert database.check() == []


@contextmanager
def opened(target: str, *, clock: Clock | None = None, **options: Any) -> Iterator[Client]:
    """Open a fresh, empty target, one of `EVERY_TARGET`."""
    with opened_place(target, clock=clock) as place:
        own_clock: dict[str, Any] = {} if target == "embedded" else {"clock": clock}
        with open_client(place, **own_clock, **options) as client:
            yield client


def target_of(client: Client) -> Any:
    """Return what `open` and `diff` of a design take to come to the same place."""
    return client.database if isinstance(client, EmbeddedClient) else client.endpoint  # type: ignore[attr-defined]
