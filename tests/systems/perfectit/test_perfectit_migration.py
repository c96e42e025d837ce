"""The table of PerfectIt's design document, brought to the design by the migration that comes with the system."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from singletable import Collection as Gathered
from singletable import Database, Entity
from singletable.cli import main
from singletable.client import Client, EmbeddedClient
from singletable.clock import ManualClock
from singletable.migrate import Expiring, Folder, Migration, MigrationStep, Runner, VerificationError, plan
from singletable.migrate.comparing import compare
from singletable.migrate.values import same
from singletable_systems.perfectit import Accounts, PerfectIt, Publishing, Voting
from singletable_systems.perfectit.errors import CardNotFoundError
from singletable_systems.perfectit.model.keys import (
    CardId,
    CategoryId,
    CollectionId,
    CommentId,
    NotificationId,
    UserId,
)
from singletable_systems.perfectit.operating.system import SYSTEM
from support.design_clients import on_client
from support.migrating import drive, sleep_of
from support.opened_designs import stored_item, stored_items
from support.targets import TARGETS, opened
from systems import perfectit_old_table as old
from systems.perfectit_old_table import NOW
from systems.plain_items import typed_item

assert SYSTEM.migrations is not None
FOLDER = SYSTEM.migrations
MAKER, GRACE = UserId("user123"), UserId("user456")
CARDS = [CardId(str(number)) for number in range(123, 129)]
FIRST = CARDS[0]
WOODWORKING, CRAFTS = CategoryId("woodworking"), CategoryId("crafts")
COL1, COL2 = CollectionId("col1"), CollectionId("col2")
COMMENTED = NOW.replace(year=2039, month=12, day=5, hour=10)
WORDS = ("perfect", "wood", "furniture", "woodworking", "glass", "half", "over")
each_target = pytest.mark.parametrize("target", TARGETS)

# Every pattern, with what it is asked in this world.
ASKED: dict[str, Callable[[PerfectIt], Any]] = {
    "user": lambda db: [db.user(UserId(name)).maybe() for name in ("user123", "user456", "user")],
    "user_by_username": lambda db: [db.user_by_username(name).maybe() for name in ("Maker", "grace", "mak")],
    "user_named": lambda db: [db.user_named(name).maybe() for name in ("MAKER", "grace", "mak")],
    "cards_by_category": lambda db: [
        db.cards_by_category(CategoryId(name)).all() for name in ("woodworking", "glass", "wood")
    ],
    "cards_by_author": lambda db: [db.cards_by_author(user_id).all() for user_id in (MAKER, GRACE)],
    "own_cards": lambda db: [db.own_cards(user_id).all() for user_id in (MAKER, GRACE)],
    "card": lambda db: [db.card(card_id).maybe() for card_id in CARDS],
    "card_view": lambda db: [db.card_view(card_id).maybe() for card_id in CARDS],
    "stats": lambda db: [db.stats(card_id).maybe() for card_id in CARDS],
    "cards": lambda db: db.cards(CARDS).all(),
    "comments": lambda db: [db.comments(card_id).all() for card_id in CARDS],
    "comment": lambda db: [
        db.comment(FIRST, COMMENTED, CommentId(name)).maybe() for name in ("com1", "com2", "com3")
    ],
    "comments_by": lambda db: [
        sorted(db.comments_by(user_id).all(), key=lambda each: (each.created_at, each.comment_id))
        for user_id in (MAKER, GRACE)
    ],
    "collections": lambda db: [db.collections(user_id).all() for user_id in (MAKER, GRACE)],
    "own_collection": lambda db: db.own_collection(GRACE, COL1).one(),
    "collection": lambda db: [db.collection(each).one() for each in (COL1, COL2)],
    "collection_cards": lambda db: [db.collection_cards(each).all() for each in (COL1, COL2)],
    "collection_links": lambda db: [db.collection_links(each).all() for each in (COL1, COL2)],
    "collection_link": lambda db: db.collection_link(COL1, FIRST).one(),
    "collections_with": lambda db: [db.collections_with(card_id).all() for card_id in CARDS],
    "vote": lambda db: [
        db.vote(user, target).maybe() for user in (MAKER, GRACE) for target in ("123", "com2")
    ],
    "voters": lambda db: [db.voters(target).all() for target in ("123", "com2", "com1")],
    "votes_by": lambda db: [db.votes_by(user_id).all() for user_id in (MAKER, GRACE)],
    "trending": lambda db: db.trending().all(),
    "top_voted": lambda db: db.top_voted().all(),
    "controversial": lambda db: db.controversial().all(),
    "ranking": lambda db: db.ranking().all(),
    "recent": lambda db: [db.recent(NOW).all(), db.recent(NOW.replace(year=2025, month=1, day=2), 1).all()],
    "cards_with_word": lambda db: [db.cards_with_word(word).all() for word in WORDS],
    "cards_of_word": lambda db: [db.cards_of_word(word).all() for word in WORDS],
    "categories_below": lambda db: [db.categories_below(each).all() for each in (CRAFTS, WOODWORKING)],
    "root_categories": lambda db: db.root_categories().all(),
    "category": lambda db: [db.category(each).one() for each in (CRAFTS, WOODWORKING)],
    "analytics": lambda db: db.analytics("2025-01-01").maybe(),
    "notifications": lambda db: db.notifications(MAKER).all(),
    "unread": lambda db: db.unread(MAKER).all(),
    "notification": lambda db: db.notification(MAKER, NOW, NotificationId("not1")).maybe(),
}


@contextmanager
def old_perfectit(target: str, *items: old.Old) -> Iterator[PerfectIt]:
    """Open the design on the document's table, which it has not made, with its items and more."""
    clock = ManualClock(int(NOW.timestamp()) * 1_000_000)
    with opened(target, clock=clock, sleep=sleep_of(target, clock)) as client:
        old.make_table(client)
        old.put(client, *old.ITEMS, *items)
        yield on_client(PerfectIt, client, makes_table=False, environment=old.ENVIRONMENT)


def fresh_perfectit(client: Client) -> PerfectIt:
    """Open the design on a table of its own, with the same written by the design."""
    db = on_client(PerfectIt, client, environment="fresh")
    db.load(old.entities(), settled=True)
    assert db.verify().is_clean
    return db


def migrations() -> list[Migration]:
    return Folder(FOLDER).migrations()


def lets_expire(migration: Migration, step: MigrationStep | Expiring) -> bool:
    """Confirm that a draft of long ago expires at once; nothing else is asked."""
    assert isinstance(step, Expiring)
    assert [sample["key"]["PK"] for sample in step.samples] == ["CARD#128"]
    return True


def migrate(db: PerfectIt, **options: Any) -> Any:
    (report,) = Runner(db, confirm=lets_expire, **options).run(migrations())
    return report


def facts(answer: Any) -> Any:
    """Return what was answered, without the versions: those of old items have not begun."""
    if isinstance(answer, Entity):
        return type(answer).__name__, answer.model_dump(exclude={"version"})
    if answer is None:
        return None
    if isinstance(answer, Gathered):
        return {name: facts(value) for name, value in vars(answer).items()}
    return [facts(each) for each in answer]


def shown(db: PerfectIt) -> dict[tuple[str, str], Any]:
    """Return all items as they are stored; without the records of migrations."""
    found = {(item["PK"]["S"], item["SK"]["S"]): item for item in stored_items(db)}
    return {key: item for key, item in found.items() if key[0] != "MIGRATIONS"}


def ids(rows: Any) -> list[str]:
    return [str(getattr(each, "comment_id", None) or each.card_id) for each in rows]


def did(report: Any) -> dict[str, str]:
    return {step.kind: step.did for step in report.steps}


# --- what comes with the system ------------------------------------------------------------------------------


def test_every_pattern_is_asked() -> None:
    assert ASKED.keys() == PerfectIt.patterns().keys()


def test_shipped_migration_is_what_the_tool_writes_and_leads_to_the_design_of_today() -> None:
    first = migrations()[0]
    assert first.steps == compare(None, PerfectIt.blueprint(), every_item=True)
    assert plan(PerfectIt, FOLDER).is_empty


# --- before --------------------------------------------------------------------------------------------------


@each_target
def test_design_reads_old_items_by_their_keys_without_a_migration(target: str) -> None:
    with old_perfectit(target) as db:
        fresh = fresh_perfectit(db.session.client)
        for name in ("user", "vote", "collection_links", "collection_link"):
            assert facts(ASKED[name](db)) == facts(ASKED[name](fresh)), name
        for card_id in (FIRST, CARDS[1]):
            assert facts(db.card_view(card_id).one()) == facts(fresh.card_view(card_id).one())


@each_target
def test_before_the_migration_some_answers_are_wrong_or_missing(target: str) -> None:
    with old_perfectit(target) as db:
        cards = list(db.cards_by_category(WOODWORKING).all())
        assert {card.status for card in cards} == {"PUBLISHED", "DRAFT", "ARCHIVED"}  # PI-17
        assert ids(db.comments(FIRST).all()) == ["com4", "com3", "com1", "com2"]
        assert list(db.recent(NOW).all()) == []  # PI-02
        assert list(db.cards_with_word("wood").all()) == []  # PI-03
        assert list(db.root_categories().all()) == []  # PI-19
        assert list(db.votes_by(MAKER).all()) == []  # PI-13
        assert list(db.collections_with(FIRST).all()) == []  # PI-20
        assert db.user_named("maker").maybe() is None  # PI-15
        assert db.user_by_username("grace").maybe() is None
        assert [each.category_id for each in db.categories_below(CRAFTS).all()] == ["woodworking", "glass"]


# --- after ---------------------------------------------------------------------------------------------------


@each_target
def test_after_the_migration_every_pattern_answers_as_on_data_of_its_own(target: str) -> None:
    with old_perfectit(target) as db:
        fresh = fresh_perfectit(db.session.client)
        assert migrate(db).state == "done"
        for name, ask in ASKED.items():
            assert facts(ask(db)) == facts(ask(fresh)), name
        assert db.verify().is_clean
        assert Runner(db).verify().is_right
        assert ids(db.comments(FIRST).all()) == ["com4", "com2", "com3", "com1"]
        assert ids(db.cards_by_category(WOODWORKING).all()) == ["124", "123"]
        assert ids(db.recent(NOW, 1).all()) == ["127"]
        assert [each.category_id for each in db.categories_below(CRAFTS).all()] == ["glass", "woodworking"]


@each_target
def test_items_are_stored_as_the_design_stores_them_and_keep_what_it_does_not_know(target: str) -> None:
    with old_perfectit(target) as db:
        fresh = shown(fresh_perfectit(db.session.client))
        migrate(db)
        found = shown(db)
        assert found["CARD#123", "METADATA"].pop("importedFrom") == {"S": "paper"}
        assert found["USER#user123", "PROFILE"].pop("theme") == {"S": "dark"}
        over = found.pop(("CARD#128", "METADATA"), None)  # where it is not swept yet
        assert over is None or int(over["ttl"]["N"]) < NOW.timestamp()
        for item in (*found.values(), *fresh.values()):
            item.pop("version", None)
            item.pop("$takenAt", None)
        assert found.keys() == fresh.keys()
        assert [key for key in found if not same({"M": found[key]}, {"M": fresh[key]})] == []


@each_target
def test_draft_gets_an_end_and_leaves_the_shared_lists(target: str) -> None:
    with old_perfectit(target) as db:
        migrate(db)
        item = stored_item(db, "CARD#125", "METADATA")
        assert item is not None
        assert item["ttl"] == {"N": str(int(datetime(2040, 2, 9, 10, tzinfo=UTC).timestamp()))}
        assert not {"GSI1PK", "GSI1SK", "GSI3PK", "GSI3SK"} & item.keys()
        assert ids(db.own_cards(MAKER).all()) == ["125", "126", "124", "123"]
        assert db.card(CARDS[5]).maybe() is None  # nobody has touched it for a month


@each_target
def test_migrated_items_can_be_changed_as_any_other(target: str) -> None:
    with old_perfectit(target) as db:
        migrate(db)
        card = db.card(FIRST).one()
        assert db.update(card, category=CategoryId("glass")).entity.version == 1
        assert ids(db.cards_by_category(CategoryId("glass")).all()) == ["127", "123"]
        Accounts(db).change_username(GRACE, "hopper")
        assert db.user_named("grace").maybe() is None
        assert db.user_named("hopper").one().user_id == GRACE
        db.delete(db.collection_link(COL1, FIRST))
        assert db.own_collection(GRACE, COL1).one().cards_count == 2


def test_old_card_is_voted_for_once_it_has_what_is_counted_of_it() -> None:
    """The document counts nothing beside a card (PI-14): who publishes it once more makes that."""
    with old_perfectit("embedded") as db:
        migrate(db)
        with pytest.raises(CardNotFoundError):
            Voting(db).vote(GRACE, CARDS[1], 1)
        Publishing(db).publish(MAKER, CARDS[1])
        Voting(db).vote(GRACE, CARDS[1], 1)
        assert db.stats(CARDS[1]).one().up_votes == 1
        Publishing(db).publish(MAKER, FIRST)
        db.verify(repair=True)  # counts what was there before, and makes the lists
        stats = db.stats(FIRST).one()
        assert (stats.up_votes, stats.down_votes, stats.comments) == (1, 1, 4)
        assert ids(db.top_voted().all()) == ["124", "123"]
        assert ids(db.controversial().all()) == ["123"]
        assert db.verify().is_clean


@each_target
def test_run_twice_changes_nothing(target: str) -> None:
    with old_perfectit(target) as db:
        migrate(db)
        before = shown(db)
        assert migrate(db).state == "was done"
        (report,) = Runner(db, confirm=lets_expire).run([replace(migrations()[0], id="0001_once_more")])
        assert {did(report)[kind].partition(" of ")[0] for kind in ("rekey", "backfill", "recompute")} == {
            "0 changed"
        }
        assert shown(db) == before


def test_table_that_is_not_there_is_made_as_the_design_says() -> None:
    clock = ManualClock()
    with opened("embedded", clock=clock, sleep=clock.advance) as client:
        db = on_client(PerfectIt, client, makes_table=False, environment=old.ENVIRONMENT)
        assert migrate(db).state == "done"
        assert list(db.drift()) == []


def test_settings_of_the_table_are_those_of_the_design() -> None:
    with old_perfectit("embedded") as db:
        assert [each.what for each in db.drift()] == ["time to live", "point-in-time recovery"]
        migrate(db)
        assert list(db.drift()) == []


# --- rehearsed, and interrupted ------------------------------------------------------------------------------


@each_target
def test_dry_run_tells_the_numbers_and_writes_nothing(target: str) -> None:
    with old_perfectit(target) as db:
        before = shown(db)
        (report,) = Runner(db).run(migrations(), dry_run=True)
        assert shown(db) == before
        expected = did(report)
        assert expected["rekey"] == "would be: 2 moved of 26 items"
        assert expected["backfill"] == "would be: 24 changed of 26 items"
        done = did(migrate(db))
        for kind in ("rekey", "backfill"):
            assert f"would be: {done[kind]}" == expected[kind]


@pytest.mark.parametrize("calls", range(8, 150, 12))
def test_killed_migration_goes_on_where_it_stood(calls: int) -> None:
    with old_perfectit("embedded") as db, old_perfectit("embedded") as other:
        migrate(db)
        steps = Runner(other, page_items=7, owner="killed", confirm=lets_expire).steps(migrations())
        is_done = drive(other.session.client, steps, calls)
        wait(other, 120)  # until the lease is over
        assert migrate(other, page_items=7).state == ("was done" if is_done else "done")
        for each in (db, other):
            wait(each, 120)  # until what has expired is swept
        assert other.verify().is_clean
        assert _without_times(shown(other)) == _without_times(shown(db))


def wait(db: PerfectIt, seconds: float) -> None:
    clock = db.session.client.clock
    assert isinstance(clock, ManualClock)
    clock.advance(seconds)


def _without_times(items: dict[tuple[str, str], Any]) -> dict[tuple[str, str], Any]:
    return {
        key: {name: value for name, value in item.items() if name != "$takenAt"}
        for key, item in items.items()
    }


# --- what is for people --------------------------------------------------------------------------------------


@each_target
def test_vote_without_a_direction_is_named_and_not_lost(target: str) -> None:
    """PI-33: the document's votes say neither for nor against, nor of what."""
    silent = old.vote("user456", "124", "2039-12-06T10:00:00Z")
    with old_perfectit(target, silent) as db:
        (rehearsed,) = Runner(db).run(migrations(), dry_run=True)
        failures = [failure for step in rehearsed.steps for failure in step.failures]
        assert any("VOTE#user456#124" in failure for failure in failures)
        with pytest.raises(VerificationError, match=r"VOTE#user456#124.* is no Vote: target_type"):
            migrate(db)
        assert stored_item(db, silent["PK"], "VOTE") == typed_item(silent)

        old.put(db.session.client, {**silent, "value": -1, "targetType": "card", "cardId": "124"})
        assert migrate(db).state == "done"
        assert db.vote(GRACE, "124").one().value == -1
        assert [each.user_id for each in db.voters("124").all()] == [GRACE]
        assert db.verify().is_clean


def test_link_without_an_owner_is_named_and_not_lost() -> None:
    """PI-33: its keys name the collection and the card alone."""
    lost = old.link("col2", "124")
    with old_perfectit("embedded", lost) as db:
        with pytest.raises(
            VerificationError, match=r"COLLECTION#col2.*CARD#124 is no CardInCollection: user_id"
        ):
            migrate(db)
        assert stored_item(db, lost["PK"], lost["SK"]) == typed_item(lost)
        old.put(db.session.client, {**lost, "userId": "user456", "addedAt": "2039-12-07T10:00:00Z"})
        assert migrate(db).state == "done"
        assert db.own_collection(GRACE, COL2).one().cards_count == 2


@each_target
def test_two_users_with_one_name_are_named_and_nothing_is_lost(target: str) -> None:
    """PI-15: an index keeps nobody from taking a name twice."""
    twin = old.user("user124", "MAKER", displayName="Maker too")
    with old_perfectit(target, twin) as db:
        with pytest.raises(VerificationError, match=r"username .* is also that of"):
            migrate(db)
        assert db.user(MAKER).one().display_name == "The Maker"
        owner = db.user_named("maker").one().user_id
        other = UserId("user124") if owner == MAKER else MAKER
        Accounts(db).change_username(other, "carpenter")
        assert migrate(db).state == "done"
        assert (db.user_named("maker").one().user_id, db.user_named("carpenter").one().user_id) == (
            owner,
            other,
        )
        assert db.verify().is_clean


# --- by the command line ---------------------------------------------------------------------------------------


def test_command_finds_the_migrations_of_the_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with Database.open("perfectit.db", ttl_sweep_s=None) as database:
        client = EmbeddedClient(database, owns=False)
        old.make_table(client)
        old.put(client, *old.ITEMS)
    target = ["perfectit", "perfectit.db", "--env", "environment=old"]
    assert main(["migrate", "status", *target]) == 1
    assert capsys.readouterr().out == "0001_adopt_the_documented_table: not begun\n"
    assert main(["migrate", "run", *target, "--dry-run", "--json"]) == 0
    (report,) = json.loads(capsys.readouterr().out)
    assert [step["counts"]["moved"] for step in report["steps"] if step["kind"] == "rekey"] == [2]
    assert main(["migrate", "run", *target]) == 0
    assert main(["migrate", "verify", *target]) == 0
    assert main(["migrate", "plan", "perfectit"]) == 0
    assert capsys.readouterr().err.endswith("nothing has changed since the newest migration\n")
