"""Answers that may be a little old: given for a while, forgotten by a write, and nobody's to change."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from designs.feed import AuthorId, Feed, Post, PostId
from singletable.client import Call
from singletable.clock import ManualClock
from singletable.design.plans.reader import Reader
from singletable.design.session.session import ABSENT_S_MAX, KEPT_BYTES_MAX, AnswerCache
from support.opened_designs import call, opened_design
from support.targets import TARGETS

NOW = datetime(2025, 1, 20, 10, 30, tzinfo=UTC)
AUTHOR = AuthorId("a")


@pytest.fixture(params=TARGETS)
def feed(request: pytest.FixtureRequest, clock: ManualClock) -> Iterator[Feed]:
    with opened_design(Feed, request.param, clock) as db:
        yield db


def post(number: int, **fields: Any) -> Post:
    moment = NOW + timedelta(minutes=number)
    values = {"author_id": AUTHOR, "post_id": PostId(f"p{number:04}"), "created_at": moment}
    return Post(**{**values, **fields})


def ids(posts: Any) -> list[str]:
    return [each.post_id for each in posts]


def test_cached_answer_is_given_until_its_time_is_over(feed: Feed, clock: ManualClock) -> None:
    feed.put(post(1))
    first = feed.cached_posts(AUTHOR).page()
    call(feed, "DeleteItem", Key=Reader(feed.session).request(feed.post(AUTHOR, *by_key(post(1))))["Key"])
    clock.advance(59)
    again = feed.cached_posts(AUTHOR).page()
    assert again.items == first.items
    assert again.units == 0
    clock.advance(1)
    assert feed.cached_posts(AUTHOR).page().items == []


def by_key(entity: Post) -> tuple[datetime, PostId]:
    return entity.created_at, entity.post_id


def test_write_through_the_same_design_forgets_cached_answers(feed: Feed) -> None:
    feed.put(post(1))
    assert len(feed.cached_posts(AUTHOR).page()) == 1
    feed.put(post(2))
    assert len(feed.cached_posts(AUTHOR).page()) == 2
    feed.delete(post(1))
    assert ids(feed.cached_posts(AUTHOR).all()) == ids([post(2)])


def test_write_of_one_item_leaves_cached_answers_about_others(feed: Feed) -> None:
    feed.put(post(1))
    feed.put(post(2))
    first = feed.post(AUTHOR, *by_key(post(1))).cached(seconds=60)
    both = feed.several([post(1).key, post(2).key]).cached(seconds=60)
    absent = feed.post(AUTHOR, *by_key(post(4))).cached(seconds=60)
    assert [first.found().units > 0, both.found().units > 0, absent.found().units > 0] == [True] * 3
    feed.put(post(3))
    assert (first.found().units, both.found().units, absent.found().units) == (0, 0, 0)
    feed.put(post(2, text="changed"))
    assert first.found().units == 0
    assert [each.text for each in both.all()] == [post(1).text, "changed"]
    feed.delete(post(1))
    assert first.maybe() is None
    feed.put(post(4))
    assert absent.one() == feed.post(AUTHOR, *by_key(post(4))).one()


def test_write_under_a_key_of_numbers_forgets_everything() -> None:
    cache = AnswerCache()
    about = frozenset({'{"id": {"S": "1"}}'})
    cache.put("kept", {"Item": {}}, until_us=1, emptied=0, keys=about)
    cache.forget({"id": {"S": "2"}})
    assert cache.get("kept", 0) is not None
    cache.forget({"id": {"N": "2"}})
    assert cache.get("kept", 0) is None


def test_change_of_an_entity_does_not_change_cached_answers(feed: Feed) -> None:
    feed.put(post(1, text="first"))
    plan = feed.several([post(1).key]).cached(seconds=60)
    (mine,) = plan.all()
    mine.text = "changed"
    mine.__dict__["_stored"] = {}
    (yours,) = plan.all()
    assert yours.text == "first"
    assert yours is not mine
    query = feed.cached_posts(AUTHOR)
    (mine,) = query.page()
    mine.text = "changed"
    assert query.page().items[0].text == "first"


def test_cached_query_hides_what_expires_meanwhile(feed: Feed, clock: ManualClock) -> None:
    now = datetime.fromtimestamp(clock.now_us() // 1_000_000, UTC)
    feed.put(post(1, ttl=now + timedelta(seconds=10)))
    assert len(feed.cached_posts(AUTHOR).page()) == 1
    clock.jump(10)  # nothing sweeps
    assert feed.cached_posts(AUTHOR).page().items == []


def test_answer_from_before_a_write_is_not_kept_after_it(feed: Feed) -> None:
    feed.put(post(1))
    steps = Reader(feed.session).page(feed.cached_posts(AUTHOR), 50, None)
    step = next(steps)
    assert isinstance(step, Call)
    answer = feed.session.client.call(step.operation, step.params)
    feed.put(post(2))
    with pytest.raises(StopIteration) as end:
        steps.send(answer)
    assert len(end.value.value) == 1
    assert len(feed.cached_posts(AUTHOR).page()) == 2


def test_cached_get_merged_and_collected_answers_cost_nothing_the_second_time(feed: Feed) -> None:
    feed.put(post(1))
    get = feed.post(AUTHOR, *by_key(post(1))).cached(seconds=5)
    month = feed.public_month("2025-01").cached(seconds=5)
    author = feed.author(AUTHOR).cached(seconds=5)
    assert [get.found().units > 0, month.page().units > 0, author.found().units > 0] == [True] * 3
    assert (get.found().units, month.page().units, author.found().units) == (0, 0, 0)
    assert get.one() == month.page().items[0] == author.one().posts[0]


@pytest.mark.parametrize("answer", ["Item", "Items", "Responses"])
def test_cache_keeps_so_many_bytes_and_forgets_the_oldest(answer: str) -> None:
    cache = AnswerCache()
    item = {"text": {"S": "x" * (KEPT_BYTES_MAX // 2 - 10_000)}}
    answers: dict[str, Any] = {"Item": item, "Items": [item], "Responses": {"table": [item]}}
    for key in ("first", "second", "third"):
        cache.put(key, {answer: answers[answer]}, until_us=1, emptied=0)
    assert [cache.get(key, 0) is None for key in ("first", "second", "third")] == [True, False, False]


def test_what_was_not_there_is_asked_for_again_after_a_minute(feed: Feed, clock: ManualClock) -> None:
    absent, there = post(1), post(2)
    feed.put(there)
    one = feed.post(AUTHOR, *by_key(absent)).cached(seconds=3600)
    both = feed.several([absent.key, there.key]).cached(seconds=3600)
    assert (one.maybe(), len(both.all())) == (None, 1)
    call(feed, "PutItem", Item=feed.stored_item(absent))
    clock.advance(ABSENT_S_MAX - 1)
    assert one.maybe() is None
    clock.advance(1)
    assert one.one() == absent
    assert len(both.all()) == 2
    kept = feed.post(AUTHOR, *by_key(there)).cached(seconds=3600)
    kept.one()
    clock.advance(3599)
    assert kept.found().units == 0


def test_clock_that_is_put_back_keeps_no_answer_for_longer(feed: Feed, clock: ManualClock) -> None:
    feed.put(post(1))
    plan = feed.cached_posts(AUTHOR)
    plan.page()
    clock.jump(-86_400)
    clock.advance(60)
    assert plan.page().units > 0
