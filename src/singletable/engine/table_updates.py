"""UpdateTable: a table's settings, and its global indexes.

What may be combined, what counts as a change and what is said otherwise follows answers of Amazon DynamoDB that
the "ack-api-quirks" laboratory recorded in October 2026 (us-west-2).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from singletable import limits
from singletable.engine.keys import require_table
from singletable.engine.tables import (
    NewIndex,
    TableDescription,
    TableStatus,
    describe_change,
    existing_table,
    new_stream,
)
from singletable.errors import LimitExceededError, ResourceNotFoundError, ValidationError
from singletable.storage.definitions import (
    ON_DEMAND,
    BillingMode,
    IndexDefinition,
    KeyAttribute,
    StreamDefinition,
    StreamView,
    TableDefinition,
    Throughput,
)
from singletable.storage.store import Store
from singletable.storage.transaction import Transaction

_INVALID = "One or more parameter values were invalid: "


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateTable:
    """Changes of a table. None leaves a setting as it is."""

    name: str
    attributes: tuple[KeyAttribute, ...] = ()
    billing: BillingMode | None = None
    throughput: Throughput | None = None
    creates: tuple[NewIndex, ...] = ()
    deletes: tuple[str, ...] = ()
    index_throughputs: dict[str, Throughput | None] = field(default_factory=dict)
    """Of each index that is to be updated; None where only its settings are."""
    index_settings: dict[str, dict[str, Any]] = field(default_factory=dict)
    stream_enabled: bool | None = None
    stream_view: StreamView | None = None
    deletion_protected: bool | None = None
    settings: dict[str, Any] = field(default_factory=dict)


def update_table(store: Store, request: UpdateTable) -> TableDescription:
    """Change a table's settings, or add or remove a global index.

    A new index is filled in the background while writers write. The first piece is done before this returns, so
    that the index of a small table is ready for the next request.
    """

    def work(transaction: Transaction) -> TableDescription:
        table = existing_table(transaction.catalog, request.name)
        definition = plan_update_table(table.definition, request, transaction.now_us)
        for index in request.creates:
            created = index.define(transaction.new_id(), definition.attributes, "CREATING")
            definition = replace(definition, indexes=(*definition.indexes, created))
        transaction.alter_table(definition)
        described = describe_change(
            transaction,
            require_table(transaction.catalog, request.name),
            _status(request),
            _index_statuses(request),
        )
        deleted = [table.index_by_name[name].definition for name in request.deletes]
        return described._replace(deleted_index=deleted[0]) if deleted else described

    description = store.write(work)
    if request.creates or request.deletes:
        store.background.begin()
    return description


def _status(request: UpdateTable) -> TableStatus:
    """Return the status that the answer gives: some changes are done at once in AWS too."""
    slow = (
        request.billing,
        request.throughput,
        request.creates,
        request.deletes,
        request.settings.get("TableClass"),
    )
    return "UPDATING" if any(slow) or request.stream_enabled is not None else "ACTIVE"


def _index_statuses(request: UpdateTable) -> dict[str, TableStatus]:
    statuses: dict[str, TableStatus] = dict.fromkeys(request.index_throughputs, "UPDATING")
    statuses.update({index.name: "CREATING" for index in request.creates})
    statuses.update(dict.fromkeys(request.deletes, "DELETING"))
    return statuses


# --- planning -----------------------------------------------------------------------------


def plan_update_table(table: TableDefinition, request: UpdateTable, now_us: int) -> TableDefinition:
    """Decide what a table becomes, apart from its new index."""
    _check_indexes(table, request)
    _check_throughput(table, request)
    billing = request.billing or table.billing
    stream, label_us = _plan_stream(table, request, now_us)
    indexes = tuple(
        _plan_index(index, request, billing) for index in table.indexes if index.name not in request.deletes
    )
    return replace(
        table,
        attributes=_plan_attributes(table, request, indexes),
        indexes=indexes,
        billing=billing,
        billing_changed_us=_billing_changed_us(table, billing, now_us),
        throughput=ON_DEMAND if billing == "PAY_PER_REQUEST" else request.throughput or table.throughput,
        stream=stream,
        stream_label_us=label_us,
        deletion_protected=(
            table.deletion_protected if request.deletion_protected is None else request.deletion_protected
        ),
        settings=_plan_settings(table.settings, request.settings, billing),
    )


def _check_indexes(table: TableDefinition, request: UpdateTable) -> None:
    by_name = {index.name: index for index in table.indexes}
    for verb, names in (("update", request.index_throughputs), ("delete", request.deletes)):
        for name in names:
            if name not in by_name:
                raise ResourceNotFoundError(
                    f"Requested resource not found: Index {name} for table {table.name}"
                )
            if not by_name[name].is_global:
                raise ValidationError(f"Cannot {verb} an index that is not a GlobalSecondaryIndex: {name}")
    if any(index.name in by_name for index in request.creates):
        raise ValidationError("Attempting to create an index which already exists")
    in_work = {index.name for index in table.indexes if index.status == "CREATING"}
    changed = [*(index.name for index in request.creates), *request.deletes]
    if changed and len(in_work.union(changed)) > 1:
        raise LimitExceededError(
            "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table"
        )
    count = sum(index.is_global for index in table.indexes)
    if request.creates and count >= limits.GLOBAL_INDEXES_MAX:
        raise LimitExceededError(
            "Subscriber limit exceeded: Number of global secondary indexes exceeds per-table limit of "
            f"{limits.GLOBAL_INDEXES_MAX}"
        )
    _check_new_keys(table, request)


def _check_new_keys(table: TableDefinition, request: UpdateTable) -> None:
    known = [attribute.name for attribute in (*table.attributes, *request.attributes)]
    for index in request.creates:
        if any(name not in known for name in index.key_names):
            raise ValidationError(
                f"{_INVALID}Some index key attributes are not defined in AttributeDefinitions. "
                f"Keys: [{', '.join(index.key_names)}], "
                f"AttributeDefinitions: [{', '.join(dict.fromkeys(known))}]"
            )


def _check_throughput(table: TableDefinition, request: UpdateTable) -> None:
    if (request.billing or table.billing) == "PAY_PER_REQUEST":
        _check_on_demand(request)
        return
    if request.throughput is not None and table.throughput == request.throughput:
        raise ValidationError(
            _will_not_change(
                "the table", "the table", request.throughput
            )  # also beside BillingMode=PROVISIONED
        )
    for index in table.indexes:
        given = request.index_throughputs.get(index.name)
        if given is not None and given == index.throughput:
            raise ValidationError(_will_not_change(f"the index {index.name}", f"index {index.name}", given))
        is_left = index.is_global and given is None and index.name not in request.deletes
        if is_left and table.billing != request.billing == "PROVISIONED":
            raise ValidationError(
                f"{_INVALID}ProvisionedThroughput must be specified for index: {index.name}"
            )
    for new in request.creates:
        if new.throughput is None:
            raise ValidationError(
                f"{_INVALID}Both ReadCapacityUnits and WriteCapacityUnits must be specified for index: {new.name}"
            )
    limited = request.settings.get("OnDemandThroughput")
    if limited:
        raise ValidationError(
            f"{_INVALID}{next(iter(limited))} for OnDemandThroughput cannot be specified when the table "
            "BillingMode is PROVISIONED"
        )


def _check_on_demand(request: UpdateTable) -> None:
    if request.throughput is not None:
        raise ValidationError(
            f"{_INVALID}Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is "
            "PAY_PER_REQUEST"
        )
    for name, given in request.index_throughputs.items():
        if given is not None:
            raise ValidationError(
                f"{_INVALID}The only Updates for index: {name} when TableThroughputMode is PAY_PER_REQUEST can be "
                "to OnDemandThroughput, WarmThroughput"
            )
    for index in request.creates:
        if index.throughput is not None:
            raise ValidationError(
                f"{_INVALID}Neither ReadCapacityUnits nor WriteCapacityUnits can be specified for index: "
                f"{index.name} when BillingMode is PAY_PER_REQUEST"
            )


def _will_not_change(what: str, where: str, units: Throughput) -> str:
    return (
        f"The provisioned throughput for {what} will not change. The requested value equals the current value. "
        f"Current ReadCapacityUnits provisioned for {where}: {units.read_units}. "
        f"Requested ReadCapacityUnits: {units.read_units}. "
        f"Current WriteCapacityUnits provisioned for {where}: {units.write_units}. "
        f"Requested WriteCapacityUnits: {units.write_units}. "
        "Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits."
    )


def _plan_stream(
    table: TableDefinition, request: UpdateTable, now_us: int
) -> tuple[StreamDefinition | None, int | None]:
    if request.stream_enabled is None:
        return table.stream, table.stream_label_us
    if request.stream_enabled:
        if table.stream is not None:
            raise ValidationError(f"Table already has an enabled stream: TableName: {table.name}")
        return new_stream(request.stream_view, now_us), now_us
    if table.stream is None:
        raise ValidationError(f"Table has no stream to disable: TableName: {table.name}")
    return None, table.stream_label_us


def _plan_index(index: IndexDefinition, request: UpdateTable, billing: BillingMode) -> IndexDefinition:
    throughput = request.index_throughputs.get(index.name) or index.throughput
    return replace(
        index,
        throughput=ON_DEMAND if billing == "PAY_PER_REQUEST" else throughput,
        settings=_plan_settings(index.settings, request.index_settings.get(index.name, {}), billing),
    )


def _plan_settings(old: dict[str, Any], new: dict[str, Any], billing: BillingMode) -> dict[str, Any]:
    settings = {**old, **new}
    encryption = new.get("SSESpecification")
    if encryption is not None and not encryption["Enabled"]:
        if "SSESpecification" not in old:
            raise ValidationError(f"{_INVALID}Table is already encrypted by default")
        del settings["SSESpecification"]
    # OnDemandThroughput is merged member by member, and -1 takes a member away. Only a table that is paid per
    # request has one.
    merged = {**old.get("OnDemandThroughput", {}), **new.get("OnDemandThroughput", {})}
    kept = {name: units for name, units in merged.items() if units != -1 and billing == "PAY_PER_REQUEST"}
    settings.pop("OnDemandThroughput", None)
    return {**settings, "OnDemandThroughput": kept} if kept else settings


def _plan_attributes(
    table: TableDefinition, request: UpdateTable, indexes: tuple[IndexDefinition, ...]
) -> tuple[KeyAttribute, ...]:
    """Keep the definitions that a key still uses; add those of a new index. A type never changes."""
    schemas = (table.key, *(index.key for index in indexes))
    used = {name for schema in schemas for name in schema.names}
    used.update(name for index in request.creates for name in index.key_names)
    known = {attribute.name: attribute for attribute in table.attributes}
    for attribute in request.attributes:
        known.setdefault(attribute.name, attribute)
    return tuple(attribute for attribute in known.values() if attribute.name in used)


def _billing_changed_us(table: TableDefinition, billing: BillingMode, now_us: int) -> int | None:
    if billing == table.billing:
        return table.billing_changed_us
    return now_us if billing == "PAY_PER_REQUEST" else table.billing_changed_us
