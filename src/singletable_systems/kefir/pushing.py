"""Push messages to devices: kept in this process, or sent by Expo's push service."""

from __future__ import annotations

import gzip
import json
import logging
import zlib
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from http.client import HTTPException
from itertools import count
from typing import Any, Final, Protocol
from urllib.error import HTTPError
from urllib.request import Request, urlopen

logger = logging.getLogger("singletable.kefir")

DEVICE_GONE: Final = "DeviceNotRegistered"
EXPO_URL: Final = "https://exp.host/--/api/v2/push/send"

# "an array of up to 100 message objects" (Expo, "Send notifications with the Expo Push Service").
_MESSAGES_MAX: Final = 100
_COMPRESSED_FROM_BYTES: Final = 1024  # as Expo's own SDK for Node.js does
_LOCAL_MESSAGES_MAX: Final = 1000
_UNREADABLE: Final = (
    ValueError,
    LookupError,
    TypeError,
    EOFError,
    zlib.error,
)  # an answer that is something else


@dataclass(frozen=True, slots=True)
class Message:
    """What one device is to show. The data is for the app: with it, it knows what it was shown before."""

    push_token: str
    title: str
    body: str
    data: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ticket:
    """What became of one message: it was taken, or there is an error with its reason."""

    error: str | None = None
    reason: str = ""
    id: str | None = None

    @property
    def is_ok(self) -> bool:
        return self.error is None

    @property
    def is_device_gone(self) -> bool:
        """Whether nothing is to be sent to this device again."""
        return self.error == DEVICE_GONE

    def __str__(self) -> str:
        return "ok" if self.error is None else f"{self.error}: {self.reason}"


class Push(Protocol):
    """Sends messages. Trouble is told by the tickets, one for each message and in their order."""

    def send(self, messages: Sequence[Message]) -> Sequence[Ticket]:
        """Send messages; return a ticket for each."""
        ...


class LocalPush:
    """Logs messages, and keeps the newest; no device is told."""

    def __init__(self) -> None:
        self.messages: deque[Message] = deque(maxlen=_LOCAL_MESSAGES_MAX)
        self._numbers = count(1)

    def send(self, messages: Sequence[Message]) -> Sequence[Ticket]:
        """Take every message."""
        self.messages.extend(messages)
        for message in messages:
            logger.info("push to %s: %s", message.push_token, message.body)
        return [Ticket(id=f"local-{next(self._numbers)}") for _ in messages]


class ExpoPush:
    """Expo's push service, over HTTP.

    It tries nothing again by itself. Network errors, HTTP 429 and 5xx are "temporary" and to be tried again after
    a while; with the others, they are errors of the tickets, and the dispatcher tries again, ever later.
    """

    def __init__(
        self, *, url: str = EXPO_URL, access_token: str | None = None, timeout_s: float = 10.0
    ) -> None:
        self._url = url
        self._access_token = access_token
        self._timeout_s = timeout_s

    def send(self, messages: Sequence[Message]) -> Sequence[Ticket]:
        """Send messages, a hundred in a request."""
        tickets: list[Ticket] = []
        for start in range(0, len(messages), _MESSAGES_MAX):
            tickets += self._send_together(messages[start : start + _MESSAGES_MAX])
        return tickets

    def _send_together(self, messages: Sequence[Message]) -> list[Ticket]:
        try:
            with urlopen(self._request(messages), timeout=self._timeout_s) as response:
                body = _decoded(response.read(), response.headers.get("Content-Encoding"))
            return _tickets(json.loads(body)["data"], len(messages))
        except HTTPError as error:
            with error:
                return self._refused(messages, error)
        except (OSError, HTTPException) as error:
            return _all_failed(messages, "unreachable", str(error))
        except (*_UNREADABLE, AttributeError) as error:
            return _all_failed(messages, "not understood", f"the answer is not as documented: {error!r}")

    def _refused(self, messages: Sequence[Message], error: HTTPError) -> list[Ticket]:
        """Say why a whole request was refused. One malformed message must not take the others along."""
        if error.code == 400 and len(messages) > 1:
            middle = len(messages) // 2
            return [*self._send_together(messages[:middle]), *self._send_together(messages[middle:])]
        return _all_failed(messages, *_request_error(error))

    def _request(self, messages: Iterable[Message]) -> Request:
        headers = {
            "Accept": "application/json",
            "Accept-Encoding": "gzip",
            "Content-Type": "application/json",
        }
        if self._access_token is not None:
            headers["Authorization"] = f"Bearer {self._access_token}"
        body = json.dumps([_as_expo_reads(message) for message in messages]).encode()
        if len(body) >= _COMPRESSED_FROM_BYTES:
            # "The Expo server also optionally accepts gzip-compressed request bodies."
            headers["Content-Encoding"] = "gzip"
            body = gzip.compress(body)
        return Request(self._url, body, headers, method="POST")


def _as_expo_reads(message: Message) -> dict[str, Any]:
    return {
        "to": message.push_token,
        "title": message.title,
        "body": message.body,
        "sound": "default",
        "data": message.data,
    }


def _decoded(body: bytes, encoding: str | None) -> bytes:
    return gzip.decompress(body) if encoding == "gzip" else body


def _tickets(data: list[dict[str, Any]], expected: int) -> list[Ticket]:
    """Read tickets: {"status": "ok", "id": …} or {"status": "error", "message": …, "details": {"error": …}}."""
    if len(data) != expected:
        raise ValueError(f"{len(data)} tickets for {expected} messages")
    return [_ticket(each) for each in data]


def _ticket(data: dict[str, Any]) -> Ticket:
    if data["status"] == "ok":
        return Ticket(id=data.get("id"))
    details = data.get("details") or {}
    return Ticket(details.get("error") or "error", data.get("message", ""))


def _request_error(error: HTTPError) -> tuple[str, str]:
    """Return code and message of a request that failed as a whole: {"errors": [{"code": …, "message": …}]}."""
    try:
        first = json.loads(_decoded(error.read(), error.headers.get("Content-Encoding")))["errors"][0]
        return str(first["code"]), str(first["message"])
    except (*_UNREADABLE, OSError, HTTPException):
        return f"HTTP {error.code}", str(error.reason)


def _all_failed(messages: Sequence[Message], error: str, reason: str) -> list[Ticket]:
    return [Ticket(error, reason)] * len(messages)
