"""GETs a second of an API on one core, by wrk: `python -m benchmarks.api [--seconds N]`. Prints JSON lines.

The server has one worker and one core, wrk another. The pattern itself is measured in the process, so that what
HTTP adds is seen. With the address of a DynamoDB Local in SINGLETABLE_AWS_LOCAL (`scripts/with_peer.py aws-local`
sets it), an application written by hand over boto3 and FastAPI is measured beside, with the same item.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from benchmarks.http_load import require_wrk
from singletable import Design, Entity, Get, Key, Keys, SortKey, Table, Version, pattern

ROOT: Final = Path(__file__).resolve().parent.parent
WARM_UP_S: Final = 1
CONNECTIONS: Final = 16
BODY: Final = "x" * 800


class NotesTable(Table):
    name = "notes"


class NotePK(Key, template="NOTE#{note_id}"):
    note_id: str


class HeadSK(SortKey, template="HEAD"):
    pass


class Note(Entity):
    key = Keys(NotePK, HeadSK)

    note_id: str
    text: str
    version: Version = 0


class Notes(Design):
    table = NotesTable
    entities = (Note,)

    @pattern("1 A note")
    def note(self, note_id: str) -> Get[Note]:
        return Note.key.get(NotePK(note_id=note_id), HeadSK())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=int, default=5)
    arguments = parser.parse_args()
    require_wrk()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "notes.db")
        with Notes.open(path) as db:
            db.create(Note(note_id="n1", text=BODY))
            print(json.dumps({"what": "the pattern in the process", **in_process(db, arguments.seconds)}))
        with served(api_command(path)) as (url, process):
            for name, where in (
                ("GET of an entity", "/notes/n1"),
                ("GET of a pattern", "/patterns/note?note_id=n1"),
            ):
                print(
                    json.dumps(
                        {"what": f"GET of {name}", **load(f"{url}{where}", process, arguments.seconds)}
                    )
                )
    local = os.environ.get("SINGLETABLE_AWS_LOCAL")
    if local is None:
        print(
            json.dumps({"what": "by hand, over DynamoDB Local", "left out": "SINGLETABLE_AWS_LOCAL is unset"})
        )
        return
    fill_by_hand(local)
    with served([sys.executable, "-m", "benchmarks.api_by_hand", local]) as (url, process):
        found = load(f"{url}/notes/n1", process, arguments.seconds)
        print(json.dumps({"what": "by hand, over DynamoDB Local", **found}))


def api_command(path: str) -> list[str]:
    """Return what serves the design on a free port."""
    words = ["api", "benchmarks.api:Notes", "--target", path, "--port", "0", "--json"]
    return [sys.executable, "-m", "singletable", *words]


def in_process(db: Notes, seconds: int) -> dict[str, Any]:
    """Ask the pattern as often as it goes; return how often a second of CPU."""
    count, started, until = 0, time.process_time(), time.process_time() + seconds
    while time.process_time() < until:
        for _ in range(100):
            db.note("n1").one()
        count += 100
    spent = time.process_time() - started
    return {"per_s": round(count / spent), "cpu_us_each": round(spent / count * 1e6, 1)}


@contextmanager
def served(command: list[str]) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Start a server on one core; yield its address."""
    pinned = ["taskset", "-c", "0"] if shutil.which("taskset") else []
    process = subprocess.Popen(
        [*pinned, *command], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    try:
        url: str = json.loads(process.stdout.readline())["url"]
        yield url, process
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)


def load(url: str, process: subprocess.Popen[str], seconds: int) -> dict[str, Any]:
    """Ask one address by wrk; every answer has to be a 200."""
    with urllib.request.urlopen(url) as answer:
        assert answer.status == 200
    burst(url, WARM_UP_S)
    before = cpu_s(process.pid)
    text = burst(url, seconds)
    spent = cpu_s(process.pid) - before
    assert "Non-2xx" not in text, text
    assert "Socket errors" not in text, text
    count = int(_found(r"(\d+) requests in", text))
    return {
        "per_s": round(float(_found(r"Requests/sec:\s+([\d.]+)", text))),
        "cpu_us_each": round(spent / count * 1e6, 1),
        "latency_p99": _found(r"99%\s+(\S+)", text),
    }


def burst(url: str, seconds: int) -> str:
    """Run wrk on another core than the server's; return what it prints."""
    pinned = ["taskset", "-c", "1"] if shutil.which("taskset") and (os.cpu_count() or 1) > 1 else []
    words = [
        "wrk",
        "--threads",
        "1",
        "--connections",
        str(CONNECTIONS),
        "--latency",
        "--duration",
        f"{seconds}s",
        url,
    ]
    return subprocess.run([*pinned, *words], capture_output=True, text=True, check=True).stdout


def cpu_s(pid: int) -> float:
    """Return the CPU time that a process has taken."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def fill_by_hand(endpoint: str) -> None:
    """Make the same item in a DynamoDB Local."""
    with Notes.open(endpoint, create=True) as db:
        db.put(Note(note_id="n1", text=BODY))


def _found(expression: str, text: str) -> str:
    found = re.search(expression, text)
    assert found is not None, text
    return found[1]


if __name__ == "__main__":
    main()
