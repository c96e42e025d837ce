"""Pages and their cursors: each item once and in order, whoever writes meanwhile; no cursor that is not ours."""

from __future__ import annotations

import base64
import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from designs.feed import AuthorId, Feed, Post, PostId
from singletable.client import open_client
from singletable.design import Gt, Merged, Put, Query, Walk
from singletable.design.plans.cursors import cursor_key, identity, read_cursor, write_cursor
from singletable.design.plans.plan import Many
from singletable.errors import CursorError, CursorMismatchError
from support.opened_designs import opened_design
from support.targets import EVERY_TARGET, EVERY_TARGET_IN_TIME

NOW = datetime(2025, 1, 20, 10, 30, tzinfo=UTC)
NEWEST, OLDEST = datetime(2025, 4, 30, tzinfo=UTC), datetime(2024, 10, 1, tzinfo=UTC)
AUTHOR = AuthorId("a")
COUNT = 37


def post(number: int, **fields: Any) -> Post:
    """Posts of three months with empty ones between, several of them at each moment."""
    month = (datetime(2025, 4, 1, tzinfo=UTC), NOW, datetime(2024, 11, 5, tzinfo=UTC))[number % 3]
    moment = month + timedelta(minutes=number // 9)
    values = {"author_id": AUTHOR, "post_id": PostId(f"p{number:03}"), "created_at": moment, "likes": number}
    return Post(**{**values, **fields})


@pytest.fixture(scope="module", params=EVERY_TARGET)
def full(request: pytest.FixtureRequest) -> Iterator[Feed]:
    """A feed that no test changes."""
    with opened_design(Feed, request.param) as db:
        db.batch(*(Put(post(n)) for n in range(COUNT)))
        yield db


@pytest.fixture(params=EVERY_TARGET_IN_TIME)
def feed(request: pytest.FixtureRequest) -> Iterator[Feed]:
    with opened_design(Feed, request.param) as db:
        db.batch(*(Put(post(n)) for n in range(COUNT)))
        yield db


@pytest.fixture(scope="module")
def small() -> Iterator[Feed]:
    """A feed in memory, for what is the same on every target."""
    with Feed.open(":memory:") as db:
        db.batch(*(Put(post(n)) for n in range(COUNT)))
        yield db


Plan = Callable[[Feed], Many[Post]]
PLANS: dict[str, Plan] = {
    "query": lambda db: db.posts(AUTHOR),
    "query newest first": lambda db: db.posts(AUTHOR).newest_first(),
    "query with a filter": lambda db: db.posts(AUTHOR).where(Gt("likes", 9), visibility="public"),
    "limited query": lambda db: db.posts(AUTHOR).limit(20),
    "merged": lambda db: db.public_month("2025-01"),
    "merged newest first": lambda db: db.public_month("2025-01").newest_first(),
    "merged with a filter": lambda db: db.public_month("2025-01").where(Gt("likes", 9)),
    "limited merged": lambda db: db.public_month("2025-01").limit(7),
    "walk": lambda db: db.feed(NEWEST, OLDEST),
    "walk with a filter": lambda db: db.feed(NEWEST, OLDEST).where(Gt("likes", 9)),
    "limited walk": lambda db: db.feed(NEWEST, OLDEST).limit(20),
    "walk of merged": lambda db: db.public_feed(NEWEST, OLDEST),
    "walk of merged with a filter": lambda db: db.public_feed(NEWEST, OLDEST).where(Gt("likes", 9)),
}


def pages(db: Feed, plan: Plan, limit: int) -> Iterator[list[Post]]:
    cursor = None
    while True:
        page = plan(db).page(
            limit=limit, cursor=cursor
        )  # a plan of its own for each, as in a web application
        yield page.items
        cursor = page.cursor
        if cursor is None:
            return
        assert len(page) == limit


def ids(posts: Any) -> list[str]:
    return [each.post_id for each in posts]


# --- every limit ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PLANS)
def test_pages_of_every_limit_give_each_item_once_and_in_order(full: Feed, name: str) -> None:
    everything = ids(PLANS[name](full).all())
    assert len(everything) == len(set(everything)) > 5
    for limit in (1, 2, 3, 5, 12, 13, 36, 37, 38):
        found = [ids(page) for page in pages(full, PLANS[name], limit)]
        assert [each for page in found for each in page] == everything


def test_plans_find_what_brute_force_finds(full: Feed) -> None:
    posts = [post(n) for n in range(COUNT)]
    at = {str(each.post_id): each.created_at for each in posts}

    def moments(found: Any) -> list[datetime]:
        return [at[each] for each in ids(found)]

    january = [each for each in posts if each.created_at.month == 1]
    for plan, expected, newest in (
        (full.posts(AUTHOR), posts, False),
        (full.public_month("2025-01"), january, False),
        (full.public_month("2025-01").newest_first(), january, True),
        (full.feed(NEWEST, OLDEST), posts, True),
        (full.public_feed(NEWEST, OLDEST), posts, True),
        (
            full.feed(NEWEST, datetime(2025, 1, 1, tzinfo=UTC)),
            [p for p in posts if p.created_at.year > 2024],
            True,
        ),
    ):
        rows = list(plan.all())
        assert sorted(ids(rows)) == sorted(ids(expected))
        assert moments(rows) == sorted(moments(expected), reverse=newest)


def test_limit_is_one_for_all_pages(full: Feed) -> None:
    everything = ids(full.posts(AUTHOR).all())
    assert ids(full.posts(AUTHOR).limit(20).all()) == everything[:20]
    assert [len(page) for page in pages(full, lambda db: db.posts(AUTHOR).limit(20), 8)] == [8, 8, 4]
    assert [len(page) for page in pages(full, lambda db: db.posts(AUTHOR).limit(16), 8)] == [8, 8]
    assert ids(full.posts(AUTHOR).limit(1).page(limit=50)) == everything[:1]


def test_limit_and_page_are_at_least_one(small: Feed) -> None:
    with pytest.raises(ValueError, match="at least one item"):
        small.posts(AUTHOR).limit(0)
    with pytest.raises(ValueError, match="at least one item"):
        small.posts(AUTHOR).page(limit=0)


def test_page_size_may_change_on_the_way(full: Feed) -> None:
    for plan in PLANS.values():
        everything, found, cursor = ids(plan(full).all()), [], None
        for limit in (3, 1, 10, 2, 50, 50):
            page = plan(full).page(limit=limit, cursor=cursor)
            found += ids(page)
            cursor = page.cursor
            if cursor is None:
                break
        assert found == everything


def test_reading_everything_of_many_shards_reads_each_item_once(small: Feed) -> None:
    rows = small.public_month("2025-01").all()
    found = list(rows)
    assert rows.usage.read == len(found)


def test_next_page_does_not_read_again_what_a_filter_threw_away(small: Feed) -> None:
    plan = small.posts(AUTHOR).where(likes=19)
    first = plan.page(limit=1)
    assert ids(first) == ["p019"]
    following = plan.page(limit=1, cursor=first.cursor)
    assert (following.items, following.cursor) == ([], None)
    assert first.usage.read + following.usage.read == COUNT


# --- while others write -----------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [2, 7])
@pytest.mark.parametrize("name", [name for name in PLANS if not name.startswith("limited")])
def test_nothing_that_stays_is_skipped_and_nothing_comes_twice(feed: Feed, name: str, limit: int) -> None:
    chance = random.Random(f"{name}{limit}")
    steady = set(ids(PLANS[name](feed).all()))
    found: list[str] = []
    for number, page in enumerate(pages(feed, PLANS[name], limit)):
        found += ids(page)
        feed.put(post(chance.randrange(COUNT), post_id=PostId(f"new{number:03}")))
        gone = post(chance.randrange(COUNT))
        steady.discard(gone.post_id)
        feed.delete(gone)
        if page:
            steady.discard(page[-1].post_id)
            feed.delete(page[-1])  # the item that the cursor stands at
        if number > 3 * COUNT:
            pytest.fail("the pages do not end")
    assert len(found) == len(set(found))
    assert steady <= set(found)


def test_walk_that_begins_a_month_later_goes_on_with_the_same_cursor(full: Feed) -> None:
    everything = ids(full.feed(NEWEST, OLDEST).all())
    cursor = full.feed(NEWEST, OLDEST).page(limit=5).cursor
    later = full.feed(NEWEST + timedelta(days=31), OLDEST)
    assert ids(later.page(limit=100, cursor=cursor)) == everything[5:]


# --- cursors of others ------------------------------------------------------------------------------------


def some_cursor(db: Feed, plan: Plan = PLANS["query"]) -> str:
    cursor = plan(db).page(limit=3).cursor
    assert cursor is not None
    return cursor


@pytest.mark.parametrize("name", ["query", "merged", "walk of merged", "limited query"])
def test_cursor_that_was_changed_anywhere_is_refused(small: Feed, name: str) -> None:
    cursor = some_cursor(small, PLANS[name])
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    for at, character in enumerate(cursor):
        for other in (alphabet[alphabet.index(character) ^ 1], alphabet[alphabet.index(character) ^ 32], "!"):
            with pytest.raises(CursorError) as caught:
                PLANS[name](small).page(cursor=cursor[:at] + other + cursor[at + 1 :])
            assert type(caught.value) is CursorError


@pytest.mark.parametrize(
    "cursor", ["", "A", "=", "nonsense", "é", "A" * 200_000, "AQ", 7, b"AQ", "AQ" * 20, "\ud800"]
)
def test_text_that_is_no_cursor_is_refused(small: Feed, cursor: Any) -> None:
    with pytest.raises(CursorError, match="no cursor of this design"):
        small.posts(AUTHOR).page(cursor=cursor)


@pytest.mark.parametrize("cut", [1, 4, 30])
def test_cursor_that_was_cut_or_lengthened_is_refused(small: Feed, cut: int) -> None:
    cursor = some_cursor(small)
    for wrong in (cursor[:-cut], cursor[cut:], cursor + "A" * cut, cursor + "="):
        with pytest.raises(CursorError):
            small.posts(AUTHOR).page(cursor=wrong)


OTHERS: dict[str, Plan] = {
    "another partition": lambda db: db.posts(AuthorId("b")),
    "another order": lambda db: db.posts(AUTHOR).newest_first(),
    "a filter": lambda db: db.posts(AUTHOR).where(likes=1),
    "a limit": lambda db: db.posts(AUTHOR).limit(30),
    "a bound": lambda db: db.plan(
        Post.key.query(Post.key.keys.pk(author_id=AUTHOR), ge=Post.key.keys.sk.prefix(created_at=NOW))
    ),
    "another index": lambda db: db.plan(Query(Post, "by_month", "GSI1", *_month())),
    "merged": lambda db: db.plan(Merged([db.posts(AUTHOR)])),
    "a walk": lambda db: db.plan(Walk([db.posts(AUTHOR)])),
}


def _month() -> tuple[Any, Any]:
    plan = Post.by_month.query(Post.by_month.keys.pk(month="2025-01"))
    return plan.pk, plan.bounds


@pytest.mark.parametrize("name", OTHERS)
def test_cursor_of_another_query_is_refused(small: Feed, name: str) -> None:
    with pytest.raises(CursorMismatchError, match="of another query") as caught:
        OTHERS[name](small).page(cursor=some_cursor(small))
    assert caught.value.number == "ST402"


def test_cursor_of_a_walk_with_another_filter_or_through_other_parts_is_refused(small: Feed) -> None:
    cursor = some_cursor(small, PLANS["walk"])
    with pytest.raises(CursorMismatchError, match="a part that this walk does not have"):
        small.feed(NEWEST, OLDEST).where(likes=1).page(cursor=cursor)
    with pytest.raises(CursorMismatchError, match="a part that this walk does not have"):
        small.feed(OLDEST, OLDEST).page(cursor=cursor)


def test_filters_that_differ_in_their_values_are_different_queries(small: Feed) -> None:
    cursor = small.posts(AUTHOR).where(Gt("likes", 5)).page(limit=1).cursor
    with pytest.raises(CursorMismatchError):
        small.posts(AUTHOR).where(Gt("likes", 6)).page(cursor=cursor)


# --- other processes, other releases ----------------------------------------------------------------------


def test_cursor_goes_on_in_another_process(small: Feed) -> None:
    everything = ids(small.posts(AUTHOR).all())
    with open_client(":memory:") as client:
        other = Feed.open(client.database)
        other.batch(*(Put(post(n)) for n in range(COUNT)))
        assert ids(other.posts(AUTHOR).page(cursor=some_cursor(small))) == everything[3:]


# Made by the first release. Later ones must read them; a change of the format needs a new version byte.
GOLDEN: dict[str, str] = {
    "query": (
        "AeHokwTbVULkuVIc1mn3vry4ftk9I6_Dwcw6QueNYmu3Gc6zQS1_RMCnp88JwQgC-"
        "1rkllRDqfxhXdG6dmE12Q8DFdZFmnsrNK3NAEQHKu_0cNWvdWxM_G3zB6-3jUc"
    ),
    "query newest first": (
        "Ad_8b4BQ06a38zEpLmxvfB5LCPGNysJZMrlkIrBYgempQe6_QbZ2XUBC02CUBk_cZvx0a1fx6NL6CUpmBKkhafK7xB"
        "YA4zaQAAb3Ikg0aAjmQf_zHU3CGwYxNOpVXv86rQNg"
    ),
    "query with a filter": (
        "AXp7wuCBUMKBOH9QHZOdyz1aSRn5o71qasaUQUMrxd6FdtGnWqvPiVkWuUs4FY25RfhLKAVGRqje2WI_EZI3OIbtkQ"
        "QhmR89aYS5XfNHJ4raBl-5AYYgFNgS5FXUcoTG1j2E"
    ),
    "limited query": (
        "ARBMSEnMxUDwGa5fB9lVsCKL7ioVj9Jq1ddfuE371hJj1kNEXMk_dH-"
        "kKjD0t3WMqiWF1CnEfc7qoUidkUS61lUbB3udiMnKIW58lEK58Iog_lhSEcBJG7pQdMtEpA95-kF-"
    ),
    "merged": (
        "AW3VlWzCEEeecpJpvC80HNubkNbZ9wPEvP6-nQidRROiAo5tTZPvAnJg1-Au6YeDQPdftnR-"
        "fFjjRHyzRWbLcF8G5sl7ISMB1zB7aCf-OgBKQ-"
        "jGXko_G9KKkLPCLbmJp4Lnar7nz5AtzBO7sX1xS2N1gZufUoCB3J2IATxTfBdyuRaz0aORRTB73DyL"
    ),
    "merged newest first": (
        "AdH-9p4xoC7lhu8xU-NsNFEa60bC7mF7zVjjmdMWIM9W1SGqFPj8LY4s2B2vf3v1MX4twxpGF-w_4UoQ4toyZh1Pvf"
        "15iH9LE1O4NTAnRRKf-7ZHqnH1TrnkBYbX6pvwwmYqn51o5iLvhdIV1IpWyosjVhsXG3Z-"
        "eTZNqq2VW3TKpIn11nHpUXbGmosQCZxDgKbzpA"
    ),
    "merged with a filter": (
        "ASYuLi7zsgRAg6Ghsnut6sfvgSIipcMfzGcCPlal0M4_uaVsVzWFr_kbSMzRQ-"
        "5sy7yOhGMBMG5Tx_CH0RLWqZoIq8n9sUKY_JlPwfQmHGGyM_W1LYbTdUowZY3j2dVBH7DfO6qi_6dIcCwWmi-8x-"
        "X50MsnPIuMvNIq2TEfVL6QTgZM0yhx1qW6mWurDwz4"
    ),
    "limited merged": (
        "AaUNVqh95IIsoVY2dFXCxVvaw0iBOdBSnxuGCdvVXnRtEKuMIRPtOkaqmnNsIpsuN7Bhq1ntKYZ38uq8llCCpk072d"
        "LJMYhHCXSY6dp9tQ9bskcuuLHJmFQG9NydnPnsv9KriIGs2gUgaXdi13YSss3F3RXHDSiCEUFv9uPXS_dlDkuJZlLI"
        "k3KPhbhtHMTJ7w"
    ),
    "walk": (
        "ARRebayDNBZX8AgVLGxOU-dcRr4VV1SI0YUEbjBwX6UgXw-"
        "suOS3lrNStd130pquTPnlU8cMZGsHvUwi3GMger3xJASD3hCm63bRlwECRQVnNFV1NQ55lBBv-"
        "eYnwlOdvmO0XNaU2npnEDzRuuGWsy4eSFkdTRTd7LAMGlBYkGrxn7DFghcx5u8XTeIZnw"
    ),
    "walk with a filter": (
        "AYWyqD5AFvIxiOg13OKeQ_8b-p1R8z0PI3Ur-"
        "Adj2KqKBwTtMJ_cyIWCf_5r-6NKkd2xs1Fd2snuWkBRIqXxMRWofi4oG-xtyiSilOUXb8JCI1lKCQv8nIhxb0VN-"
        "dLhPdCVTnVT8TIzGuGz4i3xt1XN07e2Ev0xPcLSpsffRPjE2VozHI4DYchvj2yZfw"
    ),
    "limited walk": (
        "AW6BUeGfKtBBRZ62bbpvTpNdqGoNjC6t_8ca00ldbj8JHWsgMiNWe646N0U0TFbRZYs3NfxVQ2X2n379b_9vmjVh0H"
        "WGVIT805EurBBkmwENFsJKXIh5hB1e8Z5tBPXnWRyMmqjAMGSJF3sROetjIMK1VfhxcWDbMxVPqwdMQD7KIVnIEEdE"
        "qsACTG_BdwHCbWk"
    ),
    "walk of merged": (
        "AaN5LRg50GODXwwTg-GqO6j0dzG4OVGEsx0QX6i4i6o_uMOll3dquxohMvHMR2dNGST1qu-pB3K6wgmCm7uvseKVEM"
        "gh6CHXq9WmMgH4j7HTnH_auvdGLHeufllKLeqpOQ5VPyKvihaBM3F81tQQVeykSknrGs7K3FKueZUCZhdAlW3mc7Ic"
        "xmdXMXP7uVn9pjQqrG0-TfIoDvc_7sMnLy5p8QAfsXI"
    ),
    "walk of merged with a filter": (
        "Aa6SpmeLfT9-BFoZJ2MxGRcROVyEzenMZYAFMWM362nTDgvCX0-HazQbJMS9Gj-edFjKpQJ3nVSpDoKT2z1_C3R8Xb"
        "4qb_fC7udkKao3AEQNRJW8QgvQw8U7c-_3F2r6-"
        "SDxuiPbuIL_FHXSoshUs_jhyUbj08Ol2n2V2NPbNLBIry88stMI1bBtHw4lO8d6TrFX5Ic31uzkZ-"
        "NX0q-oyfmynhPECjP0"
    ),
}


@pytest.mark.parametrize("name", PLANS)
def test_cursor_of_the_first_release_is_read(small: Feed, name: str) -> None:
    assert ids(PLANS[name](small).page(limit=100, cursor=GOLDEN[name])) == ids(PLANS[name](small).all())[3:]


def test_cursor_secret_keeps_others_out(small: Feed) -> None:
    database = small.session.client.database
    mine, yours = (Feed.open(database, cursor_secret=secret) for secret in ("mine", b"yours"))
    cursor = some_cursor(mine)
    assert ids(mine.posts(AUTHOR).page(cursor=cursor)) == ids(mine.posts(AUTHOR).all())[3:]
    for other in (small, yours):
        with pytest.raises(CursorError):
            other.posts(AUTHOR).page(cursor=cursor)
    with pytest.raises(CursorError):
        mine.posts(AUTHOR).page(cursor=some_cursor(small))


def test_cursor_shows_no_keys(small: Feed) -> None:
    raw = base64.urlsafe_b64decode(some_cursor(small) + "==")
    assert all(text not in raw for text in (b"AUTHOR", b"POST", b"p00", b"PK"))


# --- the format -------------------------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.text() | st.integers(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(JSON, st.binary(), st.text())
def test_what_a_cursor_holds_is_read_back(positions: Any, secret: bytes, query: str) -> None:
    key, name = cursor_key("Design", secret), identity(query)
    cursor = write_cursor(key, name, positions)
    assert read_cursor(key, name, cursor) == positions
    assert set(cursor) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")


@given(st.text(), st.binary())
def test_no_text_makes_reading_a_cursor_fail_in_another_way(text: str, secret: bytes) -> None:
    with pytest.raises(CursorError):
        read_cursor(cursor_key("Design", secret), identity("query"), text)


def test_cursor_of_many_shards_is_short() -> None:
    key = {"PK": {"S": "AUTHOR#someone"}, "SK": {"S": "POST#2025-01-20T10:30:00.000Z#p1"}}
    positions = [
        {**key, "GSI2PK": {"S": f"PUBLIC#2025-01#{n}"}, "GSI2SK": {"S": f"AT#{n}"}} for n in range(16)
    ]
    assert len(write_cursor(b"key", identity("query"), positions)) < 700
