"""Copies of Smart Cooking: names and pictures in posts follow when their authors change them (SC-38)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from singletable.clock import ManualClock
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking
from singletable_systems.smart_cooking.services.accounts import Accounts
from singletable_systems.smart_cooking.services.posts import Posts
from support.targets import TARGETS
from systems.cooking_streams import handle, stored
from systems.cooking_users import ADA, BO, opened_cooking, sign_up, watched

AVATAR = "https://example.com/ada.jpg"


@pytest.fixture(params=TARGETS)
def db(request: pytest.FixtureRequest) -> Iterator[SmartCooking]:
    with opened_cooking(request.param, ManualClock()) as db:
        sign_up(db, ADA, BO)
        yield db


def bylines(db: SmartCooking) -> set[tuple[str | None, str | None]]:
    return {(post.user_name, post.user_avatar) for post in db.posts_of(ADA).all()}


def test_new_post_has_the_name_and_the_picture_of_now(db: SmartCooking) -> None:
    Accounts(db).set_avatar(ADA, AVATAR)
    Posts(db).write(ADA, "Look")
    assert bylines(db) == {("Name of user-ada", AVATAR)}


def test_rename_refreshes_all_posts_of_the_author_and_of_nobody_else(db: SmartCooking) -> None:
    for is_public in (True, False):
        Posts(db).write(ADA, "Look", is_public=is_public)
    Posts(db).write(BO, "Look")
    Accounts(db).rename(ADA, "Ada Lovelace")
    Accounts(db).set_avatar(ADA, AVATAR)
    handle(db)
    assert bylines(db) == {("Ada Lovelace", AVATAR)}
    assert [post.user_name for post in db.posts_of(BO).all()] == ["Name of user-bo"]
    Accounts(db).set_avatar(ADA, None)
    handle(db)
    assert bylines(db) == {("Ada Lovelace", None)}
    assert db.verify().is_clean


def test_rename_refreshes_more_posts_than_a_page_holds(db: SmartCooking) -> None:
    posts = Posts(db)
    for number in range(120):
        posts.write(ADA, f"{number}")
    Accounts(db).rename(ADA, "Ada Lovelace")
    handle(db)
    assert bylines(db) == {("Ada Lovelace", None)}
    assert len(list(db.posts_of(ADA).all())) == 120


def test_rename_leaves_counts_and_feeds_alone(db: SmartCooking) -> None:
    posts = Posts(db)
    post = posts.write(ADA, "Look")
    posts.comment(BO, post.post_id, "Good")
    handle(db)
    Accounts(db).rename(ADA, "Ada Lovelace")
    handle(db)
    refreshed = db.post(post.post_id).consistent().one()
    assert (refreshed.user_name, refreshed.comments_count) == ("Ada Lovelace", 1)
    assert refreshed.created_at == post.created_at
    assert [each.post_id for each in db.public_feed(db.now()).all()] == [post.post_id]


def test_rename_that_is_told_twice_or_late_leaves_the_last_name(db: SmartCooking) -> None:
    Posts(db).write(ADA, "Look")
    for name in ("Ada Byron", "Ada King", "Ada Lovelace"):
        Accounts(db).rename(ADA, name)
    handle(db, times=2)
    assert bylines(db) == {("Ada Lovelace", None)}
    before = stored(db)
    handle(db, times=2)
    assert stored(db) == before


def test_refresh_that_changes_nothing_writes_nothing(db: SmartCooking) -> None:
    Posts(db).write(ADA, "Look")
    Accounts(db).rename(ADA, "Ada Lovelace")
    handle(db)
    other, between = watched(db)
    handle(other)
    assert not {"PutItem", "UpdateItem", "DeleteItem"} & {*between.operations()}
