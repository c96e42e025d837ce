"""Say how many wrong changes of the core the tests find: `python scripts/mutate.py [COMMIT ...] [--count 200]`.

Each commit is checked out beside the repository. Functions that are the same in all of them are changed, one
change at a time, and the tests that enter the function run until one fails. What is printed is the share of
changes that a test found, for each package and each commit. The sample depends on the seed alone. Sample and
results are kept in a folder: an interrupted run goes on where it stood, and a later commit is tried with the same
changes.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import functools
import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

import pytest

from mutants import Change, Function, changes_of, functions_of, with_calls, with_change

ROOT: Final = Path(__file__).resolve().parent.parent
PACKAGES: Final = ("values", "expressions", "engine", "wire", "storage", "design")
ROOMS: Final = (*(f"tests/{package}" for package in PACKAGES), "tests/golden/test_vectors.py")
# Before tests had rooms, the names of files said where they belong.
FLAT_ROOMS: Final = re.compile(
    "test_(values|clock|expressions|engine|past|propagation|streams|throttling|ttl|wire|storage|backups|processes|fork"
    "|design|vectors)(_|$)"
)
MARKERS: Final = "not soak and not aws_local and not peers and not clients and not stacks"
TESTS_S_MAX: Final = 20.0  # of the tests that enter a function, as many as take so long
WAIT_S_MAX: Final = 180.0
_NOTHING_RAN: Final = (pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.NO_TESTS_COLLECTED)


@dataclass(frozen=True)
class Mutant:
    """A wrong change of a function, the same in every commit that has the function."""

    package: str
    function: str
    place: int
    says: str


@dataclass
class Tests:
    """What is known of the tests of a commit."""

    durations_s: dict[str, float] = field(default_factory=dict)
    failed: set[str] = field(default_factory=set)
    entering: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def chosen_for(self, mutant: Mutant) -> list[str]:
        """Return the tests that enter a function: its room first, quick files first, while the time allows."""
        if mutant.function not in self.entering:
            return []
        names = self.entering[mutant.function] - {""}  # no test: when a module is imported
        files = {name.partition("::")[0] for name in names}
        passed = [name for name in self.durations_s if name not in self.failed]
        costs: dict[str, float] = defaultdict(float)
        for name in passed:
            if name in names:
                costs[name.partition("::")[0]] += self.durations_s[name]
        # A module's fixtures are entered by its first test alone, so that the others of the file follow.
        candidates = sorted(
            (
                name
                for name in passed
                if name.partition("::")[0] in files or (not names and _in_room(name, mutant.package))
            ),
            key=lambda name: (
                name not in names,
                not _in_room(name, mutant.package),
                costs[name.partition("::")[0]],
                name.partition("::")[0],
                self.durations_s[name],
            ),
        )
        chosen, total_s = [], 0.0
        for name in candidates:
            if total_s + self.durations_s[name] <= TESTS_S_MAX:
                chosen.append(name)
                total_s += self.durations_s[name]
        return chosen


def _in_room(name: str, package: str) -> bool:
    return name.startswith((f"tests/{package}/", f"tests/test_{package}_"))


@dataclass(frozen=True)
class Commit:
    """A commit that is checked out in a folder of its own."""

    name: str
    folder: Path

    @functools.cached_property
    def functions(self) -> dict[str, tuple[str, Function]]:
        """Return the functions of the core, with their package, by their identity."""
        return {
            identity: (package, function)
            for package in PACKAGES
            for identity, function in functions_of(self.folder / "src" / "singletable" / package).items()
        }

    def rooms(self) -> list[str]:
        if (self.folder / "tests" / PACKAGES[0]).is_dir():
            return list(ROOMS)
        flat = (self.folder / "tests").glob("test_*.py")
        return sorted(f"tests/{path.name}" for path in flat if FLAT_ROOMS.match(path.stem))

    def pytest(self, *arguments: str, cpu_s_max: float | None = None, **variables: str) -> int | None:
        """Run pytest; return None if it did not end in time."""
        command = [sys.executable, "-m", "pytest", "-q", "-p", "mutation_plugin", "-p", "no:cacheprovider"]
        command += ["-m", MARKERS, *arguments]
        paths = [self.folder / "src", self.folder / "tests", ROOT / "scripts"]
        environment = {
            **os.environ,
            **variables,
            "PYTHONPATH": os.pathsep.join(map(str, paths)),
            "PYTHONDONTWRITEBYTECODE": "",
        }

        def limit() -> None:
            if cpu_s_max is not None:
                resource.setrlimit(resource.RLIMIT_CPU, (int(cpu_s_max), int(cpu_s_max) + 5))

        process = subprocess.Popen(
            command, cwd=self.folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True, preexec_fn=limit,
        )  # fmt: skip
        try:
            status = process.wait(None if cpu_s_max is None else WAIT_S_MAX)
        except subprocess.TimeoutExpired:
            return None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        return None if status in (-signal.SIGXCPU, -signal.SIGKILL) else status


@contextlib.contextmanager
def checked_out(name: str) -> Iterator[Commit]:
    """Give a commit in a folder that is gone afterwards."""
    git = ["git", "-C", str(ROOT), "worktree"]
    with tempfile.TemporaryDirectory() as parent:
        folder = Path(parent) / "tree"
        subprocess.run([*git, "add", "--detach", str(folder), name], check=True, capture_output=True)
        try:
            yield Commit(name, folder)
        finally:
            subprocess.run([*git, "remove", "--force", str(folder)], check=True, capture_output=True)


def sampled(commits: list[Commit], count: int, seed: int) -> list[Mutant]:
    """Choose changes of functions that all commits have: as many of each package, at most three of a function."""
    functions = [commit.functions for commit in commits]
    shared = sorted(set(functions[0]).intersection(*functions[1:]))
    chooser = random.Random(seed)
    chosen: list[Mutant] = []
    for package in PACKAGES:
        candidates: list[Mutant] = []
        for identity in shared:
            of, function = functions[0][identity]
            if of == package:
                source = function.path.read_text()
                found = [
                    Mutant(package, identity, place, _said(source, change))
                    for place, change in enumerate(changes_of(function.node))
                    if _compiles(with_change(source, change))
                ]
                candidates += chooser.sample(found, min(3, len(found)))
        chosen += chooser.sample(candidates, min(-(-count // len(PACKAGES)), len(candidates)))
    return chosen


def _said(source: str, change: Change) -> str:
    return f"{' '.join((ast.get_source_segment(source, change.node) or '').split())} -> {change.text}"


def _compiles(source: str) -> bool:
    try:
        compile(source, "mutant", "exec", dont_inherit=True)
    except SyntaxError:
        return False
    return True


def tests_of(commit: Commit, mutants: list[Mutant], notes: Path) -> Tests:
    """Run the rooms once, with functions that tell who enters them."""
    if not notes.exists():
        functions = commit.functions
        marked: dict[Path, list[tuple[Function, str]]] = defaultdict(list)
        for identity in sorted({mutant.function for mutant in mutants}):
            if identity in functions:
                function = functions[identity][1]
                marked[function.path].append(
                    (function, f"import mutation_plugin; mutation_plugin.enter({identity!r})")
                )
        sources = {path: path.read_text() for path in marked}
        for path, entries in marked.items():
            path.write_text(with_calls(sources[path], [(function.node, call) for function, call in entries]))
        being_written = notes.with_suffix(".part")
        being_written.unlink(missing_ok=True)
        commit.pytest(*commit.rooms(), MUTATE_NOTES=str(being_written))
        for path, source in sources.items():
            path.write_text(source)
        if not _noted(being_written).durations_s:
            raise SystemExit(f"error: no test of {commit.name} passed: there is nothing to try changes with")
        being_written.rename(notes)
    return _noted(notes)


def _noted(notes: Path) -> Tests:
    tests = Tests()
    for line in notes.read_text().splitlines() if notes.exists() else []:
        match line.split("\t"):
            case ["entered", name, function_name]:
                tests.entering[function_name].add(name)
            case ["passed", name, duration]:
                tests.durations_s[name] = tests.durations_s.get(name, 0.0) + float(duration)
            case [_, name, _]:
                tests.failed.add(name)
    return tests


def outcome_of(commit: Commit, mutant: Mutant, tests: Tests) -> str:
    """Change a function, run its tests, and say what came of it: killed, timeout, survived or never entered."""
    function = commit.functions[mutant.function][1]
    chosen = tests.chosen_for(mutant)
    if not chosen:
        return "never entered"
    source = function.path.read_text()
    changed = with_change(source, changes_of(function.node)[mutant.place])
    expected_s = sum(tests.durations_s[name] for name in chosen)
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as names:
        names.write("\n".join(chosen))
        names.flush()
        files = list(dict.fromkeys(name.partition("::")[0] for name in chosen))
        function.path.write_text(changed)
        try:
            status = commit.pytest("-x", *files, cpu_s_max=60 + 4 * expected_s, MUTATE_CHOSEN=names.name)
        finally:
            function.path.write_text(source)
    if status in _NOTHING_RAN:
        raise SystemExit(f"error: pytest ended with {status} for {mutant.function}: no test ran")
    return {None: "timeout", 0: "survived"}.get(status, "killed")


def shown(results: list[dict[str, str]], commits: list[str]) -> str:
    """Return the table of what was found."""
    lines = ["| package | mutants | " + " | ".join(commits) + " |", "|---" * (2 + len(commits)) + "|"]
    for package in (*PACKAGES, "all"):
        counts = []
        of_package = [each for each in results if package in ("all", each["package"])]
        for commit in commits:
            of_commit = [each for each in of_package if each["commit"] == commit]
            found = sum(each["outcome"] in ("killed", "timeout") for each in of_commit)
            counts.append(f"{found} of {len(of_commit)}")
        mutants = {(each["function"], each["place"]) for each in of_package}
        lines.append(f"| {package} | {len(mutants)} | " + " | ".join(counts) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commits", nargs="*", default=["HEAD"])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--folder", type=Path, default=Path("mutation"), help="where the sample and the results are kept"
    )
    arguments = parser.parse_args()
    folder: Path = arguments.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    sample, kept = folder / "sample.json", folder / "results.jsonl"
    with contextlib.ExitStack() as stack:
        commits = [stack.enter_context(checked_out(name)) for name in arguments.commits]
        if not sample.exists():
            sample.write_text(
                json.dumps([asdict(each) for each in sampled(commits, arguments.count, arguments.seed)])
            )
        mutants = [Mutant(**each) for each in json.loads(sample.read_text())]
        results = [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() else []
        known = {(each["commit"], each["function"], each["place"]) for each in results}
        for commit in commits:
            tests = tests_of(commit, mutants, folder / f"tests-{commit.name}.tsv")
            for mutant in mutants:
                if (
                    commit.name,
                    mutant.function,
                    mutant.place,
                ) not in known and mutant.function in commit.functions:
                    found = outcome_of(commit, mutant, tests)
                    results.append({"commit": commit.name, **asdict(mutant), "outcome": found})
                    with kept.open("a") as file:
                        file.write(json.dumps(results[-1]) + "\n")
                    print(f"{commit.name} {found:13} {mutant.function}: {mutant.says}", file=sys.stderr)
    print(shown(results, sorted({each["commit"] for each in results})))


if __name__ == "__main__":
    main()
