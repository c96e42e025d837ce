"""Validates conditions against the fields of an entity: their names, and the values that the fields can have.

A value is validated as an update validates it, so that a condition means the same for an entity in the process and
for its stored item: Gt("items", "3") asks for the number 3, and Gt("items", "three") is refused.

Which values an operator can ask for stands in its row (`conditions.OPERATORS`):

    a value        one that the field can have, with all that is demanded of it
    a type         one of the field's type; it may be outside of its limits
    an order       the same, of a field that has an order as it is stored
    a part         of a list or set, a value that a member can have; of a text, a part of it
    a beginning    of a text, or of bytes
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from difflib import get_close_matches
from enum import Enum
from functools import cache, cached_property
from math import isfinite
from typing import Any, Final

from pydantic import BaseModel, ValidationError
from pydantic_core import SchemaValidator

from singletable.design.values.annotations import type_text, with_exact_times
from singletable.design.values.arguments import require_field, shown_value
from singletable.design.values.computed import CoreSchema, FieldSchemas, field_schemas, is_informed
from singletable.design.values.conditions import (
    OPERATORS,
    And,
    Asks,
    Condition,
    Eq,
    Exists,
    In,
    Not,
    Or,
    Simple,
    fields_of,
    require_condition,
    simple_parts,
)
from singletable.design.values.constraints import constraints_in, constraints_text, is_waived, problem_text
from singletable.design.values.fields import markers_of, rounded
from singletable.design.values.markers import Compressed, Digits, TimeToLive
from singletable.errors import ConditionValueError, DeclarationError, UnknownFieldError

# Types of Pydantic's core schemas. Those that are in none of these may be anything.
_NUMBERS: Final = frozenset({"int", "float", "decimal"})
_TEXTS: Final = frozenset({"str", "uuid", "date", "datetime", "time", "url", "multi-host-url"})
_COLLECTIONS: Final = frozenset({"list", "set", "frozenset", "tuple"})
_CHOICES: Final = frozenset({"literal", "enum"})
_NEITHER: Final = frozenset({"bool", "timedelta", "dict", "typed-dict", "model", "dataclass", "none"})
_FUNCTIONS: Final = frozenset({"function-before", "function-after", "function-wrap"})
# What stands around a type, and under which name the type stands in it.
_AROUND: Final = {
    **dict.fromkeys(("default", "nullable", "custom-error", *_FUNCTIONS), "schema"),
    "lax-or-strict": "lax_schema",
    "json-or-python": "python_schema",
}
_LIMITS: Final = frozenset(
    {
        "ge",
        "gt",
        "le",
        "lt",
        "multiple_of",
        "min_length",
        "max_length",
        "pattern",
        "max_digits",
        "decimal_places",
    }
)
_LIMITS_OF_TEXTS: Final = frozenset({"str_min_length", "str_max_length"})
_CHOICES_SHOWN_MAX: Final = 12


# --- conditions of callers and of declarations --------------------------------------------------------------


def conditions_on(
    entity: type[BaseModel], conditions: Sequence[Condition], equal: Mapping[str, object]
) -> tuple[Condition, ...]:
    """Return conditions, and equalities given by keyword, with values converted to the types of the fields.

    Names that are no fields are refused, and values that no item can have.
    """
    for condition in conditions:
        require_condition(condition)
    whole = [*conditions, *[Eq(name, value) for name, value in equal.items()]] if equal else conditions
    return tuple([valid_condition(entity, condition) for condition in whole])


def valid_condition(entity: type[BaseModel], condition: Condition) -> Condition:
    """Return a condition with values converted to the types of the fields; refuse values that never occur."""
    # Every filter passes here, and class patterns of `match` cost more than the validation itself.
    if isinstance(condition, And | Or):
        return type(condition)(
            valid_condition(entity, condition.left), valid_condition(entity, condition.right)
        )
    if isinstance(condition, Not):
        return Not(valid_condition(entity, condition.inner))
    given: object = condition.field  # in a program that no type checker has seen
    if not isinstance(given, str):
        require_field(entity, given)
    field = _field(entity, condition.field)
    # A sample stands for a value that a caller will give.
    return condition if is_waived() else field.valid(condition)


def declared_condition(where: str, entity: type[BaseModel], condition: Condition) -> Condition:
    """Return the condition of a declaration, with converted values; refuse one that is never true.

    `where` names the declaration in errors.
    """
    try:
        require_condition(condition)
        valid = valid_condition(entity, condition)
    except UnknownFieldError as error:
        unknown = next(name for name in fields_of(condition) if name not in entity.model_fields)
        raise DeclarationError(
            f"{where} names {unknown!r}, which is not a field of {entity.__name__}; it has "
            f"{', '.join(sorted(entity.model_fields))}",
            hint=error.hint,
        ) from error
    except ConditionValueError as error:
        raise DeclarationError(f"{where}: {error.message}", hint=error.hint) from error
    except TypeError as error:
        raise DeclarationError(f"{where}: {error}") from error
    for each in simple_parts(
        valid, negated=False
    ):  # inside a Not, a condition that is never true may be meant
        match each:
            case In(field, ()):
                raise DeclarationError(f"{where}: In({field!r}) names no values, so it never holds")
            case Eq(field, None) if not _field(entity, field).can_be_none:
                raise DeclarationError(
                    f"{where}: Eq({field!r}, None) never holds: {entity.__name__}.{field} always has a value",
                    hint=_field(entity, field).takes,
                )
            case _:
                pass
    return valid


def is_time(entity: type[BaseModel], name: str) -> bool:
    """Tell whether the values of a field can be times, so that an expiry can count from them."""
    return _field(entity, name).is_time


# --- one field ------------------------------------------------------------------------------------------------


@cache
def _field(entity: type[BaseModel], name: str) -> _Field:
    require_field(entity, name)
    return _Field(entity, name)


class _Field:
    """The values that conditions can ask one field for. It is compiled at its first use."""

    def __init__(self, entity: type[BaseModel], name: str) -> None:
        self._entity = entity
        self._name = name
        self._schemas: FieldSchemas = field_schemas(entity)
        self._schema: CoreSchema = self._schemas.fields[name]
        self._info = entity.model_fields[name]
        self._leaves = [*_leaves(self._schema, self._schemas.definitions)]
        self._markers = markers_of(self._info)
        self._is_time_to_live = any(isinstance(each, TimeToLive) for each in self._markers)
        self._is_compressed = any(isinstance(each, Compressed) for each in self._markers)
        self._digits = next((each for each in self._markers if isinstance(each, Digits)), None)
        # A validator that reads other fields cannot validate one field alone.
        self._whole = self._bare if is_informed(self._schema) else self._validator(self._schema)

    @property
    def can_be_none(self) -> bool:
        """Whether an item can lack the attribute: the field may be None, or an empty set."""
        kinds = {leaf["type"] for leaf in self._leaves}
        is_choice = any(each is None for leaf in self._leaves for each in _choices_of(leaf))
        return is_choice or self._is_open or not kinds.isdisjoint({"none", "set", "frozenset"})

    @property
    def is_time(self) -> bool:
        """Whether a value can be a time; True if unknown."""
        return self._is_open or any(leaf["type"] == "datetime" for leaf in self._leaves)

    @cached_property
    def takes(self) -> str:
        """The type of the field in words, for a hint."""
        shown = " or ".join(map(repr, self._choices)) if self._choices else type_text(self._info.annotation)
        if len(self._choices) > _CHOICES_SHOWN_MAX:
            shown = type_text(self._info.annotation)
        # A regular expression says little to people; what is wrong is told in words (`problems`).
        known = [each for each in constraints_in(self._markers) if getattr(each, "pattern", None) is None]
        limits = constraints_text(known)
        return f"{self._entity.__name__}.{self._name} is {shown}" + (f" with {limits}" if limits else "")

    def valid(self, condition: Simple) -> Condition:
        """Return a condition on this field, with its value converted to the type of the field."""
        asks = OPERATORS[type(condition)].asks
        if asks is None or isinstance(condition, Exists):
            return condition
        check = _CHECKS[asks]
        if isinstance(condition, In):
            values = [check(self, condition, each) for each in condition.values]
            return In(condition.field, *values)
        value = condition.value
        valid = check(self, condition, value)
        return condition if valid is value else type(condition)(condition.field, valid)

    # --- by what is asked for --------------------------------------------------------------------------------

    def _value(self, condition: Condition, value: object) -> object:
        if value is None:
            return None
        try:
            valid = _validated(self._whole, value)
        except ValidationError as error:
            raise self._refusal(condition, value, self._said(error)) from error
        if not _is_finite(valid):
            raise self._refusal(condition, value, "it is no number that can be stored")
        stored = self._as_stored(valid)
        if self._digits is not None and not self._digits.rounds and _decimals(stored) > self._digits.decimals:
            raise self._refusal(condition, value, f"it has {self._digits.decimals} decimals at most")
        return stored

    def _type(self, condition: Condition, value: object) -> object:
        return None if value is None else self._as_stored(self._of_type(condition, value))

    def _order(self, condition: Condition, value: object) -> object:
        if value is None:
            raise self._refusal(condition, value, "None is neither less nor greater than a value")
        if self._is_compressed or not (self._is_open or self._has("N") or self._has("S") or self._has("B")):
            raise self._refusal(condition, value, "it has no order as it is stored")
        if self._has("N") and isinstance(value, int | float | Decimal) and not isinstance(value, bool):
            if not _is_finite(value):
                raise self._refusal(condition, value, "it is no number that can be stored")
            try:
                return self._whole_seconds(_validated(self._bare, value))
            except ValidationError:
                return value  # a bound may have a fraction where the field has none
        return self._whole_seconds(self._of_type(condition, value))

    def _part(self, condition: Condition, value: object) -> object:
        if self._is_compressed:
            raise self._refusal(condition, value, "it is stored compressed")
        why = "it is neither a text nor a list or set"
        if self._member is not None:
            try:
                return _validated(self._member, value)
            except ValidationError as error:
                why = self._said(error)
        return self._text(condition, value, why, [each for each in self._texts if _holds_part(each, value)])

    def _beginning(self, condition: Condition, value: object) -> object:
        if self._is_compressed:
            raise self._refusal(condition, value, "it is stored compressed")
        begun = [each for each in self._texts if _begins(each, value)]
        return self._text(condition, value, "it is neither a text nor bytes", begun)

    def _text(self, condition: Condition, value: object, why: str, possible: list[str]) -> object:
        text = value.value if isinstance(value, Enum) else value
        if isinstance(text, bytes) and (self._has("B") or self._is_open):
            return text
        if isinstance(text, str) and (self._is_open or self._is_free_text or possible):
            return str(text)
        if self._has("S"):
            why = "no value of it does" if isinstance(text, str) else "it is a text"
        raise self._refusal(condition, value, why)

    # --- values -----------------------------------------------------------------------------------------------

    def _of_type(self, condition: Condition, value: object) -> object:
        """Return a value of the field's type, also one that is outside of its limits."""
        try:
            valid = _validated(self._whole, value)
        except ValidationError:
            try:
                valid = _validated(self._bare, value)
            except ValidationError as error:
                raise self._refusal(condition, value, self._said(error)) from error
        if not _is_finite(valid):
            raise self._refusal(condition, value, "it is no number that can be stored")
        return valid

    def _as_stored(self, value: object) -> object:
        """Return a value as it would be after a write and a read."""
        if self._digits is not None and self._digits.rounds and isinstance(value, int | float | Decimal):
            return type(value)(rounded(self._digits, value))
        return self._whole_seconds(value)

    def _whole_seconds(self, value: object) -> object:
        if self._is_time_to_live and isinstance(value, datetime):
            return value.replace(microsecond=0)
        return value

    def _said(self, error: ValidationError) -> str:
        first = error.errors(include_url=False, include_input=False)[0]
        return problem_text({**first, "loc": (self._name, *first["loc"])}, self._entity)

    def _refusal(self, condition: Condition, value: object, why: str) -> ConditionValueError:
        (field,) = fields_of(condition)
        plain = value.value if isinstance(value, Enum) else value
        texts = [each for each in self._choices if isinstance(each, str)]
        meant = get_close_matches(plain, texts, n=1) if isinstance(plain, str) else []
        asked = f"{type(condition).__name__}({field!r}, {shown_value(value)})"
        return ConditionValueError(
            f"{asked} asks what {self._entity.__name__}.{field} never is: {why}",
            hint=(f"did you mean {meant[0]!r}? " if meant else "") + self.takes,
        )

    # --- what it can be ---------------------------------------------------------------------------------------

    @cached_property
    def _is_open(self) -> bool:
        """Whether nothing is known of the values."""
        known = _NUMBERS | _TEXTS | _COLLECTIONS | _CHOICES | _NEITHER | {"bytes"}
        return any(leaf["type"] not in known for leaf in self._leaves)

    @cached_property
    def _choices(self) -> list[object]:
        """The values of a Literal or an Enum; none if the field can have others."""
        kinds = {leaf["type"] for leaf in self._leaves} - {"none"}
        if not kinds or kinds - _CHOICES:
            return []
        return [value for leaf in self._leaves for value in _choices_of(leaf)]

    @cached_property
    def _texts(self) -> list[str]:
        return [each for leaf in self._leaves for each in _choices_of(leaf) if isinstance(each, str)]

    @cached_property
    def _is_free_text(self) -> bool:
        return not self._is_time_to_live and any(leaf["type"] in _TEXTS for leaf in self._leaves)

    def _has(self, kind: str) -> bool:
        return kind in self._kinds

    @cached_property
    def _kinds(self) -> frozenset[str]:
        """The DynamoDB types of the values that have an order: S, N and B."""
        if self._is_time_to_live:
            return frozenset("N")
        return frozenset(kind for leaf in self._leaves for kind in _kinds_of(leaf))

    @cached_property
    def _bare(self) -> SchemaValidator:
        """Validates only the type, without limits and without the entity's own validators."""
        schema = _without_limits(self._schema, self._schemas.definitions)
        return self._validator(schema, without=_LIMITS_OF_TEXTS)

    @cached_property
    def _member(self) -> SchemaValidator | None:
        """Validates a member; None where there are none."""
        collections = [leaf for leaf in self._leaves if leaf["type"] in _COLLECTIONS]
        members = [member for leaf in collections for member in _members_of(leaf)]
        if not collections:
            return None
        return self._validator({"type": "union", "choices": members} if members else {"type": "any"})

    def _validator(self, schema: CoreSchema, without: Iterable[str] = ()) -> SchemaValidator:
        config: Any = {name: value for name, value in self._schemas.config.items() if name not in without}
        whole: Any = {
            "type": "definitions",
            "schema": schema,
            "definitions": [*self._schemas.definitions.values()],
        }
        return SchemaValidator(whole, config)


_CHECKS: Final[Mapping[Asks, Callable[[_Field, Condition, object], Any]]] = {
    "a value": _Field._value,
    "a type": _Field._type,
    "an order": _Field._order,
    "a part": _Field._part,
    "a beginning": _Field._beginning,
}


def _validated(validator: SchemaValidator, value: object) -> object:
    """Validate a value; an enum may also be given by the value of its member."""
    if not isinstance(value, Enum):
        return validator.validate_python(value)
    try:
        return validator.validate_python(value)
    except ValidationError:
        return validator.validate_python(value.value)


def _is_finite(value: object) -> bool:
    return not isinstance(value, float | Decimal) or isfinite(value)


def _decimals(value: object) -> int:
    if not isinstance(value, float | Decimal):
        return 0
    exponent = Decimal(repr(value) if isinstance(value, float) else value).normalize().as_tuple().exponent
    assert isinstance(exponent, int)
    return max(0, -exponent)


def _holds_part(text: str, part: object) -> bool:
    plain = part.value if isinstance(part, Enum) else part
    return isinstance(plain, str) and plain in text


def _begins(text: str, beginning: object) -> bool:
    plain = beginning.value if isinstance(beginning, Enum) else beginning
    return isinstance(plain, str) and text.startswith(plain)


# --- core schemas -----------------------------------------------------------------------------------------------


def _leaves(schema: CoreSchema, definitions: Mapping[str, CoreSchema]) -> Iterator[CoreSchema]:
    """Return the types that a value can have, without their wrappers."""
    kind = schema["type"]
    if kind in _AROUND:
        if kind == "nullable":
            yield {"type": "none"}
        yield from _leaves(schema[_AROUND[kind]], definitions)
    elif kind == "definition-ref":
        yield from _leaves(definitions[schema["schema_ref"]], definitions)
    elif kind in ("union", "tagged-union"):
        for choice in _union_of(schema):
            yield from _leaves(choice, definitions)
    else:
        yield schema


def _union_of(schema: CoreSchema) -> list[CoreSchema]:
    choices = schema["choices"]
    listed = choices.values() if isinstance(choices, dict) else choices
    return [each[0] if isinstance(each, tuple) else each for each in listed]


def _choices_of(leaf: CoreSchema) -> list[object]:
    match leaf["type"]:
        case "literal":
            return [each.value if isinstance(each, Enum) else each for each in leaf["expected"]]
        case "enum":
            return [each.value for each in leaf["members"]]
        case _:
            return []


def _kinds_of(leaf: CoreSchema) -> Iterator[str]:
    if leaf["type"] in _NUMBERS:
        yield "N"
    if leaf["type"] in _TEXTS:
        yield "S"
    if leaf["type"] == "bytes":
        yield "B"
    for each in _choices_of(leaf):
        if isinstance(each, str):
            yield "S"
        elif isinstance(each, int | float | Decimal) and not isinstance(each, bool):
            yield "N"


def _members_of(leaf: CoreSchema) -> list[CoreSchema]:
    members = leaf.get("items_schema")
    if members is None:
        return [{"type": "any"}]
    return [*members] if isinstance(members, list) else [members]


def _without_limits(schema: CoreSchema, definitions: Mapping[str, CoreSchema]) -> CoreSchema:
    kind = schema["type"]
    if kind in _FUNCTIONS or kind == "default":
        return _without_limits(schema["schema"], definitions)
    if kind in _AROUND:
        return {**schema, _AROUND[kind]: _without_limits(schema[_AROUND[kind]], definitions)}
    if kind == "union":
        return {**schema, "choices": [_without_limits(each, definitions) for each in _union_of(schema)]}
    if kind == "definition-ref":
        target = definitions[schema["schema_ref"]]
        return schema if target["type"] in ("model", "tagged-union") else _without_limits(target, definitions)
    bare = {name: value for name, value in schema.items() if name not in _LIMITS and name != "ref"}
    return with_exact_times(bare) if kind == "datetime" else bare
