"""Invalid items among valid ones: whoever sets them aside reads all the others, and is told of each."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from designs.changing_letters import Letter, Letters, OldLetter, OldLetters
from designs.feed import AuthorId, AuthorPK, Badge, Feed, Post, PostId
from singletable.clock import ManualClock
from singletable.design import Collection, Merged, gather
from singletable.design.plans.plan import Many
from singletable.errors import InvalidItemError, SeveralFoundError
from support.opened_designs import opened_design, store
from support.targets import TARGETS

NOW = datetime(2025, 1, 20, 10, 30, tzinfo=UTC)
NEWEST, OLDEST = datetime(2025, 2, 28, tzinfo=UTC), datetime(2024, 12, 1, tzinfo=UTC)
AUTHOR = AuthorId("a")
COUNT = 30
# The first, several after each other, more than any page of the tests, and the last.
INVALID = {0, 4, 5, 6, 11, *range(15, 24), 29}
MONTHS = (NEWEST - timedelta(days=7), NOW, OLDEST + timedelta(days=3))


def post(number: int) -> Post:
    return Post(
        author_id=AUTHOR,
        post_id=PostId(f"p{number:02}"),
        created_at=MONTHS[number % 3] + timedelta(minutes=number),
        likes=number,
    )


def spoil(db: Feed, number: int) -> None:
    """Store a post as somebody does who does not know what likes are."""
    store(db, {**Feed.stored_item(post(number)), "likes": {"S": "many"}})


@pytest.fixture(scope="module", params=TARGETS)
def feed(request: pytest.FixtureRequest) -> Iterator[Feed]:
    """A feed that no test changes."""
    with opened_design(Feed, request.param) as db:
        for number in range(COUNT):
            if number in INVALID:
                spoil(db, number)
            else:
                db.create(post(number))
        yield db


@pytest.fixture
def small() -> Iterator[Feed]:
    with Feed.open(":memory:") as db:
        yield db


Plan = Callable[[Feed], Many[Post]]
PLANS: dict[str, Plan] = {
    "query": lambda db: db.posts(AUTHOR),
    "query newest first": lambda db: db.posts(AUTHOR).newest_first(),
    "cached query": lambda db: db.cached_posts(AUTHOR),
    "limited query": lambda db: db.posts(AUTHOR).limit(9),
    "merged": lambda db: db.public_month("2025-01"),
    "merged newest first": lambda db: db.public_month("2025-01").newest_first(),
    "walk": lambda db: db.feed(NEWEST, OLDEST),
    "limited walk": lambda db: db.feed(NEWEST, OLDEST).limit(9),
    "walk of merged": lambda db: db.public_feed(NEWEST, OLDEST),
}


def expected(name: str) -> list[str]:
    """Return what a plan finds, by looking at all posts."""
    posts = [post(number) for number in range(COUNT) if number not in INVALID]
    if "merged" in name and "walk" not in name:
        posts = [each for each in posts if each.created_at.month == 1]
    is_newest_first = "walk" in name or "newest" in name
    posts.sort(key=lambda each: (each.created_at, each.post_id), reverse=is_newest_first)
    return ids(posts)[: 9 if "limited" in name else None]


def ids(posts: Any) -> list[str]:
    return [each.post_id for each in posts]


def keys(errors: list[InvalidItemError]) -> set[str]:
    """Return the ids of posts that were reported."""
    return {error.key["SK"]["S"].split("#")[-1] for error in errors if error.key is not None}


def of_plan(name: str) -> set[str]:
    """Return the invalid posts that lie where a plan without a limit reads."""
    is_january = "merged" in name and "walk" not in name
    return {f"p{number:02}" for number in INVALID if not is_january or number % 3 == 1}


# --- as ever -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PLANS)
def test_invalid_item_is_an_error_for_whoever_does_not_set_it_aside(feed: Feed, name: str) -> None:
    with pytest.raises(InvalidItemError, match=r"is no Post: likes: "):
        PLANS[name](feed).page()
    with pytest.raises(InvalidItemError):
        list(PLANS[name](feed).all())


def test_error_holds_the_key_of_its_item(feed: Feed) -> None:
    with pytest.raises(InvalidItemError) as caught:
        feed.posts(AUTHOR).page()
    item = Feed.stored_item(post(5))
    assert caught.value.key == {"PK": item["PK"], "SK": item["SK"]}


def test_setting_aside_leaves_the_plan_it_was_asked_of_as_it_was(feed: Feed) -> None:
    plan = feed.posts(AUTHOR)
    plan.setting_aside(print)
    with pytest.raises(InvalidItemError):
        plan.page()
    assert plan.setting_aside(print).request(5) == plan.request(5)


# --- everything else is read ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", PLANS)
def test_valid_items_are_read_in_their_order_and_invalid_ones_reported_once(feed: Feed, name: str) -> None:
    errors: list[InvalidItemError] = []
    rows = PLANS[name](feed).setting_aside(errors.append).all()
    assert ids(rows) == expected(name)
    if "limited" not in name:
        assert keys(errors) == of_plan(name)
        assert len(errors) == len(of_plan(name))
        assert rows.usage.thrown_away == len(errors)
        assert rows.usage.read == len(errors) + len(expected(name))


@pytest.mark.parametrize("name", PLANS)
@pytest.mark.parametrize("limit", [1, 2, 3, 5, 7, 15, 30, 31])
def test_pages_of_every_limit_give_each_valid_item_once(feed: Feed, name: str, limit: int) -> None:
    errors: list[InvalidItemError] = []
    found: list[str] = []
    cursor = None
    while True:
        page = PLANS[name](feed).setting_aside(errors.append).page(limit, cursor)
        found += ids(page)
        cursor = page.cursor
        if cursor is None:
            break
        assert len(page) == limit
    assert found == expected(name)
    if "limited" not in name:
        assert keys(errors) == of_plan(name)


@pytest.mark.parametrize("name", PLANS)
def test_asyncio_reads_the_same(feed: Feed, name: str) -> None:
    errors: list[InvalidItemError] = []

    async def read() -> tuple[list[str], list[str], Post | None]:
        plan = PLANS[name](feed).setting_aside(errors.append)
        rows = [each.post_id async for each in plan.aall()]
        return [str(each) for each in rows], ids(await plan.apage(4)), await plan.afirst()

    everything, page, first = asyncio.run(read())
    assert everything == expected(name)
    assert page == expected(name)[:4]
    assert first is not None
    assert first.post_id == expected(name)[0]
    assert errors


@pytest.mark.parametrize("name", PLANS)
def test_first_is_the_first_that_is_valid(feed: Feed, name: str) -> None:
    found = PLANS[name](feed).setting_aside(lambda error: None).first()
    assert found is not None
    assert found.post_id == expected(name)[0]


def test_one_is_the_only_valid_item(small: Feed) -> None:
    for number in (0, 1, 2):
        spoil(small, number)
    plan = small.posts(AUTHOR).setting_aside(lambda error: None)
    assert plan.maybe() is None
    small.create(post(3))
    assert plan.one() == post(3)
    small.create(post(4))
    with pytest.raises(SeveralFoundError):
        plan.one()


def test_cursor_goes_on_with_and_without_setting_aside(small: Feed) -> None:
    spoil(small, 0)
    for number in (3, 6, 9):
        small.create(post(number))
    page = small.posts(AUTHOR).setting_aside(lambda error: None).page(2)
    assert ids(page) == ["p03", "p06"]
    assert ids(small.posts(AUTHOR).page(2, page.cursor)) == ["p09"]


def test_only_invalid_items_are_an_empty_page_without_a_cursor(small: Feed) -> None:
    errors: list[InvalidItemError] = []
    for number in range(20):
        spoil(small, number)
    for plan in (small.posts(AUTHOR), small.public_month("2025-01"), small.feed(NEWEST, OLDEST)):
        errors.clear()
        page = plan.setting_aside(errors.append).page(2)
        assert (page.items, page.cursor) == ([], None)
        assert page.usage.thrown_away == page.usage.read == len(errors) > 5
        assert plan.setting_aside(errors.append).first() is None


# --- what is not set aside, and how --------------------------------------------------------------------


def test_invalid_items_that_have_expired_are_nobodys_business() -> None:
    errors: list[InvalidItemError] = []
    with Feed.open(":memory:", clock=ManualClock()) as db:
        spoil(db, 0)
        item = Feed.stored_item(post(1))
        store(db, {**item, "likes": {"S": "many"}, "ttl": {"N": str(int(db.now().timestamp()) - 10)}})
        assert db.posts(AUTHOR).setting_aside(errors.append).page().items == []
    assert keys(errors) == {"p00"}


def test_error_of_whoever_is_told_ends_the_reading(small: Feed) -> None:
    def refuse(error: InvalidItemError) -> None:
        raise PermissionError("not one more")

    spoil(small, 0)
    with pytest.raises(PermissionError):
        small.posts(AUTHOR).setting_aside(refuse).page()


@pytest.mark.parametrize("wrong", [None, "log", 3])
def test_who_is_told_is_a_function(small: Feed, wrong: Any) -> None:
    with pytest.raises(TypeError, match="who is told of invalid items is a function, not"):
        small.posts(AUTHOR).setting_aside(wrong)


def test_part_of_a_plan_tells_whom_it_was_made_for(small: Feed) -> None:
    spoil(small, 0)
    small.create(post(3))
    mine: list[InvalidItemError] = []
    others: list[InvalidItemError] = []
    part = small.posts(AUTHOR).setting_aside(mine.append)
    assert ids(small.plan(Merged([part])).setting_aside(others.append).page()) == ["p03"]
    assert (len(mine), len(others)) == (1, 0)


class Newest(Collection):
    posts: list[Post]
    badges: list[Badge]


def test_gathered_plan_sets_aside_in_the_parts_that_do(small: Feed) -> None:
    spoil(small, 0)
    small.create(post(3))
    badges = small.plan(Badge.key.query(AuthorPK(author_id=AUTHOR)))
    errors: list[InvalidItemError] = []
    tolerant = small.posts(AUTHOR).setting_aside(errors.append)
    found = small.plan(gather(Newest, posts=tolerant, badges=badges)).one()
    assert ids(found.posts) == ["p03"]
    assert keys(errors) == {"p00"}


# --- while keys change ---------------------------------------------------------------------------------


def letter_fields(number: int) -> dict[str, Any]:
    return {
        "tenant": "t",
        "box": "in",
        "number": number,
        "day": f"2025-01-{number % 4 + 1:02}",
        "subject": f"s{number}",
    }


@pytest.mark.parametrize("limit", [1, 2, 3, 20])
def test_invalid_items_are_set_aside_under_old_keys_and_new_ones(limit: int) -> None:
    errors: list[InvalidItemError] = []
    with OldLetters.open(":memory:") as old:
        db = Letters.open(old.session.client.database)
        for number in range(16):
            is_invalid = number % 3 == 0
            spoiled = {"subject": {"BOOL": True}} if is_invalid else {}
            if number % 2:
                store(old, {**OldLetters.stored_item(OldLetter(**letter_fields(number))), **spoiled})
            else:
                store(db, {**Letters.stored_item(Letter(**letter_fields(number))), **spoiled})
        found: list[int] = []
        cursor = None
        while True:
            page = db.letters("t", "in").setting_aside(errors.append).page(limit, cursor)
            found += [each.number for each in page]
            cursor = page.cursor
            if cursor is None:
                break
    valid = [number for number in range(16) if number % 3]
    assert found == sorted(valid, key=lambda number: (number % 4, number))
    assert len({str(error.key) for error in errors}) == 6
