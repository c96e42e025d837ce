"""What a handler asks for once is done once: however often, by however many, and after whatever failure."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any, ClassVar

import pytest
from pydantic import Field

from singletable.client import Call, open_client
from singletable.clock import ManualClock
from singletable.design import (
    Add,
    Change,
    Check,
    CountOf,
    Create,
    Delete,
    Design,
    Entity,
    Eq,
    Key,
    Keys,
    Once,
    Put,
    SortKey,
    Table,
    Ttl,
    Update,
    on,
)
from singletable.design.streams.dispatch import FailedRecord, StreamDispatcher
from singletable.design.streams.once import GUARD_NAME
from singletable.errors import CapabilityError, ConditionNotMetError, InvalidWriteError, NotFoundError
from support.design_clients import ALL_TARGETS, Between, on_client, opened_anyhow
from support.kept_together import opened_design, records, stored_items

everywhere = pytest.mark.parametrize("target", ALL_TARGETS)


class BlogTable(Table):
    name = "blog"
    pitr_days = None


class PostPK(Key, template="POST#{post_id}"):
    post_id: str


class DayPK(Key, template="DAY#{day}"):
    day: str


class MetadataSK(SortKey, template="METADATA"):
    pass


class CommentSK(SortKey, template="COMMENT#{comment_id}"):
    comment_id: str


class NoticeSK(SortKey, template="NOTICE#{number}"):
    number: int


class Post(Entity):
    key = Keys(PostPK, MetadataSK)

    post_id: str
    is_open: bool = True
    score: Annotated[int, Field(le=100)] = 0
    notices: Annotated[int, CountOf("Notice")] = 0


class Comment(Entity):
    key = Keys(PostPK, CommentSK)

    post_id: str
    comment_id: str
    day: str = "monday"
    is_counted: bool = False


class Notice(Entity):
    key = Keys(PostPK, NoticeSK)

    post_id: str
    number: int


class DayTotals(Entity):
    key = Keys(DayPK, MetadataSK)

    day: str
    comments: int = 0
    words: int = 0
    ttl: Ttl = None


class Blog(Design):
    """Its handler yields what a test has given it."""

    table = BlogTable
    entities = (Post, Comment, Notice, DayTotals)
    yields: ClassVar[Any] = staticmethod(lambda change: ())

    @on(Comment)
    def count(self, change: Change[Comment]) -> Iterator[Any]:
        if change.kind == "create":
            yield from type(self).yields(change)


POST = Post.key.get(PostPK(post_id="1"), MetadataSK())
TOTALS = DayTotals.key.get(DayPK(day="monday"), MetadataSK())


@pytest.fixture(autouse=True)
def nothing_is_left_behind() -> Iterator[None]:
    yield
    Blog.yields = staticmethod(lambda change: ())


def counts_one(change: Change[Comment]) -> Iterator[Once]:
    yield Once(Update(TOTALS, comments=Add(1)))


def prepared(db: Blog, yields: Any) -> list[dict[str, Any]]:
    """Store a post, totals and a comment; return the records of the comment."""
    Blog.yields = staticmethod(yields)
    db.create(Post(post_id="1"))
    db.create(DayTotals(day="monday"))
    return comment(db, "c")


def comment(db: Blog, comment_id: str, day: str = "monday") -> list[dict[str, Any]]:
    """Store a comment; return its record."""
    db.create(Comment(post_id="1", comment_id=comment_id, day=day))
    return [each for each in records(db) if each["dynamodb"]["Keys"]["SK"] == {"S": f"COMMENT#{comment_id}"}]


def deliver(db: Blog, given: list[dict[str, Any]], times: int = 1) -> None:
    for _ in range(times):
        failure = failing(db, given)
        if failure is not None:
            raise failure.error


def failing(db: Blog, given: list[dict[str, Any]]) -> FailedRecord | None:
    return StreamDispatcher(db, db.session, db.handlers).dispatch(given)


def totals(db: Blog) -> DayTotals:
    return db.plan(TOTALS).one()


def guards(db: Blog) -> list[dict[str, Any]]:
    params = {"TableName": db.session.table, "ConsistentRead": True}
    items: list[dict[str, Any]] = db.session.client.call("Scan", params)["Items"]
    return [item for item in items if item["entityType"] == {"S": GUARD_NAME}]


# --- once -------------------------------------------------------------------------------------------------


@everywhere
def test_change_that_is_delivered_again_is_counted_once(target: str) -> None:
    with opened_design(Blog, target) as db:
        deliver(db, prepared(db, counts_one), times=3)
        assert totals(db).comments == 1


@everywhere
def test_every_change_is_counted(target: str) -> None:
    with opened_design(Blog, target) as db:
        given = prepared(db, counts_one) + comment(db, "d") + comment(db, "e")
        deliver(db, given, times=2)
        assert totals(db).comments == 3


def test_plain_update_beside_it_would_count_twice() -> None:
    with opened_design(Blog, "embedded") as db:
        deliver(db, prepared(db, lambda change: [Update(TOTALS, comments=Add(1))]), times=2)
        assert totals(db).comments == 2


def test_consumer_of_the_engine_carries_it_out() -> None:
    with Blog.open(":memory:", create=True) as db:
        prepared(db, counts_one)
        for name in ("first", "second"):  # each reads the whole stream
            consumer = db.consume(name=name, background=False, start="TRIM_HORIZON")
            consumer.drain()
            consumer.stop()
        assert totals(db).comments == 1


def test_handler_may_return_it() -> None:
    class Returning(Blog):
        @on(Post)
        def tell(self, change: Change[Post]) -> Once:
            return Once(Put(Notice(post_id="1", number=1)))

    with opened_design(Returning, "embedded") as db:
        db.create(Post(post_id="1"))
        deliver(db, records(db))
        assert db.plan(POST).one().notices == 1


@everywhere
def test_several_of_one_handler_are_each_done_once(target: str) -> None:
    def yields(change: Change[Comment]) -> Iterator[Once]:
        yield Once(Update(TOTALS, comments=Add(1)))
        yield Once(Update(TOTALS, words=Add(5)))
        yield Once(Update(TOTALS, words=Add(2)), name="extra")

    with opened_design(Blog, target) as db:
        deliver(db, prepared(db, yields), times=2)
        assert (totals(db).comments, totals(db).words) == (1, 7)


def test_named_ones_may_come_in_any_order() -> None:
    orders = iter([("a", "b"), ("b", "a"), ("b",)])

    def yields(change: Change[Comment]) -> Iterator[Once]:
        for name in next(orders):
            yield Once(Update(TOTALS, comments=Add(1 if name == "a" else 10)), name=name)

    with opened_design(Blog, "embedded") as db:
        deliver(db, prepared(db, yields), times=3)
        assert totals(db).comments == 11


def test_name_that_comes_twice_is_refused() -> None:
    def yields(change: Change[Comment]) -> Iterator[Once]:
        for _ in range(2):
            yield Once(Update(TOTALS, comments=Add(1)), name="same")

    with opened_design(Blog, "embedded") as db, pytest.raises(InvalidWriteError, match="name='same'"):
        deliver(db, prepared(db, yields))


def test_two_handlers_of_one_change_do_not_stand_in_for_each_other() -> None:
    class Twice(Blog):
        @on(Comment)
        def count_words(self, change: Change[Comment]) -> Iterator[Once]:
            yield Once(Update(TOTALS, words=Add(4)))

    with opened_design(Twice, "embedded") as db:
        deliver(db, prepared(db, counts_one), times=2)
        assert (totals(db).comments, totals(db).words) == (1, 4)


@pytest.mark.parametrize("target", ["embedded", "http"])
def test_many_who_deliver_the_same_change_count_it_once(target: str) -> None:
    with opened_design(Blog, target) as db, ThreadPoolExecutor(4) as pool:
        given = prepared(db, counts_one)
        list(pool.map(lambda _: deliver(db, given), range(8)))
        assert totals(db).comments == 1


# --- together ---------------------------------------------------------------------------------------------


def test_writes_are_one_transaction_with_their_effects() -> None:
    def yields(change: Change[Comment]) -> Iterator[Once]:
        yield Once(
            Check(POST, when=Eq("is_open", True)),
            Update(TOTALS, comments=Add(1)),
            Create(Comment(post_id="1", comment_id="answer", is_counted=True)),
        )

    with opened_design(Blog, "embedded") as db:
        given = prepared(db, yields)
        db.update(POST, is_open=False)
        failure = failing(db, given)
        assert failure is not None
        assert isinstance(failure.error, ConditionNotMetError)
        assert (totals(db).comments, guards(db)) == (0, [])
        db.update(POST, is_open=True)
        deliver(db, given, times=2)
        assert (totals(db).comments, len(guards(db))) == (1, 1)


@everywhere
def test_counters_follow_what_is_written_once(target: str) -> None:
    with opened_design(Blog, target) as db:
        deliver(db, prepared(db, lambda change: [Once(Create(Notice(post_id="1", number=7)))]), times=2)
        assert db.plan(POST).one().notices == 1


@everywhere
def test_what_was_done_stays_done_when_its_item_is_gone(target: str) -> None:
    with opened_design(Blog, target) as db:
        given = prepared(db, counts_one)
        deliver(db, given)
        db.delete(TOTALS)
        deliver(db, given)  # and nothing is raised


@everywhere
def test_what_was_done_stays_done_when_it_cannot_even_be_planned_again(target: str) -> None:
    with opened_design(Blog, target) as db:
        given = prepared(db, lambda change: [Once(Update(POST, score=Add(3)))])  # reads what it adds to
        deliver(db, given)
        assert db.plan(POST).one().score == 3
        db.delete(POST)
        deliver(db, given)  # and nothing is raised


@everywhere
def test_write_that_finds_nothing_is_raised_until_it_does(target: str) -> None:
    with opened_design(Blog, target) as db:
        given = prepared(db, counts_one)
        db.delete(TOTALS)
        failure = failing(db, given)
        assert failure is not None
        assert isinstance(failure.error, NotFoundError)
        db.create(DayTotals(day="monday"))
        deliver(db, given, times=2)
        assert totals(db).comments == 1


@everywhere
def test_missing_item_is_made_first(target: str) -> None:
    def yields(change: Change[Comment]) -> Iterator[Once]:
        day = DayTotals(day=change.entity.day)
        yield Once(Update(day, comments=Add(1)), missing=(day,))

    with opened_design(Blog, target) as db:
        given = prepared(db, yields) + comment(db, "d", "tuesday") + comment(db, "e", "tuesday")
        deliver(db, given, times=2)
        tuesday = db.plan(DayTotals.key.get(DayPK(day="tuesday"), MetadataSK())).one()
        assert (totals(db).comments, tuesday.comments) == (1, 2)


@everywhere
def test_changed_item_that_is_gone_holds_up_nothing(target: str) -> None:
    def yields(change: Change[Comment]) -> Iterator[Once]:
        yield Once(Update(change.entity, is_counted=True), Update(TOTALS, comments=Add(1)))

    with opened_design(Blog, target) as db:
        given = prepared(db, yields)
        db.delete(Comment(post_id="1", comment_id="c"))
        deliver(db, given, times=2)
        assert totals(db).comments == 1
        assert not [item for item in stored_items(db) if item["entityType"] == {"S": "Comment"}]


@everywhere
def test_deletion_that_finds_nothing_is_done(target: str) -> None:
    def yields(change: Change[Comment]) -> Iterator[Once]:
        yield Once(Delete(Notice(post_id="1", number=9)), Update(TOTALS, comments=Add(1)))

    with opened_design(Blog, target) as db:
        deliver(db, prepared(db, yields), times=2)
        assert totals(db).comments == 1


# --- guards -----------------------------------------------------------------------------------------------


def test_guard_goes_after_two_days_and_no_handler_sees_it() -> None:
    clock = ManualClock()
    with opened_anyhow("embedded", clock=clock) as client:
        db = on_client(Blog, client)
        deliver(db, prepared(db, counts_one))
        (guard,) = guards(db)
        assert int(guard["ttl"]["N"]) == clock.now_us() // 1_000_000 + 2 * 24 * 3600
        deliver(db, records(db))
        assert db.verify().is_clean


def test_design_without_a_time_to_live_is_refused() -> None:
    class Plain(Entity):
        key = Keys(PostPK, MetadataSK)
        post_id: str
        score: int = 0

    class Plains(Design):
        table = BlogTable
        entities = (Plain,)

        @on(Plain)
        def count(self, change: Change[Plain]) -> Once:
            return Once(Update(change.entity, score=Add(1)))

    with opened_design(Plains, "embedded") as db:
        db.create(Plain(post_id="1"))
        failure = StreamDispatcher(db, db.session, db.handlers).dispatch(records(db))
        assert failure is not None
        with pytest.raises(InvalidWriteError, match="no time to live"):
            raise failure.error


# --- failures ---------------------------------------------------------------------------------------------


class LostError(Exception):
    """An answer that never came."""


def test_lost_answer_of_a_transaction_is_not_counted_again() -> None:
    with open_client(":memory:", clock=ManualClock()) as client:
        between = Between(client)
        db = on_client(Blog, between)
        given = prepared(db, counts_one)

        def lose(call: Call) -> None:
            if call.operation == "TransactWriteItems":
                client.call(call.operation, call.params)
                raise LostError

        between.before = lose
        failure = failing(db, given)
        assert failure is not None
        assert isinstance(failure.error, LostError)
        between.before = lambda call: None
        deliver(db, given)
        assert totals(db).comments == 1


def test_it_costs_one_transaction_and_nothing_is_read() -> None:
    with open_client(":memory:", clock=ManualClock()) as client:
        between = Between(client)
        db = on_client(Blog, between)
        given = prepared(db, counts_one)
        between.calls.clear()
        deliver(db, given)
        assert between.operations() == ["TransactWriteItems"]
        between.calls.clear()
        deliver(db, given)
        assert between.operations() == ["TransactWriteItems"]


def test_what_was_done_is_planned_again_only_once() -> None:
    with open_client(":memory:", clock=ManualClock()) as client:
        between = Between(client)
        db = on_client(Blog, between)
        given = prepared(db, lambda change: [Once(Put(Notice(post_id="1", number=1)))])
        deliver(db, given)
        between.calls.clear()
        deliver(db, given)
        assert between.operations().count("TransactWriteItems") == 1


def test_without_transactions_only_what_failed_is_tried_again() -> None:
    def yields(change: Change[Comment]) -> Iterator[Once]:
        yield Once(Update(TOTALS, comments=Add(1)), Update(POST, score=Add(3)))

    with opened_design(Blog, "no-transactions") as db:
        given = prepared(db, yields)
        db.delete(POST)
        failure = failing(db, given)
        assert failure is not None
        assert isinstance(failure.error, NotFoundError)
        db.create(Post(post_id="1"))
        deliver(db, given, times=2)
        assert (totals(db).comments, db.plan(POST).one().score) == (1, 3)


def test_without_transactions_a_death_leaves_a_number_behind_and_never_ahead() -> None:
    with opened_anyhow("no-transactions", clock=ManualClock()) as client:
        between = Between(client)
        db = on_client(Blog, between)
        given = prepared(db, counts_one)

        def die(call: Call) -> None:
            if call.operation == "UpdateItem":
                raise LostError

        between.before = die
        assert failing(db, given) is not None
        between.before = lambda call: None
        deliver(db, given, times=2)
        assert totals(db).comments == 0


def test_without_transactions_nothing_can_be_checked() -> None:
    with opened_design(Blog, "no-transactions") as db:
        given = prepared(db, lambda change: [Once(Update(TOTALS, comments=Add(1)), Check(POST))])
        failure = failing(db, given)
        assert failure is not None
        assert isinstance(failure.error, CapabilityError)
        assert totals(db).comments == 0


# --- wrong use --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("writes", "options", "message"),
    [
        ([], {}, "is given nothing"),
        (["x"], {}, "Once takes Create, Put, Update, Delete and Check, not 'x'"),
        ([[Put(Post(post_id="1"))]], {}, "Once takes Create"),
        ([Put(Post(post_id="1"))], {"name": 3}, "is a text, not 3"),
        ([Put(Post(post_id="1"))], {"missing": ("x",)}, "is an entity, not 'x'"),
    ],
)
def test_wrong_arguments_are_refused(writes: list[Any], options: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        Once(*writes, **options)


def test_owner_is_not_deleted_without_what_it_owns() -> None:
    class Owner(Entity, owns=("Comment",)):
        key = Keys(PostPK, MetadataSK)
        post_id: str
        until: Ttl = None

    class Owners(Design):
        table = BlogTable
        entities = (Owner, Comment)

        @on(Comment)
        def clear(self, change: Change[Comment]) -> Once:
            return Once(Delete(Owner(post_id="1")))

    with opened_design(Owners, "embedded") as db:
        db.create(Owner(post_id="1"))
        db.create(Comment(post_id="1", comment_id="c"))
        failure = StreamDispatcher(db, db.session, db.handlers).dispatch(records(db))
        assert failure is not None
        assert "owns other items" in str(failure.error)
