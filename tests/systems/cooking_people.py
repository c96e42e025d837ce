"""The people of Smart Cooking's tests, their ingredients with accents, and aliases that are names of others."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import date, timedelta
from typing import get_args

from singletable import Entity
from singletable_systems.smart_cooking.model.entities import (
    InvalidIngredient,
    InvalidIngredientReport,
    MasterIngredient,
    PrivacySettings,
    ReportStatus,
    Session,
    UserIngredient,
    UserPreferences,
    UserProfile,
    Visibility,
)
from singletable_systems.smart_cooking.model.keys import IngredientId, Role, SessionId
from systems.cooking_traps import COOKS, HEAVY_USER, NOW, SECOND, USERS, long_text, maybe, moment

VISIBILITIES: tuple[Visibility, ...] = get_args(Visibility)
CATEGORIES = ("meat", "meat2", "Meat", "vegetable")
# Of each ingredient: its name, its other names, and whether it is in use.
NAMES: list[tuple[str, list[str], bool]] = [
    ("Thịt gà", ["gà", "chicken", "thịt gà ta", "Gà"], True),
    ("Thịt gà ta!", ["gà"], True),
    ("Thịt", [], True),
    ("Đậu phụ", ["tofu", "đậu hũ"], True),
    ("Dâu", ["strawberry"], True),
    ("Tofu", [], True),  # also another name of Đậu phụ
    ("Gà tây", ["turkey", "ga"], False),
    ("Cà chua", ["tomato"], True),
    ("Cá", [], True),
    ("Hành tây", ["onion", "hành"], False),
]
MANY_NAMES = 64  # that begin alike, more than a search returns
UNKNOWN = ["abc xyz", "Abc-xyz 2", "Ớt Ma", "abc", "zz", "Phở?", "long"]


def make_people(chance: random.Random) -> Iterator[Entity]:
    yield from _users(chance)
    yield from _sessions(chance)
    yield from _ingredients(chance)
    yield from _pantries(chance)
    yield from _reports(chance)


def _users(chance: random.Random) -> Iterator[Entity]:
    roles: dict[str, Role] = {"ada2": "admin", "Ada": "admin", "åda": "admin"}
    for number, user_id in enumerate(USERS):
        yield UserProfile(
            user_id=user_id,
            email=f"{'Cook' if number % 2 else 'cook'}.{number}@Example.com",
            username=f"{'Chef' if number % 2 else 'chef'}{number}",
            full_name=f"Chef số {number}",
            date_of_birth=maybe(chance, date(1990, 1, 15)),
            gender=maybe(chance, "other"),
            country=maybe(chance, "Việt Nam"),
            avatar_url=maybe(chance, f"https://example.com/{number}.jpg"),
            role=roles.get(user_id, "user"),
            is_active=number % 3 != 2,
            created_at=moment(chance, [timedelta(days=400), timedelta(days=401)]),
            last_login=maybe(chance, NOW),
        )
    for number, user_id in enumerate(COOKS):
        allergies = ["tôm"] * (number % 2)
        yield UserPreferences(
            user_id=user_id, allergies=allergies, preferred_recipe_count=number, created_at=moment(chance)
        )
        if user_id != "ad":  # has set nothing
            visibility = VISIBILITIES[number % 3]
            yield PrivacySettings(user_id=user_id, profile_visibility=visibility, created_at=moment(chance))


def _sessions(chance: random.Random) -> Iterator[Session]:
    """Make sessions that end a second ago, now, in a second and tomorrow."""
    ends = [-SECOND, timedelta(0), SECOND, timedelta(hours=24)]
    for user_id in COOKS:
        for number, end in enumerate(ends):
            ttl = NOW + end
            yield Session(
                session_id=SessionId(f"s-{user_id}-{10**number}"),
                user_id=user_id,
                device=maybe(chance, "Pixel 9"),
                created_at=moment(chance, [timedelta(hours=23), timedelta(hours=24)]),
                ttl=ttl,
            )


def _ingredients(chance: random.Random) -> Iterator[MasterIngredient]:
    many = [(f"Nấm số {number}", [f"nam {number:02}"] * (number % 2), True) for number in range(MANY_NAMES)]
    for number, (name, aliases, is_active) in enumerate([*NAMES, *many]):
        yield MasterIngredient(
            ingredient_id=IngredientId(f"i{number}"),
            name=name,
            category=chance.choice(CATEGORIES),
            aliases=aliases,
            is_active=is_active,
            created_at=moment(chance),
        )


def _pantries(chance: random.Random) -> Iterator[UserIngredient]:
    for user_id in COOKS:
        for number, (name, _, _) in enumerate(NAMES):
            if user_id == HEAVY_USER or chance.random() < 0.6:
                yield UserIngredient(
                    user_id=user_id,
                    ingredient_id=maybe(chance, IngredientId(f"i{number}")),
                    ingredient_name=name,
                    added_at=moment(chance),
                )


def _reports(chance: random.Random) -> Iterator[Entity]:
    """Make names with so many reports that 9, 10 and 100 of them are there, and several of one moment."""
    statuses: tuple[ReportStatus, ...] = get_args(ReportStatus)
    for number, name in enumerate([*UNKNOWN, *(f"x{number}" for number in range(12))]):
        created_at = moment(chance, [timedelta(0), timedelta(days=1)])
        yield InvalidIngredient(
            ingredient_name=name,
            status="pending" if number < 4 else chance.choice(statuses),
            admin_notes=long_text(chance, 8_000) if name == "long" else "",
            created_at=created_at,
        )
        for user_id in COOKS[: number % 4]:
            yield InvalidIngredientReport(
                report_id=f"report-{number}-{user_id}",
                ingredient_name=name,
                user_id=user_id,
                user_report_count=chance.choice([1, 4, 5, 9, 10, 95]),
                created_at=moment(chance),
            )
