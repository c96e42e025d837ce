"""What makes no sense is refused by every service in the same way, with the field and the reason."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from singletable.clock import ManualClock
from singletable_systems import smart_cooking
from singletable_systems.smart_cooking import Cooking, SmartCooking
from singletable_systems.smart_cooking.errors import InvalidInputError
from support.opened_designs import stored_items
from systems.cooking_recipes import written
from systems.cooking_users import ADA, BO, opened_cooking, sign_up

app: Any = smart_cooking  # as programs see it that no type checker has seen
AT: Any = datetime(2023, 11, 1, tzinfo=UTC)
NAIVE: Any = AT.replace(tzinfo=None)
LONG: Any = "x" * 3_000

Call = Callable[[SmartCooking], object]

# What is given, and the beginning of what is said about it.
WRONG: dict[str, tuple[Call, str]] = {
    "half a star": (lambda db: app.Ratings(db).rate(BO, "r", 4.5), "rating: Input should be a valid integer"),
    "a text of stars": (
        lambda db: app.Ratings(db).rate(BO, "r", "5"),
        "rating: Input should be a valid integer",
    ),
    "a true star": (lambda db: app.Ratings(db).rate(BO, "r", rating=True), "rating: "),
    "stars for a suggestion": (
        lambda db: app.Suggestions(db, app.PantrySource()).feedback(BO, AT, "s", 3.5),
        "rating: Input should be a valid integer",
    ),
    "a text for names": (
        lambda db: app.Suggestions(db, app.PantrySource()).suggest(BO, "chicken"),
        "names: 'str' instances are not allowed",
    ),
    "a day without zone": (
        lambda db: app.Cooking(db).complete(BO, AT, "h", cook_date=NAIVE),
        "cook_date: Input should have timezone info",
    ),
    "a moment without zone": (lambda db: app.Cooking(db).cancel(BO, NAIVE, "h"), "CookingSK.created_at"),
    "an id in two parts": (
        lambda db: app.Cooking(db).cancel(BO, AT, "a#b"),
        "CookingSK.history_id .*'a#b' holds",
    ),
    "an unknown feeling": (
        lambda db: app.Reactions(db).react(BO, "p", "hate"),
        "reaction_type: Input should be",
    ),
    "a post of two parts": (lambda db: app.Reactions(db).react(BO, "a#b"), "PostPK.post_id .*'a#b' holds"),
    "a post without id": (lambda db: app.Viewing(db).post("", None), "PostPK.post_id .*the text is empty"),
    "a user without id": (lambda db: app.Viewing(db).profile("", BO), "UserPK.user_id .*the text is empty"),
    "a long user id": (
        lambda db: app.Accounts(db).sign_up("a@b.c", "z", "Z", user_id=LONG),
        "UserPK .*3,005 bytes",
    ),
    "a long friend": (lambda db: app.Friends(db).ask(BO, LONG), "FriendSK .*3,007 bytes"),
    "a long category": (lambda db: app.Catalogue(db).add("abc", LONG), "category: .*800 are allowed"),
    "a long device": (lambda db: app.Sessions(db).open(BO, device=LONG), "device: .*800 are allowed"),
    "a long term": (lambda db: app.Catalogue(db).search(LONG), "term: .*at most 100"),
    "long notes": (
        lambda db: app.Reports(db).report(BO, LONG),
        "a name may have 100 letters, and this one has 3000",
    ),
    "a cursor of nothing": (lambda db: app.Pantry(db).page(BO, cursor="junk"), "this is no cursor"),
    "a changed cursor": (lambda db: app.Feeds(db).public(cursor="12.junk"), "this is no cursor"),
    "a cursor of the end of time": (
        lambda db: app.Feeds(db).personal(BO, cursor="253402300799999.x"),
        "this is no cursor",
    ),
    "a cursor of the beginning": (
        lambda db: app.Feeds(db).public(cursor="-62135596800000.x"),
        "this is no cursor",
    ),
    "an empty page": (lambda db: app.Pantry(db).page(BO, limit=0), "limit: Input should be greater"),
    "a number that is a text": (lambda db: app.Viewing(db).recipes(BO, BO, limit=LONG), "limit: "),
    "something else": (lambda db: app.Recipes(db).write(BO, LONG), "draft: "),
    "no notification": (lambda db: app.Notifications(db).mark_read(BO, LONG), "notification: "),
    "no text": (lambda db: app.Posts(db).write(BO, 7), "content: Input should be a valid string"),
    "nothing at all": (lambda db: app.Posts(db).write(BO), "content: Missing"),
}


@pytest.fixture
def db() -> Iterator[SmartCooking]:
    with opened_cooking("embedded", ManualClock()) as db:
        sign_up(db, ADA, BO)
        yield db


@pytest.mark.parametrize("what", WRONG)
def test_what_makes_no_sense_is_refused_with_field_and_reason(db: SmartCooking, what: str) -> None:
    call, reason = WRONG[what]
    before = stored_items(db)
    with pytest.raises(InvalidInputError, match=f"^{reason}"):
        call(db)
    assert stored_items(db) == before


def test_reason_is_short_however_long_the_value_is(db: SmartCooking) -> None:
    recipe = written(db)
    entry = Cooking(db).start(BO, recipe.recipe_id)
    with pytest.raises(InvalidInputError, match="personal_notes") as refused:
        Cooking(db).complete(BO, entry.created_at, entry.history_id, personal_notes="x" * 9_000)
    assert len(str(refused.value)) < 400
    assert db.history(BO).one().status == "started"
