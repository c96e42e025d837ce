"""Who may run a migration, how fast, and what the table says of it."""

from __future__ import annotations

import pytest

from designs import kefir_v1
from singletable.client import Call
from singletable.clock import ManualClock
from singletable.design import Design, Entity, Index, Key, Keys, Table
from singletable.design.tables.create import create_table
from singletable.errors import MigrationError, ThroughputExceededError
from singletable.migrate import (
    AddIndex,
    Backfill,
    ChangeSetting,
    CreateTable,
    DropIndex,
    Expiring,
    Migration,
    MigrationStep,
    Note,
    Pace,
    Progress,
    RemoveAttributes,
    Runner,
    Verify,
)
from support.design_clients import Between
from support.migrating import ADD_STATUS_INDEX, TABLE, design_on, drive, kefir_on, old_table, sleep_of, stored
from support.targets import TARGETS, opened

DROP = Migration(
    "0003_drop",
    "Drop the status index",
    (
        Verify({"Batch": ("by_id",), "Reminder": ("by_user",)}),
        Note("Deploy."),
        DropIndex("GSI2"),
        RemoveAttributes({"Batch": ("GSI2PK", "GSI2SK"), "Reminder": ("GSI2PK", "GSI2SK")}),
    ),
    None,
)


# --- the lease --------------------------------------------------------------------------------------------


def test_lease_is_kept_while_an_item_is_throttled() -> None:
    clock, lease_s = ManualClock(), 9.0
    with old_table("embedded", clock=clock) as client:
        between = Between(client)
        begun_us: list[int] = []

        def throttle(call: Call) -> None:
            if call.operation != "UpdateItem":
                return
            begun_us.append(clock.now_us())
            record = Runner(kefir_on(client)).status([ADD_STATUS_INDEX])[ADD_STATUS_INDEX.id]
            assert record.until_us >= clock.now_us()
            if clock.now_us() < begun_us[0] + lease_s * 1_000_000:
                raise ThroughputExceededError("too much", [])

        between.before = throttle
        (report,) = Runner(kefir_on(between), lease_s=lease_s).run([ADD_STATUS_INDEX])
        assert report.state == "done"


def test_second_runner_is_refused_while_the_first_holds_the_lease() -> None:
    clock = ManualClock()
    with old_table("embedded", clock=clock) as client:
        db = kefir_on(client)
        drive(client, Runner(db, owner="first").steps([ADD_STATUS_INDEX]), 8)
        clock.advance(20)
        with pytest.raises(MigrationError, match="first is running 0002_add_status_index") as refused:
            Runner(db, owner="second").run([ADD_STATUS_INDEX])
        assert refused.value.number == "ST601"
        assert refused.value.hint == "wait for it; if it has died, its lease is over in 40 s"
        clock.advance(41)
        (report,) = Runner(db, owner="second").run([ADD_STATUS_INDEX])
        assert report.state == "done"


def test_runner_that_was_held_up_notices_that_another_took_over() -> None:
    clock = ManualClock()
    with old_table("embedded", clock=clock) as client:
        db = kefir_on(client)
        slow = Runner(db, owner="slow", page_items=3).steps([ADD_STATUS_INDEX])
        calls = 0

        def be_held_up() -> None:
            nonlocal calls
            calls += 1
            if calls == 9:
                clock.advance(61)
                Runner(db, owner="quick").run([ADD_STATUS_INDEX])

        with pytest.raises(MigrationError, match="taken over by somebody else while slow was held up"):
            drive(client, slow, 10_000, between=be_held_up)
        assert Runner(db).verify().is_right


def test_run_that_fails_gives_the_lease_back() -> None:
    with old_table("embedded") as client:
        db = kefir_on(client)
        broken = Migration("0002_broken", "Broken", (AddIndex("GSI2"), DropIndex("GSI1")), None)
        with pytest.raises(MigrationError, match="nothing was verified before it"):
            Runner(db, owner="first").run([broken])
        record = Runner(db).status([broken])["0002_broken"]
        assert (record.state, record.step, record.owner) == ("stopped", 1, "")


def test_file_that_was_changed_after_it_was_run_is_refused() -> None:
    with old_table("embedded") as client:
        db = kefir_on(client)
        Runner(db).run([ADD_STATUS_INDEX])
        other = Migration(ADD_STATUS_INDEX.id, "Another title is fine", ADD_STATUS_INDEX.steps, None)
        assert Runner(db).run([other])[0].state == "was done"
        changed = Migration(ADD_STATUS_INDEX.id, "", ADD_STATUS_INDEX.steps[:-1], None)
        with pytest.raises(MigrationError, match="are not those that were run on this table"):
            Runner(db).run([changed])


def test_run_that_is_interrupted_gives_the_lease_back() -> None:
    with old_table("embedded") as client:
        db = kefir_on(client)

        def interrupt(progress: Progress) -> None:
            if progress.step == 2:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            Runner(db, watch=interrupt).run([ADD_STATUS_INDEX])
        record = Runner(db).status([])[ADD_STATUS_INDEX.id]
        assert (record.state, record.step, record.owner) == ("stopped", 2, "")
        assert Runner(db).run([ADD_STATUS_INDEX])[0].state == "done"


def test_slow_pass_keeps_its_lease() -> None:
    clock = ManualClock()
    with old_table("embedded", clock=clock) as client:
        db = kefir_on(client)
        slow = Runner(db, owner="slow", rate=Pace(1, "items")).steps([ADD_STATUS_INDEX])
        others = 0

        def try_too() -> None:
            nonlocal others
            if Runner(db).status([]).get(ADD_STATUS_INDEX.id) is None:
                return
            with pytest.raises(MigrationError, match="slow is running"):
                Runner(db, owner="other").run([ADD_STATUS_INDEX])
            others += 1

        assert drive(client, slow, 10_000, between=try_too)
        assert others > 50


# --- the pace ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["embedded", "http"])
def test_items_a_second_are_not_exceeded(target: str) -> None:
    clock = ManualClock()
    with old_table(target, clock=clock) as client:
        start_us = clock.now_us()
        (report,) = Runner(kefir_on(client), rate=Pace(10, "items")).run([ADD_STATUS_INDEX])
        spent_s = (clock.now_us() - start_us) / 1_000_000
        passes = [step.counts for step in report.steps if step.counts is not None]
        touched = sum(counts.seen for counts in passes)
        touched += sum(counts.changed + counts.moved for counts in passes)
        assert spent_s == pytest.approx(touched / 10, rel=0.01)
        assert report.seconds == pytest.approx(spent_s, rel=0.05)


def test_units_a_second_are_not_exceeded() -> None:
    clock = ManualClock()
    with old_table("embedded", clock=clock) as client:
        units = 0.0
        steps = Runner(kefir_on(client), rate=25).steps([ADD_STATUS_INDEX])
        start_us = clock.now_us()
        step = next(steps)
        try:
            while True:
                answer = client._take(step)
                found = answer if isinstance(answer, list) else [answer or {}]
                for each in found:
                    consumed = each.get("ConsumedCapacity", {})
                    consumed = consumed if isinstance(consumed, list) else [consumed]
                    units += sum(one.get("CapacityUnits", 0.0) for one in consumed)
                step = steps.send(answer)
        except StopIteration:
            pass
        assert (clock.now_us() - start_us) / 1_000_000 == pytest.approx(units / 25, rel=0.01)


@pytest.mark.parametrize(
    ("text", "pace"),
    [
        ("200", Pace(200)),
        ("1.5units", Pace(1.5)),
        ("50items", Pace(50, "items")),
        ("50 items", Pace(50, "items")),
    ],
)
def test_rates_are_read_as_they_are_written(text: str, pace: Pace) -> None:
    assert Pace.parse(text) == pace


@pytest.mark.parametrize("text", ["", "fast", "-1", "0", "10%"])
def test_what_is_no_rate_is_refused(text: str) -> None:
    with pytest.raises(MigrationError, match="rate"):
        Pace.parse(text)


def test_progress_tells_items_rate_and_time_left() -> None:
    clock = ManualClock()
    told: list[Progress] = []
    with old_table("embedded", clock=clock) as client:
        Runner(kefir_on(client), rate=Pace(5, "items"), watch=told.append).run([ADD_STATUS_INDEX])
    backfill = [progress for progress in told if progress.step == 2 and progress.done]
    assert [progress.done for progress in backfill] == [5, 10, 14, 19, 21]  # the record is in the third page
    assert {progress.total for progress in backfill} == {22}  # by DynamoDB's count, which the record is in
    assert backfill[0].per_s > 0
    assert backfill[0].left_s is not None
    assert backfill[-1].left_s == pytest.approx(1 / backfill[-1].per_s)


@pytest.mark.parametrize("segments", [1, 3])
def test_parts_of_a_table_are_read_at_once_and_all_of_them(segments: int) -> None:
    with old_table("embedded", count=20) as client:
        db = kefir_on(client)
        Runner(db, segments=segments, page_items=4).run([ADD_STATUS_INDEX])
        assert Runner(db).verify().is_right


# --- what destroys something ----------------------------------------------------------------------------------


@pytest.mark.parametrize("target", TARGETS)
def test_run_stops_before_a_destructive_step_unless_it_is_confirmed(target: str) -> None:
    with old_table(target) as client:
        Runner(kefir_on(client)).run([ADD_STATUS_INDEX])
        old = design_on(client, kefir_v1.Kefir)
        # The first version has no condition on by_user: what the second one has removed comes back.
        again = Migration("0003_back", "Back", (Backfill({"Reminder": ("by_user",)}),), None)
        reports = Runner(old).run([ADD_STATUS_INDEX, again, DROP])
        assert [report.state for report in reports] == ["was done", "done", "waiting"]
        assert "GSI2PK" in stored(client)["USER#u0", "BATCH#b000"]
        asked: list[str] = []

        def confirm(migration: Migration, step: MigrationStep | Expiring) -> bool:
            asked.append(step.kind)
            return True

        runner = Runner(old, confirm=confirm)
        (_, _, report) = runner.run([ADD_STATUS_INDEX, again, DROP])
        assert (report.state, asked) == ("done", ["drop_index", "remove_attributes"])
        description = client.call("DescribeTable", {"TableName": TABLE})["Table"]
        assert [index["IndexName"] for index in description["GlobalSecondaryIndexes"]] == ["GSI1"]
        assert all("GSI2PK" not in item for item in stored(client).values())
        assert Runner(old).verify().is_right


def test_index_that_the_code_still_has_is_not_dropped() -> None:
    with old_table("embedded") as client:
        drop = Migration("0003_drop", "Drop", (Verify({"Batch": ("by_id",)}), DropIndex("GSI1")), None)
        db = kefir_on(client)
        Runner(db).run([ADD_STATUS_INDEX])
        with pytest.raises(MigrationError, match="GSI1 is to be dropped, and KefirTable still has it"):
            Runner(db, confirm=lambda migration, step: True).run([drop])


# --- settings, and tables of other kinds -------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["embedded", "http"])
def test_settings_are_brought_to_what_the_design_says(target: str) -> None:
    with old_table(target) as client:
        change = Migration("0002_pitr", "Keep 35 days", (ChangeSetting(("point-in-time recovery",)),), None)
        (report,) = Runner(kefir_on(client)).run([change])
        assert report.steps[0].did == "point-in-time recovery 35 days"
        answer = client.call("DescribeContinuousBackups", {"TableName": TABLE})
        days = answer["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
        assert days["PointInTimeRecoveryStatus"] == "ENABLED"


@pytest.mark.parametrize("target", TARGETS)
def test_first_migration_makes_the_table(target: str) -> None:
    clock = ManualClock()
    with opened(target, clock=clock, sleep=sleep_of(target, clock)) as client:
        first = Migration("0001_first", "First", (CreateTable(),), None)
        db = kefir_on(client)
        (rehearsed,) = Runner(db).run([first], dry_run=True)
        assert rehearsed.steps[0].did == "the table is not there yet"
        assert client.call("ListTables", {})["TableNames"] == []
        (report,) = Runner(db).run([first])
        assert report.state == "done"
        assert client.call("ListTables", {})["TableNames"] == [TABLE]


def test_missing_table_that_no_migration_makes_is_told() -> None:
    reason = "is not there, and the first migration does not make it"
    with opened("embedded") as client, pytest.raises(MigrationError, match=reason):
        Runner(kefir_on(client)).run([ADD_STATUS_INDEX])


class MenuTable(Table):
    name = "menus"
    pk = "pk"
    sk = None
    pitr_days = None
    stream = None
    by_week = Index("ByWeek", pk="weekKey")


class MenuPK(Key, template="{restaurant}-{year}-{week:02}"):
    restaurant: str
    year: int
    week: int


class WeekPK(Key, template="WEEK#{year}#{week:02}"):
    year: int
    week: int


class Menu(Entity):
    key = Keys(MenuPK)
    of_week = MenuTable.by_week.keys(WeekPK)

    restaurant: str
    year: int
    week: int


class Menus(Design):
    table = MenuTable
    entities = (Menu,)


@pytest.mark.parametrize("target", TARGETS)
def test_table_without_sort_key_keeps_its_records_too(target: str) -> None:
    clock = ManualClock()
    with opened(target, clock=clock, sleep=sleep_of(target, clock)) as client:
        db = design_on(client, Menus, {})
        client.run(create_table(db.session))
        item = {"pk": {"S": "la-cantina-2025-03"}, "restaurant": {"S": "la-cantina"}}
        item |= {"year": {"N": "2025"}, "week": {"N": "3"}}
        client.call("PutItem", {"TableName": "menus", "Item": item})
        fill = Migration("0002_weeks", "Weeks", (Backfill({"Menu": ("of_week",)}),), None)
        Runner(db).run([fill])
        key = {"pk": {"S": "MIGRATIONS#0002_weeks"}}
        assert client.call("GetItem", {"TableName": "menus", "Key": key})["Item"]["state"] == {"S": "done"}
        assert Runner(db).status([fill])["0002_weeks"].counts.changed == 1
        key = {"pk": {"S": "la-cantina-2025-03"}}
        filled = client.call("GetItem", {"TableName": "menus", "Key": key})["Item"]
        assert filled["weekKey"] == {"S": "WEEK#2025#03"}
