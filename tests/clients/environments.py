"""The environment of each client, made under .cache/clients from pinned versions.

A directory beside this file is a client; the file that pins its packages tells its language.
`python tests/clients/environments.py` makes all environments, or those that are named.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final
from xml.etree import ElementTree

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE: Final = Path(__file__).resolve().parent
CACHE: Final = HERE.parents[1] / ".cache" / "clients"
INSTALL_S_MAX: Final = 600.0


class CannotInstallError(Exception):
    """The client cannot be installed on this machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """How the clients of one language are installed and run.

    Commands run with the client's own commands in front of the path, in a directory that holds what is placed.
    """

    tag: str  # of its blocks on a page
    pins: str  # the file with the packages and their versions
    sources: tuple[str, ...]  # the program of a client, and what it tells its proofs with
    run_program: str
    example: str  # the file that a block of a page is saved as
    run_example: str
    installer: str  # how a command that installs begins, on a page
    versions: Callable[[str], dict[str, str]]  # of the text that pins them
    install: Callable[[Client], None]  # into an empty environment
    programs: str = "."  # the directory of the commands that a client brings, in its environment
    placed: tuple[str, ...] = ()  # what a program has to have beside it, of the environment
    variables: Mapping[str, str] = field(default_factory=dict)


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
    def language(self) -> Language:
        return next(each for each in LANGUAGES if (self.directory / each.pins).is_file())

    @property
    def pins(self) -> Path:
        return self.directory / self.language.pins

    @property
    def versions(self) -> dict[str, str]:
        """The pinned version of each package."""
        return self.language.versions(self.pins.read_text(encoding="utf-8"))

    @property
    def programs(self) -> Path:
        """The directory of the commands that the client brings."""
        return self.environment / self.language.programs

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
            self.language.install(self)
            made_from.write_bytes(wanted)

    def place(self, directory: Path) -> None:
        """Let programs in a directory import the packages of the client."""
        for name in self.language.placed:
            (directory / name).symlink_to(self.environment / name)


def clients() -> list[Client]:
    """Return every client, in the order of their names."""
    pins = {language.pins for language in LANGUAGES}
    return [Client(path.parent.name) for path in sorted(HERE.glob("*/*")) if path.name in pins]


# --- the languages ----------------------------------------------------------------------------------


def _versions_of_python(requirements: str) -> dict[str, str]:
    return dict(line.split("==") for line in requirements.splitlines())


def _install_python(client: Client) -> None:
    _run(sys.executable, "-m", "venv", str(client.environment))
    pip = str(client.programs / "pip")
    _run(pip, "install", "--quiet", "--disable-pip-version-check", "--requirement", str(client.pins))


PYTHON: Final = Language(
    tag="python",
    pins="requirements.txt",
    sources=("client_program.py", "../proving.py"),
    run_program="python client_program.py",
    example="example.py",
    run_example="python -W error example.py",
    installer="pip install ",
    versions=_versions_of_python,
    install=_install_python,
    programs="bin",
)


def _versions_of_node(package: str) -> dict[str, str]:
    versions: dict[str, str] = json.loads(package)["dependencies"]
    return versions


def _install_node(client: Client) -> None:
    shutil.copy(client.pins, client.environment)
    _run("npm", "install", "--silent", "--no-fund", "--no-audit", "--prefix", str(client.environment))


NODE: Final = Language(
    tag="js",
    pins="package.json",
    sources=("program.mjs", "../proving.mjs"),
    run_program="node program.mjs",
    example="example.mjs",
    run_example="node example.mjs",
    installer="npm install ",
    versions=_versions_of_node,
    install=_install_node,
    programs="node_modules/.bin",
    placed=("node_modules",),  # Node.js looks for packages beside the program
)


def _versions_of_go(module: str) -> dict[str, str]:
    # A line of a package that only another package needs ends with a comment.
    return dict(re.findall(r"^\t(\S+) (v\S+)$", module, re.MULTILINE))


def _install_go(client: Client) -> None:
    for name in GO.placed:
        shutil.copy(client.directory / name, client.environment)
    # Go compiles a package when something is first built from it: the tests find it compiled.
    _run("go", "build", *client.versions, cwd=client.environment, variables=GO.variables)


GO: Final = Language(
    tag="go",
    pins="go.mod",
    sources=("program.go", "../proving.go"),
    run_program="go run .",
    example="example.go",
    run_example="go run example.go",
    installer="go get ",
    versions=_versions_of_go,
    install=_install_go,
    placed=("go.mod", "go.sum"),
    # The clients share what Go downloads and compiles. It may be removed like any other file, nothing of it
    # is a repository, and no other version of Go is fetched.
    # The SDK may close a connection whose answer it is still reading, of AWS too, and asks again then
    # (aws/aws-sdk-go-v2, issue 2737 and pull request 2949): without that, one run in ten fails here.
    variables={
        "AWS_MAX_ATTEMPTS": "3",
        "GOCACHE": str(CACHE / "go" / "build"),
        "GOFLAGS": "-buildvcs=false -modcacherw",
        "GOPATH": str(CACHE / "go"),
        "GOTOOLCHAIN": "local",
    },
)

_COPY_PACKAGES: Final = "mvn dependency:copy-dependencies -DoutputDirectory=lib"


def _versions_of_java(project: str) -> dict[str, str]:
    dependencies = ElementTree.fromstring(project).iterfind("dependencies/dependency")
    texts = ([part.text or "" for part in each] for each in dependencies)
    return {f"{group}:{artifact}": version for group, artifact, version in texts}


def _install_java(client: Client) -> None:
    _run("javac", "-version")
    shutil.copy(client.pins, client.environment)
    quiet = ("--quiet", "--batch-mode", f"-Dmaven.repo.local={CACHE / 'maven'}")
    _run(*_COPY_PACKAGES.split(), *quiet, cwd=client.environment)


JAVA: Final = Language(
    tag="java",
    pins="pom.xml",
    sources=("Program.java", "../Proving.java"),
    run_program="javac -cp 'lib/*' Program.java Proving.java && java -cp '.:lib/*' Program",
    example="Try.java",
    run_example="javac -cp 'lib/*' Try.java && java -ea -cp '.:lib/*' Try",
    installer=_COPY_PACKAGES,
    versions=_versions_of_java,
    install=_install_java,
    placed=("lib",),
)

LANGUAGES: Final = (PYTHON, NODE, GO, JAVA)


# --- making them ------------------------------------------------------------------------------------


def _run(*command: str, cwd: Path | None = None, variables: Mapping[str, str] | None = None) -> None:
    try:
        ran = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=INSTALL_S_MAX,
            check=False,
            cwd=cwd,
            env={**os.environ, **(variables or {})},
        )
    except FileNotFoundError as failure:
        raise CannotInstallError(f"{command[0]} was not found") from failure
    except subprocess.TimeoutExpired as failure:
        raise CannotInstallError(f"{command[0]} took more than {INSTALL_S_MAX:.0f} s") from failure
    if ran.returncode != 0:
        said = (ran.stdout + ran.stderr)[-2000:]
        raise CannotInstallError(f"{' '.join(command)} ended with {ran.returncode}: {said}")


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
