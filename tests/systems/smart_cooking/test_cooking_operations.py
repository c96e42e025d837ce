"""Smart Cooking as it is operated: who may do what, what is watched, what expires, what is kept elsewhere."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import botocore.session
import pytest
from botocore.validate import ParamValidator

from singletable import Database
from singletable.cli.seed import fill, has_items
from singletable.client import Client, open_client
from singletable.client.calls import Call
from singletable.clock import ManualClock
from singletable.design.plans.plan import Many
from singletable.migrate import Folder, Runner
from singletable.stack import Deployment
from singletable_systems.smart_cooking import (
    Accounts,
    Catalogue,
    Cooking,
    Feeds,
    Friends,
    Notifications,
    PantrySource,
    PostId,
    Posts,
    Ratings,
    Reactions,
    RecipeId,
    Recipes,
    Reports,
    Sessions,
    SmartCooking,
    Suggestions,
    Trending,
    UserId,
)
from singletable_systems.smart_cooking.operating import roles_and_alarms as operations
from singletable_systems.smart_cooking.operating.system import SYSTEM
from singletable_systems.smart_cooking.reactions.archive import FileArchive
from support.design_clients import Between, on_client
from support.opened_designs import stored_items
from systems import cooking_old_table
from systems.cooking_streams import handle, told
from systems.iam_calls import Iam, Need, refused, unused

DAY = date(2026, 3, 4)
NOW = datetime.combine(DAY, time(), UTC)
PROD = Deployment("ap-southeast-1", "123456789012", {"environment": "prod"})
ROLES = operations.roles(PROD)
TABLE = "smart-cooking-data-prod"
MAI, AN = UserId("mai"), UserId("an")
DINNER = RecipeId("r000001")
POST = PostId("p000001")
Deed = Callable[[SmartCooking], object]
_MODEL: Any = botocore.session.get_session().get_service_model("backup")

WRITING: dict[str, Deed] = {
    "rename": lambda db: Accounts(db).rename(MAI, "Mai"),
    "log in": lambda db: Accounts(db).log_in("mai@example.com"),
    "delete all data": lambda db: Accounts(db).delete_all_data(AN),
    "close sessions": lambda db: Sessions(db).close_all(MAI),
    "add an ingredient": lambda db: Catalogue(db).add("Măng tây", "vegetable"),
    "report": lambda db: Reports(db).report(MAI, "kryptonite"),
    "rate": lambda db: Ratings(db).rate(UserId("lan"), DINNER, 4),
    "delete a recipe": lambda db: Recipes(db).delete(AN, DINNER),
    "cook": lambda db: Cooking(db).start(MAI, DINNER),
    "suggest": lambda db: Suggestions(db, PantrySource()).suggest(MAI, ["gà", "gạo"], count=5),
    "befriend": lambda db: Friends(db).ask(MAI, UserId("duc")),
    "post": lambda db: Posts(db).write(MAI, "Phở!"),
    "react": lambda db: Reactions(db).react(UserId("lan"), POST, "love"),
    "read all": lambda db: Notifications(db).mark_all_read(MAI),
    "rank": lambda db: Trending(db).refresh(NOW - timedelta(days=1)),
}


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(int(NOW.timestamp()) * 1_000_000)


class Watched:
    """A seeded table, with everything that was asked of it from now on."""

    def __init__(self, client: Client) -> None:
        self._between = Between(client)
        self.db = on_client(SmartCooking, self._between, makes_table=False, environment="prod")

    def calls(self, *deeds: Deed) -> list[Call]:
        self._between.calls.clear()
        for deed in deeds:
            deed(self.db)
        return list(self._between.calls)

    def needs(self, *deeds: Deed) -> set[Need]:
        return Iam(PROD).needs(self.calls(*deeds))


@pytest.fixture(scope="module")
def seeded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with the small seed in it, of which each test takes a copy."""
    path = tmp_path_factory.mktemp("seeded") / "cooking.db"
    clock = ManualClock(int(NOW.timestamp()) * 1_000_000)
    with (
        Database.open(path, durability="relaxed", clock=clock) as database,
        SmartCooking.open(database, environment="prod", create=True, clock=clock) as db,
    ):
        db.load(SYSTEM.seed("small", DAY).entities, settled=True)
    return path


@pytest.fixture
def watched(seeded: Path, tmp_path: Path, clock: ManualClock) -> Iterator[Watched]:
    path = shutil.copy(seeded, tmp_path)
    with Database.open(path, durability="relaxed", clock=clock) as database, open_client(database) as client:
        yield Watched(client)


def ask_everything(db: SmartCooking) -> None:
    for name, arguments in SYSTEM.samples(DAY).items():
        plan = getattr(db, name)(**arguments)
        _ = plan.page(5) if isinstance(plan, Many) else plan.found()


# --- who may do what (the documents have nothing) -------------------------------------------------------------


def test_reader_may_ask_every_pattern_and_nothing_else(watched: Watched) -> None:
    needs = watched.needs(ask_everything, lambda db: Feeds(db).personal(MAI))
    assert refused(ROLES.reader, needs) == []
    assert {operation for operation, _ in unused(ROLES.reader, needs)} == {"DescribeTable"}


def test_no_pattern_scans(watched: Watched) -> None:
    calls = watched.calls(ask_everything)
    assert {call.operation for call in calls} == {"GetItem", "BatchGetItem", "Query"}


@pytest.mark.parametrize("name", WRITING)
def test_writer_may_do_what_users_do_and_a_reader_may_not(watched: Watched, name: str) -> None:
    calls = watched.calls(WRITING[name])
    needs = Iam(PROD).needs(calls)
    assert refused(ROLES.writer, needs) == []
    assert refused(ROLES.reader, needs) != []
    assert not any(call.operation == "Scan" for call in calls)


def test_consumer_may_follow_the_stream_and_do_what_the_handlers_do(watched: Watched) -> None:
    known = told(watched.db)
    for name, deed in WRITING.items():
        if not name.startswith("delete"):
            deed(watched.db)
    calls = watched.calls(lambda db: handle(db, known=known))
    assert {"GetRecords", "TransactWriteItems", "PutItem"} <= {call.operation for call in calls}
    assert ROLES.consumer is not None
    named = [call for call in calls if call.operation != "GetRecords"]  # which has an iterator only
    assert refused(ROLES.consumer, Iam(PROD).needs(named)) == []
    assert ROLES.consumer.allows("dynamodb:GetRecords", f"{PROD.table_arn(TABLE)}/stream/2026-03-04T00:00")


def test_archive_of_the_consumer_is_one_place_in_one_bucket() -> None:
    policy = operations.archiving(PROD, bucket="cooking-archive", prefix="history/")
    assert policy.allows("s3:PutObject", "arn:aws:s3:::cooking-archive/history/mai-1/x.json")
    assert not policy.allows("s3:PutObject", "arn:aws:s3:::cooking-archive/other/x.json")
    assert not policy.allows("s3:GetObject", "arn:aws:s3:::cooking-archive/history/mai-1/x.json")
    assert not policy.allows("s3:DeleteObject", "arn:aws:s3:::cooking-archive/history/mai-1/x.json")


def test_maintenance_may_seed_verify_and_migrate_and_deletes_no_table(clock: ManualClock) -> None:
    place = Deployment("ap-southeast-1", "123456789012", {"environment": cooking_old_table.ENVIRONMENT})
    assert SYSTEM.migrations is not None
    with Database.open(":memory:", clock=clock) as database:
        person = Between(open_client(database, sleep=clock.advance))
        cooking_old_table.make_table(person)
        cooking_old_table.put(person, *cooking_old_table.ITEMS)
        person.calls.clear()
        db = on_client(SmartCooking, person, makes_table=False, environment=cooking_old_table.ENVIRONMENT)
        reports = Runner(db, keep_expired=True).run(Folder(SYSTEM.migrations).migrations())
        assert [report.state for report in reports] == ["done", "done"]
        assert db.verify(repair=True).is_clean
        assert has_items(db)
        fill(db, SYSTEM, SYSTEM.seed("small", DAY))
        policy = operations.roles(place).maintenance
        assert refused(policy, Iam(place).needs(person.calls)) == []
    arn = PROD.table_arn(TABLE)
    assert not ROLES.maintenance.allows("dynamodb:DeleteTable", arn)
    assert not ROLES.maintenance.allows("dynamodb:Scan", arn.replace("prod", "dev"))


# --- what is watched and backed up ----------------------------------------------------------------------------


def test_alarms_are_on_metrics_that_the_table_has() -> None:
    alarms = operations.alarms(PROD)
    assert len({alarm.name for alarm in alarms}) == len(alarms) >= 3
    for alarm in alarms:
        assert alarm.problems() == []
        assert TABLE in str(alarm.request())


def test_table_is_backed_up_every_week_for_three_months() -> None:
    """002:629-638: beside recovery to any point of the last 35 days, which the design declares."""
    plan = operations.weekly_backups(PROD, vault="cooking")
    assert _problems("CreateBackupPlan", plan) == ""
    (rule,) = plan["BackupPlan"]["Rules"]
    assert rule["Lifecycle"] == {"DeleteAfterDays": 90}
    assert rule["ScheduleExpression"] == "cron(0 3 ? * SUN *)"
    selection = operations.backed_up(PROD, plan_id="p", role_arn="arn:aws:iam::123456789012:role/backup")
    assert _problems("CreateBackupSelection", selection) == ""
    assert selection["BackupSelection"]["Resources"] == [PROD.table_arn(TABLE)]
    assert SmartCooking.table.pitr_days == 35


def _problems(operation: str, request: dict[str, Any]) -> str:
    report: Any = ParamValidator().validate(request, _MODEL.operation_model(operation).input_shape)
    return str(report.generate_report())


# --- what expires ---------------------------------------------------------------------------------------------

DAYS = {"SESSION": 1, "SUGGESTION_CACHE": 7, "TRENDING_RECIPE": 7, "FEED_ITEM": 30, "NOTIFICATION": 30}


def test_what_is_kept_for_a_time_goes_and_everything_else_stays(clock: ManualClock) -> None:
    with Database.open(":memory:", clock=clock) as database:
        with SmartCooking.open(database, environment="prod") as db:
            db.load(SYSTEM.seed("small", DAY).entities, settled=True)
            before = kinds(db)
            for days in (1, 6, 23, 60):
                clock.advance(days * 86_400 + 1)
                left = kinds(db)
                past = (db.now() - NOW).days
                gone = {kind for kind, most in DAYS.items() if most <= past}
                assert left.isdisjoint(gone)
            assert before - left == {*DAYS, "AI_SUGGESTION"}
        assert database.check() == []


def kinds(db: SmartCooking) -> set[str]:
    return {item["entity_type"]["S"] for item in stored_items(db)}


def test_history_goes_to_the_archive_only_where_somebody_has_asked_for_it(
    clock: ManualClock, tmp_path: Path
) -> None:
    with (
        Database.open(":memory:", clock=clock) as database,
        SmartCooking.open(database, environment="prod") as db,
    ):
        db.load(SYSTEM.seed("small", DAY).entities, settled=True)
        db.archive = FileArchive(tmp_path)
        Cooking(db, keep_days=365).start(MAI, DINNER)
        kept = len(list(db.history(MAI).all()))
        clock.advance(366 * 86_400)
        assert len(list(db.history(MAI).all())) == kept - 1
        database.sweep_expired()
        db.consume(start="TRIM_HORIZON", background=False).drain()
        assert [path.suffix for path in tmp_path.rglob("*") if path.is_file()] == [".json"]
