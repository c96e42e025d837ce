"""Accounts: a username is of one user, and all that a user has done goes with the account."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from singletable import Cascade, Database
from singletable.clock import ManualClock
from singletable_systems.perfectit.errors import (
    InvalidInputError,
    UserExistsError,
    UsernameTakenError,
    UserNotFoundError,
)
from singletable_systems.perfectit.model.entities import Notification
from singletable_systems.perfectit.model.keys import NotificationId, UserId
from singletable_systems.perfectit.reactions.handlers import PerfectIt
from singletable_systems.perfectit.services.accounts import Accounts
from singletable_systems.perfectit.services.categories import Categories
from singletable_systems.perfectit.services.collections import Collecting
from singletable_systems.perfectit.services.comments import Commenting
from singletable_systems.perfectit.services.votes import Voting
from support.targets import TARGETS
from systems.perfectit_people import (
    ADA,
    BO,
    CY,
    WOOD,
    draft,
    everything,
    follow,
    opened_perfectit,
    publish,
    sign_up,
    watched,
)


@pytest.fixture(params=TARGETS)
def db(request: pytest.FixtureRequest) -> Iterator[PerfectIt]:
    with opened_perfectit(request.param, ManualClock()) as db:
        yield db


@pytest.fixture
def memory() -> Iterator[PerfectIt]:
    with opened_perfectit("embedded", ManualClock()) as db:
        yield db


# --- names -----------------------------------------------------------------------------------------------------


def test_user_is_found_by_username_in_either_case(db: PerfectIt) -> None:
    user = Accounts(db).sign_up("Dora", bio="Oak")
    assert db.user_by_username("dora").one() == db.user_named("DORA").one() == user


def test_username_is_of_one_user(db: PerfectIt) -> None:
    with pytest.raises(UsernameTakenError, match=r"the username Ada\.Name is taken"):
        Accounts(db).sign_up("Ada.Name")


def test_one_of_many_who_want_a_username_gets_it(db: PerfectIt) -> None:
    def claim(number: int) -> bool:
        try:
            Accounts(db).sign_up("wanted", user_id=UserId(f"user{number}"))
        except UsernameTakenError:
            return False
        return True

    with ThreadPoolExecutor(4) as threads:
        assert sum(threads.map(claim, range(8))) == 1


def test_signing_up_again_changes_nothing(db: PerfectIt) -> None:
    assert sign_up(db, ADA) == db.user(ADA).one()
    with pytest.raises(UserExistsError, match="there is a user ada already"):
        Accounts(db).sign_up("somebody", user_id=ADA)
    assert db.user_named("somebody").maybe() is None


def test_old_username_is_free_after_a_change(db: PerfectIt) -> None:
    Accounts(db).change_username(ADA, "lovelace")
    assert db.user_by_username("lovelace").one().user_id == ADA
    assert list(db.user_by_username("ada.name").all()) == []
    assert Accounts(db).sign_up("ada.name").username == "ada.name"
    with pytest.raises(UsernameTakenError):
        Accounts(db).change_username(ADA, "BO.name")


@pytest.mark.parametrize("username", ["", "a", "a#b", "two words", "x" * 41, "..", "._-"])
def test_what_is_no_username_is_refused(memory: PerfectIt, username: str) -> None:
    with pytest.raises(InvalidInputError, match="is no username"):
        Accounts(memory).sign_up(username)


def wide(text: str) -> str:
    """Return letters as they stand among Chinese ones: they look the same, and are others."""
    return "".join(chr(ord(letter) + 0xFEE0) for letter in text)


def test_wide_letters_make_no_other_name(db: PerfectIt) -> None:
    dora = Accounts(db).sign_up(wide("Dora"))
    assert dora.username == "Dora"
    assert db.user_named(wide("dora")).one() == db.user_by_username("DORA").one() == dora
    with pytest.raises(UsernameTakenError):
        Accounts(db).sign_up(wide("d") + "ora")


def test_description_is_set_and_who_is_not_there_is_not_described(db: PerfectIt) -> None:
    described = Accounts(db).describe(ADA, bio="Turns bowls")
    assert (described.bio, described.display_name) == ("Turns bowls", "Åsa")
    assert Accounts(db).describe(ADA) == described
    with pytest.raises(UserNotFoundError, match="there is no user eve"):
        Accounts(db).describe(UserId("eve"), bio="Apples")


# --- deleting ----------------------------------------------------------------------------------------------------


def settle_in(db: PerfectIt, user_id: UserId, other: UserId) -> None:
    """Let a user do something of everything, also to what another one has, who answers."""
    own, draft_of_own, others = publish(db, user_id), draft(db, user_id), publish(db, other)
    assert draft_of_own.status == "DRAFT"
    commenting, voting, collecting = Commenting(db), Voting(db), Collecting(db)
    for writer, card in ((user_id, others), (other, own)):
        comment = commenting.comment(writer, card.card_id, "Which oil?")
        voting.vote(writer, card.card_id, 1)
        for voter in (user_id, other):
            voting.vote_on_comment(voter, card.card_id, comment.created_at, comment.comment_id, -1)
    collecting.add(user_id, collecting.create(user_id, "Mine").collection_id, others.card_id)
    collecting.add(other, collecting.create(other, "Theirs").collection_id, own.card_id)
    db.put(
        Notification(
            notification_id=NotificationId("n1"),
            user_id=user_id,
            type="vote",
            card_id=own.card_id,
            target_id=own.card_id,
            created_at=db.now(),
        )
    )


def test_user_goes_with_everything_and_the_counts_of_others_are_right(db: PerfectIt) -> None:
    sign_up(db, UserId("dora"))
    settle_in(db, UserId("dora"), BO)
    follow(db)
    told: list[Cascade] = []
    done = Accounts(db).delete_all_data(UserId("dora"), progress=told.append)
    follow(db)
    assert not any("dora" in item for items in everything(db).values() for item in items)
    assert done == told[-1]
    assert {"User", "PerfectionCard", "Comment", "Vote", "Collection", "Notification"} <= set(done.counts)
    assert db.verify().is_clean


def test_deletion_reads_no_more_among_many_users(memory: PerfectIt) -> None:
    def cost() -> tuple[float, set[str]]:
        sign_up(memory, UserId("dora"))
        settle_in(memory, UserId("dora"), BO)
        slow, between = watched(memory)
        done = Accounts(slow).delete_all_data(UserId("dora"))
        return done.units, {call.operation for call in between.calls}

    few, operations = cost()
    for number in range(15):
        sign_up(memory, UserId(f"user{number}"))
        settle_in(memory, UserId(f"user{number}"), CY)
    many, _ = cost()
    assert many == few
    assert "Scan" not in operations


def test_deletion_that_was_interrupted_is_gone_on_with(memory: PerfectIt) -> None:
    sign_up(memory, UserId("dora"))
    settle_in(memory, UserId("dora"), BO)
    limit = 0
    while True:
        slow, between = watched(memory)
        limit += 3
        left = [limit]

        def count(call: object, left: list[int] = left) -> None:
            left[0] -= 1
            if left[0] < 0:
                raise ConnectionError("the line is cut")

        between.before = count
        try:
            Accounts(slow).delete_all_data(UserId("dora"))
        except ConnectionError:
            continue
        break
    follow(memory)
    assert not any("dora" in item for items in everything(memory).values() for item in items)
    assert memory.verify().is_clean


def test_what_an_index_had_not_shown_goes_a_moment_later() -> None:
    clock = ManualClock()
    with Database.open(":memory:", clock=clock, index_delay_s=1) as late, PerfectIt.open(late) as db:
        Categories(db).add(WOOD, "Woodworking")
        for user_id in (BO, UserId("dora")):
            sign_up(db, user_id)
        settle_in(db, UserId("dora"), BO)
        Accounts(db).delete_all_data(UserId("dora"))
        clock.advance(2)
        assert any("dora" in item for item in everything(db)["table"]), "the indexes were late"
        follow(db)
        clock.advance(2)
        assert not any("dora" in item for items in everything(db).values() for item in items)
        assert db.verify().is_clean


def test_who_signs_up_again_keeps_what_came_after(memory: PerfectIt) -> None:
    """The old deletion may be delivered once more, long after."""
    Accounts(memory).delete_all_data(ADA)
    sign_up(memory, ADA)
    card = publish(memory)
    follow(memory)
    assert memory.card(card.card_id).one().title == card.title


def test_nothing_is_deleted_where_nothing_is(db: PerfectIt) -> None:
    assert Accounts(db).delete_all_data(UserId("eve")).total == 0
    assert Accounts(db).deletion_plan(ADA).total == 1
    assert list(db.own_cards(ADA).all()) == []
