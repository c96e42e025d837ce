"""Reading collections and categories."""

from __future__ import annotations

from singletable import (
    Eq,
    Followed,
    Get,
    Query,
    pattern,
)
from singletable_systems.perfectit.model.entities import (
    ROOT,
    CardInCollection,
    Category,
    Collection,
    PerfectionCard,
)
from singletable_systems.perfectit.model.keys import (
    CardId,
    CardPK,
    CardSK,
    CategoryId,
    CategoryPK,
    CollectionId,
    CollectionPK,
    CollectionSK,
    MetadataSK,
    ParentPK,
    UserId,
    UserPK,
)


class CollectionPatterns:
    @pattern("7 Get user collections", documented="PK=USER#<userId>, SK begins_with COLLECTION#")
    def collections(self, user_id: UserId) -> Query[Collection]:
        return Collection.key.query(UserPK(user_id=user_id))

    @pattern("7b Get own collection, as it is now", consistent=True)
    def own_collection(self, user_id: UserId, collection_id: CollectionId) -> Get[Collection]:
        return Collection.key.get(UserPK(user_id=user_id), CollectionSK(collection_id=collection_id))

    @pattern(
        "8 Get collection cards",
        documented="PK=COLLECTION#<collectionId>, SK begins_with CARD#",
        fixes="PI-21",
    )
    def collection_cards(self, collection_id: CollectionId) -> Followed[PerfectionCard]:
        """Published cards of a collection: the links, and the cards that they name, in batches."""
        links = CardInCollection.key.query(CollectionPK(collection_id=collection_id))
        cards = links.follow(PerfectionCard.key, lambda link: (CardPK(card_id=link.card_id), MetadataSK()))
        return cards.where(Eq("status", "PUBLISHED"))

    @pattern("8b Get collection links, with when they were added")
    def collection_links(self, collection_id: CollectionId) -> Query[CardInCollection]:
        return CardInCollection.key.query(CollectionPK(collection_id=collection_id))

    @pattern("8c Check that a card is in a collection", consistent=True)
    def collection_link(self, collection_id: CollectionId, card_id: CardId) -> Get[CardInCollection]:
        return CardInCollection.key.get(CollectionPK(collection_id=collection_id), CardSK(card_id=card_id))

    @pattern("18 Get collection by id", documented="GSI1 PK=COLLECTION#<collectionId>", fixes="PI-20")
    def collection(self, collection_id: CollectionId) -> Query[Collection]:
        return Collection.by_id.query(CollectionPK(collection_id=collection_id))

    @pattern("20 Get collections that a card is in", fixes="PI-20")
    def collections_with(self, card_id: CardId) -> Query[CardInCollection]:
        return CardInCollection.by_card.query(CardPK(card_id=card_id))

    @pattern(
        "19 Get child categories, in their order",
        documented="GSI1 PK=PARENT#<parentId>",
        fixes="PI-18, PI-19",
    )
    def categories_below(self, parent_id: CategoryId) -> Query[Category]:
        return Category.children.query(ParentPK(parent_id=parent_id))

    @pattern("19b Get root categories, in their order", fixes="PI-19")
    def root_categories(self) -> Query[Category]:
        return Category.children.query(ParentPK(parent_id=ROOT))

    @pattern("19c Get category")
    def category(self, category_id: CategoryId) -> Get[Category]:
        return Category.key.get(CategoryPK(category_id=category_id), MetadataSK())
