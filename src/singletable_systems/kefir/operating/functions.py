"""Kefir on AWS Lambda: what its handlers and its dispatcher use there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import datetime
from typing import Final

from singletable.systems import Worker
from singletable_systems.kefir.reactions.handlers import Kefir
from singletable_systems.kefir.reactions.schedules import EventBridgeScheduler
from singletable_systems.kefir.services.dispatcher import workers
from singletable_systems.kefir.services.push import ExpoPush

DISPATCHER: Final = "kefir-dispatcher"
SCHEDULE_GROUP: Final = "KEFIR_SCHEDULE_GROUP"
SCHEDULE_TARGET: Final = "KEFIR_SCHEDULE_TARGET"
SCHEDULE_ROLE: Final = "KEFIR_SCHEDULE_ROLE"


class PollingScheduler:
    """Makes no schedules, where nothing says in which group: the dispatcher looks every minute."""

    def schedule(self, name: str, at: datetime, payload: Mapping[str, str]) -> str:
        """Return no ARN: there is no schedule."""
        return ""

    def cancel(self, name: str) -> None:
        """Do nothing."""


class WakingScheduler(EventBridgeScheduler):
    """Schedules that wake the dispatcher among the workers of a function, which then sends all that is due."""

    def schedule(self, name: str, at: datetime, payload: Mapping[str, str]) -> str:
        """Create or update a schedule whose event names the worker."""
        return super().schedule(name, at, {**payload, "worker": DISPATCHER})


def prepare(db: Kefir) -> None:
    """Give an open design what its handlers use on Lambda: schedules in the group that the environment names."""
    group = os.environ.get(SCHEDULE_GROUP)
    if not group:
        db.scheduler = PollingScheduler()
        return
    import boto3  # of Lambda's runtime

    db.scheduler = WakingScheduler(
        boto3.client("scheduler"),
        group=group,
        target_arn=os.environ[SCHEDULE_TARGET],
        role_arn=os.environ[SCHEDULE_ROLE],
    )


def dispatcher(db: Kefir) -> Worker:
    """Return the dispatcher as a schedule runs it: it sends by Expo, with a token where the app asks for one."""
    (worker,) = workers(db, ExpoPush(access_token=os.environ.get("KEFIR_EXPO_ACCESS_TOKEN")))
    return worker
