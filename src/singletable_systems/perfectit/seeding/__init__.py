"""Made-up data: people who share how to do things perfectly, with their cards, votes, comments and collections.

All of it is a function of the size and the day, and nothing else. It is made as it is asked for, a circle of users
after the other: a large amount takes no more memory than a small one, and begins with the small one.

people.py     users
subjects.py   what cards are about, and the categories
circles.py    twelve users with all that they have done
days.py       how much was done on each day
samples.py    what can be asked of it
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from singletable import Entity
from singletable.systems import Seed, Size
from singletable_systems.perfectit.seeding.circles import FIRST_DAYS, cards_by_category, circle, entity_count
from singletable_systems.perfectit.seeding.days import COUNTED_DAYS, Days
from singletable_systems.perfectit.seeding.subjects import categories

CIRCLE_COUNTS: Final[dict[Size, int]] = {"small": 1, "large": 321}


def seed(size: Size, day: date) -> Seed:
    """Make up data of a size, as of the beginning of a day."""
    now = datetime.combine(day, time(), UTC)
    circles = CIRCLE_COUNTS[size]
    count = len(categories(now, {})) + sum(map(entity_count, range(circles))) + COUNTED_DAYS
    return Seed(count, _entities(circles, now), is_settled=True)


def _entities(circles: int, now: datetime) -> Iterator[Entity]:
    days = Days(now.date())
    cards = {category: circles * count for category, count in cards_by_category().items()}
    for number in range(circles):
        for entity in circle(number, now):
            days.count(entity)
            yield entity
        if number == 0:
            yield from categories(now - timedelta(days=1200), cards)
            yield from days.take(FIRST_DAYS)
    yield from days.take()
