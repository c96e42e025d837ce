"""Sessions: a day at most, and over at once when somebody signs out."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from singletable.clock import ManualClock
from singletable_systems.smart_cooking.errors import AccountInactiveError, UserNotFoundError
from singletable_systems.smart_cooking.model.entities import Session
from singletable_systems.smart_cooking.model.keys import SessionId
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking
from singletable_systems.smart_cooking.services.accounts import Accounts
from singletable_systems.smart_cooking.services.sessions import Sessions
from support.opened_designs import stored_item
from support.targets import TARGETS
from systems.cooking_users import ADA, BO, CY, opened_cooking, sign_up, watched

HOUR_S, DAY_S = 3600, 86400


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(params=TARGETS)
def db(request: pytest.FixtureRequest, clock: ManualClock) -> Iterator[SmartCooking]:
    with opened_cooking(request.param, clock) as db:
        sign_up(db, ADA, BO)
        yield db


@pytest.fixture
def memory(clock: ManualClock) -> Iterator[SmartCooking]:
    with opened_cooking("embedded", clock) as db:
        sign_up(db, ADA, BO)
        yield db


def test_session_says_who_is_signed_in(db: SmartCooking) -> None:
    sessions = Sessions(db)
    session = sessions.open(ADA, device="Fairphone 5")
    assert sessions.check(session.session_id) == ADA
    assert db.sign_in(session.session_id).one() == session
    assert (session.device, session.ttl) == ("Fairphone 5", db.now() + timedelta(hours=24))
    assert sessions.check(SessionId("guessed")) is None


def test_session_is_over_after_a_day_before_it_is_swept(db: SmartCooking, clock: ManualClock) -> None:
    session = Sessions(db).open(ADA)
    clock.jump(DAY_S - 1)
    assert Sessions(db).check(session.session_id) == ADA
    clock.jump(1)  # nothing is swept when a clock jumps
    assert stored_item(db, f"SESSION#{session.session_id}", "METADATA") is not None
    assert Sessions(db).check(session.session_id) is None
    assert list(db.sign_ins(ADA).all()) == []


def test_closed_session_is_over_at_once(db: SmartCooking) -> None:
    sessions = Sessions(db)
    phone, tablet = sessions.open(ADA), sessions.open(ADA)
    sessions.close(phone.session_id)
    sessions.close(phone.session_id)
    assert sessions.check(phone.session_id) is None
    assert sessions.check(tablet.session_id) == ADA


def test_all_sessions_of_a_user_are_closed_and_no_others(db: SmartCooking, clock: ManualClock) -> None:
    sessions = Sessions(db)
    opened = []
    for _ in range(30):
        clock.advance(1)
        opened.append(sessions.open(ADA))
    other = sessions.open(BO)
    sessions.close_all(ADA)
    assert {sessions.check(each.session_id) for each in opened} == {None}
    assert sessions.check(other.session_id) == BO


def test_last_login_is_written_once_a_day(memory: SmartCooking, clock: ManualClock) -> None:
    logins = []
    for _ in range(12):
        clock.advance(6 * HOUR_S)
        asking, between = watched(memory)
        Sessions(asking).open(ADA)
        [transaction] = [call for call in between.calls if call.operation == "TransactWriteItems"]
        logins.append("Update" in {*transaction.params["TransactItems"][0]})
        assert memory.user(ADA).one().last_login is not None
    days = {(memory.now() - timedelta(hours=6 * back)).date() for back in range(12)}
    assert logins.count(True) == len(days)
    assert logins[0]


def test_last_login_is_the_first_one_of_the_day(memory: SmartCooking, clock: ManualClock) -> None:
    Sessions(memory).open(ADA)
    first = memory.now()
    midnight = first.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    clock.advance((midnight - first).total_seconds() - 1)
    Sessions(memory).open(ADA)
    assert memory.user(ADA).one().last_login == first
    clock.advance(1)
    Sessions(memory).open(ADA)
    assert memory.user(ADA).one().last_login == midnight


def test_session_ids_are_long_and_differ(memory: SmartCooking) -> None:
    ids = {Sessions(memory).open(ADA).session_id for _ in range(20)}
    assert len(ids) == 20
    assert min(map(len, ids)) >= 43


def test_nobody_is_signed_in_without_an_active_account(memory: SmartCooking) -> None:
    with pytest.raises(UserNotFoundError, match="there is no user user-cy"):
        Sessions(memory).open(CY)
    Accounts(memory).deactivate(ADA)
    with pytest.raises(AccountInactiveError, match="the account of user user-ada is not active"):
        Sessions(memory).open(ADA)
    assert memory.sign_ins(ADA).first() is None
    assert memory.sign_ins(CY).first() is None


@pytest.mark.parametrize("shown", ["", "a#b", "x" * 3_000], ids=["nothing", "two parts", "long"])
def test_what_is_the_id_of_nothing_is_no_session(db: SmartCooking, shown: str) -> None:
    assert Sessions(db).check(SessionId(shown)) is None


def test_session_of_an_account_that_is_closed_or_gone_is_over(db: SmartCooking) -> None:
    ada, bo = (Sessions(db).open(user_id).session_id for user_id in (ADA, BO))
    db.update(db.user(ADA), is_active=False)  # the sessions were not seen by whoever has closed it
    db.delete(db.user(BO))
    db.put(Session(session_id=SessionId("left"), user_id=BO))
    assert [Sessions(db).check(each) for each in (ada, bo, SessionId("left"))] == [None, None, None]
    db.update(db.user(ADA), is_active=True)
    assert Sessions(db).check(ada) == ADA
