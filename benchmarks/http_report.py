"""What was measured of servers, as a Markdown page for people."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks import http_plot
from benchmarks.http_requests import MANY_ATTRIBUTES, OPERATIONS, SHAPES
from benchmarks.http_servers import KEEPS
from benchmarks.report import COMPARISON_HEAD, comparison_row, conditions, verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    Results = list[dict[str, Any]]

PAGE = "server.md"
RATE_HEAD = (
    "| | requests/s (rounds) | p50 ms | p99 ms | cores busy: server | elsewhere, at most |\n"
    "|---|---|---|---|---|---|\n"
)
RATIO_HEAD = "| | against | ratio (rounds) | goal | |\n|---|---|---|---|---|\n"
READING_HEAD = "| | median (lowest to highest) | goal | |\n|---|---|---|---|\n"
STALL_HEAD = (
    "| server | beside | client | quiet: p50, max ms | p50 ms | p99 ms | max ms | stall ms | goal | |\n"
    "|---|---|---|---|---|---|---|---|---|---|\n"
)
LOAD_HEAD = "| | requests/s (rounds) | p50 ms | p99 ms | requests, none failed |\n|---|---|---|---|---|\n"


def write_markdown(directory: Path) -> None:
    """Write a page of every suite that has results; and the picture of the rates beside it."""
    documents = {
        suite: json.loads((directory / f"{suite}.json").read_text())
        for suite in SECTIONS
        if (directory / f"{suite}.json").exists()
    }
    if not documents:
        return
    sections = [
        f"## {section.title}\n\n{conditions(documents[suite])}\n\n{section.explanation}\n\n"
        + section.body(documents[suite]["results"])
        for suite, section in SECTIONS.items()
        if suite in documents
    ]
    (directory / PAGE).write_text("\n".join(sections))
    if "http" in documents:
        (directory / http_plot.FILE).write_text(http_plot.draw(documents["http"]))


def speed(results: Results) -> str:
    parts = [f"![Requests a second of each server, by operation]({http_plot.FILE})\n"]
    for operation, shape in itertools.product(OPERATIONS, SHAPES):
        measured = [
            result
            for result in results
            if result.get("operation") == operation and result.get("shape", MANY_ATTRIBUTES) == shape
        ]
        rates = [rate_row(result) for result in measured if "rate" in result]
        ratios = [ratio_row(result) for result in measured if "ratio" in result]
        if rates:  # older runs had one shape
            parts += [f"### {operation}, {shape}\n", table(RATE_HEAD, rates), table(RATIO_HEAD, ratios)]
    return "\n".join([*parts, left_out(results), versions(results)])


def slow_disk(results: Results) -> str:
    rates = (rate_row(result) for result in results if "rate" in result)
    ratios = (ratio_row(result) for result in results if "ratio" in result)
    return table(RATE_HEAD, rates) + "\n" + table(RATIO_HEAD, ratios)


def latency(results: Results) -> str:
    return table(COMPARISON_HEAD, map(comparison_row, results))


def start(results: Results) -> str:
    rows = (reading_row(result) for result in results if "value" in result)
    return table(READING_HEAD, rows) + left_out(results)


def stalls(results: Results) -> str:
    return table(STALL_HEAD, map(stall_row, results))


def loads(results: Results) -> str:
    rates = [result for result in results if "rate" in result]
    parts = []
    for work in dict.fromkeys(result["operation"] for result in rates):
        rows = (load_row(result) for result in rates if result["operation"] == work)
        parts.append(f"### {work}\n\n" + table(LOAD_HEAD, rows))
    return "\n".join([*parts, left_out(results), versions(results)])


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """How a suite is shown."""

    title: str
    explanation: str
    body: Callable[[Results], str]


SECTIONS = {
    "http": Section(
        title="Requests a second",
        explanation=(
            "wrk, one thread, 16 connections, each asking again as soon as it has its answer; 4,000 items of 1 KB "
            "in partitions of 25, one index that holds whole items; random keys. Items have many attributes "
            "(maps, lists, sets); where there are figures for one long text, those are of a second table. "
            "Every put has new contents and moves its item in the index; every update sets a number under a "
            "condition. All servers run at once "
            "and are measured in turns, in an order shuffled every time, while the others idle; medians of the "
            "rounds. A burst counts only if every answer was a 200 of the right size. wrk runs on the same cores."
        ),
        body=speed,
    ),
    "http-slow-disk": Section(
        title="Reads on a slow disk",
        explanation=(
            "Every sync takes 3 ms longer. 12 connections get items, first alone and then beside 4 that put, in "
            "turns. The slow disk is made in Python, so these rates are lower than those above."
        ),
        body=slow_disk,
    ),
    "http-boto3": Section(
        title="Through boto3",
        explanation=(
            "One client in one thread, against a server that answers every request with the same bytes, which it "
            "has ready: what boto3 itself takes, and HTTP at its least."
        ),
        body=latency,
    ),
    "http-start": Section(
        title="Start, memory, connections",
        explanation=(
            "From exec to the answer to a ListTables, which is asked for every millisecond; memory is what is "
            "resident."
        ),
        body=start,
    ),
    "http-stalls": Section(
        title="Stalls",
        explanation=(
            "One client gets and one puts, a millisecond apart, while the server does something large for others. "
            "The stall is the longest wait less the median wait when all is quiet. A third process appends to a "
            "file on the same disk and syncs it, to tell what is the disk's own doing."
        ),
        body=stalls,
    ),
    "load": Section(
        title="Lunch Cache under load",
        explanation=(
            "The load tests that Lunch Cache's design document asks for, against its own table with 2,000 of its "
            "made-up menus, by wrk: as many connections as the headline says, each asking again as soon as it has "
            "its answer. Every batch writes menus that nobody has written before. All servers run at once and are "
            "loaded in turns while the others idle; medians of the rounds. No request failed: one answer that is "
            "not a 200 would have ended the run."
        ),
        body=loads,
    ),
}


def table(head: str, rows: Iterable[str]) -> str:
    return head + "".join(rows)


def rate_row(result: dict[str, Any]) -> str:
    keeps = KEEPS.get(result["server"])
    name = f"{result['server']} ({keeps})" if keeps else result["server"]
    busy = ["" if result[key] is None else f"{result[key]:.2f}" for key in ("server_cpu", "elsewhere_cpu")]
    return (
        f"| {name} | **{result['rate']:,.0f}** ({result['rate_low']:,.0f} to {result['rate_high']:,.0f}) "
        f"| {result['p50_ms']:.2f} | {result['p99_ms']:.2f} | {busy[0]} | {busy[1]} |\n"
    )


def load_row(result: dict[str, Any]) -> str:
    rounds = f"{result['rate_low']:,.0f} to {result['rate_high']:,.0f}"
    return (
        f"| {result['server']} | **{result['rate']:,.0f}** ({rounds}) "
        f"| {result['p50_ms']:,.1f} | {result['p99_ms']:,.1f} | {result['requests']:,} |\n"
    )


def ratio_row(result: dict[str, Any]) -> str:
    goal = "" if result["ratio_min"] is None else f"at least {result['ratio_min']:g}x"
    return (
        f"| {result['server']} | {result['against']} "
        f"| **{result['ratio']:.2f}x** ({result['ratio_low']:.2f} to {result['ratio_high']:.2f}) "
        f"| {goal} | {verdict(result)} |\n"
    )


def reading_row(result: dict[str, Any]) -> str:
    unit = result["unit"]
    goal = "" if result["value_max"] is None else f"at most {result['value_max']:g} {unit}"
    is_one = result["low"] in (None, result["high"])
    spread = "" if is_one else f" ({result['low']:g} to {result['high']:g})"
    return f"| {result['name']} | **{result['value']:g} {unit}**{spread} | {goal} | {verdict(result)} |\n"


def stall_row(result: dict[str, Any]) -> str:
    goal = "" if result["stall_ms_max"] is None else f"at most {result['stall_ms_max']:g}"
    return (
        f"| {result['server']} | {result['beside']} | {result['client']} "
        f"| {result['quiet_p50_ms']:.2f}, {result['quiet_max_ms']:.1f} | {result['p50_ms']:.2f} "
        f"| {result['p99_ms']:.1f} | {result['max_ms']:.1f} | **{result['stall_ms']:.1f}** "
        f"| {goal} | {verdict(result)} |\n"
    )


def left_out(results: Results) -> str:
    return "".join(
        f"\nLeft out: {result['server']}: {result['why']}\n" for result in results if "why" in result
    )


def versions(results: Results) -> str:
    """Say which version of each engine was measured."""
    found = {result["server"].split(",")[0]: result["version"] for result in results if "version" in result}
    return "\nVersions: " + ", ".join(f"{engine} {version}" for engine, version in found.items()) + ".\n"
