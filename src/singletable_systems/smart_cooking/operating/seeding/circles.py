"""A circle: twelve people who cook, and have to do with nobody else.

The first circle is the oldest, the newest and the best, so that it leads every list: a small table is asked the
same questions as a large one, and gives the same answers. The other circles differ only in people and times.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import cache
from random import Random
from typing import Final

from singletable import Entity
from singletable_systems.smart_cooking.model.entities import Friendship, Notification
from singletable_systems.smart_cooking.operating.seeding.ingredients import pantry, reports
from singletable_systems.smart_cooking.operating.seeding.people import CIRCLE, Member, household, member
from singletable_systems.smart_cooking.operating.seeding.recipes import Cooked, public_recipes, ranking
from singletable_systems.smart_cooking.operating.seeding.society import Talk, friendships, talks
from singletable_systems.smart_cooking.operating.seeding.suggestions import private_recipes, suggestions
from singletable_systems.smart_cooking.rules.notifications import (
    News,
    of_approval,
    of_comment,
    of_comment_reaction,
    of_friendship,
    of_rating,
    of_reaction,
)


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


# --- notifications --------------------------------------------------------------------------------------


_UNREAD_OF: Final = 3


def notifications(
    members: Sequence[Member],
    friendships: Sequence[Friendship],
    cooked: Sequence[Cooked],
    talks: Sequence[Talk],
    now: datetime,
) -> Iterator[Notification]:
    """Return the notifications of what has happened in a circle; every third one is unread."""
    people = {member.user_id: member for member in members}
    friends = {(row.user_id, row.friend_id) for row in friendships if row.status == "accepted"}
    told = [news for news in _news(friendships, cooked, talks) if news.is_told(now)]
    for number, news in enumerate(told):
        by = None if news.by is None else people[news.by]
        shown = None if by is None or not _shows_name(by, is_friend=(news.to, by.user_id) in friends) else by
        notification = news.notification(None if shown is None else shown.profile.full_name)
        notification.is_read = number % _UNREAD_OF != 0
        yield notification


def _shows_name(member: Member, *, is_friend: bool) -> bool:
    return member.visibility == "public" or (member.visibility == "friends" and is_friend)


def _news(
    friendships: Sequence[Friendship], cooked: Sequence[Cooked], talks: Sequence[Talk]
) -> Iterator[News]:
    for row in friendships:
        yield from of_friendship(row)
    for each in cooked:
        yield from of_approval(each.recipe)
        for rating in each.ratings:
            yield from of_rating(rating, each.recipe)
    for talk in talks:
        for comment in talk.comments:
            yield from of_comment(comment, talk.post)
        for reaction in talk.reactions:
            yield from of_reaction(reaction, talk.post)
        for liked in talk.comment_reactions:
            yield from of_comment_reaction(liked)
