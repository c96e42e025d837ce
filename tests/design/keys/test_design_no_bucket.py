"""Keys that may be divided by time, and are not: `BucketOf(..., "never")` renders as nothing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

import pytest

from designs.wall import AtSK, MonthPK, MonthPost, MonthWall, Post, Wall, WallPK, WallTable
from singletable.blueprint import Blueprint, KeyPart
from singletable.clock import ManualClock
from singletable.design import (
    BucketOf,
    CountOf,
    Design,
    Entity,
    Key,
    Keys,
    ShardOf,
    SortKey,
    Table,
    buckets,
)
from singletable.design.describe.samples import sample
from singletable.design.tables.create import create_table
from singletable.drawing import draw_design
from singletable.errors import DeclarationError, KeyValueError
from singletable.migrate import Backfill, Folder, Runner, Verify, new_migration
from support.migrating import EVERYWHERE, design_on, fresh_client
from support.opened_designs import opened_design, stored_items
from support.targets import TARGETS

each_target = pytest.mark.parametrize("target", TARGETS)

START = datetime(2025, 1, 20, tzinfo=UTC)
NEWEST = START + timedelta(days=99)


class LastPK(Key, template="FEED#{span}"):
    span: Annotated[str, BucketOf("at", "never")]


class FirstPK(Key, template="{span}#FEED#{kind}"):
    span: Annotated[str, BucketOf("at", "never")]
    kind: str


class MiddlePK(Key, template="FEED#{kind}-{span}/{place}"):
    kind: str
    span: Annotated[str, BucketOf("at", "never")]
    place: str


class ManyPK(Key, template="FEED#{span}#{shard}#{year}#{kind}"):
    span: Annotated[str, BucketOf("at", "never")]
    shard: Annotated[int, ShardOf(1, by="kind")]
    year: Annotated[str, BucketOf("at", "year")]
    kind: str


class SpanSK(SortKey, template="AT#{span}#{at}"):
    span: Annotated[str, BucketOf("at", "never")]
    at: datetime


# --- text -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "text"),
    [
        (LastPK(span=""), "FEED"),
        (FirstPK(span="", kind="a"), "FEED#a"),
        (MiddlePK(kind="a", span="", place="b"), "FEED#a/b"),
        (ManyPK(span="", shard=0, year="2025", kind="a"), "FEED#2025#a"),
        (SpanSK(span="", at=START), "AT#2025-01-20T00:00:00.000Z"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_bucket_of_all_times_renders_as_nothing_and_is_read_back(key: Key, text: str) -> None:
    assert key.render() == text
    assert type(key).parse(text) == key


def test_key_takes_the_one_bucket_that_there_is() -> None:
    assert list(buckets(LastPK, newest=NEWEST, oldest=START)) == [""]
    assert list(buckets(LastPK, newest=START, oldest=NEWEST)) == [""]
    with pytest.raises(KeyValueError, match=r"LastPK\.span .*'2025-01' is no bucket of a key") as refused:
        LastPK(span="2025-01")
    assert refused.value.hint == (
        'BucketOf(..., "never") has one bucket, "", with the items of every time; buckets() names it'
    )


def test_sort_keys_begin_with_what_is_behind_the_bucket() -> None:
    assert SpanSK.prefix(span="").text == "AT#"
    assert SpanSK.prefix(span="", at=START).text == "AT#2025-01-20T00:00:00.000Z"
    assert SpanSK.starting(span="").text == "AT#"


def test_sample_is_the_one_bucket() -> None:
    assert sample(LastPK, "pk", 1) == LastPK(span="")


def test_bucket_that_is_not_known_is_refused() -> None:
    every: Any = "monthly"
    with pytest.raises(DeclarationError, match="no bucket is called 'monthly'") as refused:

        class WrongPK(Key, template="FEED#{span}"):
            span: Annotated[str, BucketOf("at", every)]

    assert refused.value.hint == "year, month, week, day, never"


def test_field_of_the_entity_is_a_time_all_the_same() -> None:
    with pytest.raises(DeclarationError, match="'at' is str in Wrong and a time in LastPK"):

        class Wrong(Entity):
            key = Keys(LastPK, SpanSK)

            at: str


# --- reading ----------------------------------------------------------------------------------------------


def moment(number: int) -> datetime:
    return START + timedelta(days=9 * number)


def walked(db: Any) -> list[str]:
    ids, cursor = [], None
    while True:
        page = db.newest(newest=NEWEST, oldest=START).page(limit=3, cursor=cursor)
        ids += [post.post_id for post in page]
        cursor = page.cursor
        if cursor is None:
            return ids


@each_target
@pytest.mark.parametrize(("design", "entity"), [(Wall, Post), (MonthWall, MonthPost)])
def test_walk_goes_through_everything_page_by_page(
    target: str, design: type[Design], entity: type[Any]
) -> None:
    with opened_design(design, target) as db:
        for number in range(10):
            db.create(entity(post_id=f"p{number}", created_at=moment(number)))
        assert walked(db) == [f"p{number}" for number in reversed(range(10))]
        partitions = {item["feedPK"]["S"] for item in stored_items(db)}
        assert (partitions == {"FEED"}) is (design is Wall)


# --- as data ----------------------------------------------------------------------------------------------


def test_blueprint_has_the_plain_key() -> None:
    blueprint = Wall.blueprint()
    place = blueprint.entities[0].place("Feed")
    assert place is not None
    assert place.pk.template == "FEED"
    assert place.pk.parts == (
        KeyPart("month", "str", "created_at", bucket="never"),
        KeyPart("shard", "int", "post_id", shards=1),
    )
    assert [(read.pk, read.count) for read in blueprint.patterns[0].reads] == [("FEED", 1)]
    assert Blueprint.from_json(blueprint.to_json()) == blueprint


def test_picture_has_the_plain_key_and_no_note() -> None:
    (collection,) = draw_design(Wall.blueprint()).views[1].collections
    assert collection.partition.text == "FEED"
    assert "one for each" not in str(collection)
    (divided,) = draw_design(MonthWall.blueprint()).views[1].collections
    assert "one for each month" in str(divided)


# --- items of others --------------------------------------------------------------------------------------


class RoomTable(Table):
    name = "rooms"
    pitr_days = None


class RoomPK(Key, template="ROOM#{room}"):
    room: str


class RoomSK(SortKey, template="INFO"):
    pass


class WordPK(Key, template="WORDS#{room}#{month}"):
    room: str
    month: Annotated[str, BucketOf("said_at", "never")]


class SaidSK(SortKey, template="SAID#{said_at}"):
    said_at: datetime


class Room(Entity, owns=("Word",)):
    key = Keys(RoomPK, RoomSK)

    room: str
    words: Annotated[int, CountOf("Word")] = 0


class Word(Entity):
    key = Keys(WordPK, SaidSK)

    room: str
    said_at: datetime


class Rooms(Design):
    table = RoomTable
    entities = (Room, Word)


@each_target
def test_owned_and_counted_items_are_found_where_times_do_not_divide_them(target: str) -> None:
    with opened_design(Rooms, target) as db:
        for room in ("hall", "loft"):
            db.create(Room(room=room))
            for number in range(3):
                db.create(Word(room=room, said_at=moment(number)))
        hall = db.plan(Room.key.get(RoomPK(room="hall"), RoomSK())).one()
        assert hall.words == 3
        assert db.verify().is_clean
        db.delete(hall)
        assert {item["PK"]["S"] for item in stored_items(db)} == {"ROOM#loft", "WORDS#loft"}


# --- buckets later ----------------------------------------------------------------------------------------


def test_buckets_of_months_are_a_migration_that_fills_the_index(tmp_path: Path) -> None:
    new_migration(Wall, "first", tmp_path)
    assert new_migration(Wall, "nothing", tmp_path) is None
    written = new_migration(MonthWall, "months", tmp_path)
    assert written is not None
    assert written.steps == (Backfill({"Post": ("feed",)}), Verify({"Post": ("feed",)}))


@pytest.mark.parametrize("target", EVERYWHERE)
def test_posts_are_found_before_during_and_after_the_migration(target: str, tmp_path: Path) -> None:
    new_migration(Wall, "first", tmp_path)
    new_migration(MonthWall, "months", tmp_path)
    ids = [f"p{number}" for number in reversed(range(10))]
    with fresh_client(target, ManualClock()) as client:
        old = design_on(client, Wall, {})
        client.run(create_table(old.session))
        db = design_on(client, MonthWall, {})
        for number in range(10):
            kind = Post if number % 3 else MonthPost
            (old if number % 3 else db).create(kind(post_id=f"p{number}", created_at=moment(number)))
        assert walked(db) == ids
        assert [post.post_id for post in db.of_month("2025-02").all()] == ["p4", "p3", "p2"]
        Runner(db).run(Folder(tmp_path).migrations()[1:])
        assert walked(db) == ids
        assert {item["feedPK"]["S"][:12] for item in stored_items(db) if "feedPK" in item} == {
            f"FEED#2025-{month:02}" for month in (1, 2, 3, 4)
        }


def test_old_key_with_buckets_does_not_follow_from_one_without() -> None:
    with pytest.raises(DeclarationError, match=r"the old key MonthPK .* does not follow from WallPK"):

        class Back(Entity):
            key = Keys(WallPK, AtSK)
            feed = WallTable.feed.keys(WallPK, AtSK, was=(MonthPK, AtSK))

            post_id: str
            created_at: datetime
