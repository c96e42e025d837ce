"""UpdateTable: from its DynamoDB shape to a request, with the rules that need no stored table.

A request makes one change, with few exceptions. The rules and their words are answers of Amazon DynamoDB that the
"ack-api-quirks" laboratory recorded in October 2026 (DDB-TABLE-015, 057, 152, 159, 160, 162, 174, 433).
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from singletable.engine import table_updates
from singletable.engine.table_changes import IndexUpdate, UpdateTable
from singletable.engine.tables import NewIndex
from singletable.errors import INVALID, ValidationError
from singletable.storage.definitions import KeyAttribute
from singletable.wire.descriptions import table_description
from singletable.wire.forms import Form
from singletable.wire.operations.create_table import attribute_types
from singletable.wire.parameters import Answer, OperationContext, Params, Run, refuse_unsupported, table_name
from singletable.wire.table_parts import (
    TABLE_SETTINGS,
    check_on_demand_range,
    index_settings,
    is_given,
    new_index,
    table_settings,
    throughput,
)

# Each of these stands alone in a request; where several are given, the first is named.
_ALONE: Final = (
    ("SSESpecification", "Server-Side Encryption modification"),
    ("TableClass", "TableClass modification"),
    ("DeletionProtectionEnabled", "DeletionProtection modification"),
    ("WarmThroughput", "WarmThroughput"),
)
_CHANGES: Final = (
    *("BillingMode", "ProvisionedThroughput", "GlobalSecondaryIndexUpdates", "StreamSpecification"),
    *("DeletionProtectionEnabled", *TABLE_SETTINGS),
)


def update_table(session: OperationContext, params: Params, form: Form) -> Answer:
    description = table_updates.update_table(
        session.store, _request(params), region=session.region, throttle=session.throttle
    )
    return {"TableDescription": table_description(session, description, form)}


def _request(params: Params) -> UpdateTable:
    refuse_unsupported(params)
    given = frozenset(name for name in _CHANGES if is_given(params, name))
    _check_something_given(params, given)
    updates = _index_updates(params)
    _check_combination(params, given, updates)
    units = params.get("ProvisionedThroughput")
    stream = params.get("StreamSpecification")
    settings = table_settings(params)
    if "OnDemandThroughput" in settings:
        check_on_demand_range(settings["OnDemandThroughput"], "table", clearing=True)
    return UpdateTable(
        name=table_name(params["TableName"]),
        attributes=_attributes(params, updates),
        billing=params.get("BillingMode"),
        throughput=None if units is None else throughput(units),
        creates=updates.creates,
        deletes=updates.deletes,
        updates=updates.updates,
        stream_enabled=None if stream is None else bool(stream["StreamEnabled"]),
        stream_view=None if stream is None else _stream_view(stream),
        deletion_protected=params.get("DeletionProtectionEnabled"),
        settings=settings,
    )


def _check_something_given(params: Params, given: frozenset[str]) -> None:
    updates = params.get("GlobalSecondaryIndexUpdates")
    if not given or (len(given) == 1 and updates is not None and not updates):
        raise ValidationError(
            "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, "
            "GlobalSecondaryIndexUpdates, SSESpecification, ReplicaUpdates, MultiAccountReplicaReady, "
            "ReplicaTransitRoleArn, MultiRegionConsistency, DeletionProtectionEnabled, OnDemandThroughput, "
            "WarmThroughput or TableClass is required"
        )
    if updates is not None and not updates:
        raise ValidationError(f"{INVALID}List of GlobalSecondaryIndexUpdates is empty")


# --- changes that may be combined ----------------------------------------------------------


def _check_combination(params: Params, given: frozenset[str], updates: _IndexUpdates) -> None:
    for name, subject in _ALONE:
        if name in given and len(given) > 1:
            if name == "WarmThroughput" and updates.creates:
                raise ValidationError(
                    f"{INVALID}Create global secondary index cannot be specified when updating WarmThroughput"
                )
            raise ValidationError(f"{INVALID}{subject} must be the only operation in the request")
    if "OnDemandThroughput" in given and given - {"OnDemandThroughput", "BillingMode"}:
        raise ValidationError(
            f"{INVALID}OnDemandThroughput can only be combined with BillingMode in an UpdateTable request"
        )
    billing, has_units = params.get("BillingMode"), "ProvisionedThroughput" in given
    changes_units = has_units or billing == "PROVISIONED"
    changes_indexes = bool(updates.creates or updates.deletes)
    if "StreamSpecification" in given and changes_units:
        raise ValidationError(f"{INVALID}You cannot modify stream status while updating table IOPS")
    if changes_indexes and changes_units:
        raise ValidationError(f"{INVALID}You cannot create or delete index while updating table IOPS")
    if changes_indexes and "StreamSpecification" in given:
        raise ValidationError(f"{INVALID}You cannot create or delete index while changing stream status")
    if billing == "PROVISIONED" and not has_units:
        raise ValidationError(
            f"{INVALID}ProvisionedThroughput must be specified when BillingMode is PROVISIONED"
        )
    if billing == "PAY_PER_REQUEST" and has_units:
        raise ValidationError(
            f"{INVALID}ProvisionedThroughput cannot be specified when BillingMode is PAY_PER_REQUEST"
        )


def _stream_view(stream: Params) -> Any:
    enabled, view = stream["StreamEnabled"], stream.get("StreamViewType")
    if enabled and view is None:
        raise ValidationError(f"{INVALID}If stream is being enabled then UpdateViewType is required")
    if not enabled and view is not None:
        raise ValidationError(
            f"{INVALID}If stream is being disabled, then UpdateViewType must not be specified"
        )
    return view


# --- indexes -------------------------------------------------------------------------------


class _IndexUpdates(NamedTuple):
    creates: tuple[NewIndex, ...]
    deletes: tuple[str, ...]
    updates: dict[str, IndexUpdate]


def _index_updates(params: Params) -> _IndexUpdates:
    creates: list[NewIndex] = []
    deletes: list[str] = []
    updates: dict[str, IndexUpdate] = {}
    seen: set[str] = set()
    for entry in params.get("GlobalSecondaryIndexUpdates") or ():
        verb, action = _action(entry)
        name = action["IndexName"]
        if name in seen:
            raise ValidationError(
                f"{INVALID}Only one global secondary index update per index is allowed simultaneously. "
                f"Index: {name}"
            )
        seen.add(name)
        if verb == "Create":
            creates.append(_new_index(action))
        elif verb == "Delete":
            deletes.append(name)
        else:
            updates[name] = _index_update(action)
    return _IndexUpdates(tuple(creates), tuple(deletes), updates)


def _new_index(action: Params) -> NewIndex:
    index = new_index(action, is_global=True)
    limited = index.settings.get("OnDemandThroughput", {})
    check_on_demand_range(limited, f"index : {index.name}", clearing=False)
    return index


def _index_update(action: Params) -> IndexUpdate:
    name, units, settings = action["IndexName"], action.get("ProvisionedThroughput"), index_settings(action)
    if action.get("WarmThroughput") is not None and "WarmThroughput" not in settings:
        # Of a table this makes AWS fail with HTTP 500; of an index it is answered (DDB-TABLE-456).
        raise ValidationError(
            f"{INVALID}WarmThroughput must have at least one of ReadUnitsPerSecond or WriteUnitsPerSecond "
            f"specified for index: {name}"
        )
    check_on_demand_range(settings.get("OnDemandThroughput", {}), f"index : {name}", clearing=True)
    return IndexUpdate(throughput=None if units is None else throughput(units), settings=settings)


def _action(update: Params) -> tuple[str, Params]:
    given = [name for name in ("Update", "Create", "Delete") if update.get(name) is not None]
    if not given:
        raise ValidationError(
            f"{INVALID}One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, "
            "GlobalSecondaryIndexUpdate.Delete must not be null"
        )
    if len(given) > 1:
        raise ValidationError(
            f"{INVALID}Only one global secondary index action is allowed per GlobalSecondaryIndexUpdate object"
        )
    return given[0], update[given[0]]


def _attributes(params: Params, updates: _IndexUpdates) -> tuple[KeyAttribute, ...]:
    """Return the definitions for a new index. Without a new index they have no effect."""
    if not updates.creates:
        return ()
    definitions = params.get("AttributeDefinitions")
    if not definitions:
        raise ValidationError(
            f"{INVALID}AttributeDefinitions is not specified for index: {updates.creates[0].name}"
        )
    return tuple(KeyAttribute(name, kind) for name, kind in attribute_types(definitions).items())


RUN: Final[dict[str, Run]] = {"UpdateTable": update_table}
