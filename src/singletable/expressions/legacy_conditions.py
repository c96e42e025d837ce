"""Conditions from before there were expressions, as the values that expressions give.

Expected, QueryFilter and ScanFilter hold at most one condition for each attribute: an operator and its operands.
They become nodes of a condition expression, save for IN. The guide ("Legacy conditional parameters") defines the
operators: each of them has an equivalent expression, except NOT_CONTAINS, which is false for an attribute that is
not there (ScyllaDB's test_update_expected_1_not_contains, run against the service).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias, get_args

from singletable.errors import INVALID
from singletable.expressions import nodes
from singletable.expressions.checks import NO_CHECKS, Values
from singletable.expressions.conditions import Condition, PreparedCondition, condition_test
from singletable.expressions.key_conditions import KeyClause, KeyCondition, KeyOperator
from singletable.expressions.nodes import FunctionCall, Path, Placeholder
from singletable.expressions.predicates import Test
from singletable.expressions.prepared import Uses
from singletable.values.compare import less
from singletable.values.refused import ValueRefusedError
from singletable.values.types import ATTRIBUTE_TYPES, KEY_TYPES, Item, Value

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
_NO_ATTRIBUTES: Final[Item] = {}
_OPERANDS_EXACTLY: Final = {"NOT_NULL": 0, "NULL": 0, "BETWEEN": 2}

# The service accepts more types for CONTAINS than its documentation says, since a list may hold BOOL and NULL:
# dynalite's tests do not list these two among the refused types, and DynamoDB Local 3.3 accepts them.
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
    """Raise the error of a condition's operator, which may be missing, or of its operands."""
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
#
# No limit of AWS holds for how many clauses and operands there are, and a page has many items. So an item is
# tested with no more clauses than it has attributes, and with all operands of IN at once.


def legacy_condition(clauses: Sequence[LegacyClause], *, any_of: bool, parameter: str) -> Condition:
    """Return the condition that all clauses hold, or any of them; there is at least one.

    Each is about an attribute of its own.
    """
    values: dict[str, Value] = {}
    tests = {clause.attribute: _clause_test(clause, values) for clause in clauses}
    combine = _any_holds if any_of else _all_hold
    test = combine(tests, values) if len(tests) > 1 else next(iter(tests.values()))
    uses = Uses.of("", (), [Path((clause.attribute,)) for clause in clauses], list(values))
    return Condition(PreparedCondition(NO_CHECKS, uses, test), values, parameter)


def _clause_test(clause: LegacyClause, values: dict[str, Value]) -> Test:
    """Return the test of one clause. Its operands are added to the values of all clauses."""
    if clause.operator == "IN":
        return _in_test(clause)
    placeholders: list[Placeholder] = []
    for operand in clause.operands:
        name = f":{len(values)}"
        values[name] = operand
        placeholders.append(Placeholder(name))
    return condition_test(_node(clause.operator, Path((clause.attribute,)), placeholders))


def _in_test(clause: LegacyClause) -> Test:
    # All operands are of one type, which has one text for equal values.
    attribute = clause.attribute
    tag = next(iter(clause.operands[0]))
    payloads = frozenset([operand[tag] for operand in clause.operands])

    def test(item: Item, _values: Values) -> bool:
        found = item.get(attribute)
        return found is not None and found.get(tag) in payloads

    return test


def _all_hold(tests: Mapping[str, Test], values: Values) -> Test:
    needed = frozenset(name for name, test in tests.items() if not test(_NO_ATTRIBUTES, values))

    def test(item: Item, values: Values) -> bool:
        return needed <= item.keys() and all(part(item, values) for part in _tests_of(item, tests))

    return test


def _any_holds(tests: Mapping[str, Test], values: Values) -> Test:
    unneeded = frozenset(name for name, test in tests.items() if test(_NO_ATTRIBUTES, values))

    def test(item: Item, values: Values) -> bool:
        return not unneeded <= item.keys() or any(part(item, values) for part in _tests_of(item, tests))

    return test


def _tests_of(item: Item, tests: Mapping[str, Test]) -> Iterator[Test]:
    """Yield the tests of the attributes that an item has."""
    if len(tests) < len(item):
        return (test for name, test in tests.items() if name in item)
    return (tests[name] for name in item if name in tests)


def _node(operator: Operator, path: Path, operands: list[Placeholder]) -> nodes.Condition:
    match operator:
        case "NOT_NULL":
            return FunctionCall("attribute_exists", (path,))
        case "NULL":
            return FunctionCall("attribute_not_exists", (path,))
        case "CONTAINS":
            return FunctionCall("contains", (path, operands[0]))
        case "NOT_CONTAINS":
            contains = FunctionCall("contains", (path, operands[0]))
            return nodes.And((FunctionCall("attribute_exists", (path,)), nodes.Not(contains)))
        case "BEGINS_WITH":
            return FunctionCall("begins_with", (path, operands[0]))
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
    # With an operator that keys do not support, the operands are not checked: they may have any type.
    return KeyClause(clause.attribute, operator, clause.operands if operator else ())
