"""Conditions as DynamoDB's expressions. Every name and value is a placeholder, so no word is reserved."""

from __future__ import annotations

import operator
from typing import Any, Final

from singletable.client.calls import Params
from singletable.design.keys.key import Key, Prefix
from singletable.design.keys.ranges import Bound, SortCondition, SortRange, is_within, leading, text_condition
from singletable.design.model.schema import Binding, EntitySchema, key_item
from singletable.design.session.session import Session
from singletable.design.values.arguments import require_field, require_kind
from singletable.design.values.conditions import (
    OPERATORS,
    And,
    BeginsWith,
    Condition,
    Exists,
    In,
    Not,
    Or,
    Simple,
)
from singletable.design.values.items import NULL, AttributeValue, Item, sortable
from singletable.errors import KeyValueError

_IN_VALUES_MAX: Final = 100


class Placeholders:
    """The names and values of one request, and the placeholders that stand for them."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.values: dict[str, AttributeValue] = {}
        self._aliases: dict[str, str] = {}

    @classmethod
    def of(cls, params: Params) -> Placeholders:
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

    def add_to(self, params: Params) -> Params:
        """Put the names and values into a request, if there are any."""
        if self.names:
            params["ExpressionAttributeNames"] = self.names
        if self.values:
            params["ExpressionAttributeValues"] = self.values
        return params


def condition_identity(condition: Condition, schema: EntitySchema) -> list[Any]:
    """Return a condition as stored names and values. The form is the same in every release."""
    name = type(condition).__name__
    match condition:
        case And(left, right) | Or(left, right):
            return [name, condition_identity(left, schema), condition_identity(right, schema)]
        case Not(inner):
            return [name, condition_identity(inner, schema)]
        case _:
            into = Placeholders()
            _simple(condition, schema, into)
            return [name, schema.fields[condition.field].stored, list(into.values.values())]


def condition_text(condition: Condition, schema: EntitySchema, into: Placeholders) -> str:
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


def _simple(condition: Simple, schema: EntitySchema, into: Placeholders) -> str:
    require_field(schema.entity, condition.field)
    codec, row = schema.fields[condition.field], OPERATORS[type(condition)]
    name = into.name(codec.stored)
    if isinstance(condition, Exists):
        return row.expression.format(name)
    if isinstance(condition, In):
        given = [NULL if value is None else codec.encode_bound(value) for value in condition.values]
        return _one_of(name, [into.value(value) for value in given])
    value = condition.value
    if row.absent is not None and (value is None or codec.is_omitted(value)):
        return row.absent.format(name)
    if isinstance(condition, BeginsWith):
        require_kind(value, str | bytes, f"{condition.field} begins with a text, or with bytes")
    # The value is a member of a list or set, so the codec of the whole field does not apply.
    encode = codec.encode_member if row.is_of_part else codec.encode_bound
    return row.expression.format(name, into.value(encode(value)))


def _one_of(name: str, values: list[str]) -> str:
    """Write the condition that an attribute has one of these values. DynamoDB takes 1 to 100 in a list."""
    lists = [values[at : at + _IN_VALUES_MAX] for at in range(0, len(values), _IN_VALUES_MAX)]
    if not lists:
        return f"(attribute_exists({name}) AND attribute_not_exists({name}))"
    terms = [OPERATORS[In].expression.format(name, ", ".join(each)) for each in lists]
    return terms[0] if len(terms) == 1 else f"({' OR '.join(terms)})"


def not_expired(schema: EntitySchema, now_s: int, into: Placeholders) -> str | None:
    """Write the condition that an item has not expired; None for an entity without a time to live."""
    if schema.ttl is None:
        return None
    name = into.name(schema.ttl.stored)
    return f"(attribute_not_exists({name}) OR {name} > {into.value({'N': str(now_s)})})"


_COMPARED: Final = {
    "=": operator.eq,
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}


def get_params(table: str, key: Item, *, consistent: bool) -> Params:
    """Return the request of a GetItem."""
    params: Params = {"TableName": table, "Key": key, "ReturnConsumedCapacity": "TOTAL"}
    if consistent:
        params["ConsistentRead"] = True
    return params


def key_condition(binding: Binding, pk: Key, bounds: SortRange | None, into: Placeholders) -> str:
    """Write the key condition of a query: equality on the partition, one condition on the sort key."""
    terms = [f"{into.name(name)} = {into.value(value)}" for name, value in key_item(pk, binding.pk).items()]
    if bounds is not None and binding.sk:
        terms += _sort_terms(binding, bounds, into)
    return " AND ".join(terms)


def is_text_key(binding: Binding) -> bool:
    """Tell whether the sort key of a place is one text, rendered from a template."""
    return len(binding.sk) == 1 and binding.sk[0].kind == "S" and binding.keys.sk.compiled is not None


def _sort_terms(binding: Binding, bounds: SortRange, into: Placeholders) -> list[str]:
    if not is_text_key(binding):
        return _value_terms(binding, bounds, into)
    condition = text_condition(bounds)
    return [] if condition is None else [text_term(binding, condition, into)]


def text_term(binding: Binding, condition: SortCondition, into: Placeholders) -> str:
    name = into.name(binding.sk[0].name)
    values = [into.value({"S": text}) for text in condition.values]
    if condition.operator == "BETWEEN":
        return f"{name} BETWEEN {values[0]} AND {values[1]}"
    if condition.operator == "begins_with":
        return f"begins_with({name}, {values[0]})"
    return f"{name} {condition.operator} {values[0]}"


def _value_terms(binding: Binding, bounds: SortRange, into: Placeholders) -> list[str]:
    """Write the condition on key attributes that are fields: leading ones equal, a range on the last given one."""
    equal = bounds.eq or bounds.begins
    limits = [
        (sign, bound)
        for sign, bound in ((">", bounds.gt), (">=", bounds.ge), ("<", bounds.lt), ("<=", bounds.le))
        if bound is not None
    ]
    bound = equal if equal is not None else limits[0][1] if limits else None
    given = [] if bound is None else leading(bound)
    equals = given if equal is not None else given[:-1]
    terms = [_equal(binding, bounds, name, value, into) for name, value in equals]
    if not limits:
        return terms
    return [*terms, _range_term(binding, bounds, limits, len(equals), into)]


def _range_term(
    binding: Binding, bounds: SortRange, limits: list[tuple[str, Any]], at: int, into: Placeholders
) -> str:
    part, attribute = bounds.of.parts[at], binding.sk[at]
    name = into.name(attribute.name)
    values = []
    for _, bound in limits:
        given = leading(bound)
        if len(given) != at + 1 or given[:-1] != leading(limits[0][1])[:-1]:
            raise KeyValueError(
                f"bounds of {bounds.of.__name__} share their leading values and differ in the last one: DynamoDB "
                "takes a range on one attribute of a key"
            )
        values.append(into.value({attribute.kind: part.codec.render(given[-1][1])}))
    match [sign for sign, _ in limits]:
        case [sign]:
            return f"{name} {sign} {values[0]}"
        case [">=", "<="]:
            return f"{name} BETWEEN {values[0]} AND {values[1]}"
        case _:
            raise KeyValueError(
                f"two bounds of {bounds.of.__name__} are inclusive: use between=(first, last)"
            )


def _equal(binding: Binding, bounds: SortRange, name: str, value: Any, into: Placeholders) -> str:
    names = [part.name for part in bounds.of.parts]
    at = names.index(name)
    attribute = binding.sk[at]
    text = bounds.of.parts[at].codec.render(value)
    return f"{into.name(attribute.name)} = {into.value({attribute.kind: text})}"


def is_in_place(binding: Binding, pk: Key, bounds: SortRange | None, item: Item) -> bool:
    """Tell whether an item is in the range of a query: an index may still name an item that has moved."""
    wanted = key_item(pk, binding.pk)
    if any(_compared(item, name) != _compared(wanted, name) for name in wanted):
        return False
    if any(attribute.name not in item for attribute in binding.sk):
        return False
    if bounds is None or not binding.sk:
        return True
    if is_text_key(binding):
        return is_within(bounds, item[binding.sk[0].name]["S"])
    limits = {
        "=": bounds.eq or bounds.begins,
        ">": bounds.gt,
        ">=": bounds.ge,
        "<": bounds.lt,
        "<=": bounds.le,
    }
    return all(_is_beside(binding, bound, sign, item) for sign, bound in limits.items() if bound is not None)


def _compared(item: Item, name: str) -> Any:
    return sortable(item[name]) if name in item else None


def _is_beside(binding: Binding, bound: Bound, sign: str, item: Item) -> bool:
    """Tell whether the leading attributes of a sort key compare with those of a bound by an operator."""
    kind = bound.of if isinstance(bound, Prefix) else type(bound)
    given = zip(binding.sk, kind.parts, leading(bound), strict=False)
    wanted = [sortable({attribute.kind: part.codec.render(value)}) for attribute, part, (_, value) in given]
    found = [sortable(item[attribute.name]) for attribute in binding.sk[: len(wanted)]]
    return bool(_COMPARED[sign](found, wanted))


def of_entity(session: Session, schema: EntitySchema, key: Item | None, into: Placeholders) -> str:
    """Write the condition that the item of a key is of an entity, or does not exist.

    An older item may have no discriminator: then its key decides its entity. Without a key, it may be of any
    entity.
    """
    catalog = session.catalog
    name = into.name(schema.discriminator)
    own = " OR ".join(f"{name} = {into.value({'S': each})}" for each in sorted(schema.names))
    is_others = key is not None and schema in catalog.overlapping and catalog.schema_of(key) is not schema
    absent = catalog.table.pk if is_others else schema.discriminator
    return f"(attribute_not_exists({into.name(absent)}) OR {own})"
