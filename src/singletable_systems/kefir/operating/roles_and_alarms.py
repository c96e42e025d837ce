"""How Kefir is operated on AWS: who may do what, and what wakes somebody up. The document has nothing: KF-23."""

from __future__ import annotations

from typing import Final

from singletable.stack import (
    Alarm,
    Deployment,
    Policy,
    Roles,
    Statement,
    roles_of,
    standard_alarms,
)
from singletable_systems.kefir.reactions.handlers import Kefir

_TO_THE_SCHEDULER: Final = {"StringEquals": {"iam:PassedToService": ("scheduler.amazonaws.com",)}}


def roles(deployment: Deployment) -> Roles:
    """Return who may do what: the app reads or writes, the function follows the stream, a person maintains."""
    return roles_of(Kefir.blueprint(), deployment)


def scheduling(deployment: Deployment, *, group: str, role_arn: str) -> Policy:
    """Return the policy for schedules at EventBridge, which the function behind the stream needs too (KF-26).

    `role_arn` is the role that schedules run with: the function passes it on when it makes a schedule.
    """
    place = f"arn:{deployment.partition}:scheduler:{deployment.region}:{deployment.account}"
    actions = ("scheduler:CreateSchedule", "scheduler:UpdateSchedule", "scheduler:DeleteSchedule")
    return Policy(
        f"{group}-scheduling",
        (
            Statement("KeepSchedules", actions, (f"{place}:schedule/{group}/*",)),
            Statement("HandOnRole", ("iam:PassRole",), (role_arn,), _TO_THE_SCHEDULER),
        ),
    )


def policies(deployment: Deployment) -> tuple[Policy, ...]:
    """Return all policies, with those for the group of schedules of the stack and the role that they run with."""
    table = deployment.table_name(Kefir.table.name)
    role = f"arn:{deployment.partition}:iam::{deployment.account}:role/{table}-schedules-{deployment.region}"
    return (*roles(deployment).all(), scheduling(deployment, group=table, role_arn=role))


def alarms(deployment: Deployment) -> tuple[Alarm, ...]:
    """Return the alarms of the table."""
    return standard_alarms(Kefir.blueprint(), deployment)
