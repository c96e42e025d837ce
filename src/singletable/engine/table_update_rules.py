"""The rules of UpdateTable that need the table as it stands.

The rules and their words are answers of Amazon DynamoDB that the "ack-api-quirks" laboratory recorded in October
2026 (DDB-TABLE-057, 059, 152, 153, 159, 161, 164, 169, 456).
"""

from __future__ import annotations

from singletable import limits
from singletable.engine.table_changes import IndexUpdate, UpdateTable
from singletable.engine.tables import check_projected_total, undefined_keys
from singletable.engine.throughput import check_new_warm, check_quotas, check_warm_change, warm_units
from singletable.errors import INVALID, LimitExceededError, ResourceNotFoundError, ValidationError
from singletable.storage.definitions import KeySchema, TableDefinition, Throughput


def check_update(table: TableDefinition, request: UpdateTable, *, region: str) -> None:
    """Raise AWS's error for changes that do not fit the table."""
    _check_indexes(table, request)
    if (request.billing or table.billing) == "PAY_PER_REQUEST":
        _check_on_demand(request)
    else:
        _check_provisioned(table, request)
    _check_warm(table, request)
    _check_all_quotas(request, region)


# --- indexes -----------------------------------------------------------------------------------


def _check_indexes(table: TableDefinition, request: UpdateTable) -> None:
    by_name = {index.name: index for index in table.indexes}
    changed = {*(index.name for index in request.creates), *request.deletes}
    if len(changed) > 1:
        # Before any of them is looked for: AWS says it of deletions of indexes that are not there (ScyllaDB's
        # test_gsi_updatetable_errors, run against the service; so does DynamoDB Local 3.3).
        raise _one_at_a_time()
    for verb, names in (("update", request.updates), ("delete", request.deletes)):
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
    if changed and len(in_work | changed) > 1:
        raise _one_at_a_time()
    count = sum(index.is_global for index in table.indexes)
    if request.creates and count >= limits.GLOBAL_INDEXES_MAX:
        raise LimitExceededError(
            "Subscriber limit exceeded: Number of global secondary indexes exceeds per-table limit of "
            f"{limits.GLOBAL_INDEXES_MAX}"
        )
    _check_new_keys(request)
    _check_types_kept(table, request)
    if request.creates:
        check_projected_total((*table.indexes, *request.creates))


def _one_at_a_time() -> LimitExceededError:
    return LimitExceededError(
        "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table"
    )


def _check_new_keys(request: UpdateTable) -> None:
    """Refuse an index with a key that the request does not define, though the table may (API reference).

    "Real DynamoDB rejects it" was observed in eu-west-2, July 2026 (github.com/nubo-db/dynoxide/issues/144).
    """
    defined = [attribute.name for attribute in request.attributes]
    for index in request.creates:
        if any(name not in defined for name in index.key_names):
            raise undefined_keys(index.key_names, defined)


def _check_types_kept(table: TableDefinition, request: UpdateTable) -> None:
    """Refuse a new index with another type for an attribute that a key of the table or of an index has.

    The words are those that ScyllaDB's test_gsi_key_type_conflict_on_update got from the service, for schemas of
    one attribute; several are written as Java writes lists. A definition that the new index does not use is
    ignored, whatever its type (eu-west-2, July 2026: github.com/paritysuite/dynamodb-conformance/issues/78);
    DynamoDB Local 3.3 compares those too.
    """
    schemas = [table.key, *(index.key for index in table.indexes)]
    for new in request.creates:
        key = new.define(0, request.attributes, "CREATING").key
        for existing in schemas:
            types = {attribute.name: attribute.type for attribute in existing.attributes}
            if any(
                types.get(attribute.name, attribute.type) != attribute.type for attribute in key.attributes
            ):
                raise ValidationError(
                    f"{INVALID}Attributes cannot be redefined. Please check that your attribute has the same type "
                    f"as previously defined. Existing schema: {_shown(existing)} New schema: {_shown(key)}"
                )


def _shown(key: KeySchema) -> str:
    kinds = ["HASH"] * len(key.partition) + ["RANGE"] * len(key.sort)
    elements = [
        f"SchemaElement: key{{{attribute.name}:{attribute.type}:{kind}}}"
        for attribute, kind in zip(key.attributes, kinds, strict=True)
    ]
    return f"Schema:[{', '.join(elements)}]"


# --- throughput ----------------------------------------------------------------------------------


def _check_provisioned(table: TableDefinition, request: UpdateTable) -> None:
    if request.throughput is not None and table.throughput == request.throughput:
        # Also beside BillingMode=PROVISIONED.
        raise ValidationError(_will_not_change("the table", "the table", request.throughput))
    for index in table.indexes:
        update = request.updates.get(index.name)
        given = None if update is None else update.throughput
        if given is not None and given == index.throughput:
            raise ValidationError(_will_not_change(f"the index {index.name}", f"index {index.name}", given))
        is_left = index.is_global and given is None and index.name not in request.deletes
        if is_left and table.billing != request.billing == "PROVISIONED":
            raise ValidationError(f"{INVALID}ProvisionedThroughput must be specified for index: {index.name}")
        if update is not None and given is None and not update.settings:
            # Not recorded of an update; AWS says it of a new index.
            raise _units_missing(index.name)
    for new in request.creates:
        if new.throughput is None:
            raise _units_missing(new.name)
    _check_no_on_demand(request)


def _units_missing(index: str) -> ValidationError:
    return ValidationError(
        f"{INVALID}Both ReadCapacityUnits and WriteCapacityUnits must be specified for index: {index}"
    )


def _check_no_on_demand(request: UpdateTable) -> None:
    asked = {"": request.settings}
    asked.update({f" for index : {name}": update.settings for name, update in request.updates.items()})
    asked.update({f" for index : {index.name}": index.settings for index in request.creates})
    for where, settings in asked.items():
        limited = settings.get("OnDemandThroughput")
        if limited:
            raise ValidationError(
                f"{INVALID}{next(iter(limited))} for OnDemandThroughput{where} cannot be specified when the table "
                "BillingMode is PROVISIONED"
            )


def _check_on_demand(request: UpdateTable) -> None:
    if request.throughput is not None:
        raise ValidationError(
            f"{INVALID}Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is "
            "PAY_PER_REQUEST"
        )
    for name, update in request.updates.items():
        if update.throughput is not None or not update.settings:
            raise ValidationError(
                f"{INVALID}The only Updates for index: {name} when TableThroughputMode is PAY_PER_REQUEST can be "
                "to OnDemandThroughput, WarmThroughput"
            )
    for index in request.creates:
        if index.throughput is not None:
            raise ValidationError(
                f"{INVALID}Neither ReadCapacityUnits nor WriteCapacityUnits can be specified for index: "
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


def _check_warm(table: TableDefinition, request: UpdateTable) -> None:
    asked = request.settings.get("WarmThroughput", {})
    check_warm_change(asked, warm_units(table.settings, table.billing, table.throughput), "table")
    for index in table.indexes:
        update = request.updates.get(index.name, IndexUpdate())
        current = warm_units(index.settings, table.billing, index.throughput)
        check_warm_change(update.settings.get("WarmThroughput", {}), current, f"index {index.name}")
    for new in request.creates:
        units = new.throughput or Throughput()
        check_new_warm(new.settings, request.billing or table.billing, units, f"index {new.name}")


def _check_all_quotas(request: UpdateTable, region: str) -> None:
    check_quotas(request.throughput, request.settings, region=region)
    for name, update in request.updates.items():
        check_quotas(update.throughput, update.settings, region=region, index=name)
    for new in request.creates:
        check_quotas(new.throughput, new.settings, region=region, index=new.name)
