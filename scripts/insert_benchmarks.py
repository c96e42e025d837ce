"""Write the figures of the last benchmark run into the pages that show some, between benchmark comments.

usage: python scripts/insert_benchmarks.py [--check]

The figures come from benchmarks/results/*.json, which `make bench` writes; nobody types one. `--check` writes
nothing and exits 1 when a page says something else than the results. A place begins with a comment such as
<!-- benchmarks --> and ends with <!-- /benchmarks -->; `PLACES` lists them all.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
READMES = (
    ROOT / "README.md",
    ROOT / "docs" / "performance.md",
    ROOT / "src" / "singletable_systems" / "lunch_cache" / "README.md",
    ROOT / "docs" / "guides" / "systems.md",
    ROOT / "docs" / "guides" / "planning.md",
    ROOT / "docs" / "guides" / "linting.md",
    ROOT / "docs" / "decisions" / "0015-sums-of-pages.md",
)
RESULTS = ROOT / "benchmarks" / "results"
SUITES = ("speed", "growth", "startup", "boto3", "design", "blueprint", "log", "ttl", "background")
LOAD_SUITES = ("load",)
SCALE_SUITES = ("scale",)
PLANNING_SUITES = ("planning",)
LINT_SUITES = ("lint",)
INTEGRITY_SUITES = ("integrity",)
HIGHLIGHT_SUITES = ("http", "boto3")
SERVER_SUITES = ("http", "http-slow-disk", "http-boto3", "http-start", "http-stalls")

NO_FIGURES = "There are no figures of this release yet. `make bench` measures them on your machine.\n"
COMPARISON_HEAD = "| | here | compared with | | ratio | goal |\n|---|---|---|---|---|---|\n"
INTEGRITY_HEAD = "| | with | without | ratio (of rounds) | goal |\n|---|--:|--:|---|---|\n"
READING_HEAD = "| | here | goal |\n|---|---|---|\n"
SCALE_HEAD = "| | units | small | large | ratio |\n|---|---:|---:|---:|---:|\n"
RATIO_HEAD = "| | compared with | ratio | goal |\n|---|---|---|---|\n"
OPERATIONS = {
    "GetItem": "GetItem",
    "Query": "Query of 25",
    "PutItem": "PutItem",
    "UpdateItem": "UpdateItem, condition",
}

SHAPES = ("many attributes", "one long text")  # of items

Document = Mapping[str, Any]


class NoPlaceError(ValueError):
    """The text has no place for the figures."""


def load_results(directory: Path, suites: Iterable[str] = SUITES) -> list[Document]:
    """Read what was measured, suite by suite."""
    paths = (directory / f"{suite}.json" for suite in suites)
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
        way = "through boto3 in the process" if floor["name"] == "db.client()" else floor["name"]
        name = f"{result['name'].removesuffix(': ' + subject['name'])}, {way}"
        digits = 0 if result["ratio"] >= 10 else 2
        return row(name, floor, subject, f"{result['ratio']:.{digits}f}x faster", wanted)
    wanted = goal(f"at most {result['ratio_max']:g}x", result)
    return row(result["name"], subject, floor, f"{result['ratio']:.2f}x", wanted)


def render_integrity(documents: Iterable[Document]) -> str:
    """Return what checksums cost: the engine with those of pages and without, then other protections."""
    documents = list(documents)
    if not documents:
        return NO_FIGURES
    results = [result for document in documents for result in document["results"]]
    return conditions(documents) + "\n" + table(INTEGRITY_HEAD, (integrity_row(result) for result in results))


def integrity_row(result: Mapping[str, Any]) -> str:
    wanted = "" if result["ratio_max"] is None else goal(f"at most {result['ratio_max']:g}x", result)
    subject, floor = result["subject"], result["floor"]
    ratio = f"{result['ratio']:.2f}x ({result['ratio_low']:.2f} to {result['ratio_high']:.2f})"
    times = f"{subject['median_us']:.1f} us | {floor['median_us']:.1f} us"
    return f"| {result['name']} | {times} | {ratio} | {wanted} |\n"


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


# --- the server ----------------------------------------------------------------------------------------------


def render_server(documents: Iterable[Document]) -> str:
    """Return the figures of the server as Markdown: all rates, and what has a goal, reached or not."""
    documents = list(documents)
    if not documents:
        return NO_FIGURES
    results = [result for document in documents for result in document["results"]]
    goals = [result for result in results if result["reached"] is not None]
    ratios = [ratio_row(result) for result in goals if "ratio" in result]
    readings = [server_reading_row(result) for result in goals if "value" in result]
    parts = [
        server_conditions(documents, results),
        rates(results),
        times_as_fast(results),
        table(RATIO_HEAD, ratios),
        table(READING_HEAD, [*readings, *stall_rows(goals)]),
    ]
    return "\n".join(part for part in parts if part)


def table(head: str, rows: Iterable[str]) -> str:
    body = "".join(rows)
    return head + body if body else ""


def server_conditions(documents: list[Document], results: list[Mapping[str, Any]]) -> str:
    found = {each["server"].split(",")[0]: each["version"] for each in results if each.get("version")}
    names = ", ".join(f"{engine} {version}" for engine, version in found.items() if engine != "singletable")
    peers = f" Compared: {names}.\n" if names else ""
    missing = [f"Not measured: {each['server']} ({each['why']}).\n" for each in results if "why" in each]
    return conditions(documents) + peers.lstrip() + "".join(dict.fromkeys(missing))


def rates(results: list[Mapping[str, Any]]) -> str:
    """A table of requests a second: a row a server that was measured with every operation on many attributes."""
    by_server: dict[str, dict[str, float]] = {}
    for result in results:
        if "rate" in result and result.get("shape", SHAPES[0]) == SHAPES[0]:  # older runs had one shape
            by_server.setdefault(result["server"], {})[result["operation"]] = result["rate"]
    head = "| requests/s | " + " | ".join(OPERATIONS.values()) + " |\n"
    head += "|---|" + "---:|" * len(OPERATIONS) + "\n"
    rows = (
        f"| {name} | " + " | ".join(f"{of_server[operation]:,.0f}" for operation in OPERATIONS) + " |\n"
        for name, of_server in by_server.items()
        if of_server.keys() == OPERATIONS.keys()
    )
    return table(head, rows)


def times_as_fast(results: list[Mapping[str, Any]]) -> str:
    """A table of how many times as fast this server is as each other: a figure for each shape of the items."""
    found: dict[str, dict[tuple[str, str], float]] = {}
    for result in results:
        if "ratio" in result and result.get("shape"):
            name = f"{result['server']}: {result['against']}"
            found.setdefault(name, {})[result["operation"], result["shape"]] = result["ratio"]
    head = f"| times as fast: {', '.join(SHAPES)} | " + " | ".join(OPERATIONS.values()) + " |\n"
    head += "|---|" + "---:|" * len(OPERATIONS) + "\n"
    rows = (
        f"| {name} | "
        + " | ".join(
            ", ".join(f"{ratios[operation, shape]:.1f}x" for shape in SHAPES) for operation in OPERATIONS
        )
        + " |\n"
        for name, ratios in found.items()
        if len(ratios) == len(OPERATIONS) * len(SHAPES)
    )
    return table(head, rows)


def ratio_row(result: Mapping[str, Any]) -> str:
    if "operation" in result:
        wanted = goal(f"at least {result['ratio_min']:g}x", result)
        name = f"{OPERATIONS[result['operation']]}: {result['server']}"
        return f"| {name} | {result['against']} | {result['ratio']:.2f}x | {wanted} |\n"
    here, other = result["subject"], result["floor"]
    wanted = goal(f"at most {result['ratio_max']:g}x", result)
    name = f"{result['name']}: {here['median_us']:.0f} us"
    return f"| {name} | {other['name']}: {other['median_us']:.0f} us | {result['ratio']:.2f}x | {wanted} |\n"


def server_reading_row(result: Mapping[str, Any]) -> str:
    unit = result["unit"]
    wanted = goal(f"at most {result['value_max']:g} {unit}", result)
    return f"| {result['name']} | {result['value']:g} {unit} | {wanted} |\n"


def stall_rows(goals: list[Mapping[str, Any]]) -> list[str]:
    """Of each kind of work the longest stall, whichever client had it."""
    longest: dict[tuple[str, str], Mapping[str, Any]] = {}
    for result in goals:
        if "stall_ms" in result:
            key = (result["server"], result["beside"])
            longest[key] = max(longest.get(key, result), result, key=lambda each: each["stall_ms"])
    return [stall_row(result) for result in longest.values()]


def stall_row(result: Mapping[str, Any]) -> str:
    wanted = goal(f"at most {result['stall_ms_max']:g} ms", result)
    name = f"{result['server']}: longest stall beside {result['beside']}"
    return f"| {name} | {result['stall_ms']:.0f} ms ({result['client']}) | {wanted} |\n"


# --- the few figures of the README -----------------------------------------------------------------------------

HERE = "singletable, durable"
BESIDE = ("DynamoDB Local, on disk", "dynoxide, on disk")
IN_PROCESS = "get, 1 KB: moto"


def render_highlights(documents: Iterable[Document]) -> str:
    """Return five rows as Markdown: four operations over HTTP beside two others, and boto3 in the process."""
    documents = list(documents)
    results = [result for document in documents for result in document["results"]]
    over_http = {
        each["operation"]: each["rate"]
        for each in results
        if each.get("server") == HERE and "rate" in each and each.get("shape", SHAPES[0]) == SHAPES[0]
    }
    ratios = {
        (each["operation"], each["against"], each["shape"]): each["ratio"]
        for each in results
        if each.get("server") == HERE and "ratio" in each and each.get("shape")
    }
    if not over_http:
        return NO_FIGURES
    others = " | ".join(f"beside {other}" for other in BESIDE)
    head = f"| over HTTP, every write on the disk | here | {others} |\n|---|--:|--:|--:|\n"
    rows = [
        highlight(operation, over_http[operation], ratios)
        for operation in OPERATIONS
        if operation in over_http
    ]
    in_process = [
        f"| get of 1 KB through boto3 in the process | {each['floor']['median_us']:.0f} us | "
        f"beside moto: {each['ratio']:.0f}x | |\n"
        for each in results
        if each.get("name") == IN_PROCESS
    ]
    shapes = f"The first ratio is for items of {SHAPES[0]}, the second for {SHAPES[1]}.\n"
    return f"{conditions(documents)}{shapes}\n{head}{''.join(rows)}{''.join(in_process)}"


def highlight(operation: str, rate: float, ratios: Mapping[tuple[str, str, str], float]) -> str:
    cells = [
        ", ".join(
            f"{ratios[operation, other, shape]:.1f}x"
            for shape in SHAPES
            if (operation, other, shape) in ratios
        )
        for other in BESIDE
    ]
    return f"| {OPERATIONS[operation]} | {rate:,.0f} a second | {' | '.join(cells)} |\n"


# --- Lunch Cache under load ------------------------------------------------------------------------------------


def render_load(documents: Iterable[Document]) -> str:
    """Return the figures of the load tests as Markdown: a table for each load, a row for each server."""
    documents = list(documents)
    if not documents:
        return NO_FIGURES
    results = [result for document in documents for result in document["results"]]
    measured = [result for result in results if "rate" in result]
    works = dict.fromkeys(result["operation"] for result in measured)
    parts = [server_conditions(documents, results)]
    for work in works:
        rows = (load_row(result) for result in measured if result["operation"] == work)
        parts.append(
            table(f"| {work} | requests/s | p50 | p99 | failed |\n|---|---:|---:|---:|---:|\n", rows)
        )
    return "\n".join(parts)


def load_row(result: Mapping[str, Any]) -> str:
    latency = f"{result['p50_ms']:,.0f} ms | {result['p99_ms']:,.0f} ms"
    return f"| {result['server']} | {result['rate']:,.0f} | {latency} | 0 of {result['requests']:,} |\n"


# --- the large seed beside the small one ---------------------------------------------------------------------


def render_scale(documents: Iterable[Document]) -> str:
    """Return what each pattern costs on the small seed and on the large one, a table for each system."""
    documents = list(documents)
    if not documents:
        return NO_FIGURES
    results = [result for document in documents for result in document["results"]]
    figures = {result["name"]: result for result in results if "value" in result}
    sizes = " and ".join(
        f"{figures[f'items of the {size} seed']['value']:,.0f} items ({size})" for size in ("small", "large")
    )
    speed = f"{figures['loading the large seed']['value']:,.0f} items a second"
    parts = [f"{conditions(documents)}{sizes}; the large seed was loaded at {speed}.\n"]
    measured = [result for result in results if "units_small" in result]
    for system in dict.fromkeys(result["system"] for result in measured):
        rows = (scale_row(result) for result in measured if result["system"] == system)
        parts.append(table(SCALE_HEAD.replace("| |", f"| {system} |", 1), rows))
    return "\n".join(parts)


def scale_row(result: Mapping[str, Any]) -> str:
    small, large = result["floor"]["median_us"], result["subject"]["median_us"]
    units = f"{result['units_small']:g}"
    if result["units"] != result["units_small"]:
        units += f", large {result['units']:g}: **not the same**"
    ratio = f"{result['ratio']:.2f}x"
    if result["ratio"] > result["ratio_max"]:
        ratio += f", goal {result['ratio_max']:g}x: **not reached**"
    return f"| {result['name']} | {units} | {small:.0f} us | {large:.0f} us | {ratio} |\n"


# --- the pages ----------------------------------------------------------------------------------------------

PLACES: dict[str, tuple[tuple[str, ...], Callable[[Iterable[Document]], str]]] = {
    "highlights": (HIGHLIGHT_SUITES, render_highlights),
    "benchmarks": (SUITES, render),
    "server-benchmarks": (SERVER_SUITES, render_server),
    "load-benchmarks": (LOAD_SUITES, render_load),
    "scale-benchmarks": (SCALE_SUITES, render_scale),
    "planning-benchmarks": (PLANNING_SUITES, render),
    "lint-benchmarks": (LINT_SUITES, render),
    "integrity-benchmarks": (INTEGRITY_SUITES, render_integrity),
}


def insert_all(readme: str, results: Path) -> str:
    """Return the text with all figures in their places; raise NoPlaceError if it has none."""
    places = [place for place in PLACES if f"<!-- {place} -->" in readme]
    if not places:
        raise NoPlaceError(f"README.md has no <!-- {next(iter(PLACES))} -->")
    for place in places:
        suites, render_place = PLACES[place]
        readme = insert(readme, render_place(load_results(results, suites)), place)
    return readme


def insert(readme: str, figures: str, place: str) -> str:
    """Return the text with the figures in one place."""
    begin, end = f"<!-- {place} -->", f"<!-- /{place} -->"
    before, found, rest = readme.partition(begin)
    _, found_end, after = rest.partition(end)
    if not found or not found_end:
        raise NoPlaceError(f"README.md has no {begin} … {end}")
    return f"{before}{begin}\n{figures}{end}{after}"


def main(
    arguments: list[str] | None = None, *, readmes: Iterable[Path] = READMES, results: Path = RESULTS
) -> int:
    parser = argparse.ArgumentParser(
        description="Write the figures of the last benchmark run into README.md and other pages that show some."
    )
    parser.add_argument("--check", action="store_true", help="compare only; exit 1 when one differs")
    options = parser.parse_args(arguments)
    return max(update(readme, results, is_check=options.check) for readme in readmes)


def update(readme: Path, results: Path, *, is_check: bool) -> int:
    """Bring one README up to date, or only compare it; return the exit code."""
    text = readme.read_text(encoding="utf-8")
    try:
        wanted = insert_all(text, results)
    except NoPlaceError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if wanted == text:
        return 0
    if is_check:
        print(f"error: {readme.name} does not show the figures of benchmarks/results", file=sys.stderr)
        print("\nhint: run python scripts/insert_benchmarks.py", file=sys.stderr)
        return 1
    readme.write_text(wanted, encoding="utf-8")
    print(f"wrote {readme.name}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
