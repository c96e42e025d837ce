"""Start other processes, read what they report, drive them, and kill them."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

from support.paths import TESTS

_LINE_WAIT_S_MAX = 60.0  # a child that is silent for so long hangs
_RUN_S_MAX = 120.0


def start(program: str, *arguments: str | Path | int) -> subprocess.Popen[bytes]:
    """Start a program of this package with its own pipes."""
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-m", f"resilience.crash.{program}", *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])},
        bufsize=0,
        start_new_session=True,
    )


def run(program: str, *arguments: str | Path | int) -> bytes:
    """Run a program of this package to its end and return what it printed; it must end well and silently."""
    child = start(program, *arguments)
    try:
        printed, said = child.communicate(timeout=_RUN_S_MAX)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)  # also the children it has forked
        _, said = child.communicate()
        raise AssertionError(f"crash.{program} hangs: {said.decode()}") from None
    assert child.returncode == 0, said.decode()
    assert not said, said.decode()
    return printed


class Reports:
    """The lines of several children in the order they arrive. As a context it kills them all at the end."""

    def __init__(self, children: Sequence[subprocess.Popen[bytes]]) -> None:
        self._children = children
        self._partial: dict[int, bytes] = {}
        self._selector = selectors.DefaultSelector()
        for child in children:
            assert child.stdout is not None
            self._partial[child.stdout.fileno()] = b""
            self._selector.register(child.stdout, selectors.EVENT_READ)

    def __enter__(self) -> Reports:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()
        self._selector.close()
        for child in self._children:
            _close(child)

    def lines(self) -> Iterator[str]:
        """Yield each whole line until every child has closed its pipe."""
        while self._selector.get_map():
            ready = self._selector.select(_LINE_WAIT_S_MAX)
            assert ready, "the children hang"
            for key, _ in ready:
                data = os.read(key.fd, 65536)
                if not data:
                    self._selector.unregister(key.fileobj)
                    continue
                *whole, rest = (self._partial[key.fd] + data).split(b"\n")
                self._partial[key.fd] = rest
                yield from (line.decode() for line in whole)

    def kill(self) -> None:
        """Kill every child; what they reported before stays readable."""
        for child in self._children:
            if child.poll() is None:
                child.send_signal(signal.SIGKILL)
        for child in self._children:
            child.wait()

    def assert_killed(self) -> None:
        """Assert that the children died of the signal, not of an error of their own."""
        for child in self._children:
            assert child.stderr is not None
            said = child.stderr.read().decode()
            assert child.returncode == -signal.SIGKILL, said
            assert not said, said


def _close(child: subprocess.Popen[bytes]) -> None:
    for pipe in (child.stdin, child.stdout, child.stderr):
        if pipe is not None:
            pipe.close()


class Stepper:
    """A process with the file open that carries out one request at a time."""

    def __init__(self, path: Path) -> None:
        self._child = start("stepper", path)

    def ask(self, method: str, **request: Any) -> Any:
        """Call a method of the Database there; return its answer, or the name of the error it raised."""
        child = self._child
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(json.dumps({"method": method, "request": request}).encode() + b"\n")
        line = child.stdout.readline()
        assert line, child.stderr.read().decode() if child.stderr else ""
        return json.loads(line)

    def close(self) -> None:
        """Let the process end by itself; it must end well."""
        child = self._child
        assert child.stdin is not None
        assert child.stderr is not None
        child.stdin.close()
        said = child.stderr.read().decode()
        assert child.wait() == 0, said
        assert not said, said
        _close(child)

    def kill(self) -> None:
        if self._child.poll() is None:
            self._child.kill()
            self._child.wait()
        _close(self._child)


@contextmanager
def steppers(path: Path, count: int) -> Iterator[list[Stepper]]:
    """Run several steppers on one file; they must all end well."""
    children = [Stepper(path) for _ in range(count)]
    try:
        yield children
        for child in children:
            child.close()
    finally:
        for child in children:
            child.kill()
