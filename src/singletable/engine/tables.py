"""CreateTable, DescribeTable, ListTables, DeleteTable."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from singletable import limits
from singletable.engine.deletions import finish_deletion, mark_deleted
from singletable.engine.keys import require_table
from singletable.engine.throughput import check_quotas
from singletable.errors import INVALID, ResourceInUseError, ResourceNotFoundError, ValidationError
from singletable.storage.backups.restoring import is_restored_from
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
from singletable.storage.streams import next_label_us
from singletable.storage.tables import Table
from singletable.storage.transaction import Transaction
from singletable.values.hash_order import sized_order

TableStatus = Literal["CREATING", "ACTIVE", "UPDATING", "DELETING"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewIndex:
    """An index that is to be made. Its key is given by names: their types belong to the table."""

    name: str
    is_global: bool
    partition: tuple[str, ...]
    sort: tuple[str, ...]
    projection: Projection
    throughput: Throughput | None = None
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def key_names(self) -> tuple[str, ...]:
        return self.partition + self.sort

    def define(
        self, index_id: int, attributes: Iterable[KeyAttribute], status: Literal["CREATING", "ACTIVE"]
    ) -> IndexDefinition:
        """Return the definition of the index in a table with these attributes."""
        by_name = {attribute.name: attribute for attribute in attributes}
        return IndexDefinition(
            id=index_id,
            name=self.name,
            is_global=self.is_global,
            key=KeySchema(
                tuple(by_name[name] for name in self.partition), tuple(by_name[name] for name in self.sort)
            ),
            projection=self.projection,
            status=status,
            throughput=self.throughput or ON_DEMAND,
            settings=self.settings,
        )


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


class TableDescription(NamedTuple):
    """A table with its status and counts, as every description shows it."""

    definition: TableDefinition
    status: TableStatus
    counts: dict[int, Counts]
    """Of the table and its indexes, by their ids."""
    now_us: int
    index_statuses: dict[str, TableStatus]
    """The status of indexes that an answer shows as changing; the others are shown as defined."""
    updating: frozenset[str] = frozenset()
    """The settings of the table that an answer shows as changing: SSESpecification, WarmThroughput."""
    updating_indexes: frozenset[str] = frozenset()
    """The indexes that an answer shows with changing warm throughput."""


class TableNames(NamedTuple):
    names: list[str]
    last: str | None


# --- rules for new indexes, in new and in existing tables ---------------------------


def undefined_keys(names: Sequence[str], defined: Sequence[str]) -> ValidationError:
    """Return the error for keys with undefined attributes."""
    if len(set(names)) > len(defined):  # then no names are given (dynoxide 3.2, captured in October 2026)
        return ValidationError("Invalid KeySchema: Some index key attribute have no definition")
    return ValidationError(
        f"{INVALID}Some index key attributes are not defined in AttributeDefinitions. Keys: "
        f"[{', '.join(sized_order(names))}], AttributeDefinitions: [{', '.join(sized_order(defined))}]"
    )


def check_projected_total(indexes: Iterable[IndexDefinition | NewIndex]) -> None:
    """Refuse more projected attributes than a table may have in all its indexes (AWS guide, "Quotas")."""
    if sum(len(index.projection.attributes) for index in indexes) > limits.PROJECTED_ATTRIBUTES_MAX:
        raise ValidationError(
            f"{INVALID}Aggregated number of NonKeyAttributes exceeds the limit of "
            f"{limits.PROJECTED_ATTRIBUTES_MAX}"
        )


# --- reading ----------------------------------------------------------------------


def describe_table(store: Store, name: str) -> TableDescription:
    """Describe a table. It is ACTIVE also while an index is being filled, as in AWS."""

    def work(execute: Execute, catalog: Catalog) -> TableDescription:
        table = existing_table(catalog, name)
        counts = {store_id: select_counts(execute, store_id) for store_id in _ids(table)}
        status = _status(table)
        return TableDescription(table.definition, status, counts, store.clock.now_us(), {})

    return store.read(work)


def _status(table: Table) -> TableStatus:
    if table.definition.deleting_us is not None:
        return "DELETING"
    return "CREATING" if table.definition.is_restoring else "ACTIVE"


def list_tables(store: Store, *, start: str | None, limit: int) -> TableNames:
    """List the names of tables, sorted, behind `start`."""

    def work(catalog: Catalog) -> TableNames:
        names = [name for name in catalog.names() if start is None or name > start]
        page = names[:limit]
        return TableNames(page, page[-1] if len(names) > limit else None)

    return store.read_catalog(work)


def existing_table(catalog: Catalog, name: str) -> Table:
    """Return a table that an operation on tables names; the operations on items word its absence differently."""
    return _found(catalog.named(name), name)


def changeable_table(catalog: Catalog, name: str) -> Table:
    """Return a table for reading or changing its settings.

    A table that is still being restored counts as missing (ack-api-quirks, DDB-TABLE-217).
    """
    return _found(catalog.get(name), name)


def _found(table: Table | None, name: str) -> Table:
    if table is None:
        raise ResourceNotFoundError(f"Requested resource not found: Table: {name} not found")
    return table


def _check_deletable(execute: Execute, table: Table) -> None:
    """Refuse to delete a table that is being restored, or is read for a restore."""
    if table.definition.deleting_us is not None:
        raise ResourceInUseError(
            f"Attempt to change a resource which is still in use: Table is being deleted: {table.name}"
        )
    if table.definition.is_restoring:
        raise ResourceInUseError(
            f"Attempt to change a resource which is still in use: Table is being created: {table.name}"
        )
    if is_restored_from(execute, table.id):
        raise ResourceInUseError(
            f"Attempt to change a resource which is still in use: Table is being restored from: {table.name}"
        )


def _ids(table: Table) -> list[int]:
    return [table.id, *(index.id for index in table.indexes)]


def current_counts(transaction: Transaction, table: Table) -> dict[int, Counts]:
    """Return the counts of a table and its indexes, with the additions of this transaction so far."""
    return {store_id: transaction.counts(store_id) for store_id in _ids(table)}


# --- creating and deleting ------------------------------------------------------------


def create_table(store: Store, request: CreateTable, *, region: str) -> TableDescription:
    """Make a table. It is ready at once, but answers CREATING as AWS does."""

    def work(transaction: Transaction) -> TableDescription:
        if transaction.catalog.named(request.name) is not None:
            is_there = transaction.catalog.get(request.name) is not None
            raise ResourceInUseError(
                f"Table {'already exists' if is_there else 'is being used'}: {request.name}"
            )
        check_quotas(request.throughput, request.settings, region=region)
        for new in request.indexes:
            check_quotas(new.throughput, new.settings, region=region, index=new.name)
        now_us = transaction.now_us
        table_id = transaction.new_id()
        label_us = next_label_us(transaction.execute, request.name, now_us)
        definition = TableDefinition(
            id=table_id,
            name=request.name,
            uuid=request.uuid,
            created_us=now_us,
            key=request.key,
            attributes=request.attributes,
            indexes=tuple(
                index.define(transaction.new_id(), request.attributes, "ACTIVE") for index in request.indexes
            ),
            billing=request.billing,
            billing_changed_us=now_us if request.billing == "PAY_PER_REQUEST" else None,
            throughput=request.throughput,
            stream=new_stream(request.stream_view, now_us),
            stream_label_us=label_us if request.stream_view else None,
            deletion_protected=request.deletion_protected,
            settings=request.settings,
        )
        transaction.create_table(definition)
        table = require_table(transaction.catalog, request.name)
        statuses: dict[str, TableStatus] = {index.name: "CREATING" for index in request.indexes}
        return TableDescription(definition, "CREATING", current_counts(transaction, table), now_us, statuses)

    return store.write(work)


def new_stream(view: StreamView | None, now_us: int) -> StreamDefinition | None:
    return None if view is None else StreamDefinition(view=view, created_us=now_us)


def delete_table(store: Store, name: str) -> TableDescription:
    """Delete a table with its items. Large ones are taken away in the background."""

    def work(transaction: Transaction) -> TableDescription:
        table = existing_table(transaction.catalog, name)
        _check_deletable(transaction.execute, table)
        if table.definition.deletion_protected:
            raise ValidationError(
                "Resource cannot be deleted as it is currently protected against deletion. "
                "Disable deletion protection first."
            )
        if any(not index.is_ready for index in table.indexes):
            raise ResourceInUseError(
                "Attempt to change a resource which is still in use: Cannot delete table while indexes are being "
                "created, updated, or deleted."
            )
        counts = current_counts(transaction, table)
        definition = table.definition
        if definition.recovery is not None:
            definition = mark_deleted(store, transaction, definition)
        else:
            transaction.delete_table(table)
        return TableDescription(definition, "DELETING", counts, transaction.now_us, {})

    description = store.write(work)
    definition = description.definition
    if definition.deleting_us is not None:
        finish_deletion(store, definition, description.counts[definition.id].item_bytes)
    store.background.begin()
    return description
