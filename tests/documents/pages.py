"""Running a document: its blocks, one after the other, in a directory of their own.

Python blocks share their names, shell blocks their exports. A Python block that begins with the name of a file, in
a comment, is added to that file as well, for what later blocks import or run. A server that a block starts is
started for real and runs until the end of the document; since port 8000 may be taken, it gets a free one, and
every later `127.0.0.1:8000` of the document means that.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib.metadata import metadata
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from documents.blocks import ROOT, Block
from support.serving import TIMEOUT_S, CommandProcess

_OPTIONS: Final = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
_WRITTEN_ADDRESS: Final = "127.0.0.1:8000"
_SERVERS: Final = ("singletable serve", "singletable api", "singletable demo", "make run")
# What cannot run inside a test, since it makes the very environment that the tests run in.
_SET_UP: Final = ("make", "pip", "python3 -m venv")
_NAMED: Final = re.compile(r"# (\w+\.py)\n")
# What mypy found out about the package, which is the same in the directory of each document.
_MYPY_CACHE: Final = ROOT / ".mypy_cache" / "documents"
_AWS_STAND_IN: Final = Path(__file__).with_name("aws_stand_in.py")


@dataclass(slots=True)
class Command:
    """One command of a transcript, and what it prints there (nothing: it may print anything)."""

    text: str
    printed: str = ""


def commands_of(transcript: str) -> list[Command]:
    """Split a transcript into its commands: `$ ` begins one, a backslash at the end continues it."""
    commands: list[Command] = []
    continues = False
    for line in transcript.splitlines():
        if continues:
            commands[-1].text += "\n" + line
        elif line.startswith("$ "):
            commands.append(Command(line[2:]))
        else:
            assert commands, f"a transcript begins with `$ `, not with {line!r}"
            commands[-1].printed += line + "\n"
            continue
        continues = line.endswith("\\")
    return commands


@dataclass(slots=True)
class Page:
    """A document while it is being run."""

    directory: Path
    stack: ExitStack
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "__main__"})
    exports: dict[str, str] = field(default_factory=dict)
    address: str = _WRITTEN_ADDRESS
    command_s_max: float = TIMEOUT_S
    # A directory with `python` and `singletable`; without one, both are of this very environment.
    programs: Path | None = None

    def run(self, block: Block) -> None:
        """Run one block; raise AssertionError where it does not do what it shows."""
        self._run(block.with_text(block.text.replace(_WRITTEN_ADDRESS, self.address)))

    def _run(self, block: Block) -> None:
        match block.language:
            case "python":
                self._run_python(block)
            case "pycon":
                self._run_pycon(block)
            case "console":
                for command in commands_of(block.text):
                    self._run_command(command, block)
            case "sh":
                self._run_script(block)
            case other:
                raise AssertionError(f"{block.place}: a block of {other!r} cannot be run")

    def _run_python(self, block: Block) -> None:
        # As many lines in front as in the document, so that a traceback names the right one.
        source = "\n" * (block.line - 1) + block.text
        # The block has the imports that it shows, not those of this file from the future.
        exec(compile(source, str(block.path), "exec", dont_inherit=True), self.names)
        named = _NAMED.match(block.text)
        if named is not None:
            self._add_to_file(named[1], block.text)
        if "\ndef test_" in source:
            (self.directory / "test_block.py").write_text(source, encoding="utf-8")
            run_tests = "python -m pytest -q -p no:cacheprovider -p singletable.testing.plugin test_block.py"
            self._run_shell(f"PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 {run_tests}", block)

    def _add_to_file(self, name: str, text: str) -> None:
        with open(self.directory / name, "a", encoding="utf-8") as file:
            file.write(text)
        # To the blocks of this page, what they have run already is what they import from the file.
        name = name.removesuffix(".py")
        sys.modules[name] = module = ModuleType(name)
        module.__dict__.update(self.names, __name__=name)
        self.stack.callback(sys.modules.pop, name, None)

    def _run_pycon(self, block: Block) -> None:
        test = doctest.DocTestParser().get_doctest(
            block.text, self.names, block.place, str(block.path), block.line - 1
        )
        report: list[str] = []
        doctest.DocTestRunner(optionflags=_OPTIONS).run(test, out=report.append, clear_globs=False)
        assert not report, "".join(report)
        self.names.update(test.globs)

    def _run_script(self, block: Block) -> None:
        if not block.text.startswith(_SET_UP):
            self._run_shell(block.text, block)
            return
        for line in block.text.splitlines():
            self._run_command(Command(line.partition(" #")[0].rstrip()), block)

    def _run_command(self, command: Command, block: Block) -> None:
        text = command.text
        if text.startswith(_SERVERS):
            printed = self._serve(text, command.printed)
        elif text.startswith(_SET_UP):
            check_set_up(text)
            return
        elif text.startswith("export "):
            self.exports |= dict(word.split("=", 1) for word in shlex.split(text)[1:])
            return
        else:
            printed = self._run_shell(text, block)
        if command.printed:
            is_same = doctest.OutputChecker().check_output(command.printed, printed, _OPTIONS)
            assert is_same, f"{block.place}: {text}\nshows\n{command.printed}\nbut prints\n{printed}"

    def _run_shell(self, text: str, block: Block) -> str:
        ran = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", text],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=self.directory,
            env=self._environment(),
            timeout=self.command_s_max,
            check=False,
        )
        assert ran.returncode == 0, f"{block.place}: {text}\nended with {ran.returncode}:\n{ran.stdout}"
        return ran.stdout

    def _environment(self) -> dict[str, str]:
        plain = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        return {
            **plain,
            "PATH": f"{self._programs()}:{os.environ['PATH']}",
            "MYPY_CACHE_DIR": str(_MYPY_CACHE),
            **self.exports,
        }

    def _programs(self) -> Path:
        """Return a directory with the commands that the documents use."""
        programs = self.directory / ".programs"
        if not programs.exists():
            programs.mkdir()
            python = sys.executable if self.programs is None else str(self.programs / "python")
            wanted = {"singletable": "-m singletable", "python": ""}
            if shutil.which("aws") is None:
                wanted["aws"] = shlex.quote(str(_AWS_STAND_IN))
            for name, arguments in wanted.items():
                (programs / name).write_text(f'#!/bin/sh\nexec {shlex.quote(python)} {arguments} "$@"\n')
                (programs / name).chmod(0o755)
        return programs

    def _serve(self, text: str, shown: str) -> str:
        """Start a server on a free port and wait until it is ready; return what it printed until then."""
        arguments = ["demo"] if text == "make run" else shlex.split(text)[1:]
        if text == "make run":
            assert dry_run("run").splitlines()[-1].endswith("/singletable demo")
        server = CommandProcess(
            *arguments,
            "--port",
            "0",
            cwd=self.directory,
            program=self._programs() / "singletable",
            PYTHONIOENCODING="utf-8",
            **self.exports,
        )
        self.stack.enter_context(server)
        self.stack.callback(stop, server)
        is_api = text.startswith("singletable api")
        lines = server.read_through("singletable " if is_api else "export AWS_ENDPOINT_URL_DYNAMODB_STREAMS=")
        found = re.search(r"127\.0\.0\.1:\d+", lines[-1])
        assert found is not None
        was, self.address = self.address, found[0]
        # The reader sees the hints, from stderr, behind the ready lines.
        hints = "the hints\n" if shown.rstrip().endswith("...") else ""
        return "\n".join(lines).replace(self.address, was) + "\n" + hints


def stop(server: CommandProcess) -> None:
    code, _, said = server.end(signal.SIGTERM)
    assert code == 0, said


def dry_run(target: str) -> str:
    """Return the commands of a target of the Makefile."""
    return subprocess.run(
        ["make", "--dry-run", "--no-print-directory", target],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
    ).stdout


def check_set_up(line: str) -> None:
    """Hold a line to what it names: a target, this project and its extras, or the environment that it makes."""
    program, *arguments = shlex.split(line)
    if program == "python3":
        assert re.fullmatch(r"python3 -m venv (\S+) && \. \1/bin/activate", line), line
        return
    if program == "make":
        for target in arguments:
            assert dry_run(target), line
        return
    assert arguments[:1] == ["install"], line
    for wanted in arguments[1:]:
        found = re.fullmatch(r"(\.)(?:\[([\w,]+)\])?", wanted)
        assert found is not None, f"{line}: {wanted} is not this project"
        assert {*filter(None, (found[2] or "").split(","))} <= {
            *(metadata("singletable").get_all("Provides-Extra") or [])
        }, line
