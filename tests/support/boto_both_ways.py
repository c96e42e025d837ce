"""One request sent through boto3 twice: answered in the process, and by a server over HTTP."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

from golden.vectors.transports import OF_STREAMS
from singletable import Database
from singletable.clock import ManualClock
from singletable.server import BackgroundServer

# What each database makes up, and requests name.
_MADE_UP = ("ShardIterator", "NextShardIterator", "BackupArn", "SourceBackupArn")
# What differs between any two databases, or two requests.
_UNLIKE = ("TableId", "RequestId", "HTTPHeaders", "eventID", *_MADE_UP)


class BothWays:
    """Two databases that are told the same; what they answer is held against each other, key by key."""

    def __init__(self, in_process: Any, over_http: Any, streams: tuple[Any, Any]) -> None:
        self.in_process = in_process
        self.over_http = over_http
        self.streams = streams  # in the process, and over HTTP
        self._made_up: dict[str, str] = {}  # by the one, and for the same thing by the other

    def client(self, operation: str) -> Any:
        """Return the client in the process that knows an operation."""
        return self.streams[0] if operation in OF_STREAMS else self.in_process

    def send(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        """Return the answer, or what a ClientError carries, after seeing that both ways agree."""
        here = outcome(self.client(operation), operation, copy.deepcopy(request))
        over_http = self.streams[1] if operation in OF_STREAMS else self.over_http
        there = outcome(over_http, operation, self._theirs(copy.deepcopy(request)))
        answer = copy.deepcopy(here)
        self._made_up.update(made_up(here, there))
        assert comparable(here) == comparable(there), f"{operation} {request}\n\n{here}\n\n{there}"
        tear_apart(here)  # whoever still held on to a part of it would answer differently from now on
        return answer

    def _theirs(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return a request with the iterator or the ARN that the other database has for the same thing."""
        return {
            name: self._made_up.get(value, value) if name in _MADE_UP else value
            for name, value in request.items()
        }


@contextmanager
def both_ways(**settings: Any) -> Iterator[BothWays]:
    """Open two databases with the same clock, and a client of each kind."""
    # One attempt: in the process nothing is tried again either.
    config = Config(retries={"total_max_attempts": 1}, connect_timeout=10, read_timeout=20, **settings)
    with (
        Database.open(":memory:", clock=ManualClock()) as here,
        Database.open(":memory:", clock=ManualClock()) as there,
        BackgroundServer(there) as address,
    ):
        session = boto3.Session(
            region_name="us-east-1", aws_access_key_id="any", aws_secret_access_key="thing"
        )
        over_http, streams = (
            session.client(service, endpoint_url=address.url, config=config)
            for service in ("dynamodb", "dynamodbstreams")
        )
        yield BothWays(here.client(config=config), over_http, (here.streams_client(config=config), streams))
        over_http.close()
        streams.close()


def outcome(client: Any, operation: str, request: dict[str, Any]) -> dict[str, Any]:
    method = getattr(client, re.sub(r"(?<=[a-z])(?=[A-Z])", "_", operation).lower())
    try:
        answer: dict[str, Any] = method(**request)
    except ClientError as error:
        answer = {"raised": type(error).__name__, **error.response}
    answer["ResponseMetadata"].pop(
        "MaxAttemptsReached", None
    )  # said of the last attempt, also of the only one
    return answer


def made_up(here: Any, there: Any) -> Iterator[tuple[str, str]]:
    """Yield what two answers call by names of their own."""
    if isinstance(here, dict) and isinstance(there, dict):
        for name in here.keys() & there.keys():
            if name in _MADE_UP:
                yield here[name], there[name]
            else:
                yield from made_up(here[name], there[name])
    elif isinstance(here, list) and isinstance(there, list):
        for one, other in zip(here, there, strict=False):
            yield from made_up(one, other)


def comparable(value: Any) -> Any:
    """Say the exact type of every value: 1, 1.0 and Decimal(1) are not the same answer."""
    if isinstance(value, dict):
        return {
            key: type(inner).__name__ if key in _UNLIKE else comparable(inner) for key, inner in value.items()
        }
    if isinstance(value, list):
        return [comparable(inner) for inner in value]
    return type(value).__name__, value, str(getattr(value, "tzinfo", None))


def tear_apart(value: Any) -> None:
    for inner in list(value.values() if isinstance(value, dict) else value):
        if isinstance(inner, dict | list):
            tear_apart(inner)
    value.clear()
