"""Key conditions of queries: read as conditions, then held to the rules that need no key schema.

Which attributes form the key, and which operators each of them admits, is for the caller to say.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, NamedTuple, TypeAlias, cast

from singletable.expressions import nodes
from singletable.expressions.checks import CheckList, Values, check_list, node_checks, refused_list
from singletable.expressions.condition_grammar import parse_condition
from singletable.expressions.conditions import condition_uses
from singletable.expressions.nodes import Operand, Path, Placeholder
from singletable.expressions.prepared import Names, Uses
from singletable.expressions.refusals import ExpressionError
from singletable.limits import EXPRESSION_CACHE_ENTRIES_MAX
from singletable.values.types import Value

KeyOperator: TypeAlias = Literal["=", "<", "<=", ">", ">=", "BETWEEN", "begins_with"]

_MIRRORED: Final[dict[str, KeyOperator]] = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


class KeyClause(NamedTuple):
    """A condition on one attribute, which stands on the left; the operands stand on the right.

    The operator is None where KeyConditions has an operator that keys do not support.
    """

    attribute: str
    operator: KeyOperator | None
    operands: tuple[Value, ...]


class KeyCondition(NamedTuple):
    """Clauses that must all hold, in the order written, at most one for an attribute."""

    clauses: tuple[KeyClause, ...]


class _Template(NamedTuple):
    attribute: str
    operator: KeyOperator
    placeholders: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PreparedKeyCondition:
    checks: CheckList
    uses: Uses
    templates: tuple[_Template, ...]

    def bind(self, values: Values) -> KeyCondition:
        """Return the condition with these values, which have passed the checks."""
        clauses: list[KeyClause] = []
        for attribute, operator, placeholders in self.templates:
            clauses.append(KeyClause(attribute, operator, tuple([values[name] for name in placeholders])))
        return KeyCondition(tuple(clauses))


def plain_key_condition(text: str, values: Values) -> KeyCondition | None:
    """Return a condition without "#name"; None if anything about it is wrong. Its values are small texts."""
    try:
        prepared = prepare_key_condition(text, ())
        for check in prepared.checks.checks:
            check(values)
    except ExpressionError:
        return None
    return prepared.bind(values) if prepared.uses.values == values.keys() else None


@lru_cache(maxsize=EXPRESSION_CACHE_ENTRIES_MAX)
def prepare_key_condition(source: str, names: Names) -> PreparedKeyCondition:
    """Parse a key condition."""
    parsed = parse_condition(source, dict(names))
    checks = check_list(node_checks(parsed.checked), operators=parsed.operators)
    templates: tuple[_Template, ...] = ()
    if checks.passable:
        try:
            templates = tuple(_one_per_key(parsed.root))
        except ExpressionError as refusal:
            checks = refused_list(checks.checks, refusal)
    return PreparedKeyCondition(checks, condition_uses(source, names, parsed.checked), templates)


def _one_per_key(root: nodes.Condition) -> Iterator[_Template]:
    seen: set[str] = set()
    for template in _templates(root):
        if template.attribute in seen:
            raise ExpressionError("KeyConditionExpressions must only contain one condition per key")
        seen.add(template.attribute)
        yield template


def _templates(node: nodes.Condition) -> Iterator[_Template]:
    match node:
        case nodes.And(parts):
            for part in parts:
                yield from _templates(part)
        case nodes.Comparison(operator, left, right) if operator != "<>":
            attribute, placeholders = _split((left, right))
            mirrored = isinstance(right, Path)
            yield _Template(
                attribute, _MIRRORED[operator] if mirrored else cast("KeyOperator", operator), placeholders
            )
        case nodes.Between(operand, low, high):
            yield _attribute_first("BETWEEN", (operand, low, high))
        case nodes.FunctionCall("begins_with", operands):
            yield _attribute_first("begins_with", operands)
        case _:
            raise ExpressionError(f"Invalid operator used in KeyConditionExpression: {_operator_of(node)}")


def _operator_of(node: nodes.Condition) -> str:
    match node:
        case nodes.Comparison(operator):
            return operator
        case nodes.FunctionCall(function):
            return function
        case _:
            return type(node).__name__.upper()


def _attribute_first(operator: Literal["BETWEEN", "begins_with"], operands: tuple[Operand, ...]) -> _Template:
    if not isinstance(operands[0], Path):
        raise ExpressionError(
            f"Invalid condition in KeyConditionExpression: {operator} operator must have the key attribute "
            "as its first operand"
        )
    attribute, placeholders = _split(operands)
    return _Template(attribute, operator, placeholders)


def _split(operands: tuple[Operand, ...]) -> tuple[str, tuple[str, ...]]:
    """Return the one attribute among the operands, and the placeholders."""
    attribute: str | None = None
    placeholders: list[str] = []
    for operand in operands:
        match operand:
            case Placeholder(name):
                placeholders.append(name)
            case Path(elements):
                if attribute is not None:
                    raise ExpressionError(
                        "Invalid condition in KeyConditionExpression: "
                        "Multiple attribute names used in one condition"
                    )
                if len(elements) > 1:
                    raise ExpressionError(
                        "KeyConditionExpressions cannot have conditions on nested attributes"
                    )
                attribute = operand.attribute
            case nodes.FunctionCall():
                raise ExpressionError("KeyConditionExpressions cannot contain nested operations")
    if attribute is None:
        raise ExpressionError("Invalid condition in KeyConditionExpression: No key attribute specified")
    return attribute, tuple(placeholders)
