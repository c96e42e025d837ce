"""CreateTable: what it makes. (Its tags are in tags.py.)"""

from __future__ import annotations

from golden.vectors.matching import anything, arn_of, including, matching, without
from golden.vectors.new_tables import (
    ACK,
    ARN,
    DYNALITE,
    NOTHING,
    UNITS,
    UUID,
    described,
    made,
    request,
    with_index,
)
from golden.vectors.vector import Vector
from support.sample_tables import attributes, index, key_schema

MAKES = [
    Vector(
        "a_table_paid_per_request",
        operation="CreateTable",
        request=request(),
        answer={
            "TableDescription": {
                "AttributeDefinitions": attributes(pk="S", sk="S"),
                "TableName": "Made",
                "KeySchema": key_schema("pk", "sk"),
                "TableStatus": "CREATING",
                "CreationDateTime": anything,
                "ProvisionedThroughput": NOTHING,
                "TableSizeBytes": 0,
                "ItemCount": 0,
                "TableArn": arn_of("table/Made"),
                "TableId": matching(UUID),
                "BillingModeSummary": {"BillingMode": "PAY_PER_REQUEST"},
                "DeletionProtectionEnabled": False,
            }
        },
        makes=["Made"],
        after=[
            described(
                including(
                    {
                        "TableStatus": "ACTIVE",
                        "BillingModeSummary": {
                            "BillingMode": "PAY_PER_REQUEST",
                            "LastUpdateToPayPerRequestDateTime": anything,
                        },
                        "WarmThroughput": {
                            "ReadUnitsPerSecond": 12_000,
                            "WriteUnitsPerSecond": 4_000,
                            "Status": "ACTIVE",
                        },
                    }
                )
            ),
            described(without("OnDemandThroughput", "SSEDescription", "TableClassSummary", "Tags")),
        ],
        evidence=f"{DYNALITE}: should succeed for basic PAY_PER_REQUEST; ack-api-quirks, DDB-TABLE-028, 033",
    ),
    Vector(
        "a_provisioned_table",
        operation="CreateTable",
        request=request(BillingMode=None, ProvisionedThroughput=UNITS),
        answer={
            "TableDescription": {
                "AttributeDefinitions": attributes(pk="S", sk="S"),
                "TableName": "Made",
                "KeySchema": key_schema("pk", "sk"),
                "TableStatus": "CREATING",
                "CreationDateTime": anything,
                "ProvisionedThroughput": {"NumberOfDecreasesToday": 0, **UNITS},
                "TableSizeBytes": 0,
                "ItemCount": 0,
                "TableArn": arn_of("table/Made"),
                "TableId": matching(UUID),
                "DeletionProtectionEnabled": False,
            }
        },
        makes=["Made"],
        after=[
            described(
                including(
                    {
                        "WarmThroughput": {
                            "ReadUnitsPerSecond": 5,
                            "WriteUnitsPerSecond": 6,
                            "Status": "ACTIVE",
                        }
                    }
                )
            ),
            described(without("BillingModeSummary")),
        ],
        evidence=f"{DYNALITE}: should succeed for basic; ack-api-quirks, DDB-TABLE-025, 032",
    ),
    made(
        "definitions_of_attributes_come_back_sorted",
        request(
            KeySchema=key_schema("z", "a"),
            AttributeDefinitions=attributes(z="S", m="N", a="B"),
            GlobalSecondaryIndexes=[index("by-m", "m", projection="INCLUDE", include=["zz", "aa", "mm"])],
        ),
        {
            "AttributeDefinitions": attributes(a="B", m="N", z="S"),
            "KeySchema": key_schema("z", "a"),
            "GlobalSecondaryIndexes": [
                including(
                    {"Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["aa", "mm", "zz"]}}
                )
            ],
        },
        f"{ACK}DDB-TABLE-125",
    ),
    made(
        "indexes_have_names_keys_and_arns",
        request(
            AttributeDefinitions=attributes(pk="S", sk="S", l="N", g="S"),
            LocalSecondaryIndexes=[index("by-l", "pk", "l", projection="KEYS_ONLY")],
            GlobalSecondaryIndexes=[index("by-g", "g")],
        ),
        {
            "LocalSecondaryIndexes": [
                {
                    "IndexName": "by-l",
                    "KeySchema": key_schema("pk", "l"),
                    "Projection": {"ProjectionType": "KEYS_ONLY"},
                    "IndexSizeBytes": 0,
                    "ItemCount": 0,
                    "IndexArn": arn_of("table/Made/index/by-l"),
                }
            ],
            "GlobalSecondaryIndexes": [
                {
                    "IndexName": "by-g",
                    "KeySchema": key_schema("g"),
                    "Projection": {"ProjectionType": "ALL"},
                    "IndexStatus": "CREATING",
                    "ProvisionedThroughput": NOTHING,
                    "IndexSizeBytes": 0,
                    "ItemCount": 0,
                    "IndexArn": arn_of("table/Made/index/by-g"),
                }
            ],
        },
        f"{DYNALITE}; ack-api-quirks, DDB-TABLE-133, 138: no Backfilling, and no WarmThroughput yet",
        described(
            including(
                {
                    "GlobalSecondaryIndexes": [
                        {
                            "IndexName": "by-g",
                            "KeySchema": key_schema("g"),
                            "Projection": {"ProjectionType": "ALL"},
                            "IndexStatus": "ACTIVE",
                            "ProvisionedThroughput": NOTHING,
                            "WarmThroughput": {
                                "ReadUnitsPerSecond": 12_000,
                                "WriteUnitsPerSecond": 4_000,
                                "Status": "ACTIVE",
                            },
                            "IndexSizeBytes": 0,
                            "ItemCount": 0,
                            "IndexArn": arn_of("table/Made/index/by-g"),
                        }
                    ]
                }
            )
        ),
    ),
    made(
        "an_index_has_units_of_its_own",
        with_index(
            {"ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 2}},
            BillingMode="PROVISIONED",
            ProvisionedThroughput=UNITS,
        ),
        {
            "GlobalSecondaryIndexes": [
                including(
                    {
                        "ProvisionedThroughput": {
                            "NumberOfDecreasesToday": 0,
                            "ReadCapacityUnits": 1,
                            "WriteCapacityUnits": 2,
                        }
                    }
                )
            ]
        },
        f"{DYNALITE}: multiple GlobalSecondaryIndexes",
    ),
    made(
        "warm_throughput_is_being_updated_at_first",
        request(WarmThroughput={"ReadUnitsPerSecond": 12_001, "WriteUnitsPerSecond": 4_001}),
        {
            "WarmThroughput": {
                "ReadUnitsPerSecond": 12_001,
                "WriteUnitsPerSecond": 4_001,
                "Status": "UPDATING",
            }
        },
        f"{ACK}DDB-TABLE-032",
        described(
            including(
                {
                    "WarmThroughput": {
                        "ReadUnitsPerSecond": 12_001,
                        "WriteUnitsPerSecond": 4_001,
                        "Status": "ACTIVE",
                    }
                }
            )
        ),
    ),
    made(
        "warm_throughput_may_be_given_for_reads_alone",
        request(WarmThroughput={"ReadUnitsPerSecond": 12_001}),
        {"TableStatus": "CREATING"},
        f"{ACK}DDB-TABLE-039: read-only -> 12001/4000",
        described(
            including(
                {
                    "WarmThroughput": {
                        "ReadUnitsPerSecond": 12_001,
                        "WriteUnitsPerSecond": 4_000,
                        "Status": "ACTIVE",
                    }
                }
            )
        ),
    ),
    made(
        "an_index_has_warm_throughput_and_bounds_of_its_own",
        with_index(
            {
                "WarmThroughput": {"ReadUnitsPerSecond": 13_000, "WriteUnitsPerSecond": 5_000},
                "OnDemandThroughput": {"MaxReadRequestUnits": 50, "MaxWriteRequestUnits": 60},
            }
        ),
        {"TableStatus": "CREATING"},
        f"{ACK}DDB-TABLE-134, 135",
        described(
            including(
                {
                    "GlobalSecondaryIndexes": [
                        including(
                            {
                                "WarmThroughput": {
                                    "ReadUnitsPerSecond": 13_000,
                                    "WriteUnitsPerSecond": 5_000,
                                    "Status": "ACTIVE",
                                },
                                "OnDemandThroughput": {"MaxReadRequestUnits": 50, "MaxWriteRequestUnits": 60},
                            }
                        )
                    ]
                }
            )
        ),
        described(without("OnDemandThroughput")),
    ),
    made(
        "bounds_of_on_demand_throughput",
        request(OnDemandThroughput={"MaxReadRequestUnits": 100, "MaxWriteRequestUnits": 200}),
        {"OnDemandThroughput": {"MaxReadRequestUnits": 100, "MaxWriteRequestUnits": 200}},
        f"{ACK}DDB-TABLE-028",
    ),
    made(
        "throughput_with_nothing_in_it_is_none",
        with_index(
            {"WarmThroughput": {}, "OnDemandThroughput": {}}, WarmThroughput={}, OnDemandThroughput={}
        ),
        {"TableStatus": "CREATING"},
        f"{ACK}DDB-TABLE-039, 456: accepted, and the defaults hold",
        described(without("OnDemandThroughput")),
    ),
    made(
        "a_class_that_is_given_is_told",
        request(TableClass="STANDARD"),
        {"TableClassSummary": {"TableClass": "STANDARD"}},
        f"{ACK}DDB-TABLE-026: present when TableClass was sent, without a date",
    ),
    made(
        "a_stream_has_a_label_and_an_arn",
        request(StreamSpecification={"StreamEnabled": True, "StreamViewType": "OLD_IMAGE"}),
        {
            "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "OLD_IMAGE"},
            "LatestStreamLabel": matching(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}"),
            "LatestStreamArn": arn_of(r"table/Made/stream/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}"),
        },
        "AWS API reference, TableDescription: LatestStreamArn, LatestStreamLabel",
    ),
    Vector(
        "a_stream_that_is_turned_off_is_none",
        operation="CreateTable",
        request=request(StreamSpecification={"StreamEnabled": False}),
        answer={"TableDescription": without("StreamSpecification", "LatestStreamArn", "LatestStreamLabel")},
        makes=["Made"],
        evidence="AWS API reference, StreamSpecification",
    ),
    made(
        "encryption_with_a_key",
        request(
            SSESpecification={
                "Enabled": True,
                "SSEType": "KMS",
                "KMSMasterKeyId": "arn:aws:kms:us-east-1:000000000000:key/1234abcd-12ab-34cd-56ef-1234567890ab",
            }
        ),
        {"TableStatus": "CREATING"},
        f"{ACK}DDB-TABLE-027",
        described(
            including(
                {
                    "SSEDescription": {
                        "Status": "ENABLED",
                        "SSEType": "KMS",
                        "KMSMasterKeyArn": matching(
                            "arn:aws:kms:.*:key/1234abcd-12ab-34cd-56ef-1234567890ab"
                        ),
                    }
                }
            )
        ),
    ),
    made(
        "encryption_by_default_is_not_told",
        request(SSESpecification={"Enabled": False}),
        {"TableStatus": "CREATING"},
        f"{ACK}DDB-TABLE-027: sse-false is absent",
        described(without("SSEDescription")),
    ),
    made(
        "a_protected_table",
        request(DeletionProtectionEnabled=True),
        {"DeletionProtectionEnabled": True},
        "AWS API reference, CreateTable: DeletionProtectionEnabled",
    ),
    made(
        "a_table_named_by_its_arn",
        request(TableName=ARN),
        {"TableName": "Made", "TableArn": ARN},
        f"{ACK}DDB-TABLE-011: the answer has the bare name",
    ),
    made(
        "a_local_index_may_repeat_the_key_of_its_table",
        request(LocalSecondaryIndexes=[index("again", "pk", "sk")]),
        {"TableStatus": "CREATING"},
        f"{ACK}DDB-TABLE-129: accepted",
    ),
    made(
        "a_global_index_may_repeat_the_key_and_name_of_its_table",
        request(GlobalSecondaryIndexes=[index("Made", "pk", "sk")]),
        {"TableStatus": "CREATING"},
        f"{ACK}DDB-TABLE-129: accepted",
    ),
    made(
        "a_projection_may_name_keys",
        request(
            GlobalSecondaryIndexes=[index("by-sk", "sk", projection="INCLUDE", include=["pk", "sk", "x"])]
        ),
        {"TableStatus": "CREATING"},
        f"{ACK}DDB-TABLE-126, 366: stored as given",
    ),
    made(
        "as_many_units_as_an_account_allows",
        request(
            BillingMode=None,
            ProvisionedThroughput={"ReadCapacityUnits": 40_000, "WriteCapacityUnits": 1},
        ),
        {"TableStatus": "CREATING"},
        f"{ACK}DDB-TABLE-170: 40000 is accepted",
    ),
]

VECTORS = [*MAKES]
