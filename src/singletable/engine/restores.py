"""Restoring: a new table, with the settings of another one, that is filled with its items as they were.

The settings it takes over, and the words of the refusals, were recorded by the "ack-api-quirks" laboratory in
October 2026 (DDB-TABLE-215 to 217, 273, 279).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

from singletable.engine.tables import NewIndex, TableDescription, TableStatus, current_counts, existing_table
from singletable.errors import TableAlreadyExistsError, TableInUseError, ValidationError
from singletable.storage.backups.restoring import RestoreSource, save_restore
from singletable.storage.definitions import (
    ON_DEMAND,
    BillingMode,
    IndexDefinition,
    Projection,
    RestoreDefinition,
    TableDefinition,
    Throughput,
)
from singletable.storage.transaction import Transaction

# The settings that a restored table takes from its source. It has no tags, stream, time to live, recovery,
# protection from deletion or table class.
_KEPT_SETTINGS: Final = ("SSESpecification", "OnDemandThroughput", "WarmThroughput")


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreTable:
    """The table that is to be made. None leaves a setting as the source has it."""

    name: str
    uuid: str
    billing: BillingMode | None = None
    throughput: Throughput | None = None
    local_indexes: tuple[NewIndex, ...] | None = None
    global_indexes: tuple[NewIndex, ...] | None = None
    settings: dict[str, Any] | None = None
    """SSESpecification and OnDemandThroughput, as far as they are given."""


def start_restore(
    transaction: Transaction,
    request: RestoreTable,
    source: TableDefinition,
    read_from: RestoreSource,
    *,
    backup_arn: str | None = None,
) -> TableDescription:
    """Make the new table, and leave the filling to the background, which the caller lets begin."""
    there = transaction.catalog.named(request.name)
    if there is not None and there.definition.is_restoring:
        raise TableInUseError(f"Table is already being restored: {request.name}")
    if there is not None:
        raise TableAlreadyExistsError(f"Table already exists: {request.name}")
    table_id = transaction.new_id()
    restore = RestoreDefinition(
        source_table=source.name, backup_arn=backup_arn, at_us=read_from.at_us, in_progress=True
    )
    definition = replace(
        plan_restored(source, request, transaction.new_id, transaction.now_us), id=table_id, restore=restore
    )
    transaction.create_table(definition)
    save_restore(transaction, table_id, read_from)
    table = existing_table(transaction.catalog, request.name)
    statuses: dict[str, TableStatus] = {index.name: "CREATING" for index in definition.indexes}
    counts = current_counts(transaction, table)
    return TableDescription(definition, "CREATING", counts, transaction.now_us, statuses)


def plan_restored(
    source: TableDefinition, request: RestoreTable, new_id: Callable[[], int], now_us: int
) -> TableDefinition:
    """Plan the definition of a restored table."""
    billing = request.billing or source.billing
    indexes = tuple(
        replace(index, id=new_id(), status="ACTIVE") for index in _plan_indexes(source, request, billing)
    )
    used = {*source.key.names, *(name for index in indexes for name in index.key.names)}
    return TableDefinition(
        id=source.id,
        name=request.name,
        uuid=request.uuid,
        created_us=now_us,
        key=source.key,
        attributes=tuple(attribute for attribute in source.attributes if attribute.name in used),
        indexes=indexes,
        billing=billing,
        billing_changed_us=now_us if billing == "PAY_PER_REQUEST" else None,
        throughput=_plan_throughput(source, request, billing),
        settings=_plan_settings(source, request, billing),
    )


def _plan_throughput(source: TableDefinition, request: RestoreTable, billing: BillingMode) -> Throughput:
    if billing == "PAY_PER_REQUEST":
        if request.throughput is not None:
            raise ValidationError(
                "Invalid Request: Cannot override ProvisionedThroughput unless BillingMode is PROVISIONED"
            )
        return ON_DEMAND
    units = request.throughput or source.throughput
    if units == ON_DEMAND:
        raise ValidationError(
            "Invalid Request: Must override ProvisionedThroughput if BillingMode is overridden to PROVISIONED"
        )
    return units


def _plan_settings(source: TableDefinition, request: RestoreTable, billing: BillingMode) -> dict[str, Any]:
    settings: dict[str, Any] = {
        name: source.settings[name] for name in _KEPT_SETTINGS if name in source.settings
    }
    settings.update(request.settings or {})
    if not settings.get("SSESpecification", {"Enabled": True})["Enabled"]:
        del settings["SSESpecification"]
    return _without_other_units(settings, billing, source.billing)


def _without_other_units(
    settings: dict[str, Any], billing: BillingMode, source_billing: BillingMode
) -> dict[str, Any]:
    """Leave out bounds of a way of paying that the new table does not have."""
    gone = {"OnDemandThroughput"} if billing == "PROVISIONED" else set()
    if billing != source_billing:
        gone.add("WarmThroughput")
    return {name: value for name, value in settings.items() if name not in gone}


# --- indexes --------------------------------------------------------------------------------


def _plan_indexes(
    source: TableDefinition, request: RestoreTable, billing: BillingMode
) -> list[IndexDefinition]:
    """Choose the indexes of the source that the new table is to have, with the throughput given for them."""
    chosen: list[IndexDefinition] = []
    for is_global, wanted in ((False, request.local_indexes), (True, request.global_indexes)):
        there = [index for index in source.indexes if index.is_global is is_global]
        if wanted is None:
            chosen += [_paid(index, None, source.billing, billing) for index in there]
        else:
            chosen += [
                _paid(_matching(there, index), index.throughput, source.billing, billing) for index in wanted
            ]
    return chosen


def _matching(there: Iterable[IndexDefinition], wanted: NewIndex) -> IndexDefinition:
    """Return the source's index that has the keys and the projection of an override. It may get another name."""
    for index in there:
        key = tuple(a.name for a in index.key.partition), tuple(a.name for a in index.key.sort)
        if key == (wanted.partition, wanted.sort) and _is_same(index.projection, wanted.projection):
            return replace(index, name=wanted.name, settings={**index.settings, **wanted.settings})
    raise ValidationError(
        f"Invalid Request: Index {wanted.name} does not match a secondary index that existed in the source table "
        "and cannot be created during the restore operation"
    )


def _is_same(projection: Projection, other: Projection) -> bool:
    return (projection.kind, set(projection.attributes)) == (other.kind, set(other.attributes))


def _paid(
    index: IndexDefinition, given: Throughput | None, source_billing: BillingMode, billing: BillingMode
) -> IndexDefinition:
    if not index.is_global:
        return index
    units = ON_DEMAND if billing == "PAY_PER_REQUEST" else given or index.throughput
    if billing == "PROVISIONED" and units == ON_DEMAND:
        raise ValidationError(f"Invalid Request: Must specify provisioned throughput for index {index.name}")
    kept: dict[str, Any] = {name: index.settings[name] for name in _KEPT_SETTINGS if name in index.settings}
    return replace(index, throughput=units, settings=_without_other_units(kept, billing, source_billing))
