"""The roles of Kefir and Lunch Cache, held against every call that they make: enough for all, and no more."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import pytest

from singletable import Database, Design, Entity, Put
from singletable.cli.seed import fill, has_items
from singletable.client import open_client
from singletable.clock import ManualClock
from singletable.design.streams.dispatch import StreamDispatcher
from singletable.migrate import Folder, Runner
from singletable.stack import Deployment, Policy
from singletable.systems import System, find_system
from singletable_systems.kefir import Device, DeviceId, EventBridgeScheduler, Kefir, UserId
from singletable_systems.kefir.operating import roles_and_alarms as kefir_operations
from singletable_systems.lunch_cache import LunchCache, Menus
from singletable_systems.lunch_cache.operating import roles_and_alarms as lunch_operations
from singletable_systems.lunch_cache.services.menus import menu_of
from support.design_clients import Between, on_client
from systems import kefir_life, kefir_old_table, lunch_life
from systems.iam_calls import Iam, Need, refused, unused
from systems.kefir_users import ADA, BO, settle_in
from systems.lunch_scrapes import scrape
from systems.lunch_world import NOW
from systems.moto_services import GROUP, schedules

ACCOUNT = "123456789012"
KEFIR = Deployment("eu-north-1", ACCOUNT, {"stage": "prod"})
LUNCH = Deployment(lunch_operations.REGION, ACCOUNT, {"environment": "prod"})
KEFIR_ROLES, LUNCH_ROLES = kefir_operations.roles(KEFIR), lunch_operations.roles(LUNCH)
KEFIR_TABLE, LUNCH_TABLE = "kefir-app-prod-table", "lunch-cache-prod"
DAY = date(2026, 3, 4)


def recorded(
    design: type[Design], settle: Callable[[Any], object], *deeds: Callable[[Any], object]
) -> set[Need]:
    """Do things in a fresh table where somebody has settled in; return what IAM would ask about."""
    deployment = KEFIR if design is Kefir else LUNCH
    environment: dict[str, Any] = dict(deployment.environment)
    clock = ManualClock(int(NOW.timestamp()) * 1_000_000)
    with Database.open(":memory:", clock=clock) as database, open_client(database) as client:
        between = Between(client)
        db: Any = on_client(design, between, **environment)
        settle(db)
        between.calls.clear()
        for deed in deeds:
            deed(db)
        return Iam(deployment).needs(between.calls)


def with_kefir(*deeds: kefir_life.Deed) -> set[Need]:
    def settle(db: Kefir) -> None:
        settle_in(db, ADA)
        settle_in(db, BO)

    return recorded(Kefir, settle, *deeds)


def with_lunch(*deeds: lunch_life.Deed) -> set[Need]:
    return recorded(LunchCache, lunch_life.settle_in, *deeds)


def methods(*services: type[Any]) -> set[str]:
    return {f"{each.__name__}.{name}" for each in services for name in vars(each) if not name.startswith("_")}


# --- the app ------------------------------------------------------------------------------------------------


def test_no_pattern_and_no_service_is_left_out() -> None:
    assert kefir_life.PATTERNS.keys() == Kefir.patterns().keys()
    done = kefir_life.READING.keys() | kefir_life.WRITING.keys()
    assert done == methods(*kefir_life.SERVICES) | {"export_csv"}
    menus = methods(Menus) | {"statistics_of", "check_health"}
    assert lunch_life.READING.keys() | lunch_life.WRITING.keys() == LunchCache.patterns().keys() | menus


@pytest.mark.parametrize("name", [*kefir_life.PATTERNS, *kefir_life.READING])
def test_reader_of_kefir_may_read(name: str) -> None:
    deed = (kefir_life.PATTERNS | kefir_life.READING)[name]  # type: ignore[operator]
    needs = with_kefir(deed)
    assert needs
    assert refused(KEFIR_ROLES.reader, needs) == []


@pytest.mark.parametrize("name", kefir_life.WRITING)
def test_writer_of_kefir_may_do_what_the_app_does_and_a_reader_may_not(name: str) -> None:
    needs = with_kefir(kefir_life.WRITING[name])
    assert refused(KEFIR_ROLES.writer, needs) == []
    assert refused(KEFIR_ROLES.reader, needs) != []


@pytest.mark.parametrize("name", lunch_life.READING)
def test_reader_of_lunch_may_read(name: str) -> None:
    needs = with_lunch(lunch_life.READING[name])
    assert needs
    assert refused(LUNCH_ROLES.reader, needs) == []


@pytest.mark.parametrize("name", lunch_life.WRITING)
def test_writer_of_lunch_may_do_what_the_app_does_and_a_reader_may_not(name: str) -> None:
    needs = with_lunch(lunch_life.WRITING[name])
    assert refused(LUNCH_ROLES.writer, needs) == []
    assert refused(LUNCH_ROLES.reader, needs) != []


# An app may look at its table, though ours never does: LC-11 misses it in the document's policy.
LOOKING = {"DescribeTable"}


def operations_of(left: Iterable[Need]) -> set[str]:
    return {operation for operation, _ in left}


def test_app_of_kefir_makes_use_of_all_that_it_may_do() -> None:
    reading = with_kefir(*kefir_life.PATTERNS.values(), *kefir_life.READING.values())
    assert operations_of(unused(KEFIR_ROLES.reader, reading)) == LOOKING
    writing = reading.union(*(with_kefir(deed) for deed in kefir_life.WRITING.values()))
    assert operations_of(unused(KEFIR_ROLES.writer, writing)) == LOOKING


def test_app_of_lunch_makes_use_of_what_it_may_do_but_for_the_ways_to_write_that_the_document_asks_for() -> (
    None
):
    reading = with_lunch(*lunch_life.READING.values())
    assert operations_of(unused(LUNCH_ROLES.reader, reading)) == LOOKING
    writing = reading | with_lunch(*lunch_life.WRITING.values())
    # LC-11: updates and "batch operations where possible" (004:226). A check is the part of a transaction that
    # writes nothing; who may write items may do it together.
    asked_for = {"UpdateItem", "BatchWriteItem", "ConditionCheckItem"}
    assert operations_of(unused(LUNCH_ROLES.writer, writing)) == LOOKING | asked_for
    together = with_lunch(lambda db: db.batch(*map(Put, db.menus_of(lunch_life.NIAGARA).all())))
    assert refused(LUNCH_ROLES.writer, together) == []


# --- the function behind the stream -------------------------------------------------------------------------


def handle_changes(db: Kefir) -> None:
    """Hand every change of the table to the design's handlers, as Lambda would."""
    between = db.session.client
    assert isinstance(between, Between)
    events: list[Any] = []
    database = between.inner.database
    assert database is not None
    database.consume(db.session.table, events.append, "recorder", background=False).drain()
    dispatcher = StreamDispatcher(db, db.session, Kefir.handlers)
    for event in events:
        assert dispatcher.dispatch(event["Records"]) is None


def test_consumer_may_follow_the_stream_and_do_what_the_handlers_do() -> None:
    consumer = KEFIR_ROLES.consumer
    assert consumer is not None
    needs = with_kefir(handle_changes)
    assert {action for action, _ in needs} == {"dynamodb:GetItem", "dynamodb:UpdateItem"}
    assert refused(consumer, needs) == []
    stream = f"{KEFIR.table_arn(KEFIR_TABLE)}/stream/2026-11-16T00:00:00.000"
    # What Lambda's event source mapping does with the function's role.
    following = {
        (f"dynamodb:{operation}", stream)
        for operation in ("DescribeStream", "GetRecords", "GetShardIterator", "ListStreams")
    }
    assert refused(consumer, following) == []
    # The function may do what the app may: handlers use the same patterns and writes.
    left = unused(consumer, needs | following)
    assert left == unused(KEFIR_ROLES.writer, needs | following)


def test_function_may_keep_the_schedules_that_it_makes() -> None:
    role_arn = f"arn:aws:iam::{ACCOUNT}:role/kefir-scheduler"
    policy = kefir_operations.scheduling(KEFIR, group=GROUP, role_arn=role_arn)
    with schedules() as kept:
        scheduler = EventBridgeScheduler(
            kept.client, group=GROUP, target_arn="arn:aws:lambda:x", role_arn=role_arn
        )
        arns = {scheduler.schedule("r1-x", NOW + timedelta(days=day), {}) for day in range(2)}
        scheduler.cancel("r1-x")
        (arn,) = arns
        needs = {(f"scheduler:{operation}", arn) for operation in kept.requests}
    assert len(needs) == 3
    assert refused(policy, needs) == []
    assert unused(policy, {*needs, ("iam:PassRole", role_arn)}) == set()
    assert not policy.allows("scheduler:CreateSchedule", arn.replace(GROUP, "another-group"))
    passed = {"iam:PassedToService": ["scheduler.amazonaws.com"]}
    assert policy.allows("iam:PassRole", role_arn, passed)
    assert not policy.allows("iam:PassRole", role_arn, {"iam:PassedToService": ["lambda.amazonaws.com"]})
    assert not policy.allows("iam:PassRole", f"{role_arn}-2", passed)


# --- maintenance --------------------------------------------------------------------------------------------


class Maintenance:
    """A person at work on a table: what was asked is written down."""

    def __init__(self, database: Database, clock: ManualClock, deployment: Deployment) -> None:
        self.clock = clock
        self.database = database
        self.client = Between(open_client(database, sleep=clock.advance))
        self._deployment = deployment

    def needs(self) -> set[Need]:
        return Iam(self._deployment).needs(self.client.calls)

    def call(self, operation: str, **params: Any) -> Any:
        return self.client.call(operation, params)

    def make_and_seed(self, system: System) -> Design:
        """Make the table where there is none, and fill it."""
        environment: dict[str, Any] = dict(self._deployment.environment)
        db = on_client(system.design, self.client, **environment)
        assert not has_items(db)
        fill(db, system, system.seed("small", DAY))
        return db

    def look_after(self, db: Design, expired: Entity, repaired: int = 0) -> None:
        """Compare, set up, repair what somebody has broken, and take what has expired."""
        db.drift()
        db.create_table()
        self.clock.advance(3600)  # a lock that was just taken may be somebody's who is not done
        assert len(db.verify(repair=True).differences) == repaired
        db.put(expired)
        assert db.delete_expired().deleted >= 1

    def back_up_and_restore(
        self, db: Design, restored: str, patterns: Iterable[Callable[[Any], object]], **environment: Any
    ) -> None:
        """Restore from a backup, then to a moment, as another environment, and ask that everything."""
        table = db.session.table
        backup = self.call("CreateBackup", TableName=table, BackupName="before")["BackupDetails"]["BackupArn"]
        self.call("DescribeBackup", BackupArn=backup)
        self.call("ListBackups", TableName=table)
        self.call("RestoreTableFromBackup", BackupArn=backup, TargetTableName=restored)
        self.call("DeleteBackup", BackupArn=backup)
        again = on_client(type(db), self.client, **environment)
        assert again.verify().is_clean
        assert {each.what for each in again.drift()} <= {"encryption"}  # a file without a key
        self.database.delete_table(TableName=restored)
        before = datetime.fromtimestamp(self.clock.now_us() // 1_000_000, tz=UTC)
        self.clock.advance(60)
        self.call(
            "RestoreTableToPointInTime",
            SourceTableName=table,
            TargetTableName=restored,
            RestoreDateTime=before,
        )
        again = on_client(type(db), self.client, **environment)
        assert again.verify().is_clean
        for ask in patterns:
            assert ask(db) == ask(again)


# What a person may do beyond what is recorded here.
SPARE = {
    "TagResource": "the designs have no tags; create_table() gives a table those that one declares",
    "UntagResource": "the same, when they go",
    "UpdateTable": "migrations add indexes by it, and create_table() changes settings by it",
    "UpdateItem": "migrations write keys by it",
    "ConditionCheckItem": "repairs of these designs need none; who moves items together may",
    "CreateBackup": "of the restored table: it is a table like the other",
    "CreateTable": "of the restored table: it may be filled anew instead",
    "RestoreTableToPointInTime": "of the restored table, once more",
}


def assert_right(policy: Policy, needs: set[Need], *spare: str) -> None:
    assert refused(policy, needs) == []
    assert operations_of(unused(policy, needs)) == {*SPARE, *spare}


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(int(datetime.combine(DAY, time(12), UTC).timestamp()) * 1_000_000)


def test_maintenance_of_kefir_may_seed_repair_expire_back_up_and_restore(
    tmp_path: Path, clock: ManualClock
) -> None:
    with Database.open(tmp_path / "kefir.db", clock=clock, ttl_sweep_s=None) as database:
        person = Maintenance(database, clock, KEFIR)
        db = person.make_and_seed(find_system("kefir"))
        database.update_item(
            TableName=KEFIR_TABLE,
            Key={"PK": {"S": "USER#ada"}, "SK": {"S": "METADATA"}},
            UpdateExpression="SET email = :other",
            ExpressionAttributeValues={":other": {"S": "other@example.com"}},
        )
        silent = Device(
            user_id=UserId("ada"),
            device_id=DeviceId("old"),
            platform="ios",
            push_token="old",
            last_seen_at=db.now() - timedelta(days=300),
        )
        person.look_after(db, silent, repaired=2)
        person.back_up_and_restore(
            db, "kefir-app-prod-restored-table", kefir_life.PATTERNS.values(), stage="prod-restored"
        )
        assert_right(KEFIR_ROLES.maintenance, person.needs())


def test_maintenance_of_lunch_may_seed_expire_back_up_and_restore(tmp_path: Path, clock: ManualClock) -> None:
    with Database.open(tmp_path / "lunch.db", clock=clock, ttl_sweep_s=None) as database:
        person = Maintenance(database, clock, LUNCH)
        db = person.make_and_seed(find_system("lunch_cache"))
        person.look_after(db, menu_of(scrape(at=db.now() - timedelta(days=20))))
        asked = [lunch_life.READING[name] for name in LunchCache.patterns() if name in lunch_life.READING]
        person.back_up_and_restore(db, "lunch-cache-prod-restored", asked, environment="prod-restored")
        # The table has no sort key: only its index is queried. A restore wants it all the same.
        assert_right(LUNCH_ROLES.maintenance, person.needs(), "Query")


def test_maintenance_of_kefir_may_bring_the_documented_table_to_the_design() -> None:
    clock = ManualClock(int(kefir_old_table.NOW.timestamp()) * 1_000_000)
    place = Deployment("eu-north-1", ACCOUNT, {"stage": kefir_old_table.STAGE})
    migrations = find_system("kefir").migrations
    assert migrations is not None
    with Database.open(":memory:", clock=clock) as database:
        person = Maintenance(database, clock, place)
        kefir_old_table.make_table(person.client)
        kefir_old_table.put(person.client, *kefir_old_table.ITEMS)
        person.client.calls.clear()
        db = on_client(Kefir, person.client, makes_table=False, stage=kefir_old_table.STAGE)
        (report,) = Runner(db, confirm=lambda *asked: True).run(Folder(migrations).migrations())
        assert report.state == "done"
        assert "dynamodb:UpdateTable" in {action for action, _ in person.needs()}
        assert refused(kefir_operations.roles(place).maintenance, person.needs()) == []


def test_maintenance_deletes_no_table_and_reaches_no_other_environment() -> None:
    for policy, table in ((KEFIR_ROLES.maintenance, KEFIR_TABLE), (LUNCH_ROLES.maintenance, LUNCH_TABLE)):
        here = KEFIR.table_arn(table)
        for arn in (here, here.replace("prod", "prod-restored")):
            assert policy.allows("dynamodb:UpdateTimeToLive", arn)
            assert not policy.allows("dynamodb:DeleteTable", arn)
            assert not policy.allows("dynamodb:PutItem", f"{arn}/index/GSI1")
        assert not policy.allows("dynamodb:Scan", here.replace("prod", "dev"))
