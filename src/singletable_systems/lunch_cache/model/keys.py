"""The table of Lunch Cache and its keys. A menu is one item: the table has no sort key."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Final
from unicodedata import combining, normalize

from pydantic import Field

from singletable import Index, Key, SortKey, Table

_LETTERS: Final = "a-zåäöéü0-9"
_OTHERS: Final = re.compile(f"[^{_LETTERS}]+")
_NEIGHBOURS: Final = str.maketrans({"æ": "ä", "ø": "ö"})


def slug(name: str) -> str:
    """Return the name of a restaurant as keys hold it: `La Cantina` is `la-cantina` (LC-21)."""
    letters = normalize("NFC", name.casefold()).translate(_NEIGHBOURS)
    return _OTHERS.sub("-", "".join(map(_plain, letters))).strip("-")


def _plain(letter: str) -> str:
    """Return a letter that keys may hold, and without its accent one that they may not."""
    if not _OTHERS.match(letter):
        return letter
    return "" if combining(letter) else normalize("NFKD", letter)[0]


# LC-04: lower case, and hyphens only between words, so that a key can be read from its end: la-cantina-2025-03.
Restaurant = Annotated[
    str,
    Field(
        pattern=f"^[{_LETTERS}]+(-[{_LETTERS}]+)*$",
        max_length=100,
        description="lower case letters and digits, with hyphens between words, as la-cantina",
    ),
]
# LC-02: the year that ISO 8601 counts weeks in. 2024-12-30 is in week 1 of 2025.
IsoYear = Annotated[int, Field(ge=2000, le=9999)]
IsoWeek = Annotated[int, Field(ge=1, le=53)]


class LunchTable(Table):
    """One table for each environment."""

    name = "lunch-cache-{environment}"
    pk = "pk"
    sk = None
    encryption = "AWS_MANAGED"  # 004:163
    pitr_days = 35  # 004:152
    stream = None  # nothing follows from a change
    restaurants = Index("RestaurantIndex", pk="restaurant", sk="cachedAt")


class MenuPK(Key, template="{restaurant}-{year}-{week:02}"):
    """LC-03: the week has two digits, as in the document's example."""

    restaurant: Restaurant
    year: IsoYear
    week: IsoWeek


class HealthPK(Key, template="HEALTH#{probe:020}"):
    """Added, LC-13: the item that a health check writes. No restaurant has such a key, and it is in no index."""

    probe: int


class RestaurantPK(Key, template="{restaurant}"):
    restaurant: Restaurant


class CachedSK(SortKey, template="{cached_at}"):
    cached_at: datetime
