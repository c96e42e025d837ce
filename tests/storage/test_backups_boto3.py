"""boto3 makes, lists, pages through, deletes and restores backups, in the process and over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import boto3
import pytest

from singletable import Database
from singletable.server import BackgroundServer
from support.backed_up import fill
from support.sample_tables import create_single


@pytest.fixture(params=["in the process", "over HTTP"])
def client(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    with Database.open(tmp_path / "app.db", durability="relaxed") as db:
        create_single(db)
        fill(db, 20)
        if request.param == "in the process":
            yield db.client()
            return
        with BackgroundServer(db) as address:
            yield boto3.client(
                "dynamodb",
                endpoint_url=address.url,
                region_name="us-east-1",
                aws_access_key_id="any",
                aws_secret_access_key="thing",
            )


def test_backup_is_made_and_restored_with_a_waiter(client: Any) -> None:
    arn = client.create_backup(TableName="single", BackupName="first")["BackupDetails"]["BackupArn"]
    described = client.describe_backup(BackupArn=arn)["BackupDescription"]
    assert described["BackupDetails"]["BackupStatus"] == "AVAILABLE"
    assert described["SourceTableDetails"]["ItemCount"] == 20
    restoring = client.restore_table_from_backup(TargetTableName="again", BackupArn=arn)
    assert restoring["TableDescription"]["TableStatus"] == "CREATING"
    client.get_waiter("table_exists").wait(TableName="again")
    assert client.scan(TableName="again")["Count"] == 20
    client.delete_backup(BackupArn=arn)
    with pytest.raises(client.exceptions.BackupNotFoundException):
        client.describe_backup(BackupArn=arn)


def test_paginator_goes_through_all_backups(client: Any) -> None:
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda n: client.create_backup(TableName="single", BackupName=f"b-{n}"), range(12)))
    pages = client.get_paginator("list_backups").paginate(PaginationConfig={"PageSize": 5})
    listed = [one["BackupName"] for page in pages for one in page["BackupSummaries"]]
    assert sorted(listed) == sorted(f"b-{number}" for number in range(12))


def test_errors_have_their_classes(client: Any) -> None:
    with pytest.raises(client.exceptions.TableNotFoundException):
        client.create_backup(TableName="missing", BackupName="first")
    arn = client.create_backup(TableName="single", BackupName="first")["BackupDetails"]["BackupArn"]
    with pytest.raises(client.exceptions.TableAlreadyExistsException):
        client.restore_table_from_backup(TargetTableName="single", BackupArn=arn)
