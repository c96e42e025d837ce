"""How fast a table, a global index or a partition may be read and written, and AWS's words when it was faster.

The rules are those of AWS's developer guide: "Throttling", "Burst and adaptive capacity", "On-demand capacity
mode", "Understanding warm throughput", "Designing partition keys". Rules that the guide leaves open have their
evidence beside them.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from singletable import limits
from singletable.engine.throughput import warm_units
from singletable.errors import ThrottledError, ThrottlingError, ThroughputExceededError
from singletable.storage.definitions import IndexDefinition, TableDefinition

Direction = Literal["Read", "Write"]
Exceeded = Literal[
    "ProvisionedThroughputExceeded",
    "MaxOnDemandThroughputExceeded",
    "AccountLimitExceeded",
    "KeyRangeThroughputExceeded",
]

# "DynamoDB currently retains up to 5 minutes (300 seconds) of unused read and write capacity" (guide, "Burst
# capacity"). That is of provisioned capacity: "burst capacity can't alleviate partition-level throttling"
# (re:Post, "How does DynamoDB handle spiky workloads"). Every other limit can save up one second.
BURST_S: Final = 300
PARTITION_READ_UNITS: Final = 3_000
PARTITION_WRITE_UNITS: Final = 1_000


class Limit(NamedTuple):
    """A rate in units a second, how many units can be saved up (burst), and the reason when it is exceeded."""

    rate: int
    depth: int
    exceeded: Exceeded


# --- rates -------------------------------------------------------------------------------------


def limit_of(table: TableDefinition, index: IndexDefinition | None, direction: Direction) -> Limit:
    """Return the limit of a whole table, or of one of its global indexes."""
    owner = table if index is None else index
    if table.billing == "PROVISIONED":
        rate = owner.throughput.read_units if direction == "Read" else owner.throughput.write_units
        return Limit(rate, rate * BURST_S, "ProvisionedThroughputExceeded")
    warm = warm_units(owner.settings, table.billing, owner.throughput)
    rate = warm.read_units if direction == "Read" else warm.write_units
    # Set to -1, a maximum is taken away.
    most = owner.settings.get("OnDemandThroughput", {}).get(f"Max{direction}RequestUnits", -1)
    if 0 < most <= rate:
        return Limit(most, most, "MaxOnDemandThroughputExceeded")
    # There is no reason for "more than it is warm for". A table that cannot grow further has met the quota of its
    # account; any other has partitions that are too few: the guide says to pre-warm it under this reason.
    if rate >= limits.TABLE_UNITS_MAX:
        return Limit(rate, rate, "AccountLimitExceeded")
    return Limit(rate, rate, "KeyRangeThroughputExceeded")


def partition_limit(direction: Direction) -> Limit:
    """Return the limit of one partition, "regardless of your table's total provisioned capacity".

    Reads and writes do not compete for it: partition-level throttling "operates independently for reads and
    writes" (guide, "Key range throughput exceeded").
    """
    rate = PARTITION_READ_UNITS if direction == "Read" else PARTITION_WRITE_UNITS
    return Limit(rate, rate, "KeyRangeThroughputExceeded")


# --- words -------------------------------------------------------------------------------------

# botocore 1.44, TransactionCanceledException, has these four. The third ends without its full stop in answers of
# the service (github.com/cowinapi/developer.cowin, issue 151); the fifth is of the guide, "Diagnosing throttling".
_TABLE_PROVISIONED: Final = (
    "The level of configured provisioned throughput for the table was exceeded. Consider increasing your "
    "provisioning level with the UpdateTable API."
)
_INDEX_PROVISIONED: Final = (
    "The level of configured provisioned throughput for one or more global secondary indexes of the table was "
    "exceeded. Consider increasing your provisioning level for the under-provisioned global secondary indexes "
    "with the UpdateTable API."
)
_ON_DEMAND: Final = (
    "Throughput exceeds the current capacity of your table or index. DynamoDB is automatically scaling your table "
    "or index so please try again shortly. If exceptions persist, check if you have a hot key: "
    "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html"
)
_INDEX_WRITE_ON_DEMAND: Final = (
    "Throughput exceeds the current capacity for one or more global secondary indexes. DynamoDB is automatically "
    "scaling your index so please try again shortly."
)
_MAX_ON_DEMAND: Final = "Throughput exceeds the maximum OnDemandThroughput configured on table or index"
# The guide's table of errors, "Error messages and codes".
_ACCOUNT: Final = (
    "Throughput exceeds the current throughput limit for your account. To request a limit increase, contact AWS "
    "Support at https://aws.amazon.com/support."
)


def error_of(table: TableDefinition) -> type[ThrottledError]:
    """Return the error of a refused request. It follows from how the table is paid for.

    That is so also where a partition is too hot. The guide has a provisioned table answer with a
    ProvisionedThroughputExceededException for TableWriteKeyRangeThroughputExceeded ("Diagnosing throttling"), and
    hot partitions of tables that are paid per request are known to answer with a ThrottlingException
    (github.com/praetorian-inc/chariot-ui, issue 684; github.com/BrighterCommand/Brighter, issue 2810). So does the
    quota of an account (guide, "GSI write throttling and back pressure").
    """
    return ThroughputExceededError if table.billing == "PROVISIONED" else ThrottlingError


def message_of(table: TableDefinition, exceeded: Exceeded, direction: Direction, *, of_index: bool) -> str:
    """Return the sentence that goes with the error."""
    if table.billing == "PROVISIONED":
        return _INDEX_PROVISIONED if of_index else _TABLE_PROVISIONED
    if exceeded == "MaxOnDemandThroughputExceeded":
        return _MAX_ON_DEMAND
    if exceeded == "AccountLimitExceeded":
        return _ACCOUNT
    return _INDEX_WRITE_ON_DEMAND if of_index and direction == "Write" else _ON_DEMAND
