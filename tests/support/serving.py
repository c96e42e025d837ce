"""A plain HTTP client over one socket, and a running `singletable` process, for tests of the ways in."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    import signal
    from pathlib import Path
    from types import TracebackType

    from singletable.server import Address

TIMEOUT_S = 20.0


@dataclass(frozen=True, slots=True)
class Response:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> dict[str, Any]:
        answer = json.loads(self.body)
        assert isinstance(answer, dict)
        return answer


# What a signature looks like; whether it is right, nobody asks yet.
AUTHORIZATION = (
    "Authorization: AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261115/us-east-1/dynamodb/aws4_request, "
    f"SignedHeaders=host;x-amz-date;x-amz-target, Signature={'0' * 64}"
)
SIGNATURE = (AUTHORIZATION, "X-Amz-Date: 20261115T120000Z")


def call(operation: str, body: object, *headers: str, target: str = "DynamoDB_20120810") -> bytes:
    """Return the bytes of a signed request; a body that is no bytes is sent as JSON."""
    payload = body if isinstance(body, bytes) else json.dumps(body).encode()
    return post(
        payload,
        f"X-Amz-Target: {target}.{operation}",
        "Content-Type: application/x-amz-json-1.0",
        *SIGNATURE,
        *headers,
    )


def post(payload: bytes, *headers: str) -> bytes:
    lines = ["POST / HTTP/1.1", "Host: localhost", f"Content-Length: {len(payload)}", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + payload


class HttpSocket:
    """One connection. Every wait ends: with an answer, or with a timeout that fails the test."""

    def __init__(self, address: Address) -> None:
        self._socket = socket.create_connection((address.host, address.port), timeout=TIMEOUT_S)
        self._received = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()

    def send(self, data: bytes) -> None:
        self._socket.sendall(data)

    def send_eof(self) -> None:
        self._socket.shutdown(socket.SHUT_WR)

    def ask(self, data: bytes) -> Response:
        self.send(data)
        return self.receive()

    def receive(self, *, body_expected: bool = True) -> Response:
        """Read one response."""
        while b"\r\n\r\n" not in self._received:
            self._read_more()
        head, _, self._received = self._received.partition(b"\r\n\r\n")
        status_line, *lines = head.decode().split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines)
        length = int(headers.get("Content-Length", "0")) if body_expected else 0
        while len(self._received) < length:
            self._read_more()
        body, self._received = self._received[:length], self._received[length:]
        return Response(int(status_line.split()[1]), headers, body)

    def is_closed_by_server(self) -> bool:
        """Wait for the end of the stream; False if anything else arrives first."""
        if self._received:
            return False
        try:
            return self._socket.recv(1) == b""
        except ConnectionResetError:
            return True

    def _read_more(self) -> None:
        data = self._socket.recv(1 << 18)
        if not data:
            raise ConnectionError(f"the server closed the connection after {self._received!r}")
        self._received += data


class CommandProcess:
    """A running `singletable` command, by another program than the real one if that is named.

    It is ended when the block ends.
    """

    def __init__(self, *arguments: str, cwd: Path, program: Path | None = None, **environment: str) -> None:
        started_by = [sys.executable, "-m", "singletable"] if program is None else [str(program)]
        self.process = subprocess.Popen(
            [*started_by, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=cwd,
            env={**os.environ, **environment},
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def read_line(self) -> str:
        """Wait for the next line of stdout."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            assert self.process.stderr is not None
            raise AssertionError(f"the process ended: {self.process.stderr.read()}")
        return line.rstrip("\n")

    def read_through(self, start: str) -> list[str]:
        """Wait for a line that begins so; return all lines up to it."""
        lines = [self.read_line()]
        while not lines[-1].startswith(start):
            lines.append(self.read_line())
        return lines

    def end(self, number: signal.Signals) -> tuple[int, str, str]:
        """Send a signal; return the exit code and what was still printed on stdout and stderr."""
        self.process.send_signal(number)
        stdout, stderr = self.process.communicate(timeout=TIMEOUT_S)
        return self.process.returncode, stdout, stderr


class ShiftedLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock a test moves on, so that nobody has to wait."""

    shift_s = 0.0

    def time(self) -> float:
        return super().time() + self.shift_s
