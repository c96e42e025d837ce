"""How Kefir is operated on AWS: who may do what, and what wakes somebody up. The document has nothing: KF-23."""

from __future__ import annotations

from singletable.operations import Alarm, Deployment, Roles, roles_of, standard_alarms
from singletable_systems.kefir.design import Kefir


def roles(deployment: Deployment) -> Roles:
    """Return who may do what: the app reads or writes, the function follows the stream, a person maintains."""
    return roles_of(Kefir.blueprint(), deployment)


def alarms(deployment: Deployment) -> tuple[Alarm, ...]:
    """Return the alarms of the table."""
    return standard_alarms(Kefir.blueprint(), deployment)
