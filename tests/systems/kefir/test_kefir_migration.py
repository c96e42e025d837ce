"""The table of Kefir's design document, brought to the design by the migration that comes with the system."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from singletable import Collection, Database, Entity
from singletable.cli import main
from singletable.client import Client, EmbeddedClient
from singletable.clock import ManualClock
from singletable.errors import IndexMissingError
from singletable.migrate import Expiring, Folder, Migration, MigrationStep, Runner, VerificationError, plan
from singletable.migrate.comparing import compare
from singletable.migrate.values import same
from singletable_systems.kefir import Accounts, BatchId, DeviceId, Devices, Kefir, ReminderId, UserId
from singletable_systems.kefir.operating.system import SYSTEM
from support.design_clients import on_client
from support.migrating import drive, sleep_of
from support.opened_designs import stored_items
from support.targets import TARGETS, opened
from systems import kefir_old_table as old
from systems.kefir_old_table import NOW

assert SYSTEM.migrations is not None
FOLDER = SYSTEM.migrations
ADA, GRACE = UserId("123"), UserId("456")
ABC, DEF = BatchId("abc"), BatchId("def")
SECOND = timedelta(seconds=1)
LATER = datetime(2040, 2, 1, tzinfo=UTC)
each_target = pytest.mark.parametrize("target", TARGETS)

# Every pattern, with what it is asked in this world.
ASKED: dict[str, Callable[[Kefir], Any]] = {
    "user": lambda db: [db.user(UserId(name)).maybe() for name in ("123", "456", "789", "12")],
    "user_by_email": lambda db: [
        db.user_by_email(text).maybe()
        for text in ("ada@example.com", "GRACE@example.com", "o#brien@example.com")
    ],
    "batches": lambda db: [db.batches(user_id).all() for user_id in (ADA, GRACE)],
    "batch_by_id": lambda db: [db.batch_by_id(BatchId(name)).one() for name in ("abc", "jkl", "pqr")],
    "own_batch": lambda db: db.own_batch(ADA, DEF).one(),
    "batches_by_status": lambda db: [
        db.batches_by_status(status).all() for status in ("active", "in_fridge", "ready", "archived")
    ],
    "batches_in": lambda db: [db.batches_in(user_id).all() for user_id in (ADA, GRACE)],
    "batch_view": lambda db: db.batch_view(ABC).one(),
    "public_batch": lambda db: [db.public_batch(batch_id).maybe() for batch_id in (ABC, DEF)],
    "events": lambda db: [db.events(batch_id).all() for batch_id in (ABC, DEF)],
    "events_since": lambda db: [
        db.events_since(ABC, datetime(2024, 1, 15, 10, 30, tzinfo=UTC) + offset).all()
        for offset in (-SECOND, timedelta(0), SECOND / 4, SECOND / 2, SECOND)
    ],
    "reminders": lambda db: [db.reminders(batch_id).all() for batch_id in (ABC, DEF)],
    "reminder": lambda db: db.reminder(ABC, ReminderId("r4")).one(),
    "upcoming": lambda db: [
        sorted(db.upcoming(user_id, NOW).all(), key=lambda each: (each.due_at, each.reminder_id))
        for user_id in (ADA, GRACE)
    ],
    "due": lambda db: [db.due(now).all() for now in (NOW, LATER)],
    "devices": lambda db: [db.devices(user_id).all() for user_id in (ADA, GRACE)],
    "device": lambda db: [
        db.device(ADA, DeviceId("phone")).one(),
        db.device(UserId("789"), DeviceId("phone")).maybe(),
    ],
    "device_by_push_token": lambda db: [
        db.device_by_push_token(f"ExponentPushToken[{letter}]").one() for letter in "abc"
    ],
    "user_data": lambda db: db.user_data(ADA).one(),
    "batch_activity": lambda db: db.batch_activity(DEF).one(),
}


@contextmanager
def old_kefir(target: str, *items: old.Old) -> Iterator[Kefir]:
    """Open the design on the document's table, which it has not made, with its items and more."""
    clock = ManualClock(int(NOW.timestamp()) * 1_000_000)
    with opened(target, clock=clock, sleep=sleep_of(target, clock)) as client:
        old.make_table(client)
        old.put(client, *old.ITEMS, *items)
        yield on_client(Kefir, client, makes_table=False, stage=old.STAGE)


def fresh_kefir(client: Client) -> Kefir:
    """Open the design on a table of its own, with the same written by the design."""
    db = on_client(Kefir, client, stage="fresh")
    db.load(old.entities())
    return db


def migrations() -> list[Migration]:
    return Folder(FOLDER).migrations()


def lets_expire(migration: Migration, step: MigrationStep | Expiring) -> bool:
    """Confirm that a device that was silent for very long expires at once; nothing else is asked."""
    assert isinstance(step, Expiring)
    assert [sample["key"]["SK"] for sample in step.samples] == ["DEVICE#phone"]
    return True


def migrate(db: Kefir, **options: Any) -> Any:
    (report,) = Runner(db, confirm=lets_expire, **options).run(migrations())
    return report


def facts(answer: Any) -> Any:
    """Return what was answered, without the versions: those of old items have not begun."""
    if isinstance(answer, Entity):
        return type(answer).__name__, answer.model_dump(exclude={"version"})
    if answer is None:
        return None
    if isinstance(answer, Collection):
        return {name: facts(value) for name, value in vars(answer).items()}
    return [facts(each) for each in answer]


def shown(db: Kefir) -> dict[tuple[str, str], Any]:
    """Return all items as they are stored; without the records of migrations."""
    found = {(item["PK"]["S"], item["SK"]["S"]): item for item in stored_items(db)}
    return {key: item for key, item in found.items() if key[0] != "MIGRATIONS"}


def did(report: Any) -> dict[str, str]:
    return {step.kind: step.did for step in report.steps}


# --- what comes with the system ------------------------------------------------------------------------------


def test_every_pattern_is_asked() -> None:
    assert ASKED.keys() == Kefir.patterns().keys()


def test_shipped_migration_is_what_the_tool_writes_and_leads_to_the_design_of_today() -> None:
    first = migrations()[0]
    assert first.steps == compare(None, Kefir.blueprint(), every_item=True)
    assert plan(Kefir, FOLDER).is_empty


# --- before --------------------------------------------------------------------------------------------------


@each_target
def test_design_reads_old_items_by_their_keys_without_a_migration(target: str) -> None:
    with old_kefir(target) as db:
        fresh = fresh_kefir(db.session.client)
        for name in (
            *("user", "batches", "batch_by_id", "own_batch", "batches_in", "public_batch"),
            *("reminders", "reminder"),
        ):
            assert facts(ASKED[name](db)) == facts(ASKED[name](fresh)), name


@each_target
def test_before_the_migration_some_answers_are_wrong_or_missing(target: str) -> None:
    with old_kefir(target) as db:
        assert [event.event_id for event in db.events(ABC).all()] == ["evt999", "evt124", "evt122"]
        assert {reminder.status for reminder in db.upcoming(ADA, NOW).all()} == {
            "pending",
            "sent",
            "cancelled",
        }
        assert db.user_by_email("ada@example.com").maybe() is None
        assert db.device(UserId("789"), DeviceId("phone")).one().ttl is None
        for plan_of_gsi2 in (db.due(NOW), db.batches_by_status("active")):
            with pytest.raises(IndexMissingError):
                list(plan_of_gsi2.all())


# --- after ---------------------------------------------------------------------------------------------------


@each_target
def test_after_the_migration_every_pattern_answers_as_on_data_of_its_own(target: str) -> None:
    with old_kefir(target) as db:
        fresh = fresh_kefir(db.session.client)
        assert migrate(db).state == "done"
        for name, ask in ASKED.items():
            assert facts(ask(db)) == facts(ask(fresh)), name
        assert db.verify().is_clean
        assert Runner(db).verify().is_right
        assert [event.event_id for event in db.events(ABC).all()] == [
            *("evt999", "evt123", "evt124", "evt125", "evt122", "evt200")
        ]


@each_target
def test_items_are_stored_as_the_design_stores_them_and_keep_what_it_does_not_know(target: str) -> None:
    with old_kefir(target) as db:
        fresh = shown(fresh_kefir(db.session.client))
        migrate(db)
        found = shown(db)
        assert found["USER#123", "BATCH#abc"].pop("importedFrom") == {"S": "paper"}
        assert found["USER#123", "METADATA"]["preferences"]["M"].pop("theme") == {"S": "dark"}
        silent = found.pop(("USER#789", "DEVICE#phone"), None)  # where it is not swept yet
        assert silent is None or int(silent["ttl"]["N"]) < NOW.timestamp()
        for item in (*found.values(), *fresh.values()):
            item.pop("version", None)
            item.pop("$takenAt", None)
        assert found.keys() == fresh.keys()
        assert [key for key in found if not same({"M": found[key]}, {"M": fresh[key]})] == []


@each_target
def test_only_pending_reminders_are_in_the_indexes(target: str) -> None:
    with old_kefir(target) as db:
        migrate(db)
        for index in ("GSI1", "GSI2"):
            scanned = db.session.client.call("Scan", {"TableName": old.TABLE, "IndexName": index})["Items"]
            pending = {item["reminderId"]["S"] for item in scanned if "reminderId" in item}
            assert pending == {"r1", "r2", "r3", "r6", "r7", "r9"}


@each_target
def test_migrated_items_can_be_changed_as_any_other(target: str) -> None:
    with old_kefir(target) as db:
        migrate(db)
        batch = db.own_batch(ADA, ABC).one()
        assert db.update(batch, status="ready").entity.version == 1
        assert [each.batch_id for each in db.batches_by_status("ready").all()] == ["mno", "abc"]
        Accounts(db).change_email(GRACE, "hopper@example.com")
        assert db.user_by_email("grace@example.com").maybe() is None
        Devices(db).register(GRACE, DeviceId("tablet"), platform="ios", push_token="ExponentPushToken[a]")
        assert db.device(ADA, DeviceId("phone")).maybe() is None
        assert db.verify().is_clean


@each_target
def test_run_twice_changes_nothing(target: str) -> None:
    with old_kefir(target) as db:
        migrate(db)
        before = shown(db)
        assert migrate(db).state == "was done"
        again = [replace(migrations()[0], id="0001_once_more")]
        (report,) = Runner(db, confirm=lets_expire).run(again)
        assert {did(report)[kind].partition(" of ")[0] for kind in ("rekey", "backfill", "recompute")} == {
            "0 changed"
        }
        assert shown(db) == before


def test_table_that_is_not_there_is_made_as_the_design_says() -> None:
    clock = ManualClock()
    with opened("embedded", clock=clock, sleep=clock.advance) as client:
        db = on_client(Kefir, client, makes_table=False, stage=old.STAGE)
        assert migrate(db).state == "done"
        assert list(db.drift()) == []


def test_settings_of_the_table_are_those_of_the_design() -> None:
    with old_kefir("embedded") as db:
        assert [each.what for each in db.drift()] != []
        migrate(db)
        assert list(db.drift()) == []


# --- rehearsed, and interrupted ------------------------------------------------------------------------------


@each_target
def test_dry_run_tells_the_numbers_and_writes_nothing(target: str) -> None:
    with old_kefir(target) as db:
        before = shown(db)
        (report,) = Runner(db).run(migrations(), dry_run=True)
        assert shown(db) == before
        expected = did(report)
        assert expected["rekey"] == "would be: 5 moved of 31 items"
        assert expected["backfill"] == "would be: 26 changed of 31 items"
        assert expected["recompute"] == "would be: 6 changed of 31 items"
        done = did(migrate(db))
        for kind in ("rekey", "backfill"):
            assert f"would be: {done[kind]}" == expected[kind]


@pytest.mark.parametrize("calls", range(8, 200, 12))
def test_killed_migration_goes_on_where_it_stood(calls: int) -> None:
    with old_kefir("embedded") as db, old_kefir("embedded") as other:
        migrate(db)
        runner = Runner(other, page_items=7, owner="killed", confirm=lets_expire)
        steps = runner.steps(migrations())
        is_done = drive(other.session.client, steps, calls)
        wait(other, 120)  # until the lease is over
        assert migrate(other, page_items=7).state == ("was done" if is_done else "done")
        for each in (db, other):
            wait(each, 120)  # until what has expired is swept
        assert other.verify().is_clean
        assert _without_times(shown(other)) == _without_times(shown(db))


@pytest.mark.parametrize("turn", range(10, 150, 7))
def test_what_the_old_app_writes_meanwhile_is_not_overwritten(turn: int) -> None:
    with old_kefir("embedded") as db:
        client, calls = db.session.client, 0

        def old_app() -> None:
            nonlocal calls
            calls += 1
            if calls == turn:
                old.put(client, old.device("123", "phone", "ExponentPushToken[z]", "2040-01-19T23:00:00Z"))

        try:
            drive(
                client,
                Runner(db, page_items=7, confirm=lets_expire).steps(migrations()),
                10_000,
                between=old_app,
            )
        except VerificationError:
            assert migrate(db).state == "done"
        device = db.device(ADA, DeviceId("phone")).one()
        assert device.push_token == "ExponentPushToken[z]"
        assert device.last_seen_at == datetime(2040, 1, 19, 23, tzinfo=UTC)


def wait(db: Kefir, seconds: float) -> None:
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
def test_two_users_with_one_email_are_named_and_nothing_is_lost(target: str) -> None:
    twin = old.user("124", "ADA@example.com", name="Ada too")
    with old_kefir(target, twin) as db:
        (rehearsed,) = Runner(db).run(migrations(), dry_run=True)
        (failure,) = next(step.failures for step in rehearsed.steps if step.kind == "recompute")
        assert "email" in failure
        assert "is also that of" in failure
        with pytest.raises(
            VerificationError, match=r"1 item .* cannot be recomputed: .*email .* is also that of"
        ):
            migrate(db)
        assert (db.user(ADA).one().name, db.user(UserId("124")).one().name) == ("Ada", "Ada too")
        owner = db.user_by_email("ada@example.com").one()
        assert owner.user_id in ("123", "124")

        other = UserId("124" if owner.user_id == ADA else "123")
        Accounts(db).change_email(other, "lovelace@example.com")
        assert migrate(db).state == "done"
        assert db.user_by_email("ada@example.com").one() == owner
        assert db.user_by_email("lovelace@example.com").one().user_id == other
        assert db.verify().is_clean


def test_two_devices_with_one_token_are_named_until_one_is_deleted() -> None:
    sold = old.device("456", "sold", "ExponentPushToken[a]", "2040-01-05T10:00:00Z")
    with old_kefir("embedded", sold) as db:
        with pytest.raises(VerificationError, match=r"push_token 'ExponentPushToken\[a\]' is also that of"):
            migrate(db)
        db.delete(db.device(GRACE, DeviceId("sold")))
        assert migrate(db).state == "done"
        assert db.device_by_push_token("ExponentPushToken[a]").one().user_id == ADA
        assert db.verify().is_clean


def test_item_that_is_none_is_named_and_left() -> None:
    broken = old.batch("123", "bad", "active", "yesterday")
    with old_kefir("embedded", broken) as db:
        with pytest.raises(VerificationError, match=r"BATCH#bad is no Batch: start_time"):
            migrate(db)
        assert shown(db)["USER#123", "BATCH#bad"] == old.marshalled(broken)["M"]
        assert db.own_batch(ADA, ABC).one().status == "active"


# --- by the command line ---------------------------------------------------------------------------------------


def test_command_finds_the_migrations_of_a_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with Database.open("kefir.db", ttl_sweep_s=None) as database:
        client = EmbeddedClient(database, owns=False)
        old.make_table(client)
        old.put(client, *(item for item in old.ITEMS if item["PK"] != "USER#789"))
    target = ["kefir", "kefir.db", "--env", "stage=old"]
    assert main(["migrate", "status", *target]) == 1
    assert capsys.readouterr().out == "0001_adopt_the_documented_table: not begun\n"
    assert main(["migrate", "run", *target, "--dry-run", "--json"]) == 0
    (report,) = json.loads(capsys.readouterr().out)
    assert [step["counts"]["moved"] for step in report["steps"] if step["kind"] == "rekey"] == [5]
    assert main(["migrate", "run", *target]) == 0
    assert main(["migrate", "verify", *target]) == 0
    assert main(["migrate", "plan", "kefir"]) == 0
    assert capsys.readouterr().err.endswith("nothing has changed since the newest migration\n")


def test_command_says_which_systems_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["migrate", "plan", "kifer"]) == 2
    said = capsys.readouterr().err
    assert "there is no system 'kifer'" in said
    assert "kefir" in said
