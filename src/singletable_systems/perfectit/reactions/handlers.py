"""PerfectIt as it is opened: the design, with the handlers of its changes.

One dispatcher runs all of them (PI-24). Handlers do not watch fields that another handler writes, so there are
no loops (PI-25). Two exceptions end by themselves: new notifications are published, and deleted owners take
their items along. The search index comes last, behind the writes to the table.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from singletable import Add, Change, Create, Delete, Once, Update, on
from singletable_systems.perfectit.model.design import PerfectItDesign
from singletable_systems.perfectit.model.entities import (
    CardInCollection,
    CardStats,
    Collection,
    Comment,
    DailyAnalytics,
    Notification,
    PerfectionCard,
    User,
    Vote,
)
from singletable_systems.perfectit.model.keys import CardId
from singletable_systems.perfectit.reactions.search import (
    Backlog,
    SearchIndex,
    SearchUnavailableError,
    search_document,
)
from singletable_systems.perfectit.reactions.updates import LocalUpdates, Updates
from singletable_systems.perfectit.rules.counts import done_in, figures
from singletable_systems.perfectit.rules.notifications import Happened, is_over, notification_of

_CARDS_AT_ONCE: Final = 100
Told = Create[Notification] | Delete[Notification]


class PerfectIt(PerfectItDesign):
    """Cards that say how to do things perfectly, with comments, votes, collections and categories."""

    def __init__(self) -> None:
        self.search_index: SearchIndex | None = None
        self.index_backlog: Backlog | None = Backlog()  # without one, a card that the index refuses fails
        self.updates: Updates = LocalUpdates()

    @on(CardStats, "up_votes", "down_votes", "views")
    def fold_counts(self, change: Change[CardStats]) -> Iterator[Update[PerfectionCard]]:
        """Copy the counts of a card into the card, rounded; write it when a rounded figure changes (PI-14)."""
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

    @on(User, "created_at", writes=(DailyAnalytics,))
    def count_users(self, change: Change[User]) -> Iterator[Once]:
        return self._count(change)

    @on(PerfectionCard, "published_at", writes=(DailyAnalytics,))
    def count_cards(self, change: Change[PerfectionCard]) -> Iterator[Once]:
        return self._count(change)

    @on(Comment, "created_at", writes=(DailyAnalytics,))
    def count_comments(self, change: Change[Comment]) -> Iterator[Once]:
        return self._count(change)

    @on(Vote, "value", writes=(DailyAnalytics,))
    def count_votes(self, change: Change[Vote]) -> Iterator[Once]:
        return self._count(change)

    @on(CardInCollection, "added_at", writes=(DailyAnalytics,))
    def count_collected(self, change: Change[CardInCollection]) -> Iterator[Once]:
        return self._count(change)

    def _count(self, change: Change[Any]) -> Iterator[Once]:
        """Add an activity to the totals of its day, once, however often the change is delivered."""
        done = done_in(change)
        if done is not None:
            more: Any = {done.total: Add(1)}
            yield Once(Update(self.analytics(done.day), **more), missing=[DailyAnalytics(day=done.day)])

    # A stream is late, and may deliver a record twice: nobody is notified of something that was undone
    # meanwhile.

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
        """Create the notification if it still holds, or delete it: the change alone says whose it is."""
        old, new, now = map(notification_of, (change.old, change.new, stored))
        told = new or old
        if told is None:
            return
        if told != now:
            yield Delete(self.notification(told.user_id, told.created_at, told.notification_id))
        elif old is None and not is_over(told, self.now()):
            yield Create(told)

    @on(Notification, "notification_id", sends=("subscribers",))
    def hand_on(self, change: Change[Notification]) -> None:
        """Publish a new notification to the subscribers."""
        if change.kind == "create":
            self.updates.publish(change.entity.user_id, change.entity)

    # Indexes are eventually consistent: when an owner is deleted, an index may not show the owner's last
    # items yet, and a vote may come while its target is deleted. So these handlers look for such items once
    # more.

    @on(User, "user_id", writes=(PerfectionCard, Comment, Vote, Collection, Notification))
    def delete_what_is_left(self, change: Change[User]) -> None:
        """Delete the remaining items of a deleted user: the indexes may show more of them by now."""
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
        """Delete the votes for a target that somebody has deleted. Expired ones were drafts, without votes."""
        if change.kind == "delete" and not change.is_expired:
            for vote in self.voters(target_id).all():
                yield Delete(self.vote(vote.user_id, target_id))

    @on(
        PerfectionCard,
        "title",
        "description",
        "instructions",
        "tags",
        "category",
        "status",
        sends=("opensearch",),
    )
    def index_card(self, change: Change[PerfectionCard]) -> None:
        """Put a published card into the search index as it is now, and delete every other card from it.

        A stream is late, and may deliver a record twice. So the handler reads the card as it is now: after the
        last record, the index is right.
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
