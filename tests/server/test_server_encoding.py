"""Compressed bodies: of requests, what is taken and what is refused; of answers, what the client wishes."""

from __future__ import annotations

import gzip
import json
import zlib
from typing import TYPE_CHECKING

import pytest

import singletable
from singletable.limits import REQUEST_BYTES_MAX
from singletable.server import BackgroundServer
from singletable.server.encoding import (
    ENCODED_BYTES_MIN,
    MEMBERS_MAX,
    UNREADABLE,
    decode,
    encode,
    is_long_to_decode,
    is_long_to_encode,
    preferred,
    wants_encoding,
)
from singletable.server.reader import BODY_TOO_LARGE, Request
from singletable.server.replies import AMZ_JSON, Reply
from singletable.server.routing import Deferred, RoutedCall, Router
from support.serving import HttpSocket, call

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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
        pytest.param(zlib.compress(PUT), "deflate", id="deflate"),
        pytest.param(zlib.compress(PUT), "Deflate", id="deflate in other letters"),
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
        pytest.param(b"", "deflate", id="empty deflate"),
        pytest.param(PUT, "deflate", id="not deflated"),
        pytest.param(zlib.compress(PUT)[:-1], "deflate", id="deflate cut at its end"),
        pytest.param(zlib.compress(PUT) + b"more", "deflate", id="something behind a deflate"),
        pytest.param(
            zlib.compress(PUT[:10]) + zlib.compress(PUT[10:]), "deflate", id="deflate in two streams"
        ),
        pytest.param(zlib.compress(PUT)[2:-4], "deflate", id="deflate without its header"),
        pytest.param(gzip.compress(PUT), "deflate", id="gzip for a deflate"),
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
    deflated = zlib.compress(b" " + largest)
    assert client.ask(call("PutItem", deflated, "Content-Encoding: deflate")).status == 413
    assert client.ask(call("PutItem", gzip.compress(largest), "Content-Encoding: gzip")).status == 200


# --- requests, without a server ----------------------------------------------------------------------------


def bomb(unpacked_bytes: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    megabytes = [packer.compress(b" " * (1 << 20)) for _ in range(unpacked_bytes >> 20)]
    return b"".join([*megabytes, packer.flush()])


def test_bomb_is_left_alone_at_the_limit() -> None:
    assert decode(bomb(256 << 20), b"gzip") == BODY_TOO_LARGE.reply


@pytest.mark.parametrize("text", [b"", b" "], ids=["empty", "of one byte"])
def test_members_are_counted(text: bytes) -> None:
    assert decode(gzip.compress(text) * MEMBERS_MAX, b"gzip") == text * MEMBERS_MAX
    assert decode(gzip.compress(text) * (MEMBERS_MAX + 1), b"gzip") == UNREADABLE


@pytest.mark.parametrize("cut", [65535, 65536, 65537])
def test_member_may_end_where_a_piece_ends(cut: int) -> None:
    # Stored, not compressed, so that its length is known to the byte.
    first = gzip.compress(b"x" * (cut - 23), 0)
    assert len(first) == cut
    assert decode(first + gzip.compress(b"y"), b"gzip") == b"x" * (cut - 23) + b"y"


def packed_request(body: bytes) -> Request:
    headers = {
        b"x-amz-target": b"DynamoDB_20120810.PutItem",
        b"content-type": AMZ_JSON,
        b"content-encoding": b"gzip",
    }
    return Request(b"POST", b"/", headers, gzip.compress(body), True)


def test_unpacking_that_may_take_long_is_put_off() -> None:
    router = Router(checks_signatures=False)
    small = router.route(packed_request(b"{}"))
    assert small == RoutedCall("PutItem", b"{}", AMZ_JSON)
    large = packed_request(b" " * (1 << 20))
    assert is_long_to_decode(large.body)
    put_off = router.route(large)
    assert isinstance(put_off, Deferred)
    assert put_off.finish() == RoutedCall("PutItem", b" " * (1 << 20), AMZ_JSON)


# --- answers ------------------------------------------------------------------------------------------------

LARGE = Reply(200, b'{"Items":[' + b'{"PK":{"S":"a"}},' * 1000 + b"]}")


# Each was asked of the service by ScyllaDB's test_compressed_response.py.
@pytest.mark.parametrize(
    ("accepted", "expected"),
    [
        ("gzip", "gzip"),
        ("deflate", "deflate"),
        ("identity", None),
        ("", None),
        ("br", None),
        ("zstd", None),
        ("compress", None),
        ("x-gzip", None),
        ("gzip, deflate", "gzip"),
        ("br, identity, deflate, gzip", "deflate"),
        ("GZIP, identity", "gzip"),
        ("dog, gzip ,, cat", "gzip"),
        ("gzip;q=0.8, deflate;q=0.5", "gzip"),
        ("br, gzip;q=0, deflate; q = 0.5 , identity;q=0", "deflate"),
        ("*", "gzip"),
        ("*, deflate;q=0.5", "gzip"),
        ("*, deflate", "deflate"),
        ("*, identity", "gzip"),
        ("*, gzip;q=0.5", "deflate"),
        ("gzip ;q=0", None),
        ("identity;q=0", None),
        ("*;q=0", None),
        ("*;q=0.5,identity", "gzip"),
        ("gzip;q=0.5,identity;q=0.8", "gzip"),
        ("br;q=0.8,identity;q=0.5,*;q=0", None),
        ('"gzip"', None),
        ("gzip br", None),
        ("gzip:q=1", None),
        ("deflate;q=0.5, gzip;q=31", "gzip"),
        ("gzip;q=31,deflate;q=51", "gzip"),
        ("deflate;q=0.5, gzip;q=0.2", "deflate"),
        ("deflate;q=0.5, gzip;q=1;q=0.2", "gzip"),
        ("deflate;q=0.5,gzip;q=0.", "deflate"),
        ("deflate;q=0.5,gzip;q=0.x", "gzip"),
        ("deflate;q=0.5,gzip;q=0. x", "gzip"),
        ("deflate;q=-0.5,gzip;q=0.2", "gzip"),
        ("gzip;q= 0;q=1", None),
        ("gzip;q =0;q=1", "gzip"),
        ("gzip; q=0;q=1", None),
        ("gzip;nq=0;q=1", None),
        ("gzip;q=0, gzip;q=1, gzip;q=0", "gzip"),
        ("br,identity;q=0.5,gzip;q=0.0001", "gzip"),
    ],
)
def test_encoding_is_chosen_as_the_service_chooses(accepted: str, expected: str | None) -> None:
    assert preferred(accepted.encode()) == (None if expected is None else expected.encode())


@pytest.mark.parametrize(
    ("name", "unpack"), [("gzip", gzip.decompress), ("deflate", zlib.decompress)], ids=["gzip", "deflate"]
)
def test_large_answer_is_compressed(name: str, unpack: Callable[[bytes], bytes]) -> None:
    packed = encode(Reply(LARGE.status, LARGE.body, LARGE.content_type, b"A: b\r\n"), name.encode())
    assert unpack(packed.body) == LARGE.body
    assert len(packed.body) < len(LARGE.body) // 10
    assert packed.headers == f"A: b\r\nContent-Encoding: {name}\r\n".encode()
    assert (packed.status, packed.content_type) == (LARGE.status, LARGE.content_type)


@pytest.mark.parametrize("accepted", [None, b"identity", b"br", b"gzip;q=0"])
def test_answer_stays_as_it_is_for_a_client_that_does_not_wish(accepted: bytes | None) -> None:
    assert encode(LARGE, accepted) is LARGE


def test_small_answers_stay_as_they_are() -> None:
    small, enough = (Reply(200, b" " * size) for size in (ENCODED_BYTES_MIN - 1, ENCODED_BYTES_MIN))
    assert encode(small, b"gzip") is small
    assert not wants_encoding(small, b"gzip")
    assert encode(enough, b"gzip").body != enough.body
    assert not is_long_to_encode(enough)
    assert is_long_to_encode(Reply(200, b" " * (1 << 20)))


def test_checksum_is_that_of_the_compressed_bytes(client: HttpSocket) -> None:
    assert client.ask(call("PutItem", PUT)).status == 200
    key = {"TableName": "things", "Key": {"PK": {"S": "a"}}}
    answer = client.ask(call("GetItem", key, "Accept-Encoding: gzip"))
    assert answer.headers["Content-Encoding"] == "gzip"
    assert answer.headers["x-amz-crc32"] == str(zlib.crc32(answer.body))
    assert json.loads(gzip.decompress(answer.body))["Item"]["text"] == {"S": "x" * 10_000}
    assert "Content-Encoding" not in client.ask(call("GetItem", key, "Accept-Encoding: identity")).headers


@pytest.mark.parametrize(
    ("accepted", "expected"),
    [
        (["gzip", "identity"], "gzip"),
        (["identity", "gzip"], None),
        (["deflate", "gzip"], "deflate"),
    ],
    ids=["gzip first", "identity first", "deflate first"],
)
def test_first_of_several_accept_encoding_headers_counts_as_at_the_service(
    client: HttpSocket, accepted: list[str], expected: str | None
) -> None:
    assert client.ask(call("PutItem", PUT)).status == 200
    key = {"TableName": "things", "Key": {"PK": {"S": "a"}}}
    answer = client.ask(call("GetItem", key, *(f"Accept-Encoding: {each}" for each in accepted)))
    assert answer.headers.get("Content-Encoding") == expected
