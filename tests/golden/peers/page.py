"""docs/reference/peers.md, from the reasons and the kept runs.

usage: PYTHONPATH=tests python -m golden.peers.page [--check]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from golden.peers.engines import ENGINES, Engine
from golden.peers.results import Result, kept
from support.paths import ROOT

PAGE = ROOT / "docs" / "reference" / "peers.md"

HEAD = """\
# Other engines at the same cases

The tests of singletable hold a catalogue of cases: a request, what is stored before, and what Amazon DynamoDB
answers, with its source. singletable answers all of them as written. The same cases were sent to other engines
that speak DynamoDB. What differs stands below by its reason. Those of dynoxide, which is tested against AWS, were
read one by one; those of DynamoDB Local, ministack and dynalite by what was expected and what came; those of moto
by their groups alone. Where two or more of the first four gave the same answer against a case, the evidence that
the case names was read again, and what was wrong here was mended.

A group tells where answers of AWS to such requests are recorded. Not each of its cases has one: some rest on
DynamoDB Local, on the order in which dynalite checks, or on the answer to a similar request, and the case says so.

The cases were collected to check singletable, so they weigh validation and messages more than an application
would, and they say nothing about speed, about operations that singletable does not serve, or about what the others
do beyond them. An engine may differ in a case for a good reason of its own. To repeat the comparison:
`make test-aws-local` and `make test-peers`.

| engine | version | cases | same answer |
|---|---|---|---|
"""


def render() -> str:
    """Return the page."""
    rows, sections = [], []
    for name, engine in ENGINES.items():
        result = kept(name)
        rows.append(
            f"| [{engine.title}](#{anchor(engine.title)}) | {result.version} | {result.vectors} "
            f"| {result.agreeing} ({result.agreeing / result.vectors:.0%}) |\n"
        )
        sections.append("".join(section(engine, result)))
    return HEAD + "".join(rows) + "".join(sections)


def anchor(title: str) -> str:
    return title.lower().replace(" ", "-")


def section(engine: Engine, result: Result) -> Iterator[str]:
    yield f"\n## {engine.title}\n\n{engine.about}\n\n"
    for difference in engine.differences:
        count = len(result.differing[difference.reason])
        cases = "1 case" if count == 1 else f"{count} cases"
        yield f"- {difference.reason} ({cases})\n  *AWS:* {difference.judge}\n"


def main() -> int:
    parser = argparse.ArgumentParser(prog="golden.peers.page", description="Write docs/reference/peers.md.")
    parser.add_argument("--check", action="store_true", help="compare only; exit 1 when the page differs")
    arguments = parser.parse_args()
    if PAGE.is_file() and PAGE.read_text(encoding="utf-8") == render():
        return 0
    if arguments.check:
        print("error: docs/reference/peers.md is not what was kept", file=sys.stderr)
        print("\nhint: run PYTHONPATH=tests python -m golden.peers.page", file=sys.stderr)
        return 1
    PAGE.write_text(render(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
