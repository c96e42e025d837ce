"""What a new version of a design keeps of items that were stored before: locks, numbers, copies, derived items."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from designs.members import Member, Members, OldMember, OldMembers, OldTeam
from singletable.client import Client
from singletable.design.tables.create import create_table
from singletable.errors import DuplicateError, MigrationError
from singletable.migrate import Migration, Pace, Progress, Recompute, Runner
from singletable.migrate.comparing import compare
from support.migrating import EVERYWHERE, design_on, drive, fresh_client

each_target = pytest.mark.parametrize("target", EVERYWHERE)

STEPS = compare(OldMembers.blueprint(), Members.blueprint())
MIGRATION = Migration("0002_keep", "Keep", STEPS, None)


@contextmanager
def old_members(target: str, count: int = 5) -> Iterator[tuple[Client, Members]]:
    """Open a target with a team and members of it that an older version has stored."""
    with fresh_client(target) as client:
        old = design_on(client, OldMembers, {})
        client.run(create_table(old.session))
        old.put(OldTeam(team="t", title="Brewers"))
        for number in range(count):
            badges = {"early"} if number % 2 else set()
            email = f"m{number}@example.com"
            old.put(OldMember(team="t", member=f"m{number}", email=email, age=20 + number, badges=badges))
        yield client, design_on(client, Members, {})


def locks(client: Client) -> list[str]:
    items = client.call("Scan", {"TableName": "members", "ConsistentRead": True})["Items"]
    return sorted(item["PK"]["S"] for item in items if item["PK"]["S"].startswith("EMAIL#"))


def test_version_that_keeps_more_recomputes_that() -> None:
    (step,) = STEPS
    assert step == Recompute(
        {"Team": ("members", "age"), "Member": ("unique_email", "title")}, {"Member": ("Badge",)}
    )
    assert step.says() == (
        "Recompute Team (members, age) and Member (unique_email, title) and Badge from Member for the items that "
        "are there."
    )


def test_version_that_keeps_the_same_recomputes_nothing() -> None:
    assert compare(Members.blueprint(), Members.blueprint()) == ()


def test_items_of_other_code_are_recomputed_too() -> None:
    steps = compare(None, Members.blueprint(), every_item=True)
    kinds = [step.kind for step in steps]
    assert (kinds[0], kinds[-4:]) == ("create_table", ["rekey", "backfill", "recompute", "verify"])


@each_target
def test_what_was_stored_before_gets_locks_numbers_copies_and_derived_items(target: str) -> None:
    with old_members(target) as (client, db):
        (report,) = Runner(db).run([MIGRATION])
        assert report.state == "done"
        assert report.steps[0].did == "6 changed of 6 items"
        team = db.team("t").one()
        assert (team.members, team.age) == (5, 22.0)
        assert db.member("t", "m3").one().title == "Brewers"
        assert [badge.member for badge in db.holders("early").all()] == ["m1", "m3"]
        assert locks(client) == [f"EMAIL#m{number}@example.com" for number in range(5)]
        with pytest.raises(DuplicateError):
            db.create(Member(team="t", member="new", email="m3@example.com"))
        assert db.verify().is_clean


@each_target
def test_dry_run_counts_exactly_and_writes_nothing(target: str) -> None:
    with old_members(target) as (client, db):
        before = client.call("Scan", {"TableName": "members"})["Items"]
        (rehearsed,) = Runner(db).run([MIGRATION], dry_run=True)
        assert rehearsed.steps[0].did == "would be: 6 changed of 6 items"
        assert {"entity", "key", "recomputes"} == set(rehearsed.steps[0].samples[0])
        assert client.call("Scan", {"TableName": "members"})["Items"] == before
        (report,) = Runner(db).run([MIGRATION])
        assert report.steps[0].counts == rehearsed.steps[0].counts


@each_target
def test_two_items_that_share_a_value_are_named_and_stop_the_run(target: str) -> None:
    with old_members(target) as (client, db):
        old = design_on(client, OldMembers, {})
        old.put(OldMember(team="t", member="twin", email="m1@example.com"))
        (rehearsed,) = Runner(db).run([MIGRATION], dry_run=True)
        with pytest.raises(MigrationError) as stopped:
            Runner(db).run([MIGRATION])
        for text in (*rehearsed.steps[0].failures, stopped.value.message):
            assert "email 'm1@example.com' is also that of TEAM#t / MEMBER#" in text
        assert "TEAM#t / MEMBER#m1" in stopped.value.message
        assert "TEAM#t / MEMBER#twin" in stopped.value.message
        assert stopped.value.hint is not None
        assert "change or delete one" in stopped.value.hint
        record = Runner(db).status([MIGRATION])["0002_keep"]
        assert (record.state, record.step, record.owner) == ("stopped", 0, "")
        counts = rehearsed.steps[0].counts
        assert counts is not None
        assert (counts.failed, record.counts.failed) == (1, 1)
        assert counts.changed == record.counts.changed


@each_target
def test_run_goes_on_when_the_value_is_no_longer_shared(target: str) -> None:
    with old_members(target) as (client, db):
        old = design_on(client, OldMembers, {})
        old.put(OldMember(team="t", member="twin", email="m1@example.com"))
        with pytest.raises(MigrationError):
            Runner(db).run([MIGRATION])
        db.update(db.member("t", "twin"), email="twin@example.com")
        (report,) = Runner(db).run([MIGRATION])
        assert report.state == "done"
        assert Runner(db).status([MIGRATION])["0002_keep"].failures == ()
        assert db.verify().is_clean
        assert "EMAIL#twin@example.com" in locks(client)


@pytest.mark.parametrize("calls", range(3, 120, 9))
def test_run_that_is_killed_goes_on_where_it_was(calls: int) -> None:
    with old_members("embedded") as (client, db):
        assert not drive(client, Runner(db, owner="one", page_items=2).steps([MIGRATION]), calls)
        (report,) = Runner(db, owner="one", page_items=2).run([MIGRATION])
        assert report.state == "done"
        assert db.verify().is_clean
        assert db.team("t").one().members == 5


def test_duplicate_that_was_found_before_a_kill_still_stops_the_run() -> None:
    with old_members("embedded") as (client, db):
        old = design_on(client, OldMembers, {})
        old.put(OldMember(team="t", member="a-twin", email="m0@example.com"))
        calls = 1
        while "is also that of" not in str(record_failures(client)):
            drive(client, Runner(db, owner="one", page_items=1).steps([MIGRATION]), calls)
            calls += 1
        with pytest.raises(MigrationError, match="is also that of"):
            Runner(db, owner="one", page_items=1).run([MIGRATION])


def record_failures(client: Client) -> Any:
    key = {"PK": {"S": "MIGRATIONS"}, "SK": {"S": "0002_keep"}}
    return client.call("GetItem", {"TableName": "members", "Key": key}).get("Item", {}).get("failures")


def test_rate_holds_for_what_is_recomputed() -> None:
    with old_members("embedded") as (client, db):
        clock = client.clock
        before_us = clock.elapsed_us()
        Runner(db, rate=Pace(10)).run([MIGRATION])
        slow_s = (clock.elapsed_us() - before_us) / 1_000_000
        assert slow_s > 5  # 60 units and more, of which the scan is one


def test_progress_is_told() -> None:
    told: list[Progress] = []
    with old_members("embedded") as (_, db):
        Runner(db, watch=told.append, page_items=2).run([MIGRATION])
    assert max(progress.done for progress in told) >= 6  # badges that are made meanwhile are seen too


@each_target
def test_verify_with_repair_makes_locks_that_are_missing(target: str) -> None:
    with old_members(target) as (client, db):
        report = db.verify(repair=True)
        assert all(each.is_repaired for each in report.differences)
        assert locks(client) == [f"EMAIL#m{number}@example.com" for number in range(5)]
        assert db.verify().is_clean


@each_target
def test_verify_says_of_a_shared_value_that_it_cannot_be_repaired(target: str) -> None:
    with old_members(target) as (client, db):
        design_on(client, OldMembers, {}).put(OldMember(team="t", member="twin", email="m1@example.com"))
        db.verify(repair=True)
        (left,) = db.verify(repair=True).differences
        assert (left.entity, left.field, left.is_repairable) == ("Member", "email", False)


@each_target
def test_derived_items_stay_while_their_source_is_of_no_entity(target: str) -> None:
    with old_members(target) as (client, db):
        Runner(db).run([MIGRATION])
        client.call(
            "UpdateItem",
            {
                "TableName": "members",
                "Key": {"PK": {"S": "TEAM#t"}, "SK": {"S": "MEMBER#m1"}},
                "UpdateExpression": "SET entityType = :other",
                "ExpressionAttributeValues": {":other": {"S": "Person"}},
            },
        )
        report = db.verify(repair=True)
        assert not any(each.is_repaired for each in report.differences)
        assert [badge.member for badge in db.holders("early").all()] == ["m1", "m3"]
        assert db.team("t").one().members == 5


@each_target
def test_writers_meanwhile_are_counted(target: str) -> None:
    with old_members(target, count=3) as (client, db):
        turn = 0

        def write() -> None:
            nonlocal turn
            turn += 1
            if turn in (4, 12, 20):
                db.create(Member(team="t", member=f"n{turn}", email=f"n{turn}@example.com", age=50))

        assert drive(client, Runner(db).steps([MIGRATION]), 10_000, between=write)
        assert db.team("t").one().members == 6
        assert db.verify().is_clean
