"""DescribeLimits and DescribeEndpoints: what an account has in its region."""

from __future__ import annotations

from typing import Final

from singletable import limits
from singletable.wire.forms import Form
from singletable.wire.parameters import Answer, Params, Session

_CACHE_MINUTES: Final = 1440


def describe_limits(session: Session, params: Params, form: Form) -> Answer:
    # The defaults of every account (AWS guide, "Quotas"; ack-api-quirks, DDB-TABLE-131).
    return {
        "AccountMaxReadCapacityUnits": limits.ACCOUNT_UNITS_MAX,
        "AccountMaxWriteCapacityUnits": limits.ACCOUNT_UNITS_MAX,
        "TableMaxReadCapacityUnits": limits.TABLE_UNITS_MAX,
        "TableMaxWriteCapacityUnits": limits.TABLE_UNITS_MAX,
    }


def describe_endpoints(session: Session, params: Params, form: Form) -> Answer:
    # AWS's own address of the region, as AWS answers. No SDK follows it that was told an endpoint: they turn
    # endpoint discovery off, or refuse to combine the two.
    suffix = ".cn" if session.region.startswith("cn-") else ""
    address = f"dynamodb.{session.region}.amazonaws.com{suffix}"
    return {"Endpoints": [{"Address": address, "CachePeriodInMinutes": _CACHE_MINUTES}]}
