"""`singletable diff`: is the table of a design as the design says?"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from singletable.cli.messages import say
from singletable.cli.patterns.finding import find_source
from singletable.cli.stages import add_billing
from singletable.cli.targets import add_design_and_target, given_capabilities

if TYPE_CHECKING:
    import argparse

EXAMPLES = """\
examples:
  singletable diff kefir kefir.db
  singletable diff app.kefir:Kefir kefir.db
  singletable diff app.kefir:Kefir dynamodb://eu-north-1 --env stage=prod
  singletable diff app.kefir:Kefir dynamodb://eu-north-1 --env stage=dev --billing PROVISIONED --capacity 5,5
  singletable diff app.kefir:Kefir http://127.0.0.1:8000 --env stage=dev --json | jq .differences

Nothing is changed. What the target does not know, as backups on DynamoDB Local, is not compared, and said.
What a stage has of its own, its billing and capacity, is no difference when it is given.

exit codes: 0 the table is as the design says, 1 it differs (one line each), 2 for wrong use or a failure
"""

SAME = 0
DIFFERS = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe `diff`."""
    add_design_and_target(parser)
    add_billing(parser)


def run(arguments: argparse.Namespace) -> int:
    """Compare a table with its design; print one line for each difference."""
    source = find_source(arguments.design)
    drift = source.design.diff(
        arguments.target,
        capabilities=given_capabilities(arguments, arguments.target),
        billing=arguments.billing,
        capacity=arguments.capacity,
        **source.environment_with(arguments.env),
    )
    if arguments.json:
        found = [asdict(difference) for difference in drift]
        print(json.dumps({"same": not drift, "differences": found, "unsupported": drift.unsupported}))
    else:
        for difference in drift:
            print(difference)
        for what in drift.unsupported:
            say(f"not compared, because the target does not know it: {what}")
        if arguments.billing or arguments.capacity:
            say("billing and capacity are those of the stage, and no difference from the design")
        say(f"{arguments.target} {verdict(len(drift))}")
    return DIFFERS if drift else SAME


def verdict(difference_count: int) -> str:
    """Say how many differences there are."""
    if difference_count == 0:
        return "is as the design says"
    return f"differs from the design in {difference_count} thing{'' if difference_count == 1 else 's'}"
