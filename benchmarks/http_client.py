"""A small client for setting up and probing: one connection, headers as an AWS SDK sends them."""

from __future__ import annotations

import http.client
import json
from datetime import UTC, datetime
from typing import Any, Final

HOST: Final = "127.0.0.1"
TIMEOUT_S: Final = 120


class AnswerError(Exception):
    """A server answered something that it should not have."""


class Client:
    """One connection that asks for one thing at a time."""

    def __init__(self, port: int) -> None:
        self.connection = http.client.HTTPConnection(HOST, port, timeout=TIMEOUT_S)

    def call(self, operation: str, **parameters: Any) -> dict[str, Any]:
        """Return the answer; raise AnswerError unless it is a 200."""
        answer: dict[str, Any] = json.loads(self.send(operation, json.dumps(parameters).encode()))
        return answer

    def send(self, operation: str, body: bytes) -> bytes:
        self.connection.request("POST", "/", body, headers_of(operation))
        response = self.connection.getresponse()
        answer = response.read()
        if response.status != 200:
            text = answer[:1000].decode(errors="replace")
            raise AnswerError(f"{operation} was answered with {response.status}: {text}")
        return answer

    def close(self) -> None:
        self.connection.close()


def headers_of(operation: str) -> dict[str, str]:
    """Headers of a request. The signature is none, and the servers measured here do not check it."""
    now = datetime.now(UTC)
    scope = f"benchmark/{now:%Y%m%d}/us-east-1/dynamodb/aws4_request"
    signed = "SignedHeaders=content-type;host;x-amz-date;x-amz-target"
    return {
        "Content-Type": "application/x-amz-json-1.0",
        "X-Amz-Target": f"DynamoDB_20120810.{operation}",
        "X-Amz-Date": f"{now:%Y%m%dT%H%M%SZ}",
        "Authorization": f"AWS4-HMAC-SHA256 Credential={scope}, {signed}, Signature={'5eed' * 16}",
    }


def whole_request(operation: str, body: bytes) -> bytes:
    """A request as it goes over the socket."""
    headers = {**headers_of(operation), "Host": HOST, "Content-Length": str(len(body))}
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"POST / HTTP/1.1\r\n{lines}\r\n".encode() + body


def content_length(head: bytes) -> int:
    """The length that the headers of an answer announce."""
    fields = (line.partition(b":") for line in head.lower().split(b"\r\n"))
    return next(int(value) for name, _, value in fields if name == b"content-length")
