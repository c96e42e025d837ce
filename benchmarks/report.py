"""Results as JSON for programs, and as a Markdown page for people."""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import apsw

from benchmarks.floor import BareAppend
from benchmarks.measure import time_each

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

APPEND_BYTES = 1024
APPENDS = 200

PAGE = "engine.md"
TITLES = {
    "speed": "Speed",
    "growth": "Growth",
    "startup": "Start",
    "fairness": "Several processes",
    "boto3": "boto3 in the process",
    "design": "The design layer",
    "blueprint": "Blueprints",
    "log": "The log: streams, recovery, restoring",
    "ttl": "Time to live",
    "background": "Background work",
    "planning": "The planner",
    "lint": "The linter",
    "scale": "The large seed beside the small one",
}
COMPARISON_HEAD = (
    "| | median us (p99) | against | median us (p99) | ratio (rounds) | target | |\n"
    "|---|---|---|---|---|---|---|\n"
)
READING_HEAD = "| | median (rounds) | target | |\n|---|---|---|---|\n"


class Measured(Protocol):
    """A dataclass that knows whether it reached its goal; None if it has none."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def reached(self) -> bool | None: ...


def environment(directory: Path, *, quick: bool) -> dict[str, Any]:
    """Where and when this was measured; nothing that names the machine or its paths."""
    return {
        "measured_at": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "commit": commit(),
        "quick": quick,
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "sqlite": apsw.sqlite_lib_version(),
        "append_fdatasync_us": append_fdatasync_us(directory),
    }


def append_fdatasync_us(directory: Path) -> float:
    """The median cost of an append of 1 KB that is forced to the disk, in the directory measured."""
    path = directory / "probe"
    append = BareAppend(path)
    durations_ns = time_each(append.append, [os.urandom(APPEND_BYTES) for _ in range(APPENDS)])
    append.close()
    path.unlink()
    return round(statistics.median(durations_ns) / 1000, 1)


def commit() -> str:
    """The commit that is checked out; "+" where the sources differ from it."""
    try:
        head = _git("rev-parse", "--short", "HEAD")
        return head + ("+" if _git("status", "--porcelain", "--", "src", "benchmarks/*.py") else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], capture_output=True, check=True, text=True).stdout.strip()


def write_json(path: Path, measured: dict[str, Any], results: Sequence[Measured]) -> None:
    """Write one suite's results, each with whether it reached its target (null: it has none)."""
    document = {
        **measured,
        "results": [{**asdict(result), "reached": result.reached} for result in results],
    }
    path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")


def write_markdown(directory: Path) -> None:
    """Write a page of every suite that has results."""
    sections = [
        section(title, json.loads((directory / f"{suite}.json").read_text()))
        for suite, title in TITLES.items()
        if (directory / f"{suite}.json").exists()
    ]
    if sections:
        (directory / PAGE).write_text("\n".join(sections))


def section(title: str, document: dict[str, Any]) -> str:
    results = document["results"]
    comparisons = [comparison_row(result) for result in results if "ratio" in result]
    readings = [reading_row(result) for result in results if "value" in result]
    parts = [f"## {title}\n\n{conditions(document)}\n"]
    if comparisons:
        parts.append(COMPARISON_HEAD + "".join(comparisons))
    if readings:
        parts.append(READING_HEAD + "".join(readings))
    return "\n".join(parts)


def conditions(document: dict[str, Any]) -> str:
    return (
        f"Measured {document['measured_at']} at commit {document['commit']}"
        f"{' (a quick run)' if document['quick'] else ''}: {document['system']}, {document['cores']} cores, "
        f"Python {document['python']}, SQLite {document['sqlite']}; an append of 1 KB with fdatasync takes "
        f"{document['append_fdatasync_us']:.0f} us."
    )


def comparison_row(result: dict[str, Any]) -> str:
    subject, floor = result["subject"], result["floor"]
    target = "" if result["ratio_max"] is None else f"at most {result['ratio_max']}x"
    if result.get("ratio_min") is not None:
        target = f"at least {result['ratio_min']:g}x"
    return (
        f"| {result['name']} | {timing(subject)} | {floor['name']} | {timing(floor)} "
        f"| **{result['ratio']:.2f}x** ({result['ratio_low']:.2f} to {result['ratio_high']:.2f}) "
        f"| {target} | {verdict(result)} |\n"
    )


def reading_row(result: dict[str, Any]) -> str:
    unit = result["unit"]
    target = "" if result["value_max"] is None else f"under {result['value_max']:g} {unit}"
    spread = "" if result["low"] is None else f" ({result['low']:g} to {result['high']:g})"
    return f"| {result['name']} | **{result['value']:g} {unit}**{spread} | {target} | {verdict(result)} |\n"


def timing(summary: dict[str, Any]) -> str:
    return f"{summary['median_us']:.1f} ({summary['p99_us']:.0f})"


def verdict(result: dict[str, Any]) -> str:
    return {None: "", True: "reached", False: "not reached"}[result["reached"]]
