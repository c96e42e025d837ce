"""CreateBackup, DescribeBackup, DeleteBackup, RestoreTableFromBackup: what they do and what they say."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from singletable import Database, limits
from singletable.clock import ManualClock
from singletable.storage.backups import restoring
from singletable.storage.check import check_file
from support.backed_up import back_up, details, files, fill, folder, gate, names, restored
from support.past_tables import turn_on
from support.sample_tables import (
    all_items,
    attributes,
    background,
    create_plain,
    create_single,
    finish,
    index,
    key_schema,
    open_by_hand,
    refusal,
    s,
)


def test_backup_is_created_and_available_at_once(db: Database, clock: ManualClock) -> None:
    create_single(db)
    fill(db, 3)
    made = db.create_backup(TableName="single", BackupName="first")["BackupDetails"]
    assert made["BackupStatus"] == "CREATING"
    assert made["BackupCreationDateTime"] == datetime.fromtimestamp(clock.time_us / 1e6, UTC)
    assert "BackupExpiryDateTime" not in made
    prefix = "arn:aws:dynamodb:us-east-1:000000000000:table/single/backup/01700000000000-"
    assert made["BackupArn"].startswith(prefix)
    assert len(made["BackupArn"]) == len(prefix) + 8
    assert details(db, made["BackupArn"]) == {**made, "BackupStatus": "AVAILABLE"}


def test_description_tells_the_table_as_it_was(db: Database) -> None:
    create_single(
        db,
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
        SSESpecification={"Enabled": True},
        Tags=[{"Key": "team", "Value": "search"}],
    )
    db.update_time_to_live(
        TableName="single", TimeToLiveSpecification={"AttributeName": "ends", "Enabled": True}
    )
    turn_on(db)
    fill(db, 2)
    table = db.describe_table(TableName="single")["Table"]
    arn = back_up(db)
    db.delete_item(TableName="single", Key={"PK": s("p00000"), "SK": s("s")})
    description = db.describe_backup(BackupArn=arn)["BackupDescription"]
    assert description["SourceTableDetails"] == {
        "TableName": "single",
        "TableId": table["TableId"],
        "TableArn": table["TableArn"],
        "TableSizeBytes": table["TableSizeBytes"],
        "KeySchema": key_schema("PK", "SK"),
        "TableCreationDateTime": table["CreationDateTime"],
        "ProvisionedThroughput": {"ReadCapacityUnits": 0, "WriteCapacityUnits": 0},
        "ItemCount": 2,
        "BillingMode": "PAY_PER_REQUEST",
    }
    assert description["SourceTableFeatureDetails"] == {
        "GlobalSecondaryIndexes": [
            {
                "IndexName": "GSI1",
                "KeySchema": key_schema("GSI1PK", "GSI1SK"),
                "Projection": {"ProjectionType": "ALL"},
                "ProvisionedThroughput": {"ReadCapacityUnits": 0, "WriteCapacityUnits": 0},
            }
        ],
        "StreamDescription": {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
        "TimeToLiveDescription": {"TimeToLiveStatus": "ENABLED", "AttributeName": "ends"},
        # It would not be true of a plain file.
        **({"SSEDescription": {"Status": "ENABLED", "SSEType": "KMS"}} if db.is_in_memory else {}),
    }


def test_restored_table_is_what_was_backed_up(db: Database) -> None:
    create_single(db)
    fill(db, 30)
    before = all_items(db, "scan", TableName="single")
    arn = back_up(db)
    fill(db, 5, first=100)
    db.delete_item(TableName="single", Key={"PK": s("p00003"), "SK": s("s")})
    assert restored(db, arn) == before
    through_index = all_items(
        db,
        "query",
        TableName="again",
        IndexName="GSI1",
        KeyConditionExpression="GSI1PK = :all",
        ExpressionAttributeValues={":all": s("all")},
    )
    assert [one["GSI1SK"]["S"] for one in through_index] == [f"{number:05}" for number in range(30)]
    described = db.describe_table(TableName="again")["Table"]
    assert described["ItemCount"] == 30


def test_restored_table_has_no_stream_tags_recovery_or_expiry(db: Database) -> None:
    create_single(
        db,
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
        Tags=[{"Key": "team", "Value": "search"}],
        DeletionProtectionEnabled=True,
    )
    turn_on(db)
    restored(db, back_up(db))
    table = db.describe_table(TableName="again")["Table"]
    assert "StreamSpecification" not in table
    assert table["DeletionProtectionEnabled"] is False
    assert db.list_tags_of_resource(ResourceArn=table["TableArn"])["Tags"] == []
    recovery = db.describe_continuous_backups(TableName="again")["ContinuousBackupsDescription"]
    assert recovery["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"] == "DISABLED"


def test_restore_with_overrides(db: Database) -> None:
    db.create_table(
        TableName="single",
        KeySchema=key_schema("PK", "SK"),
        AttributeDefinitions=attributes(PK="S", SK="S", GSI1PK="S", GSI1SK="S"),
        GlobalSecondaryIndexes=[index("GSI1", "GSI1PK", "GSI1SK")],
        BillingMode="PAY_PER_REQUEST",
    )
    fill(db, 3)
    items = restored(
        db,
        back_up(db),
        BillingModeOverride="PROVISIONED",
        ProvisionedThroughputOverride={"ReadCapacityUnits": 7, "WriteCapacityUnits": 3},
        GlobalSecondaryIndexOverride=[],
    )
    assert len(items) == 3
    table = db.describe_table(TableName="again")["Table"]
    assert table["ProvisionedThroughput"]["ReadCapacityUnits"] == 7
    assert "GlobalSecondaryIndexes" not in table


def test_backup_outlives_its_table_and_one_of_the_same_name(db: Database, clock: ManualClock) -> None:
    create_single(db)
    fill(db, 2)
    first = back_up(db)
    db.delete_table(TableName="single")
    create_single(db)
    clock.advance(1)
    back_up(db, "second")
    assert names(db, TableName="single") == ["first", "second"]
    ids = {one["TableId"] for one in db.list_backups(TableName="single")["BackupSummaries"]}
    assert len(ids) == 2
    assert len(restored(db, first)) == 2


def test_names_of_backups_need_not_differ(db: Database) -> None:
    create_plain(db)
    assert len({back_up(db, "same", "plain") for _ in range(3)}) == 3
    assert names(db) == ["same"] * 3


def test_deleted_backup_is_gone_with_its_files(db: Database) -> None:
    create_plain(db)
    arn = back_up(db, table="plain")
    assert len(files(db)) == 2
    deleted = db.delete_backup(BackupArn=arn)["BackupDescription"]
    assert deleted["BackupDetails"]["BackupStatus"] == "DELETED"
    assert deleted["SourceTableDetails"]["TableName"] == "plain"
    assert files(db) == []
    gone = ("BackupNotFoundException", f"Backup not found: {arn}")
    assert refusal(db, "describe_backup", BackupArn=arn) == gone
    assert refusal(db, "delete_backup", BackupArn=arn) == gone
    assert refusal(db, "restore_table_from_backup", BackupArn=arn, TargetTableName="again") == gone


def test_file_of_a_backup_is_a_database_of_its_own(db: Database, tmp_path: Path) -> None:
    create_single(db, StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"})
    turn_on(db)
    fill(db, 20)
    back_up(db)
    (file,) = folder(db).rglob("*.db")
    assert check_file(file) == []
    copy = tmp_path / "copy.db"
    copy.write_bytes(file.read_bytes())
    with Database.open(copy) as other:
        assert other.list_tables()["TableNames"] == ["single"]
        assert all_items(other, "scan", TableName="single") == all_items(db, "scan", TableName="single")
        fill(other, 3, first=500)
        assert other.check() == []


def test_backup_under_way_is_listed_and_cannot_be_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Database.open(tmp_path / "app.db", durability="relaxed") as db:
        create_single(db)
        fill(db, 5)
        with gate(monkeypatch) as held:
            arn = back_up(db)
            assert held.reached.wait(20)
            assert details(db, arn)["BackupStatus"] == "CREATING"
            assert names(db) == ["first"]
            in_use = ("BackupInUseException", f"Backup is being created: {arn}")
            assert refusal(db, "delete_backup", BackupArn=arn) == in_use
            assert refusal(db, "restore_table_from_backup", BackupArn=arn, TargetTableName="again") == in_use
            with Database.open(tmp_path / "app.db") as other:
                assert names(other) == []  # for others it is not there before it is whole
            fill(db, 5, first=50)
            held.is_open.set()
            db._session.store.workers.wait()
        assert details(db, arn)["BackupStatus"] == "AVAILABLE"
        assert len(restored(db, arn)) == 5


def test_backup_feeds_one_restore_at_a_time(tmp_path: Path) -> None:
    with open_by_hand(str(tmp_path / "app.db")) as db:
        create_single(db)
        fill(db, 300)
        arn = back_up(db)
        db.restore_table_from_backup(TargetTableName="again", BackupArn=arn)
        assert db.describe_table(TableName="again")["Table"]["TableStatus"] == "CREATING"
        assert refusal(db, "delete_backup", BackupArn=arn) == (
            "BackupInUseException",
            f"Backup is being used to restore table: {arn}",
        )
        assert refusal(db, "restore_table_from_backup", BackupArn=arn, TargetTableName="third") == (
            "BackupInUseException",
            f"Backup is being used to restore another table: {arn}",
        )
        assert refusal(db, "restore_table_from_backup", BackupArn=arn, TargetTableName="again") == (
            "TableInUseException",
            f"Table: again is already being restored from backup: {arn}",
        )
        finish(db)
        db.delete_backup(BackupArn=arn)


@pytest.mark.parametrize("source", ["backup", "past"])
def test_step_of_a_restore_copies_few_items_where_they_are_large(source: str, tmp_path: Path) -> None:
    """Writers wait for it."""
    with open_by_hand(str(tmp_path / "app.db")) as db:
        create_plain(db, "large")
        turn_on(db, "large")
        for number in range(20):
            db.put_item(TableName="large", Item={"id": s(f"{number}"), "filler": s("x" * 390_000)})
        background(db).piece = lambda chores=None: False  # type: ignore[method-assign]
        if source == "backup":
            db.restore_table_from_backup(TargetTableName="again", BackupArn=back_up(db, table="large"))
        else:
            db.restore_table_to_point_in_time(
                SourceTableName="large", TargetTableName="again", UseLatestRestorableTime=True
            )
        db._session.store.write(lambda transaction: restoring.step(transaction, 0))
        assert db.describe_table(TableName="again")["Table"]["ItemCount"] == 3


def test_deleted_table_with_recovery_leaves_a_backup(db: Database, clock: ManualClock) -> None:
    create_single(db)
    turn_on(db)
    fill(db, 10)
    db.delete_table(TableName="single")
    assert db.list_tables()["TableNames"] == []
    assert names(db) == []
    (summary,) = db.list_backups(BackupType="SYSTEM")["BackupSummaries"]
    arn = summary["BackupArn"]
    assert summary["BackupName"] == "single$DeletedTableBackup"
    assert arn.endswith("-00000000")
    assert (summary["BackupExpiryDateTime"] - summary["BackupCreationDateTime"]).days == 35
    assert db.describe_backup(BackupArn=arn)["BackupDescription"]["SourceTableFeatureDetails"] == {}
    code, message = refusal(db, "delete_backup", BackupArn=arn)
    assert code == "ValidationException"
    assert message.startswith(
        f"Invalid Request: User is not allowed to delete the system backup with arn {arn}. "
    )
    assert len(restored(db, arn, "single")) == 10
    clock.advance(36 * 24 * 3600)
    assert names(db, BackupType="ALL") == []
    back_up(db)
    assert len(files(db)) == 2  # what had expired is gone from the disk with the next backup


def test_table_deleted_twice_in_one_millisecond_leaves_two_backups(db: Database) -> None:
    for count in (1, 2):
        create_single(db)
        turn_on(db)
        fill(db, count)
        db.delete_table(TableName="single")
    found = db.list_backups(BackupType="ALL")["BackupSummaries"]
    assert sorted(len(restored(db, one["BackupArn"], one["BackupArn"][-12:-9])) for one in found) == [1, 2]


def test_large_table_with_recovery_is_deleted_when_its_backup_exists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Database.open(tmp_path / "app.db", durability="relaxed") as db:
        create_single(db)
        turn_on(db)
        fill(db, 10)
        with gate(monkeypatch) as held:
            db.delete_table(TableName="single")
            assert held.reached.wait(20)
            assert db.describe_table(TableName="single")["Table"]["TableStatus"] == "DELETING"
            assert refusal(db, "get_item", TableName="single", Key={"PK": s("a"), "SK": s("b")})[0] == (
                "ResourceNotFoundException"
            )
            assert refusal(db, "delete_table", TableName="single")[0] == "ResourceInUseException"
            held.is_open.set()
            db._session.store.workers.wait()
        assert db.list_tables()["TableNames"] == []
        assert names(db, BackupType="SYSTEM") == ["single$DeletedTableBackup"]
        assert db.check() == []


def test_deletion_that_cannot_be_backed_up_does_not_happen(tmp_path: Path) -> None:
    in_the_way = tmp_path / "backups"
    with Database.open(tmp_path / "app.db", backups=in_the_way) as db:
        in_the_way.write_text("a file, where the folder of backups is to be")
        create_single(db)
        turn_on(db)
        fill(db, 3)
        with pytest.raises(Exception, match="backups"):
            db.delete_table(TableName="single")
        assert db.describe_table(TableName="single")["Table"]["TableStatus"] == "ACTIVE"
        fill(db, 3, first=10)
        assert len(all_items(db, "scan", TableName="single")) == 6


def test_folder_alone_restores_into_a_fresh_database(tmp_path: Path) -> None:
    with Database.open(tmp_path / "app.db") as db:
        create_single(db)
        fill(db, 12)
        back_up(db)
    with Database.open(
        tmp_path / "other.db", backups=tmp_path / "app.db.backups", region="eu-west-1", account="123456789012"
    ) as other:
        (summary,) = other.list_backups()["BackupSummaries"]
        assert summary["BackupArn"].startswith("arn:aws:dynamodb:eu-west-1:123456789012:table/single/backup/")
        assert len(restored(other, summary["BackupArn"], "single")) == 12
        assert other.check() == []


def test_backups_in_memory_go_with_the_database() -> None:
    with Database.open(":memory:") as db:
        create_single(db)
        fill(db, 2)
        back_up(db)
        kept = folder(db)
        assert len(list(kept.rglob("*.db"))) == 1
    assert not kept.exists()


def test_many_tables_are_backed_up_some_at_a_time(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them together would have too many files open."""
    monkeypatch.setattr(limits, "BACKUPS_TOGETHER_MAX", 2)
    tables = [f"table{number}" for number in range(5)]
    for name in tables:
        create_single(db, name)
    assert len(db.backup_all("many")) == 5
    assert sorted(names(db)) == [f"{name}-many" for name in tables]


def test_all_tables_are_backed_up_as_of_one_moment(db: Database) -> None:
    for name in ("one", "two"):
        create_single(db, name)
        fill(db, 4, name)
    arns = db.backup_all("before-v2")
    assert sorted(names(db)) == ["one-before-v2", "two-before-v2"]
    assert len(restored(db, arns[0])) == 4
    with pytest.raises(ValueError, match="no part of a name"):
        db.backup_all("with space")
