"""Conditions as DynamoDB's expressions. Every name and value is a placeholder, so no word is reserved."""

from __future__ import annotations

from typing import Any, Final, assert_never

from singletable.design.arguments import require_field, require_kind
from singletable.design.conditions import (
    And,
    BeginsWith,
    Condition,
    Contains,
    Eq,
    Exists,
    Ge,
    Gt,
    In,
    Le,
    Lt,
    Ne,
    Not,
    Or,
)
from singletable.design.schema import EntitySchema
from singletable.design.stored_values import NULL, AttributeValue

_IN_VALUES_MAX: Final = 100
_SIGNS: Final = {Eq: "=", Ne: "<>", Lt: "<", Le: "<=", Gt: ">", Ge: ">="}


class Placeholders:
    """The names and values of one request, and the placeholders that stand for them."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.values: dict[str, AttributeValue] = {}
        self._aliases: dict[str, str] = {}

    @classmethod
    def of(cls, params: dict[str, Any]) -> Placeholders:
        """Return the placeholders of a request, to add more to it."""
        into = cls()
        into.names = dict(params.get("ExpressionAttributeNames", {}))
        into.values = dict(params.get("ExpressionAttributeValues", {}))
        into._aliases = {attribute: alias for alias, attribute in into.names.items()}
        return into

    def name(self, attribute: str) -> str:
        """Return what stands for the name of an attribute."""
        alias = self._aliases.get(attribute)
        if alias is None:
            alias = self._aliases[attribute] = f"#{len(self.names)}"
            self.names[alias] = attribute
        return alias

    def value(self, value: AttributeValue) -> str:
        """Return what stands for a value."""
        alias = f":{len(self.values)}"
        self.values[alias] = value
        return alias

    def add_to(self, params: dict[str, Any]) -> dict[str, Any]:
        """Put the names and values into a request, if there are any."""
        if self.names:
            params["ExpressionAttributeNames"] = self.names
        if self.values:
            params["ExpressionAttributeValues"] = self.values
        return params


def condition_data(condition: Condition, schema: EntitySchema[Any]) -> list[Any]:
    """Return what a condition says as names and values that are stored: it is the same in every release."""
    name = type(condition).__name__
    match condition:
        case And(left, right) | Or(left, right):
            return [name, condition_data(left, schema), condition_data(right, schema)]
        case Not(inner):
            return [name, condition_data(inner, schema)]
        case _:
            require_field(schema.entity, condition.field)
            into = Placeholders()
            _simple(condition, schema, into)
            return [name, schema.fields[condition.field].stored, list(into.values.values())]


def condition_text(condition: Condition, schema: EntitySchema[Any], into: Placeholders) -> str:
    """Write a condition on the fields of an entity as an expression."""
    match condition:
        case And(left, right):
            return f"({condition_text(left, schema, into)} AND {condition_text(right, schema, into)})"
        case Or(left, right):
            return f"({condition_text(left, schema, into)} OR {condition_text(right, schema, into)})"
        case Not(inner):
            return f"(NOT {condition_text(inner, schema, into)})"
        case _:
            return _simple(condition, schema, into)


def _simple(
    condition: Eq | Ne | Lt | Le | Gt | Ge | In | Exists | Contains | BeginsWith,
    schema: EntitySchema[Any],
    into: Placeholders,
) -> str:
    require_field(schema.entity, condition.field)
    codec = schema.fields[condition.field]
    name = into.name(codec.stored)
    match condition:
        case Exists():
            return f"attribute_exists({name})"
        case Eq(_, value) if value is None or codec.is_omitted(value):
            return f"attribute_not_exists({name})"
        case Ne(_, value) if value is None or codec.is_omitted(value):
            return f"attribute_exists({name})"
        case In(_, values):
            given = [NULL if value is None else codec.encode_bound(value) for value in values]
            return _one_of(name, [into.value(value) for value in given])
        case Contains(_, value):
            # The member of a list or set, not the list: so not by the field's own codec.
            return f"contains({name}, {into.value(codec.encode_member(value))})"
        case BeginsWith(_, value):
            require_kind(value, str | bytes, f"{condition.field} begins with a text, or with bytes")
            return f"begins_with({name}, {into.value(codec.encode_member(value))})"
        case Eq() | Ne() | Lt() | Le() | Gt() | Ge():
            return f"{name} {_SIGNS[type(condition)]} {into.value(codec.encode_bound(condition.value))}"
        case _:
            assert_never(condition)


def _one_of(name: str, values: list[str]) -> str:
    """Write that an attribute has one of these values. DynamoDB takes a hundred in a list, and no empty list."""
    lists = [values[at : at + _IN_VALUES_MAX] for at in range(0, len(values), _IN_VALUES_MAX)]
    if not lists:
        return f"(attribute_exists({name}) AND attribute_not_exists({name}))"
    terms = [f"{name} IN ({', '.join(each)})" for each in lists]
    return terms[0] if len(terms) == 1 else f"({' OR '.join(terms)})"


def not_expired(schema: EntitySchema[Any], now_s: int, into: Placeholders) -> str | None:
    """Write the condition that an item's time is not over; None for an entity that has no time to live."""
    if schema.ttl is None:
        return None
    name = into.name(schema.ttl.stored)
    return f"(attribute_not_exists({name}) OR {name} > {into.value({'N': str(now_s)})})"
