"""The two ends: a database of ours in the process, and a DynamoDB Local over HTTP. Both take raw JSON.

Nothing stands between a request and the endpoint: no client that would refuse a wrong request by itself.
"""

from __future__ import annotations

import http.client
import uuid
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import urlsplit

import orjson

from singletable import Database

Body = dict[str, Any]


@dataclass(frozen=True)
class Reply:
    """An HTTP status and the JSON that came with it."""

    status: int
    body: Body

    @property
    def is_refusal(self) -> bool:
        return self.status != 200

    @property
    def code(self) -> str:
        """The name of the error, without its namespace; nothing when there is none."""
        return str(self.body.get("__type", "")).rpartition("#")[2]

    @property
    def message(self) -> str:
        return str(self.body.get("message") or self.body.get("Message") or "")

    @property
    def text(self) -> str:
        """What the rules in settled/ match: the error and its message, or OK."""
        return f"{self.code}: {self.message}" if self.is_refusal else "OK"


class Endpoint(Protocol):
    """Whatever answers a request of the DynamoDB protocol."""

    def send(self, operation: str, body: bytes) -> Reply:
        """Answer a request; refusals are answers too."""

    def close(self) -> None:
        """Let go of what the endpoint holds."""


class Ours:
    """A database in memory."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def send(self, operation: str, body: bytes) -> Reply:
        answer = self._database.answer(operation, body)
        return Reply(answer.status, orjson.loads(answer.body))

    def close(self) -> None:
        self._database.close()


class Theirs:
    """A DynamoDB Local, which keeps a database for each access key: a fresh key is a fresh database."""

    def __init__(self, url: str) -> None:
        address = urlsplit(url)
        assert address.hostname is not None, url
        self._connection = http.client.HTTPConnection(address.hostname, address.port, timeout=60)
        # It reads the key and the region, and looks at no signature.
        credential = f"{uuid.uuid4().hex}/20260101/us-east-1/dynamodb/aws4_request"
        self._headers = {
            "Authorization": f"AWS4-HMAC-SHA256 Credential={credential}, SignedHeaders=host, Signature=0",
            "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Date": "20260101T000000Z",
        }

    def send(self, operation: str, body: bytes) -> Reply:
        headers = {**self._headers, "X-Amz-Target": f"DynamoDB_20120810.{operation}"}
        self._connection.request("POST", "/", body, headers)
        response = self._connection.getresponse()
        return Reply(response.status, orjson.loads(response.read() or b"{}"))

    def close(self) -> None:
        self._connection.close()
