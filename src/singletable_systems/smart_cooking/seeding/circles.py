"""A circle: twelve people who cook, and have to do with nobody else.

The first circle is the oldest, the newest and the best, so that it leads every list: a small table is asked the
same questions as a large one, and gives the same answers. The others are alike, but for who they are and when.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from functools import cache
from random import Random

from singletable import Entity
from singletable_systems.smart_cooking.seeding.ingredients import pantry, reports
from singletable_systems.smart_cooking.seeding.news import notifications
from singletable_systems.smart_cooking.seeding.people import CIRCLE, household, member
from singletable_systems.smart_cooking.seeding.recipes import public_recipes, ranking
from singletable_systems.smart_cooking.seeding.society import friendships, talks
from singletable_systems.smart_cooking.seeding.suggestions import private_recipes, suggestions


def circle(number: int, now: datetime) -> Iterator[Entity]:
    """Make up a circle: its people, and all that they have done until now."""
    chance = Random(f"smart cooking {number}")
    members = [member(number * CIRCLE + place, chance, now) for place in range(CIRCLE)]
    for each in members:
        yield from household(each, now)
        yield from pantry(each, now)
    friends = list(friendships(members, now))
    yield from friends
    cooked = public_recipes(number, members, chance, now)
    for recipe in cooked:
        yield from recipe.entities()
    yield from private_recipes(number, members, now)
    yield from suggestions(number, members, now)
    yield from reports(number, members, now)
    said = talks(number, members, chance, now)
    for talk in said:
        yield from talk.entities()
    yield from notifications(members, friends, cooked, said, now)
    yield from ranking(cooked, now)


@cache
def entity_count(number: int, now: datetime) -> int:
    """Return how many entities a circle has. All but the first have as many."""
    return sum(1 for _ in circle(number, now))
