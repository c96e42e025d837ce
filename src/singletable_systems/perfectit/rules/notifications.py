"""Notifications of comments, votes and collections. Nobody is notified of their own actions.

A comment     the author of the card is told
A vote        the author of the card or comment is told, if it is for it: nobody is told of votes against
A collection  the author of a card that is put into it is told

The recipient, the id and the time of a notification come from the item that it is about. So making it is
idempotent, and it can be deleted when every other item is gone.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from singletable_systems.perfectit.model.entities import (
    NOTIFICATION_DAYS,
    CardInCollection,
    Comment,
    Notification,
    NotificationType,
    Vote,
)
from singletable_systems.perfectit.model.keys import NotificationId

Happened = Comment | Vote | CardInCollection


def notification_of(happened: Happened | None) -> Notification | None:
    """Return the notification of a comment, a vote or a place in a collection; None if nobody gets one."""
    match happened:
        case Comment():
            return _told(happened, "comment", happened.comment_id, happened.comment_id, happened.created_at)
        case Vote(value=1):  # one that was changed is still one vote
            identity = f"{happened.user_id}-{happened.target_id}"
            return _told(happened, "vote", identity, happened.target_id, happened.created_at)
        case CardInCollection():
            identity = f"{happened.collection_id}-{happened.card_id}"
            return _told(happened, "collected", identity, happened.collection_id, happened.added_at)
        case _:
            return None


def is_over(notification: Notification, now: datetime) -> bool:
    """Tell whether a notification would have expired by now."""
    return notification.created_at + timedelta(days=NOTIFICATION_DAYS) <= now


def _told(
    happened: Happened, kind: NotificationType, identity: str, target_id: str, at: datetime
) -> Notification | None:
    if happened.recipient_id is None or happened.recipient_id == happened.user_id:
        return None
    return Notification(
        notification_id=NotificationId(f"{kind}-{identity}"),
        user_id=happened.recipient_id,
        actor_id=happened.user_id,
        type=kind,
        card_id=happened.card_id,
        target_id=target_id,
        created_at=at,
    )
