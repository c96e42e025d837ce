"""Conditions from before there were expressions, as the values that expressions give.

Expected, QueryFilter and ScanFilter hold at most one condition for each attribute: an operator and its operands.
They become nodes of a condition expression, and from there on they are one. The operators mean what the guide
("Legacy conditional parameters") says: each of them has an expression that is the same, except NOT_CONTAINS, which
is false for an attribute that is not there (ScyllaDB's test_update_expected_1_not_contains, run against the
service).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple, TypeAlias, get_args

from singletable.errors import INVALID
from singletable.expressions import nodes
from singletable.expressions.checks import NO_CHECKS
from singletable.expressions.conditions import Condition, PreparedCondition, condition_test
from singletable.expressions.key_conditions import KeyClause, KeyCondition, KeyOperator
from singletable.expressions.nodes import Call, Path, Placeholder
from singletable.expressions.prepared import Uses
from singletable.values.compare import less
from singletable.values.refused import ValueRefusedError
from singletable.values.types import ATTRIBUTE_TYPES, KEY_TYPES, Value

Operator: TypeAlias = Literal[
    "EQ",
    "NE",
    "LE",
    "LT",
    "GE",
    "GT",
    "NOT_NULL",
    "NULL",
    "CONTAINS",
    "NOT_CONTAINS",
    "BEGINS_WITH",
    "IN",
    "BETWEEN",
]

_OPERATORS: Final = frozenset(get_args(Operator))

_COMPARATORS: Final[dict[str, nodes.Comparator]] = {
    "EQ": "=",
    "NE": "<>",
    "LE": "<=",
    "LT": "<",
    "GE": ">=",
    "GT": ">",
}
_KEY_OPERATORS: Final[dict[str, KeyOperator]] = {
    "EQ": "=",
    "LE": "<=",
    "LT": "<",
    "GE": ">=",
    "GT": ">",
    "BEGINS_WITH": "begins_with",
    "BETWEEN": "BETWEEN",
}
_OPERANDS_EXACTLY: Final = {"NOT_NULL": 0, "NULL": 0, "BETWEEN": 2}

# What the service takes for CONTAINS is more than its documentation says, since a list may hold BOOL and NULL:
# dynalite's tests leave out these two where they name what is refused, and DynamoDB Local 3.3 accepts them.
_CONTAINED_TYPES: Final = KEY_TYPES | {"BOOL", "NULL"}
_OPERAND_TYPES: Final = {
    "LE": KEY_TYPES,
    "LT": KEY_TYPES,
    "GE": KEY_TYPES,
    "GT": KEY_TYPES,
    "IN": KEY_TYPES,
    "BETWEEN": KEY_TYPES,
    "BEGINS_WITH": frozenset(("S", "B")),
    "CONTAINS": _CONTAINED_TYPES,
    "NOT_CONTAINS": _CONTAINED_TYPES,
}


class LegacyClause(NamedTuple):
    """A condition on one attribute, with operands that have passed the checks."""

    attribute: str
    operator: Operator
    operands: tuple[Value, ...]


def check_operands(operator: Operator, operands: Sequence[Value]) -> None:
    """Raise what the operator of a condition, which may be none, or its operands are refused for."""
    if operator not in _OPERATORS:
        # So in eu-west-2, eu-central-1 and ap-southeast-2, October 2026 (dynoxide 3.2); us-east-1 still answered
        # a filter with "… Member must satisfy enum value set: [IN, NULL, …]".
        raise ValueRefusedError(f"{INVALID}Invalid comparison operator")
    if not _is_right_count(operator, len(operands)):
        raise ValueRefusedError(
            f"{INVALID}Invalid number of argument(s) for the {operator} ComparisonOperator"
        )
    tags = [next(iter(operand)) for operand in operands]
    allowed = _OPERAND_TYPES.get(operator, ATTRIBUTE_TYPES)
    for tag in tags:
        if tag not in allowed:
            raise ValueRefusedError(
                f"{INVALID}ComparisonOperator {operator} is not valid for {tag} AttributeValue type"
            )
        if tag != tags[0]:
            raise ValueRefusedError(
                f"{INVALID}AttributeValues inside AttributeValueList must be of same type"
            )
    if operator == "BETWEEN" and less(operands[1], operands[0]):
        raise ValueRefusedError(
            "The BETWEEN condition was provided a range where the lower bound is greater than the upper bound"
        )


def _is_right_count(operator: Operator, count: int) -> bool:
    if operator == "IN":
        return count > 0
    return count == _OPERANDS_EXACTLY.get(operator, 1)


# --- conditions and filters ----------------------------------------------------------------


def legacy_condition(clauses: Sequence[LegacyClause], *, any_of: bool, parameter: str) -> Condition:
    """Return the condition that all clauses hold, or any of them; there is at least one."""
    values: dict[str, Value] = {}
    parts: list[nodes.Condition] = []
    for clause in clauses:
        placeholders: list[Placeholder] = []
        for operand in clause.operands:
            name = f":{len(values)}"
            values[name] = operand
            placeholders.append(Placeholder(name))
        parts.append(_node(clause.operator, Path((clause.attribute,)), placeholders))
    root = parts[0]
    if len(parts) > 1:
        root = nodes.Or(tuple(parts)) if any_of else nodes.And(tuple(parts))
    uses = Uses.of("", (), [Path((clause.attribute,)) for clause in clauses], list(values))
    return Condition(PreparedCondition(NO_CHECKS, uses, condition_test(root)), values, parameter)


def _node(operator: Operator, path: Path, operands: list[Placeholder]) -> nodes.Condition:
    match operator:
        case "NOT_NULL":
            return Call("attribute_exists", (path,))
        case "NULL":
            return Call("attribute_not_exists", (path,))
        case "CONTAINS":
            return Call("contains", (path, operands[0]))
        case "NOT_CONTAINS":
            contains = Call("contains", (path, operands[0]))
            return nodes.And((Call("attribute_exists", (path,)), nodes.Not(contains)))
        case "BEGINS_WITH":
            return Call("begins_with", (path, operands[0]))
        case "IN":
            return nodes.In(path, tuple(operands))
        case "BETWEEN":
            return nodes.Between(path, operands[0], operands[1])
        case _:
            return nodes.Comparison(_COMPARATORS[operator], path, operands[0])


# --- key conditions ------------------------------------------------------------------------


def legacy_key_condition(clauses: Sequence[LegacyClause]) -> KeyCondition:
    """Return KeyConditions as a key condition."""
    return KeyCondition(tuple(map(_key_clause, clauses)))


def _key_clause(clause: LegacyClause) -> KeyClause:
    operator = _KEY_OPERATORS.get(clause.operator)
    # Where no key has the operator, the operands are of no interest any more: they may have any type.
    return KeyClause(clause.attribute, operator, clause.operands if operator else ())
