"""Notifications: users read them and mark them as read."""

from __future__ import annotations

from datetime import datetime

from singletable_systems.perfectit.errors import NotificationNotFoundError
from singletable_systems.perfectit.model.entities import Notification
from singletable_systems.perfectit.model.keys import NotificationId, UserId
from singletable_systems.perfectit.reactions.handlers import PerfectIt
from singletable_systems.shared.services import mark_all_read, mark_read


class Notifications:
    """Marks notifications as read. Those leave the sparse index of unread ones."""

    def __init__(self, db: PerfectIt) -> None:
        self._db = db

    def read(self, user_id: UserId, created_at: datetime, notification_id: NotificationId) -> Notification:
        """Mark one as read."""
        stored = self._db.notification(user_id, created_at, notification_id)
        return mark_read(self._db, stored, NotificationNotFoundError(notification_id))

    def read_all(self, user_id: UserId) -> int:
        """Mark all as read; return how many that were."""
        return mark_all_read(
            self._db,
            self._db.unread(user_id),
            lambda each: self._db.notification(user_id, each.created_at, each.notification_id),
        )
