"""Properties of the older parameters: each does what the expression does that the guide names as its successor."""

from __future__ import annotations

from typing import Any, get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from singletable.errors import ValidationError
from singletable.expressions import Scope
from singletable.expressions.legacy_conditions import (
    LegacyClause,
    Operator,
    check_operands,
    legacy_condition,
    legacy_key_condition,
)
from singletable.expressions.legacy_projections import legacy_projection
from singletable.expressions.legacy_updates import Action, LegacyUpdate, check_update, legacy_update
from singletable.values.compare import less
from support.values_strategies import sets, values

Value = dict[str, Any]

ATTRIBUTES = ("a", "b.c", "size")  # a plain name, one that is no path, and a reserved word
ITEMS = st.dictionaries(st.sampled_from(ATTRIBUTES), values, max_size=3)
SCALARS_OF = {
    "S": st.sampled_from(("", "a", "ab", "b")).map(lambda text: {"S": text}),
    "N": st.sampled_from(("-1", "0", "1", "1.5")).map(lambda number: {"N": number}),
    "B": st.sampled_from(("", "YQ==", "YWI=")).map(lambda text: {"B": text}),
}
SCALARS = st.one_of(*SCALARS_OF.values())
LISTS = st.lists(SCALARS, max_size=3).map(lambda elements: {"L": elements})
SIMPLE_ITEMS = st.dictionaries(
    st.sampled_from(ATTRIBUTES), st.one_of(SCALARS, LISTS, sets, values), min_size=1, max_size=3
)

# AWS guide, "Legacy conditional parameters"; NOT_CONTAINS is about an attribute that is there.
SUCCESSORS = {
    "EQ": "{0} = {1}",
    "NE": "{0} <> {1}",
    "LE": "{0} <= {1}",
    "LT": "{0} < {1}",
    "GE": "{0} >= {1}",
    "GT": "{0} > {1}",
    "NOT_NULL": "attribute_exists({0})",
    "NULL": "attribute_not_exists({0})",
    "CONTAINS": "contains({0}, {1})",
    "NOT_CONTAINS": "(attribute_exists({0}) AND NOT contains({0}, {1}))",
    "BEGINS_WITH": "begins_with({0}, {1})",
    "BETWEEN": "({0} BETWEEN {1} AND {2})",
}
KEY_OPERATORS: tuple[Operator, ...] = ("EQ", "LE", "LT", "GE", "GT", "BEGINS_WITH", "BETWEEN")


def operands(draw: st.DrawFn, operator: Operator) -> list[Value]:
    """Draw what DynamoDB accepts for an operator."""
    match operator:
        case "NULL" | "NOT_NULL":
            return []
        case "EQ" | "NE":
            return [draw(st.one_of(SCALARS, LISTS, sets, values))]
        case "CONTAINS" | "NOT_CONTAINS":
            return [draw(SCALARS | st.just({"BOOL": True}))]
        case "BEGINS_WITH":
            return [draw(SCALARS_OF["S"] | SCALARS_OF["B"])]
        case "BETWEEN":
            bounds = draw(st.lists(SCALARS_OF[draw(st.sampled_from("SNB"))], min_size=2, max_size=2))
            return bounds[::-1] if less(bounds[1], bounds[0]) else bounds
        case _:
            count = draw(st.integers(1, 3)) if operator == "IN" else 1
            return draw(st.lists(SCALARS_OF[draw(st.sampled_from("SNB"))], min_size=count, max_size=count))


@st.composite
def clauses(draw: st.DrawFn, operators: tuple[Operator, ...] = get_args(Operator)) -> list[LegacyClause]:
    """Draw conditions, one for an attribute."""
    found: list[LegacyClause] = []
    for attribute in draw(st.lists(st.sampled_from(ATTRIBUTES), min_size=1, max_size=3, unique=True)):
        operator = draw(st.sampled_from(operators))
        given_operands = operands(draw, operator)
        check_operands(operator, given_operands)
        found.append(LegacyClause(attribute, operator, tuple(given_operands)))
    return found


class Spelling:
    """The text of an expression, and the placeholders in it."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.values: dict[str, Value] = {}

    def name(self, attribute: str) -> str:
        key = f"#n{len(self.names)}"
        self.names[key] = attribute
        return key

    def value(self, value: Value) -> str:
        key = f":v{len(self.values)}"
        self.values[key] = value
        return key

    def clause(self, clause: LegacyClause) -> str:
        name = self.name(clause.attribute)
        operands = [self.value(operand) for operand in clause.operands]
        if clause.operator == "IN":
            return f"{name} IN ({', '.join(operands)})"
        return SUCCESSORS[clause.operator].format(name, *operands)

    @property
    def scope(self) -> Scope:
        return Scope(self.names or None, self.values or None)


@given(conditions=clauses(), any_of=st.booleans(), item=SIMPLE_ITEMS)
@settings(max_examples=250, deadline=None)
def test_condition_holds_where_its_expression_does(
    conditions: list[LegacyClause], any_of: bool, item: dict[str, Value]
) -> None:
    spelling = Spelling()
    text = (" OR " if any_of else " AND ").join([spelling.clause(clause) for clause in conditions])
    if len(conditions) == 1 and text.startswith("("):
        text = text[1:-1]  # parentheses around the whole are redundant, and refused
    expression = spelling.scope.condition(text, parameter="FilterExpression")
    condition = legacy_condition(conditions, any_of=any_of, parameter="ScanFilter")
    assert condition.holds(item) is expression.holds(item)
    assert condition.attributes == expression.attributes
    assert condition.nested_attributes == frozenset()


@given(conditions=clauses(KEY_OPERATORS))
@settings(max_examples=100, deadline=None)
def test_key_conditions_are_those_of_their_expression(conditions: list[LegacyClause]) -> None:
    spelling = Spelling()
    texts = [spelling.clause(clause) for clause in conditions]
    text = " AND ".join([text[1:-1] if text.startswith("(") else text for text in texts])
    assert legacy_key_condition(conditions) == spelling.scope.key_condition(text)


VALUES_OF: dict[Action, st.SearchStrategy[Value | None]] = {
    "PUT": SCALARS | values,
    "ADD": st.one_of(SCALARS_OF["N"], LISTS, sets),
    "DELETE": st.none() | sets,
}


@st.composite
def updates(draw: st.DrawFn) -> list[LegacyUpdate]:
    """Draw updates that DynamoDB accepts, one for an attribute."""
    found: list[LegacyUpdate] = []
    for attribute in draw(st.lists(st.sampled_from(ATTRIBUTES), min_size=1, max_size=3, unique=True)):
        action: Action = draw(st.sampled_from(get_args(Action)))
        value = draw(VALUES_OF[action])
        check_update(action, value)
        found.append(LegacyUpdate(attribute, action, value))
    return found


def successor(update: LegacyUpdate, item: dict[str, Value], spelling: Spelling) -> str:
    attribute, action, value = update
    name = spelling.name(attribute)
    if value is None:
        return f"REMOVE {name}"
    operand = spelling.value(value)
    if action == "PUT":
        return f"SET {name} = {operand}"
    if action == "ADD" and "L" in value:  # which is not documented
        return f"SET {name} = " + (f"list_append({name}, {operand})" if attribute in item else operand)
    return f"{action} {name} {operand}"


@given(changes=updates(), item=SIMPLE_ITEMS)
@settings(max_examples=250, deadline=None)
def test_update_does_what_its_expressions_do(changes: list[LegacyUpdate], item: dict[str, Value]) -> None:
    expected = dict(item)
    refused = False
    for change in changes:  # one after the other, since an expression has each of its words once
        spelling = Spelling()
        text = successor(change, item, spelling)
        try:
            expected = spelling.scope.update(text).apply(expected)
        except ValidationError:
            refused = True
    update = legacy_update(changes)
    before = dict(item)
    try:
        updated = update.apply(item)
    except ValidationError:
        assert refused
    else:
        assert not refused
        assert updated == expected
        written = {change.attribute for change in changes}
        assert update.attributes == written
        assert update.project(updated) == {name: value for name, value in updated.items() if name in written}
    assert item == before


@given(names=st.lists(st.sampled_from(ATTRIBUTES), min_size=1, unique=True), item=ITEMS)
@settings(max_examples=50, deadline=None)
def test_attributes_to_get_are_what_their_expression_projects(
    names: list[str], item: dict[str, Value]
) -> None:
    spelling = Spelling()
    text = ", ".join([spelling.name(name) for name in names])
    expression = spelling.scope.projection(text)
    projection = legacy_projection(names)
    assert projection.apply(item) == expression.apply(item)
    assert projection.attributes == expression.attributes
    assert not projection.nested_attributes
