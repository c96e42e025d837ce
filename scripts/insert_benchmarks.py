"""Write the figures of the last benchmark run into README.md, between its two benchmark comments.

usage: python scripts/insert_benchmarks.py [--check]

The figures come from benchmarks/results/*.json, which `make bench` writes; nobody types one. `--check` writes
nothing and exits 1 when the README says something else than the results.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
RESULTS = ROOT / "benchmarks" / "results"
SUITES = ("speed", "growth", "startup", "boto3")

BEGIN = "<!-- benchmarks -->"
END = "<!-- /benchmarks -->"
NO_FIGURES = "There are no figures of this release yet. `make bench` measures them on your machine.\n"
COMPARISON_HEAD = "| | here | compared with | | ratio | goal |\n|---|---|---|---|---|---|\n"
READING_HEAD = "| | here | goal |\n|---|---|---|\n"

Document = Mapping[str, Any]


class NoPlaceError(ValueError):
    """The text has no place for the figures."""


def load_results(directory: Path) -> list[Document]:
    """Read what was measured, suite by suite."""
    paths = (directory / f"{suite}.json" for suite in SUITES)
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths if path.is_file()]


def render(documents: Iterable[Document]) -> str:
    """Return the figures as Markdown: those that have a goal, reached or not."""
    documents = list(documents)
    if not documents:
        return NO_FIGURES
    results = [
        result for document in documents for result in document["results"] if result["reached"] is not None
    ]
    comparisons = [comparison_row(result) for result in results if "ratio" in result]
    readings = [reading_row(result) for result in results if "value" in result]
    parts = [conditions(documents)]
    if comparisons:
        parts.append(COMPARISON_HEAD + "".join(comparisons))
    if readings:
        parts.append(READING_HEAD + "".join(readings))
    return "\n".join(parts)


def conditions(documents: list[Document]) -> str:
    first = documents[0]
    days = sorted({document["measured_at"].split()[0] for document in documents})
    syncs_us = [document["append_fdatasync_us"] for document in documents]
    quick = " A quick run: the goals are for a full one." if any(d["quick"] for d in documents) else ""
    return (
        f"Measured {' and '.join(days)} on {first['system']}, {first['cores']} cores, Python {first['python']}, "
        f"SQLite {first['sqlite']}, where an append of 1 KB with fdatasync takes {spread(syncs_us)} us. Medians; "
        f"each pair was measured in turns, in one run.{quick}\n"
    )


def spread(values: list[float]) -> str:
    low, high = f"{min(values):.0f}", f"{max(values):.0f}"
    return low if low == high else f"{low} to {high}"


def comparison_row(result: Mapping[str, Any]) -> str:
    subject, floor = result["subject"], result["floor"]
    if result.get("ratio_min") is not None:  # another one is measured against us
        wanted = goal(f"at least {result['ratio_min']:g}x", result)
        name = f"{result['name'].removesuffix(': ' + subject['name'])}, through boto3 in the process"
        return row(name, floor, subject, f"{result['ratio']:.0f}x faster", wanted)
    wanted = goal(f"at most {result['ratio_max']:g}x", result)
    return row(result["name"], subject, floor, f"{result['ratio']:.2f}x", wanted)


def row(name: str, here: Mapping[str, Any], other: Mapping[str, Any], ratio: str, wanted: str) -> str:
    return (
        f"| {name} | {here['median_us']:.0f} us | {other['name']} | {other['median_us']:.0f} us "
        f"| {ratio} | {wanted} |\n"
    )


def reading_row(result: Mapping[str, Any]) -> str:
    unit = result["unit"]
    wanted = goal(f"under {result['value_max']:g} {unit}", result)
    return f"| {result['name']} | {result['value']:g} {unit} | {wanted} |\n"


def goal(text: str, result: Mapping[str, Any]) -> str:
    return text if result["reached"] else f"{text}: **not reached**"


def insert(readme: str, figures: str) -> str:
    """Return the text with the figures in their place."""
    before, begin, rest = readme.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise NoPlaceError(f"README.md has no {BEGIN} … {END}")
    return f"{before}{BEGIN}\n{figures}{END}{after}"


def main(arguments: list[str] | None = None, *, readme: Path = README, results: Path = RESULTS) -> int:
    parser = argparse.ArgumentParser(
        description="Write the figures of the last benchmark run into README.md."
    )
    parser.add_argument("--check", action="store_true", help="compare only; exit 1 when README.md differs")
    options = parser.parse_args(arguments)
    text = readme.read_text(encoding="utf-8")
    try:
        wanted = insert(text, render(load_results(results)))
    except NoPlaceError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if wanted == text:
        return 0
    if options.check:
        print("error: README.md does not show the figures of benchmarks/results", file=sys.stderr)
        print("\nhint: run python scripts/insert_benchmarks.py", file=sys.stderr)
        return 1
    readme.write_text(wanted, encoding="utf-8")
    print("wrote README.md", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
