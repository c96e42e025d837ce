"""Conditions and filters: prepared once for a text and its names, then bound to the values of each request."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import assert_never

from singletable.expressions import nodes
from singletable.expressions.checks import CheckList, Values, check_list, node_checks
from singletable.expressions.condition_grammar import parse_condition
from singletable.expressions.nodes import Checked, Path, Placeholder
from singletable.expressions.operands import operand_getter
from singletable.expressions.predicates import (
    Test,
    between_test,
    call_test,
    comparison_test,
    in_test,
    in_values_test,
)
from singletable.expressions.prepared import Names, Uses
from singletable.limits import EXPRESSION_CACHE_ENTRIES_MAX
from singletable.values.types import Item


@dataclass(frozen=True, slots=True)
class PreparedCondition:
    checks: CheckList
    uses: Uses
    test: Test


class Condition:
    """A condition with its values, ready to be asked about items."""

    __slots__ = ("_test", "_uses", "_values", "parameter")

    def __init__(self, prepared: PreparedCondition, values: Values, parameter: str) -> None:
        self.parameter = parameter  # the request parameter that it comes from, which refusals name
        self._test = prepared.test
        self._uses = prepared.uses
        self._values = values

    def holds(self, item: Item) -> bool:
        """Tell whether the condition is true of an item; an absent item is an empty one."""
        return self._test(item, self._values)

    @property
    def attributes(self) -> frozenset[str]:
        """The top-level attributes it reads."""
        return self._uses.attributes

    @property
    def nested_attributes(self) -> frozenset[str]:
        """The top-level attributes that it looks inside of, with "." or "[]"; keys are not allowed there."""
        return self._uses.nested_attributes


@lru_cache(maxsize=EXPRESSION_CACHE_ENTRIES_MAX)
def prepare_condition(source: str, names: Names) -> PreparedCondition:
    """Parse and compile a condition."""
    parsed = parse_condition(source, dict(names))
    checks = check_list(node_checks(parsed.checked), operators=parsed.operators)
    test = condition_test(parsed.root) if checks.passable else _never
    return PreparedCondition(checks, condition_uses(source, names, parsed.checked), test)


def condition_uses(source: str, names: Names, checked: Iterable[Checked]) -> Uses:
    """Return the attributes and placeholders of a condition."""
    paths = [node for node in checked if isinstance(node, Path)]
    return Uses.of(source, names, paths, [node.name for node in checked if isinstance(node, Placeholder)])


def condition_test(node: nodes.Condition) -> Test:
    """Compile a checked condition. At most 300 operators are this deep."""
    match node:
        case nodes.Comparison(operator, left, right):
            return comparison_test(operator, operand_getter(left), operand_getter(right))
        case nodes.Between(operand, low, high):
            return between_test(operand_getter(operand), operand_getter(low), operand_getter(high))
        case nodes.In(operand, candidates):
            placeholders = tuple(each.name for each in candidates if isinstance(each, Placeholder))
            if len(placeholders) == len(candidates):
                return in_values_test(operand_getter(operand), placeholders)
            return in_test(operand_getter(operand), tuple(map(operand_getter, candidates)))
        case nodes.FunctionCall():
            return call_test(node)
        case nodes.And(parts):
            return _all(tuple(map(condition_test, parts)))
        case nodes.Or(parts):
            return _any(tuple(map(condition_test, parts)))
        case nodes.Not():
            return _negation(node)
        case _:
            assert_never(node)


def _negation(node: nodes.Not) -> Test:
    negations = 1
    inner = node.inner
    while isinstance(inner, nodes.Not):
        negations += 1
        inner = inner.inner
    test = condition_test(inner)
    if negations % 2 == 0:
        return test
    return lambda item, values: not test(item, values)


def _all(tests: tuple[Test, ...]) -> Test:
    if len(tests) == 2:
        one, other = tests
        return lambda item, values: one(item, values) and other(item, values)

    def test(item: Item, values: Values) -> bool:
        for part in tests:  # noqa: SIM110 (a generator would cost a frame more for each level)
            if not part(item, values):
                return False
        return True

    return test


def _any(tests: tuple[Test, ...]) -> Test:
    if len(tests) == 2:
        one, other = tests
        return lambda item, values: one(item, values) or other(item, values)

    def test(item: Item, values: Values) -> bool:
        for part in tests:  # noqa: SIM110 (as above)
            if part(item, values):
                return True
        return False

    return test


def _never(_item: Item, _values: Values) -> bool:
    raise AssertionError("a refused condition has no values that it could be tested with")
