"""How Kefir is operated on AWS: who may do what, and what wakes somebody up. The document has nothing: KF-23."""

from __future__ import annotations

from singletable.operations import (
    Alarm,
    Deployment,
    Policy,
    Roles,
    Statement,
    roles_of,
    standard_alarms,
)
from singletable_systems.kefir.design import Kefir


def roles(deployment: Deployment) -> Roles:
    """Return who may do what: the app reads or writes, the function follows the stream, a person maintains."""
    return roles_of(Kefir.blueprint(), deployment)


def scheduling(deployment: Deployment, *, group: str, role_arn: str) -> Policy:
    """Return what the function behind the stream needs besides, where EventBridge keeps the schedules (KF-26).

    The role is the one that schedules run with: who makes a schedule hands it on.
    """
    place = f"arn:{deployment.partition}:scheduler:{deployment.region}:{deployment.account}"
    actions = ("scheduler:CreateSchedule", "scheduler:UpdateSchedule", "scheduler:DeleteSchedule")
    return Policy(
        f"{group}-scheduling",
        (
            Statement("KeepSchedules", actions, (f"{place}:schedule/{group}/*",)),
            Statement("HandOnRole", ("iam:PassRole",), (role_arn,)),
        ),
    )


def alarms(deployment: Deployment) -> tuple[Alarm, ...]:
    """Return the alarms of the table."""
    return standard_alarms(Kefir.blueprint(), deployment)
