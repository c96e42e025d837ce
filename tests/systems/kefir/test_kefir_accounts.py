"""Accounts: an email address is of one user, and an account says what its user wants."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import pytest

from singletable.client import Call
from singletable.clock import ManualClock
from singletable_systems.kefir.errors import (
    EmailTakenError,
    InvalidInputError,
    KefirError,
    UserExistsError,
    UserNotFoundError,
)
from singletable_systems.kefir.model.entities import Preferences
from singletable_systems.kefir.reactions.handlers import Kefir
from singletable_systems.kefir.services.accounts import Accounts
from support.targets import TARGETS
from systems.kefir_users import ADA, BO, opened_kefir, sign_up, watched


@pytest.fixture(params=TARGETS)
def db(request: pytest.FixtureRequest) -> Iterator[Kefir]:
    with opened_kefir(request.param, ManualClock()) as db:
        yield db


@pytest.fixture
def memory() -> Iterator[Kefir]:
    with opened_kefir("embedded", ManualClock()) as db:
        yield db


# --- signing up -------------------------------------------------------------------------------------------


def test_account_is_found_by_its_id_and_by_its_email_in_either_case(db: Kefir) -> None:
    user = Accounts(db).sign_up(" Ada@Example.com ", name="Ada")
    assert user.email == "Ada@Example.com"
    assert db.user(user.user_id).one() == user
    assert db.user_by_email("ada@EXAMPLE.com").one() == user


def test_email_is_of_one_account_in_either_case(db: Kefir) -> None:
    accounts = Accounts(db)
    accounts.sign_up("ada@example.com")
    with pytest.raises(EmailTakenError, match=r"the email ADA@example\.com already"):
        accounts.sign_up("ADA@example.com")


def test_ids_that_are_made_up_differ(memory: Kefir) -> None:
    accounts = Accounts(memory)
    users = [accounts.sign_up(f"user{number}@example.com").user_id for number in range(20)]
    assert users == sorted(set(users))


def test_signing_up_again_with_the_same_id_and_email_changes_nothing(db: Kefir) -> None:
    first = sign_up(db, ADA)
    assert Accounts(db).sign_up("ADA@example.com", user_id=ADA) == first


def test_id_of_another_account_is_refused(memory: Kefir) -> None:
    first = sign_up(memory, ADA)
    with pytest.raises(UserExistsError, match="there is a user ada already"):
        Accounts(memory).sign_up("other@example.com", user_id=ADA)
    assert memory.user(ADA).one() == first
    assert memory.user_by_email("other@example.com").maybe() is None


def test_email_that_somebody_takes_meanwhile_is_refused(db: Kefir) -> None:
    slow, between = watched(db)

    def overtake(call: Call) -> None:
        between.before = lambda call: None
        sign_up(db, ADA)

    between.before = overtake
    with pytest.raises(EmailTakenError):
        Accounts(slow).sign_up("ada@example.com", user_id=BO)
    assert db.user(BO).maybe() is None


@pytest.mark.parametrize(
    "email", ["", "ada", "@example.com", "ada@", "ada @example.com", "ada@example.com\nx"]
)
def test_text_that_is_no_address_is_refused(memory: Kefir, email: str) -> None:
    with pytest.raises(InvalidInputError, match="is no email address"):
        Accounts(memory).sign_up(email)


@pytest.mark.parametrize("email", ["o#brien@example.com", "åsa@exämple.se", '"a@b"@example.com'])
def test_odd_addresses_are_addresses(memory: Kefir, email: str) -> None:
    user = Accounts(memory).sign_up(email)
    assert memory.user_by_email(email).one() == user


# --- changing -----------------------------------------------------------------------------------------------


def test_old_email_is_free_after_a_change(db: Kefir) -> None:
    sign_up(db, ADA)
    accounts = Accounts(db)
    changed = accounts.change_email(ADA, "new@example.com")
    assert db.user_by_email("new@example.com").one() == changed
    assert db.user_by_email("ada@example.com").maybe() is None
    assert accounts.sign_up("ada@example.com", user_id=BO).user_id == BO


def test_email_of_somebody_else_is_not_taken_over(db: Kefir) -> None:
    sign_up(db, ADA)
    bo = sign_up(db, BO)
    with pytest.raises(EmailTakenError):
        Accounts(db).change_email(BO, "Ada@example.com")
    assert db.user(BO).one() == bo


def test_own_email_can_be_written_in_another_way(memory: Kefir) -> None:
    sign_up(memory, ADA)
    assert Accounts(memory).change_email(ADA, "Ada@Example.com").email == "Ada@Example.com"
    assert memory.user_by_email("ada@example.com").one().email == "Ada@Example.com"


def test_preferences_and_name_are_changed(db: Kefir) -> None:
    sign_up(db, ADA)
    accounts = Accounts(db)
    quiet = Preferences(notifications_enabled=False, default_temperature_c=Decimal("19.5"))
    accounts.set_preferences(ADA, quiet)
    accounts.rename(ADA, None)
    stored = db.user(ADA).one()
    assert (stored.preferences, stored.name, stored.version) == (quiet, None, 3)


def test_account_that_is_not_there_is_not_changed(memory: Kefir) -> None:
    accounts = Accounts(memory)
    with pytest.raises(UserNotFoundError, match="there is no user ada"):
        accounts.change_email(ADA, "a@example.com")
    with pytest.raises(UserNotFoundError):
        accounts.rename(ADA, "Ada")
    preferences = Preferences(notifications_enabled=True, default_temperature_c=Decimal(20))
    with pytest.raises(KefirError):
        accounts.set_preferences(ADA, preferences)
    assert memory.user_by_email("a@example.com").maybe() is None
