"""UpdateTable: billing, throughput, streams, encryption, protection, class; and what it refuses."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from singletable import Database
from singletable.clock import ManualClock
from singletable.storage.file.encryption import FileKey
from singletable.storage.file.rekeying import encrypt_file
from singletable.storage.log import entries_after, select_logs
from support.sample_tables import attributes, create_plain, index, invalid, item, key_schema, refusal

INVALID = "One or more parameter values were invalid: "
KEY = FileKey(bytes(32))
AT_LEAST_ONE = (
    "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates, "
    "SSESpecification, ReplicaUpdates, MultiAccountReplicaReady, ReplicaTransitRoleArn, MultiRegionConsistency, "
    "DeletionProtectionEnabled, OnDemandThroughput, WarmThroughput or TableClass is required"
)
STREAM: Any = {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}


START = datetime.fromtimestamp(1_700_000_000, UTC)  # what the clock of a test says at first


@pytest.fixture(params=["memory", "file"])
def place(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def units(read: int, write: int) -> Any:
    return {"ReadCapacityUnits": read, "WriteCapacityUnits": write}


def warm(read: int, write: int, status: str = "ACTIVE") -> Any:
    return {"ReadUnitsPerSecond": read, "WriteUnitsPerSecond": write, "Status": status}


def create_provisioned(db: Database) -> None:
    """PK and SK with 5/6 units, a global index "by-g" with 1/2, a local one "by-l"."""
    by_g: Any = {**index("by-g", "g"), "ProvisionedThroughput": units(1, 2)}
    db.create_table(
        TableName="things",
        KeySchema=key_schema("PK", "SK"),
        AttributeDefinitions=attributes(PK="S", SK="S", g="S", l="N"),
        GlobalSecondaryIndexes=[by_g],
        LocalSecondaryIndexes=[index("by-l", "PK", "l")],
        ProvisionedThroughput=units(5, 6),
    )


def create_on_demand(db: Database) -> None:
    db.create_table(
        TableName="paid",
        KeySchema=key_schema("PK", "SK"),
        AttributeDefinitions=attributes(PK="S", SK="S", g="S"),
        GlobalSecondaryIndexes=[index("by-g", "g")],
        BillingMode="PAY_PER_REQUEST",
    )


def described(db: Database, name: str = "things") -> Any:
    return db.describe_table(TableName=name)["Table"]


# --- throughput and billing ----------------------------------------------------------------------


def test_throughput_changes_and_the_answer_says_updating(db: Database) -> None:
    create_provisioned(db)
    answer = db.update_table(TableName="things", ProvisionedThroughput=units(7, 8))["TableDescription"]
    assert answer["TableStatus"] == "UPDATING"
    # The answer has the time of the change, and the units from before it (DDB-TABLE-060).
    increased = {"LastIncreaseDateTime": START, "NumberOfDecreasesToday": 0}
    assert answer["ProvisionedThroughput"] == {**increased, **units(5, 6)}
    assert described(db)["TableStatus"] == "ACTIVE"
    assert described(db)["ProvisionedThroughput"] == {**increased, **units(7, 8)}
    assert answer["WarmThroughput"] == warm(5, 6)
    assert described(db)["WarmThroughput"] == warm(7, 8)


def test_the_throughput_of_an_index_changes_alone(db: Database) -> None:
    create_provisioned(db)
    answer = db.update_table(
        TableName="things",
        GlobalSecondaryIndexUpdates=[{"Update": {"IndexName": "by-g", "ProvisionedThroughput": units(3, 2)}}],
    )["TableDescription"]
    # Only the index is busy (ack-api-quirks, DDB-TABLE-148).
    assert answer["TableStatus"] == "ACTIVE"
    assert answer["GlobalSecondaryIndexes"][0]["IndexStatus"] == "UPDATING"
    increased = {"LastIncreaseDateTime": START, "NumberOfDecreasesToday": 0}
    assert answer["GlobalSecondaryIndexes"][0]["ProvisionedThroughput"] == {**increased, **units(1, 2)}
    (by_g,) = described(db)["GlobalSecondaryIndexes"]
    assert by_g["IndexStatus"] == "ACTIVE"
    assert by_g["ProvisionedThroughput"] == {**increased, **units(3, 2)}
    assert by_g["WarmThroughput"] == warm(3, 2)
    assert described(db)["ProvisionedThroughput"] == {"NumberOfDecreasesToday": 0, **units(5, 6)}


def test_decreases_are_counted_until_midnight(db: Database, clock: ManualClock) -> None:
    create_provisioned(db)
    clock.advance(3_600)
    for read in (4, 3, 2):
        db.update_table(TableName="things", ProvisionedThroughput=units(read, 6))
    assert described(db)["ProvisionedThroughput"] == {
        "LastDecreaseDateTime": datetime.fromtimestamp(1_700_003_600, UTC),
        "NumberOfDecreasesToday": 3,
        **units(2, 6),
    }
    clock.advance(3 * 3_600)  # the clock of a test begins at 22:13:20, UTC
    assert described(db)["ProvisionedThroughput"] == {
        "LastDecreaseDateTime": datetime.fromtimestamp(1_700_003_600, UTC),
        "NumberOfDecreasesToday": 0,
        **units(2, 6),
    }
    answer = db.update_table(TableName="things", ProvisionedThroughput=units(1, 6))["TableDescription"]
    assert answer["ProvisionedThroughput"]["NumberOfDecreasesToday"] == 0
    assert described(db)["ProvisionedThroughput"]["NumberOfDecreasesToday"] == 1


def test_units_may_go_down_as_often_as_one_likes(db: Database) -> None:
    # AWS allows four times a day, and then once an hour (DDB-TABLE-184).
    create_provisioned(db)
    for read in range(20, 10, -1):
        db.update_table(TableName="things", ProvisionedThroughput=units(read, 6))
    assert described(db)["ProvisionedThroughput"]["NumberOfDecreasesToday"] == 9


def test_warm_throughput_remembers_the_most_that_there_was(db: Database) -> None:
    # The sequence that AWS was seen to answer (DDB-TABLE-061).
    create_provisioned(db)
    for given, ready in (((6, 7), (6, 7)), ((1, 7), (6, 7)), ((2, 1), (6, 7)), ((3, 9), (6, 9))):
        db.update_table(TableName="things", ProvisionedThroughput=units(*given))
        assert described(db)["WarmThroughput"] == warm(*ready)
    db.update_table(TableName="things", BillingMode="PAY_PER_REQUEST")
    assert described(db)["WarmThroughput"] == warm(12_000, 4_000)
    db.update_table(
        TableName="things",
        BillingMode="PROVISIONED",
        ProvisionedThroughput=units(1, 1),
        GlobalSecondaryIndexUpdates=[{"Update": {"IndexName": "by-g", "ProvisionedThroughput": units(1, 1)}}],
    )
    assert described(db)["WarmThroughput"] == warm(12_000, 4_000)
    assert described(db)["GlobalSecondaryIndexes"][0]["WarmThroughput"] == warm(12_000, 4_000)


def test_the_time_of_the_last_change_to_on_demand_stays(db: Database, clock: ManualClock) -> None:
    create_plain(db)
    clock.advance(60)
    db.update_table(TableName="plain", BillingMode="PROVISIONED", ProvisionedThroughput=units(1, 1))
    clock.advance(60)
    answer = db.update_table(TableName="plain", BillingMode="PAY_PER_REQUEST")["TableDescription"]
    # The answer has the earlier time still (DDB-TABLE-452).
    assert answer["BillingModeSummary"]["LastUpdateToPayPerRequestDateTime"] == START
    assert described(db, "plain")["BillingModeSummary"]["LastUpdateToPayPerRequestDateTime"] == (
        datetime.fromtimestamp(1_700_000_120, UTC)
    )


def test_a_change_to_on_demand_takes_all_units_away_and_notes_the_time(
    db: Database, clock: ManualClock
) -> None:
    create_provisioned(db)
    assert "BillingModeSummary" not in described(db)
    clock.advance(60)
    db.update_table(TableName="things", BillingMode="PAY_PER_REQUEST")
    table = described(db)
    assert table["BillingModeSummary"] == {
        "BillingMode": "PAY_PER_REQUEST",
        "LastUpdateToPayPerRequestDateTime": datetime.fromtimestamp(1_700_000_060, UTC),
    }
    assert table["ProvisionedThroughput"] == {"NumberOfDecreasesToday": 0, **units(0, 0)}
    # It counts as a decrease of an index, and not of the table (DDB-TABLE-153).
    assert table["GlobalSecondaryIndexes"][0]["ProvisionedThroughput"] == {
        "LastDecreaseDateTime": datetime.fromtimestamp(1_700_000_060, UTC),
        "NumberOfDecreasesToday": 1,
        **units(0, 0),
    }
    assert table["WarmThroughput"] == warm(12_000, 4_000)


def test_a_change_to_provisioned_needs_units_for_the_table_and_every_index(db: Database) -> None:
    create_on_demand(db)
    db.update_table(
        TableName="paid",
        BillingMode="PROVISIONED",
        ProvisionedThroughput=units(1, 2),
        GlobalSecondaryIndexUpdates=[{"Update": {"IndexName": "by-g", "ProvisionedThroughput": units(3, 4)}}],
    )
    table = described(db, "paid")
    assert table["BillingModeSummary"]["BillingMode"] == "PROVISIONED"
    assert table["ProvisionedThroughput"] == {"NumberOfDecreasesToday": 0, **units(1, 2)}
    assert table["GlobalSecondaryIndexes"][0]["ProvisionedThroughput"] == {
        "NumberOfDecreasesToday": 0,
        **units(3, 4),
    }


def test_on_demand_may_be_asked_for_again(db: Database, clock: ManualClock) -> None:
    create_on_demand(db)
    before = described(db, "paid")
    clock.advance(60)
    db.update_table(TableName="paid", BillingMode="PAY_PER_REQUEST")
    assert described(db, "paid") == before


def test_bounds_of_on_demand_throughput_are_merged_member_by_member(db: Database) -> None:
    create_on_demand(db)

    def change(**bounds: int) -> Any:
        given: Any = bounds
        answer = db.update_table(TableName="paid", OnDemandThroughput=given)
        assert answer["TableDescription"]["TableStatus"] == "ACTIVE"
        return described(db, "paid").get("OnDemandThroughput")

    # The sequence that AWS was seen to answer (ack-api-quirks, DDB-TABLE-178).
    assert change(MaxReadRequestUnits=1000, MaxWriteRequestUnits=500) == {
        "MaxReadRequestUnits": 1000,
        "MaxWriteRequestUnits": 500,
    }
    assert change(MaxReadRequestUnits=2000) == {"MaxReadRequestUnits": 2000, "MaxWriteRequestUnits": 500}
    assert change(MaxReadRequestUnits=-1) == {"MaxWriteRequestUnits": 500}
    assert change(MaxWriteRequestUnits=-1) is None


def test_a_change_to_provisioned_forgets_the_bounds_of_on_demand_throughput(db: Database) -> None:
    create_plain(db, "plain")
    db.update_table(TableName="plain", OnDemandThroughput={"MaxReadRequestUnits": 9})
    db.update_table(TableName="plain", BillingMode="PROVISIONED", ProvisionedThroughput=units(1, 1))
    db.update_table(TableName="plain", BillingMode="PAY_PER_REQUEST")
    assert "OnDemandThroughput" not in described(db, "plain")


def test_bounds_and_on_demand_billing_may_be_asked_for_together(db: Database) -> None:
    create_provisioned(db)
    db.update_table(
        TableName="things", BillingMode="PAY_PER_REQUEST", OnDemandThroughput={"MaxWriteRequestUnits": 9}
    )
    assert described(db)["OnDemandThroughput"] == {"MaxWriteRequestUnits": 9}


# --- streams -------------------------------------------------------------------------------------


def test_a_stream_is_turned_on_off_and_on_again_with_a_new_label(db: Database, clock: ManualClock) -> None:
    create_plain(db)
    answer = db.update_table(TableName="plain", StreamSpecification=STREAM)["TableDescription"]
    assert answer["TableStatus"] == "UPDATING"
    assert answer["StreamSpecification"] == STREAM
    first = answer["LatestStreamLabel"]
    assert refusal(db, "update_table", TableName="plain", StreamSpecification=STREAM) == invalid(
        "Table already has an enabled stream: TableName: plain"
    )
    other: Any = {"StreamEnabled": True, "StreamViewType": "OLD_IMAGE"}
    assert refusal(db, "update_table", TableName="plain", StreamSpecification=other) == invalid(
        "Table already has an enabled stream: TableName: plain"
    )
    db.update_table(TableName="plain", StreamSpecification={"StreamEnabled": False})
    table = described(db, "plain")
    assert "StreamSpecification" not in table
    # The newest label stays in the description (ack-api-quirks, DDB-TABLE-050).
    assert table["LatestStreamLabel"] == first
    assert refusal(
        db, "update_table", TableName="plain", StreamSpecification={"StreamEnabled": False}
    ) == invalid("Table has no stream to disable: TableName: plain")
    clock.advance(1)
    db.update_table(TableName="plain", StreamSpecification=other)
    table = described(db, "plain")
    assert table["StreamSpecification"] == other
    assert table["LatestStreamLabel"] > first
    assert table["LatestStreamArn"].endswith(f"/stream/{table['LatestStreamLabel']}")


def test_changes_are_logged_while_a_table_has_a_stream(db: Database) -> None:
    create_plain(db)

    def logged() -> int:
        return db._session.store.read(
            lambda execute, _: sum(
                len(list(entries_after(execute, table_id, after=0, rows_max=100)))
                for table_id in select_logs(execute)
            )
        )

    db.put_item(TableName="plain", Item={"id": {"S": "before"}})
    assert logged() == 0
    db.update_table(TableName="plain", StreamSpecification=STREAM)
    db.put_item(TableName="plain", Item={"id": {"S": "a"}})
    db.put_item(TableName="plain", Item={"id": {"S": "a"}})  # changes nothing, and is no record
    db.put_item(TableName="plain", Item={"id": {"S": "a"}, "x": {"S": "1"}})
    db.delete_item(TableName="plain", Key={"id": {"S": "a"}})
    assert logged() == 3
    db.update_table(TableName="plain", StreamSpecification={"StreamEnabled": False})
    db.put_item(TableName="plain", Item={"id": {"S": "after"}})
    assert logged() == 3


# --- encryption, protection, class ---------------------------------------------------------------


def test_encryption_of_a_plain_file_is_kept_and_not_told(tmp_path: Path) -> None:
    path = tmp_path / "plain.db"
    with Database.open(path) as db:
        create_plain(db)
        answer = db.update_table(TableName="plain", SSESpecification={"Enabled": True})["TableDescription"]
        assert "SSEDescription" not in answer
        assert "SSEDescription" not in described(db, "plain")
    encrypt_file(str(path), KEY.raw)
    with Database.open(path, key=KEY.raw) as db:
        assert described(db, "plain")["SSEDescription"] == {"Status": "ENABLED", "SSEType": "KMS"}


@pytest.mark.parametrize("key", [None, KEY.raw], ids=["memory", "encrypted file"])
def test_encryption_is_turned_on_and_off(tmp_path: Path, key: bytes | None) -> None:
    with Database.open(":memory:" if key is None else tmp_path / "app.db", key=key) as db:
        _turn_encryption_on_and_off(db)


def _turn_encryption_on_and_off(db: Database) -> None:
    create_plain(db)
    answer = db.update_table(TableName="plain", SSESpecification={"Enabled": True})["TableDescription"]
    assert answer["TableStatus"] == "ACTIVE"
    assert answer["SSEDescription"] == {"Status": "UPDATING"}
    assert described(db, "plain")["SSEDescription"] == {"Status": "ENABLED", "SSEType": "KMS"}
    db.update_table(
        TableName="plain", SSESpecification={"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": "mine"}
    )
    arn = "arn:aws:kms:us-east-1:000000000000:key/mine"
    assert described(db, "plain")["SSEDescription"]["KMSMasterKeyArn"] == arn
    answer = db.update_table(TableName="plain", SSESpecification={"Enabled": False})["TableDescription"]
    assert answer["SSEDescription"] == {"Status": "UPDATING", "SSEType": "KMS", "KMSMasterKeyArn": arn}
    assert "SSEDescription" not in described(db, "plain")


@pytest.mark.parametrize("given", [{}, {"Enabled": False}], ids=["empty", "disabled"])
def test_encryption_by_default_cannot_be_asked_for_twice(db: Database, given: dict[str, bool]) -> None:
    create_plain(db)
    assert refusal(db, "update_table", TableName="plain", SSESpecification=given) == invalid(
        f"{INVALID}Table is already encrypted by default"
    )


def test_deletion_protection_is_done_at_once_and_may_be_repeated(db: Database) -> None:
    create_plain(db)
    for wanted in (True, True, False, False):
        answer = db.update_table(TableName="plain", DeletionProtectionEnabled=wanted)["TableDescription"]
        assert answer["TableStatus"] == "ACTIVE"
        assert answer["DeletionProtectionEnabled"] is wanted
        assert described(db, "plain")["DeletionProtectionEnabled"] is wanted


def test_the_class_of_a_table_changes(db: Database, clock: ManualClock) -> None:
    create_plain(db)
    answer = db.update_table(TableName="plain", TableClass="STANDARD_INFREQUENT_ACCESS")["TableDescription"]
    assert answer["TableStatus"] == "UPDATING"
    infrequent = {"TableClass": "STANDARD_INFREQUENT_ACCESS", "LastUpdateDateTime": START}
    assert described(db, "plain")["TableClassSummary"] == infrequent
    clock.advance(60)
    db.update_table(TableName="plain", TableClass="STANDARD_INFREQUENT_ACCESS")
    assert described(db, "plain")["TableClassSummary"] == infrequent
    answer = db.update_table(TableName="plain", TableClass="STANDARD")["TableDescription"]
    assert answer["TableClassSummary"] == infrequent
    later = datetime.fromtimestamp(1_700_000_060, UTC)
    assert described(db, "plain")["TableClassSummary"] == {
        "TableClass": "STANDARD",
        "LastUpdateDateTime": later,
    }


def test_one_setting_leaves_the_others_alone(db: Database) -> None:
    create_provisioned(db)
    db.update_table(TableName="things", SSESpecification={"Enabled": True})
    db.update_table(TableName="things", StreamSpecification=STREAM)
    db.put_item(TableName="things", Item=item("a", "b", g="c"))
    before = described(db)
    db.update_table(TableName="things", DeletionProtectionEnabled=True)
    assert described(db) == {**before, "DeletionProtectionEnabled": True}
    db.update_table(TableName="things", DeletionProtectionEnabled=False)


# --- what needs no table to be refused -----------------------------------------------------------

CREATE = {"Create": {**index("by-x", "x")}}
NEW_X = {"AttributeDefinitions": attributes(x="S"), "GlobalSecondaryIndexUpdates": [CREATE]}


def alone(what: str) -> str:
    return f"{INVALID}{what} must be the only operation in the request"


# Which of several complaints comes first is as AWS was seen to answer (ack-api-quirks, DDB-TABLE-174, 433).
COMBINATIONS = [
    pytest.param({}, AT_LEAST_ONE, id="nothing"),
    pytest.param({"AttributeDefinitions": attributes(PK="S")}, AT_LEAST_ONE, id="definitions-alone"),
    pytest.param({"GlobalSecondaryIndexUpdates": []}, AT_LEAST_ONE, id="no-index-updates"),
    pytest.param(
        {"GlobalSecondaryIndexUpdates": [], "DeletionProtectionEnabled": True},
        f"{INVALID}List of GlobalSecondaryIndexUpdates is empty",
        id="no-index-updates-and-protection",
    ),
    pytest.param(
        {"SSESpecification": {"Enabled": True}, "DeletionProtectionEnabled": True},
        alone("Server-Side Encryption modification"),
        id="encryption-and-protection",
    ),
    pytest.param(
        {"TableClass": "STANDARD", "DeletionProtectionEnabled": True},
        alone("TableClass modification"),
        id="class-and-protection",
    ),
    pytest.param(
        {"TableClass": "STANDARD", "SSESpecification": {"Enabled": True}},
        alone("Server-Side Encryption modification"),
        id="class-and-encryption",
    ),
    pytest.param(
        {"DeletionProtectionEnabled": True, "BillingMode": "PAY_PER_REQUEST"},
        alone("DeletionProtection modification"),
        id="protection-and-billing",
    ),
    pytest.param(
        {"DeletionProtectionEnabled": True, "StreamSpecification": STREAM},
        alone("DeletionProtection modification"),
        id="protection-and-stream",
    ),
    pytest.param(
        {"WarmThroughput": {"ReadUnitsPerSecond": 12001}, "StreamSpecification": STREAM},
        alone("WarmThroughput"),
        id="warm-and-stream",
    ),
    pytest.param(
        {"WarmThroughput": {"ReadUnitsPerSecond": 12001}, "DeletionProtectionEnabled": True},
        alone("DeletionProtection modification"),
        id="warm-and-protection",
    ),
    pytest.param(
        {"WarmThroughput": {"ReadUnitsPerSecond": 12001}, **NEW_X},
        f"{INVALID}Create global secondary index cannot be specified when updating WarmThroughput",
        id="warm-and-index",
    ),
    pytest.param(
        {"OnDemandThroughput": {"MaxReadRequestUnits": 1}, "StreamSpecification": STREAM},
        f"{INVALID}OnDemandThroughput can only be combined with BillingMode in an UpdateTable request",
        id="bounds-and-stream",
    ),
    pytest.param(
        {"StreamSpecification": STREAM, "ProvisionedThroughput": units(1, 1)},
        f"{INVALID}You cannot modify stream status while updating table IOPS",
        id="stream-and-units",
    ),
    pytest.param(
        {
            "StreamSpecification": STREAM,
            "BillingMode": "PROVISIONED",
            "ProvisionedThroughput": units(1, 1),
        },
        f"{INVALID}You cannot modify stream status while updating table IOPS",
        id="stream-and-provisioned",
    ),
    pytest.param(
        {**NEW_X, "ProvisionedThroughput": units(1, 1)},
        f"{INVALID}You cannot create or delete index while updating table IOPS",
        id="index-and-units",
    ),
    pytest.param(
        {**NEW_X, "StreamSpecification": STREAM},
        f"{INVALID}You cannot create or delete index while changing stream status",
        id="index-and-stream",
    ),
    pytest.param(
        {**NEW_X, "DeletionProtectionEnabled": True},
        alone("DeletionProtection modification"),
        id="index-and-protection",
    ),
    pytest.param(
        {"BillingMode": "PROVISIONED"},
        f"{INVALID}ProvisionedThroughput must be specified when BillingMode is PROVISIONED",
        id="provisioned-without-units",
    ),
    pytest.param(
        {"BillingMode": "PAY_PER_REQUEST", "ProvisionedThroughput": units(1, 1)},
        f"{INVALID}ProvisionedThroughput cannot be specified when BillingMode is PAY_PER_REQUEST",
        id="on-demand-with-units",
    ),
    pytest.param(
        {"StreamSpecification": {"StreamEnabled": True}},
        f"{INVALID}If stream is being enabled then UpdateViewType is required",
        id="stream-without-view",
    ),
    pytest.param(
        {"StreamSpecification": {"StreamEnabled": False, "StreamViewType": "KEYS_ONLY"}},
        f"{INVALID}If stream is being disabled, then UpdateViewType must not be specified",
        id="no-stream-but-a-view",
    ),
    pytest.param(
        {"OnDemandThroughput": {"MaxReadRequestUnits": 0}},
        f"{INVALID}Requested MaxReadRequestUnits for OnDemandThroughput for table is outside of valid range",
        id="bound-of-zero",
    ),
    pytest.param(
        {"OnDemandThroughput": {"MaxWriteRequestUnits": -2}},
        f"{INVALID}Requested MaxWriteRequestUnits for OnDemandThroughput for table is outside of valid range",
        id="bound-below-zero",
    ),
    pytest.param(
        {"SSESpecification": {"Enabled": False, "SSEType": "KMS"}},
        f"{INVALID}SSEType can not be specified if Enabled is false",
        id="no-encryption-but-a-type",
    ),
    pytest.param(
        {"GlobalSecondaryIndexUpdates": [{}]},
        f"{INVALID}One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, "
        "GlobalSecondaryIndexUpdate.Delete must not be null",
        id="empty-index-update",
    ),
    pytest.param(
        {
            "GlobalSecondaryIndexUpdates": [
                {
                    "Delete": {"IndexName": "by-g"},
                    "Update": {"IndexName": "by-g", "ProvisionedThroughput": units(1, 1)},
                }
            ]
        },
        f"{INVALID}Only one global secondary index action is allowed per GlobalSecondaryIndexUpdate object",
        id="two-actions-in-one",
    ),
    pytest.param(
        {
            "GlobalSecondaryIndexUpdates": [
                {"Delete": {"IndexName": "by-g"}},
                {"Create": index("by-g", "g")},
            ],
            "AttributeDefinitions": attributes(g="S"),
        },
        f"{INVALID}Only one global secondary index update per index is allowed simultaneously. Index: by-g",
        id="two-actions-on-one-index",
    ),
    pytest.param(
        {"GlobalSecondaryIndexUpdates": [CREATE]},
        f"{INVALID}AttributeDefinitions is not specified for index: by-x",
        id="new-index-without-definitions",
    ),
    pytest.param(
        {
            "GlobalSecondaryIndexUpdates": [{"Create": index("by-x", "x", projection="INCLUDE")}],
            "AttributeDefinitions": attributes(x="S"),
        },
        f"{INVALID}ProjectionType is INCLUDE, but NonKeyAttributes is not specified",
        id="new-index-with-a-wrong-projection",
    ),
]


@pytest.mark.parametrize(("given", "message"), COMBINATIONS)
def test_a_wrong_combination_is_refused_before_the_table_is_looked_up(
    calm_db: Database, given: dict[str, Any], message: str
) -> None:
    assert refusal(calm_db, "update_table", TableName="nothing", **given) == invalid(message)


# --- what the table decides ----------------------------------------------------------------------


def index_update(name: str = "by-g", **action: Any) -> dict[str, Any]:
    return {"GlobalSecondaryIndexUpdates": [{"Update": {"IndexName": name, **action}}]}


def new_index(*names: str, **more: Any) -> dict[str, Any]:
    return {
        "AttributeDefinitions": attributes(x="S"),
        "GlobalSecondaryIndexUpdates": [{"Create": {**index(name, "x"), **more}} for name in names],
    }


def will_not_change(what: str, where: str, read: int, write: int) -> str:
    return (
        f"The provisioned throughput for {what} will not change. The requested value equals the current value. "
        f"Current ReadCapacityUnits provisioned for {where}: {read}. Requested ReadCapacityUnits: {read}. "
        f"Current WriteCapacityUnits provisioned for {where}: {write}. Requested WriteCapacityUnits: {write}. "
        "Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits."
    )


REFUSED_BY_TABLES = [
    pytest.param(
        "nothing",
        {"DeletionProtectionEnabled": True},
        ("ResourceNotFoundException", "Requested resource not found: Table: nothing not found"),
        id="no-table",
    ),
    pytest.param(
        "things",
        {"ProvisionedThroughput": units(5, 6)},
        invalid(will_not_change("the table", "the table", 5, 6)),
        id="the-same-units",
    ),
    pytest.param(
        "things",
        {"BillingMode": "PROVISIONED", "ProvisionedThroughput": units(5, 6)},
        invalid(will_not_change("the table", "the table", 5, 6)),
        id="the-same-units-and-mode",
    ),
    pytest.param(
        "things",
        index_update(ProvisionedThroughput=units(1, 2)),
        invalid(will_not_change("the index by-g", "index by-g", 1, 2)),
        id="the-same-units-of-an-index",
    ),
    pytest.param(
        "things",
        {"OnDemandThroughput": {"MaxReadRequestUnits": 1}},
        invalid(
            f"{INVALID}MaxReadRequestUnits for OnDemandThroughput cannot be specified when the table "
            "BillingMode is PROVISIONED"
        ),
        id="bounds-of-a-provisioned-table",
    ),
    pytest.param(
        "paid",
        {"ProvisionedThroughput": units(1, 1)},
        invalid(
            f"{INVALID}Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is "
            "PAY_PER_REQUEST"
        ),
        id="units-of-an-on-demand-table",
    ),
    pytest.param(
        "paid",
        index_update(ProvisionedThroughput=units(1, 1)),
        invalid(
            f"{INVALID}The only Updates for index: by-g when TableThroughputMode is PAY_PER_REQUEST can be to "
            "OnDemandThroughput, WarmThroughput"
        ),
        id="units-of-an-on-demand-index",
    ),
    pytest.param(
        "paid",
        {"BillingMode": "PROVISIONED", "ProvisionedThroughput": units(1, 1)},
        invalid(f"{INVALID}ProvisionedThroughput must be specified for index: by-g"),
        id="provisioned-without-units-for-an-index",
    ),
    pytest.param(
        "paid",
        new_index("by-x", ProvisionedThroughput=units(1, 1)),
        invalid(
            f"{INVALID}Neither ReadCapacityUnits nor WriteCapacityUnits can be specified for index: by-x when "
            "BillingMode is PAY_PER_REQUEST"
        ),
        id="new-on-demand-index-with-units",
    ),
    pytest.param(
        "things",
        new_index("by-x"),
        invalid(f"{INVALID}Both ReadCapacityUnits and WriteCapacityUnits must be specified for index: by-x"),
        id="new-provisioned-index-without-units",
    ),
    pytest.param(
        "paid",
        new_index("by-g"),
        invalid("Attempting to create an index which already exists"),
        id="an-index-that-exists",
    ),
    pytest.param(
        "paid",
        new_index("by-x", "by-y"),
        (
            "LimitExceededException",
            "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table",
        ),
        id="two-new-indexes",
    ),
    pytest.param(
        "paid",
        {
            "AttributeDefinitions": attributes(y="S"),
            "GlobalSecondaryIndexUpdates": [{"Create": index("by-x", "x")}],
        },
        invalid(
            f"{INVALID}Some index key attributes are not defined in AttributeDefinitions. Keys: [x], "
            "AttributeDefinitions: [y]"
        ),
        id="new-index-with-an-undefined-key",
    ),
    pytest.param(
        "paid",
        index_update("by-z", OnDemandThroughput={"MaxReadRequestUnits": 1}),
        ("ResourceNotFoundException", "Requested resource not found: Index by-z for table paid"),
        id="an-update-of-no-index",
    ),
    pytest.param(
        "paid",
        {"GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "by-z"}}]},
        ("ResourceNotFoundException", "Requested resource not found: Index by-z for table paid"),
        id="a-deletion-of-no-index",
    ),
    pytest.param(
        "things",
        index_update("by-l", ProvisionedThroughput=units(1, 1)),
        invalid("Cannot update an index that is not a GlobalSecondaryIndex: by-l"),
        id="an-update-of-a-local-index",
    ),
    pytest.param(
        "things",
        {"GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "by-l"}}]},
        invalid("Cannot delete an index that is not a GlobalSecondaryIndex: by-l"),
        id="a-deletion-of-a-local-index",
    ),
]


@pytest.mark.parametrize(("name", "given", "wanted"), REFUSED_BY_TABLES)
def test_a_change_that_does_not_fit_the_table_is_refused_and_changes_nothing(
    db: Database, name: str, given: dict[str, Any], wanted: tuple[str, str]
) -> None:
    create_provisioned(db)
    create_on_demand(db)
    before = [described(db), described(db, "paid")]
    assert refusal(db, "update_table", TableName=name, **given) == wanted
    assert [described(db), described(db, "paid")] == before


def test_a_new_index_may_not_bring_more_than_a_hundred_projected_attributes(db: Database) -> None:
    some = [f"a{number}" for number in range(20)]
    db.create_table(
        TableName="full",
        KeySchema=key_schema("id"),
        AttributeDefinitions=attributes(id="S", x="S"),
        GlobalSecondaryIndexes=[
            index(f"by-{number}", "x", projection="INCLUDE", include=some) for number in range(5)
        ],
        BillingMode="PAY_PER_REQUEST",
    )
    more = new_index("one-more", Projection={"ProjectionType": "INCLUDE", "NonKeyAttributes": ["y"]})
    assert refusal(db, "update_table", TableName="full", **more) == invalid(
        f"{INVALID}Aggregated number of NonKeyAttributes exceeds the limit of 100"
    )
    db.update_table(TableName="full", **new_index("one-more"))


def test_the_twenty_first_global_index_exceeds_a_limit(db: Database) -> None:
    db.create_table(
        TableName="full",
        KeySchema=key_schema("id"),
        AttributeDefinitions=attributes(id="S", x="S"),
        GlobalSecondaryIndexes=[index(f"by-{number}", "x") for number in range(20)],
        BillingMode="PAY_PER_REQUEST",
    )
    assert refusal(db, "update_table", TableName="full", **new_index("one-more")) == (
        "LimitExceededException",
        "Subscriber limit exceeded: Number of global secondary indexes exceeds per-table limit of 20",
    )
