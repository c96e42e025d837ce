"""UpdateTable: billing and throughput, and what its answer says meanwhile."""

from __future__ import annotations

from golden.vectors.changed_tables import (
    ACK,
    BARE,
    BOUGHT,
    PAID,
    capacity,
    changed,
    index_update,
    units,
    warm,
)
from golden.vectors.matching import anything, including, without

THROUGHPUT = [
    changed(
        "more_units",
        BOUGHT,
        {"ProvisionedThroughput": units(7, 8)},
        {
            "TableStatus": "UPDATING",
            "ProvisionedThroughput": capacity(5, 6, LastIncreaseDateTime=anything),
            "WarmThroughput": warm(5, 6),
        },
        {
            "TableStatus": "ACTIVE",
            "ProvisionedThroughput": capacity(7, 8, LastIncreaseDateTime=anything),
            "WarmThroughput": warm(7, 8),
        },
        f"{ACK}DDB-TABLE-060, 061: the answer has the old units and the new time",
    ),
    changed(
        "fewer_units_of_both_kinds_count_once",
        BOUGHT,
        {"ProvisionedThroughput": units(4, 3)},
        {"ProvisionedThroughput": capacity(5, 6, LastDecreaseDateTime=anything)},
        {
            "ProvisionedThroughput": capacity(4, 3, decreases=1, LastDecreaseDateTime=anything),
            "WarmThroughput": warm(5, 6),
        },
        f"{ACK}DDB-TABLE-061, 184: the answer has the old count; warm throughput does not fall",
    ),
    changed(
        "fewer_units_of_one_kind_and_more_of_the_other_are_a_decrease",
        BOUGHT,
        {"ProvisionedThroughput": units(4, 9)},
        {"TableStatus": "UPDATING"},
        {
            "ProvisionedThroughput": capacity(
                4, 9, decreases=1, LastDecreaseDateTime=anything, LastIncreaseDateTime=anything
            ),
            "WarmThroughput": warm(5, 9),
        },
        f"{ACK}DDB-TABLE-157: 40/40 -> 30/60 counts as one decrease",
    ),
    changed(
        "units_of_one_kind_alone_may_change",
        BOUGHT,
        {"BillingMode": "PROVISIONED", "ProvisionedThroughput": units(5, 7)},
        {"TableStatus": "UPDATING"},
        including({"ProvisionedThroughput": capacity(5, 7, LastIncreaseDateTime=anything)}),
        f"{ACK}DDB-TABLE-057, 164",
    ),
    changed(
        "more_units_of_an_index",
        BOUGHT,
        index_update(ProvisionedThroughput=units(3, 2)),
        {
            "TableStatus": "ACTIVE",
            "GlobalSecondaryIndexes": [
                including(
                    {
                        "IndexStatus": "UPDATING",
                        "ProvisionedThroughput": capacity(1, 2, LastIncreaseDateTime=anything),
                    }
                )
            ],
        },
        {
            "ProvisionedThroughput": capacity(5, 6),
            "GlobalSecondaryIndexes": [
                including(
                    {
                        "IndexStatus": "ACTIVE",
                        "ProvisionedThroughput": capacity(3, 2, LastIncreaseDateTime=anything),
                        "WarmThroughput": warm(3, 2),
                    }
                )
            ],
        },
        f"{ACK}DDB-TABLE-148, 165",
    ),
    changed(
        "units_of_a_table_and_of_its_index_together",
        BOUGHT,
        {"ProvisionedThroughput": units(6, 6), **index_update(ProvisionedThroughput=units(2, 2))},
        {"TableStatus": "UPDATING"},
        {
            "ProvisionedThroughput": capacity(6, 6, LastIncreaseDateTime=anything),
            "GlobalSecondaryIndexes": [
                including({"ProvisionedThroughput": capacity(2, 2, LastIncreaseDateTime=anything)})
            ],
        },
        f"{ACK}DDB-TABLE-382: the BillingMode/ProvisionedThroughput/GSI Update family is accepted",
    ),
    changed(
        "from_provisioned_to_paid_per_request",
        BOUGHT,
        {"BillingMode": "PAY_PER_REQUEST"},
        {
            "TableStatus": "UPDATING",
            "BillingModeSummary": {"BillingMode": "PAY_PER_REQUEST"},
            "ProvisionedThroughput": capacity(0, 0, LastDecreaseDateTime=anything),
            "GlobalSecondaryIndexes": [
                including({"IndexStatus": "UPDATING", "ProvisionedThroughput": capacity(0, 0)})
            ],
        },
        {
            "TableStatus": "ACTIVE",
            "BillingModeSummary": {
                "BillingMode": "PAY_PER_REQUEST",
                "LastUpdateToPayPerRequestDateTime": anything,
            },
            "ProvisionedThroughput": capacity(0, 0),
            "WarmThroughput": warm(12_000, 4_000),
            "GlobalSecondaryIndexes": [
                including(
                    {
                        "IndexStatus": "ACTIVE",
                        "ProvisionedThroughput": capacity(0, 0, decreases=1, LastDecreaseDateTime=anything),
                        "WarmThroughput": warm(12_000, 4_000),
                    }
                )
            ],
        },
        f"{ACK}DDB-TABLE-064, 153, 183; dynalite, actions/updateTable.js",
    ),
    changed(
        "from_paid_per_request_to_provisioned",
        PAID,
        {
            "BillingMode": "PROVISIONED",
            "ProvisionedThroughput": units(1, 2),
            **index_update(ProvisionedThroughput=units(3, 4)),
        },
        {
            "TableStatus": "UPDATING",
            "ProvisionedThroughput": including(units(1, 2)),
            "GlobalSecondaryIndexes": [
                including({"IndexStatus": "UPDATING", "ProvisionedThroughput": including(units(3, 4))})
            ],
        },
        {
            "BillingModeSummary": {
                "BillingMode": "PROVISIONED",
                "LastUpdateToPayPerRequestDateTime": anything,
            },
            "ProvisionedThroughput": capacity(1, 2),
            "WarmThroughput": warm(12_000, 4_000),
            "GlobalSecondaryIndexes": [
                including({"ProvisionedThroughput": capacity(3, 4), "WarmThroughput": warm(12_000, 4_000)})
            ],
        },
        f"{ACK}DDB-TABLE-055, 061, 152, 165",
    ),
    changed(
        "paid_per_request_once_more",
        PAID,
        {"BillingMode": "PAY_PER_REQUEST"},
        {"TableStatus": "UPDATING", "GlobalSecondaryIndexes": [including({"IndexStatus": "ACTIVE"})]},
        {"TableStatus": "ACTIVE"},
        f"{ACK}DDB-TABLE-156, 375: 200, and nothing happens",
    ),
    changed(
        "a_change_to_provisioned_drops_the_bounds",
        BARE,
        {"BillingMode": "PROVISIONED", "ProvisionedThroughput": units(1, 1)},
        {"TableStatus": "UPDATING"},
        without("OnDemandThroughput"),
        f"{ACK}DDB-TABLE-153",
        before=[("UpdateTable", {"TableName": "Bare", "OnDemandThroughput": {"MaxReadRequestUnits": 9}})],
    ),
    changed(
        "bounds_are_merged_and_minus_one_takes_one_away",
        BARE,
        {"OnDemandThroughput": {"MaxReadRequestUnits": -1}},
        {
            "TableStatus": "ACTIVE",
            "OnDemandThroughput": {"MaxReadRequestUnits": -1, "MaxWriteRequestUnits": 500},
        },
        {"OnDemandThroughput": {"MaxWriteRequestUnits": 500}},
        f"{ACK}DDB-TABLE-182: a2-clear-read",
        before=[
            (
                "UpdateTable",
                {
                    "TableName": "Bare",
                    "OnDemandThroughput": {"MaxReadRequestUnits": 1000, "MaxWriteRequestUnits": 500},
                },
            )
        ],
    ),
    changed(
        "bounds_that_are_not_there_may_be_taken_away",
        BARE,
        {"OnDemandThroughput": {"MaxReadRequestUnits": -1, "MaxWriteRequestUnits": -1}},
        {"OnDemandThroughput": {"MaxReadRequestUnits": -1, "MaxWriteRequestUnits": -1}},
        without("OnDemandThroughput"),
        f"{ACK}DDB-TABLE-182: c3-clear-both-again",
    ),
    changed(
        "bounds_and_paid_per_request_together",
        BOUGHT,
        {"BillingMode": "PAY_PER_REQUEST", "OnDemandThroughput": {"MaxWriteRequestUnits": 9}},
        {"TableStatus": "UPDATING"},
        {"OnDemandThroughput": {"MaxWriteRequestUnits": 9}},
        f"{ACK}DDB-TABLE-433: accepted, both applied",
    ),
    changed(
        "bounds_of_an_index",
        PAID,
        index_update(OnDemandThroughput={"MaxReadRequestUnits": 5000, "MaxWriteRequestUnits": 5000}),
        {"TableStatus": "ACTIVE", "GlobalSecondaryIndexes": [including({"IndexStatus": "UPDATING"})]},
        {
            "GlobalSecondaryIndexes": [
                including(
                    {
                        "IndexStatus": "ACTIVE",
                        "OnDemandThroughput": {"MaxReadRequestUnits": 5000, "MaxWriteRequestUnits": 5000},
                    }
                )
            ]
        },
        f"{ACK}DDB-TABLE-135",
    ),
    changed(
        "more_warm_throughput",
        BARE,
        {"WarmThroughput": {"ReadUnitsPerSecond": 12_001, "WriteUnitsPerSecond": 4_001}},
        {"TableStatus": "ACTIVE", "WarmThroughput": warm(12_000, 4_000, "UPDATING")},
        {"WarmThroughput": warm(12_001, 4_001)},
        f"{ACK}DDB-TABLE-179",
    ),
    changed(
        "more_warm_throughput_of_one_kind",
        BARE,
        {"WarmThroughput": {"WriteUnitsPerSecond": 4_002}},
        {"TableStatus": "ACTIVE"},
        {"WarmThroughput": warm(12_000, 4_002)},
        f"{ACK}DDB-TABLE-179",
    ),
    changed(
        "the_same_warm_throughput",
        BARE,
        {"WarmThroughput": {"ReadUnitsPerSecond": 12_000, "WriteUnitsPerSecond": 4_000}},
        {"WarmThroughput": warm(12_000, 4_000, "UPDATING")},
        {"WarmThroughput": warm(12_000, 4_000)},
        f"{ACK}DDB-TABLE-179: re-sending is accepted",
    ),
    changed(
        "more_warm_throughput_of_an_index",
        PAID,
        index_update(WarmThroughput={"ReadUnitsPerSecond": 12_001, "WriteUnitsPerSecond": 4_001}),
        {
            "GlobalSecondaryIndexes": [
                including({"IndexStatus": "ACTIVE", "WarmThroughput": warm(12_000, 4_000, "UPDATING")})
            ]
        },
        {"GlobalSecondaryIndexes": [including({"WarmThroughput": warm(12_001, 4_001)})]},
        f"{ACK}DDB-TABLE-155",
    ),
    changed(
        "warm_throughput_with_nothing_in_it_beside_another_change",
        BARE,
        {"WarmThroughput": {}, "DeletionProtectionEnabled": False},
        {"TableStatus": "ACTIVE"},
        {"WarmThroughput": warm(12_000, 4_000)},
        f"{ACK}DDB-TABLE-456: dropped silently, without the usual rejection",
    ),
]

VECTORS = [*THROUGHPUT]
