"""The design of PerfectIt: its entities, how much there is of each, and what follows from changes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from singletable import (
    Add,
    Change,
    Create,
    Delete,
    Design,
    Once,
    Rate,
    Update,
    Volume,
    on,
)
from singletable_systems.perfectit.backlog import Backlog
from singletable_systems.perfectit.counting import done_in, figures
from singletable_systems.perfectit.entities import (
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
from singletable_systems.perfectit.keys import CardId, PerfectItTable
from singletable_systems.perfectit.notifying import Happened, is_over, notification_of
from singletable_systems.perfectit.patterns import (
    CardPatterns,
    CollectionPatterns,
    ListPatterns,
    PeoplePatterns,
)
from singletable_systems.perfectit.searching import SearchIndex, SearchUnavailableError, search_document
from singletable_systems.perfectit.updates import LocalUpdates, Updates

_CARDS_AT_ONCE: Final = 100
Told = Create[Notification] | Delete[Notification]


class PerfectIt(PeoplePatterns, CardPatterns, CollectionPatterns, ListPatterns, Design):
    """Cards that say how to do things perfectly, with comments, votes, collections and categories."""

    table = PerfectItTable
    entities = (
        User,
        PerfectionCard,
        CardStats,
        CardScore,
        SearchToken,
        Comment,
        Vote,
        Collection,
        CardInCollection,
        Category,
        Notification,
        DailyAnalytics,
    )
    # For each user; the document has none (PI-28).
    volumes = {
        User: Volume(1, 0.4),
        PerfectionCard: Volume(4, 4),
        CardStats: Volume(4, 0.2),
        CardScore: Volume(10, 0.2),
        SearchToken: Volume(40, 0.15),
        Comment: Volume(12, 0.5),
        Vote: Volume(40, 0.3),
        Collection: Volume(1, 0.3),
        CardInCollection: Volume(8, 0.2),
        Notification: Volume(30, 0.3),
    }
    rates = {
        PerfectionCard: Rate(creates=0.01, updates=0.03),
        Comment: Rate(creates=0.05),
        Vote: Rate(creates=0.2, updates=0.02, deletes=0.01),
        CardStats: Rate(updates=2.0),  # views
    }

    def __init__(self) -> None:
        self.search_index: SearchIndex | None = None
        self.index_backlog: Backlog | None = Backlog()  # without one, a card that the index refuses fails
        self.updates: Updates = LocalUpdates()

    # --- what follows from changes -----------------------------------------------------------------
    #
    # One dispatcher runs all of this (PI-24). No handler watches a field that another one writes, but for new
    # notifications, which are handed on, and for what goes with its owner: so nothing goes round in circles
    # (PI-25). The search index comes last, behind what the table needs.

    @on(CardStats, "up_votes", "down_votes", "views")
    def fold_counts(self, change: Change[CardStats]) -> Iterator[Update[PerfectionCard]]:
        """Let a card show what is counted of it; it is written when the figures that it shows change (PI-14)."""
        if figures(change.old) == figures(change.new):
            return
        card_id = change.entity.card_id
        stats, card = self.stats(card_id).maybe(), self.card(card_id).consistent().maybe()
        if stats is None or card is None:
            return
        views, votes = figures(stats)
        if (card.view_count, card.vote_score) != (views, votes):
            # Its author has changed nothing: the time stays.
            yield Update(card, view_count=views, vote_score=votes, updated_at=card.updated_at)

    @on(User, "created_at")
    def count_users(self, change: Change[User]) -> Iterator[Once]:
        return self._count(change)

    @on(PerfectionCard, "published_at")
    def count_cards(self, change: Change[PerfectionCard]) -> Iterator[Once]:
        return self._count(change)

    @on(Comment, "created_at")
    def count_comments(self, change: Change[Comment]) -> Iterator[Once]:
        return self._count(change)

    @on(Vote, "value")
    def count_votes(self, change: Change[Vote]) -> Iterator[Once]:
        return self._count(change)

    @on(CardInCollection, "added_at")
    def count_collected(self, change: Change[CardInCollection]) -> Iterator[Once]:
        return self._count(change)

    def _count(self, change: Change[Any]) -> Iterator[Once]:
        """Add what was done to the totals of its day, once, however often the change is delivered."""
        done = done_in(change)
        if done is not None:
            more: Any = {done.total: Add(1)}
            yield Once(Update(self.analytics(done.day), **more), missing=[DailyAnalytics(day=done.day)])

    # A stream tells of the past, and may tell it twice: what was undone meanwhile is told to nobody.

    @on(Comment, "created_at")
    def notify_of_comment(self, change: Change[Comment]) -> Iterator[Told]:
        said = change.entity
        return self._notify(change, self.comment(said.card_id, said.created_at, said.comment_id).maybe())

    @on(Vote, "value")
    def notify_of_vote(self, change: Change[Vote]) -> Iterator[Told]:
        cast = change.entity
        return self._notify(change, self.vote(cast.user_id, cast.target_id).maybe())

    @on(CardInCollection, "added_at")
    def notify_of_collected(self, change: Change[CardInCollection]) -> Iterator[Told]:
        """Tell an author that a card was collected, if anybody may know: private collections tell nobody."""
        link = change.entity
        collection = self.own_collection(link.user_id, link.collection_id).maybe()
        is_known = collection is not None and collection.is_public
        return self._notify(
            change, self.collection_link(link.collection_id, link.card_id).maybe() if is_known else None
        )

    def _notify(self, change: Change[Any], stored: Happened | None) -> Iterator[Told]:
        """Tell somebody what is still so, and take back what is not: the change alone says who was told."""
        old, new, now = map(notification_of, (change.old, change.new, stored))
        told = new or old
        if told is None:
            return
        if told != now:
            yield Delete(self.notification(told.user_id, told.created_at, told.notification_id))
        elif old is None and not is_over(told, self.now()):
            yield Create(told)

    @on(Notification, "notification_id")
    def hand_on(self, change: Change[Notification]) -> None:
        """Tell whoever listens of a new notification."""
        if change.kind == "create":
            self.updates.publish(change.entity.user_id, change.entity)

    # What was written just before its owner went is not in an index yet when the owner is deleted, and a vote may
    # come while its target goes. So whoever goes is looked for once more.

    @on(User, "user_id")
    def delete_what_is_left(self, change: Change[User]) -> None:
        """Delete what is left of a user who is gone: the indexes may show more of it by now."""
        user_id = change.entity.user_id
        if change.kind == "delete" and self.user(user_id).maybe() is None:
            self.delete(self.user(user_id))

    @on(PerfectionCard, "card_id")
    def delete_votes_for_card(self, change: Change[PerfectionCard]) -> Iterator[Delete[Vote]]:
        return self._delete_votes(change, change.entity.card_id)

    @on(Comment, "comment_id")
    def delete_votes_for_comment(self, change: Change[Comment]) -> Iterator[Delete[Vote]]:
        return self._delete_votes(change, change.entity.comment_id)

    def _delete_votes(self, change: Change[Any], target_id: str) -> Iterator[Delete[Vote]]:
        """Delete the votes for what somebody has deleted. What expires was a draft, and has none."""
        if change.kind == "delete" and not change.is_expired:
            for vote in self.voters(target_id).all():
                yield Delete(self.vote(vote.user_id, target_id))

    @on(PerfectionCard, "title", "description", "instructions", "tags", "category", "status")
    def index_card(self, change: Change[PerfectionCard]) -> None:
        """Let a published card be found by what it says now, and every other one not at all.

        A stream tells of the past, and may tell it twice: so the index follows the card as it is, and whoever
        handles the last change of it has seen the last of it.
        """
        was_listed = any(card is not None and card.status == "PUBLISHED" for card in (change.old, change.new))
        if self.search_index is None or not was_listed:
            return
        card_id, version = change.entity.card_id, change.entity.version + (change.new is None)
        if self.index_backlog is None:
            self._tell_index(self.search_index, card_id, version)
        else:
            self.index_backlog.add(card_id, version)
            self.catch_up_index()

    def catch_up_index(self) -> int:
        """Tell the search index of cards that have changed; return how many. None while it is out of reach."""
        index, backlog, count = self.search_index, self.index_backlog, 0
        if index is None or backlog is None or backlog.is_away(self.now()):
            return 0
        for card_id, version in backlog.some(_CARDS_AT_ONCE).items():
            try:
                self._tell_index(index, card_id, version)
            except SearchUnavailableError as error:
                backlog.failed(error, self.now(), card_id)
                break
            backlog.told(card_id, version)
            count += 1
        return count

    def _tell_index(self, index: SearchIndex, card_id: CardId, version: int) -> None:
        card = self.card(card_id).consistent().maybe()
        if card is None:
            index.delete(card_id, version)
        elif card.status == "PUBLISHED":
            index.put(search_document(card))
        else:
            index.delete(card_id, card.version)
