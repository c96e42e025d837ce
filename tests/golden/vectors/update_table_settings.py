"""UpdateTable: streams, protection, class, encryption and indexes."""

from __future__ import annotations

from golden.vectors.changed_tables import (
    ACK,
    BARE,
    BOUGHT,
    KEY_ARN,
    KEYED,
    PAID,
    STREAM,
    STREAMED,
    capacity,
    changed,
    new_index,
    units,
)
from golden.vectors.matching import anything, including, matching, without
from support.sample_tables import attributes, index

OTHERS = [
    changed(
        "a_stream_is_turned_on",
        BARE,
        {"StreamSpecification": STREAM},
        {
            "TableStatus": "UPDATING",
            "StreamSpecification": STREAM,
            "LatestStreamArn": matching(r"arn:aws:dynamodb:.*:table/Bare/stream/.*"),
            "LatestStreamLabel": anything,
        },
        {"TableStatus": "ACTIVE", "StreamSpecification": STREAM},
        f"{ACK}DDB-TABLE-180",
    ),
    changed(
        "a_stream_is_turned_off",
        STREAMED,
        {"StreamSpecification": {"StreamEnabled": False}},
        without("StreamSpecification"),
        {"LatestStreamArn": matching(r"arn:aws:dynamodb:.*:table/Streamed/stream/.*")},
        f"{ACK}DDB-TABLE-050, 180: the newest label stays",
    ),
    changed(
        "a_stream_and_paid_per_request_together",
        BOUGHT,
        {"BillingMode": "PAY_PER_REQUEST", "StreamSpecification": STREAM},
        {"TableStatus": "UPDATING"},
        {"StreamSpecification": STREAM, "BillingModeSummary": including({"BillingMode": "PAY_PER_REQUEST"})},
        f"{ACK}DDB-TABLE-433: accepted, both applied",
    ),
    changed(
        "protection_is_there_at_once",
        BARE,
        {"DeletionProtectionEnabled": True},
        {"TableStatus": "ACTIVE", "DeletionProtectionEnabled": True},
        {"DeletionProtectionEnabled": True},
        f"{ACK}DDB-TABLE-017",
    ),
    changed(
        "the_class_of_a_table",
        BARE,
        {"TableClass": "STANDARD_INFREQUENT_ACCESS"},
        without("TableClassSummary"),
        {
            "TableStatus": "ACTIVE",
            "TableClassSummary": {
                "TableClass": "STANDARD_INFREQUENT_ACCESS",
                "LastUpdateDateTime": anything,
            },
        },
        f"{ACK}DDB-TABLE-180, 284: the answer has what was before",
    ),
    changed(
        "the_class_that_a_table_has",
        BARE,
        {"TableClass": "STANDARD"},
        {"TableStatus": "UPDATING"},
        without("TableClassSummary"),
        f"{ACK}DDB-TABLE-018, 365: a no-op that leaves TableClassSummary absent",
    ),
    changed(
        "encryption_is_turned_on",
        BARE,
        {"SSESpecification": {"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": KEY_ARN}},
        {"TableStatus": "ACTIVE", "SSEDescription": {"Status": "UPDATING"}},
        {"SSEDescription": {"Status": "ENABLED", "SSEType": "KMS", "KMSMasterKeyArn": KEY_ARN}},
        f"{ACK}DDB-TABLE-140: the answer to Enabled:true of a table that had no key",
    ),
    changed(
        "encryption_is_turned_off",
        KEYED,
        {"SSESpecification": {"Enabled": False}},
        {
            "TableStatus": "ACTIVE",
            "SSEDescription": {"Status": "UPDATING", "SSEType": "KMS", "KMSMasterKeyArn": KEY_ARN},
        },
        without("SSEDescription"),
        f"{ACK}DDB-TABLE-079, 140",
    ),
    changed(
        "definitions_beside_another_change_mean_nothing",
        BARE,
        {"AttributeDefinitions": attributes(pk="N", x="S"), "DeletionProtectionEnabled": False},
        {"TableStatus": "ACTIVE"},
        {"AttributeDefinitions": attributes(pk="S")},
        f"{ACK}DDB-TABLE-162, 358; github.com/paritysuite/dynamodb-conformance/issues/78: eu-west-2, July 2026",
    ),
    changed(
        "a_table_named_by_its_arn",
        {**BARE},
        {
            "TableName": "arn:aws:dynamodb:us-east-1:000000000000:table/Bare",
            "DeletionProtectionEnabled": False,
        },
        {"TableName": "Bare"},
        {"DeletionProtectionEnabled": False},
        f"{ACK}DDB-TABLE-011",
    ),
]

INDEXES = [
    changed(
        "a_new_index",
        BARE,
        new_index("by-x"),
        {
            "TableStatus": "UPDATING",
            "AttributeDefinitions": attributes(pk="S", x="S"),
            "GlobalSecondaryIndexes": [
                including(
                    {
                        "IndexName": "by-x",
                        "IndexStatus": "CREATING",
                        "Backfilling": False,
                        "IndexSizeBytes": 0,
                        "ItemCount": 0,
                        "ProvisionedThroughput": capacity(0, 0),
                    }
                )
            ],
        },
        {
            "AttributeDefinitions": attributes(pk="S", x="S"),
            "GlobalSecondaryIndexes": [including({"IndexName": "by-x"})],
        },
        f"{ACK}DDB-TABLE-148, 162, 165: the new attribute alone is enough",
    ),
    changed(
        "a_new_index_with_settings_of_its_own",
        BARE,
        new_index(
            "by-x",
            WarmThroughput={"ReadUnitsPerSecond": 12_500, "WriteUnitsPerSecond": 4_500},
            OnDemandThroughput={"MaxReadRequestUnits": 7, "MaxWriteRequestUnits": 8},
            Projection={"ProjectionType": "INCLUDE", "NonKeyAttributes": ["b", "a"]},
        ),
        {"TableStatus": "UPDATING"},
        {
            "GlobalSecondaryIndexes": [
                including(
                    {
                        "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["a", "b"]},
                        "OnDemandThroughput": {"MaxReadRequestUnits": 7, "MaxWriteRequestUnits": 8},
                    }
                )
            ]
        },
        "AWS API reference, CreateGlobalSecondaryIndexAction",
    ),
    changed(
        "a_new_index_and_units_of_another",
        BOUGHT,
        {
            "AttributeDefinitions": attributes(x="S"),
            "GlobalSecondaryIndexUpdates": [
                {"Create": {**index("by-x", "x"), "ProvisionedThroughput": units(1, 1)}},
                {"Update": {"IndexName": "by-g", "ProvisionedThroughput": units(2, 2)}},
            ],
        },
        {"TableStatus": "UPDATING"},
        {
            "GlobalSecondaryIndexes": [
                including(
                    {
                        "IndexName": "by-g",
                        "ProvisionedThroughput": capacity(2, 2, LastIncreaseDateTime=anything),
                    }
                ),
                including({"IndexName": "by-x", "ProvisionedThroughput": capacity(1, 1)}),
            ]
        },
        f"{ACK}DDB-TABLE-174: accepted, both applied",
    ),
    changed(
        "a_new_index_and_paid_per_request_together",
        BOUGHT,
        {**new_index("by-x"), "BillingMode": "PAY_PER_REQUEST"},
        {"TableStatus": "UPDATING"},
        {"BillingModeSummary": including({"BillingMode": "PAY_PER_REQUEST"})},
        f"{ACK}DDB-TABLE-174: accepted, both applied",
    ),
    changed(
        "an_index_is_deleted_with_what_only_it_used",
        PAID,
        {"GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "by-g"}}]},
        {
            "TableStatus": "UPDATING",
            "AttributeDefinitions": attributes(g="S", pk="S", sk="S"),
            "GlobalSecondaryIndexes": [including({"IndexName": "by-g", "IndexStatus": "DELETING"})],
        },
        {"AttributeDefinitions": attributes(pk="S", sk="S")},
        f"{ACK}DDB-TABLE-148, 149, 151: definitions are pruned once the index is gone",
    ),
    changed(
        "an_index_of_a_protected_table_is_deleted",
        {**PAID, "DeletionProtectionEnabled": True},
        {"GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "by-g"}}]},
        {"TableStatus": "UPDATING"},
        without("GlobalSecondaryIndexes"),
        f"{ACK}DDB-TABLE-166: protection is for the table alone",
    ),
]

VECTORS = [*OTHERS, *INDEXES]
