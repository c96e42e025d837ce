"""The log of requests: what a line says and what it must not say, whole lines, readers that are slow or gone."""

from __future__ import annotations

import json
import os
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from singletable.clock import ManualClock
from singletable.server.access_log import WAITING_LINES_MAX, AccessLog, LogStyle
from singletable.server.reader import Request
from singletable.server.replies import AMZ_JSON, Reply
from singletable.server.routing import NOT_FOUND

if TYPE_CHECKING:
    from collections.abc import Iterator

CLOCK = ManualClock(1_700_000_000_123_456)
AUTHORIZATION = (
    b"AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20231114/us-east-1/dynamodb/aws4_request, "
    b"SignedHeaders=host, Signature=5d672d79"
)
OK = Reply(200, b'{"Item":{"PK":{"S":"hidden"}}}')
REFUSED = Reply(
    400, b'{"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException","message":"gone"}'
)


def request(
    operation: str = "GetItem", body: bytes = b'{"TableName": "things"}', url: bytes = b"/"
) -> Request:
    headers = {
        b"x-amz-target": b"DynamoDB_20120810." + operation.encode(),
        b"content-type": AMZ_JSON,
        b"authorization": AUTHORIZATION,
    }
    return Request(b"POST", url, headers, body, True)


class Pipe:
    """A log that writes into a pipe, and the reader's end of it."""

    def __init__(self, style: LogStyle) -> None:
        self.read_end, self.write_end = os.pipe()
        self.log = AccessLog(self.write_end, style, CLOCK)

    def record(self, asked: Request | None = None, reply: Reply = OK, number: int = 0) -> None:
        self.log.record(
            asked, reply, request_id=f"ID{number}", remote="127.0.0.1:5", bytes_out=7, duration_s=0.0012345
        )

    def close(self) -> None:
        """End the log."""
        self.log.close()
        os.close(self.write_end)

    def read(self) -> list[bytes]:
        """Return all lines, when the log has ended."""
        with os.fdopen(self.read_end, "rb") as reader:
            return list(reader)


@contextmanager
def recording(style: LogStyle = "json") -> Iterator[tuple[Pipe, list[bytes]]]:
    """A running log, and the lines that it has written when the block has ended."""
    pipe = Pipe(style)
    lines: list[bytes] = []
    pipe.log.start()
    yield pipe, lines
    pipe.close()
    lines += pipe.read()


@contextmanager
def read_meanwhile(pipe: Pipe) -> Iterator[list[dict[str, Any]]]:
    """Read from a log until it has ended."""
    lines: list[dict[str, Any]] = []
    reading = threading.Thread(target=lambda: lines.extend(map(json.loads, pipe.read())))
    reading.start()
    yield lines
    pipe.close()
    reading.join()


def line_of(asked: Request | None, reply: Reply = OK) -> dict[str, Any]:
    with recording() as (pipe, lines):
        pipe.record(asked, reply)
    (line,) = map(json.loads, lines)
    assert isinstance(line, dict)
    return line


def test_line_says_what_was_asked_and_what_became_of_it() -> None:
    assert line_of(request()) == {
        "time": "2023-11-14T22:13:20.123Z",
        "request_id": "ID0",
        "remote": "127.0.0.1:5",
        "access_key": "AKIDEXAMPLE",
        "method": "POST",
        "path": "/",
        "operation": "GetItem",
        "table": "things",
        "status": 200,
        "error": None,
        "bytes_in": 23,
        "bytes_out": 7,
        "duration_ms": 1.234,
    }


def test_error_is_named_without_its_namespace() -> None:
    line = line_of(request(), REFUSED)
    assert (line["status"], line["error"]) == (400, "ResourceNotFoundException")


def test_request_that_is_no_operation_is_logged_too() -> None:
    line = line_of(Request(b"GET", b"/x", {}, b"", True), NOT_FOUND)
    assert (line["method"], line["path"], line["operation"], line["error"]) == ("GET", "/x", None, None)
    assert line_of(None, REFUSED)["method"] is None


@pytest.mark.parametrize(
    ("operation", "body", "table"),
    [
        pytest.param("PutItem", b'{"Item":{},"TableName":"a.b-c_D"}', "a.b-c_D", id="behind other members"),
        pytest.param(
            "GetItem",
            b'{"TableName":"arn:aws:dynamodb:us-east-1:000000000000:table/things"}',
            "things",
            id="as an ARN",
        ),
        pytest.param("ListTables", b"{}", None, id="none"),
        pytest.param(
            "TransactGetItems", b'{"x":{"TableName":"a"},"y":{"TableName":"b"}}', None, id="several"
        ),
        pytest.param("PutItem", b'{"Item":{"TableName":{"S":"hidden"}}}', None, id="attribute of that name"),
        pytest.param(
            "PutItem", b'{"Item":{"a":{"S":"\\"TableName\\":\\"hidden\\""}}}', None, id="text that looks so"
        ),
        pytest.param("PutItem", b" " * 5000 + b'{"TableName":"things"}', None, id="too far behind"),
        pytest.param("NoSuch", b'{"TableName":"things"}', None, id="unknown operation"),
    ],
)
def test_table_is_named_where_the_request_names_one(operation: str, body: bytes, table: str | None) -> None:
    assert line_of(request(operation, body))["table"] == table


@pytest.mark.parametrize("style", ["json", "text"])
def test_no_line_holds_values_or_signatures(style: LogStyle) -> None:
    with recording(style) as (pipe, lines):
        pipe.record(request(body=b'{"TableName":"things","Key":{"PK":{"S":"hidden"}}}'))
        pipe.record(request(url=b"/?X-Amz-Signature=hidden"))
    for line in lines:
        assert b"GetItem" in line
        assert b"hidden" not in line
        assert b"5d672d79" not in line


@pytest.mark.parametrize("style", ["json", "text"])
def test_what_a_client_sends_cannot_break_a_line(style: LogStyle) -> None:
    with recording(style) as (pipe, lines):
        pipe.record(Request(b"GET", b"/\x1b[31m\n\xff\x00\x7f\xc2\x85", {}, b"", True), NOT_FOUND)
    (line,) = lines
    assert not set(line[:-1]) - set(range(32, 127))


def test_text_is_one_line_of_words() -> None:
    with recording("text") as (pipe, lines):
        pipe.record(request(), REFUSED)
        pipe.record(Request(b"GET", b"/", {}, b"", True))
    assert [line.decode() for line in lines] == [
        (
            "2023-11-14T22:13:20.123Z 127.0.0.1:5 GetItem things 400 ResourceNotFoundException "
            "23/7 bytes 1.234 ms ID0\n"
        ),
        "2023-11-14T22:13:20.123Z 127.0.0.1:5 GET / - 200 - 0/7 bytes 1.234 ms ID0\n",
    ]


def test_lines_of_many_threads_are_whole_and_all_there() -> None:
    pipe = Pipe("json")
    pipe.log.start()

    def write(writer: int) -> None:
        for sequence in range(500):
            pipe.record(request(), number=writer * 500 + sequence)

    with read_meanwhile(pipe) as lines:
        writing = [threading.Thread(target=write, args=(writer,)) for writer in range(4)]
        for thread in writing:
            thread.start()
        for thread in writing:
            thread.join()
    assert {line["request_id"] for line in lines} == {f"ID{number}" for number in range(2000)}


def test_reader_that_does_not_read_holds_up_nobody_and_is_told_what_it_missed() -> None:
    pipe = Pipe("json")
    pipe.log.start()
    sent = WAITING_LINES_MAX * 2
    for number in range(sent):  # more than the pipe and the queue hold
        pipe.record(request(), number=number)
    with read_meanwhile(pipe) as lines:
        pass
    dropped = sum(line.get("dropped_lines", 0) for line in lines)
    logged = [int(line["request_id"][2:]) for line in lines if "request_id" in line]
    assert dropped > 0
    assert len(logged) + dropped == sent
    assert logged == sorted(logged)


def test_reader_that_is_gone_ends_the_log_and_nothing_else() -> None:
    pipe = Pipe("json")
    os.close(pipe.read_end)
    pipe.log.start()
    for number in range(1000):
        pipe.record(request(), number=number)
    pipe.log.close()
    pipe.record(request())
    os.close(pipe.write_end)


def test_log_that_was_never_started_can_be_closed() -> None:
    pipe = Pipe("json")
    pipe.close()
    assert pipe.read() == []
