"""Collecting: cards that users put together."""

from __future__ import annotations

from singletable import Check, Create, Eq, Query
from singletable.errors import AlreadyExistsError, ConditionNotMetError, NotFoundError
from singletable.systems import Deletion
from singletable_systems.perfectit.errors import (
    CardNotFoundError,
    CollectionNotFoundError,
    UserNotFoundError,
)
from singletable_systems.perfectit.model.entities import CardInCollection, Collection
from singletable_systems.perfectit.model.keys import CardId, CollectionId, UserId
from singletable_systems.perfectit.reactions.handlers import PerfectIt
from singletable_systems.perfectit.services.calls import checked, decide
from singletable_systems.shared.rules import given
from singletable_systems.shared.services import Service


class Collecting(Service[PerfectIt]):
    """The things that users do with their collections. To change one of somebody else is refused as not found."""

    @checked()
    def create(
        self, user_id: UserId, name: str, *, description: str | None = None, is_public: bool = True
    ) -> Collection:
        """Begin a collection."""
        collection = Collection(
            user_id=user_id,
            collection_id=CollectionId(self._new_id()),
            name=name,
            description=description,
            is_public=is_public,
        )
        try:
            self._db.transaction(Check(self._db.user(user_id)), Create(collection))
        except NotFoundError as error:
            raise UserNotFoundError(user_id) from error
        return collection

    @checked()
    def describe(
        self,
        user_id: UserId,
        collection_id: CollectionId,
        *,
        name: str | None = None,
        description: str | None = None,
        is_public: bool | None = None,
    ) -> Collection:
        """Change fields of a collection; those that are None stay as they are."""
        changes = given(name=name, description=description, is_public=is_public)
        if not changes:
            return self._own(user_id, collection_id)
        try:
            return self._db.update(self._db.own_collection(user_id, collection_id), **changes).entity
        except NotFoundError as error:
            raise CollectionNotFoundError(collection_id) from error

    @checked()
    def add(self, user_id: UserId, collection_id: CollectionId, card_id: CardId) -> CardInCollection:
        """Put a published card into a collection; where it is already, nothing happens."""
        return decide(lambda: self._add(user_id, collection_id, card_id), after=(AlreadyExistsError,))

    @checked()
    def remove(self, user_id: UserId, collection_id: CollectionId, card_id: CardId) -> None:
        """Take a card out of a collection; where it is not in it, nothing happens."""
        self._own(user_id, collection_id)
        self._db.delete(self._db.collection_link(collection_id, card_id))

    @checked()
    def delete(self, user_id: UserId, collection_id: CollectionId) -> None:
        """Delete a collection, and leave its cards where they are."""
        self._own(user_id, collection_id)
        Deletion(self._db).delete(self._db.own_collection(user_id, collection_id))

    @checked()
    def read(self, collection_id: CollectionId, *, viewer: UserId | None = None) -> Collection:
        """Return a collection that the viewer may see: a public one, or the viewer's own."""
        collection = self._db.collection(collection_id).maybe()
        if collection is None or not (collection.is_public or collection.user_id == viewer):
            raise CollectionNotFoundError(collection_id)
        return collection

    def of_user(self, user_id: UserId, *, viewer: UserId | None = None) -> Query[Collection]:
        """Plan to read the collections of a user that a viewer may see."""
        every = self._db.collections(user_id)
        return every if viewer == user_id else every.where(Eq("is_public", True))

    def _add(self, user_id: UserId, collection_id: CollectionId, card_id: CardId) -> CardInCollection:
        there = self._db.collection_link(collection_id, card_id).maybe()
        if there is not None and there.user_id == user_id:
            return there
        stats = self._db.stats(card_id).maybe()
        link = CardInCollection(
            collection_id=collection_id,
            card_id=card_id,
            user_id=user_id,
            recipient_id=None if stats is None else stats.user_id,
        )
        published = Check(self._db.card(card_id), when=Eq("status", "PUBLISHED"))
        own = Check(self._db.own_collection(user_id, collection_id))
        try:
            self._db.transaction(Create(link), own, published)
        except (NotFoundError, ConditionNotMetError) as error:
            if self._db.own_collection(user_id, collection_id).maybe() is None:
                raise CollectionNotFoundError(collection_id) from error
            raise CardNotFoundError(card_id) from error
        return link

    def _own(self, user_id: UserId, collection_id: CollectionId) -> Collection:
        collection = self._db.own_collection(user_id, collection_id).maybe()
        if collection is None:
            raise CollectionNotFoundError(collection_id)
        return collection
