"""Expo's push service as its documentation tells: over HTTP, on localhost."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

PATH = "/--/api/v2/push/send"


class ExpoEndpoint:
    """Takes messages, a hundred at most, and answers with a ticket for each."""

    def __init__(self) -> None:
        self.url = ""
        self.requests: list[list[dict[str, Any]]] = []
        self.headers: list[dict[str, str]] = []
        self.unregistered: set[str] = set()
        self.access_token: str | None = None
        self.failures: list[tuple[int, bytes] | None] = []
        """What is answered to the next requests, whatever they are; None: as usual, a status of 0: not at all."""
        self.compresses = False

    @property
    def messages(self) -> list[dict[str, Any]]:
        return [message for request in self.requests for message in request]

    def answer(self, headers: dict[str, str], body: bytes) -> tuple[int, bytes]:
        """Return a status and a body."""
        self.headers.append(headers)
        failure = self.failures.pop(0) if self.failures else None
        if failure is not None:
            return failure
        if self.access_token is not None and headers.get("authorization") != f"Bearer {self.access_token}":
            return _errors(401, "UNAUTHORIZED", "Insufficient permissions to send push notifications")
        if headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        messages: list[dict[str, Any]] = json.loads(body)
        if len(messages) > 100:
            return _errors(400, "PUSH_TOO_MANY_NOTIFICATIONS", "Only 100 messages per request")
        malformed = [message for message in messages if not message["to"].startswith("ExponentPushToken[")]
        if malformed:
            return _errors(400, "VALIDATION_ERROR", f'"{malformed[0]["to"]}" is not a valid Expo push token')
        self.requests.append(messages)
        return 200, json.dumps({"data": [self._ticket(message["to"]) for message in messages]}).encode()

    def _ticket(self, token: str) -> dict[str, Any]:
        if token not in self.unregistered:
            return {"status": "ok", "id": f"receipt of {token}"}
        return {
            "status": "error",
            "message": f'"{token}" is not a registered push notification recipient',
            "details": {"error": "DeviceNotRegistered"},
        }


def _errors(status: int, code: str, message: str) -> tuple[int, bytes]:
    return status, json.dumps({"errors": [{"code": code, "message": message}]}).encode()


@contextmanager
def expo_endpoint() -> Iterator[ExpoEndpoint]:
    """Serve the push service on localhost."""
    endpoint = ExpoEndpoint()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            status, payload = endpoint.answer(headers, body) if self.path == PATH else (404, b"")
            if not status:
                self.close_connection = True
                return
            self.send_response(status)
            if endpoint.compresses:
                payload = gzip.compress(payload)
                self.send_header("Content-Encoding", "gzip")
            self.send_header("Content-Length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        endpoint.url = f"http://127.0.0.1:{server.server_port}{PATH}"
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield endpoint
        finally:
            server.shutdown()
            thread.join()
