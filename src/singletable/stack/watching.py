"""Alarms as resources: each tells a topic. Those of the bill are a stack of their own, in the bill's region."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from singletable.blueprint import AlarmBlueprint, Blueprint
from singletable.stack.alarms import Alarm as AlarmRule
from singletable.stack.alarms import Comparison, Series
from singletable.stack.metrics import BILLING, BILLING_REGION
from singletable.stack.names import logical_id, resource_name
from singletable.stack.options import StackOptions, stack_name
from singletable.stack.resources import Alarm, Ref, Resource, Stack, Text, Topic

ALARM_TOPIC: Final = "AlarmTopic"
_COMPARISONS: Final[Mapping[str, Comparison]] = {
    ">": "GreaterThanThreshold",
    ">=": "GreaterThanOrEqualToThreshold",
}
_SIX_HOURS_S: Final = 6 * 3600


def alarm_topic(table: str, *, emails: Iterable[Text] = (), tags: Mapping[str, str] | None = None) -> Topic:
    """Make the topic that alarms tell."""
    return Topic(
        ALARM_TOPIC,
        resource_name("topic", f"{table}-alarms"),
        tuple(emails),
        publishers=("cloudwatch.amazonaws.com",),
        tags=tags or {},
    )


def alarm_resources(
    rules: Iterable[AlarmRule], *, table: str, tags: Mapping[str, str] | None = None
) -> tuple[Alarm, ...]:
    """Make the alarms of a table's stack, which tell its topic; those of the bill are left to `billing_stack`."""
    return tuple(_alarm(rule, table, tags) for rule in rules if not rule.is_of_billing)


def billing_stack(
    rules: Iterable[AlarmRule],
    *,
    table: str,
    emails: Iterable[Text] = (),
    tags: Mapping[str, str] | None = None,
) -> Stack | None:
    """Make the stack of the alarms on the bill, with a topic of its own; None without such alarms."""
    found = [_alarm(rule, table, tags) for rule in rules if rule.is_of_billing]
    if not found:
        return None
    topic = alarm_topic(f"{table}-billing", emails=emails, tags=tags)
    resources: tuple[Resource, ...] = (topic, *found)
    return Stack(
        f"{stack_name(table)}-billing",
        BILLING_REGION,
        tuple(sorted(resources, key=lambda each: each.logical_id)),
        says=f"Alarms on the bill of {table}, which is told in {BILLING_REGION} alone",
    )


def billing_rules(blueprint: Blueprint, options: StackOptions) -> tuple[AlarmRule, ...]:
    """Return the alarms on the bill that a system declares; those of a document stay data."""
    return tuple(
        _rule(each, options) for each in blueprint.alarms if each.namespace == BILLING and not each.said
    )


def problems(stack: Stack) -> list[str]:
    """Name the alarms of a stack that can never ring, and why."""
    return [
        f"{each.rule.name}: {problem}"
        for each in stack.resources
        if isinstance(each, Alarm)
        for problem in each.rule.problems(stack.region)
    ]


def _alarm(rule: AlarmRule, table: str, tags: Mapping[str, str] | None) -> Alarm:
    topic = Ref(ALARM_TOPIC)
    return Alarm(
        # The stage is in the name of the table; the id is the same in all of them.
        logical_id("Alarm", rule.name.removeprefix(f"{table}-")),
        replace(rule, name=resource_name("alarm", rule.name)),
        actions=(topic,),
        ok_actions=(topic,),
        tags=tags or {},
    )


def _rule(alarm: AlarmBlueprint, options: StackOptions) -> AlarmRule:
    return AlarmRule(
        options.filled(alarm.name),
        alarm.about,
        (Series("charges", alarm.metric, alarm.statistic or "Maximum", dict(alarm.dimensions)),),
        alarm.threshold or 0,
        comparison=_COMPARISONS[alarm.comparison],
        period_s=int(alarm.period_s or _SIX_HOURS_S),
        periods=alarm.periods or 1,
        region=alarm.region,
    )
