"""Compare an engine with what is known of it.

usage: PYTHONPATH=tests scripts/with_peer.py NAME .venv/bin/python -m golden.peers [--keep] [--only TEXT]

Writes what differs as one JSON object, and says on stderr what is new and what is gone since the kept run.
`--keep` keeps this run instead, unless it has a difference that no reason covers: look at it first.
"""

from __future__ import annotations

import argparse
import json
import os
import sys

from golden.peers.difference import grouped
from golden.peers.engines import ENGINES
from golden.peers.results import Result, keep, kept
from golden.peers.running import differing
from golden.vectors.catalogue import all_vectors


def main() -> int:
    parser = argparse.ArgumentParser(prog="peers", description="Compare an engine with what is known of it.")
    parser.add_argument("--keep", action="store_true", help="keep this run for the tests and the page")
    parser.add_argument("--only", default="", metavar="TEXT", help="vectors whose full name holds this text")
    arguments = parser.parse_args()
    engine = os.environ["SINGLETABLE_PEER"]
    names = [name for name in all_vectors() if arguments.only in name]
    found = differing(os.environ["SINGLETABLE_PEER_URL"], names)
    json.dump(found, sys.stdout, indent=2, ensure_ascii=False)
    print()
    groups, uncovered = grouped(ENGINES[engine].differences, found)
    for name in uncovered:
        print(f"no reason covers: {name}", file=sys.stderr)
    print(f"{engine}: {len(names) - len(found)} of {len(names)} vectors agree", file=sys.stderr)
    if arguments.keep:
        if uncovered or arguments.only:
            print("error: only a whole run whose differences all have a reason is kept", file=sys.stderr)
            return 1
        version = os.environ["SINGLETABLE_PEER_VERSION"]
        keep(Result(engine, version, len(names), len(names) - len(found), groups))
        return 0
    known = kept(engine).reasons().keys() & set(names)
    for title, changed in (("new", found.keys() - known), ("gone", known - found.keys())):
        for name in sorted(changed):
            print(f"{title}: {name}", file=sys.stderr)
    return 0 if found.keys() == known else 1


if __name__ == "__main__":
    sys.exit(main())
