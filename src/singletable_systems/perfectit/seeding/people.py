"""Users, in circles of twelve who know each other."""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random
from typing import Final

from singletable_systems.perfectit.entities import User
from singletable_systems.perfectit.keys import UserId

CIRCLE: Final = 12
_FIRST: Final = ("ada", "bo", "cleo", "dev", "elin", "femi", "greta", "hana", "ivo", "jana", "kofi", "lena")
_NAMES: Final = (
    "Ada Ekström",
    "Bo Carver",
    "Cleo Marin",
    "Dev Anand",
    "Elin Vik",
    "Femi Ade",
    "Greta Holz",
    "Hana Sato",
    "Ivo Novak",
    "Jana Kral",
    "Kofi Mensah",
    "Lena Roth",
)
_TRADES: Final = ("Joiner", "Home cook", "Potter", "Gardener", "Bike mechanic", "Tailor", "Baker", "Painter")


def user_id(number: int) -> UserId:
    """Return the id of a user: a name for the first ones, u00042 for the others."""
    return UserId(_FIRST[number] if number < CIRCLE else f"u{number:05}")


def user(number: int, chance: Random, now: datetime) -> User:
    """Make up the user of a number."""
    identity = user_id(number)
    created_at = now - timedelta(days=800 + number % 200, minutes=chance.randrange(1440))
    return User(
        user_id=identity,
        username=identity if number < CIRCLE else f"{_FIRST[number % CIRCLE]}.{number}",
        display_name=_NAMES[number % CIRCLE],
        bio=f"{chance.choice(_TRADES)} for {chance.randrange(2, 30)} years.",
        avatar_url=f"https://images.example.com/people/{identity}.jpg",
        created_at=created_at,
        updated_at=created_at,
    )
