"""The environment of each client, made under .cache/clients from pinned versions.

A directory beside this file is a client: `requirements.txt` pins one of Python, `package.json` one of Node.js.
`python tests/clients/environments.py` makes all environments, or those that are named.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE: Final = Path(__file__).resolve().parent
CACHE: Final = HERE.parents[1] / ".cache" / "clients"
INSTALL_S_MAX: Final = 600.0

_PINS: Final = ("package.json", "requirements.txt")


class CannotInstallError(Exception):
    """The client cannot be installed on this machine."""


@dataclass(frozen=True, slots=True)
class Client:
    """One client: the files that describe it, and the environment that they are installed to."""

    name: str

    @property
    def directory(self) -> Path:
        return HERE / self.name

    @property
    def environment(self) -> Path:
        return CACHE / self.name

    @property
    def is_node(self) -> bool:
        return (self.directory / "package.json").is_file()

    @property
    def pins(self) -> Path:
        return self.directory / ("package.json" if self.is_node else "requirements.txt")

    @property
    def versions(self) -> dict[str, str]:
        """The pinned version of each package."""
        text = self.pins.read_text(encoding="utf-8")
        if self.is_node:
            packages: dict[str, str] = json.loads(text)["dependencies"]
            return packages
        return dict(line.split("==") for line in text.splitlines())

    @property
    def programs(self) -> Path:
        """The directory of the commands that the client brings."""
        return self.environment / ("node_modules/.bin" if self.is_node else "bin")

    def install(self) -> None:
        """Make the environment, unless it is there already with these versions. Raises CannotInstallError."""
        wanted = self.pins.read_bytes()
        made_from = self.environment / ".made-from"
        CACHE.mkdir(parents=True, exist_ok=True)
        with _locked(CACHE / f"{self.name}.lock"):
            if made_from.is_file() and made_from.read_bytes() == wanted:
                return
            shutil.rmtree(self.environment, ignore_errors=True)
            self.environment.mkdir()
            if self.is_node:
                self._install_node()
            else:
                self._install_python()
            made_from.write_bytes(wanted)

    def _install_node(self) -> None:
        shutil.copy(self.pins, self.environment)
        _run("npm", "install", "--silent", "--no-fund", "--no-audit", "--prefix", str(self.environment))

    def _install_python(self) -> None:
        _run(sys.executable, "-m", "venv", str(self.environment))
        pip = str(self.environment / "bin" / "pip")
        _run(pip, "install", "--quiet", "--disable-pip-version-check", "--requirement", str(self.pins))


def clients() -> list[Client]:
    """Return every client, in the order of their names."""
    return [Client(path.parent.name) for path in sorted(HERE.glob("*/*")) if path.name in _PINS]


def _run(*command: str) -> None:
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_S_MAX, check=False)
    except FileNotFoundError as failure:
        raise CannotInstallError(f"{command[0]} was not found") from failure
    except subprocess.TimeoutExpired as failure:
        raise CannotInstallError(f"{command[0]} took more than {INSTALL_S_MAX:.0f} s") from failure
    if ran.returncode != 0:
        raise CannotInstallError(f"{' '.join(command)} ended with {ran.returncode}: {ran.stderr[-2000:]}")


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    # Two test processes may want the same environment.
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def main(names: list[str]) -> int:
    """Make the environments that are named, or all of them."""
    known = {client.name: client for client in clients()}
    for name in names or known:
        if name not in known:
            print(f"error: there is no client {name}\n\nhint: {', '.join(known)}", file=sys.stderr)
            return 2
        print(f"Installing {name} ...", file=sys.stderr)
        known[name].install()
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
