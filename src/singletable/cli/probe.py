"""`singletable probe`: what a target really does, tried on a table of its own, and which features that costs."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from singletable.cli.arguments import add_key, file_name
from singletable.cli.messages import WrongUseError, say, say_error
from singletable.cli.output import progress_bar, write_file
from singletable.cli.targets import is_remote, refuse_missing_file
from singletable.probe import Check, Finding, ProbeReport, Verdict, probe

if TYPE_CHECKING:
    import argparse

EXAMPLES = """\
examples:
  singletable probe http://127.0.0.1:8000
  singletable probe dynamodb://eu-north-1 --yes --out found.json
  singletable probe http://127.0.0.1:8000 --json | jq .capabilities
  singletable create-table app.kefir:Kefir http://127.0.0.1:8000 --env stage=dev --capabilities found.json

A table named singletable-probe- and something random is made, tried with a few thousand requests, and taken away,
also after Ctrl-C. No other table is touched. Elsewhere than on this machine it is asked about, or needs --yes.

exit codes: 0 all that designs need holds, 1 something breaks (with the features that it costs), 2 for wrong use or
a failure
"""

SOUND = 0
BROKEN = 1
_HERE: Final = frozenset({"127.0.0.1", "::1", "localhost"})
_COUNTED: Final[dict[Verdict, str]] = {
    "holds": "hold",
    "breaks": "break",
    "absent": "are absent",
    "untried": "are untried",
}
_VERDICT_WIDTH: Final = max(map(len, _COUNTED))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe `probe`."""
    parser.add_argument(
        "target", metavar="TARGET", type=file_name, help="an URL, dynamodb://REGION, a file, or :memory:"
    )
    add_key(parser)
    parser.add_argument("--json", action="store_true", help="print what was found as JSON")
    parser.add_argument(
        "--out", metavar="FILE", type=file_name, help="write it to a file, which --capabilities takes"
    )
    parser.add_argument("--yes", action="store_true", help="do not ask before a table is made elsewhere")


def run(arguments: argparse.Namespace) -> int:
    """Probe one target; print what holds and what does not."""
    target: str = arguments.target
    refuse_missing_file(target, hint=":memory: tries the same engine")
    out: str | None = arguments.out
    if out is not None and not os.path.isdir(os.path.dirname(os.path.realpath(out))):
        raise WrongUseError(f"there is no folder for {out}", hint="name a file in a folder that is there")
    if not (arguments.yes or _is_here(target) or _is_confirmed(target)):
        say("nothing was made")
        return BROKEN
    with progress_bar() as show:

        def watch(check: Check, done: int, total: int) -> None:
            show("probing", done, total)

        with _terminated_by_interrupt():
            report = probe(target, watch=watch, on_left=_say_left)
    if out is not None:
        write_file(out, json.dumps(report.data(), indent=2) + "\n")
    if arguments.json:
        print(json.dumps(report.data()))
    else:
        for line in _lines(report):
            print(line)
        say(_summary(report))
    if out is not None:
        say(f"{out} is written: --capabilities {out} opens a design with what was found")
    return SOUND if report.is_sound else BROKEN


@contextmanager
def _terminated_by_interrupt() -> Iterator[None]:
    """Let SIGTERM, by which containers are stopped, end a probe as Ctrl-C does: its tables are taken away."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield  # only that one hears signals
        return
    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _is_here(target: str) -> bool:
    """Tell whether a target is of this machine: a file, memory, or a server that only it can reach."""
    return not is_remote(target) or urlsplit(target).hostname in _HERE


def _is_confirmed(target: str) -> bool:
    what = f"a table is made on {target}, written to, and deleted"
    if sys.stdin is None or not sys.stdin.isatty():
        raise WrongUseError(f"{what}, and nobody can be asked", hint="run it with --yes")
    print(f"{what}. Go on? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _say_left(table: str) -> None:
    say_error(
        f"the table {table} could not be taken away",
        hint=f"delete it, and {table}-again, if they are there: nothing else is called so",
    )


def _lines(report: ProbeReport) -> Iterator[str]:
    width = max(len(check.name) for check, _ in report.findings)
    for check, finding in report.findings:
        yield f"{check.name:<{width}}  {finding.verdict:<{_VERDICT_WIDTH}}  {finding.said}"
        if finding.verdict != "holds":
            yield f"{'':<{width + _VERDICT_WIDTH + 4}}{_cost(check, finding)}"


def _cost(check: Check, finding: Finding) -> str:
    """Say what a design loses."""
    broken = f"it breaks: {', '.join(check.features)}"
    if not check.without:
        return broken
    return (
        f"{broken}; without it, {check.without}"
        if finding.verdict == "breaks"
        else f"without it, {check.without}"
    )


def _summary(report: ProbeReport) -> str:
    counts = Counter(finding.verdict for _, finding in report.findings)
    said = ", ".join(f"{counts[verdict]} {words}" for verdict, words in _COUNTED.items() if counts[verdict])
    verdict = (
        "all that designs need holds" if report.is_sound else "something that designs need does not hold"
    )
    missing = report.capabilities.missing()
    without = f"; a design opens without {', '.join(missing)}" if missing else ""
    return f"{said}: {verdict}{without}"
