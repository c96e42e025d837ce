"""Roles and alarms as blueprints: what stands around the table of a design, for tools that read designs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from string import Formatter
from typing import Final

from singletable.blueprint import AlarmBlueprint, Blueprint, RoleBlueprint, StatementBlueprint
from singletable.stack.alarms import Alarm
from singletable.stack.metrics import DYNAMODB, METRICS
from singletable.stack.options import Deployment
from singletable.stack.policies import Policy, condition_document

_COMPARISONS: Final = {"GreaterThanThreshold": ">", "GreaterThanOrEqualToThreshold": ">="}


def anywhere(blueprint: Blueprint) -> Deployment:
    """Return a deployment of placeholders: those of CloudFormation, and those of the table's name."""
    fields = [name for _, name, _, _ in Formatter().parse(blueprint.table.name) if name]
    environment = {name: f"{{{name}}}" for name in fields}
    return Deployment("${AWS::Region}", "${AWS::AccountId}", environment, "${AWS::Partition}")


def with_roles_and_alarms(
    blueprint: Blueprint,
    *,
    policies: Callable[[Deployment], Iterable[Policy]],
    alarms: Callable[[Deployment], Iterable[Alarm]],
    deployment: Deployment | None = None,
) -> Blueprint:
    """Return a blueprint with its roles and alarms in a deployment; with placeholders for one if none is given."""
    place = anywhere(blueprint) if deployment is None else deployment
    return replace(
        blueprint,
        roles=tuple(map(role_blueprint, policies(place))),
        alarms=tuple(map(alarm_blueprint, alarms(place))),
    )


def role_blueprint(policy: Policy) -> RoleBlueprint:
    """Describe the role that has a policy."""
    statements = [
        StatementBlueprint(
            "Allow", each.actions, each.resources, condition_document(each.conditions), each.sid
        )
        for each in policy.statements
    ]
    return RoleBlueprint(policy.name, tuple(statements))


def alarm_blueprint(alarm: Alarm) -> AlarmBlueprint:
    """Describe an alarm by its first metric; of several, the expression says how they are taken together."""
    first = alarm.series[0]
    known = METRICS.get(first.metric)
    return AlarmBlueprint(
        name=alarm.name,
        metric=first.metric,
        namespace=DYNAMODB if known is None else known.namespace,
        dimensions=dict(first.dimensions),
        statistic=first.statistic,
        comparison=_COMPARISONS[alarm.comparison],
        threshold=alarm.threshold,
        period_s=alarm.period_s,
        periods=alarm.periods,
        region=alarm.region,
        about=alarm.says,
        expression=_expression(alarm),
    )


def _expression(alarm: Alarm) -> str:
    names = {each.id: f"{each.metric}.{each.statistic}" for each in alarm.series}
    return re.sub(r"\b[a-z]\w*\b", lambda found: names.get(found[0], found[0]), alarm.expression or "")
