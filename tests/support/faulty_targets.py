"""Targets that do one thing wrong, as engines have been seen to do: one for each check of a probe."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from singletable.client import Call, Client
from singletable.client.calls import Answer
from singletable.errors import (
    ApiError,
    CancellationReason,
    InternalServerError,
    TransactionCanceledError,
    UnknownOperationError,
    ValidationError,
)
from support.design_clients import Between

Ask = Callable[[str, Mapping[str, Any]], Answer]
Fault = Callable[[str, dict[str, Any], Ask], Answer]


class Faulty(Between):
    """Stands before a client, and answers as a fault says. It is nobody's engine: what it drops is no error."""

    def __init__(self, inner: Client, fault: Fault) -> None:
        super().__init__(inner)
        self._fault = fault

    @property
    def is_trusted(self) -> bool:
        return False

    def call(self, operation: str, params: Mapping[str, Any]) -> Answer:
        return self._fault(operation, dict(params), super().call)

    def call_together(self, calls: Sequence[Call]) -> list[Answer]:
        return [self.call(call.operation, call.params) for call in calls]


# --- kinds of faults --------------------------------------------------------------------------------------


def unknown(*operations: str) -> Fault:
    """An operation that the target does not have."""

    def fault(operation: str, params: dict[str, Any], ask: Ask) -> Answer:
        if operation in operations:
            raise UnknownOperationError(f"Unsupported operation {operation}")
        return ask(operation, params)

    return fault


def ignoring(operation_of: str, name: str) -> Fault:
    """A parameter that is taken and ignored."""

    def fault(operation: str, params: dict[str, Any], ask: Ask) -> Answer:
        if operation == operation_of:
            params.pop(name, None)
        return ask(operation, params)

    return fault


def forgetting(operation_of: str) -> Fault:
    """An operation that is answered and not carried out."""
    return lambda operation, params, ask: {} if operation == operation_of else ask(operation, params)


def answering(operation_of: str, change: Callable[[dict[str, Any], Answer], Answer]) -> Fault:
    """An operation whose answer is another one."""

    def fault(operation: str, params: dict[str, Any], ask: Ask) -> Answer:
        answer = ask(operation, params)
        return change(params, answer) if operation == operation_of else answer

    return fault


def refusing(operation_of: str, is_refused: Callable[[dict[str, Any]], bool], error: ApiError) -> Fault:
    """Requests of a kind that are answered with an error."""

    def fault(operation: str, params: dict[str, Any], ask: Ask) -> Answer:
        if operation == operation_of and is_refused(params):
            raise error
        return ask(operation, params)

    return fault


# --- faults of transactions ---------------------------------------------------------------------------------


def torn(operation: str, params: dict[str, Any], ask: Ask) -> Answer:
    """A transaction whose actions are carried out one by one."""
    if operation != "TransactWriteItems":
        return ask(operation, params)
    reasons = []
    for action in params["TransactItems"]:
        try:
            ask("PutItem", action["Put"])
            reasons.append(CancellationReason("None"))
        except ApiError:
            reasons.append(CancellationReason("ConditionalCheckFailed"))
    if any(reason.code != "None" for reason in reasons):
        raise TransactionCanceledError(reasons)
    return {}


def racing(operation: str, params: dict[str, Any], ask: Ask) -> Answer:
    """Transactions that do not see each other: conditions on what others are creating hold for all of them."""
    if operation == "TransactWriteItems":
        for action in params["TransactItems"]:
            (write,) = action.values()
            if write.get("Item", {}).get("PK", {}).get("S", "").startswith(("RACE#", "EMAIL#")):
                write.pop("ConditionExpression", None)
    return ask(operation, params)


def silent_reasons(operation: str, params: dict[str, Any], ask: Ask) -> Answer:
    """A transaction that does not return the items in its way."""
    if operation == "TransactWriteItems":
        for action in params["TransactItems"]:
            (write,) = action.values()
            write.pop("ReturnValuesOnConditionCheckFailure", None)
    return ask(operation, params)


def always_true(operation: str, params: dict[str, Any], ask: Ask) -> Answer:
    """Conditions of updates that hold whatever they say."""
    if operation == "UpdateItem":
        params["ConditionExpression"] = f"attribute_exists(PK) OR {params['ConditionExpression']}"
    return ask(operation, params)


# --- faults of reads ----------------------------------------------------------------------------------------


def of_partition(pk: str, change: Callable[[list[Any]], list[Any]]) -> Fault:
    """Queries of one partition, with other items in the answer."""

    def changed(params: dict[str, Any], answer: Answer) -> Answer:
        if params["ExpressionAttributeValues"][":pk"] != {"S": pk}:
            return answer
        return {**answer, "Items": change(answer["Items"])}

    return answering("Query", changed)


def losing_ties(operation: str, params: dict[str, Any], ask: Ask) -> Answer:
    """Pages of an index that begin behind all entries with the key of the last one, as ExtendDB 0.1.0 has them."""
    answer = ask(operation, params)
    start = params.get("ExclusiveStartKey")
    if operation != "Query" or "IndexName" not in params or start is None:
        return answer
    return {**answer, "Items": [item for item in answer["Items"] if item["GSK"] != start["GSK"]]}


def page_loses_first(params: dict[str, Any], answer: Answer) -> Answer:
    if "ExclusiveStartKey" in params and "IndexName" not in params:
        return {**answer, "Items": answer["Items"][1:]}
    return answer


def as_float(params: dict[str, Any], answer: Answer) -> Answer:
    item = {
        name: {"N": str(float(value["N"]))} if "N" in value else value
        for name, value in answer.get("Item", {}).items()
    }
    return {**answer, "Item": item}


def narrow_is_all(operation: str, params: dict[str, Any], ask: Ask) -> Answer:
    if params.get("IndexName") == "narrow":
        params["IndexName"] = "ties"
    return ask(operation, params)


# --- faults of tables ---------------------------------------------------------------------------------------


def no_encryption(operation: str, params: dict[str, Any], ask: Ask) -> Answer:
    """Encryption that is forgotten with a new table, and refused afterwards, as ExtendDB 0.1.0 does."""
    if operation == "CreateTable":
        params.pop("SSESpecification", None)
    if operation == "UpdateTable" and "SSESpecification" in params:
        raise ValidationError("SSESpecification is not supported")
    return ask(operation, params)


def unenforced_protection(operation: str, params: dict[str, Any], ask: Ask) -> Answer:
    if operation == "DeleteTable":
        ask("UpdateTable", {**params, "DeletionProtectionEnabled": False})
    return ask(operation, params)


class NewIndexForgetsKeys:
    """After an index was added no write is taken: the definitions were replaced, as by ExtendDB 0.1.0."""

    def __init__(self) -> None:
        self._is_added = False

    def __call__(self, operation: str, params: dict[str, Any], ask: Ask) -> Answer:
        if self._is_added and operation == "PutItem":
            raise InternalServerError("no type of PK is known")
        self._is_added = self._is_added or "GlobalSecondaryIndexUpdates" in params
        return ask(operation, params)


class SecondTableFails:
    """A table cannot be made a second time by the same name: shards are named by the table."""

    def __init__(self) -> None:
        self._names: set[str] = set()

    def __call__(self, operation: str, params: dict[str, Any], ask: Ask) -> Answer:
        if operation == "CreateTable":
            if params["TableName"] in self._names:
                raise InternalServerError("duplicate shard")
            self._names.add(params["TableName"])
        return ask(operation, params)


class LosesAdditions:
    """Every third addition is lost."""

    def __init__(self) -> None:
        self._count = 0

    def __call__(self, operation: str, params: dict[str, Any], ask: Ask) -> Answer:
        self._count += "ADD " in params.get("UpdateExpression", "")
        return {} if operation == "UpdateItem" and self._count % 3 == 0 else ask(operation, params)


def _holds_value(item: dict[str, Any], test: Callable[[str], bool]) -> bool:
    return any(test(value["S"]) for value in item.values() if "S" in value)


# What is wrong, the verdict, and what is said of it; by the name of the check that finds it.
FAULTS: dict[str, tuple[Callable[[], Fault], str, str]] = {
    "streams": (
        lambda: answering(
            "GetRecords",
            lambda params, answer: {
                **answer,
                "Records": [each for each in answer["Records"] if each["eventName"] != "REMOVE"],
            },
        ),
        "breaks",
        "of 3 changes, 2 are in the stream after 10 s",
    ),
    "writes that race": (
        lambda: ignoring("PutItem", "ConditionExpression"),
        "breaks",
        "in 10 of 10 rounds of 8 writers there was not one winner",
    ),
    "conditions": (
        lambda: always_true,
        "breaks",
        "an update is carried out although",
    ),
    "refused items": (
        lambda: ignoring("PutItem", "ReturnValuesOnConditionCheckFailure"),
        "absent",
        "is not answered",
    ),
    "counters that race": (LosesAdditions, "breaks", "40 additions came to 27"),
    "consistent reads": (
        lambda: answering("GetItem", lambda params, answer: {}),
        "breaks",
        "does not see the write before it",
    ),
    "batches": (
        lambda: answering(
            "BatchGetItem",
            lambda params, answer: {
                "Responses": {name: items[1:] for name, items in answer["Responses"].items()}
            },
        ),
        "breaks",
        "25 items were written, and 24 come back",
    ),
    "texts with NUL": (
        lambda: refusing(
            "PutItem",
            lambda params: _holds_value(params["Item"], lambda value: "\0" in value),
            InternalServerError("invalid byte sequence"),
        ),
        "breaks",
        "InternalServerError: invalid byte sequence",
    ),
    "empty values": (
        lambda: refusing(
            "PutItem",
            lambda params: _holds_value(params["Item"], lambda value: not value),
            ValidationError("An AttributeValue may not contain an empty string"),
        ),
        "breaks",
        "they are refused: An AttributeValue",
    ),
    "long numbers": (lambda: answering("GetItem", as_float), "breaks", "1.2345678901234568e+37"),
    "large items": (
        lambda: refusing(
            "PutItem",
            lambda params: _holds_value(params["Item"], lambda value: len(value) > 300_000),
            ValidationError("too large"),
        ),
        "breaks",
        "they are refused: too large",
    ),
    "transactions": (lambda: torn, "breaks", "has written: before, behind, done, taken are there"),
    "refused transactions": (lambda: silent_reasons, "breaks", "comes [None]"),
    "transactions that race": (
        lambda: racing,
        "breaks",
        "in 30 of 30 rounds of 8 writers more than one has won",
    ),
    "transactions sent twice": (
        lambda: ignoring("TransactWriteItems", "ClientRequestToken"),
        "breaks",
        "was carried out 2 times",
    ),
    "large transactions": (
        lambda: refusing(
            "TransactWriteItems",
            lambda params: len(params["TransactItems"]) > 25,
            ValidationError("25 at most"),
        ),
        "breaks",
        "ValidationException: 25 at most",
    ),
    "pages": (
        lambda: answering("Query", page_loses_first),
        "breaks",
        "of 10 items in pages of 1, read forwards, 9 are lost",
    ),
    "pages over ties": (
        lambda: losing_ties,
        "breaks",
        "of 12 items in pages of 1, read forwards, 9 are lost",
    ),
    "parallel scans": (
        lambda: answering(
            "Scan",
            lambda params, answer: {**answer, "Items": []} if params.get("Segment") in (1, 2) else answer,
        ),
        "breaks",
        "and its 4 parts",
    ),
    "order of keys": (
        lambda: of_partition("ORDER", lambda items: sorted(items, key=lambda item: item["SK"]["S"].lower())),
        "breaks",
        "texts are in the order _ A a A#1 a#1 B b é",
    ),
    "lag of indexes": (
        lambda: of_partition("LAG", lambda items: []),
        "breaks",
        "is not in the index within 10 s",
    ),
    "sparse indexes": (
        lambda: of_partition("SPARSE", lambda items: items or [{"PK": {"S": "SPARSE"}}]),
        "breaks",
        "an index keeps entries",
    ),
    "projections": (lambda: narrow_is_all, "absent", "an index has all attributes"),
    "keys of several attributes": (
        lambda: refusing(
            "CreateTable",
            lambda params: any(
                len(index["KeySchema"]) > 2 for index in params.get("GlobalSecondaryIndexes", ())
            ),
            ValidationError("2 at most"),
        ),
        "absent",
        "is refused: 2 at most",
    ),
    "streams of new tables": (SecondTableFails, "breaks", "of the same name cannot be made: duplicate shard"),
    "time to live": (lambda: unknown("UpdateTimeToLive"), "absent", "it is not known"),
    "units": (
        lambda: ignoring("Query", "ReturnConsumedCapacity"),
        "absent",
        "answers do not say what they have consumed",
    ),
    "units of indexes": (
        lambda: ignoring("PutItem", "ReturnConsumedCapacity"),
        "absent",
        "the units of writes to indexes are not told",
    ),
    "encryption": (lambda: no_encryption, "absent", "it is refused: SSESpecification is not supported"),
    "tags": (lambda: forgetting("TagResource"), "absent", "it is taken, and forgotten"),
    "backups": (lambda: unknown("CreateBackup"), "absent", "they are not known"),
    "recovery": (lambda: forgetting("UpdateContinuousBackups"), "absent", "it is taken, and forgotten"),
    "added indexes": (
        NewIndexForgetsKeys,
        "breaks",
        "a table with a new index takes no writes: no type of PK is known",
    ),
    "deletion protection": (lambda: unenforced_protection, "breaks", "is deleted all the same"),
}
