"""`singletable alarms`: what wakes somebody up, as CloudWatch takes it."""

from __future__ import annotations

import argparse
import json

from singletable.cli.stages import add_stage, add_users, find_deployed, stage_environment
from singletable.stack.deployable import stacks_unpacked
from singletable.stack.options import StackOptions
from singletable.stack.resources import Alarm

EXAMPLES = """\
examples:
  singletable alarms kefir --env stage=prod --region eu-north-1
  singletable alarms kefir --env stage=prod --region eu-north-1 --json | jq .alarms[0]

They are those of its stacks: thresholds follow from the plan, and those on the bill are in us-east-1.
With --json each alarm is a request of CloudWatch's PutMetricAlarm.
"""

DONE = 0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe `alarms`."""
    add_stage(parser)
    add_users(parser)
    parser.add_argument("--json", action="store_true", help="print requests of PutMetricAlarm as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print the alarms of a design's stacks."""
    options = StackOptions(arguments.region, stage_environment(arguments))
    stacks = stacks_unpacked(find_deployed(arguments.design), options, users=arguments.users)
    found = [
        (stack.region, each.rule) for stack in stacks for each in stack.resources if isinstance(each, Alarm)
    ]
    if arguments.json:
        print(json.dumps({"alarms": [alarm.request() for _, alarm in found]}, ensure_ascii=False))
        return DONE
    width = max(len(alarm.name) for _, alarm in found)
    for region, alarm in found:
        elsewhere = "" if region == options.region else f" (in {region})"
        print(f"{alarm.name:<{width}}  {alarm.says}{elsewhere}")
    return DONE
