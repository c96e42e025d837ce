"""A server in a process of its own: started, asked how it is, measured, ended."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from singletable.server import Address
from support.paths import TESTS
from support.serving import TIMEOUT_S, HttpSocket, call

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

START_S_MAX = 60.0
STOP_S_MAX = 30.0  # far above the server's own bound: a bound of the test, not a claim about speed
_HEALTH = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")

THINGS: dict[str, Any] = {
    "TableName": "things",
    "AttributeDefinitions": [
        {"AttributeName": "PK", "AttributeType": "S"},
        {"AttributeName": "SK", "AttributeType": "N"},
        {"AttributeName": "Group", "AttributeType": "S"},
    ],
    "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "ByGroup",
            "KeySchema": [{"AttributeName": "Group", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "ALL"},
        }
    ],
    "BillingMode": "PAY_PER_REQUEST",
}


def python(*arguments: str) -> list[str]:
    return [sys.executable, *arguments]


def environment() -> dict[str, str]:
    """The environment in which a program of this package finds the others."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])}


class Target:
    """A running server. What it says on stderr goes to a file, so that it never waits for a reader."""

    def __init__(
        self,
        directory: Path,
        file: str | None = "served.db",
        *,
        durability: str = "full",
        settings: Mapping[str, float] | None = None,
        open_files_max: int | None = None,
    ) -> None:
        self._other: HttpSocket | None = None
        self._log_path = directory / f"server-{os.urandom(4).hex()}.log"
        options = [*([file] if file else []), "--port", "0", "--json", "--durability", durability]
        command = python("-m", "singletable", "serve", *options)
        if settings is not None:
            command = python(
                "-m", "resilience.torture.serve", file or ":memory:", durability, json.dumps(dict(settings))
            )
        if open_files_max is not None:
            command = ["prlimit", f"--nofile={open_files_max}:{open_files_max}", *command]
        with self._log_path.open("wb") as log:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=directory,
                env=environment(),
            )
        self.address = self._ready()
        self.ping()  # once it answers, it has also said how to connect to it
        self._log_bytes = self._log_path.stat().st_size

    def _ready(self) -> Address:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            self.close()
            raise AssertionError(f"the server did not start: {self._log_path.read_text()}")
        ready = json.loads(line)
        return Address(ready["host"], ready["port"])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Make sure that the process is gone."""
        if self._other is not None:
            self._other.__exit__(None, None, None)
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()

    # --- its health ------------------------------------------------------------------------

    def connect(self) -> HttpSocket:
        return HttpSocket(self.address)

    def connect_raw(self) -> socket.socket:
        """Open a plain connection: every wait on it ends, and fails the test."""
        opened = socket.create_connection((self.address.host, self.address.port), timeout=TIMEOUT_S)
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return opened

    def ping(self) -> None:
        """Be answered as another client: what was sent before this has most likely been read then."""
        if self._other is None:
            self._other = self.connect()
        assert self._other.ask(_HEALTH).status == 200

    def create_things(self) -> None:
        """Create the table that attacks and health checks use."""
        with self.connect() as client:
            answer = client.ask(call("CreateTable", THINGS))
            assert answer.status == 200, answer

    def has_things(self) -> bool:
        """Tell whether the table is there: a fuzzer may come upon a request that deletes it."""
        with self.connect() as client:
            return client.ask(call("DescribeTable", {"TableName": THINGS["TableName"]})).status == 200

    def assert_well(self) -> None:
        """Assert that a new client is answered, that the process lives, and that it has not complained."""
        with self.connect() as client:
            answer = client.ask(call("ListTables", {"Limit": 1}))
            assert answer.status == 200, answer
        self.assert_quiet()

    def assert_quiet(self) -> None:
        """Assert that the server lives and has written nothing to stderr since it was ready."""
        assert self.process.poll() is None, f"the server died ({self.process.returncode}): {self.said()}"
        if self._log_path.stat().st_size != self._log_bytes:
            raise AssertionError(f"the server complained: {self.said()}")

    def said(self) -> str:
        """What it has written to stderr since it was ready."""
        return self._log_path.read_bytes()[self._log_bytes :].decode(errors="replace")

    # --- what it takes -----------------------------------------------------------------------

    @property
    def resident_bytes(self) -> int:
        pages = Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]
        return int(pages) * _PAGE_BYTES

    @property
    def open_sockets(self) -> int:
        return sum(_is_socket(entry) for entry in Path(f"/proc/{self.process.pid}/fd").iterdir())

    # --- its end -----------------------------------------------------------------------------

    def kill(self) -> None:
        """Kill it like a power switch would."""
        self.process.kill()
        self.process.wait()

    def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Ask it to end, and wait until it has."""
        self.process.send_signal(number)
        self.assert_ends(number)

    def assert_ends(self, number: signal.Signals) -> None:
        """Assert that it ends, with the exit code that its users rely on, and without complaint."""
        try:
            code = self.process.wait(STOP_S_MAX)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"no end after {STOP_S_MAX} s; it said: {self.said()}") from None
        expected = {signal.SIGTERM: 0, signal.SIGINT: 130, signal.SIGKILL: -signal.SIGKILL}[number]
        assert code == expected, f"exit code {code}: {self.said()}"
        assert "Traceback" not in self.said(), self.said()


def _is_socket(entry: Path) -> bool:
    try:
        return os.readlink(entry).startswith("socket:")
    except FileNotFoundError:  # closed while we looked
        return False
