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

from singletable import Database
from singletable.clock import ManualClock
from singletable.server import BackgroundServer

# What differs between any two databases, or two requests.
_UNLIKE = ("TableId", "RequestId", "HTTPHeaders")


class BothWays:
    """Two databases that are told the same; what they answer is held against each other, key by key."""

    def __init__(self, in_process: Any, over_http: Any) -> None:
        self.in_process = in_process
        self.over_http = over_http

    def send(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        """Return the answer, or what a ClientError carries, after seeing that both ways agree."""
        here = outcome(self.in_process, operation, copy.deepcopy(request))
        there = outcome(self.over_http, operation, copy.deepcopy(request))
        answer = copy.deepcopy(here)
        assert comparable(here) == comparable(there), f"{operation} {request}\n\n{here}\n\n{there}"
        tear_apart(here)  # whoever still held on to a part of it would answer differently from now on
        return answer


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
        over_http = boto3.Session(
            region_name="us-east-1", aws_access_key_id="any", aws_secret_access_key="thing"
        ).client("dynamodb", endpoint_url=address.url, config=config)
        yield BothWays(here.client(config=config), over_http)
        over_http.close()


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
