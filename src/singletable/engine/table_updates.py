"""UpdateTable: a table's settings, and its global indexes.

The numbers DDB-TABLE cite answers of Amazon DynamoDB that the "ack-api-quirks" laboratory recorded in October
2026.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from singletable.engine.table_changes import IndexUpdate, UpdateTable
from singletable.engine.table_update_answers import (
    answered_definition,
    answered_index_statuses,
    answered_status,
    updating_indexes,
    updating_settings,
)
from singletable.engine.table_update_rules import check_update
from singletable.engine.tables import (
    TableDescription,
    changeable_table,
    current_counts,
    new_stream,
)
from singletable.engine.throttling import Throttle
from singletable.engine.throughput import remember_change, warm_setting, warm_units
from singletable.errors import INVALID, ValidationError
from singletable.storage.definitions import (
    ON_DEMAND,
    BillingMode,
    IndexDefinition,
    KeyAttribute,
    StreamDefinition,
    TableDefinition,
    Throughput,
)
from singletable.storage.reading import Counts
from singletable.storage.store import Store
from singletable.storage.streams import next_label_us
from singletable.storage.transaction import Transaction


def update_table(
    store: Store, request: UpdateTable, *, region: str, throttle: Throttle | None = None
) -> TableDescription:
    """Change a table's settings, or add or remove a global index.

    A new index is filled in the background while writers write. The first piece is done before this returns, so
    that the index of a small table is ready for the next request.
    """

    def work(transaction: Transaction) -> TableDescription:
        table = changeable_table(transaction.catalog, request.name)
        old, now_us = table.definition, transaction.now_us
        label_us = next_label_us(transaction.execute, old.name, now_us)
        new = plan_update_table(old, request, now_us, label_us, region=region)
        counts = current_counts(transaction, table)
        for index in request.creates:
            created = index.define(transaction.new_id(), new.attributes, "CREATING")
            new = replace(new, indexes=(*new.indexes, created))
            counts[created.id] = Counts(0, 0)
        transaction.alter_table(new)
        return TableDescription(
            answered_definition(old, new, request, now_us),
            answered_status(request),
            counts,
            now_us,
            answered_index_statuses(old, new, request),
            updating_settings(request),
            updating_indexes(request),
        )

    description = store.write(work)
    if throttle is not None and (table := store.catalog.get(request.name)) is not None:
        throttle.follow(table)
    if request.creates or request.deletes:
        store.background.begin()
    return description


# --- planning -----------------------------------------------------------------------------


def plan_update_table(
    table: TableDefinition, request: UpdateTable, now_us: int, label_us: int, *, region: str
) -> TableDefinition:
    """Plan the new definition of a table, apart from its new index."""
    check_update(table, request, region=region)
    billing = request.billing or table.billing
    stream, stream_label_us = _plan_stream(table, request, now_us, label_us)
    indexes = tuple(
        _plan_index(index, table.billing, request.updates.get(index.name, IndexUpdate()), billing, now_us)
        for index in table.indexes
        if index.name not in request.deletes
    )
    units = ON_DEMAND if billing == "PAY_PER_REQUEST" else request.throughput or table.throughput
    settings = _plan_settings(table.settings, request.settings, billing)
    settings = _plan_class(settings, request.settings.get("TableClass"), now_us)
    warm = warm_units(table.settings, table.billing, table.throughput)
    settings = _plan_warm(settings, request.settings, warm, billing, units)
    if table.billing == billing:
        settings = remember_change(settings, table.throughput, units, now_us)
    if stream_label_us != table.stream_label_us:
        settings.pop("StreamTags", None)
    return replace(
        table,
        attributes=_plan_attributes(table, request, indexes),
        indexes=indexes,
        billing=billing,
        billing_changed_us=_billing_changed_us(table, billing, now_us),
        throughput=units,
        stream=stream,
        stream_label_us=stream_label_us,
        deletion_protected=(
            table.deletion_protected if request.deletion_protected is None else request.deletion_protected
        ),
        settings=settings,
    )


def _plan_stream(
    table: TableDefinition, request: UpdateTable, now_us: int, label_us: int
) -> tuple[StreamDefinition | None, int | None]:
    if request.stream_enabled is None:
        return table.stream, table.stream_label_us
    if request.stream_enabled:
        if table.stream is not None:
            raise ValidationError(f"Table already has an enabled stream: TableName: {table.name}")
        return new_stream(request.stream_view, now_us), label_us
    if table.stream is None:
        raise ValidationError(f"Table has no stream to disable: TableName: {table.name}")
    return None, table.stream_label_us


def _plan_index(
    index: IndexDefinition, old_billing: BillingMode, update: IndexUpdate, billing: BillingMode, now_us: int
) -> IndexDefinition:
    if not index.is_global:
        return index
    units = ON_DEMAND if billing == "PAY_PER_REQUEST" else update.throughput or index.throughput
    settings = _plan_on_demand(index.settings, update.settings, billing)
    warm = warm_units(index.settings, old_billing, index.throughput)
    settings = _plan_warm(settings, update.settings, warm, billing, units)
    # A change to on-demand counts as a decrease of each index, though not of the table (DDB-TABLE-153).
    if old_billing != "PAY_PER_REQUEST":
        settings = remember_change(settings, index.throughput, units, now_us)
    return replace(index, throughput=units, settings=settings)


def _plan_settings(old: Mapping[str, Any], new: Mapping[str, Any], billing: BillingMode) -> dict[str, Any]:
    settings = _plan_on_demand(old, new, billing)
    encryption = new.get("SSESpecification")
    if encryption is None:
        return settings
    if not encryption["Enabled"]:
        if "SSESpecification" not in old:
            raise ValidationError(f"{INVALID}Table is already encrypted by default")
        del settings["SSESpecification"]
        return settings
    key = encryption.get("KMSMasterKeyId")
    if (
        key is not None
        and key.startswith("arn:")
        and key == old.get("SSESpecification", {}).get("KMSMasterKeyId")
    ):
        # Only of an ARN: an alias or a key id makes AWS encrypt the table once more (DDB-TABLE-082).
        raise ValidationError(
            f"{INVALID}Table is already encrypted with given KMSMasterKeyId. Use KMSMasterKeyId parameter if you "
            "want to change Master Key"
        )
    return {**settings, "SSESpecification": encryption}


def _plan_on_demand(old: Mapping[str, Any], new: Mapping[str, Any], billing: BillingMode) -> dict[str, Any]:
    """Merge OnDemandThroughput member by member; -1 removes one. Only tables paid per request have any."""
    merged = {**old.get("OnDemandThroughput", {}), **new.get("OnDemandThroughput", {})}
    kept = {name: units for name, units in merged.items() if units != -1 and billing == "PAY_PER_REQUEST"}
    settings = {name: setting for name, setting in old.items() if name != "OnDemandThroughput"}
    return {**settings, "OnDemandThroughput": kept} if kept else settings


def _plan_class(settings: dict[str, Any], asked: str | None, now_us: int) -> dict[str, Any]:
    # The class that a table has already is taken, and leaves no trace (DDB-TABLE-180, 365).
    if asked is None or asked == settings.get("TableClass", "STANDARD"):
        return settings
    return {**settings, "TableClass": asked, "TableClassLastUpdateDateTime": now_us}


def _plan_warm(
    settings: dict[str, Any],
    asked: Mapping[str, Any],
    old: Throughput,
    billing: BillingMode,
    units: Throughput,
) -> dict[str, Any]:
    """Keep the warm throughput of a table or index, where it does not follow from the new units alone."""
    kept = {name: setting for name, setting in settings.items() if name != "WarmThroughput"}
    wanted = {"WarmThroughput": {**warm_setting(old), **asked.get("WarmThroughput", {})}}
    warm = warm_units(wanted, billing, units)
    return kept if warm == warm_units({}, billing, units) else {**kept, "WarmThroughput": warm_setting(warm)}


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
    is_now_on_demand = billing == "PAY_PER_REQUEST" and table.billing != billing
    return now_us if is_now_on_demand else table.billing_changed_us
