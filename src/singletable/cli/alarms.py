"""`singletable alarms`: what wakes somebody up, as CloudWatch takes it."""

from __future__ import annotations

import argparse
import json

from singletable.cli.blueprint import find_blueprint
from singletable.cli.stages import add_stage, stage_environment
from singletable.stack.alarms import standard_alarms
from singletable.stack.options import StackOptions, table_name

EXAMPLES = """\
examples:
  singletable alarms kefir --env stage=prod --region eu-north-1
  singletable alarms kefir --env stage=prod --region eu-north-1 --json | jq .alarms[0]

With --json each alarm is a request of CloudWatch's PutMetricAlarm.
"""

DONE = 0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe `alarms`."""
    add_stage(parser)
    parser.add_argument("--json", action="store_true", help="print requests of PutMetricAlarm as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print the alarms of a design's table."""
    blueprint = find_blueprint(arguments.design)
    options = StackOptions(arguments.region, stage_environment(arguments))
    table_name(blueprint, options.environment)  # or it is refused
    found = standard_alarms(blueprint, options.deployment())
    if arguments.json:
        print(json.dumps({"alarms": [alarm.request() for alarm in found]}, ensure_ascii=False))
        return DONE
    width = max(len(alarm.name) for alarm in found)
    for alarm in found:
        print(f"{alarm.name:<{width}}  {alarm.says}")
    return DONE
