"""DescribeLimits and DescribeEndpoints."""

from __future__ import annotations

from golden.vectors.matching import matching
from golden.vectors.vector import Vector

VECTORS = [
    Vector(
        "limits_are_those_of_a_new_account",
        operation="DescribeLimits",
        request={},
        answer={
            "AccountMaxReadCapacityUnits": 80_000,
            "AccountMaxWriteCapacityUnits": 80_000,
            "TableMaxReadCapacityUnits": 40_000,
            "TableMaxWriteCapacityUnits": 40_000,
        },
        evidence="AWS guide, Quotas; ack-api-quirks, DDB-TABLE-131: values 80k/40k",
    ),
    Vector(
        "limits_take_no_notice_of_what_they_do_not_know",
        operation="DescribeLimits",
        request={"TableName": "Missing"},
        answer={
            "AccountMaxReadCapacityUnits": 80_000,
            "AccountMaxWriteCapacityUnits": 80_000,
            "TableMaxReadCapacityUnits": 40_000,
            "TableMaxWriteCapacityUnits": 40_000,
        },
        wire_only=True,
        evidence="ack-api-quirks, DDB-TABLE-357: unknown members are ignored",
    ),
    Vector(
        "the_endpoint_is_that_of_the_region",
        operation="DescribeEndpoints",
        request={},
        answer={
            "Endpoints": [
                {"Address": matching(r"dynamodb\.[a-z0-9-]+\.amazonaws\.com"), "CachePeriodInMinutes": 1440}
            ]
        },
        evidence="dynamodb-conformance, tier2/account: an address and a cache period; the value as AWS answers it",
    ),
]
