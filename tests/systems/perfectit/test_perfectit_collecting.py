"""Collections: cards that users put together, found from both sides."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from singletable.clock import ManualClock
from singletable_systems.perfectit.errors import (
    CardNotFoundError,
    CollectionNotFoundError,
    InvalidInputError,
    UserNotFoundError,
)
from singletable_systems.perfectit.model.keys import CardId, CollectionId, UserId
from singletable_systems.perfectit.reactions.handlers import PerfectIt
from singletable_systems.perfectit.services.cards import Publishing
from singletable_systems.perfectit.services.collections import Collecting
from support.targets import TARGETS
from systems.perfectit_people import ADA, BO, draft, opened_perfectit, publish


@pytest.fixture(params=TARGETS)
def db(request: pytest.FixtureRequest) -> Iterator[PerfectIt]:
    with opened_perfectit(request.param, ManualClock()) as db:
        yield db


def test_cards_and_collections_are_found_from_both_sides(db: PerfectIt) -> None:
    collecting = Collecting(db)
    wood, gifts = collecting.create(ADA, "Wood"), collecting.create(BO, "Gifts")
    first, second = publish(db, title="Bowl"), publish(db, BO, title="Spoon")
    for user_id, collection, card in ((ADA, wood, first), (ADA, wood, second), (BO, gifts, first)):
        collecting.add(user_id, collection.collection_id, card.card_id)
    assert {card.title for card in db.collection_cards(wood.collection_id).all()} == {"Bowl", "Spoon"}
    assert {link.collection_id for link in db.collections_with(first.card_id).all()} == {
        wood.collection_id,
        gifts.collection_id,
    }
    assert db.collection(wood.collection_id).one().cards_count == 2
    assert [each.name for each in db.collections(BO).all()] == ["Gifts"]


def test_card_is_in_a_collection_once(db: PerfectIt) -> None:
    collecting = Collecting(db)
    collection, card = collecting.create(ADA, "Wood"), publish(db)
    first = collecting.add(ADA, collection.collection_id, card.card_id)
    assert collecting.add(ADA, collection.collection_id, card.card_id) == first
    assert db.own_collection(ADA, collection.collection_id).one().cards_count == 1


def test_card_that_is_taken_out_or_archived_is_not_shown(db: PerfectIt) -> None:
    collecting = Collecting(db)
    collection, card, other = collecting.create(ADA, "Wood"), publish(db), publish(db, title="Other")
    for each in (card, other):
        collecting.add(ADA, collection.collection_id, each.card_id)
    Publishing(db).archive(ADA, other.card_id)
    assert [each.card_id for each in db.collection_cards(collection.collection_id).all()] == [card.card_id]
    for _ in range(2):
        collecting.remove(ADA, collection.collection_id, card.card_id)
    assert list(db.collection_cards(collection.collection_id).all()) == []
    assert db.own_collection(ADA, collection.collection_id).one().cards_count == 1


def test_deleted_collection_leaves_its_cards(db: PerfectIt) -> None:
    collecting = Collecting(db)
    collection, card = collecting.create(ADA, "Wood"), publish(db)
    collecting.add(ADA, collection.collection_id, card.card_id)
    collecting.delete(ADA, collection.collection_id)
    assert list(db.collection_links(collection.collection_id).all()) == []
    assert list(db.collections_with(card.card_id).all()) == []
    assert db.card(card.card_id).one() == card


def test_deleted_card_leaves_its_collections(db: PerfectIt) -> None:
    collecting = Collecting(db)
    collection, card = collecting.create(BO, "Wood"), publish(db)
    collecting.add(BO, collection.collection_id, card.card_id)
    Publishing(db).delete(ADA, card.card_id)
    assert list(db.collection_links(collection.collection_id).all()) == []
    assert db.own_collection(BO, collection.collection_id).one().cards_count == 0


def test_private_collection_is_its_owners_alone(db: PerfectIt) -> None:
    collecting = Collecting(db)
    collection = collecting.create(ADA, "Secret", is_public=False)
    assert collecting.read(collection.collection_id, viewer=ADA).name == "Secret"
    for viewer in (BO, None):
        with pytest.raises(CollectionNotFoundError):
            collecting.read(collection.collection_id, viewer=viewer)
        assert list(collecting.of_user(ADA, viewer=viewer).all()) == []
    assert [each.name for each in collecting.of_user(ADA, viewer=ADA).all()] == ["Secret"]
    shown = collecting.describe(ADA, collection.collection_id, is_public=True, name=" Open ")
    assert (collecting.read(collection.collection_id), shown.name) == (shown, "Open")


def test_what_cannot_be_put_together_is_refused(db: PerfectIt) -> None:
    collecting = Collecting(db)
    collection, card = collecting.create(ADA, "Wood"), publish(db)
    mine = collection.collection_id
    for user_id, collection_id in ((BO, mine), (ADA, CollectionId("nothing"))):
        for refused in (collecting.add, collecting.remove):
            with pytest.raises(CollectionNotFoundError):
                refused(user_id, collection_id, card.card_id)
        with pytest.raises(CollectionNotFoundError):
            collecting.delete(user_id, collection_id)
    for card_id in (draft(db).card_id, CardId("nothing")):
        with pytest.raises(CardNotFoundError):
            collecting.add(ADA, mine, card_id)
    with pytest.raises(UserNotFoundError):
        collecting.create(UserId("eve"), "Apples")
    with pytest.raises(InvalidInputError, match="name: it is blank"):
        collecting.create(ADA, " ")
    assert db.own_collection(ADA, mine).one() == collection
