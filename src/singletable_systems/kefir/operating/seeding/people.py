"""Users of several countries, and their devices."""

from __future__ import annotations

import string
import unicodedata
from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Final

from singletable_systems.kefir.model.entities import Device, DeviceInfo, Platform, Preferences, User
from singletable_systems.kefir.model.keys import DeviceId, UserId

_FIRST_USERS: Final = (
    ("ada", "Ada Lindqvist", "se"),
    ("bo", "Bo Ångström", "se"),
    ("chidi", "Chidi Okafor", "ng"),
    ("dora", "Dóra Szabó", "hu"),
    ("emre", "Emre Aydan", "tr"),
    ("fen", "Fen Xiaoli", "cn"),
    ("gita", "Gita Rao", "in"),
    ("hugo", "Hugo Marchand", "fr"),
    ("ines", "Inês Prado", "pt"),
    ("jun", "Jun Tanaka", "jp"),
    ("kaya", "Kaya Brandt", "de"),
    ("lupe", "Lupe Hernández", "mx"),
)
FIRST_USER: Final = UserId(_FIRST_USERS[0][0])
# Users of every size. They lead the lists of all users, so the first page of such a list is the same in every
# size.
KNOWN_USERS: Final = frozenset(UserId(user_id) for user_id, _, _ in _FIRST_USERS)
# For the others: first names and last names of a country.
_NAMES: Final = (
    ("se", "Astrid Björn Elsa Göran Maja Nils Saga Åke", "Berg Holm Lund Nyström Sjöberg Wik"),
    ("no", "Eirik Ingrid Kari Lars Solveig Tor", "Bakken Dahl Haugen Moen Strand"),
    ("de", "Anke Bernd Frieda Jürgen Mila Uwe", "Baumann Krüger Lorenz Seidel Vogt"),
    ("fr", "Chloé Étienne Léa Mathis Zoé Rémi", "Bonnet Dupuis Lefèvre Moreau Roux"),
    ("es", "Álvaro Carmen Íñigo Lucía Nuria Pau", "Castro Ibáñez Molina Peña Vidal"),
    ("ng", "Adaeze Bola Emeka Ngozi Tunde Yemi", "Adeyemi Balogun Eze Nwosu Okoye"),
    ("mx", "Beto Citlali Itzel Memo Rocío Xóchitl", "Cruz Flores Luna Méndez Ríos"),
    ("jp", "Aiko Daichi Haruka Kenta Mei Sora", "Endo Hayashi Kondo Mori Ueda"),
)
_DEVICES: Final[tuple[tuple[Platform, str, str], ...]] = (
    ("ios", "iPhone 15", "18.1"),
    ("android", "Pixel 8", "15"),
    ("web", "Firefox", "132.0"),
    ("ios", "iPad Air", "17.6"),
    ("android", "Galaxy S23", "14"),
    ("ios", "iPhone SE", "17.5"),
)
_DEVICE_COUNTS: Final = (3, 4, 3, 2)
_APP_VERSIONS: Final = ("2.3.0", "2.4.0", "2.4.1")
_TOKEN_LETTERS: Final = string.ascii_letters + string.digits
_SILENT_EVERY: Final = 6  # of so many users one wants no notifications


def user(number: int, chance: Random, now: datetime) -> User:
    """Make up the user of a number: a known name for the first ones, u00042 and a made-up name for the others."""
    user_id, name, country = _FIRST_USERS[number] if number < len(_FIRST_USERS) else _made_up(number, chance)
    # Somebody has an account for longer than any batch, and changes little in it.
    created_at = now - timedelta(days=400 + number % 300, minutes=chance.randrange(1440))
    return User(
        user_id=UserId(user_id),
        email=f"{_ascii(name)}{number if number >= len(_FIRST_USERS) else ''}@post.{country}.example",
        name=name,
        created_at=created_at,
        updated_at=created_at + timedelta(days=chance.randrange(1, 300)),
        preferences=Preferences(
            notifications_enabled=number % _SILENT_EVERY != _SILENT_EVERY - 1,
            default_temperature_c=Decimal(chance.randint(36, 56)) / 2,
        ),
        version=2,
    )


def device_count(number: int) -> int:
    """Return how many devices the user of a number has."""
    return _DEVICE_COUNTS[number % len(_DEVICE_COUNTS)]


def devices(owner: User, number: int, chance: Random, now: datetime) -> Iterator[Device]:
    """Make up the devices of a user."""
    for place in range(device_count(number)):
        platform, model, os_version = _DEVICES[(number + place) % len(_DEVICES)]
        last_seen_at = now - timedelta(days=chance.randrange(60), seconds=chance.randrange(1, 80_000))
        yield Device(
            device_id=DeviceId(f"{owner.user_id}-{platform}-{place + 1}"),
            user_id=owner.user_id,
            platform=platform,
            push_token=f"ExponentPushToken[{''.join(chance.choices(_TOKEN_LETTERS, k=22))}]",
            device_info=DeviceInfo(
                model=model, os_version=os_version, app_version=chance.choice(_APP_VERSIONS)
            ),
            created_at=last_seen_at - timedelta(days=chance.randrange(1, 300)),
            last_seen_at=last_seen_at,
        )


def _made_up(number: int, chance: Random) -> tuple[str, str, str]:
    country, first, last = _NAMES[number % len(_NAMES)]
    return f"u{number:05}", f"{chance.choice(first.split())} {chance.choice(last.split())}", country


def _ascii(name: str) -> str:
    """Write a name as mail addresses do: Dóra Szabó is dora.szabo."""
    plain = unicodedata.normalize("NFKD", name.casefold())
    return "".join(letter for letter in plain if letter.isascii()).replace(" ", ".")
