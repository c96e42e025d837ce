"""What operations share: their context, parameters that many take, parts of answers, outcomes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from singletable.capacity.consumed import Consumed
from singletable.engine.patience import Patience
from singletable.engine.requests import Report
from singletable.engine.results import CollectionSize
from singletable.engine.throttling import Throttle
from singletable.errors import ValidationError
from singletable.expressions.conditions import Condition
from singletable.expressions.placeholders import check_given_with_expressions
from singletable.expressions.projections import Projection
from singletable.expressions.scope import Scope
from singletable.metrics import Metrics
from singletable.operations import UNSERVED_PARAMETERS, parameter_refusal
from singletable.storage.reading import Reads
from singletable.storage.store import Store
from singletable.storage.transaction import Transaction
from singletable.values.reading import read_value
from singletable.wire.arns import DEFAULT_ACCOUNT, DEFAULT_REGION, partition_of
from singletable.wire.forms import Form

Params = Mapping[str, Any]
Answer = dict[str, Any]


@dataclass(frozen=True, slots=True)
class OperationContext:
    """The context of an operation: a database, with its region and account."""

    store: Store
    region: str = DEFAULT_REGION
    account: str = DEFAULT_ACCOUNT
    patience: Patience | None = None  # bounds the reads; None: no bound
    throttle: Throttle | None = None  # None: no throttling
    metrics: Metrics = field(default_factory=Metrics)
    past: Reads | None = None  # where items are read, if not from the store as it is

    @property
    def reads(self) -> Reads:
        return self.past or self.store

    def table_arn(self, name: str) -> str:
        return f"arn:{partition_of(self.region)}:dynamodb:{self.region}:{self.account}:table/{name}"


@dataclass(slots=True)
class Outcome:
    """An answer, and the figures of the request for the metrics."""

    answer: Answer
    consumed: Sequence[Consumed] = ()
    is_read: bool | None = None  # where that does not follow from the operation
    returned: int | None = None  # items, of a read that may return several


Work: TypeAlias = Callable[[Transaction], Any]
Render: TypeAlias = Callable[[Any], Outcome]
# A write that is parsed: its work in a transaction, which it may share, and how the result of that is rendered.
Waiting: TypeAlias = tuple[Work, Render]
Run: TypeAlias = Callable[[OperationContext, Params, Form], Answer | Outcome | Waiting]
PlainRun: TypeAlias = Callable[[OperationContext, Params], Outcome | None]  # None: it is not plain


def refuse_unsupported(params: Params) -> None:
    """Refuse a parameter that would be without effect if it were taken."""
    for name in sorted(UNSERVED_PARAMETERS.keys() & params.keys()):
        if params[name] not in (None, [], ()):  # an empty list asks for nothing
            raise ValidationError(parameter_refusal(name))


def table_name(name: str) -> str:
    """Return the name of the table that a TableName or an ARN names."""
    return name.rpartition(":table/")[2] if name.startswith("arn:") else name


def as_given(names: Iterable[str]) -> dict[str, str]:
    """Return the names or ARNs that a request gives to its tables, by table name."""
    return {table_name(name): name for name in names}


def report(params: Params) -> Report:
    wanted: Report = params.get("ReturnConsumedCapacity") or "NONE"
    return wanted


def reports_collections(params: Params) -> bool:
    return params.get("ReturnItemCollectionMetrics") == "SIZE"


def returns_on_failure(params: Params) -> bool:
    return params.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD"


def scope(params: Params, form: Form, expressions: Sequence[str], *, older: bool = False) -> Scope:
    """Return the placeholders of a request; its operation has these expressions."""
    check_placeholders(params, expressions)
    return read_placeholders(params, form, older=older)


def check_placeholders(params: Params, expressions: Sequence[str]) -> None:
    """Raise when a request brings placeholders, but no expression that could use them."""
    names, values = params.get("ExpressionAttributeNames"), params.get("ExpressionAttributeValues")
    if names is not None or values is not None:
        check_given_with_expressions(names, values, [(name, params.get(name)) for name in expressions])


def read_placeholders(params: Params, form: Form, *, older: bool = False) -> Scope:
    return Scope.of_request(
        params.get("ExpressionAttributeNames"),
        params.get("ExpressionAttributeValues"),
        lambda raw: read_value(raw, native=form.is_native, older=older),
        older=older,
    )


def condition_only(params: Params, form: Form, *, older: bool = False) -> Condition | None:
    """Return the ConditionExpression of a request that has no other expression."""
    text = params.get("ConditionExpression")
    if text is None and (older or not _has_placeholders(params)):
        # "DynamoDB accepts a Put/Delete/Get sub-operation that declares names or values but has no condition,
        # update, or projection", in transactions only (captured by github.com/ExtendDB/extenddb, pull 169).
        return None
    placeholders = scope(params, form, ("ConditionExpression",), older=older)
    condition = None if text is None else placeholders.condition(text, parameter="ConditionExpression")
    placeholders.finish()
    return condition


def projection_only(params: Params, form: Form, *, older: bool = False) -> Projection | None:
    """Return the ProjectionExpression of a read: its only expression, without values."""
    text = params.get("ProjectionExpression")
    names = params.get("ExpressionAttributeNames")
    if text is None and (older or names is None):
        return None
    named = {"ProjectionExpression": text, "ExpressionAttributeNames": names}
    placeholders = scope(named, form, ("ProjectionExpression",), older=older)
    projection = None if text is None else placeholders.projection(text)
    placeholders.finish()
    return projection


def plain_text(value: Any, key_type: str | None, bytes_max: int) -> bytes | None:
    """Return a value of ASCII text as the bytes of a key; None for any other."""
    if key_type != "S" or type(value) is not dict or len(value) != 1:
        return None
    text = value.get("S")
    if type(text) is not str or not text.isascii() or not 0 < len(text) <= bytes_max:
        return None
    return text.encode()


def _has_placeholders(params: Params) -> bool:
    return "ExpressionAttributeNames" in params or "ExpressionAttributeValues" in params


# --- parts of answers ------------------------------------------------------------------


def consumed_capacity(consumed: Consumed, wanted: Report, table: str, *, split: str | None = None) -> Answer:
    """Render consumed units. Transactions say also whether they were read or written (`split`).

    A table is named as in the request: "If you had specified the Amazon Resource Name (ARN) of a table in the
    input, you'll see the table ARN in the response" (API reference, ConsumedCapacity).
    """
    answer: Answer = {"TableName": table, "CapacityUnits": consumed.total}
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
    low = size.gigabytes
    return {
        "ItemCollectionKey": form.item({size.partition_name: size.partition}),
        "SizeEstimateRangeGB": [float(low), float(low + 1)],
    }
