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
TARGETS = ["embedded", "http", pytest.param("aws-local", marks=_AWS_LOCAL_MARKS)]


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
def opened(target: str, *, clock: Clock | None = None, **options: Any) -> Iterator[Client]:
    """Open a fresh, empty target, one of `TARGETS`."""
    if target == "aws-local":
        assert AWS_LOCAL_URL is not None
        # DynamoDB Local keeps a database for each access key, so a fresh key is a fresh database.
        key = {"AWS_ACCESS_KEY_ID": uuid.uuid4().hex, "AWS_SECRET_ACCESS_KEY": "unused"}
        with no_aws_settings(**key), open_client(AWS_LOCAL_URL, clock=clock, **options) as client:
            yield client
        return
    with Database.open(":memory:", clock=clock) as database:
        if target == "embedded":
            with open_client(database, **options) as client:
                yield client
        else:
            with (
                BackgroundServer(database) as address,
                no_aws_settings(),
                open_client(address.url, clock=clock, **options) as client,
            ):
                yield client
        assert database.check() == []


def target_of(client: Client) -> Any:
    """Return what `open` and `diff` of a design take to come to the same place."""
    return client.database if isinstance(client, EmbeddedClient) else client.endpoint  # type: ignore[attr-defined]
