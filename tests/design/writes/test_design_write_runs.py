"""Writes of a handler that follow each other go in batches, where nothing but the number of requests changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Annotated, Any

import pytest

from singletable import Database
from singletable.client import Call
from singletable.clock import ManualClock
from singletable.design import (
    Change,
    CopyOf,
    CountOf,
    Create,
    CreatedAt,
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
    Unique,
    Update,
    Version,
    auto,
    on,
)
from singletable.design.streams.dispatch import FailedRecord, StreamDispatcher
from singletable.errors import TargetError
from support.design_clients import ALL_TARGETS, WRITES, Between, on_client, opened_anyhow
from support.kept_together import records
from support.limited_targets import LimitedClient


class FeedTable(Table):
    name = "feeds"


class UserPK(Key, template="USER#{user_id}"):
    user_id: str


class ProfileSK(SortKey, template="PROFILE"):
    pass


class EntrySK(SortKey, template="ENTRY#{number:04}"):
    number: int


class NameSK(SortKey, template="NAME#{name}"):
    name: str


class NamePK(Key, template="NAME#{name}"):
    name: str


class CommentSK(SortKey, template="COMMENT#{number:04}"):
    number: int


class ReplySK(SortKey, template="REPLY#{number:04}"):
    number: int


class DraftSK(SortKey, template="DRAFT#{number:04}"):
    number: int


class Post(Entity):
    key = Keys(UserPK, ProfileSK)
    user_id: str
    text: str = ""
    comments: Annotated[int, CountOf("Comment")] = 0


class Entry(Entity):
    key = Keys(UserPK, EntrySK)
    user_id: str
    number: int
    text: str = ""
    at: CreatedAt = auto()
    ttl: Ttl = None


class Named(Entity):
    key = Keys(UserPK, NameSK)
    unique_name = Unique(NamePK)
    user_id: str
    name: str


class Comment(Entity):
    key = Keys(UserPK, CommentSK)
    user_id: str
    number: int


class Reply(Entity):
    key = Keys(UserPK, ReplySK)
    user_id: str
    number: int
    post: Annotated[str, CopyOf("Post", "text")] = ""


class Draft(Entity):
    key = Keys(UserPK, DraftSK)
    user_id: str
    number: int
    version: Version = 0


Script = Callable[["Feeds"], Iterable[Any]]


class Feeds(Design):
    table = FeedTable
    entities = (Post, Entry, Named, Comment, Reply, Draft)

    def __init__(self) -> None:
        self.script: Script = lambda db: ()

    @on(Post, "user_id")
    def follow(self, change: Change[Post]) -> Iterator[Any]:
        yield from self.script(self)


def entry(number: int, text: str = "", user_id: str = "u") -> Entry:
    return Entry(user_id=user_id, number=number, text=text)


def opened_feeds(between: Between) -> Feeds:
    db = on_client(Feeds, between)
    db.create(Post(user_id="p"))
    between.calls.clear()
    return db


@pytest.fixture(params=ALL_TARGETS)
def between(request: pytest.FixtureRequest) -> Iterator[Between]:
    with opened_anyhow(request.param, clock=ManualClock(), sleep=lambda seconds: None) as client:
        yield Between(client)


@pytest.fixture
def db(between: Between) -> Feeds:
    return opened_feeds(between)


def handle(db: Feeds, script: Script) -> FailedRecord | None:
    """Run the handler over the record of the post."""
    db.script = script
    found = [each for each in records(db) if each["dynamodb"]["Keys"]["PK"] == {"S": "USER#p"}]
    return StreamDispatcher(db, db.session, type(db).handlers).dispatch(found[:1])


def written(between: Between) -> list[str]:
    """Return the operations that have written, batches with how many writes they had."""
    return [
        f"{call.operation} {len(call.params['RequestItems']['feeds'])}"
        if call.operation == "BatchWriteItem"
        else call.operation
        for call in between.calls
        if call.operation in WRITES
    ]


def texts(db: Feeds, user_id: str = "u") -> dict[int, str]:
    return {each.number: each.text for each in db.plan(Entry.key.query(UserPK(user_id=user_id))).all()}


# --- what goes together -------------------------------------------------------------------------------


def test_fan_out_goes_in_batches_of_25(db: Feeds, between: Between) -> None:
    assert handle(db, lambda db: (Put(entry(1, user_id=f"u{each}")) for each in range(120))) is None
    assert written(between) == ["BatchWriteItem 25"] * 4 + ["BatchWriteItem 20"]
    assert all(texts(db, f"u{each}") == {1: ""} for each in range(120))


def test_what_was_put_is_deleted_in_batches_too(db: Feeds, between: Between) -> None:
    db.load([entry(number) for number in range(60)])
    between.calls.clear()
    by_key = Entry.key.get(UserPK(user_id="u"), EntrySK(number=0))
    assert handle(db, lambda db: [Delete(by_key), *(Delete(entry(each)) for each in range(1, 60))]) is None
    assert written(between) == ["BatchWriteItem 25"] * 2 + ["BatchWriteItem 10"]
    assert texts(db) == {}


def test_one_write_is_no_batch(db: Feeds, between: Between) -> None:
    assert handle(db, lambda db: [Put(entry(1))]) is None
    assert handle(db, lambda db: [Delete(entry(1))]) is None
    assert handle(db, lambda db: (Put(entry(each)) for each in range(26))) is None
    assert written(between) == ["PutItem", "DeleteItem", "BatchWriteItem 25", "PutItem"]


@pytest.mark.filterwarnings("ignore::singletable.errors.LargeItemWarning")
def test_items_too_large_for_one_request_go_in_several(db: Feeds, between: Between) -> None:
    large = "\n" * 390_000  # two bytes each in JSON
    assert handle(db, lambda db: (Put(entry(each, large, f"u{each}")) for each in range(25))) is None
    assert written(between) == ["BatchWriteItem 21", "BatchWriteItem 4"]
    assert all(texts(db, f"u{each}") == {each: large} for each in range(25))


# --- order -------------------------------------------------------------------------------------------


def test_writes_of_one_item_keep_their_order(db: Feeds, between: Between) -> None:
    def script(db: Feeds) -> Iterator[Any]:
        for text in ("first", "second"):
            yield Put(entry(1, text))
            yield Put(entry(2, text))
        yield Delete(entry(2))
        yield Put(entry(3, "third"))

    assert handle(db, script) is None
    assert written(between) == ["BatchWriteItem 2"] * 3
    assert texts(db) == {1: "second", 3: "third"}


def test_other_writes_stay_between_those_around_them(db: Feeds, between: Between) -> None:
    by_key = Entry.key.get(UserPK(user_id="u"), EntrySK(number=1))

    def script(db: Feeds) -> Iterator[Any]:
        yield Put(entry(1, "put"))
        yield Put(entry(2, "put"))
        yield Update(by_key, text="updated")
        yield Put(entry(3, "put"))
        yield Delete(entry(2))
        yield Once(Update(by_key, text="once"))
        yield Create(entry(4, "created"))
        yield Put(entry(4, "put"))
        yield Put(entry(5, "put"))

    assert handle(db, script) is None
    kinds = [each for each in written(between) if each.startswith("Batch")]
    assert kinds == ["BatchWriteItem 2"] * 3
    assert texts(db) == {1: "once", 3: "put", 4: "put", 5: "put"}


def test_entity_that_a_handler_uses_again_is_written_as_it_was_yielded(db: Feeds) -> None:
    seen = []

    def script(db: Feeds) -> Iterator[Any]:
        used = entry(0)
        for number in range(1, 31):
            used.number, used.text = number, f"number {number}"
            yield Put(used)
            seen.append((used.number, used.at == db.now()))

    assert handle(db, script) is None
    assert texts(db) == {number: f"number {number}" for number in range(1, 31)}
    assert seen == [(number, True) for number in range(1, 31)]


# --- what a batch cannot take ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "write",
    [
        lambda each: Put(Named(user_id="u", name=str(each))),
        lambda each: Put(Comment(user_id="p", number=each)),
        lambda each: Put(Reply(user_id="p", number=each)),
        lambda each: Put(Draft(user_id="u", number=each)),
        lambda each: Delete(Draft(user_id="u", number=each)),
        lambda each: Put(entry(each), when=Eq("text", "")),
        lambda each: Create(entry(each)),
    ],
    ids=["unique", "counted", "copied", "version", "deleted-version", "condition", "create"],
)
def test_what_needs_more_than_a_batch_is_written_one_by_one(
    db: Feeds, between: Between, write: Callable[[int], Any]
) -> None:
    for each in range(3):
        db.put(entry(each))
    between.calls.clear()
    assert handle(db, lambda db: map(write, range(3))) is None
    assert not any(each.startswith("Batch") for each in written(between))
    assert len(written(between)) >= 3


def test_deleted_drafts_of_any_version_go_together(db: Feeds, between: Between) -> None:
    keys = [Draft.key.get(UserPK(user_id="u"), DraftSK(number=each)) for each in range(3)]
    assert handle(db, lambda db: map(Delete, keys)) is None
    assert written(between) == ["BatchWriteItem 3"]


# --- failing ------------------------------------------------------------------------------------------


def test_unprocessed_writes_are_asked_for_again(db: Feeds, between: Between) -> None:
    left = iter([10, 3])

    def before(call: Call) -> Any:
        count = next(left, 0) if call.operation == "BatchWriteItem" else 0
        if not count:
            return None
        requests = call.params["RequestItems"]["feeds"]
        between.inner.call("BatchWriteItem", {"RequestItems": {"feeds": requests[count:]}})
        return {"UnprocessedItems": {"feeds": requests[:count]}}

    between.before = before
    assert handle(db, lambda db: (Put(entry(each)) for each in range(25))) is None
    assert written(between) == ["BatchWriteItem 25", "BatchWriteItem 10", "BatchWriteItem 3"]
    assert len(texts(db)) == 25


def test_batch_that_fails_holds_up_the_record_until_it_does_not(db: Feeds, between: Between) -> None:
    batches = iter(range(10))

    def before(call: Call) -> None:
        if call.operation == "BatchWriteItem" and next(batches) == 1:
            raise TargetError("nobody answers", hint="try again")

    def script(db: Feeds) -> Iterator[Any]:
        yield from (Put(entry(each)) for each in range(30))
        yield Create(entry(99))

    between.before = before
    failure = handle(db, script)
    assert failure is not None
    assert isinstance(failure.error, TargetError)
    assert len(texts(db)) == 25
    assert handle(db, script) is None
    assert handle(db, script) is None, "a record may come again"
    assert len(texts(db)) == 31


def test_what_is_yielded_before_a_handler_fails_is_written(db: Feeds, between: Between) -> None:
    def script(db: Feeds) -> Iterator[Any]:
        yield Put(entry(1))
        yield Put(entry(2))
        raise OSError("the printer is off")

    failure = handle(db, script)
    assert failure is not None
    assert isinstance(failure.error, OSError)
    assert written(between) == ["BatchWriteItem 2"]


def test_target_without_batches_takes_them_one_by_one() -> None:
    with Database.open(":memory:", clock=ManualClock()) as database:
        between = Between(LimitedClient(database, frozenset({"BatchWriteItem"})))
        db = opened_feeds(between)
        assert handle(db, lambda db: [Put(entry(1)), Put(entry(2)), Delete(entry(3))]) is None
        assert written(between) == ["BatchWriteItem 3", "PutItem", "PutItem", "DeleteItem"]
        assert texts(db) == {1: "", 2: ""}
