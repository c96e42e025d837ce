"""Publishing: cards from a draft to everybody's lists, out of them again, and how often they are looked at.

A draft is its author's alone, and is given up 30 days after it was last changed. Publishing removes its expiry
in the same transaction that puts it into the lists and creates the item of its counts.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

from singletable import Add, Cascade, Check, Create, Eq, Ne, Update
from singletable.errors import AlreadyExistsError, ConditionNotMetError, NotFoundError, VersionConflictError
from singletable.systems import Deletion, DeletionProgress
from singletable_systems.perfectit.errors import (
    CardNotFoundError,
    CategoryNotFoundError,
    InvalidInputError,
    UserNotFoundError,
)
from singletable_systems.perfectit.model.entities import CardStats, Difficulty, Instruction, PerfectionCard
from singletable_systems.perfectit.model.keys import CardId, CategoryId, UserId
from singletable_systems.perfectit.reactions.handlers import PerfectIt
from singletable_systems.perfectit.services.calls import checked, decide
from singletable_systems.perfectit.services.deletion import delete_card
from singletable_systems.shared.services import Service

# The fields of a card that its author does not edit: other methods, the table or the stream write them.
_NOT_EDITABLE: Final = frozenset(
    {
        *("card_id", "user_id", "status", "view_count", "vote_score"),
        *("created_at", "updated_at", "published_at", "ttl", "version"),
    }
)
EDITABLE: Final = frozenset(PerfectionCard.model_fields) - _NOT_EDITABLE
_RACES: Final = (VersionConflictError, ConditionNotMetError, AlreadyExistsError, NotFoundError)


class Publishing(Service[PerfectIt]):
    """The things that authors do with their cards. A card of somebody else is not found."""

    @checked()
    def draft(
        self,
        user_id: UserId,
        *,
        title: str,
        category: CategoryId,
        description: str = "",
        image_urls: list[str] | None = None,
        instructions: list[Instruction] | list[str] | None = None,
        materials: dict[str, Any] | None = None,
        tools: list[str] | None = None,
        tags: list[str] | None = None,
        difficulty: Difficulty = "BEGINNER",
        estimated_time: int | None = None,
        estimated_cost: Decimal | None = None,
    ) -> PerfectionCard:
        """Write a card that only its author sees."""
        values = {
            "card_id": self._new_id(),
            "user_id": user_id,
            "title": title,
            "category": category,
            "description": description,
            "image_urls": image_urls or [],
            "instructions": instructions or [],
            "materials": materials or {},
            "tools": tools or [],
            "tags": tags or [],
            "difficulty": difficulty,
            "estimated_time": estimated_time,
            "estimated_cost": estimated_cost,
        }
        card = PerfectionCard.model_validate(values)
        checks = (Check(self._db.user(user_id)), Check(self._db.category(category)))
        try:
            self._db.transaction(*checks, Create(card))
        except NotFoundError as error:
            raise self._missing(user_id, category) from error
        return card

    @checked()
    def edit(self, user_id: UserId, card_id: CardId, **changes: Any) -> PerfectionCard:
        """Change the contents of a card. Other methods change its status."""
        unknown = changes.keys() - EDITABLE
        if unknown:
            raise InvalidInputError(
                f"{', '.join(sorted(unknown))} cannot be edited: only {', '.join(sorted(EDITABLE))} can"
            )
        return decide(lambda: self._edit(user_id, card_id, changes), after=_RACES)

    @checked()
    def publish(self, user_id: UserId, card_id: CardId) -> PerfectionCard:
        """Put a card into the lists. One that was published before comes back with its votes, to its old place.

        A card that other code has published gets the item of its counts. A card whose deletion was interrupted
        is listed again.
        """
        return decide(lambda: self._publish(user_id, card_id), after=_RACES)

    @checked()
    def archive(self, user_id: UserId, card_id: CardId) -> PerfectionCard:
        """Take a card out of all lists, and keep it."""
        return decide(lambda: self._archive(user_id, card_id), after=_RACES)

    @checked()
    def delete(
        self, user_id: UserId, card_id: CardId, *, progress: DeletionProgress | None = None
    ) -> Cascade:
        """Delete a card with its comments, its votes and its places in collections; tell how much that was."""
        self._own(user_id, card_id)
        deletion = Deletion(self._db, progress)
        delete_card(self._db, card_id, deletion)
        return deletion.done

    @checked()
    def read(self, card_id: CardId, *, viewer: UserId | None = None) -> PerfectionCard:
        """Return a card that the viewer may see: a published one, or the viewer's own."""
        card = self._db.card(card_id).maybe()
        if card is None or (card.status != "PUBLISHED" and card.user_id != viewer):
            raise CardNotFoundError(card_id)
        return card

    @checked()
    def viewed(self, card_id: CardId) -> None:
        """Count that somebody has looked at a published card. The card itself is not written (PI-14)."""
        try:
            self._db.update(self._db.stats(card_id), views=Add(1), when=Eq("is_listed", True))
        except (NotFoundError, ConditionNotMetError) as error:
            raise CardNotFoundError(card_id) from error

    # --- one try of each -------------------------------------------------------------------------

    def _edit(self, user_id: UserId, card_id: CardId, changes: dict[str, Any]) -> PerfectionCard:
        card = self._own(user_id, card_id)
        if not changes:
            return card
        edited = PerfectionCard.model_validate({**dict(card), **changes})
        validated = {name: getattr(edited, name) for name in changes}
        writes: list[Any] = [Update(card, **validated)]
        if edited.category != card.category:
            writes.append(Check(self._db.category(edited.category)))
        try:
            updated: PerfectionCard = self._db.transaction(*writes).entity[0]
        except NotFoundError as error:
            raise self._missing(user_id, edited.category, card_id) from error
        return updated

    def _publish(self, user_id: UserId, card_id: CardId) -> PerfectionCard:
        card, stats = self._own(user_id, card_id), self._db.stats(card_id).maybe()
        if card.status == "PUBLISHED" and stats is not None and stats.is_listed:
            return card
        at = card.published_at or self._db.now()
        writes: list[Any] = [Update(card, status="PUBLISHED", published_at=at)]
        if stats is None:
            writes.append(Create(CardStats(card_id=card_id, user_id=user_id, published_at=at)))
        else:
            writes.append(Update(self._db.stats(card_id), is_listed=True))
        if card.status != "PUBLISHED":
            writes.append(Check(self._db.category(card.category)))
        try:
            updated: PerfectionCard = self._db.transaction(*writes).entity[0]
        except NotFoundError as error:
            raise self._missing(user_id, card.category, card_id) from error
        return updated

    def _archive(self, user_id: UserId, card_id: CardId) -> PerfectionCard:
        card, stats = self._own(user_id, card_id), self._db.stats(card_id).maybe()
        if card.status == "ARCHIVED":
            return card
        writes: list[Any] = [Update(card, status="ARCHIVED", when=Ne("status", "ARCHIVED"))]
        if stats is not None:
            writes.append(Update(self._db.stats(card_id), is_listed=False))
        updated: PerfectionCard = self._db.transaction(*writes).entity[0]
        return updated

    def _own(self, user_id: UserId, card_id: CardId) -> PerfectionCard:
        card = self._db.card(card_id).consistent().maybe()
        if card is None or card.user_id != user_id:
            raise CardNotFoundError(card_id)
        return card

    def _missing(self, user_id: UserId, category: CategoryId, card_id: CardId | None = None) -> Exception:
        if self._db.category(category).consistent().maybe() is None:
            return CategoryNotFoundError(category)
        return UserNotFoundError(user_id) if card_id is None else CardNotFoundError(card_id)
