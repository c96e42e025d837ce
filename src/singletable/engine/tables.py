"""CreateTable, DescribeTable, ListTables, UpdateTable, DeleteTable."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from singletable import limits
from singletable.engine.keys import require_table
from singletable.errors import LimitExceededError, ResourceInUseError, ResourceNotFoundError, ValidationError
from singletable.storage.catalog import Catalog, Execute
from singletable.storage.definitions import (
    ON_DEMAND,
    BillingMode,
    IndexDefinition,
    KeyAttribute,
    KeySchema,
    Projection,
    StreamDefinition,
    StreamView,
    TableDefinition,
    Throughput,
)
from singletable.storage.reading import Counts, select_counts
from singletable.storage.store import Store
from singletable.storage.tables import Table
from singletable.storage.transaction import Transaction

TableStatus = Literal["CREATING", "ACTIVE", "UPDATING", "DELETING"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewIndex:
    """An index that is to be made."""

    name: str
    is_global: bool
    key: KeySchema
    projection: Projection
    throughput: Throughput = ON_DEMAND
    settings: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateTable:
    name: str
    uuid: str
    key: KeySchema
    attributes: tuple[KeyAttribute, ...]
    indexes: tuple[NewIndex, ...] = ()
    billing: BillingMode = "PROVISIONED"
    throughput: Throughput = ON_DEMAND
    stream_view: StreamView | None = None
    deletion_protected: bool = False
    settings: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateTable:
    """Changes of a table. None leaves a setting as it is."""

    name: str
    attributes: tuple[KeyAttribute, ...] | None = None
    billing: BillingMode | None = None
    throughput: Throughput | None = None
    create_index: NewIndex | None = None
    delete_index: str | None = None
    index_throughputs: dict[str, Throughput] = field(default_factory=dict)
    index_settings: dict[str, dict[str, Any]] = field(default_factory=dict)
    stream_view: StreamView | None = None
    stream_enabled: bool | None = None
    deletion_protected: bool | None = None
    settings: dict[str, Any] = field(default_factory=dict)


class TableDescription(NamedTuple):
    """A table with its status and counts; what it answers everywhere it is described."""

    definition: TableDefinition
    status: TableStatus
    counts: Counts
    index_counts: dict[str, Counts]
    deleting_index: IndexDefinition | None = None


class TableNames(NamedTuple):
    names: list[str]
    last: str | None


# --- reading ----------------------------------------------------------------------


def describe_table(store: Store, name: str) -> TableDescription:
    """Describe a table."""

    def work(execute: Execute, catalog: Catalog) -> TableDescription:
        table = catalog.get(name)
        if table is None:
            raise ResourceNotFoundError(f"Requested resource not found: Table: {name} not found")
        return _describe(table, {store_id: select_counts(execute, store_id) for store_id in _ids(table)})

    return store.read(work)


def list_tables(store: Store, *, start: str | None, limit: int) -> TableNames:
    """List the names of tables, sorted, behind `start`."""

    def work(execute: Execute, catalog: Catalog) -> TableNames:
        select_counts(execute, 0)  # a read, which tells whether the catalog is still the stored one
        names = [name for name in catalog.names() if start is None or name > start]
        page = names[:limit]
        return TableNames(page, page[-1] if len(names) > limit else None)

    return store.read(work)


def _ids(table: Table) -> list[int]:
    return [table.id, *(index.id for index in table.indexes)]


def _describe(table: Table, counts: dict[int, Counts], status: TableStatus | None = None) -> TableDescription:
    busy = any(not index.is_ready for index in table.indexes)
    return TableDescription(
        definition=table.definition,
        status=status or ("UPDATING" if busy else "ACTIVE"),
        counts=counts[table.id],
        index_counts={index.name: counts[index.id] for index in table.indexes},
    )


def _describe_in(transaction: Transaction, table: Table, status: TableStatus) -> TableDescription:
    return _describe(table, {store_id: transaction.counts(store_id) for store_id in _ids(table)}, status)


# --- creating and deleting ------------------------------------------------------------


def create_table(store: Store, request: CreateTable) -> TableDescription:
    """Make a table. It is ready at once, but answers CREATING as AWS does."""

    def work(transaction: Transaction) -> TableDescription:
        if transaction.catalog.get(request.name) is not None:
            raise ResourceInUseError(f"Table already exists: {request.name}")
        now_us = transaction.now_us
        definition = TableDefinition(
            id=transaction.new_id(),
            name=request.name,
            uuid=request.uuid,
            created_us=now_us,
            key=request.key,
            attributes=request.attributes,
            indexes=tuple(_index(transaction.new_id(), index, "ACTIVE") for index in request.indexes),
            billing=request.billing,
            billing_changed_us=now_us if request.billing == "PAY_PER_REQUEST" else None,
            throughput=request.throughput,
            stream=_stream(request.stream_view, now_us),
            stream_label_us=now_us if request.stream_view else None,
            deletion_protected=request.deletion_protected,
            settings=request.settings,
        )
        transaction.create_table(definition)
        table = require_table(transaction.catalog, request.name)
        return _describe_in(transaction, table, "CREATING")

    return store.write(work)


def _index(index_id: int, index: NewIndex, status: Literal["CREATING", "ACTIVE"]) -> IndexDefinition:
    return IndexDefinition(
        id=index_id,
        name=index.name,
        is_global=index.is_global,
        key=index.key,
        projection=index.projection,
        status=status,
        throughput=index.throughput,
        settings=index.settings,
    )


def _stream(view: StreamView | None, now_us: int) -> StreamDefinition | None:
    return None if view is None else StreamDefinition(view=view, created_us=now_us)


def delete_table(store: Store, name: str) -> TableDescription:
    """Delete a table with its items. Large ones are taken away in the background."""

    def work(transaction: Transaction) -> TableDescription:
        table = transaction.catalog.get(name)
        if table is None:
            raise ResourceNotFoundError(f"Requested resource not found: Table: {name} not found")
        if table.definition.deletion_protected:
            raise ValidationError(
                f"Resource cannot be deleted as it is currently protected against deletion. "
                f"Disable deletion protection first. Resource: Table: {name}"
            )
        if any(not index.is_ready for index in table.indexes):
            raise ResourceInUseError(
                f"Attempt to change a resource which is still in use: Table is being updated: {name}"
            )
        description = _describe_in(transaction, table, "DELETING")
        transaction.delete_table(table)
        return description

    description = store.write(work)
    store.background.begin()
    return description


# --- updating -----------------------------------------------------------------------------


def update_table(store: Store, request: UpdateTable) -> TableDescription:
    """Change a table's settings, or add or remove a global index.

    A new index is filled in the background while writers write. The first piece is done before this returns, so
    that the index of a small table is ready for the next request.
    """

    def work(transaction: Transaction) -> TableDescription:
        table = transaction.catalog.get(request.name)
        if table is None:
            raise ResourceNotFoundError(f"Requested resource not found: Table: {request.name} not found")
        definition = plan_update_table(table.definition, request, transaction.now_us)
        if request.create_index is not None:
            index = _index(transaction.new_id(), request.create_index, "CREATING")
            definition = replace(definition, indexes=(*definition.indexes, index))
        transaction.alter_table(definition)
        described = _describe_in(transaction, require_table(transaction.catalog, request.name), "UPDATING")
        dropped = table.index_by_name.get(request.delete_index or "")
        return described if dropped is None else described._replace(deleting_index=dropped.definition)

    description = store.write(work)
    if request.create_index or request.delete_index:
        store.background.begin()
    return description


def plan_update_table(table: TableDefinition, request: UpdateTable, now_us: int) -> TableDefinition:
    """Decide what a table becomes, apart from a new index."""
    _check_update(table, request)
    billing = request.billing or table.billing
    throughput = request.throughput or table.throughput
    if billing == "PAY_PER_REQUEST":
        throughput = ON_DEMAND
    stream, label_us = _plan_stream(table, request, now_us)
    indexes = tuple(
        _plan_index(index, request, billing) for index in table.indexes if index.name != request.delete_index
    )
    return replace(
        table,
        attributes=_plan_attributes(table, request, indexes),
        indexes=indexes,
        billing=billing,
        billing_changed_us=_billing_changed_us(table, billing, now_us),
        throughput=throughput,
        stream=stream,
        stream_label_us=label_us,
        deletion_protected=(
            table.deletion_protected if request.deletion_protected is None else request.deletion_protected
        ),
        settings={**table.settings, **request.settings},
    )


def _check_update(table: TableDefinition, request: UpdateTable) -> None:
    if any(index.status != "ACTIVE" for index in table.indexes):
        raise ResourceInUseError(
            f"Attempt to change a resource which is still in use: Table is being updated: {table.name}"
        )
    names = {index.name for index in table.indexes if index.is_global}
    touched = [*request.index_throughputs, *request.index_settings]
    missing = [name for name in (*touched, request.delete_index) if name and name not in names]
    if missing:
        raise ResourceNotFoundError(
            f"Requested resource not found: No index with name {missing[0]} found in table {table.name}"
        )
    new = request.create_index
    if new is not None and any(index.name == new.name for index in table.indexes):
        raise ValidationError(f"Attempting to create an index which already exists: {new.name}")
    if new is not None and len(names) >= limits.GLOBAL_INDEXES_MAX:
        raise LimitExceededError(
            "Subscriber limit exceeded: the number of global secondary indexes per table is limited to "
            f"{limits.GLOBAL_INDEXES_MAX}"
        )


def _plan_stream(
    table: TableDefinition, request: UpdateTable, now_us: int
) -> tuple[StreamDefinition | None, int | None]:
    if request.stream_enabled is None:
        return table.stream, table.stream_label_us
    if request.stream_enabled:
        if table.stream is not None:
            raise ValidationError(f"Table already has an enabled stream: TableName: {table.name}")
        return _stream(request.stream_view, now_us), now_us
    if table.stream is None:
        raise ValidationError(f"Table has no enabled stream to disable: TableName: {table.name}")
    return None, table.stream_label_us


def _plan_index(index: IndexDefinition, request: UpdateTable, billing: BillingMode) -> IndexDefinition:
    throughput = request.index_throughputs.get(index.name, index.throughput)
    return replace(
        index,
        throughput=ON_DEMAND if billing == "PAY_PER_REQUEST" else throughput,
        settings={**index.settings, **request.index_settings.get(index.name, {})},
    )


def _plan_attributes(
    table: TableDefinition, request: UpdateTable, indexes: tuple[IndexDefinition, ...]
) -> tuple[KeyAttribute, ...]:
    """Keep the definitions that a key still uses; add the new ones. A type never changes."""
    used = {name for schema in (table.key, *(index.key for index in indexes)) for name in schema.names}
    if request.create_index is not None:
        used |= set(request.create_index.key.names)
    known = {attribute.name: attribute for attribute in table.attributes}
    for attribute in request.attributes or ():
        known.setdefault(attribute.name, attribute)
    return tuple(attribute for attribute in known.values() if attribute.name in used)


def _billing_changed_us(table: TableDefinition, billing: BillingMode, now_us: int) -> int | None:
    if billing == table.billing:
        return table.billing_changed_us
    return now_us if billing == "PAY_PER_REQUEST" else table.billing_changed_us
