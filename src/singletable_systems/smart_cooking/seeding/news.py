"""What people were told in the last days: what the consumer would have told them, some of it read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from singletable_systems.smart_cooking.entities import Friendship, Notification
from singletable_systems.smart_cooking.notifying import (
    News,
    of_approval,
    of_comment,
    of_comment_reaction,
    of_friendship,
    of_rating,
    of_reaction,
)
from singletable_systems.smart_cooking.seeding.people import Member
from singletable_systems.smart_cooking.seeding.recipes import Cooked
from singletable_systems.smart_cooking.seeding.society import Talk

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
