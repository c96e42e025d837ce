"""Run the tests of files and folders in several processes: `python scripts/run_tests.py -n 2 tests/values`.

Each process collects and runs the file whose turn it is, until none is left. With pytest-xdist every process
collects every file, and one more reads what the others report of each step of each test.
What one process says is shown as it comes, what the others say when all have ended.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

ROOT = Path(__file__).resolve().parent.parent


class Turns:
    """The files in an order that the processes share: who makes the file of a number has the turn."""

    def __init__(self, taken: Path) -> None:
        self._taken = taken
        self._found: list[pytest.File] = []
        self._files: Iterator[tuple[int, pytest.File]] | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> pytest.CollectReport | None:
        """Only find the files while pytest collects: each is imported when it has its turn."""
        if self._files is not None or not isinstance(collector, pytest.File):
            return None
        self._found.append(collector)
        return pytest.CollectReport(collector.nodeid, "passed", None, [])

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run file after file, the largest first: what comes last should be short."""
        order = sorted(self._found, key=lambda file: (-file.path.stat().st_size, file.nodeid))
        self._files = iter(enumerate(order))
        items = self._next_items(session)
        while items:
            session.testscollected += len(items)
            further: list[pytest.Item] = []
            for item, following in zip(items, [*items[1:], None], strict=True):
                if following is None:  # which fixtures stay depends on the test that comes next
                    further = self._next_items(session)
                    following = further[0] if further else None
                session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                if session.shouldstop:
                    raise session.Interrupted(session.shouldstop)
            items = further
        return True

    def _next_items(self, session: pytest.Session) -> list[pytest.Item]:
        """Return the tests of the next file that has some and that nobody else has taken."""
        assert self._files is not None
        for number, file in self._files:
            try:
                (self._taken / str(number)).touch(exist_ok=False)
            except FileExistsError:
                continue
            items = list(session.genitems(file))
            session.config.hook.pytest_collection_modifyitems(
                session=session, config=session.config, items=items
            )
            if items:
                return items
        return []


def run_turns(taken: Path, marks: str, paths: Sequence[str]) -> int:
    """Be one of the processes: return pytest's exit code."""
    style = "console_output_style=classic"  # nobody knows how many tests there will be
    code = pytest.main(["-q", "-o", style, "-m", marks, *paths], plugins=[Turns(taken)])
    return pytest.ExitCode.OK if code == pytest.ExitCode.NO_TESTS_COLLECTED else code


def run_processes(arguments: Sequence[str], count: int, taken: Path) -> int:
    """Start the processes and say what they say; return the first exit code that is not 0."""
    command = [sys.executable, __file__, *arguments, "--taken", str(taken)]
    outputs = [taken / f"output-{number}" for number in range(1, count)]
    started = [subprocess.Popen(command)]
    for path in outputs:
        with path.open("wb") as output:
            started.append(subprocess.Popen(command, stdout=output, stderr=output))
    codes = [process.wait() for process in started]
    for path in outputs:
        print(path.read_text(encoding="utf-8", errors="replace"), end="")
    return next(filter(None, codes), 0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="*", default=[str(ROOT / "tests")])
    parser.add_argument("-n", dest="processes", type=int, default=2)
    parser.add_argument("-m", dest="marks", default="")
    parser.add_argument("--taken", type=Path, help=argparse.SUPPRESS)
    said = parser.parse_args()
    if said.taken is not None:
        return run_turns(said.taken, said.marks, said.paths)
    with TemporaryDirectory() as taken:
        return run_processes(sys.argv[1:], said.processes, Path(taken))


if __name__ == "__main__":
    sys.exit(main())
