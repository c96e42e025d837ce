"""ALM041: an alarm or a dashboard on a metric that DynamoDB does not have."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from singletable.cloudwatch import DYNAMODB, METRICS
from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View
from singletable.lint.watching import watched


def check(view: View) -> Iterator[Finding]:
    """Look for names of metrics that are none of AWS/DynamoDB."""
    for each in watched(view):
        if each.is_of_dynamodb and each.metric is None:
            near = get_close_matches(
                each.name, [name for name, known in METRICS.items() if known.namespace == DYNAMODB], 1
            )
            yield finding(
                RULE,
                each.path,
                message=f"{each.title} watches {each.name}, which DynamoDB does not send to CloudWatch",
                because="CloudWatch takes an alarm on any name; one without data is never in alarm",
                repair=f"watch {near[0]}" if near else f"watch a metric that there is: {_usual()}",
            )


def _usual() -> str:
    return "ReadThrottleEvents, WriteThrottleEvents, SystemErrors, SuccessfulRequestLatency"


RULE = Rule("ALM041", Severity.ERROR, "An alarm watches a metric that does not exist", check)
