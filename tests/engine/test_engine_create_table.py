"""CreateTable: what it makes, and what it refuses in which words."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from singletable import Database
from support.sample_tables import attributes, calls_of, create_plain, index, invalid, key_schema, refusal

INVALID = "One or more parameter values were invalid: "
UNITS = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 6}
ALL = {"ProjectionType": "ALL"}


def request(**changes: Any) -> dict[str, Any]:
    """A right request for a table of pk and sk, with changes; None takes a parameter away."""
    base: dict[str, Any] = {
        "TableName": "things",
        "KeySchema": key_schema("pk", "sk"),
        "AttributeDefinitions": attributes(pk="S", sk="S"),
        "BillingMode": "PAY_PER_REQUEST",
    }
    return {name: value for name, value in {**base, **changes}.items() if value is not None}


def with_indexes(**changes: Any) -> dict[str, Any]:
    """A right request with the attributes for a local and a global index."""
    return request(**{"AttributeDefinitions": attributes(pk="S", sk="S", l="N", g="S"), **changes})


def elements(*pairs: tuple[str, str]) -> list[dict[str, str]]:
    return [{"AttributeName": name, "KeyType": kind} for name, kind in pairs]


# --- what it makes -----------------------------------------------------------------------------


def test_the_answer_describes_the_table_as_being_created(db: Database) -> None:
    table = db.create_table(**request())["TableDescription"]
    assert table["TableStatus"] == "CREATING"
    assert table["TableName"] == "things"
    assert table["KeySchema"] == key_schema("pk", "sk")
    assert table["AttributeDefinitions"] == attributes(pk="S", sk="S")
    assert table["TableArn"] == "arn:aws:dynamodb:us-east-1:000000000000:table/things"
    assert table["ItemCount"] == 0
    assert table["TableSizeBytes"] == 0
    assert table["DeletionProtectionEnabled"] is False
    assert table["CreationDateTime"] == datetime.fromtimestamp(1_700_000_000, UTC)
    # The time of the change to on-demand is only in later descriptions (ack-api-quirks, DDB-TABLE-033).
    assert table["BillingModeSummary"] == {"BillingMode": "PAY_PER_REQUEST"}
    assert table["ProvisionedThroughput"] == {
        "NumberOfDecreasesToday": 0,
        "ReadCapacityUnits": 0,
        "WriteCapacityUnits": 0,
    }


def test_the_next_description_says_active(db: Database) -> None:
    created = db.create_table(**request())["TableDescription"]
    table = db.describe_table(TableName="things")["Table"]
    assert table["TableStatus"] == "ACTIVE"
    assert table["TableId"] == created["TableId"]
    assert table["BillingModeSummary"] == {
        "BillingMode": "PAY_PER_REQUEST",
        "LastUpdateToPayPerRequestDateTime": datetime.fromtimestamp(1_700_000_000, UTC),
    }


def test_a_provisioned_table_has_its_units_and_no_billing_summary(db: Database) -> None:
    table = db.create_table(**request(BillingMode=None, ProvisionedThroughput=UNITS))["TableDescription"]
    assert table["ProvisionedThroughput"] == {"NumberOfDecreasesToday": 0, **UNITS}
    assert "BillingModeSummary" not in table


def test_indexes_are_described_with_their_keys_projections_and_status(db: Database) -> None:
    table = db.create_table(
        **with_indexes(
            LocalSecondaryIndexes=[index("by-l", "pk", "l", projection="INCLUDE", include=["x", "y"])],
            GlobalSecondaryIndexes=[index("by-g", "g", projection="KEYS_ONLY")],
        )
    )["TableDescription"]
    assert table["LocalSecondaryIndexes"] == [
        {
            "IndexName": "by-l",
            "KeySchema": key_schema("pk", "l"),
            "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["x", "y"]},
            "IndexSizeBytes": 0,
            "ItemCount": 0,
            "IndexArn": "arn:aws:dynamodb:us-east-1:000000000000:table/things/index/by-l",
        }
    ]
    assert table["GlobalSecondaryIndexes"] == [
        {
            "IndexName": "by-g",
            "KeySchema": key_schema("g"),
            "Projection": {"ProjectionType": "KEYS_ONLY"},
            "IndexStatus": "CREATING",
            "ProvisionedThroughput": {
                "NumberOfDecreasesToday": 0,
                "ReadCapacityUnits": 0,
                "WriteCapacityUnits": 0,
            },
            "IndexSizeBytes": 0,
            "ItemCount": 0,
            "IndexArn": "arn:aws:dynamodb:us-east-1:000000000000:table/things/index/by-g",
        }
    ]
    described = db.describe_table(TableName="things")["Table"]["GlobalSecondaryIndexes"]
    assert described[0]["IndexStatus"] == "ACTIVE"
    # AWS tells of a backfill only for an index that UpdateTable adds (DDB-TABLE-138).
    assert "Backfilling" not in described[0]


def test_index_throughput_is_kept(db: Database) -> None:
    by_g = {**index("by-g", "g"), "ProvisionedThroughput": UNITS}
    table = db.create_table(
        **request(
            BillingMode="PROVISIONED",
            ProvisionedThroughput={"ReadCapacityUnits": 1, "WriteCapacityUnits": 2},
            AttributeDefinitions=attributes(pk="S", sk="S", g="S"),
            GlobalSecondaryIndexes=[by_g],
        )
    )["TableDescription"]
    assert table["GlobalSecondaryIndexes"][0]["ProvisionedThroughput"] == {
        "NumberOfDecreasesToday": 0,
        **UNITS,
    }


def test_a_stream_has_a_label_and_an_arn(db: Database) -> None:
    stream = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
    table = db.create_table(**request(StreamSpecification=stream))["TableDescription"]
    assert table["StreamSpecification"] == stream
    assert table["LatestStreamLabel"] == "2023-11-14T22:13:20.000"
    assert table["LatestStreamArn"].endswith(":table/things/stream/2023-11-14T22:13:20.000")


def test_a_stream_that_is_turned_off_is_no_stream(db: Database) -> None:
    table = db.create_table(**request(StreamSpecification={"StreamEnabled": False}))["TableDescription"]
    assert "StreamSpecification" not in table
    assert "LatestStreamLabel" not in table


@pytest.mark.parametrize(
    ("given", "described"),
    [
        pytest.param({}, None, id="empty"),
        pytest.param({"Enabled": False}, None, id="disabled"),
        pytest.param({"Enabled": True}, {"Status": "ENABLED", "SSEType": "KMS"}, id="enabled"),
        # A nil Enabled with a type turns encryption on (DDB-TABLE-044).
        pytest.param({"SSEType": "KMS"}, {"Status": "ENABLED", "SSEType": "KMS"}, id="type-alone"),
        pytest.param(
            {"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": "alias/mine"},
            {
                "Status": "ENABLED",
                "SSEType": "KMS",
                "KMSMasterKeyArn": "arn:aws:kms:us-east-1:000000000000:alias/mine",
            },
            id="own-key-by-alias",
        ),
        pytest.param(
            {"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": "1234abcd"},
            {
                "Status": "ENABLED",
                "SSEType": "KMS",
                "KMSMasterKeyArn": "arn:aws:kms:us-east-1:000000000000:key/1234abcd",
            },
            id="own-key-by-id",
        ),
    ],
)
def test_encryption_is_described_when_it_is_not_the_default(
    db: Database, given: dict[str, Any], described: dict[str, str] | None
) -> None:
    db.create_table(**request(SSESpecification=given))
    assert db.describe_table(TableName="things")["Table"].get("SSEDescription") == described


def test_settings_without_an_effect_on_storage_are_described(db: Database) -> None:
    db.create_table(
        **request(
            TableClass="STANDARD_INFREQUENT_ACCESS",
            DeletionProtectionEnabled=True,
            OnDemandThroughput={"MaxReadRequestUnits": 100},
            Tags=[{"Key": "team", "Value": "search"}],
        )
    )
    table = db.describe_table(TableName="things")["Table"]
    assert table["TableClassSummary"]["TableClass"] == "STANDARD_INFREQUENT_ACCESS"
    assert table["DeletionProtectionEnabled"] is True
    assert table["OnDemandThroughput"] == {"MaxReadRequestUnits": 100}
    db.update_table(TableName="things", DeletionProtectionEnabled=False)


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("ResourcePolicy", "{}", "there is no IAM"),
        ("GlobalTableSourceArn", "things", "there is one region, and no replicas"),
    ],
)
def test_what_cannot_be_here_is_refused_and_says_why(
    calm_db: Database, name: str, value: str, why: str
) -> None:
    assert refusal(calm_db, "create_table", **request(**{name: value})) == invalid(
        f"The parameter {name} is not supported by singletable: {why}"
    )


def test_an_empty_list_of_what_cannot_be_here_asks_for_nothing(db: Database) -> None:
    db.create_table(**request(VectorIndexes=[]))


def test_names_of_tables_are_case_sensitive(db: Database) -> None:
    create_plain(db, "things")
    create_plain(db, "Things")
    assert db.list_tables()["TableNames"] == ["Things", "things"]


def test_a_table_may_be_named_by_its_arn(db: Database) -> None:
    arn = "arn:aws:dynamodb:us-east-1:000000000000:table/things"
    db.create_table(**request(TableName=arn))
    assert db.describe_table(TableName=arn)["Table"]["TableName"] == "things"


@pytest.mark.parametrize(
    "indexes",
    [
        pytest.param({"GlobalSecondaryIndexes": [index("things", "pk", "sk")]}, id="global-as-the-table"),
        pytest.param({"LocalSecondaryIndexes": [index("again", "pk", "sk")]}, id="local-as-the-table"),
        pytest.param(
            {"GlobalSecondaryIndexes": [index("other", "sk", projection="INCLUDE", include=["pk", "sk"])]},
            id="projection-names-keys",
        ),
    ],
)
def test_an_index_may_repeat_the_key_of_its_table(db: Database, indexes: dict[str, Any]) -> None:
    # All three are accepted by AWS (DDB-TABLE-126, DDB-TABLE-129).
    db.create_table(**request(**indexes))
    item = {"pk": {"S": "a"}, "sk": {"S": "b"}}
    db.put_item(TableName="things", Item=item)
    (name,) = [given["IndexName"] for given in next(iter(indexes.values()))]
    assert db.scan(TableName="things", IndexName=name)["Items"] == [item]


def test_twenty_global_and_five_local_indexes_fit(db: Database) -> None:
    names = [f"g{number}" for number in range(20)]
    local = [f"l{number}" for number in range(5)]
    db.create_table(
        **request(
            AttributeDefinitions=attributes(
                pk="S", sk="S", **dict.fromkeys(names, "S"), **dict.fromkeys(local, "N")
            ),
            GlobalSecondaryIndexes=[index(f"by-{name}", name) for name in names],
            LocalSecondaryIndexes=[index(f"by-{name}", "pk", name) for name in local],
        )
    )
    table = db.describe_table(TableName="things")["Table"]
    assert len(table["GlobalSecondaryIndexes"]) == 20
    assert len(table["LocalSecondaryIndexes"]) == 5


# --- what it refuses -----------------------------------------------------------------------------


def test_a_name_that_is_taken_is_refused_whatever_the_rest_says(db: Database) -> None:
    create_plain(db, "things")
    assert refusal(db, "create_table", **request()) == (
        "ResourceInUseException",
        "Table already exists: things",
    )


def test_a_malformed_request_is_refused_before_the_name_is_looked_up(db: Database) -> None:
    create_plain(db, "things")
    code, _ = refusal(db, "create_table", **request(KeySchema=elements(("pk", "RANGE"), ("sk", "HASH"))))
    assert code == "ValidationException"


BAD_BILLING = [
    pytest.param(
        request(ProvisionedThroughput=UNITS),
        f"{INVALID}Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is "
        "PAY_PER_REQUEST",
        id="on-demand-with-units",
    ),
    pytest.param(
        request(BillingMode="PROVISIONED"),
        f"{INVALID}ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is "
        "PROVISIONED",
        id="provisioned-without-units",
    ),
    pytest.param(
        request(BillingMode=None),
        f"{INVALID}ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is "
        "PROVISIONED",
        id="no-mode-and-no-units",
    ),
    pytest.param(
        request(BillingMode=None, ProvisionedThroughput={**UNITS, "ReadCapacityUnits": 1_000_000_000_001}),
        "Given value 1000000000001 for ReadCapacityUnits is out of bounds",
        id="too-many-read-units",
    ),
    pytest.param(
        request(BillingMode=None, ProvisionedThroughput={**UNITS, "WriteCapacityUnits": 1_000_000_000_001}),
        "Given value 1000000000001 for WriteCapacityUnits is out of bounds",
        id="too-many-write-units",
    ),
    pytest.param(
        with_indexes(
            BillingMode=None,
            ProvisionedThroughput=UNITS,
            AttributeDefinitions=attributes(pk="S", sk="S", g="S"),
            GlobalSecondaryIndexes=[index("by-g", "g")],
        ),
        f"{INVALID}ProvisionedThroughput is not specified for index: by-g",
        id="provisioned-index-without-units",
    ),
    pytest.param(
        with_indexes(
            AttributeDefinitions=attributes(pk="S", sk="S", g="S"),
            GlobalSecondaryIndexes=[{**index("by-g", "g"), "ProvisionedThroughput": UNITS}],
        ),
        f"{INVALID}ProvisionedThroughput should not be specified for index: by-g when BillingMode is "
        "PAY_PER_REQUEST",
        id="on-demand-index-with-units",
    ),
    pytest.param(
        request(
            BillingMode=None,
            ProvisionedThroughput=UNITS,
            OnDemandThroughput={"MaxReadRequestUnits": 1, "MaxWriteRequestUnits": 1},
        ),
        f"{INVALID}MaxReadRequestUnits for OnDemandThroughput cannot be specified when table BillingMode is "
        "PROVISIONED.",
        id="provisioned-with-on-demand-bounds",
    ),
    pytest.param(
        request(OnDemandThroughput={"MaxReadRequestUnits": 0}),
        f"{INVALID}Requested MaxReadRequestUnits for OnDemandThroughput for table is outside of valid range",
        id="on-demand-bound-of-zero",
    ),
    pytest.param(
        request(OnDemandThroughput={"MaxWriteRequestUnits": -1}),
        f"{INVALID}Requested MaxWriteRequestUnits for OnDemandThroughput for table is outside of valid range",
        id="on-demand-bound-taken-away-at-creation",
    ),
]

BAD_KEYS = [
    pytest.param(
        request(AttributeDefinitions=attributes(pk="S")),
        "Invalid KeySchema: Some index key attribute have no definition",
        id="fewer-definitions-than-keys",
    ),
    pytest.param(
        request(AttributeDefinitions=[]),
        "Invalid KeySchema: Some index key attribute have no definition",
        id="no-definitions",
    ),
    pytest.param(
        request(KeySchema=elements(("pk", "HASH"), ("pk", "RANGE")), AttributeDefinitions=attributes(pk="S")),
        "Invalid KeySchema: Some index key attribute have no definition",
        id="one-attribute-twice-and-defined-once",
    ),
    pytest.param(
        request(KeySchema=elements(("pk", "HASH"), ("pk", "RANGE"))),
        "Both the Hash Key and the Range Key element in the KeySchema have the same name",
        id="one-attribute-twice",
    ),
    pytest.param(
        request(KeySchema=key_schema("PK"), AttributeDefinitions=attributes(pk="S")),
        f"{INVALID}Some index key attributes are not defined in AttributeDefinitions. Keys: [PK], "
        "AttributeDefinitions: [pk]",
        id="another-spelling",
    ),
    pytest.param(
        request(KeySchema=elements(("pk", "RANGE"), ("sk", "HASH"))),
        "Invalid KeySchema: The first KeySchemaElement is not a HASH key type",
        id="sort-key-first",
    ),
    pytest.param(
        request(KeySchema=elements(("pk", "RANGE")), AttributeDefinitions=attributes(pk="S")),
        "Invalid KeySchema: The first KeySchemaElement is not a HASH key type",
        id="sort-key-alone",
    ),
    pytest.param(
        request(KeySchema=elements(("pk", "HASH"), ("sk", "HASH"))),
        "Invalid KeySchema: The second KeySchemaElement is not a RANGE key type",
        id="two-partition-keys",
    ),
    pytest.param(
        request(AttributeDefinitions=[*attributes(pk="S"), *attributes(pk="N")]),
        "Attribute Name is duplicated: pk",
        id="defined-twice",
    ),
    pytest.param(
        request(AttributeDefinitions=attributes(pk="S", sk="S", x="S")),
        f"{INVALID}Number of attributes in KeySchema does not exactly match number of attributes defined in "
        "AttributeDefinitions",
        id="unused-definition",
    ),
    pytest.param(
        request(KeySchema=[*key_schema("pk", "sk"), *elements(("l", "RANGE"))]),
        "1 validation error detected: Value '[KeySchemaElement(attributeName=pk, keyType=HASH), "
        "KeySchemaElement(attributeName=sk, keyType=RANGE), KeySchemaElement(attributeName=l, keyType=RANGE)]' "
        "at 'keySchema' failed to satisfy constraint: Member must have length less than or equal to 2",
        id="three-elements",
    ),
]

BAD_INDEXES = [
    pytest.param(
        request(LocalSecondaryIndexes=[]),
        f"{INVALID}List of LocalSecondaryIndexes is empty",
        id="no-local-index",
    ),
    pytest.param(
        request(GlobalSecondaryIndexes=[]),
        f"{INVALID}List of GlobalSecondaryIndexes is empty",
        id="no-global-index",
    ),
    pytest.param(
        request(GlobalSecondaryIndexes=[index("by-q", "q")]),
        f"{INVALID}Some index key attributes are not defined in AttributeDefinitions. Keys: [q], "
        "AttributeDefinitions: [sk, pk]",
        id="undefined-key",
    ),
    pytest.param(
        # An unused definition is told before anything else that is wrong with an index (DDB-TABLE-127).
        request(
            AttributeDefinitions=attributes(pk="S", sk="S", g="S", x="S"),
            GlobalSecondaryIndexes=[index("by-g", "g", projection="INCLUDE")],
        ),
        f"{INVALID}Some AttributeDefinitions are not used. AttributeDefinitions: [sk, x, pk, g], "
        "keys used: [g, sk, pk]",
        id="unused-definition",
    ),
    pytest.param(
        request(
            KeySchema=key_schema("pk"),
            AttributeDefinitions=attributes(pk="S", l="N"),
            LocalSecondaryIndexes=[index("by-l", "pk", "l")],
        ),
        f"{INVALID}Table KeySchema does not have a range key, which is required when specifying a "
        "LocalSecondaryIndex",
        id="local-without-sort-key-of-the-table",
    ),
    pytest.param(
        request(LocalSecondaryIndexes=[index("by-l", "pk")]),
        f"{INVALID}Index KeySchema does not have a range key for index: by-l",
        id="local-without-sort-key",
    ),
    pytest.param(
        request(LocalSecondaryIndexes=[index("by-l", "sk", "pk")]),
        f"{INVALID}Index KeySchema does not have the same leading hash key as table KeySchema for index: by-l. "
        "index hash key: sk, table hash key: pk",
        id="local-with-another-partition-key",
    ),
    pytest.param(
        request(
            LocalSecondaryIndexes=[
                {
                    "IndexName": "by-l",
                    "KeySchema": elements(("sk", "RANGE"), ("pk", "HASH")),
                    "Projection": ALL,
                }
            ]
        ),
        "Invalid KeySchema: The first KeySchemaElement is not a HASH key type",
        id="local-sort-key-first",
    ),
    pytest.param(
        request(GlobalSecondaryIndexes=[{**index("by-g", "sk"), "KeySchema": elements(("sk", "RANGE"))}]),
        "Invalid KeySchema: The first KeySchemaElement is not a HASH key type",
        id="global-sort-key-alone",
    ),
    pytest.param(
        request(GlobalSecondaryIndexes=[index("by-g", "sk", "sk")]),
        "Both the Hash Key and the Range Key element in the KeySchema have the same name",
        id="global-one-attribute-twice",
    ),
    pytest.param(
        request(GlobalSecondaryIndexes=[{**index("by-g", "sk"), "Projection": {}}]),
        f"{INVALID}Unknown ProjectionType: null",
        id="no-projection-type",
    ),
    pytest.param(
        request(GlobalSecondaryIndexes=[index("by-g", "sk", projection="INCLUDE")]),
        f"{INVALID}ProjectionType is INCLUDE, but NonKeyAttributes is not specified",
        id="include-nothing",
    ),
    pytest.param(
        request(LocalSecondaryIndexes=[index("by-l", "pk", "sk", projection="KEYS_ONLY", include=["x"])]),
        f"{INVALID}ProjectionType is KEYS_ONLY, but NonKeyAttributes is specified",
        id="keys-only-and-more",
    ),
    pytest.param(
        request(GlobalSecondaryIndexes=[index("by-g", "sk", include=["x"])]),
        f"{INVALID}ProjectionType is ALL, but NonKeyAttributes is specified",
        id="all-and-more",
    ),
    pytest.param(
        request(GlobalSecondaryIndexes=[index("by-g", "sk", projection="INCLUDE", include=["x", "y", "x"])]),
        f"{INVALID}Duplicate element in NonKeyAttributes: x",
        id="projected-twice",
    ),
    pytest.param(
        request(GlobalSecondaryIndexes=[index("dup", "sk"), index("dup", "pk")]),
        f"{INVALID}Duplicate index name: dup",
        id="two-global-of-one-name",
    ),
    pytest.param(
        request(
            LocalSecondaryIndexes=[index("dup", "pk", "sk")], GlobalSecondaryIndexes=[index("dup", "sk")]
        ),
        f"{INVALID}Duplicate index name: dup",
        id="a-local-and-a-global-of-one-name",
    ),
    pytest.param(
        request(LocalSecondaryIndexes=[index(f"by-{number}", "pk", "sk") for number in range(6)]),
        f"{INVALID}Number of LocalSecondaryIndexes exceeds per-table limit of 5",
        id="six-local",
    ),
    pytest.param(
        request(GlobalSecondaryIndexes=[index(f"by-{number}", "sk") for number in range(21)]),
        f"{INVALID}GlobalSecondaryIndex count exceeds the per-table limit of 20",
        id="twenty-one-global",
    ),
]

BAD_SETTINGS = [
    pytest.param(
        request(StreamSpecification={"StreamEnabled": True}),
        f"{INVALID}Table is being created with a stream enabled, UpdateViewType is required",
        id="stream-without-view",
    ),
    pytest.param(
        request(StreamSpecification={"StreamEnabled": False, "StreamViewType": "KEYS_ONLY"}),
        f"{INVALID}Table is being created with a stream disabled, UpdateViewType should not be specified",
        id="no-stream-but-a-view",
    ),
    pytest.param(
        request(SSESpecification={"Enabled": False, "SSEType": "KMS"}),
        f"{INVALID}SSEType can not be specified if Enabled is false",
        id="no-encryption-but-a-type",
    ),
    pytest.param(
        request(SSESpecification={"Enabled": False, "KMSMasterKeyId": "alias/mine"}),
        f"{INVALID}KMSMasterKeyId can not be specified if Enabled is false",
        id="no-encryption-but-a-key",
    ),
    pytest.param(
        request(SSESpecification={"Enabled": True, "KMSMasterKeyId": "alias/mine"}),
        f"{INVALID}SSEType KMS is required if KMSMasterKeyId is specified",
        id="a-key-without-a-type",
    ),
    pytest.param(
        request(SSESpecification={"Enabled": True, "SSEType": "AES256"}),
        f"{INVALID}SSEType AES256 is not supported",
        id="aes256",
    ),
]


@pytest.mark.parametrize(("given", "message"), [*BAD_BILLING, *BAD_KEYS, *BAD_INDEXES, *BAD_SETTINGS])
def test_a_wrong_request_is_refused_in_the_words_of_aws(
    calm_db: Database, given: dict[str, Any], message: str
) -> None:
    assert refusal(calm_db, "create_table", **given) == invalid(message)
    assert calm_db.list_tables()["TableNames"] == []


def test_twice_as_many_indexes_are_refused_with_twice_the_work(db: Database) -> None:
    def asking(count: int) -> int:
        indexes = [index(f"by-{number}", "g") for number in range(count)]
        asked = with_indexes(
            AttributeDefinitions=attributes(pk="S", sk="S", g="S"), GlobalSecondaryIndexes=indexes
        )
        return calls_of(lambda: refusal(db, "create_table", **asked))

    assert asking(800) < 2.2 * asking(400)
