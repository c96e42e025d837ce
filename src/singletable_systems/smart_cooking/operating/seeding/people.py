"""People, in circles of twelve who know each other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from random import Random
from typing import Any, Final

from singletable import Entity
from singletable_systems.smart_cooking.model.entities import (
    Gender,
    PrivacySettings,
    Session,
    UserPreferences,
    UserProfile,
    Visibility,
)
from singletable_systems.smart_cooking.model.keys import SessionId, UserId
from singletable_systems.smart_cooking.rules.fan_out import spread_for

CIRCLE: Final = 12
FRIENDS: Final = 5
_ADMINS: Final = (0, 10)
_FIRST: Final = ("mai", "an", "binh", "chi", "duc", "giang", "hoa", "john", "khanh", "lan", "minh", "thao")
_NAMES: Final[tuple[tuple[str, Gender, str], ...]] = (
    ("Trần Thị Mai", "female", "Vietnam"),
    ("Nguyễn Văn An", "male", "Vietnam"),
    ("Lê Bình", "other", "Vietnam"),
    ("Phạm Linh Chi", "female", "Vietnam"),
    ("Hoàng Đức", "male", "Germany"),
    ("Vũ Giang", "female", "Vietnam"),
    ("Đặng Quỳnh Hoa", "female", "Vietnam"),
    ("John Doe", "male", "Vietnam"),
    ("Bùi Khánh", "male", "France"),
    ("Đỗ Ngọc Lan", "female", "Vietnam"),
    ("Hồ Minh", "male", "United States"),
    ("Ngô Phương Thảo", "female", "Vietnam"),
)
_DEVICES: Final = ("iPhone", "Android", "Firefox on Linux")


@dataclass(frozen=True, slots=True)
class Member:
    """Somebody in a circle."""

    number: int
    profile: UserProfile

    @property
    def place(self) -> int:
        """Return which one of the circle it is."""
        return self.number % CIRCLE

    @property
    def user_id(self) -> UserId:
        return self.profile.user_id

    @property
    def visibility(self) -> Visibility:
        """Return who sees the profile, and what was cooked."""
        if self.place == 7:
            return "private"
        return "friends" if self.place % 4 == 1 else "public"


def user_id(number: int) -> UserId:
    """Return the id of a user: a name for the first ones, u00042 for the others."""
    return UserId(_FIRST[number] if number < CIRCLE else f"u{number:05}")


def member(number: int, chance: Random, now: datetime) -> Member:
    """Make up somebody. The first twelve were there before all others."""
    identity = user_id(number)
    days = 1200 if number < CIRCLE else 800 + number % 100
    created_at = now - timedelta(days=days, minutes=number % 1000)
    username = identity if number < CIRCLE else f"{_FIRST[number % CIRCLE]}.{number}"
    full_name, gender, country = _NAMES[number % CIRCLE]
    profile = UserProfile(
        user_id=identity,
        email=f"{username}@example.com",
        username=username,
        full_name=full_name,
        date_of_birth=date(1960 + chance.randrange(48), 1 + chance.randrange(12), 1 + chance.randrange(28)),
        gender=gender,
        country=country,
        avatar_url=f"https://images.example.com/people/{identity}.jpg",
        role="admin" if number in _ADMINS else "user",
        friends_count=FRIENDS,
        feeds_by=spread_for(FRIENDS, "writing"),
        created_at=created_at,
        updated_at=created_at,
        last_login=now - timedelta(hours=1 + number % CIRCLE),
    )
    return Member(number, profile)


def household(member: Member, now: datetime) -> Iterator[Entity]:
    """Make up what belongs to somebody's account; every third one is signed in."""
    profile, place = member.profile, member.place
    times: dict[str, Any] = {"created_at": profile.created_at, "updated_at": profile.created_at}
    yield profile
    yield UserPreferences(
        user_id=profile.user_id,
        dietary_restrictions=["vegetarian"] if place % 6 == 4 else [],
        allergies=["shrimp", "crab"] if place % 5 == 2 else [],
        favorite_cuisines=["Vietnamese", "Italian"] if place % 2 == 0 else ["Vietnamese", "Thai"],
        preferred_cooking_methods=["stir-fry", "steam", "soup"],
        spice_level="hot" if place % 3 == 0 else "medium",
        **times,
    )
    yield PrivacySettings(user_id=profile.user_id, profile_visibility=member.visibility, **times)
    if place % 3 == 0:
        yield Session(
            session_id=SessionId(f"s{member.number:06}"),
            user_id=profile.user_id,
            device=_DEVICES[place // 3 % len(_DEVICES)],
            created_at=now - timedelta(seconds=5 * (1 + place)),  # so that it lasts until the day is over
        )
