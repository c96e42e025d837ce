"""What the two operations that restore say of the new table: its name, and what it overrides of its source."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from singletable.engine.restores import RestoreTable
from singletable.engine.tables import NewIndex
from singletable.errors import INVALID, ValidationError
from singletable.wire.index_requests import new_index
from singletable.wire.parameters import Params, refuse_unsupported, table_name
from singletable.wire.table_requests import new_uuid
from singletable.wire.table_settings import table_settings, throughput


def parse_restored_table(params: Params) -> RestoreTable:
    refuse_unsupported(params)
    _check_not_warm(params)
    units = params.get("ProvisionedThroughputOverride")
    return RestoreTable(
        name=table_name(params["TargetTableName"]),
        uuid=new_uuid(),
        billing=params.get("BillingModeOverride"),
        throughput=None if units is None else throughput(units),
        local_indexes=_indexes(params.get("LocalSecondaryIndexOverride"), is_global=False),
        global_indexes=_indexes(params.get("GlobalSecondaryIndexOverride"), is_global=True),
        settings=_settings(params),
    )


def _check_not_warm(params: Params) -> None:
    for index in params.get("GlobalSecondaryIndexOverride") or ():
        if index.get("WarmThroughput") is not None:
            # "causes the request to fail with a validation error" (botocore), whose words nobody has recorded.
            raise ValidationError(
                f"{INVALID}WarmThroughput is not supported for index: {index['IndexName']} of a restored table"
            )


def _indexes(given: Sequence[Params] | None, *, is_global: bool) -> tuple[NewIndex, ...] | None:
    return None if given is None else tuple(new_index(index, is_global=is_global) for index in given)


def _settings(params: Params) -> dict[str, Any]:
    """Return the settings that are overridden, by the names that they have in other requests."""
    return table_settings(
        {
            "SSESpecification": params.get("SSESpecificationOverride"),
            "OnDemandThroughput": params.get("OnDemandThroughputOverride"),
        }
    )
