"""Tags of tables and of their streams. (What is refused, and in which words, is in vectors/tags.py.)"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from singletable import Database
from singletable.clock import ManualClock
from singletable.storage.check import check_file
from support.sample_tables import create_plain, refusal

ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/plain"
STREAM: Any = {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}


def tags(**pairs: str) -> Any:
    return [{"Key": key, "Value": value} for key, value in pairs.items()]


def listed(db: Database, arn: str = ARN) -> Any:
    return db.list_tags_of_resource(ResourceArn=arn)["Tags"]


def test_tags_are_added_changed_and_taken_away(db: Database) -> None:
    create_plain(db)
    assert listed(db) == []
    assert db.tag_resource(ResourceArn=ARN, Tags=tags(stage="test", team="search")) == {}
    db.tag_resource(ResourceArn=ARN, Tags=tags(team="shop", owner="ada"))
    assert listed(db) == tags(stage="test", team="shop", owner="ada")
    assert db.untag_resource(ResourceArn=ARN, TagKeys=["stage", "absent"]) == {}
    assert listed(db) == tags(team="shop", owner="ada")


def test_tags_survive_a_restart_and_are_seen_by_others(tmp_path: Path) -> None:
    path = tmp_path / "test.db"
    with Database.open(path) as db, Database.open(path) as other:
        create_plain(db)
        assert listed(other) == []
        db.tag_resource(ResourceArn=ARN, Tags=tags(stage="test"))
        assert listed(other) == tags(stage="test")
    with Database.open(path) as db:
        assert listed(db) == tags(stage="test")
    assert check_file(str(path)) == []


def test_other_changes_of_a_table_leave_its_tags_alone(db: Database) -> None:
    create_plain(db)
    db.tag_resource(ResourceArn=ARN, Tags=tags(stage="test"))
    db.update_table(TableName="plain", DeletionProtectionEnabled=True)
    db.update_table(TableName="plain", DeletionProtectionEnabled=False)
    assert listed(db) == tags(stage="test")


def test_a_tag_that_changes_nothing_writes_nothing(db: Database) -> None:
    create_plain(db)
    db.tag_resource(ResourceArn=ARN, Tags=tags(stage="test"))
    before = db._session.store.catalog.version
    db.tag_resource(ResourceArn=ARN, Tags=tags(stage="test"))
    db.untag_resource(ResourceArn=ARN, TagKeys=["absent"])
    assert db._session.store.catalog.version == before


def test_a_stream_has_tags_of_its_own_as_long_as_it_is_the_newest(db: Database, clock: ManualClock) -> None:
    # ack-api-quirks, DDB-TABLE-373: the ARN of a live stream is a tag slot of its own.
    create_plain(db)
    db.update_table(TableName="plain", StreamSpecification=STREAM)
    stream = db.describe_table(TableName="plain")["Table"]["LatestStreamArn"]
    assert listed(db, stream) == []
    db.tag_resource(ResourceArn=stream, Tags=tags(of="stream"))
    db.tag_resource(ResourceArn=ARN, Tags=tags(of="table"))
    assert (listed(db, stream), listed(db)) == (tags(of="stream"), tags(of="table"))
    db.update_table(TableName="plain", StreamSpecification={"StreamEnabled": False})
    clock.advance(1)
    db.update_table(TableName="plain", StreamSpecification=STREAM)
    assert refusal(db, "list_tags_of_resource", ResourceArn=stream) == (
        "ResourceNotFoundException",
        f"Requested resource not found: ResourceArn: {stream} not found",
    )
    newest = db.describe_table(TableName="plain")["Table"]["LatestStreamArn"]
    assert (listed(db, newest), listed(db)) == ([], tags(of="table"))


def test_a_copy_of_the_tags_is_given(db: Database) -> None:
    create_plain(db)
    db.tag_resource(ResourceArn=ARN, Tags=tags(stage="test"))
    listed(db).clear()
    assert listed(db) == tags(stage="test")
