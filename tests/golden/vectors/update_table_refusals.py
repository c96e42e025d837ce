"""UpdateTable: what it refuses because of the table as it stands."""

from __future__ import annotations

from golden.vectors.changed_tables import (
    ACK,
    BARE,
    BOUGHT,
    FULL,
    GUIDE,
    INVALID,
    KEY_ARN,
    KEYED,
    PAID,
    STREAM,
    STREAMED,
    index_update,
    limit,
    new_index,
    refused,
    units,
)
from golden.vectors.vector import Refusal
from support.sample_tables import attributes, index


def will_not_change(what: str, where: str, read: int, write: int) -> str:
    return (
        f"The provisioned throughput for {what} will not change. The requested value equals the current value. "
        f"Current ReadCapacityUnits provisioned for {where}: {read}. Requested ReadCapacityUnits: {read}. "
        f"Current WriteCapacityUnits provisioned for {where}: {write}. Requested WriteCapacityUnits: {write}. "
        f"{GUIDE}"
    )


ONE_AT_A_TIME = limit(
    "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table"
)
SCYLLA = "ScyllaDB, test_gsi_updatetable.py, test_gsi_key_type_conflict_on_update, run against the service"
SCYLLA_ORDER = "ScyllaDB, test_gsi_updatetable.py, test_gsi_updatetable_errors, run against the service"
DEFINED = (
    "API reference, UpdateTable: AttributeDefinitions must include the key elements of the new index; "
    "github.com/nubo-db/dynoxide/issues/144: AWS refuses it (eu-west-2, July 2026)"
)
REFUSED_BY_TABLES = [
    refused(
        "an_index_by_a_key_that_only_the_table_defines",
        PAID,
        {
            "AttributeDefinitions": attributes(x="S"),
            "GlobalSecondaryIndexUpdates": [{"Create": index("by-pk", "pk")}],
        },
        f"{INVALID}Some index key attributes are not defined in AttributeDefinitions. Keys: [pk], "
        "AttributeDefinitions: [x]",
        DEFINED,
    ),
    refused(
        "an_index_by_two_keys_of_which_the_table_defines_one",
        PAID,
        {
            "AttributeDefinitions": attributes(x="S"),
            "GlobalSecondaryIndexUpdates": [{"Create": index("by-x", "x", "pk")}],
        },
        "Invalid KeySchema: Some index key attribute have no definition",
        DEFINED,
    ),
    *(
        refused(
            f"an_index_with_another_type_for_{name}",
            BOUGHT | {"TableName": "Typed"},
            {
                "AttributeDefinitions": attributes(**types),
                "GlobalSecondaryIndexUpdates": [
                    {"Create": {**index("by-x", *types), "ProvisionedThroughput": units(1, 1)}}
                ],
            },
            f"{INVALID}Attributes cannot be redefined. Please check that your attribute has the same type as "
            f"previously defined. Existing schema: Schema:[{old}] New schema: Schema:[{new}]",
            SCYLLA,
        )
        for name, types, old, new in (
            (
                "the_key_of_an_index",
                {"g": "N"},
                "SchemaElement: key{g:S:HASH}",
                "SchemaElement: key{g:N:HASH}",
            ),
            (
                "the_sort_key_of_a_local_index",
                {"x": "S", "l": "S"},
                "SchemaElement: key{pk:S:HASH}, SchemaElement: key{l:N:RANGE}",
                "SchemaElement: key{x:S:HASH}, SchemaElement: key{l:S:RANGE}",
            ),
            (
                "a_key_of_the_table",
                {"sk": "B"},
                "SchemaElement: key{pk:S:HASH}, SchemaElement: key{sk:S:RANGE}",
                "SchemaElement: key{sk:B:HASH}",
            ),
        )
    ),
    refused(
        "the_same_units",
        BOUGHT,
        {"ProvisionedThroughput": units(5, 6)},
        will_not_change("the table", "the table", 5, 6),
        f"{ACK}DDB-TABLE-057; dynalite, test/updateTable.js",
    ),
    refused(
        "the_same_units_and_mode",
        BOUGHT,
        {"BillingMode": "PROVISIONED", "ProvisionedThroughput": units(5, 6)},
        will_not_change("the table", "the table", 5, 6),
        f"{ACK}DDB-TABLE-057",
    ),
    refused(
        "the_same_units_of_an_index",
        BOUGHT,
        index_update(ProvisionedThroughput=units(1, 2)),
        will_not_change("the index by-g", "index by-g", 1, 2),
        f"{ACK}DDB-TABLE-164",
    ),
    refused(
        "units_of_a_table_that_is_paid_per_request",
        PAID,
        {"ProvisionedThroughput": units(1, 1)},
        f"{INVALID}Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is "
        "PAY_PER_REQUEST",
        f"{ACK}DDB-TABLE-056, 059",
    ),
    refused(
        "units_of_an_index_that_is_paid_per_request",
        PAID,
        index_update(ProvisionedThroughput=units(1, 1)),
        f"{INVALID}The only Updates for index: by-g when TableThroughputMode is PAY_PER_REQUEST can be to "
        "OnDemandThroughput, WarmThroughput",
        f"{ACK}DDB-TABLE-152",
    ),
    *(
        refused(
            f"an_update_of_an_index_with_{name}",
            PAID,
            change,
            f"{INVALID}The only Updates for index: by-g when TableThroughputMode is PAY_PER_REQUEST can be to "
            "OnDemandThroughput, WarmThroughput",
            f"{ACK}DDB-TABLE-456, 457",
        )
        for name, change in {
            "nothing": index_update(),
            "empty_bounds": index_update(OnDemandThroughput={}),
        }.items()
    ),
    refused(
        "provisioned_without_units_for_an_index",
        PAID,
        {"BillingMode": "PROVISIONED", "ProvisionedThroughput": units(1, 1)},
        f"{INVALID}ProvisionedThroughput must be specified for index: by-g",
        f"{ACK}DDB-TABLE-152; dynalite, test/updateTable.js",
    ),
    refused(
        "bounds_of_a_provisioned_table",
        BOUGHT,
        {"OnDemandThroughput": {"MaxReadRequestUnits": 1}},
        f"{INVALID}MaxReadRequestUnits for OnDemandThroughput cannot be specified when the table BillingMode is "
        "PROVISIONED",
        f"{ACK}DDB-TABLE-059, 153",
    ),
    refused(
        "bounds_of_a_provisioned_index",
        BOUGHT,
        index_update(OnDemandThroughput={"MaxReadRequestUnits": 1}),
        f"{INVALID}MaxReadRequestUnits for OnDemandThroughput for index : by-g cannot be specified when the table "
        "BillingMode is PROVISIONED",
        f"{ACK}DDB-TABLE-153, 442",
    ),
    refused(
        "less_warm_throughput",
        BARE,
        {"WarmThroughput": {"ReadUnitsPerSecond": 11_999}},
        f"{INVALID}Requested ReadUnitsPerSecond for WarmThroughput for table is lower than current "
        "WarmThroughput, decreasing WarmThroughput is not supported",
        f"{ACK}DDB-TABLE-179, 457",
    ),
    refused(
        "less_warm_throughput_than_a_table_once_had_units",
        BOUGHT,
        {"WarmThroughput": {"ReadUnitsPerSecond": 4, "WriteUnitsPerSecond": 6}},
        f"{INVALID}Requested ReadUnitsPerSecond for WarmThroughput for table is lower than current "
        "WarmThroughput, decreasing WarmThroughput is not supported",
        f"{ACK}DDB-TABLE-061: it does not fall with the units",
        before=[("UpdateTable", {"TableName": "Bought", "ProvisionedThroughput": units(1, 1)})],
    ),
    refused(
        "less_warm_throughput_of_an_index",
        PAID,
        index_update(WarmThroughput={"ReadUnitsPerSecond": 100, "WriteUnitsPerSecond": 100}),
        f"{INVALID}Requested ReadUnitsPerSecond for WarmThroughput for index by-g is lower than current "
        "WarmThroughput, decreasing WarmThroughput is not supported",
        f"{ACK}DDB-TABLE-155",
    ),
    refused(
        "more_units_than_an_account_allows",
        BOUGHT,
        {"ProvisionedThroughput": units(40_001, 6)},
        limit(
            "The requested ReadCapacityUnits, 40001, is above the per table maximum for the account in us-east-1. "
            f"Per table maximum: 40000. {GUIDE}"
        ),
        f"{ACK}DDB-TABLE-170",
    ),
    refused(
        "a_bound_above_the_quota_of_an_index",
        PAID,
        index_update(OnDemandThroughput={"MaxReadRequestUnits": 40_001}),
        limit(
            "Subscriber limit exceeded: Requested MaxReadRequestUnits for OnDemandThroughput for index : by-g "
            "exceeds TableMaxReadCapacityUnits of the account in region us-east-1"
        ),
        f"{ACK}DDB-TABLE-154",
    ),
    refused(
        "warm_throughput_above_the_quota_of_an_index",
        PAID,
        index_update(WarmThroughput={"ReadUnitsPerSecond": 40_001}),
        limit(
            "Subscriber limit exceeded: Requested ReadUnitsPerSecond for WarmThroughput for index by-g exceeds "
            "TableMaxReadCapacityUnits of the account in region us-east-1"
        ),
        f"{ACK}DDB-TABLE-154",
    ),
    refused(
        "a_stream_that_is_on",
        STREAMED,
        {"StreamSpecification": STREAM},
        "Table already has an enabled stream: TableName: Streamed",
        f"{ACK}DDB-TABLE-050",
    ),
    refused(
        "another_view_of_a_stream_that_is_on",
        STREAMED,
        {"StreamSpecification": {"StreamEnabled": True, "StreamViewType": "OLD_IMAGE"}},
        "Table already has an enabled stream: TableName: Streamed",
        f"{ACK}DDB-TABLE-050",
    ),
    refused(
        "a_stream_that_is_off",
        BARE,
        {"StreamSpecification": {"StreamEnabled": False}},
        "Table has no stream to disable: TableName: Bare",
        f"{ACK}DDB-TABLE-050",
    ),
    *(
        refused(
            f"encryption_by_default_asked_for_as_{name}",
            BARE,
            {"SSESpecification": given},
            f"{INVALID}Table is already encrypted by default",
            f"{ACK}DDB-TABLE-047, 437",
        )
        for name, given in {"nothing": {}, "false": {"Enabled": False}}.items()
    ),
    refused(
        "the_key_that_a_table_has",
        KEYED,
        {"SSESpecification": {"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": KEY_ARN}},
        f"{INVALID}Table is already encrypted with given KMSMasterKeyId. Use KMSMasterKeyId parameter if you want "
        "to change Master Key",
        f"{ACK}DDB-TABLE-082",
    ),
    refused(
        "a_new_index_with_units_of_a_table_that_is_paid_per_request",
        PAID,
        new_index("by-x", ProvisionedThroughput=units(1, 1)),
        f"{INVALID}Neither ReadCapacityUnits nor WriteCapacityUnits can be specified for index: by-x when "
        "BillingMode is PAY_PER_REQUEST",
        f"{ACK}DDB-TABLE-442",
    ),
    refused(
        "a_new_index_without_units_of_a_provisioned_table",
        BOUGHT,
        new_index("by-x"),
        f"{INVALID}Both ReadCapacityUnits and WriteCapacityUnits must be specified for index: by-x",
        f"{ACK}DDB-TABLE-152",
    ),
    refused(
        "an_index_that_is_there",
        PAID,
        new_index("by-g"),
        "Attempting to create an index which already exists",
        f"{ACK}DDB-TABLE-442",
    ),
    *(
        refused(
            name, PAID, {"AttributeDefinitions": attributes(x="S"), **change}, ONE_AT_A_TIME, SCYLLA_ORDER
        )
        for name, change in {
            "two_deletions_of_indexes_that_are_not_there": {
                "GlobalSecondaryIndexUpdates": [
                    {"Delete": {"IndexName": "ghost-1"}},
                    {"Delete": {"IndexName": "ghost-2"}},
                ]
            },
            "a_new_index_and_the_end_of_one_that_is_not_there": {
                "GlobalSecondaryIndexUpdates": [
                    {"Create": index("by-x", "x")},
                    {"Delete": {"IndexName": "ghost"}},
                ]
            },
            "two_new_indexes_of_which_one_is_there": new_index("by-g", "by-x"),
        }.items()
    ),
    refused("two_new_indexes", PAID, new_index("by-x", "by-y"), ONE_AT_A_TIME, f"{ACK}DDB-TABLE-159"),
    refused(
        "a_new_index_and_the_end_of_another",
        PAID,
        {
            "AttributeDefinitions": attributes(x="S"),
            "GlobalSecondaryIndexUpdates": [
                {"Create": index("by-x", "x")},
                {"Delete": {"IndexName": "by-g"}},
            ],
        },
        ONE_AT_A_TIME,
        f"{ACK}DDB-TABLE-159, 174",
    ),
    refused(
        "the_twenty_first_index",
        FULL,
        new_index("one-more"),
        limit("Subscriber limit exceeded: Number of global secondary indexes exceeds per-table limit of 20"),
        f"{ACK}DDB-TABLE-169",
    ),
    *(
        refused(
            f"{name}_of_an_index_that_is_not_there",
            PAID,
            change,
            Refusal("ResourceNotFoundException", "Requested resource not found: Index ghost for table Paid"),
            f"{ACK}DDB-TABLE-161, 446",
        )
        for name, change in {
            "an_update": index_update("ghost", OnDemandThroughput={"MaxReadRequestUnits": 1}),
            "a_deletion": {"GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "ghost"}}]},
        }.items()
    ),
    refused(
        "an_update_of_a_local_index",
        BOUGHT,
        index_update("by-l", ProvisionedThroughput=units(1, 1)),
        "Cannot update an index that is not a GlobalSecondaryIndex: by-l",
        f"{ACK}DDB-TABLE-442",
    ),
    refused(
        "a_deletion_of_a_local_index",
        BOUGHT,
        {"GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "by-l"}}]},
        "Cannot delete an index that is not a GlobalSecondaryIndex: by-l",
        f"{ACK}DDB-TABLE-442",
    ),
]

VECTORS = [*REFUSED_BY_TABLES]
