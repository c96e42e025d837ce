"""CreateTable: billing and throughput that it refuses."""

from __future__ import annotations

from golden.vectors.new_tables import (
    ACK,
    DYNALITE,
    GUIDE,
    INVALID,
    SEE,
    UNITS,
    limit,
    provisioned,
    refused,
    request,
    with_index,
)

BILLING = [
    refused(
        "without_a_mode_and_without_units",
        request(BillingMode=None),
        f"{INVALID}ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is "
        "PROVISIONED",
        f"{ACK}DDB-TABLE-024",
    ),
    refused(
        "paid_per_request_with_units",
        request(ProvisionedThroughput=UNITS),
        f"{INVALID}Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is "
        "PAY_PER_REQUEST",
        f"{ACK}DDB-TABLE-038",
    ),
    refused(
        "with_a_mode_that_there_is_not",
        request(BillingMode=""),
        "1 validation error detected: Value '' at 'billingMode' failed to satisfy constraint: "
        "Member must satisfy enum value set: [PROVISIONED, PAY_PER_REQUEST]",
        f"{ACK}DDB-TABLE-457: ct_billing_empty",
    ),
    refused(
        "with_no_units_at_all",
        request(BillingMode=None, ProvisionedThroughput={"ReadCapacityUnits": 0, "WriteCapacityUnits": 0}),
        "2 validation errors detected: Value '0' at 'provisionedThroughput.writeCapacityUnits' failed to satisfy "
        "constraint: Member must have value greater than or equal to 1; Value '0' at "
        "'provisionedThroughput.readCapacityUnits' failed to satisfy constraint: Member must have value greater "
        "than or equal to 1",
        f"{ACK}DDB-TABLE-038",
    ),
    refused(
        "with_units_for_reads_alone",
        request(BillingMode=None, ProvisionedThroughput={"ReadCapacityUnits": 1}),
        "1 validation error detected: Value null at 'provisionedThroughput.writeCapacityUnits' failed to satisfy "
        "constraint: Member must not be null",
        f"{ACK}DDB-TABLE-038",
    ),
    refused(
        "with_units_out_of_all_bounds",
        request(
            BillingMode=None,
            ProvisionedThroughput={"ReadCapacityUnits": 1_000_000_000_001, "WriteCapacityUnits": 1},
        ),
        "Given value 1000000000001 for ReadCapacityUnits is out of bounds",
        DYNALITE,
    ),
    refused(
        "with_more_units_than_an_account_allows",
        request(
            BillingMode=None,
            ProvisionedThroughput={"ReadCapacityUnits": 40_001, "WriteCapacityUnits": 1},
        ),
        limit(
            "The requested ReadCapacityUnits, 40001, is above the per table maximum for the account in us-east-1. "
            f"Per table maximum: 40000. {GUIDE}"
        ),
        f"{ACK}DDB-TABLE-170 (us-west-2)",
    ),
    refused(
        "with_an_index_of_more_units_than_an_account_allows",
        with_index(
            {"ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 40_001}},
            BillingMode="PROVISIONED",
            ProvisionedThroughput=UNITS,
        ),
        limit(
            "The requested WriteCapacityUnits for index by-g, 40001, is above the per index maximum for the "
            f"account in us-east-1. Per table maximum: 40000. {GUIDE}"
        ),
        f"{ACK}DDB-TABLE-170 (of reads, in us-west-2)",
    ),
    refused(
        "provisioned_with_an_index_without_units",
        with_index(BillingMode="PROVISIONED", ProvisionedThroughput=UNITS),
        f"{INVALID}ProvisionedThroughput is not specified for index: by-g",
        f"{ACK}DDB-TABLE-128",
    ),
    refused(
        "paid_per_request_with_an_index_with_units",
        with_index({"ProvisionedThroughput": UNITS}),
        f"{INVALID}ProvisionedThroughput should not be specified for index: by-g when BillingMode is "
        "PAY_PER_REQUEST",
        f"{ACK}DDB-TABLE-128",
    ),
    refused(
        "provisioned_with_bounds",
        provisioned(OnDemandThroughput={"MaxReadRequestUnits": 1, "MaxWriteRequestUnits": 1}),
        f"{INVALID}MaxReadRequestUnits for OnDemandThroughput cannot be specified when table BillingMode is "
        "PROVISIONED.",
        f"{ACK}DDB-TABLE-038, 128",
    ),
    refused(
        "provisioned_with_bounds_of_an_index",
        with_index(
            {"ProvisionedThroughput": UNITS, "OnDemandThroughput": {"MaxReadRequestUnits": 10}},
            BillingMode="PROVISIONED",
            ProvisionedThroughput=UNITS,
        ),
        f"{INVALID}MaxReadRequestUnits for OnDemandThroughput for index: by-g cannot be specified when table "
        "BillingMode is PROVISIONED.",
        f"{ACK}DDB-TABLE-128",
    ),
    *(
        refused(
            f"with_bounds_of_{name}",
            request(OnDemandThroughput={"MaxWriteRequestUnits": units, "MaxReadRequestUnits": units}),
            f"{INVALID}Requested MaxReadRequestUnits for OnDemandThroughput for table is outside of valid range",
            f"{ACK}DDB-TABLE-039: 0, -1 and -2",
        )
        for name, units in {"zero": 0, "minus_one": -1, "minus_two": -2}.items()
    ),
    refused(
        "with_a_bound_of_zero_of_an_index",
        with_index({"OnDemandThroughput": {"MaxReadRequestUnits": 0}}),
        f"{INVALID}Requested MaxReadRequestUnits for OnDemandThroughput for index : by-g is outside of valid "
        "range",
        f"{ACK}DDB-TABLE-128",
    ),
    refused(
        "with_a_bound_above_the_quota",
        request(OnDemandThroughput={"MaxReadRequestUnits": 40_001}),
        limit(
            "Subscriber limit exceeded: Requested MaxReadRequestUnits for OnDemandThroughput for table exceeds "
            "TableMaxReadCapacityUnits of the account in region us-east-1"
        ),
        f"{ACK}DDB-TABLE-154 (of UpdateTable, in us-west-2)",
    ),
    *(
        refused(
            f"with_warm_throughput_of_{name}",
            request(WarmThroughput={"ReadUnitsPerSecond": units, "WriteUnitsPerSecond": units}),
            f"{INVALID}Requested ReadUnitsPerSecond for WarmThroughput for table is lower than initial throughput "
            f"for OnDemand. {SEE}",
            f"{ACK}DDB-TABLE-039, 457",
        )
        for name, units in {"one": 1, "zero": 0, "minus_one": -1}.items()
    ),
    refused(
        "with_warm_throughput_of_an_index_below_what_it_begins_with",
        with_index({"WarmThroughput": {"ReadUnitsPerSecond": 11_999, "WriteUnitsPerSecond": 4_000}}),
        f"{INVALID}Requested ReadUnitsPerSecond for WarmThroughput for index by-g is lower than initial "
        f"throughput for OnDemand. {SEE}",
        f"{ACK}DDB-TABLE-128",
    ),
    refused(
        "provisioned_with_warm_throughput_below_its_units",
        provisioned(WarmThroughput={"ReadUnitsPerSecond": 4, "WriteUnitsPerSecond": 4}),
        f"{INVALID}Requested ReadUnitsPerSecond for WarmThroughput for table is lower than ReadCapacityUnits of "
        "ProvisionedThroughput",
        f"{ACK}DDB-TABLE-039",
    ),
]

VECTORS = [*BILLING]
