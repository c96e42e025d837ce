"""Notifications: what users do with what they are told."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime

from singletable.errors import NotFoundError
from singletable_systems.perfectit.design import PerfectIt
from singletable_systems.perfectit.entities import Notification
from singletable_systems.perfectit.errors import NotificationNotFoundError
from singletable_systems.perfectit.keys import NotificationId, UserId


class Notifications:
    """What a user has read. What is read leaves the index of unread ones."""

    def __init__(self, db: PerfectIt) -> None:
        self._db = db

    def read(self, user_id: UserId, created_at: datetime, notification_id: NotificationId) -> Notification:
        """Mark one as read."""
        notification = self._db.notification(user_id, created_at, notification_id)
        try:
            return self._db.update(notification, is_read=True).entity
        except NotFoundError as error:
            raise NotificationNotFoundError(notification_id) from error

    def read_all(self, user_id: UserId) -> int:
        """Mark all as read; return how many that were."""
        count = 0
        for each in self._db.unread(user_id).all():
            with suppress(NotFoundError):
                self._db.update(
                    self._db.notification(user_id, each.created_at, each.notification_id), is_read=True
                )
                count += 1
        return count
