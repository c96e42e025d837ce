"""Parameters that many operations share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from singletable.capacity.consumed import Consumed
from singletable.engine.requests import Report
from singletable.engine.results import CollectionSize
from singletable.errors import ValidationError
from singletable.expressions.conditions import Condition
from singletable.expressions.placeholders import check_given_with_expressions
from singletable.expressions.projections import Projection
from singletable.expressions.scope import Scope
from singletable.storage.store import Store
from singletable.values.reading import read_value
from singletable.wire.forms import Form

Params = Mapping[str, Any]
Answer = dict[str, Any]

_GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class Session:
    """What an operation runs in: a database, and who it belongs to."""

    store: Store
    region: str = "us-east-1"
    account: str = "000000000000"

    def table_arn(self, name: str) -> str:
        return f"arn:aws:dynamodb:{self.region}:{self.account}:table/{name}"


# The parameters of the days before expressions, each with what replaced it.
_LEGACY = {
    "AttributesToGet": "ProjectionExpression",
    "AttributeUpdates": "UpdateExpression",
    "ConditionalOperator": "ConditionExpression",
    "Expected": "ConditionExpression",
    "KeyConditions": "KeyConditionExpression",
    "QueryFilter": "FilterExpression",
    "ScanFilter": "FilterExpression",
}
_LEGACY_NAMES = frozenset(_LEGACY)


def refuse_legacy(params: Params) -> None:
    if _LEGACY_NAMES.isdisjoint(params):
        return
    for name in _LEGACY_NAMES.intersection(params):
        if params[name] is not None:
            raise ValidationError(
                f"The legacy parameter {name} is not supported in this release; use {_LEGACY[name]}"
            )


# What concerns other regions and vectors; without effect if accepted, so it is refused.
_UNSUPPORTED = frozenset(
    (
        "DisassociationProtectionEnabled",
        "GlobalTableSettingsReplicationMode",
        "GlobalTableSourceArn",
        "GlobalTableWitnessUpdates",
        "MultiRegionConsistency",
        "ReplicaUpdates",
        "VectorIndexes",
        "VectorIndexUpdates",
    )
)


def refuse_unsupported(params: Params) -> None:
    for name in sorted(_UNSUPPORTED.intersection(params)):
        if params[name] is not None:
            raise ValidationError(f"The parameter {name} is not supported in this release")


def table_name(name: str) -> str:
    """Return the name of the table that a TableName or an ARN names."""
    return name.rpartition(":table/")[2] if name.startswith("arn:") else name


def report(params: Params) -> Report:
    wanted: Report = params.get("ReturnConsumedCapacity") or "NONE"
    return wanted


def reports_collections(params: Params) -> bool:
    return params.get("ReturnItemCollectionMetrics") == "SIZE"


def returns_on_failure(params: Params) -> bool:
    return params.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD"


def scope(params: Params, form: Form, expressions: Sequence[str], *, older: bool = False) -> Scope:
    """Return the placeholders of a request whose operation knows these expressions."""
    names, values = params.get("ExpressionAttributeNames"), params.get("ExpressionAttributeValues")
    if names is not None or values is not None:
        check_given_with_expressions(names, values, [(name, params.get(name)) for name in expressions])
    return Scope.of_request(
        names, values, lambda raw: read_value(raw, native=form.is_native, older=older), older=older
    )


def condition_only(params: Params, form: Form, *, older: bool = False) -> Condition | None:
    """Return the ConditionExpression of a request that has no other expression."""
    text = params.get("ConditionExpression")
    if text is None and not _has_placeholders(params):
        return None
    placeholders = scope(params, form, ("ConditionExpression",), older=older)
    condition = None if text is None else placeholders.condition(text, parameter="ConditionExpression")
    placeholders.finish()
    return condition


def projection_only(params: Params, form: Form, *, older: bool = False) -> Projection | None:
    """Return the ProjectionExpression of a read, which has no other expression and takes no values."""
    text = params.get("ProjectionExpression")
    names = params.get("ExpressionAttributeNames")
    if text is None and names is None:
        return None
    named = {"ProjectionExpression": text, "ExpressionAttributeNames": names}
    placeholders = scope(named, form, ("ProjectionExpression",), older=older)
    projection = None if text is None else placeholders.projection(text)
    placeholders.finish()
    return projection


def _has_placeholders(params: Params) -> bool:
    return "ExpressionAttributeNames" in params or "ExpressionAttributeValues" in params


# --- parts of answers ------------------------------------------------------------------


def consumed_capacity(consumed: Consumed, wanted: Report, *, split: str | None = None) -> Answer:
    """Render consumed units. Transactions say also whether they were read or written (`split`)."""
    answer: Answer = {"TableName": consumed.table, "CapacityUnits": consumed.total}
    if split is not None:
        answer[split] = consumed.total
    if wanted == "INDEXES":
        answer["Table"] = _units(consumed.table_units, split)
        if consumed.local_units:
            answer["LocalSecondaryIndexes"] = _index_units(consumed.local_units, split)
        if consumed.global_units:
            answer["GlobalSecondaryIndexes"] = _index_units(consumed.global_units, split)
    return answer


def _units(units: float, split: str | None) -> Answer:
    return {"CapacityUnits": units} if split is None else {"CapacityUnits": units, split: units}


def _index_units(units: Mapping[str, float], split: str | None) -> Answer:
    return {name: _units(value, split) for name, value in units.items()}


def collection_metrics(size: CollectionSize, form: Form) -> Answer:
    low = size.collection_bytes // _GIB
    return {
        "ItemCollectionKey": form.item({size.partition_name: size.partition}),
        "SizeEstimateRangeGB": [float(low), float(low + 1)],
    }
