"""The patterns of PerfectIt answered in plain Python, over the list of everything: slow, and plainly right.

Each method has the name and the parameters of the pattern that it answers.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from singletable_systems.perfectit.model.entities import (
    CardInCollection,
    CardScore,
    CardStats,
    Category,
    Collection,
    Comment,
    DailyAnalytics,
    Notification,
    PerfectionCard,
    SearchToken,
    User,
    Vote,
)
from singletable_systems.perfectit.model.patterns import CardView
from systems.brute_force import AnyBruteForce, in_order, milliseconds
from systems.perfectit_settling import LETTERS_MAX, plain_words

TRENDING_MAX = 20


class _People(AnyBruteForce):
    def user(self, user_id: str) -> User | None:
        return self._only(User, user_id=user_id)

    def user_by_username(self, username: str) -> list[User]:
        return [user for user in self._all(User) if user.username.casefold() == username.casefold()]

    def user_named(self, username: str) -> User | None:
        found = self.user_by_username(username)
        return found[0] if found else None

    def votes_by(self, user_id: str) -> list[Vote]:
        return in_order(self._all(Vote, user_id=user_id), "created_at")[::-1]

    def vote(self, user_id: str, target_id: str) -> Vote | None:
        return self._only(Vote, user_id=user_id, target_id=target_id)

    def voters(self, target_id: str) -> list[Vote]:
        return in_order(self._all(Vote, target_id=target_id), "created_at")[::-1]

    def comments(self, card_id: str) -> list[Comment]:
        return in_order(self._all(Comment, card_id=card_id), "created_at", "comment_id")

    def comment(self, card_id: str, created_at: datetime, comment_id: str) -> Comment | None:
        found = self._all(Comment, card_id=card_id, comment_id=comment_id)
        at = milliseconds(created_at)
        return next((each for each in found if milliseconds(each.created_at) == at), None)

    def comments_by(self, user_id: str) -> list[Comment]:
        return in_order(self._all(Comment, user_id=user_id), "created_at")[::-1]

    def notifications(self, user_id: str) -> list[Notification]:
        return in_order(self._all(Notification, user_id=user_id), "created_at", "notification_id")[::-1]

    def unread(self, user_id: str) -> list[Notification]:
        return [each for each in self.notifications(user_id) if not each.is_read]

    def notification(self, user_id: str, created_at: datetime, notification_id: str) -> Notification | None:
        found = self._all(Notification, user_id=user_id, notification_id=notification_id)
        at = milliseconds(created_at)
        return next((each for each in found if milliseconds(each.created_at) == at), None)

    def analytics(self, day: str) -> DailyAnalytics | None:
        return self._only(DailyAnalytics, day=day)


class PerfectItBruteForce(_People):
    """Answers the patterns of PerfectIt."""

    # --- cards -----------------------------------------------------------------------------------

    def card(self, card_id: str) -> PerfectionCard | None:
        return self._only(PerfectionCard, card_id=card_id)

    def cards(self, card_ids: list[str]) -> list[PerfectionCard | None]:
        return [self.card(card_id) for card_id in card_ids]

    def stats(self, card_id: str) -> CardStats | None:
        return self._only(CardStats, card_id=card_id)

    def card_view(self, card_id: str) -> CardView | None:
        card = self.card(card_id)
        return None if card is None else CardView(card=card, stats=self.stats(card_id))

    def cards_by_category(self, category: str) -> list[PerfectionCard]:
        return in_order(self._all(PerfectionCard, category=category, status="PUBLISHED"), "created_at")[::-1]

    def own_cards(self, user_id: str) -> list[PerfectionCard]:
        return in_order(self._all(PerfectionCard, user_id=user_id), "created_at")[::-1]

    def cards_by_author(self, user_id: str) -> list[PerfectionCard]:
        return [card for card in self.own_cards(user_id) if card.status == "PUBLISHED"]

    def recent(self, now: datetime, days: int = 30) -> list[PerfectionCard]:
        """Cards of today, and of so many days before it, whole days."""
        last = now.astimezone(UTC).date()
        first = last - timedelta(days=days)
        published = self._all(PerfectionCard, status="PUBLISHED")
        found = [
            card
            for card in published
            if card.published_at is not None and first <= card.published_at.astimezone(UTC).date() <= last
        ]
        return in_order(found, "published_at", "card_id")[::-1]

    def _published(self, card_ids: Iterable[str]) -> list[PerfectionCard]:
        cards = {card.card_id: card for card in self._all(PerfectionCard, status="PUBLISHED")}
        return [cards[card_id] for card_id in card_ids if card_id in cards]  # type: ignore[index]

    # --- lists -----------------------------------------------------------------------------------

    def ranking(self, kind: str = "CARD") -> list[CardScore]:
        return in_order(self._all(CardScore, kind=kind), "score", "card_id")[::-1]

    def _ranked(self, kind: str) -> list[PerfectionCard]:
        return self._published(score.card_id for score in self.ranking(kind))

    def top_voted(self) -> list[PerfectionCard]:
        return self._ranked("CARD")

    def trending(self) -> list[PerfectionCard]:
        return self._ranked("TRENDING")[:TRENDING_MAX]

    def controversial(self) -> list[PerfectionCard]:
        return self._ranked("CONTROVERSIAL")

    def cards_of_word(self, word: str, from_card: str | None = None) -> list[SearchToken]:
        """In any case, and with or without accents."""
        found = in_order(self._all(SearchToken, token=" ".join(plain_words(word))[:LETTERS_MAX]), "card_id")
        return [each for each in found if from_card is None or each.card_id.encode() >= from_card.encode()]

    def cards_with_word(self, word: str) -> list[PerfectionCard]:
        return self._published(token.card_id for token in self.cards_of_word(word))

    # --- collections and categories --------------------------------------------------------------

    def collections(self, user_id: str) -> list[Collection]:
        return in_order(self._all(Collection, user_id=user_id), "collection_id")

    def own_collection(self, user_id: str, collection_id: str) -> Collection | None:
        return self._only(Collection, user_id=user_id, collection_id=collection_id)

    def collection(self, collection_id: str) -> list[Collection]:
        return self._all(Collection, collection_id=collection_id)

    def collection_links(self, collection_id: str) -> list[CardInCollection]:
        return in_order(self._all(CardInCollection, collection_id=collection_id), "card_id")

    def collection_link(self, collection_id: str, card_id: str) -> CardInCollection | None:
        return self._only(CardInCollection, collection_id=collection_id, card_id=card_id)

    def collection_cards(self, collection_id: str) -> list[PerfectionCard]:
        return self._published(link.card_id for link in self.collection_links(collection_id))

    def collections_with(self, card_id: str) -> list[CardInCollection]:
        return in_order(self._all(CardInCollection, card_id=card_id), "collection_id")

    def categories_below(self, parent_id: str) -> list[Category]:
        return in_order(self._all(Category, parent_id=parent_id), "sort_order")

    def root_categories(self) -> list[Category]:
        return self.categories_below("ROOT")

    def category(self, category_id: str) -> Category | None:
        return self._only(Category, category_id=category_id)
