"""What each access pattern can be asked in made-up data of any size: about the first circle, and about all."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta

from singletable import Entity
from singletable.systems import Samples
from singletable_systems.perfectit.entities import Comment, Notification, PerfectionCard, User, Vote
from singletable_systems.perfectit.keys import CardId, CategoryId, CollectionId
from singletable_systems.perfectit.seeding.circles import circle


def samples(day: date) -> Samples:
    """Return the arguments of each pattern."""
    now = datetime.combine(day, time(), UTC)
    made = list(circle(0, now))
    user = next(each for each in made if isinstance(each, User))
    card = next(each for each in made if isinstance(each, PerfectionCard))
    comment = next(each for each in made if isinstance(each, Comment))
    vote = next(each for each in made if isinstance(each, Vote))
    told = next(each for each in made if isinstance(each, Notification))
    collection = CollectionId("s000000")
    its_card = {"card_id": card.card_id}
    its_user = {"user_id": user.user_id}
    its_collection = {"collection_id": collection}
    return {
        "user": its_user,
        "user_by_username": {"username": user.username},
        "user_named": {"username": user.username},
        "cards_by_category": {"category": CategoryId("woodworking")},
        "cards_by_author": its_user,
        "own_cards": its_user,
        "card": its_card,
        "card_view": its_card,
        "stats": its_card,
        "cards": {"card_ids": [card.card_id, comment.card_id]},
        "comments": its_card,
        "comment": {
            "card_id": comment.card_id,
            "created_at": comment.created_at,
            "comment_id": comment.comment_id,
        },
        "comments_by": its_user,
        "collections": its_user,
        "own_collection": {**its_user, **its_collection},
        "collection_cards": its_collection,
        "collection_links": its_collection,
        "collection_link": {**its_collection, "card_id": _card_at(made, 1)},
        "collection": its_collection,
        "collections_with": {"card_id": _card_at(made, 1)},
        "vote": {"user_id": vote.user_id, "target_id": vote.target_id},
        "voters": {"target_id": vote.target_id},
        "votes_by": its_user,
        "trending": {},
        "top_voted": {},
        "controversial": {},
        "ranking": {"kind": "CARD"},
        "recent": {"now": now},
        "cards_with_word": {"word": "oak"},
        "cards_of_word": {"word": "oak"},
        "categories_below": {"parent_id": CategoryId("crafts")},
        "root_categories": {},
        "category": {"category_id": CategoryId("woodworking")},
        "analytics": {"day": (day - timedelta(days=1)).isoformat()},
        "notifications": {"user_id": told.user_id},
        "unread": {"user_id": told.user_id},
        "notification": {
            "user_id": told.user_id,
            "created_at": told.created_at,
            "notification_id": told.notification_id,
        },
    }


def _card_at(made: list[Entity], place: int) -> CardId:
    """Return the id of the card at a place."""
    cards = [each.card_id for each in made if isinstance(each, PerfectionCard)]
    return cards[place]
