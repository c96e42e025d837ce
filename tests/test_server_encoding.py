"""Requests whose body is compressed: what is taken, and what is refused."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import pytest

import singletable
from serving import HttpSocket, call
from singletable.limits import REQUEST_BYTES_MAX
from singletable.server import BackgroundServer

if TYPE_CHECKING:
    from collections.abc import Iterator

TABLE = {
    "TableName": "things",
    "AttributeDefinitions": [{"AttributeName": "PK", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}],
    "BillingMode": "PAY_PER_REQUEST",
}
PUT = json.dumps({"TableName": "things", "Item": {"PK": {"S": "a"}, "text": {"S": "x" * 10_000}}}).encode()


@pytest.fixture
def client() -> Iterator[HttpSocket]:
    with (
        singletable.Database.open(":memory:") as database,
        BackgroundServer(database) as address,
        HttpSocket(address) as connected,
    ):
        assert connected.ask(call("CreateTable", TABLE)).status == 200
        yield connected


def is_stored(client: HttpSocket) -> bool:
    return "Item" in client.ask(call("GetItem", {"TableName": "things", "Key": {"PK": {"S": "a"}}})).json


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        pytest.param(gzip.compress(PUT), "gzip", id="gzip"),
        pytest.param(gzip.compress(PUT), " GZip ", id="in other letters"),
        pytest.param(gzip.compress(PUT[:10]) + gzip.compress(PUT[10:]), "gzip", id="in two members"),
        pytest.param(PUT, "identity", id="identity"),
    ],
)
def test_body_is_decoded(client: HttpSocket, body: bytes, encoding: str) -> None:
    assert client.ask(call("PutItem", body, f"Content-Encoding: {encoding}")).status == 200
    assert is_stored(client)


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        pytest.param(PUT, "garbage", id="unknown encoding"),
        pytest.param(PUT, "gzip", id="not compressed"),
        pytest.param(gzip.compress(PUT)[:-1], "gzip", id="cut at its end"),
        pytest.param(gzip.compress(PUT)[:100], "gzip", id="cut in its middle"),
        pytest.param(gzip.compress(PUT)[:20] + b"\xff" * 9, "gzip", id="broken in its middle"),
        pytest.param(gzip.compress(PUT) + b"more", "gzip", id="something behind it"),
        pytest.param(b"", "gzip", id="empty"),
    ],
)
def test_body_that_cannot_be_decoded_is_refused_and_does_nothing(
    client: HttpSocket, body: bytes, encoding: str
) -> None:
    answer = client.ask(call("PutItem", body, f"Content-Encoding: {encoding}"))
    assert (answer.status, answer.json["__type"].rpartition("#")[2]) == (400, "SerializationException")
    assert not is_stored(client)


def test_small_body_that_unpacks_to_a_large_one_is_refused(client: HttpSocket) -> None:
    largest = PUT[:-1] + b" " * (REQUEST_BYTES_MAX - len(PUT)) + PUT[-1:]
    assert client.ask(call("PutItem", gzip.compress(b" " + largest), "Content-Encoding: gzip")).status == 413
    assert not is_stored(client)
    assert client.ask(call("PutItem", gzip.compress(largest), "Content-Encoding: gzip")).status == 200
