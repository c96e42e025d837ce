"""Reading users: profiles, preferences, privacy, sessions."""

from __future__ import annotations

from singletable import BatchGet, Get, Lookup, Query, pattern
from singletable_systems.smart_cooking.model.entities import (
    PrivacySettings,
    Session,
    UserPreferences,
    UserProfile,
)
from singletable_systems.smart_cooking.model.keys import (
    EmailPK,
    MetadataSK,
    PreferencesSK,
    PrivacySK,
    ProfileSK,
    RolePK,
    SessionId,
    SessionPK,
    UserId,
    UsernamePK,
    UserPK,
)


class PeoplePatterns:
    @pattern("1 Get user by ID", consistent=True, documented="PK=USER#<id>, SK=PROFILE", fixes="SC-44")
    def user(self, user_id: UserId) -> Get[UserProfile]:
        return UserProfile.key.get(UserPK(user_id=user_id), ProfileSK())

    @pattern("2 List all admins", documented="GSI1PK=ROLE#admin", fixes="SC-03")
    def admins(self) -> Query[UserProfile]:
        return UserProfile.by_role.query(RolePK(role="admin"))

    @pattern("3 Get preferences", documented="PK=USER#<id>, SK=PREFERENCES")
    def preferences(self, user_id: UserId) -> Get[UserPreferences]:
        return UserPreferences.key.get(UserPK(user_id=user_id), PreferencesSK())

    @pattern("4 Get privacy settings", consistent=True, documented="PK=USER#<id>, SK=PRIVACY")
    def privacy(self, user_id: UserId) -> Get[PrivacySettings]:
        """What was set last: who has just hidden something must not be shown."""
        return PrivacySettings.key.get(UserPK(user_id=user_id), PrivacySK())

    @pattern("43 Get user by email", fixes="SC-39")
    def user_by_email(self, email: str) -> Lookup[UserProfile]:
        return UserProfile.unique_email.get(EmailPK(email=email))

    @pattern("44 Get user by username", fixes="SC-39")
    def user_by_username(self, username: str) -> Lookup[UserProfile]:
        return UserProfile.unique_username.get(UsernamePK(username=username))

    @pattern("45 Get several users")
    def users(self, user_ids: list[UserId]) -> BatchGet[UserProfile]:
        return UserProfile.key.batch_get([(UserPK(user_id=each), ProfileSK()) for each in user_ids])

    @pattern("45b Get the privacy settings of several users", consistent=True, fixes="SC-40")
    def privacy_of(self, user_ids: list[UserId]) -> BatchGet[PrivacySettings]:
        return PrivacySettings.key.batch_get([(UserPK(user_id=each), PrivacySK()) for each in user_ids])

    @pattern("46 Get session", consistent=True, fixes="SC-28")
    def sign_in(self, session_id: SessionId) -> Get[Session]:
        """A session that has not run out: after a day it is not there, also while its item still is."""
        return Session.key.get(SessionPK(session_id=session_id), MetadataSK())

    @pattern("47 List a user's sessions", fixes="SC-28")
    def sign_ins(self, user_id: UserId) -> Query[Session]:
        return Session.by_user.query(UserPK(user_id=user_id))
