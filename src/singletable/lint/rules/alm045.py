"""ALM045: an alarm that nothing can set off."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from singletable.cloudwatch import BILLING, BILLING_REGION, DYNAMODB
from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View

if TYPE_CHECKING:
    from singletable.blueprint.surroundings import AlarmBlueprint

_OF_PROVISIONED: Final = (
    "ProvisionedReadCapacityUnits",
    "ProvisionedWriteCapacityUnits",
    "ReadProvisionedThroughputThrottleEvents",
    "WriteProvisionedThroughputThrottleEvents",
)
_PERCENT: Final = ("percent", "%")


def check(view: View) -> Iterator[Finding]:
    """Look for thresholds beyond all values, for bills in other regions, for capacity that is not there."""
    for at, alarm in enumerate(view.blueprint.alarms):
        if (because := _because(view, alarm)) is not None:
            why, repair = because
            yield finding(
                RULE,
                ("alarms", at),
                message=f"{alarm.name!r} can never be in alarm",
                because=why,
                repair=repair,
            )


def _because(view: View, alarm: AlarmBlueprint) -> tuple[str, str] | None:
    table = view.blueprint.table
    if alarm.namespace == BILLING and alarm.region not in (None, "", BILLING_REGION):
        return (
            f"the bill is told in {BILLING_REGION} for all regions, and the alarm is in {alarm.region}",
            f"make the alarm in {BILLING_REGION}",
        )
    is_over = alarm.comparison.startswith((">", "GreaterThan"))
    if is_over and alarm.unit.lower() in _PERCENT and alarm.threshold is not None and alarm.threshold > 100:
        return f"a share is 100 percent at most, and the threshold {alarm.threshold:g}", "lower the threshold"
    if _is_below_all(alarm):
        return (
            f"no metric of DynamoDB is below 0, and the alarm waits for {alarm.comparison} {alarm.threshold:g}",
            "turn the comparison, or raise the threshold",
        )
    is_on_demand = table.billing == "PAY_PER_REQUEST" and table.capacity is None and not table.scaling
    if alarm.metric in _OF_PROVISIONED and is_on_demand:
        return (
            f"the table is on demand, and {alarm.metric} is told of provisioned capacity alone",
            "watch ReadThrottleEvents and WriteThrottleEvents, which both modes have",
        )
    return None


def _is_below_all(alarm: AlarmBlueprint) -> bool:
    """Tell whether an alarm waits for less than nothing."""
    if alarm.namespace != DYNAMODB or alarm.threshold is None:
        return False
    if alarm.comparison in ("<=", "LessThanOrEqualToThreshold"):
        return alarm.threshold < 0
    return alarm.comparison in ("<", "LessThanThreshold") and alarm.threshold <= 0


RULE = Rule("ALM045", Severity.ERROR, "An alarm can never ring", check)
