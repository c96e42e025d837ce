"""Viewing: owners, friends, strangers and nobody in particular see what the eight settings allow, and no more."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any, Literal

import pytest

from singletable.clock import ManualClock
from singletable_systems.smart_cooking.errors import (
    PostNotFoundError,
    RecipeNotFoundError,
    UserNotFoundError,
)
from singletable_systems.smart_cooking.model.entities import RecipeIngredient, Visibility
from singletable_systems.smart_cooking.model.keys import PostId, RecipeId, UserId
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking
from singletable_systems.smart_cooking.services.accounts import Accounts
from singletable_systems.smart_cooking.services.pantry import Pantry
from singletable_systems.smart_cooking.services.views import Viewing
from support.targets import TARGETS
from systems.cooking_users import ADA, BO, CY, befriend, opened_cooking, post_by, recipe_by, sign_up

DEE = UserId("user-dee")
SEEN_BY: dict[Visibility, set[UserId | None]] = {
    "public": {ADA, BO, CY, DEE, None},
    "friends": {ADA, BO},
    "private": {ADA},
}
VIEWERS: list[UserId | None] = [ADA, BO, CY, DEE, None]
ABOUT = {
    "email": f"{ADA}@example.com",
    "date_of_birth": date(1990, 1, 15),
    "gender": "female",
    "country": "Vietnam",
}
Part = Literal["recipes", "ingredients", "preferences"]


@pytest.fixture(params=TARGETS)
def db(request: pytest.FixtureRequest) -> Iterator[SmartCooking]:
    with opened_cooking(request.param, ManualClock()) as db:
        live(db)
        yield db


@pytest.fixture
def memory() -> Iterator[SmartCooking]:
    with opened_cooking("embedded", ManualClock()) as db:
        live(db)
        yield db


def live(db: SmartCooking) -> None:
    """Ada has all there is to see; Bo is her friend, Cy has asked to be one, Dee is nobody she knows."""
    sign_up(db, ADA, BO, CY, DEE)
    Accounts(db).set_about(ADA, date_of_birth=date(1990, 1, 15), gender="female", country="Vietnam")
    Accounts(db).set_preferences(ADA, allergies=["shrimp"])
    Pantry(db).add(ADA, ["Sả"])
    db.create(recipe_by(ADA, "soup"))
    db.create(RecipeIngredient(recipe_id=RecipeId(f"{ADA}-soup"), position=1, ingredient_name="Sả"))
    db.create(recipe_by(ADA, "secret", is_public=False))
    befriend(db, ADA, BO)
    befriend(db, CY, ADA, is_accepted=False)


def set_privacy(db: SmartCooking, **settings: Visibility) -> None:
    changes: dict[str, Any] = {f"{name}_visibility": visibility for name, visibility in settings.items()}
    Accounts(db).set_privacy(ADA, **changes)


def is_shown(db: SmartCooking, viewer: UserId | None) -> bool:
    try:
        return Viewing(db).profile(ADA, viewer).user_id == ADA
    except UserNotFoundError:
        return False


@pytest.mark.parametrize("visibility", SEEN_BY)
def test_profile_is_there_for_those_who_may_see_it(db: SmartCooking, visibility: Visibility) -> None:
    set_privacy(db, profile=visibility)
    assert {viewer for viewer in VIEWERS if is_shown(db, viewer)} == SEEN_BY[visibility]


@pytest.mark.parametrize("field", ABOUT)
@pytest.mark.parametrize("visibility", SEEN_BY)
def test_field_of_a_profile_is_seen_as_its_own_setting_says(
    memory: SmartCooking, field: str, visibility: Visibility
) -> None:
    others: dict[str, Visibility] = dict.fromkeys(ABOUT, "public" if visibility == "private" else "private")
    set_privacy(memory, **{**others, field: visibility})
    for viewer in VIEWERS:
        seen = Viewing(memory).profile(ADA, viewer).model_dump()
        for name, value in ABOUT.items():
            setting = visibility if name == field else others[name]
            assert seen[name] == (value if viewer in SEEN_BY[setting] else None), (viewer, name)
        assert (seen["username"], seen["friends_count"]) == ("ada", 1)


def part_of(db: SmartCooking, part: Part, viewer: UserId | None) -> list[str]:
    viewing = Viewing(db)
    match part:
        case "recipes":
            return [each.title for each in viewing.recipes(ADA, viewer).items]
        case "ingredients":
            return [each.ingredient_name for each in viewing.ingredients(ADA, viewer).items]
        case "preferences":
            seen = viewing.preferences(ADA, viewer)
            return [] if seen is None else seen.allergies


@pytest.mark.parametrize("visibility", SEEN_BY)
@pytest.mark.parametrize("part", ["recipes", "ingredients", "preferences"])
def test_part_of_a_profile_is_empty_for_those_who_may_not_see_it(
    db: SmartCooking, part: Part, visibility: Visibility
) -> None:
    set_privacy(db, **{part: visibility})
    shown = {"recipes": ["soup"], "ingredients": ["Sả"], "preferences": ["shrimp"]}[part]
    for viewer in VIEWERS[1:]:
        assert part_of(db, part, viewer) == (shown if viewer in SEEN_BY[visibility] else []), viewer


@pytest.mark.parametrize("part", ["recipes", "ingredients", "preferences"])
def test_parts_of_a_hidden_profile_look_like_those_of_nobody(memory: SmartCooking, part: Part) -> None:
    set_privacy(memory, profile="friends", recipes="public", ingredients="public", preferences="public")
    assert part_of(memory, part, BO)
    for viewer in (CY, DEE, None):
        with pytest.raises(UserNotFoundError, match="there is no user user-ada"):
            part_of(memory, part, viewer)
    with pytest.raises(UserNotFoundError, match="there is no user nobody"):
        Viewing(memory).recipes(UserId("nobody"), BO)


def test_owner_sees_everything_also_of_a_closed_account(memory: SmartCooking) -> None:
    hidden: dict[str, Visibility] = dict.fromkeys(
        ["profile", *ABOUT, "recipes", "ingredients", "preferences"], "private"
    )
    set_privacy(memory, **hidden)
    Accounts(memory).deactivate(ADA)
    viewing = Viewing(memory)
    assert {name: viewing.profile(ADA, ADA).model_dump()[name] for name in ABOUT} == ABOUT
    assert {each.title for each in viewing.recipes(ADA, ADA).items} == {"soup", "secret"}
    assert part_of(memory, "ingredients", ADA) == ["Sả"]
    assert part_of(memory, "preferences", ADA) == ["shrimp"]
    assert viewing.recipe(RecipeId(f"{ADA}-secret"), ADA).recipe.title == "secret"


def test_deactivated_account_looks_like_one_that_is_not_there(memory: SmartCooking) -> None:
    Accounts(memory).deactivate(ADA)
    assert [viewer for viewer in VIEWERS if is_shown(memory, viewer)] == [ADA]


def test_settings_that_nobody_has_made_are_those_of_the_document(memory: SmartCooking) -> None:
    memory.delete(memory.privacy(ADA))
    friend, stranger = (Viewing(memory).profile(ADA, viewer) for viewer in (BO, DEE))
    assert (friend.email, friend.date_of_birth) == (None, ABOUT["date_of_birth"])
    assert (stranger.email, stranger.date_of_birth, stranger.country) == (None, None, "Vietnam")


def test_who_is_a_friend_no_more_sees_no_more(memory: SmartCooking) -> None:
    assert Viewing(memory).profile(ADA, BO).date_of_birth is not None
    memory.delete(memory.friendship(ADA, BO))
    memory.delete(memory.friendship(BO, ADA))
    assert Viewing(memory).profile(ADA, BO).date_of_birth is None


@pytest.mark.parametrize("visibility", SEEN_BY)
def test_public_recipe_is_seen_as_its_owner_allows(db: SmartCooking, visibility: Visibility) -> None:
    set_privacy(db, recipes=visibility)
    for viewer in VIEWERS:
        if viewer in SEEN_BY[visibility]:
            seen = Viewing(db).recipe(RecipeId(f"{ADA}-soup"), viewer)
            assert (seen.recipe.title, [each.ingredient_name for each in seen.ingredients]) == (
                "soup",
                ["Sả"],
            )
        else:
            with pytest.raises(RecipeNotFoundError, match="there is no recipe user-ada-soup"):
                Viewing(db).recipe(RecipeId(f"{ADA}-soup"), viewer)


@pytest.mark.parametrize("visibility", SEEN_BY)
def test_recipe_of_a_hidden_profile_looks_like_none(db: SmartCooking, visibility: Visibility) -> None:
    set_privacy(db, profile=visibility, recipes="public")
    for viewer in VIEWERS:
        if viewer in SEEN_BY[visibility]:
            assert Viewing(db).recipe(RecipeId(f"{ADA}-soup"), viewer).recipe.title == "soup"
        else:
            with pytest.raises(RecipeNotFoundError, match="there is no recipe user-ada-soup"):
                Viewing(db).recipe(RecipeId(f"{ADA}-soup"), viewer)


def test_recipes_and_posts_of_a_closed_account_are_the_owners_alone(db: SmartCooking) -> None:
    db.create(post_by(db, ADA))
    Accounts(db).deactivate(ADA)
    viewing, recipe_id, post_id = Viewing(db), RecipeId(f"{ADA}-soup"), PostId(f"{ADA}-post")
    for viewer in VIEWERS[1:]:
        with pytest.raises(RecipeNotFoundError):
            viewing.recipe(recipe_id, viewer)
        with pytest.raises(PostNotFoundError):
            viewing.post(post_id, viewer)
    assert (viewing.recipe(recipe_id, ADA).recipe.title, viewing.post(post_id, ADA).user_id) == ("soup", ADA)
    Accounts(db).activate(ADA)
    assert viewing.post(post_id, None).user_name == f"Name of {ADA}"


def test_admins_are_listed_as_their_settings_allow(db: SmartCooking) -> None:
    for admin in (ADA, CY, DEE):
        db.update(db.user(admin), role="admin")
    set_privacy(db, email="friends", date_of_birth="private")
    Accounts(db).set_privacy(CY, profile_visibility="private")
    Accounts(db).deactivate(DEE)

    def seen(viewer: UserId | None) -> list[tuple[UserId, str | None, date | None]]:
        page = Viewing(db).admins(viewer)
        return [(each.user_id, each.email, each.date_of_birth) for each in page]

    assert seen(None) == [(ADA, None, None)]
    assert seen(BO) == [(ADA, ABOUT["email"], None)]
    assert {each.user_id for each in Viewing(db).admins(CY)} == {ADA, CY}
    first = Viewing(db).admins(CY, limit=1)
    assert first.cursor is not None
    assert first.usage.units > db.admins().page(1).usage.units  # with what was asked about them


def test_recipe_that_is_not_public_is_the_owners_alone(memory: SmartCooking) -> None:
    for viewer in VIEWERS[1:]:
        with pytest.raises(RecipeNotFoundError):
            Viewing(memory).recipe(RecipeId(f"{ADA}-secret"), viewer)
    with pytest.raises(RecipeNotFoundError, match="there is no recipe none"):
        Viewing(memory).recipe(RecipeId("none"), ADA)


def test_generated_recipe_is_seen_by_everybody_who_is_signed_in(memory: SmartCooking) -> None:
    memory.update(memory.recipe(RecipeId(f"{ADA}-secret")), is_ai_generated=True)
    assert Viewing(memory).recipe(RecipeId(f"{ADA}-secret"), DEE).recipe.title == "secret"
    with pytest.raises(RecipeNotFoundError):
        Viewing(memory).recipe(RecipeId(f"{ADA}-secret"), None)


def test_pages_of_public_recipes_are_full(memory: SmartCooking) -> None:
    for number in range(12):
        memory.create(recipe_by(ADA, f"dish {number:02}", is_public=number % 3 == 0))
    pages, cursor = [], None
    while True:
        page = Viewing(memory).recipes(ADA, DEE, limit=2, cursor=cursor)
        pages.append([each.title for each in page.items])
        cursor = page.cursor
        if cursor is None:
            break
    titles = [title for page in pages for title in page]
    assert sorted(titles) == ["dish 00", "dish 03", "dish 06", "dish 09", "soup"]
    assert [len(page) for page in pages[:2]] == [2, 2]


def test_private_post_is_its_authors_alone(db: SmartCooking) -> None:
    db.create(post_by(db, ADA, "open"))
    db.create(post_by(db, ADA, "closed", is_public=False))
    viewing = Viewing(db)
    for viewer in VIEWERS:
        assert viewing.post(PostId(f"{ADA}-open"), viewer).user_id == ADA
    assert viewing.post(PostId(f"{ADA}-closed"), ADA).is_public is False
    for viewer in VIEWERS[1:]:
        with pytest.raises(PostNotFoundError, match="there is no post user-ada-closed"):
            viewing.post(PostId(f"{ADA}-closed"), viewer)
    with pytest.raises(PostNotFoundError):
        viewing.post(PostId("none"), ADA)
