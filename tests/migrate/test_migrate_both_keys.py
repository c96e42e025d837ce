"""While keys change, `was=`: reads find items under old and new keys, writes bring them where they belong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Annotated, Any

import pytest

from designs.changing_letters import Letter, Letters, OldLetter, OldLetters
from designs.letters import BoxPK, LetterSK
from singletable import Database
from singletable.client import Client
from singletable.client.calls import Steps
from singletable.clock import ManualClock
from singletable.design import (
    CountOf,
    Delete,
    Design,
    Entity,
    Get,
    Index,
    Key,
    Keys,
    Put,
    SortKey,
    Table,
    Update,
    pattern,
)
from singletable.design.tables.create import create_table
from singletable.errors import AlreadyExistsError, DeclarationError, VersionConflictError
from singletable.migrate import Backfill, Migration, Rekey, Runner, Verify
from support.limited_targets import LimitedClient
from support.migrating import design_on, drive, sleep_of
from support.targets import TARGETS, opened

EVERYWHERE = [*TARGETS, "without transactions"]
MIGRATION = Migration(
    "0002_tenants",
    "Boxes belong to tenants",
    (Rekey(("Letter",)), Backfill({"Letter": ("days",)}), Verify({"Letter": ("key", "days")})),
    None,
)


@contextmanager
def half_moved(target: str, count: int = 8) -> Iterator[tuple[Client, Letters]]:
    """Open a target with letters of which every third has moved; the numbers sort otherwise under the old keys."""
    clock = ManualClock()
    with fresh(target, clock) as client:
        old = design_on(client, OldLetters, {})
        client.run(create_table(old.session))
        db: Letters = design_on(client, Letters, {})
        for number in range(5, 5 + count):
            fields: dict[str, Any] = {"tenant": "t1", "box": "x", "number": number, "subject": f"S{number}"}
            day = f"2024-05-0{1 + number % 2}"
            (db if number % 3 == 0 else old).create(
                (Letter if number % 3 == 0 else OldLetter)(**fields, day=day, seal=f"seal-{number}")
            )
        yield client, db


@contextmanager
def fresh(target: str, clock: ManualClock) -> Iterator[Client]:
    if target != "without transactions":
        with opened(target, clock=clock, sleep=sleep_of(target, clock)) as client:
            yield client
        return
    with Database.open(":memory:", clock=clock) as database:
        yield LimitedClient(database, sleep=clock.advance)


def numbers(letters: Any) -> list[int]:
    return [letter.number for letter in letters]


def keys_of(client: Client) -> set[str]:
    items = client.call("Scan", {"TableName": "letters", "ConsistentRead": True})["Items"]
    return {item["PK"]["S"] for item in items if item["entityType"]["S"] == "Letter"}


IN_ORDER = [6, 8, 10, 12, 5, 7, 9, 11]  # by day, then by number


# --- reading ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", TARGETS)
def test_query_finds_old_and_new_items_in_the_order_of_the_new_keys(target: str) -> None:
    with half_moved(target) as (_, db):
        assert numbers(db.letters("t1", "x").all()) == IN_ORDER
        assert numbers(db.letters("t1", "x").newest_first().all()) == IN_ORDER[::-1]
        assert numbers(db.since("t1", "x", "2024-05-02").all()) == [5, 7, 9, 11]
        assert numbers(db.letters("t1", "x").where(subject="S7").all()) == [7]
        assert numbers(db.letters("t2", "x").all()) == []


@pytest.mark.parametrize("target", TARGETS)
def test_get_and_batch_get_find_old_and_new_items(target: str) -> None:
    with half_moved(target) as (_, db):
        assert db.letter("t1", "x", "2024-05-02", 5).one().subject == "S5"
        assert db.letter("t1", "x", "2024-05-01", 6).one().subject == "S6"
        assert db.letter("t1", "x", "2024-05-01", 5).maybe() is None  # a letter of another day
        assert db.letter("t2", "x", "2024-05-02", 5).maybe() is None
        pairs = [(BoxPK(tenant="t1", box="x"), LetterSK(day="2024-05-02", number=n)) for n in (5, 6, 7, 9)]
        found = db.plan(Letter.key.batch_get(pairs)).found().item
        assert [letter and letter.number for letter in found] == [5, None, 7, 9]


@pytest.mark.parametrize("target", TARGETS)
def test_collection_has_old_and_new_items(target: str) -> None:
    with half_moved(target) as (_, db):
        assert numbers(db.whole("t1", "x").one().letters) == IN_ORDER


@pytest.mark.parametrize("target", TARGETS)
def test_index_that_gets_shards_is_read_under_both_keys(target: str) -> None:
    with half_moved(target) as (_, db):
        assert numbers(db.of_day("2024-05-01").all()) == [6, 8, 10, 12]
        assert numbers(db.of_day("2024-05-02").newest_first().all()) == [11, 9, 7, 5]


@pytest.mark.parametrize("limit", range(1, 9))
@pytest.mark.parametrize("backwards", [False, True])
def test_cursors_are_exact_while_items_move_between_pages(limit: int, backwards: bool) -> None:
    for calls in range(0, 30, 3):
        with half_moved("embedded") as (client, db):
            migration = Slowly(client, Runner(db, page_items=1).steps([MIGRATION]))
            plans: list[Any] = [db.letters("t1", "x"), db.of_day("2024-05-01")]
            wanted = [IN_ORDER, [6, 8, 10, 12]]
            for plan, order in zip(plans, wanted, strict=True):
                plan = plan.newest_first() if backwards else plan
                move_some = partial(migration.go_on, calls)
                assert paged(plan, limit, move_some) == (order[::-1] if backwards else order)


def paged(plan: Any, limit: int, between: Callable[[], None]) -> list[int]:
    found: list[int] = []
    cursor = None
    while True:
        page = plan.page(limit=limit, cursor=cursor)
        found += numbers(page.items)
        cursor = page.cursor
        if cursor is None:
            return found
        between()


class Slowly:
    """Goes through steps, a few calls at a time."""

    def __init__(self, client: Client, steps: Steps[Any]) -> None:
        self._client = client
        self._steps = steps
        self._next = next(steps, None)

    def go_on(self, calls: int) -> None:
        for _ in range(calls):
            if self._next is None:
                return
            try:
                try:
                    answer = self._client._take(self._next)
                except Exception as error:
                    self._next = self._steps.throw(error)
                else:
                    self._next = self._steps.send(answer)
            except StopIteration:
                self._next = None


def test_cursor_stays_valid_when_the_old_keys_are_dropped_from_the_code() -> None:
    with half_moved("embedded") as (_, db):
        first = db.letters("t1", "x").page(limit=3)
        Runner(db).run([MIGRATION])
        keys = Letter.key.keys
        was, keys.was = keys.was, None
        try:
            rest = db.letters("t1", "x").page(limit=10, cursor=first.cursor)
        finally:
            keys.was = was
        assert numbers(first.items) + numbers(rest.items) == IN_ORDER


# --- writing ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", EVERYWHERE)
def test_update_of_an_item_under_its_old_key_brings_it_home(target: str) -> None:
    with half_moved(target, count=2) as (client, db):
        letter = db.letter("t1", "x", "2024-05-02", 5).one()
        db.update(letter, subject="changed")
        assert keys_of(client) == {"TENANT#t1#BOX#x"}
        assert db.letter("t1", "x", "2024-05-02", 5).one().subject == "changed"
        assert db.verify().is_clean
        with pytest.raises(VersionConflictError):
            db.update(letter.model_copy(update={"version": 1}), subject="late")


@pytest.mark.parametrize("target", EVERYWHERE)
def test_update_by_key_put_and_delete_find_the_item_under_its_old_key(target: str) -> None:
    with half_moved(target) as (client, db):
        db.update(db.letter("t1", "x", "2024-05-02", 5), subject="five")
        letter = db.letter("t1", "x", "2024-05-02", 7).one()
        letter.subject = "seven"
        db.put(letter)
        db.delete(db.letter("t1", "x", "2024-05-01", 8).one())
        db.delete(db.letter("t1", "x", "2024-05-01", 10))
        assert [(each.number, each.subject) for each in db.letters("t1", "x").all()] == [
            (6, "S6"), (12, "S12"), (5, "five"), (7, "seven"), (9, "S9"), (11, "S11"),
        ]  # fmt: skip
        old = client.call("Scan", {"TableName": "letters", "ConsistentRead": True})["Items"]
        assert sorted(item["SK"]["S"] for item in old if item["PK"]["S"] == "BOX#x") == ["LETTER#11"]
        Runner(db).run([MIGRATION])
        assert db.verify().is_clean


@pytest.mark.parametrize("target", EVERYWHERE)
def test_create_sees_the_item_under_its_old_key(target: str) -> None:
    with half_moved(target) as (_, db):
        with pytest.raises(AlreadyExistsError):
            db.create(Letter(tenant="t1", box="x", number=5, day="2024-05-02", subject="again"))
        assert db.letter("t1", "x", "2024-05-02", 5).one().subject == "S5"


@pytest.mark.parametrize("target", TARGETS)
def test_transaction_writes_items_under_old_keys(target: str) -> None:
    with half_moved(target) as (_, db):
        db.transaction(
            Update(db.letter("t1", "x", "2024-05-02", 5), subject="five"),
            Delete(db.letter("t1", "x", "2024-05-02", 7)),
            Put(Letter(tenant="t1", box="x", number=20, day="2024-05-03", subject="twenty")),
        )
        assert numbers(db.letters("t1", "x").all()) == [6, 8, 10, 12, 5, 9, 11, 20]


@pytest.mark.parametrize("target", ["embedded", "without transactions"])
def test_writers_and_the_migration_together_end_right(target: str) -> None:
    with half_moved(target) as (client, db):
        turn = 0
        wanted = {number: f"S{number}" for number in range(5, 13)}

        def write() -> None:
            nonlocal turn
            turn += 1
            number = 5 + turn % 8
            wanted[number] = f"T{turn}"
            db.update(db.letter("t1", "x", f"2024-05-0{1 + number % 2}", number), subject=f"T{turn}")

        assert drive(client, Runner(db).steps([MIGRATION]), 10_000, between=write)
        assert {letter.number: letter.subject for letter in db.letters("t1", "x").all()} == wanted
        assert keys_of(client) == {"TENANT#t1#BOX#x"}
        assert Runner(db).verify().is_right
        assert db.verify().is_clean


# --- items that belong to others ---------------------------------------------------------------------------


class PostTable(Table):
    name = "posts"
    pitr_days = None


class OldPostPK(Key, template="OLD#{post}"):
    post: str


class PostPK(Key, template="POST#{post}"):
    post: str


class PostSK(SortKey, template="METADATA"):
    pass


class LikeSK(SortKey, template="LIKE#{user}"):
    user: str


class OldPost(Entity, name="Post"):
    key = Keys(OldPostPK, PostSK)

    post: str
    likes: Annotated[int, CountOf("OldLike")] = 0


class OldLike(Entity, name="Like"):
    key = Keys(OldPostPK, LikeSK)

    post: str
    user: str


class Post(Entity, owns=("Like",)):
    key = Keys(PostPK, PostSK, was=(OldPostPK, PostSK))

    post: str
    likes: Annotated[int, CountOf("Like")] = 0


class Like(Entity):
    key = Keys(PostPK, LikeSK, was=(OldPostPK, LikeSK))

    post: str
    user: str


class OldPosts(Design):
    table = PostTable
    entities = (OldPost, OldLike)


class Posts(Design):
    table = PostTable
    entities = (Post, Like)

    @pattern("1 Get a post")
    def post(self, post: str) -> Get[Post]:
        return Post.key.get(PostPK(post=post), PostSK())


@contextmanager
def old_post(target: str) -> Iterator[tuple[Client, Posts]]:
    """Open a target with a post and two likes of it, under old keys."""
    clock = ManualClock()
    with fresh(target, clock) as client:
        old = design_on(client, OldPosts, {})
        client.run(create_table(old.session))
        old.create(OldPost(post="p"))
        for user in ("a", "b"):
            old.create(OldLike(post="p", user=user))
        yield client, design_on(client, Posts, {})


@pytest.mark.parametrize("target", EVERYWHERE)
def test_counter_in_an_item_under_its_old_key_is_kept(target: str) -> None:
    with old_post(target) as (_, db):
        db.create(Like(post="p", user="c"))
        db.delete(Like(post="p", user="a"))
        assert db.post("p").one().likes == 2
        report = db.verify()
        assert (report.is_clean, report.under_old_keys) == (True, 1)  # the one like that has not moved
        assert db.verify(repair=True) == report
        assert db.verify().under_old_keys == 0
        assert db.post("p").one().likes == 2


@pytest.mark.parametrize("target", EVERYWHERE)
def test_delete_takes_along_what_is_under_old_keys(target: str) -> None:
    with old_post(target) as (client, db):
        db.delete(db.post("p"))
        assert client.call("Scan", {"TableName": "posts", "ConsistentRead": True})["Items"] == []


# --- declaring --------------------------------------------------------------------------------------------


class OtherTable(Table):
    name = "others"
    by_name = Index("ByName", pk="namePK")


class NamePK(Key, template="NAME#{name}"):
    name: str


class OwnerPK(Key, template="OWNER#{owner}"):
    owner: str


class NameSK(SortKey, template="NAME#{name}"):
    name: str


def test_old_keys_that_do_not_follow_from_the_new_ones_are_refused() -> None:
    with pytest.raises(DeclarationError, match="does not follow from NamePK") as refused:

        class Thing(Entity):
            key = Keys(NamePK, NameSK, was=(OwnerPK, NameSK))

            name: str
            owner: str

    assert "has no 'owner'" in refused.value.message


def test_old_keys_of_unknown_fields_are_refused() -> None:
    with pytest.raises(DeclarationError, match="'owner'"):

        class Thing(Entity):
            key = Keys(NamePK, NameSK, was=(OwnerPK, NameSK))

            name: str


def test_old_key_of_an_index_without_sort_key_is_one_class() -> None:
    class FullNamePK(Key, template="FULLNAME#{name}"):
        name: str

    class Thing(Entity):
        key = Keys(NamePK, NameSK)
        named = OtherTable.by_name.keys(FullNamePK, was=NamePK)

        name: str

    class Things(Design):
        table = OtherTable
        entities = (Thing,)

    with Things.open(":memory:") as db:
        item = {"PK": "NAME#a", "SK": "NAME#a", "name": "a", "namePK": "NAME#a", "entityType": "Thing"}
        stored = {name: {"S": value} for name, value in item.items()}
        db.session.client.call("PutItem", {"TableName": "others", "Item": stored})
        db.create(Thing(name="b"))
        assert [thing.name for thing in db.plan(Thing.named.query(FullNamePK(name="a"))).all()] == ["a"]
        assert [thing.name for thing in db.plan(Thing.named.query(FullNamePK(name="b"))).all()] == ["b"]
