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

from singletable.errors import SingleTableError

logger = logging.getLogger("singletable.kefir")

DEVICE_GONE: Final = "DeviceNotRegistered"
EXPO_URL: Final = "https://exp.host/--/api/v2/push/send"

# "an array of up to 100 message objects" (Expo, "Send notifications with the Expo Push Service").
_MESSAGES_MAX: Final = 100
_COMPRESSED_FROM_BYTES: Final = 1024  # as Expo's own SDK for Node.js does
_LOCAL_MESSAGES_MAX: Final = 1000
# Malformed, or too large. Every other refusal is about the service, or about the request around the messages.
_MESSAGES_AT_FAULT: Final = frozenset({400, 413})
# The errors of reading an answer that has another form.
_UNREADABLE: Final = (ValueError, LookupError, TypeError, AttributeError, EOFError, zlib.error)


@dataclass(frozen=True, slots=True)
class Message:
    """A message for one device. By its data the app recognizes a message that it has shown before."""

    push_token: str
    title: str
    body: str
    data: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ticket:
    """The answer to one message: it was taken, or there is an error with its reason."""

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


class PushUnavailableError(SingleTableError):
    """The push service could not be asked, or gave no answer for messages: none of them is to blame.

    `tickets` are those of the messages before, which were answered.
    """

    def __init__(self, reason: str, tickets: Sequence[Ticket] = ()) -> None:
        super().__init__(f"the push service is not available: {reason}")
        self.tickets = tuple(tickets)


class Push(Protocol):
    """Sends messages, and returns one ticket for each, in their order. A ticket has the error of its message."""

    def send(self, messages: Sequence[Message]) -> Sequence[Ticket]:
        """Send messages; return a ticket for each. A service that fails raises `PushUnavailableError`."""
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
    a while. So is every answer that says nothing of the messages themselves, such as that the access token is
    wrong: it is not their fault.
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
            self._send_together(messages[start : start + _MESSAGES_MAX], tickets)
        return tickets

    def _send_together(self, messages: Sequence[Message], tickets: list[Ticket]) -> None:
        """Send messages in one request, and add their tickets to those that there are."""
        try:
            with urlopen(self._request(messages), timeout=self._timeout_s) as response:
                body = _decoded(response.read(), response.headers.get("Content-Encoding"))
            tickets += _tickets(json.loads(body)["data"], len(messages))
        except HTTPError as error:
            with error:
                self._refused(messages, tickets, error)
        except (OSError, HTTPException) as error:
            raise PushUnavailableError(f"unreachable: {error}", tickets) from error
        except _UNREADABLE as error:
            raise PushUnavailableError(f"its answer is not as documented: {error!r}", tickets) from error

    def _refused(self, messages: Sequence[Message], tickets: list[Ticket], error: HTTPError) -> None:
        """Find the message for which a whole request was refused: it must not take the others along."""
        refused = Ticket(*_request_error(error))
        if error.code not in _MESSAGES_AT_FAULT:
            raise PushUnavailableError(str(refused), tickets) from error
        if len(messages) == 1:
            tickets.append(refused)
            return
        middle = len(messages) // 2
        self._send_together(messages[:middle], tickets)
        self._send_together(messages[middle:], tickets)

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
