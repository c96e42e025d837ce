"""Commands that start warm do what Python does: arguments, streams, directory, environment, signals, ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from support.serving import TIMEOUT_S, CommandProcess

SCRIPT = "import sys; print(__name__, __file__, sys.argv, sys.path[0])"
OUTLIVING = """
import threading
main = threading.main_thread()
threading.Thread(target=lambda: (main.join(), print("late"))).start()
"""
PROGRAMS = {
    "arguments": ["-c", "import sys; print(sys.argv, sys.orig_argv, __name__)", "a", "-b"],
    "script": ["script.py", "a b", "--c"],
    "module": ["-m", "script", "a"],
    "search": ["-c", "import sys; print(sys.path)"],
    "directory": ["-c", "import os; print(os.getcwd()); os.umask(0o77); open('made', 'w')"],
    "mask": ["-c", "import os; print(os.umask(0))"],
    "environment": ["-c", "import os; print(os.environ['GIVEN'], 'HOME' in os.environ)"],
    "stdin": ["-c", "import sys; print(sys.stdin.read())"],
    "encoding": [
        "-c",
        "import sys; print([(s.encoding, s.errors) for s in (sys.stdin, sys.stdout, sys.stderr)])",
    ],
    "output of what it starts": ["-c", "import subprocess; subprocess.run(['echo', 'hello'])"],
    "exit": ["-c", "raise SystemExit(7)"],
    "exit with a word": ["-c", "raise SystemExit('why')"],
    "exit at the end": ["-c", "import atexit; atexit.register(print, 'over')"],
    "thread": ["-c", OUTLIVING],
    "error": ["broken.py"],
    "missing": ["-m", "nothing_like_this"],
    "killed": ["-c", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"],
    "option": ["-X", "dev", "-c", "import sys; print(sys.flags.dev_mode)"],
}


def ran(python: str | Path, words: list[str], folder: Path) -> tuple[int, bytes, bytes]:
    kept = {name: value for name, value in os.environ.items() if name != "HOME"}
    done = subprocess.run(
        [python, *words],
        input="å\n".encode(),
        capture_output=True,
        cwd=folder,
        env={**kept, "GIVEN": "1", "PYTHONIOENCODING": "iso8859-1"},
        timeout=TIMEOUT_S,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("words", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_program_does_what_python_does(words: list[str], warm_programs: Path, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "broken.py").write_text("def divide():\n    1 / 0\n\n\ndivide()\n")
    assert ran(warm_programs / "python", words, tmp_path) == ran(sys.executable, words, tmp_path)


SAYS_SIGNALS = """
import os, signal
for number in (signal.SIGTERM, signal.SIGUSR1):
    signal.signal(number, lambda number, _: os.write(1, f"{signal.Signals(number).name}\\n".encode()))
os.write(1, b"ready\\n")
while True:
    signal.pause()
"""


def test_signals_reach_the_program_and_its_end_is_that_of_the_command(
    warm_programs: Path, tmp_path: Path
) -> None:
    program = warm_programs / "python"
    with CommandProcess("-c", SAYS_SIGNALS, cwd=tmp_path, program=program) as process:
        assert process.read_line() == "ready"
        for number in (signal.SIGTERM, signal.SIGUSR1, signal.SIGTERM):
            process.process.send_signal(number)
            assert process.read_line() == number.name
        code, _, said = process.end(signal.SIGINT)
    assert code == -signal.SIGINT
    assert said.endswith("KeyboardInterrupt\n")


def test_program_is_killed_with_its_command(warm_programs: Path, tmp_path: Path) -> None:
    program = warm_programs / "python"
    with CommandProcess("-c", SAYS_SIGNALS, cwd=tmp_path, program=program) as process:
        assert process.read_line() == "ready"
        # The program holds stdout open: that it ends shows that the program has.
        assert process.end(signal.SIGKILL) == (-signal.SIGKILL, "", "")
