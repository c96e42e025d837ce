"""Run the vectors against an endpoint.

usage: PYTHONPATH=tests python -m golden.vectors --endpoint URL [--only TEXT] [--json]

Credentials and region come from the environment, as for any AWS client; made-up ones will do for a local engine.
Exits with 1 if an answer differs from what Amazon DynamoDB is known to answer.
"""

from __future__ import annotations

import argparse
import json
import sys

from botocore.credentials import Credentials
from botocore.session import Session

from golden.vectors.catalogue import all_vectors
from golden.vectors.matching import anything
from golden.vectors.running import Runner, UnpreparedError
from golden.vectors.tables import HASH
from golden.vectors.transports import Abroad, HttpTransport, Transport
from golden.vectors.vector import Vector


def run_all(runner: Runner, *, only: str = "") -> dict[str, list[str]]:
    """Return what differs, by the name of the vector; an empty list where nothing does."""
    found: dict[str, list[str]] = {}
    for name, vector in all_vectors().items():
        if only in name:
            try:
                found[name] = runner.run(vector)
            except (OSError, UnpreparedError) as error:
                found[name] = [f"{type(error).__name__}: {error}"]
    runner.close()
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="golden.vectors", description="Compare an endpoint with Amazon DynamoDB."
    )
    parser.add_argument("--endpoint", required=True, metavar="URL")
    parser.add_argument("--only", default="", metavar="TEXT", help="vectors whose full name holds this text")
    parser.add_argument("--json", action="store_true", help="write what differs as one JSON object")
    arguments = parser.parse_args()
    found = run_all(Runner(_located(_transport(arguments.endpoint))), only=arguments.only)
    differing = {name: lines for name, lines in found.items() if lines}
    if arguments.json:
        json.dump({"vectors": len(found), "differing": differing}, sys.stdout, indent=2)
        print()
    else:
        for name, lines in differing.items():
            print(name, *lines, sep="\n    ")
        print(f"{len(found) - len(differing)} of {len(found)} vectors agree")
    return 1 if differing else 0


def _located(transport: HttpTransport) -> Transport:
    """Find out, by a table, which region and account the endpoint speaks of."""
    runner = Runner(transport)
    runner.run(Vector("locate", "DescribeTable", {"TableName": "Hash"}, answer=anything, tables=[HASH]))
    arn = transport.send("DescribeTable", {"TableName": "Hash"}).body["Table"]["TableArn"]
    runner.close()
    _, _, _, region, account, _ = arn.split(":", 5)
    return Abroad(transport, region=region, account=account)


def _transport(url: str) -> HttpTransport:
    session = Session()
    given = session.get_credentials()
    credentials = Credentials("any", "thing") if given is None else given.get_frozen_credentials()
    return HttpTransport(url, credentials, session.get_config_variable("region") or "us-east-1")


if __name__ == "__main__":
    sys.exit(main())
