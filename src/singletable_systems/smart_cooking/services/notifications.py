"""Notifications are marked as read, one or all. The handlers of the design create them."""

from __future__ import annotations

from functools import partial
from typing import Final

from singletable import Get
from singletable_systems.shared.services import mark_all_read, mark_read
from singletable_systems.smart_cooking.errors import NotificationNotFoundError
from singletable_systems.smart_cooking.model.entities import Notification
from singletable_systems.smart_cooking.model.keys import UserId
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking
from singletable_systems.smart_cooking.services.inputs import checked

COUNTED_MAX: Final = 100


@checked
class Notifications:
    """Marks notifications as read. Those leave the sparse index of unread ones (SC-30)."""

    def __init__(self, db: SmartCooking) -> None:
        self._db = db

    def mark_read(self, user_id: UserId, notification: Notification) -> Notification:
        """Mark one's own notification as read. It is idempotent."""
        refusal = NotificationNotFoundError(notification.notification_id)
        return mark_read(self._db, self._stored(user_id, notification), refusal)

    def mark_all_read(self, user_id: UserId) -> int:
        """Mark all notifications of a user as read; return how many that were."""
        return mark_all_read(self._db, self._db.unread(user_id), partial(self._stored, user_id))

    def unread_count(self, user_id: UserId) -> int:
        """Count unread notifications, up to a hundred: that means a hundred or more."""
        return len(self._db.unread(user_id).page(COUNTED_MAX))

    def _stored(self, user_id: UserId, notification: Notification) -> Get[Notification]:
        return self._db.notification(user_id, notification.created_at, notification.notification_id)
