"""Notifications: read, one or all. What makes them are the handlers of the design."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from singletable.errors import NotFoundError
from singletable_systems.smart_cooking.design import SmartCooking
from singletable_systems.smart_cooking.entities import Notification
from singletable_systems.smart_cooking.errors import NotificationNotFoundError
from singletable_systems.smart_cooking.inputs import checked
from singletable_systems.smart_cooking.keys import UserId

COUNTED_MAX: Final = 100
_AT_ONCE: Final = 100


@checked
class Notifications:
    """What users do with what they are told. Those that are read leave the index of unread ones (SC-30)."""

    def __init__(self, db: SmartCooking) -> None:
        self._db = db

    def mark_read(self, user_id: UserId, notification: Notification) -> Notification:
        """Say that one's own notification is read. To say so twice does no harm."""
        try:
            return self._mark(user_id, notification)
        except NotFoundError as error:
            raise NotificationNotFoundError(notification.notification_id) from error

    def mark_all_read(self, user_id: UserId) -> int:
        """Say that everything is read that there is now; tell how much that was.

        It goes page by page from the newest down, so what comes meanwhile stays unread, and it ends.
        """
        done, cursor = 0, None
        while True:
            page = self._db.unread(user_id).page(_AT_ONCE, cursor)
            for notification in page:
                with suppress(NotFoundError):  # its time was over meanwhile
                    self._mark(user_id, notification)
                    done += 1
            cursor = page.cursor
            if cursor is None:
                return done

    def unread_count(self, user_id: UserId) -> int:
        """Count unread notifications, up to a hundred: that means a hundred or more."""
        return len(self._db.unread(user_id).page(COUNTED_MAX))

    def _mark(self, user_id: UserId, notification: Notification) -> Notification:
        stored = self._db.notification(user_id, notification.created_at, notification.notification_id)
        return self._db.update(stored, is_read=True).entity
