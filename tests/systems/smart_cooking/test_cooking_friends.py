"""Friends of Smart Cooking: both rows of a friendship are always written together, whoever does what at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from singletable.client import Call
from singletable.clock import ManualClock
from singletable_systems.smart_cooking.errors import (
    FriendshipNotFoundError,
    FriendshipRefusedError,
    InvalidInputError,
    UserNotFoundError,
)
from singletable_systems.smart_cooking.model.entities import Friendship
from singletable_systems.smart_cooking.model.keys import UserId
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking
from singletable_systems.smart_cooking.services.friends import Friends
from support.opened_designs import stored_item
from support.targets import TARGETS
from systems.cooking_streams import stored
from systems.cooking_users import ADA, BO, CY, opened_cooking, sign_up, watched


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(params=TARGETS)
def db(request: pytest.FixtureRequest, clock: ManualClock) -> Iterator[SmartCooking]:
    with opened_cooking(request.param, clock) as db:
        sign_up(db, ADA, BO, CY)
        yield db


def row(db: SmartCooking, user_id: UserId, friend_id: UserId) -> Friendship:
    return db.friendship(user_id, friend_id).one()


def counts(db: SmartCooking) -> list[int]:
    return [db.user(each).one().friends_count for each in (ADA, BO, CY)]


def rows(db: SmartCooking) -> set[str]:
    return {f"{pk} {sk}" for pk, sk in stored(db) if sk.startswith("FRIEND#")}


def test_who_asks_and_who_is_asked_have_a_row_each(db: SmartCooking) -> None:
    asked = Friends(db).ask(ADA, BO)
    mirrored = row(db, BO, ADA)
    assert (asked.status, asked.direction, asked.requested_at) == ("pending", "sent", db.now())
    assert (mirrored.status, mirrored.direction) == ("pending", "received")
    assert mirrored.friendship_id == asked.friendship_id
    assert counts(db) == [0, 0, 0]


def test_only_the_row_of_who_has_asked_is_in_the_reverse_lookup(db: SmartCooking) -> None:
    Friends(db).ask(ADA, BO)
    item = stored_item(db, "USER#user-ada", "FRIEND#user-bo")
    assert item is not None
    assert (item["GSI1PK"]["S"], item["GSI1SK"]["S"]) == ("USER#user-bo", "FRIEND#user-ada")  # 002:340
    assert "GSI1PK" not in (stored_item(db, "USER#user-bo", "FRIEND#user-ada") or {})
    assert [each.user_id for each in db.friended_by(BO).all()] == [ADA]
    assert list(db.friended_by(ADA).all()) == []


def test_accepted_friends_are_friends_of_each_other(db: SmartCooking, clock: ManualClock) -> None:
    friends = Friends(db)
    friends.ask(ADA, BO)
    clock.advance(60)
    accepted = friends.accept(BO, ADA)
    assert (accepted.user_id, accepted.status, accepted.responded_at) == (BO, "accepted", db.now())
    assert accepted == row(db, BO, ADA)
    for user_id, friend_id in ((ADA, BO), (BO, ADA)):
        assert [each.friend_id for each in db.friends(user_id).all()] == [friend_id]
        assert row(db, user_id, friend_id).friend_feeds_by == "writing"
    assert counts(db) == [1, 1, 0]


def test_to_ask_who_has_asked_accepts(db: SmartCooking) -> None:
    friends = Friends(db)
    friends.ask(ADA, BO)
    assert friends.ask(BO, ADA).status == "accepted"
    assert counts(db) == [1, 1, 0]


def test_to_ask_twice_changes_nothing(db: SmartCooking, clock: ManualClock) -> None:
    friends = Friends(db)
    first = friends.ask(ADA, BO)
    before = stored(db)
    clock.advance(60)
    assert friends.ask(ADA, BO) == first
    assert stored(db) == before


def test_to_ask_or_accept_a_friend_changes_nothing(db: SmartCooking, clock: ManualClock) -> None:
    friends = Friends(db)
    friends.ask(ADA, BO)
    friends.accept(BO, ADA)
    before = stored(db)
    clock.advance(60)
    assert friends.ask(ADA, BO).status == friends.ask(BO, ADA).status == "accepted"
    assert friends.accept(ADA, BO).status == friends.accept(BO, ADA).status == "accepted"
    assert stored(db) == before


def test_who_has_asked_cannot_answer(db: SmartCooking) -> None:
    friends = Friends(db)
    friends.ask(ADA, BO)
    for answer in (friends.accept, friends.decline):
        with pytest.raises(FriendshipRefusedError, match="user-ada has asked, and user user-bo answers"):
            answer(ADA, BO)


def test_where_nobody_has_asked_nobody_answers(db: SmartCooking) -> None:
    friends = Friends(db)
    for answer in (friends.accept, friends.decline):
        with pytest.raises(FriendshipNotFoundError, match="user-ada and user-bo"):
            answer(ADA, BO)


def test_who_was_declined_cannot_ask_again(db: SmartCooking) -> None:
    friends = Friends(db)
    friends.ask(ADA, BO)
    assert friends.decline(BO, ADA).status == "declined"
    assert friends.decline(BO, ADA).status == row(db, ADA, BO).status == "declined"
    for attempt in (friends.ask, friends.unfriend):
        with pytest.raises(FriendshipRefusedError, match="user-bo has declined"):
            attempt(ADA, BO)
    with pytest.raises(FriendshipRefusedError, match="has declined user user-ada already"):
        friends.accept(BO, ADA)
    assert counts(db) == [0, 0, 0]


def test_who_has_declined_may_ask(db: SmartCooking, clock: ManualClock) -> None:
    friends = Friends(db)
    friends.ask(ADA, BO)
    friends.decline(BO, ADA)
    clock.advance(60)
    asked = friends.ask(BO, ADA)
    assert (asked.direction, asked.status, asked.responded_at) == ("sent", "pending", None)
    assert [each.user_id for each in db.friended_by(ADA).all()] == [BO]
    assert list(db.friended_by(BO).all()) == []
    assert friends.accept(ADA, BO).status == "accepted"
    assert counts(db) == [1, 1, 0]


def test_what_was_declined_can_be_forgotten_by_who_has_declined(db: SmartCooking) -> None:
    friends = Friends(db)
    friends.ask(ADA, BO)
    friends.decline(BO, ADA)
    friends.unfriend(BO, ADA)
    assert friends.ask(ADA, BO).status == "pending"


def test_unfriended_users_have_no_rows_and_are_not_counted(db: SmartCooking) -> None:
    friends = Friends(db)
    for friend in (BO, CY):
        friends.ask(ADA, friend)
        friends.accept(friend, ADA)
    assert counts(db) == [2, 1, 1]
    friends.unfriend(BO, ADA)
    friends.unfriend(BO, ADA)
    assert rows(db) == {"USER#user-ada FRIEND#user-cy", "USER#user-cy FRIEND#user-ada"}
    assert counts(db) == [1, 0, 1]


def test_request_can_be_taken_back(db: SmartCooking) -> None:
    friends = Friends(db)
    friends.ask(ADA, BO)
    friends.unfriend(ADA, BO)
    assert rows(db) == set()


def test_nobody_asks_themselves_or_somebody_unknown(db: SmartCooking) -> None:
    friends = Friends(db)
    with pytest.raises(InvalidInputError, match="of their own"):
        friends.ask(ADA, ADA)
    with pytest.raises(UserNotFoundError, match="user-dee"):
        friends.ask(ADA, UserId("user-dee"))
    with pytest.raises(UserNotFoundError, match="user-dee"):
        friends.ask(UserId("user-dee"), ADA)
    assert rows(db) == set()


# --- both at once ---------------------------------------------------------------------------------------


def before_first_write(db: SmartCooking, act: Callable[[], object]) -> SmartCooking:
    """Return the design once more, in which somebody else acts just before the first transaction."""
    other, between = watched(db)
    done: list[bool] = []

    def interrupt(call: Call) -> None:
        if call.operation == "TransactWriteItems" and not done:
            done.append(True)
            act()

    between.before = interrupt
    return other


def test_two_who_ask_each_other_at_once_are_friends(db: SmartCooking) -> None:
    other = before_first_write(db, lambda: Friends(db).ask(BO, ADA))
    assert Friends(other).ask(ADA, BO).status == "accepted"
    assert counts(db) == [1, 1, 0]


def test_friend_who_is_declined_while_he_is_accepted_is_declined(db: SmartCooking) -> None:
    Friends(db).ask(ADA, BO)
    other = before_first_write(db, lambda: Friends(db).decline(BO, ADA))
    with pytest.raises(FriendshipRefusedError, match="has declined"):
        Friends(other).accept(BO, ADA)
    assert row(db, ADA, BO).status == row(db, BO, ADA).status == "declined"
    assert counts(db) == [0, 0, 0]


def test_request_that_is_declined_while_it_is_taken_back_stays_declined(db: SmartCooking) -> None:
    Friends(db).ask(ADA, BO)
    other = before_first_write(db, lambda: Friends(db).decline(BO, ADA))
    with pytest.raises(FriendshipRefusedError, match="user-bo has declined"):
        Friends(other).unfriend(ADA, BO)
    assert row(db, ADA, BO).status == row(db, BO, ADA).status == "declined"


def test_friend_who_is_unfriended_twice_at_once_is_counted_once(db: SmartCooking) -> None:
    Friends(db).ask(ADA, BO)
    Friends(db).accept(BO, ADA)
    other = before_first_write(db, lambda: Friends(db).unfriend(BO, ADA))
    Friends(other).unfriend(ADA, BO)
    assert rows(db) == set()
    assert counts(db) == [0, 0, 0]
