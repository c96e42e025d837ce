"""How PerfectIt is operated on AWS: who may do what, what wakes somebody up. The document has nothing: PI-28."""

from __future__ import annotations

from singletable.stack import Alarm, Deployment, Roles, roles_of, standard_alarms
from singletable_systems.perfectit.reactions.handlers import PerfectIt


def roles(deployment: Deployment) -> Roles:
    """Return who may do what: the app reads or writes, the function follows the stream, a person maintains."""
    return roles_of(PerfectIt.blueprint(), deployment)


def alarms(deployment: Deployment) -> tuple[Alarm, ...]:
    """Return the alarms of the table."""
    return standard_alarms(PerfectIt.blueprint(), deployment)
