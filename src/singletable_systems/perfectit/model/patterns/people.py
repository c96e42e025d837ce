"""Reading users, their notifications, and the figures of a day."""

from __future__ import annotations

from datetime import datetime

from singletable import (
    Get,
    Lookup,
    Query,
    pattern,
)
from singletable_systems.perfectit.model.entities import (
    DailyAnalytics,
    Notification,
    User,
)
from singletable_systems.perfectit.model.keys import (
    AnalyticsPK,
    NotificationId,
    NotificationSK,
    ProfileSK,
    TotalsSK,
    UnreadPK,
    UserId,
    UsernamePK,
    UserPK,
)


class PeoplePatterns:
    @pattern("1 Get user profile", consistent=True, documented="PK=USER#<userId>, SK=PROFILE")
    def user(self, user_id: UserId) -> Get[User]:
        return User.key.get(UserPK(user_id=user_id), ProfileSK())

    @pattern("2 Get user by username", documented="GSI1 PK=USERNAME#<username>")
    def user_by_username(self, username: str) -> Query[User]:
        return User.by_username.query(UsernamePK(username=username))

    @pattern("2b Get user by username, as it is now", fixes="PI-15")
    def user_named(self, username: str) -> Lookup[User]:
        return User.unique_username.get(UsernamePK(username=username))

    @pattern(
        "14 Get the analytics of a day",
        documented="GSI3: daily analytics",
        fixes="PI-23",
        samples={"day": "2025-01-01"},
    )
    def analytics(self, day: str) -> Get[DailyAnalytics]:
        return DailyAnalytics.key.get(AnalyticsPK(day=day), TotalsSK())

    @pattern("22 Get a user's notifications, newest first", fixes="PI-23")
    def notifications(self, user_id: UserId) -> Query[Notification]:
        return Notification.key.query(UserPK(user_id=user_id)).newest_first()

    @pattern("22b Get a user's unread notifications, newest first", fixes="PI-23")
    def unread(self, user_id: UserId) -> Query[Notification]:
        return Notification.unread.query(UnreadPK(user_id=user_id)).newest_first()

    @pattern("22c Get one notification", consistent=True, fixes="PI-23")
    def notification(
        self, user_id: UserId, created_at: datetime, notification_id: NotificationId
    ) -> Get[Notification]:
        return Notification.key.get(
            UserPK(user_id=user_id), NotificationSK(created_at=created_at, notification_id=notification_id)
        )
