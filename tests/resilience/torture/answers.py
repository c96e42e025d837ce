"""What a server sent until it closed the connection, read strictly and judged."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from dataclasses import dataclass
from typing import Final

_STATUS_LINE: Final = re.compile(rb"HTTP/1\.1 (\d{3}) [ -~]*")
_NOT_FOUND: Final = b"<UnknownOperationException/>\n"
_JSON_TYPES: Final = ("application/x-amz-json-1.0", "application/json")


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def closes(self) -> bool:
        return self.headers.get("connection") == "close"

    @property
    def code(self) -> str:
        """The name of an error, without its namespace; empty if it is none."""
        if not self.body.startswith(b"{"):
            return ""
        found = json.loads(self.body).get("__type", "")
        assert isinstance(found, str)
        return found.rpartition("#")[2]


def read_answers(received: bytes, *, heads: bool = False) -> list[Answer]:
    """Split the bytes into answers; all of them must be whole. `heads`: a HEAD may have been among them."""
    answers: list[Answer] = []
    at = 0
    while at < len(received):
        end = received.find(b"\r\n\r\n", at)
        assert end >= 0, f"an answer without end: {received[at : at + 200]!r}"
        status_line, *lines = received[at:end].split(b"\r\n")
        at = end + 4
        matched = _STATUS_LINE.fullmatch(status_line)
        assert matched, f"no status line: {status_line[:200]!r}"
        status = int(matched[1])
        headers = _headers(lines)
        if status == 100:
            assert not headers
            answers.append(Answer(status, headers, b""))
            continue
        length = int(headers["content-length"])
        if heads and (at == len(received) or received.startswith(b"HTTP/1.1 ", at)):
            length = 0
        body = received[at : at + length]
        at += length
        assert len(body) == length, f"{len(body)} of {length} bytes: {status_line!r} {body[:200]!r}"
        answers.append(Answer(status, headers, body))
    return answers


def _headers(lines: list[bytes]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for line in lines:
        name, found, value = line.decode("latin-1").partition(": ")
        assert found, f"no header: {line!r}"
        assert name.lower() not in headers, f"a header twice: {line!r}"
        headers[name.lower()] = value
    return headers


def judge(answer: Answer) -> None:
    """Assert that this is an answer of DynamoDB to a client: what was asked for, or what is wrong with it."""
    if answer.status == 100:
        return
    assert answer.status // 100 in (2, 4), (answer.status, answer.body[:500])
    assert answer.headers["connection"] in ("close", "keep-alive")
    if not answer.body:
        return  # to HEAD, or to a browser that asks whether it may ask
    assert answer.headers["x-amz-crc32"] == str(zlib.crc32(answer.body))
    if answer.status == 404:
        assert answer.body == _NOT_FOUND
    elif answer.headers.get("content-type", "").startswith("text/plain; version="):
        assert answer.status == 200  # the figures of the server
    elif "content-type" not in answer.headers:
        assert (answer.status, answer.body[:8]) == (200, b"healthy:")
    else:
        _judge_json(answer)


def _unpacked(answer: Answer) -> bytes:
    match answer.headers.get("content-encoding"):
        case None:
            return answer.body
        case "gzip":
            return gzip.decompress(answer.body)
        case "deflate":
            return zlib.decompress(answer.body)
    raise AssertionError(answer.headers)


def _judge_json(answer: Answer) -> None:
    assert answer.headers["content-type"] in _JSON_TYPES
    value = json.loads(_unpacked(answer))
    assert isinstance(value, dict)
    if answer.status == 200:
        assert "__type" not in value
    else:
        assert re.fullmatch(r"com\.amazon[a-z.0-9]*#[A-Z][A-Za-z]+", value["__type"]), value
        assert isinstance(value.get("message", value.get("Message", "")), str)
