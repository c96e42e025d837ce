"""Transactions: what is refused, what cancels, and in which order."""

from __future__ import annotations

from golden.side_by_side.arena import Case
from golden.side_by_side.comparison import Difference
from golden.side_by_side.settled.faults import FORM, KEY_FAULTS, request_of
from golden.side_by_side.settled.rule import Rule

_CANCELED = "TransactionCanceledException: Transaction cancelled, please refer cancellation reasons .*"


def _has_several_actions(case: Case, _difference: Difference) -> bool:
    return len(request_of(case)["TransactItems"]) > 1


def _has_index_key_reason(_case: Case, difference: Difference) -> bool:
    reasons = difference.ours["CancellationReasons"]
    return any("Type mismatch for Index Key" in reason.get("Message", "") for reason in reasons)


TRANSACTION_RULES: list[Rule] = [
    Rule(
        name="placeholders without expressions in transactions",
        why="An action may bring placeholders without an expression that could use them.",
        evidence="ExtendDB pull request 169, captured from AWS: 'accepts a Put/Delete/Get sub-operation that "
        "declares names or values but has no condition'",
        aspect="refusal",
        ours="OK|(TransactionCanceledException|ValidationException|no table|ResourceNotFoundException).*",
        theirs="ValidationException: ExpressionAttribute(Names|Values) can only be specified when using "
        "expressions.*",
        operations=("TransactGetItems", "TransactWriteItems"),
    ),
    Rule(
        name="reasons of several keys",
        why="Of several wrong keys AWS names the first alone.",
        evidence=(
            "ScyllaDB's test_transact.py, run against AWS: "
            "test_transact_write_cancellation_reasons_validationerror"
        ),
        aspect="refusal",
        ours=r"TransactionCanceledException: .*\[(None, )*ValidationError(, None)*\]",
        theirs=r"TransactionCanceledException: .*\[.*ValidationError.*ValidationError.*\]",
        operations=("TransactWriteItems", "TransactGetItems"),
    ),
    Rule(
        name="which action of several",
        why=(
            "We read the actions of a transaction one by one, as written; DynamoDB Local in an order of its "
            "own."
        ),
        evidence="no source shows AWS's order",
        aspect="refusal",
        ours=f"ValidationException: {FORM}",
        theirs=f"(ValidationException|TransactionCanceledException): ({FORM}|{KEY_FAULTS})",
        operations=("TransactGetItems", "TransactWriteItems"),
        when=_has_several_actions,
    ),
    Rule(
        name="index keys before conditions in transactions",
        why="AWS looks at literal values of index keys before it looks at any condition.",
        evidence="dynalite, validateUpdates: its tests ran against AWS",
        aspect="refusal",
        ours=r"TransactionCanceledException: .*\[.*ValidationError.*\]",
        theirs=r"TransactionCanceledException: .*\[.*ConditionalCheckFailed.*\]",
        operations=("TransactWriteItems",),
        when=_has_index_key_reason,
    ),
    Rule(
        name="keys before doubles in transactions",
        why="AWS holds each key against the table's before it compares them.",
        evidence="dynoxide, from captures of October 2026",
        aspect="refusal",
        ours=r"TransactionCanceledException: .*\[.*ValidationError.*\]",
        theirs="ValidationException: Transaction request cannot include multiple operations on one item",
        operations=("TransactGetItems", "TransactWriteItems"),
    ),
    Rule(
        name="keys in transactions",
        why=(
            "A key that does not fit cancels the transaction; DynamoDB Local refuses the request, or gives "
            "no reasons."
        ),
        evidence=(
            "ScyllaDB's test_transact.py, run against AWS: "
            "test_transact_write_cancellation_reasons_validationerror"
        ),
        aspect="refusal",
        ours=r"TransactionCanceledException: .*\[.*ValidationError.*\]",
        theirs=f"(ValidationException|TransactionCanceledException): {KEY_FAULTS}",
        operations=("TransactGetItems", "TransactWriteItems"),
    ),
    Rule(
        name="values before doubles in transactions",
        why="AWS reads all values before it compares keys.",
        evidence="dynalite's order of checks, tested against AWS",
        aspect="refusal",
        ours=f"ValidationException: {FORM}",
        theirs="ValidationException: Transaction request cannot include multiple operations on one item",
        operations=("TransactGetItems", "TransactWriteItems"),
    ),
    Rule(
        name="transactions look at form first",
        why="AWS refuses two actions on one item before it looks at any condition or value.",
        evidence=(
            "API reference, TransactWriteItems: 'Multiple operations are included that target the same item' "
            "is a ValidationException; ScyllaDB's test_transact.py, run against AWS"
        ),
        aspect="refusal",
        ours="ValidationException: Transaction request cannot include multiple operations on one item",
        theirs=(
            f"({_CANCELED}|ValidationException: (The document path provided in the update expression is "
            "invalid for update|The provided expression refers to an attribute that does not exist in the "
            "item|An operand in the update expression has an incorrect data type))"
        ),
        operations=("TransactWriteItems",),
    ),
    Rule(
        name="transactions cancel",
        why="What a stored item makes wrong is a reason to cancel; DynamoDB Local refuses the whole request.",
        evidence=(
            "API reference, TransactWriteItems, cancellation reasons: 'Code: ValidationError; Message: … The "
            "provided expression refers to an attribute that does not exist in the item'"
        ),
        aspect="refusal",
        ours=r"TransactionCanceledException: .*\[.*ValidationError.*\]",
        theirs=(
            "ValidationException: (The document path provided in the update expression is invalid for "
            "update|The provided expression refers to an attribute that does not exist in the item|An "
            "operand in the update expression has an incorrect data type)"
        ),
        operations=("TransactWriteItems",),
    ),
]
