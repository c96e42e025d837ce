"""Kefir on AWS Lambda: what its handlers and its dispatcher use there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import datetime

from singletable.systems import Worker
from singletable_systems.kefir.reactions.handlers import Kefir
from singletable_systems.kefir.services.dispatcher import workers
from singletable_systems.kefir.services.push import ExpoPush


class PollingScheduler:
    """Makes no schedules: the dispatcher looks every minute, and no schedule is more exact than that.

    `EventBridgeScheduler` is for a deployment whose dispatcher looks less often.
    """

    def schedule(self, name: str, at: datetime, payload: Mapping[str, str]) -> str:
        """Return no ARN: there is no schedule."""
        return ""

    def cancel(self, name: str) -> None:
        """Do nothing."""


def prepare(db: Kefir) -> None:
    """Give an open design what its handlers use on Lambda."""
    db.scheduler = PollingScheduler()


def dispatcher(db: Kefir) -> Worker:
    """Return the dispatcher as a schedule runs it: it sends by Expo, with a token where the app asks for one."""
    (worker,) = workers(db, ExpoPush(access_token=os.environ.get("KEFIR_EXPO_ACCESS_TOKEN")))
    return worker
