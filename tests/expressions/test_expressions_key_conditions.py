"""Key conditions: the clauses they are made of, and the rules that need no key schema."""

from __future__ import annotations

from typing import Any

import pytest

from singletable.errors import ValidationError
from singletable.expressions import KeyClause, KeyCondition, Scope

P: dict[str, Any] = {"S": "p"}
S: dict[str, Any] = {"S": "s"}
T: dict[str, Any] = {"S": "t"}
N: dict[str, Any] = {"N": "1"}
VALUES: dict[str, Any] = {":p": P, ":s": S, ":t": T, ":n": N, ":l": {"L": []}}
NAMES = {"#pk": "partition key", "#sk": "sk"}


def key_condition(text: str) -> KeyCondition:
    return Scope(NAMES, VALUES).key_condition(text)


PK = KeyClause("pk", "=", (P,))


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        ("pk = :p", (PK,)),
        ("#pk = :p", (KeyClause("partition key", "=", (P,)),)),
        ("(pk = :p)", (PK,)),
        ("(pk) = (:p)", (PK,)),
        ("pk = :p AND sk = :s", (PK, KeyClause("sk", "=", (S,)))),
        ("sk = :s AND pk = :p", (KeyClause("sk", "=", (S,)), PK)),
        ("((pk = :p) and (#sk < :s))", (PK, KeyClause("sk", "<", (S,)))),
        ("pk = :p and sk <= :s", (PK, KeyClause("sk", "<=", (S,)))),
        ("pk = :p and sk > :s", (PK, KeyClause("sk", ">", (S,)))),
        ("pk = :p and sk >= :s", (PK, KeyClause("sk", ">=", (S,)))),
        (":p = pk and :s < sk", (PK, KeyClause("sk", ">", (S,)))),
        ("pk = :p and :s <= sk", (PK, KeyClause("sk", ">=", (S,)))),
        ("pk = :p and :s > sk", (PK, KeyClause("sk", "<", (S,)))),
        ("pk = :p and :s >= sk", (PK, KeyClause("sk", "<=", (S,)))),
        ("pk = :p and sk between :s and :t", (PK, KeyClause("sk", "BETWEEN", (S, T)))),
        ("pk = :p and sk between :s and :s", (PK, KeyClause("sk", "BETWEEN", (S, S)))),
        ("pk = :p and begins_with(sk, :s)", (PK, KeyClause("sk", "begins_with", (S,)))),
        ("pk = :l", (KeyClause("pk", "=", ({"L": []},)),)),
        (
            " AND ".join(f"k{number} = :p" for number in range(8)),
            tuple(KeyClause(f"k{number}", "=", (P,)) for number in range(8)),
        ),
    ],
)
def test_key_condition_is_a_list_of_clauses(text: str, clauses: tuple[KeyClause, ...]) -> None:
    assert key_condition(text).clauses == clauses


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pk = :p or sk = :s", "Invalid operator used in KeyConditionExpression: OR"),
        ("not pk = :p", "Invalid operator used in KeyConditionExpression: NOT"),
        ("not not pk = :p", "Invalid operator used in KeyConditionExpression: NOT"),
        ("pk = :p and not (sk = :s)", "Invalid operator used in KeyConditionExpression: NOT"),
        ("pk <> :p", "Invalid operator used in KeyConditionExpression: <>"),
        ("pk = :p and sk in (:s)", "Invalid operator used in KeyConditionExpression: IN"),
        ("attribute_exists(pk)", "Invalid operator used in KeyConditionExpression: attribute_exists"),
        ("pk = :p and contains(sk, :s)", "Invalid operator used in KeyConditionExpression: contains"),
        ("pk = :p and size(sk) = :n", "KeyConditionExpressions cannot contain nested operations"),
        ("pk = :p and :n = size(sk)", "KeyConditionExpressions cannot contain nested operations"),
        ("a.b = :p", "KeyConditionExpressions cannot have conditions on nested attributes"),
        ("pk = :p and l[0] = :s", "KeyConditionExpressions cannot have conditions on nested attributes"),
        (
            "pk = sk",
            "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition",
        ),
        (
            "pk = :p and begins_with(sk, pk)",
            "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition",
        ),
        (":p = :s", "Invalid condition in KeyConditionExpression: No key attribute specified"),
        (
            "pk = :p and begins_with(:s, sk)",
            (
                "Invalid condition in KeyConditionExpression: "
                "begins_with operator must have the key attribute as its first operand"
            ),
        ),
        (
            "pk = :p and :s between sk and :t",
            (
                "Invalid condition in KeyConditionExpression: "
                "BETWEEN operator must have the key attribute as its first operand"
            ),
        ),
        ("pk = :p and pk = :p", "KeyConditionExpressions must only contain one condition per key"),
        (
            "pk = :p and sk > :s and sk < :t",
            "KeyConditionExpressions must only contain one condition per key",
        ),
        (
            "pk = :p and #sk > :s and sk < :t",
            "KeyConditionExpressions must only contain one condition per key",
        ),
        (
            "pk = :p and sk between :t and :s",
            (
                "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; "
                "lower bound operand: AttributeValue: {S:t}, upper bound operand: AttributeValue: {S:s}"
            ),
        ),
        (
            "pk = :p and sk between :s and :n",
            (
                "The BETWEEN operator requires same data type for lower and upper bounds; "
                "lower bound operand: AttributeValue: {S:s}, upper bound operand: AttributeValue: {N:1}"
            ),
        ),
        (
            "pk = :p and begins_with(sk, :n)",
            "Incorrect operand type for operator or function; operator or function: begins_with, operand type: N",
        ),
        (
            "pk = :p and :l < sk",
            "Incorrect operand type for operator or function; operator or function: <, operand type: L",
        ),
        (
            "pk = pk",
            (
                "The first operand must be distinct from the remaining operands for this operator or function; "
                "operator: =, first operand: [pk]"
            ),
        ),
        ("((pk = :p))", "The expression has redundant parentheses;"),
        ("pk = :p and name = :s", "Attribute name is a reserved keyword; reserved keyword: name"),
        (
            "pk = :p and sk = :missing",
            "An expression attribute value used in expression is not defined; attribute value: :missing",
        ),
        # What every condition is refused for comes before the rules of key conditions.
        (
            "pk <> :p and sk between :t and :s",
            (
                "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; "
                "lower bound operand: AttributeValue: {S:t}, upper bound operand: AttributeValue: {S:s}"
            ),
        ),
        ("a.b = :p and c <> :s", "KeyConditionExpressions cannot have conditions on nested attributes"),
        ("c <> :s and a.b = :p", "Invalid operator used in KeyConditionExpression: <>"),
    ],
)
def test_key_condition_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValidationError) as caught:
        key_condition(text)
    assert caught.value.message == f"Invalid KeyConditionExpression: {message}"
