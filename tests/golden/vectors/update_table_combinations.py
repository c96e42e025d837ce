"""UpdateTable: what it refuses before it looks at the table."""

from __future__ import annotations

from golden.vectors.changed_tables import (
    ACK,
    AT_LEAST_ONE,
    INVALID,
    STREAM,
    combined,
    index_update,
    new_index,
    units,
)
from golden.vectors.vector import Refusal, Vector
from support.sample_tables import attributes, index


def alone(what: str) -> str:
    return f"{INVALID}{what} must be the only operation in the request"


NEW_X = new_index("by-x")
SSE = {"SSESpecification": {"Enabled": True}}
PROTECTED = {"DeletionProtectionEnabled": True}
WARMER = {"WarmThroughput": {"ReadUnitsPerSecond": 13_000}}
BOUNDS = {"OnDemandThroughput": {"MaxReadRequestUnits": 1}}
STANDARD = {"TableClass": "STANDARD"}

COMBINATIONS = [
    combined("nothing_at_all", {}, AT_LEAST_ONE, f"{ACK}DDB-TABLE-015"),
    combined(
        "definitions_alone",
        {"AttributeDefinitions": attributes(pk="S")},
        AT_LEAST_ONE,
        f"{ACK}DDB-TABLE-047, 162",
    ),
    combined(
        "an_empty_list_of_index_updates",
        {"GlobalSecondaryIndexUpdates": []},
        AT_LEAST_ONE,
        f"{ACK}DDB-TABLE-015, 359",
    ),
    combined(
        "an_empty_list_of_index_updates_and_something_else",
        {"GlobalSecondaryIndexUpdates": [], **PROTECTED},
        f"{INVALID}List of GlobalSecondaryIndexUpdates is empty",
        f"{ACK}DDB-TABLE-359",
    ),
    combined(
        "encryption_and_protection",
        {**SSE, **PROTECTED},
        alone("Server-Side Encryption modification"),
        f"{ACK}DDB-TABLE-433: SSE > TableClass > DeletionProtection > WarmThroughput",
    ),
    combined(
        "class_and_encryption",
        {**STANDARD, **SSE},
        alone("Server-Side Encryption modification"),
        f"{ACK}DDB-TABLE-433",
    ),
    combined(
        "class_and_protection",
        {**STANDARD, **PROTECTED},
        alone("TableClass modification"),
        f"{ACK}DDB-TABLE-433",
    ),
    combined(
        "protection_and_billing",
        {**PROTECTED, "BillingMode": "PAY_PER_REQUEST"},
        alone("DeletionProtection modification"),
        f"{ACK}DDB-TABLE-156, 433",
    ),
    combined(
        "warm_throughput_and_protection",
        {**WARMER, **PROTECTED},
        alone("DeletionProtection modification"),
        f"{ACK}DDB-TABLE-433",
    ),
    combined(
        "warm_throughput_and_a_stream",
        {**WARMER, "StreamSpecification": STREAM},
        alone("WarmThroughput"),
        f"{ACK}DDB-TABLE-433",
    ),
    combined(
        "warm_throughput_and_a_new_index",
        {**WARMER, **NEW_X},
        f"{INVALID}Create global secondary index cannot be specified when updating WarmThroughput",
        f"{ACK}DDB-TABLE-174",
    ),
    combined(
        "bounds_and_a_stream",
        {**BOUNDS, "StreamSpecification": STREAM},
        f"{INVALID}OnDemandThroughput can only be combined with BillingMode in an UpdateTable request",
        f"{ACK}DDB-TABLE-433",
    ),
    combined(
        "a_stream_and_units",
        {"StreamSpecification": STREAM, "ProvisionedThroughput": units(1, 1)},
        f"{INVALID}You cannot modify stream status while updating table IOPS",
        f"{ACK}DDB-TABLE-382, 433",
    ),
    combined(
        "a_new_index_and_units",
        {**NEW_X, "ProvisionedThroughput": units(1, 1)},
        f"{INVALID}You cannot create or delete index while updating table IOPS",
        f"{ACK}DDB-TABLE-174",
    ),
    combined(
        "a_new_index_and_a_stream",
        {**NEW_X, "StreamSpecification": STREAM},
        f"{INVALID}You cannot create or delete index while changing stream status",
        f"{ACK}DDB-TABLE-174",
    ),
    combined(
        "provisioned_without_units",
        {"BillingMode": "PROVISIONED"},
        f"{INVALID}ProvisionedThroughput must be specified when BillingMode is PROVISIONED",
        f"{ACK}DDB-TABLE-056, 057",
    ),
    combined(
        "paid_per_request_with_units",
        {"BillingMode": "PAY_PER_REQUEST", "ProvisionedThroughput": units(1, 1)},
        f"{INVALID}ProvisionedThroughput cannot be specified when BillingMode is PAY_PER_REQUEST",
        f"{ACK}DDB-TABLE-056",
    ),
    combined(
        "no_units_at_all",
        {"ProvisionedThroughput": units(0, 0)},
        "2 validation errors detected: Value '0' at 'provisionedThroughput.writeCapacityUnits' failed to satisfy "
        "constraint: Member must have value greater than or equal to 1; Value '0' at "
        "'provisionedThroughput.readCapacityUnits' failed to satisfy constraint: Member must have value greater "
        "than or equal to 1",
        f"{ACK}DDB-TABLE-058, 070: before the table is looked up",
    ),
    combined(
        "a_stream_without_a_view",
        {"StreamSpecification": {"StreamEnabled": True}},
        f"{INVALID}If stream is being enabled then UpdateViewType is required",
        f"{ACK}DDB-TABLE-050",
    ),
    combined(
        "no_stream_but_a_view",
        {"StreamSpecification": {"StreamEnabled": False, "StreamViewType": "KEYS_ONLY"}},
        f"{INVALID}If stream is being disabled, then UpdateViewType must not be specified",
        f"{ACK}DDB-TABLE-050",
    ),
    combined(
        "a_stream_that_is_neither_on_nor_off",
        {"StreamSpecification": {}},
        "1 validation error detected: Value null at 'streamSpecification.streamEnabled' failed to satisfy "
        "constraint: Member must not be null",
        f"{ACK}DDB-TABLE-437",
    ),
    *(
        combined(
            f"a_bound_of_{name}",
            {"OnDemandThroughput": {"MaxReadRequestUnits": bound}},
            f"{INVALID}Requested MaxReadRequestUnits for OnDemandThroughput for table is outside of valid range",
            f"{ACK}DDB-TABLE-051",
        )
        for name, bound in {"zero": 0, "minus_two": -2}.items()
    ),
    combined(
        "a_class_that_there_is_not",
        {"TableClass": "GLACIER"},
        "Invalid table-class parameter provided. Please try again with a valid table-class value: "
        "[STANDARD, STANDARD_INFREQUENT_ACCESS].",
        f"{ACK}DDB-TABLE-442",
    ),
    combined(
        "no_encryption_but_a_type",
        {"SSESpecification": {"Enabled": False, "SSEType": "KMS"}},
        f"{INVALID}SSEType can not be specified if Enabled is false",
        f"{ACK}DDB-TABLE-437",
    ),
    combined(
        "an_index_update_of_nothing",
        {"GlobalSecondaryIndexUpdates": [{}]},
        f"{INVALID}One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, "
        "GlobalSecondaryIndexUpdate.Delete must not be null",
        f"{ACK}DDB-TABLE-160; dynalite, test/updateTable.js",
    ),
    combined(
        "two_actions_in_one",
        {
            "GlobalSecondaryIndexUpdates": [
                {
                    "Delete": {"IndexName": "by-g"},
                    "Update": {"IndexName": "by-g", "ProvisionedThroughput": units(1, 1)},
                }
            ]
        },
        f"{INVALID}Only one global secondary index action is allowed per GlobalSecondaryIndexUpdate object",
        f"{ACK}DDB-TABLE-160",
    ),
    combined(
        "two_actions_on_one_index",
        {
            "GlobalSecondaryIndexUpdates": [
                {"Delete": {"IndexName": "by-g"}},
                {"Create": index("by-g", "g")},
            ],
            "AttributeDefinitions": attributes(g="S"),
        },
        f"{INVALID}Only one global secondary index update per index is allowed simultaneously. Index: by-g",
        f"{ACK}DDB-TABLE-160; dynalite, test/updateTable.js",
    ),
    combined(
        "a_new_index_without_definitions",
        {"GlobalSecondaryIndexUpdates": [{"Create": index("by-x", "x")}]},
        f"{INVALID}AttributeDefinitions is not specified for index: by-x",
        f"{ACK}DDB-TABLE-162",
    ),
    combined(
        "an_index_with_empty_warm_throughput",
        index_update(WarmThroughput={}),
        f"{INVALID}WarmThroughput must have at least one of ReadUnitsPerSecond or WriteUnitsPerSecond specified "
        "for index: by-g",
        f"{ACK}DDB-TABLE-456, 457: before the table is looked up",
    ),
    combined(
        "an_empty_list_of_replicas",
        {"ReplicaUpdates": []},
        "1 validation error detected: Value '[]' at 'replicaUpdates' failed to satisfy constraint: "
        "Member must have length greater than or equal to 1",
        f"{ACK}DDB-TABLE-437",
    ),
    Vector(
        "a_change_of_a_missing_table",
        operation="UpdateTable",
        request={"TableName": "Missing", "DeletionProtectionEnabled": True},
        error=Refusal("ResourceNotFoundException", "Requested resource not found: Table: Missing not found"),
        evidence=f"{ACK}DDB-TABLE-070",
    ),
]

VECTORS = [*COMBINATIONS]
