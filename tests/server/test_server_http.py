"""HTTP as clients really speak it: one request, many in one go, in pieces, broken, too large."""

from __future__ import annotations

import re
import sys
import zlib
from typing import TYPE_CHECKING

import pytest

import singletable
from singletable.limits import REQUEST_BYTES_MAX
from singletable.server import BackgroundServer, ServerSettings
from support.serving import SIGNATURE, HttpSocket, call, post

if TYPE_CHECKING:
    from collections.abc import Iterator

TABLE = {
    "TableName": "things",
    "AttributeDefinitions": [{"AttributeName": "PK", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}],
    "BillingMode": "PAY_PER_REQUEST",
}


def put(key: str, **attributes: str) -> bytes:
    item = {"PK": {"S": key}, **{name: {"S": text} for name, text in attributes.items()}}
    return call("PutItem", {"TableName": "things", "Item": item})


def get(key: str) -> bytes:
    return call("GetItem", {"TableName": "things", "Key": {"PK": {"S": key}}})


@pytest.fixture(params=["uvloop", "asyncio"])
def client(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[HttpSocket]:
    if request.param == "asyncio":
        monkeypatch.setitem(sys.modules, "uvloop", None)  # as where it is not installed
    with (
        singletable.Database.open(":memory:") as database,
        BackgroundServer(database) as address,
        HttpSocket(address) as connected,
    ):
        assert connected.ask(call("CreateTable", TABLE)).status == 200
        yield connected


def test_answer_carries_the_headers_that_sdks_check(client: HttpSocket) -> None:
    answer = client.ask(call("ListTables", {}))
    assert answer.status == 200
    assert answer.json == {"TableNames": ["things"]}
    assert answer.headers["Content-Type"] == "application/x-amz-json-1.0"
    assert answer.headers["x-amz-crc32"] == str(zlib.crc32(answer.body))
    assert re.fullmatch("[0-9A-Z]{52}", answer.headers["x-amzn-RequestId"])
    assert re.fullmatch(r"[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT", answer.headers["Date"])


def test_tagging_is_answered_with_no_byte(client: HttpSocket) -> None:
    # AWS's model gives TagResource and UntagResource no output (ScyllaDB's test_tags_return_empty_body, on AWS).
    arn = "arn:aws:dynamodb:us-east-1:000000000000:table/things"
    tags = {"ResourceArn": arn, "Tags": [{"Key": "team", "Value": "shop"}]}
    for answer in (
        client.ask(call("TagResource", tags)),
        client.ask(call("UntagResource", {"ResourceArn": arn, "TagKeys": ["team"]})),
    ):
        assert (answer.status, answer.body, answer.headers["x-amz-crc32"]) == (200, b"", "0")
        assert answer.headers["Content-Length"] == "0"
    assert client.ask(call("ListTagsOfResource", {"ResourceArn": arn})).json == {"Tags": []}


@pytest.mark.parametrize("operation", ["ListTables", "DescribeTable", "PutItem"])
def test_request_without_a_body_is_no_json(client: HttpSocket, operation: str) -> None:
    # As dynalite and dynoxide have it from AWS; ScyllaDB's test_incorrect_json asked AWS without a body too.
    answer = client.ask(call(operation, b""))
    assert (answer.status, answer.json) == (
        400,
        {"__type": "com.amazon.coral.service#SerializationException"},
    )
    assert client.ask(get("a")).json == {}


def test_each_answer_has_its_own_request_id(client: HttpSocket) -> None:
    first, second = client.ask(get("a")), client.ask(get("a"))
    assert first.headers["x-amzn-RequestId"] != second.headers["x-amzn-RequestId"]


def test_get_says_that_the_service_is_healthy(client: HttpSocket) -> None:
    answer = client.ask(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert (answer.status, answer.body) == (200, b"healthy: dynamodb.us-east-1.amazonaws.com ")
    assert answer.headers["x-amz-crc32"] == "3128867991"


@pytest.mark.parametrize("path", ["/abc", "/-", "/index.htm", "/health", "//"])
def test_only_the_root_is_healthy(client: HttpSocket, path: str) -> None:
    answer = client.ask(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    assert (answer.status, answer.body) == (404, b"<UnknownOperationException/>\n")


@pytest.mark.parametrize("url", ["http://localhost/", "http://localhost", "HTTP://LOCALHOST/?a=b", "/?a=/b"])
def test_root_is_healthy_however_it_is_written(client: HttpSocket, url: str) -> None:
    assert client.ask(f"GET {url} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()).status == 200


def test_health_names_the_region() -> None:
    settings = ServerSettings(port=0, region="eu-west-1")
    with (
        singletable.Database.open(":memory:", region="eu-west-1") as database,
        BackgroundServer(database, settings) as address,
        HttpSocket(address) as client,
    ):
        answer = client.ask(b"GET /?from=load-balancer HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert answer.body == b"healthy: dynamodb.eu-west-1.amazonaws.com "


def test_head_is_answered_without_a_body(client: HttpSocket) -> None:
    client.send(b"HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert client.receive(body_expected=False).headers["Content-Length"] == "42"
    assert client.ask(get("a")).json == {}


@pytest.mark.parametrize(
    "request_bytes",
    [
        pytest.param(b"PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n", id="put"),
        pytest.param(b"DELETE / HTTP/1.1\r\nHost: localhost\r\n\r\n", id="delete"),
        pytest.param(b"OPTIONS / HTTP/1.1\r\nHost: localhost\r\n\r\n", id="options"),
        pytest.param(post(b"hi"), id="body without a content type"),
        pytest.param(post(b"hi", "Content-Type: whatever"), id="content type of no JSON"),
        pytest.param(post(b"{}", "Content-Type: application/x-amz-json-1.1"), id="JSON 1.1"),
        pytest.param(post(b"{}", "Content-Type: application/jsonasdf"), id="almost JSON"),
        pytest.param(post(b"a=1", "Content-Type: application/x-www-form-urlencoded"), id="web form"),
    ],
)
def test_what_is_no_api_request_is_not_found(client: HttpSocket, request_bytes: bytes) -> None:
    answer = client.ask(request_bytes)
    assert (answer.status, answer.body) == (404, b"<UnknownOperationException/>\n")
    assert answer.headers["x-amz-crc32"] == "3552371480"


@pytest.mark.parametrize(
    "request_bytes",
    [
        pytest.param(post(b"{}", "Content-Type: application/x-amz-json-1.0"), id="no target"),
        pytest.param(call("ListTable", {}), id="no such operation"),
        pytest.param(call("listtables", {}), id="operation in lower case"),
        pytest.param(call("", {}), id="empty operation"),
        pytest.param(call("GetItem.Now", {}), id="two dots"),
        pytest.param(call("GetItem", {}, target="DynamoDB_20991231"), id="another version"),
        pytest.param(call("GetItem", {}, target="Whatever"), id="another service"),
        pytest.param(call("GetItem", {}, target="DynamoDBStreams_20120810"), id="not of streams"),
    ],
)
def test_unknown_target_is_an_unknown_operation(client: HttpSocket, request_bytes: bytes) -> None:
    answer = client.ask(request_bytes)
    assert answer.status == 400
    assert answer.json == {"__type": "com.amazon.coral.service#UnknownOperationException"}
    assert answer.headers["Content-Type"] == "application/x-amz-json-1.0"


@pytest.mark.parametrize("size", [2, 1 << 20], ids=["small", "large"])
def test_unsigned_request_is_refused_and_does_nothing(client: HttpSocket, size: int) -> None:
    target = ("Content-Type: application/json", "X-Amz-Target: DynamoDB_20120810.DeleteTable")
    body = b'{"TableName":"things"}'.ljust(size)
    answer = client.ask(post(body, *target))
    assert answer.status == 400
    assert answer.json == {
        "__type": "com.amazon.coral.service#MissingAuthenticationTokenException",
        "message": "Request is missing Authentication Token",
    }
    assert answer.headers["Content-Type"] == "application/json"
    assert client.ask(call("ListTables", {})).json == {"TableNames": ["things"]}


def test_page_of_another_origin_may_neither_ask_ahead_nor_call(client: HttpSocket) -> None:
    asked = ("Origin: http://example.com", "Access-Control-Request-Method: POST")
    ahead = client.ask("\r\n".join(["OPTIONS / HTTP/1.1", "Host: localhost", *asked, "", ""]).encode())
    answer = client.ask(call("DeleteTable", {"TableName": "things"}, "Origin: http://example.com"))
    for refused in (ahead, answer):
        assert refused.status == 403
        assert "--cors-origin http://example.com" in refused.json["message"]
        assert not any(name.startswith("Access-Control") for name in refused.headers)
    assert client.ask(call("ListTables", {})).json == {"TableNames": ["things"]}


def test_streams_are_answered_at_the_same_place(client: HttpSocket) -> None:
    answer = client.ask(call("ListStreams", {}, target="DynamoDBStreams_20120810"))
    assert (answer.status, answer.json) == (200, {"Streams": []})


def test_operations_that_are_not_served_are_refused_with_their_sentence(client: HttpSocket) -> None:
    answer = client.ask(call("ListExports", {}))
    assert answer.status == 400
    assert answer.json["message"] == "ListExports is not supported in this release of singletable"


@pytest.mark.parametrize("operation", ["GetItem", "PutItem", "NoSuch"])
def test_body_that_is_no_json_is_a_serialization_exception(client: HttpSocket, operation: str) -> None:
    answer = client.ask(call(operation, b'{"TableName": '))
    assert answer.status == 400
    assert answer.json["__type"] == "com.amazon.coral.service#SerializationException"


def test_content_type_of_the_request_is_that_of_the_answer(client: HttpSocket) -> None:
    target = "X-Amz-Target: DynamoDB_20120810.ListTables"
    answer = client.ask(post(b"{}", target, "Content-Type:  application/json ; charset=utf-8", *SIGNATURE))
    assert answer.status == 200
    assert answer.headers["Content-Type"] == "application/json"


def test_connection_stays_open_after_an_error(client: HttpSocket) -> None:
    missing = client.ask(call("GetItem", {"TableName": "missing", "Key": {"PK": {"S": "a"}}}))
    assert (missing.status, missing.headers["Connection"]) == (400, "keep-alive")
    assert client.ask(put("a")).status == 200


def test_pipelined_requests_are_answered_in_order(client: HttpSocket) -> None:
    requests = [put("a", v="1"), get("a"), put("a", v="2"), get("a"), get("b"), call("NoSuch", {}), get("a")]
    client.send(b"".join(requests))
    answers = [client.receive() for _ in requests]
    assert [answer.status for answer in answers] == [200, 200, 200, 200, 200, 400, 200]
    values = [answer.json.get("Item", {}).get("v", {}).get("S") for answer in answers]
    assert values == [None, "1", None, "2", None, None, "2"]


def test_hundreds_of_pipelined_requests_are_all_answered(client: HttpSocket) -> None:
    assert client.ask(put("a", v="1" * 1000)).status == 200
    count = 500
    client.send(get("a") * count)
    assert {client.receive().json["Item"]["v"]["S"] for _ in range(count)} == {"1" * 1000}


def test_pipelined_writes_beyond_the_bound_are_all_answered(client: HttpSocket) -> None:
    keys = [f"key-{number}" for number in range(100)]
    client.send(b"".join(put(key, v="x" * 1000) for key in keys))
    assert [client.receive().status for _ in keys] == [200] * len(keys)
    assert client.ask(call("Scan", {"TableName": "things", "Select": "COUNT"})).json["Count"] == len(keys)


def test_request_is_read_byte_by_byte(client: HttpSocket) -> None:
    for byte in put("a", v="1"):
        client.send(bytes([byte]))
    assert client.receive().status == 200
    assert client.ask(get("a")).json["Item"]["v"] == {"S": "1"}


def chunked(pieces: list[bytes], *headers: str, trailers: bytes = b"") -> bytes:
    head = post(b"", *headers).replace(b"Content-Length: 0\r\n", b"Transfer-Encoding: chunked\r\n")
    chunks = [b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces]
    return b"".join([head, *chunks, b"0\r\n", trailers, b"\r\n"])


AMZ = ("Content-Type: application/x-amz-json-1.0", "X-Amz-Target: DynamoDB_20120810.ListTables", *SIGNATURE)


def test_chunked_body_is_put_together(client: HttpSocket) -> None:
    assert client.ask(chunked([b"{", b'"Limit"', b":1", b"}"], *AMZ)).json == {"TableNames": ["things"]}


def test_trailer_does_not_change_the_operation(client: HttpSocket) -> None:
    trailers = b"X-Amz-Target: DynamoDB_20120810.DeleteTable\r\n"
    assert client.ask(chunked([b"{}"], *AMZ, trailers=trailers)).json == {"TableNames": ["things"]}
    assert client.ask(call("ListTables", {})).json == {"TableNames": ["things"]}


def test_client_that_waits_to_be_told_is_told_to_go_on(client: HttpSocket) -> None:
    head, _, body = call("ListTables", {}, "Expect: 100-continue").partition(b"\r\n\r\n")
    client.send(head + b"\r\n\r\n")
    assert client.receive().status == 100
    assert client.ask(body).json == {"TableNames": ["things"]}


def test_go_on_comes_after_the_answers_before_it(client: HttpSocket) -> None:
    head, _, body = call("ListTables", {}, "Expect: 100-continue").partition(b"\r\n\r\n")
    client.send(put("a") + get("a") + head + b"\r\n\r\n")
    assert [client.receive().status for _ in range(3)] == [200, 200, 100]
    assert client.ask(body).status == 200


def test_client_that_does_not_wait_is_not_told_to_go_on(client: HttpSocket) -> None:
    assert client.ask(call("ListTables", {}, "Expect: 100-continue")).status == 200


def test_offer_of_http_2_is_declined_and_the_request_answered(client: HttpSocket) -> None:
    offer = ("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQ")
    item = {"PK": {"S": "a"}, "v": {"S": "1"}}
    client.send(call("PutItem", {"TableName": "things", "Item": item}, *offer) + get("a"))
    assert client.receive().status == 200
    assert client.receive().json == {"Item": item}


def test_offer_of_http_2_in_pieces_is_declined(client: HttpSocket) -> None:
    for byte in call("ListTables", {}, "Connection: Upgrade", "Upgrade: h2c"):
        client.send(bytes([byte]))
    assert client.receive().json == {"TableNames": ["things"]}


@pytest.mark.parametrize(
    "request_bytes",
    [
        pytest.param(call("ListTables", {}, "Connection: close"), id="HTTP 1.1 with close"),
        pytest.param(call("ListTables", {}).replace(b"HTTP/1.1", b"HTTP/1.0"), id="HTTP 1.0"),
    ],
)
def test_connection_is_closed_when_the_client_wishes(client: HttpSocket, request_bytes: bytes) -> None:
    answer = client.ask(request_bytes)
    assert answer.json == {"TableNames": ["things"]}
    assert answer.headers["Connection"] == "close"
    assert client.is_closed_by_server()


def test_health_check_of_http_1_0_needs_no_host(client: HttpSocket) -> None:
    assert client.ask(b"GET / HTTP/1.0\r\n\r\n").status == 200


def test_requests_behind_a_wish_to_close_are_not_read(client: HttpSocket) -> None:
    client.send(call("ListTables", {}, "Connection: close") + put("a"))
    assert client.receive().status == 200
    assert client.is_closed_by_server()


def test_half_closed_client_still_gets_all_its_answers(client: HttpSocket) -> None:
    client.send(put("a", v="x" * 300_000) + get("a") * 20)
    client.send_eof()
    answers = [client.receive() for _ in range(21)]
    assert {len(answer.json["Item"]["v"]["S"]) for answer in answers[1:]} == {300_000}
    assert client.is_closed_by_server()


def test_half_a_request_is_forgotten_when_the_client_goes(client: HttpSocket) -> None:
    client.send(put("a")[:-1])
    client.send_eof()
    assert client.is_closed_by_server()


@pytest.mark.parametrize(
    "garbage",
    [
        pytest.param(b"nonsense\r\n\r\n", id="no method"),
        pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", id="TLS"),
        pytest.param(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", id="HTTP/2"),
        pytest.param(b"GET / HTTP/9.9\r\n\r\n", id="unknown version"),
        pytest.param(b"CONNECT other:443 HTTP/1.1\r\nHost: other\r\n\r\n", id="proxy"),
        pytest.param(b"GET / HTTP/1.1\r\n\r\n", id="no host"),
        pytest.param(b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n", id="two hosts"),
        pytest.param(
            call("ListTables", {}, "Host: evil.example"), id="another host behind the body's length"
        ),
        pytest.param(b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", id="negative length"),
        pytest.param(b"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", id="two lengths"),
        pytest.param(
            b"POST / HTTP/1.1\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n",
            id="length and chunks",
        ),
        pytest.param(chunked([b"{}"], *AMZ).replace(b"2\r\n{}", b"zz\r\n{}"), id="chunk size of no number"),
    ],
)
def test_malformed_http_is_refused_and_the_connection_closed(client: HttpSocket, garbage: bytes) -> None:
    client.send(put("a") + garbage)
    assert client.receive().status == 200
    refusal = client.receive()
    assert (refusal.status, refusal.headers["Connection"]) == (400, "close")
    assert refusal.json["__type"] == "com.amazon.coral.service#MalformedHttpRequestException"
    assert client.is_closed_by_server()


@pytest.mark.parametrize(
    "endless",
    [
        pytest.param(b"GET /", id="path"),
        pytest.param(b"GET / HTTP/1.1\r\nX-Long: ", id="header"),
        pytest.param(b"GET / HTTP/1.1\r\nx", id="header name"),
        pytest.param(chunked([b"{}"], *AMZ)[:-2] + b"X-Trailer: ", id="trailer"),
    ],
)
def test_head_without_end_is_refused(client: HttpSocket, endless: bytes) -> None:
    client.send(endless)
    client.send(b"x" * 400_000)
    refusal = client.receive()
    assert (refusal.status, refusal.headers["Connection"]) == (400, "close")
    assert refusal.json["message"] == "The request head exceeds 16384 bytes"
    assert client.is_closed_by_server()


@pytest.mark.parametrize("header", ["one", "many", "usual", "path"])
@pytest.mark.parametrize("pieces", [1, 3])
def test_head_of_16_kb_is_read_and_a_longer_one_refused(client: HttpSocket, header: str, pieces: int) -> None:
    def request(more_bytes: int) -> bytes:
        length = 16 * 1024 + more_bytes - len("/") - len("Host: localhost\r\n")
        if header == "path":
            return f"GET /?{'x' * (length - 1)} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
        many = [f"x-{number:03}" for number in range(100)]
        names = {"one": ["x"], "many": many, "usual": ["Accept"] * 1000}[header]
        taken = sum(len(f"{name}: \r\n") for name in names)
        sizes = [(length - taken) // len(names)] * (len(names) - 1)
        sizes.append(length - taken - sum(sizes))
        lines = [f"{name}: {'v' * size}" for name, size in zip(names, sizes, strict=True)]
        return "\r\n".join(["GET / HTTP/1.1", "Host: localhost", *lines, "", ""]).encode()

    def send(data: bytes) -> None:
        size = len(data) // pieces + 1
        for start in range(0, len(data), size):
            client.send(data[start : start + size])

    send(request(0))
    assert client.receive().status == 200
    # Behind another, which is answered as ever.
    send(put("a") + request(1))
    assert client.receive().status == 200
    assert client.receive().json["message"] == "The request head exceeds 16384 bytes"
    assert client.is_closed_by_server()


def test_body_of_exactly_the_limit_is_read(client: HttpSocket) -> None:
    body = b'{"Limit":1}'
    answer = client.ask(call("ListTables", body + b" " * (REQUEST_BYTES_MAX - len(body))))
    assert answer.json == {"TableNames": ["things"]}


def test_announced_body_above_the_limit_is_refused_after_it_was_sent(client: HttpSocket) -> None:
    refusal = client.ask(call("ListTables", b"{}" + b" " * REQUEST_BYTES_MAX))
    assert refusal.status == 413
    assert refusal.json["__type"] == "com.amazon.coral.service#RequestEntityTooLargeException"
    assert client.is_closed_by_server()


def test_chunked_body_above_the_limit_is_refused(client: HttpSocket) -> None:
    megabyte = b" " * (1 << 20)
    refusal = client.ask(chunked([b"{}", *[megabyte] * 17], *AMZ))
    assert (refusal.status, refusal.headers["Connection"]) == (413, "close")


def test_body_above_the_limit_is_refused_before_it_is_sent_when_the_client_asks(client: HttpSocket) -> None:
    head, _, _ = call("ListTables", b" " * (REQUEST_BYTES_MAX + 1), "Expect: 100-continue").partition(
        b"\r\n\r\n"
    )
    assert client.ask(head + b"\r\n\r\n").status == 413
