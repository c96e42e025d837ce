"""CloudWatch's metrics by name, and the operations that they are split by.

The authority is AWS's developer guide, "DynamoDB metrics and dimensions". Metrics of features that do not exist
here (streams, replicas, account quotas, conflicts of transactions) are left out.
"""

from __future__ import annotations

from typing import Final

from singletable.operations import SERVED

CONSUMED_READ_UNITS: Final = "ConsumedReadCapacityUnits"
CONSUMED_WRITE_UNITS: Final = "ConsumedWriteCapacityUnits"
READ_THROTTLE_EVENTS: Final = "ReadThrottleEvents"
WRITE_THROTTLE_EVENTS: Final = "WriteThrottleEvents"
CONDITIONAL_CHECK_FAILED: Final = "ConditionalCheckFailedRequests"
THROTTLED_REQUESTS: Final = "ThrottledRequests"
SYSTEM_ERRORS: Final = "SystemErrors"
USER_ERRORS: Final = "UserErrors"
EXPIRED_ITEMS: Final = "TimeToLiveDeletedItemCount"
LATENCY: Final = "SuccessfulRequestLatency"
RETURNED_ITEMS: Final = "ReturnedItemCount"

COUNTERS: Final = (
    *(CONSUMED_READ_UNITS, CONSUMED_WRITE_UNITS, READ_THROTTLE_EVENTS, WRITE_THROTTLE_EVENTS),
    *(CONDITIONAL_CHECK_FAILED, THROTTLED_REQUESTS, SYSTEM_ERRORS, USER_ERRORS, EXPIRED_ITEMS),
)

# "Operation: This dimension limits the data to one of the following DynamoDB operations" (guide, "Operation").
# PartiQL's three are not served. Operations on tables are not in the list, and have no latency there.
READ_OPERATIONS: Final = frozenset(row.name for row in SERVED.values() if row.effect == "read")
ITEM_OPERATIONS: Final = frozenset(row.name for row in SERVED.values() if row.effect != "table")

# "The number of items returned by Query, Scan or ExecuteStatement (select) operations" (guide,
# "ReturnedItemCount"): GetItem and BatchGetItem have none.
PAGE_OPERATIONS: Final = frozenset(row.name for row in SERVED.values() if row.returns == "page")
