"""Accounts: one for each email address and username, with settings from the first moment."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest

from singletable.clock import ManualClock
from singletable_systems.smart_cooking.errors import (
    AccountInactiveError,
    EmailTakenError,
    InvalidInputError,
    UserExistsError,
    UsernameTakenError,
    UserNotFoundError,
)
from singletable_systems.smart_cooking.model.keys import UserId
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking
from singletable_systems.smart_cooking.services.accounts import Accounts
from singletable_systems.smart_cooking.services.sessions import Sessions
from support.opened_designs import stored_items
from support.targets import TARGETS
from systems.cooking_users import ADA, BO, CY, naming, opened_cooking, sign_up


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(params=TARGETS)
def db(request: pytest.FixtureRequest, clock: ManualClock) -> Iterator[SmartCooking]:
    with opened_cooking(request.param, clock) as db:
        yield db


@pytest.fixture
def memory(clock: ManualClock) -> Iterator[SmartCooking]:
    with opened_cooking("embedded", clock) as db:
        yield db


def test_account_is_opened_with_its_settings(db: SmartCooking) -> None:
    born = date(1990, 1, 15)
    user = Accounts(db).sign_up(
        " user@example.com ", "cookmaster", "John  Doe", date_of_birth=born, gender="male", country="Vietnam"
    )
    assert db.user(user.user_id).one() == user
    assert (user.email, user.full_name, user.role, user.is_active) == (
        "user@example.com",
        "John Doe",
        "user",
        True,
    )
    preferences = db.preferences(user.user_id).consistent().one()
    assert (preferences.preferred_recipe_count, preferences.spice_level) == (3, "medium")
    privacy = db.privacy(user.user_id).one()
    assert (privacy.profile_visibility, privacy.email_visibility) == ("public", "private")
    assert db.user_by_email("USER@example.com").one() == user
    assert db.user_by_username("CookMaster").one() == user


def test_email_and_username_are_of_one_user(db: SmartCooking) -> None:
    accounts = Accounts(db)
    accounts.sign_up("a@example.com", "ada", "Ada")
    before = stored_items(db)
    with pytest.raises(EmailTakenError, match=r"there is an account with the email A@Example.com already"):
        accounts.sign_up("A@Example.com", "bo", "Bo")
    with pytest.raises(UsernameTakenError, match="the username ADA is taken"):
        accounts.sign_up("b@example.com", "ADA", "Bo")
    assert stored_items(db) == before


def test_signing_up_again_returns_the_account(memory: SmartCooking) -> None:
    [user] = sign_up(memory, ADA)
    before = stored_items(memory)
    assert sign_up(memory, ADA) == [user]
    with pytest.raises(UserExistsError, match="there is a user user-ada already"):
        Accounts(memory).sign_up("other@example.com", "other", "Other", user_id=ADA)
    assert stored_items(memory) == before


@pytest.mark.parametrize("user_id", ["PUBLIC", "a#FAVORITE", "#", "", " "])
def test_id_that_would_be_mistaken_is_refused(memory: SmartCooking, user_id: str) -> None:
    with pytest.raises(InvalidInputError, match="can be the id of nobody"):
        Accounts(memory).sign_up("a@example.com", "ada", "Ada", user_id=UserId(user_id))
    assert stored_items(memory) == []


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"email": "nowhere"}, "is no email address"),
        ({"email": "a b@example.com"}, "is no email address"),
        ({"username": "a b"}, "is no username"),
        ({"username": "a#b"}, "is no username"),
        ({"username": ""}, "is no username"),
        ({"full_name": "  "}, "is no name"),
        ({"full_name": "x" * 101}, "is no name"),
        ({"gender": "robot"}, "gender"),
        ({"role": "admin"}, "role: "),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused(memory: SmartCooking, wrong: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"email": "a@example.com", "username": "ada", "full_name": "Ada", **wrong}
    with pytest.raises(InvalidInputError, match=message):
        Accounts(memory).sign_up(**given)
    assert stored_items(memory) == []


def test_profile_is_changed(db: SmartCooking) -> None:
    accounts = Accounts(db)
    sign_up(db, ADA)
    accounts.rename(ADA, "Ada Lovelace")
    accounts.set_avatar(ADA, "https://example.com/ada.jpg")
    changed = accounts.set_about(ADA, country="Vietnam", gender="female")
    assert db.user(ADA).one() == changed
    assert (changed.full_name, changed.avatar_url) == ("Ada Lovelace", "https://example.com/ada.jpg")
    assert (changed.country, changed.gender) == ("Vietnam", "female")
    assert accounts.set_about(ADA, country=None).country is None


def test_email_and_username_are_changed_and_the_old_ones_free(db: SmartCooking) -> None:
    accounts = Accounts(db)
    sign_up(db, ADA, BO)
    assert accounts.change_email(ADA, "new@example.com").email == "new@example.com"
    assert accounts.change_username(ADA, "countess").username == "countess"
    accounts.change_email(BO, f"{ADA}@example.com")
    accounts.change_username(BO, "ada")
    with pytest.raises(EmailTakenError):
        accounts.change_email(BO, "NEW@example.com")
    with pytest.raises(UsernameTakenError):
        accounts.change_username(BO, "Countess")
    assert db.user_by_username("ada").one().user_id == BO


def test_some_settings_are_changed_and_the_others_stay(db: SmartCooking) -> None:
    accounts = Accounts(db)
    sign_up(db, ADA)
    accounts.set_preferences(ADA, allergies=["shrimp", "crab"], spice_level="hot")
    preferences = accounts.set_preferences(ADA, preferred_recipe_count=5)
    assert db.preferences(ADA).consistent().one() == preferences
    assert (preferences.allergies, preferences.spice_level, preferences.preferred_recipe_count) == (
        ["shrimp", "crab"],
        "hot",
        5,
    )
    accounts.set_privacy(ADA, email_visibility="friends")
    privacy = accounts.set_privacy(ADA, recipes_visibility="private")
    assert db.privacy(ADA).one() == privacy
    assert (privacy.email_visibility, privacy.recipes_visibility, privacy.gender_visibility) == (
        "friends",
        "private",
        "public",
    )


def test_settings_that_are_missing_are_made(memory: SmartCooking) -> None:
    sign_up(memory, ADA)
    memory.delete(memory.privacy(ADA))
    privacy = Accounts(memory).set_privacy(ADA, email_visibility="public")
    assert memory.privacy(ADA).one() == privacy
    assert (privacy.email_visibility, privacy.profile_visibility) == ("public", "public")


@pytest.mark.parametrize(
    "wrong", [{"email_visibility": "everybody"}, {"user_role": "public"}, {"version": 7}], ids=str
)
def test_settings_that_make_no_sense_are_refused(memory: SmartCooking, wrong: dict[str, Any]) -> None:
    sign_up(memory, ADA)
    before = stored_items(memory)
    with pytest.raises(InvalidInputError):
        Accounts(memory).set_privacy(ADA, **wrong)
    memory.delete(memory.privacy(ADA))
    with pytest.raises(InvalidInputError):
        Accounts(memory).set_privacy(ADA, **wrong)
    assert len(stored_items(memory)) == len(before) - 1


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"allergies": ["x"] * 31}, "allergies: .*at most 30"),
        ({"allergies": ["x" * 101]}, "allergies.0: .*100 letters"),
        ({"allergies": ["nuts", "!!"]}, "allergies.1: .*no letters"),
        ({"allergies": "nuts"}, "allergies: "),
        ({"dietary_restrictions": [""]}, "dietary_restrictions.0: "),
        ({"favorite_cuisines": ["x#y"]}, "favorite_cuisines.0: "),
        ({"favorite_cuisines": ["x" * 60]}, "favorite_cuisines.0: "),
        ({"preferred_cooking_methods": ["x#y"]}, "preferred_cooking_methods.0: "),
        ({"preferred_recipe_count": -5}, "preferred_recipe_count: "),
    ],
    ids=str,
)
def test_preferences_that_make_no_sense_are_refused(
    memory: SmartCooking, wrong: dict[str, Any], message: str
) -> None:
    [_, before] = sign_up(memory, ADA), memory.preferences(ADA).one()
    with pytest.raises(InvalidInputError, match=f"^{message}"):
        Accounts(memory).set_preferences(ADA, **wrong)
    assert memory.preferences(ADA).one() == before


def test_email_signs_in_whoever_has_it(db: SmartCooking) -> None:
    accounts = Accounts(db)
    sign_up(db, ADA)
    session = accounts.log_in(f"{ADA.upper()}@example.com", device="Fairphone 5")
    assert Sessions(db).check(session.session_id) == ADA
    assert db.user(ADA).one().last_login == db.now()
    with pytest.raises(UserNotFoundError, match=r"there is no user nobody@example.com"):
        accounts.log_in("nobody@example.com")


def test_deactivated_account_is_kept_and_signed_out(db: SmartCooking) -> None:
    accounts = Accounts(db)
    sign_up(db, ADA)
    session = accounts.log_in(f"{ADA}@example.com")
    assert not accounts.deactivate(ADA).is_active
    assert Sessions(db).check(session.session_id) is None
    with pytest.raises(AccountInactiveError):
        accounts.log_in(f"{ADA}@example.com")
    with pytest.raises(EmailTakenError):
        accounts.sign_up(f"{ADA}@example.com", "other", "Other")
    accounts.activate(ADA)
    assert accounts.log_in(f"{ADA}@example.com").user_id == ADA


def test_unknown_user_is_a_clear_error(memory: SmartCooking) -> None:
    accounts = Accounts(memory)
    for change in (
        lambda: accounts.rename(CY, "Cy"),
        lambda: accounts.change_email(CY, "cy@example.com"),
        lambda: accounts.set_privacy(CY, email_visibility="public"),
        lambda: accounts.set_preferences(CY, allergies=[]),
        lambda: accounts.deactivate(CY),
    ):
        with pytest.raises(UserNotFoundError, match="there is no user user-cy"):
            change()
    assert naming(memory, CY) == []
