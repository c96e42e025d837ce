"""The shapes of plans for the blueprint: the requests of an access pattern, derived from plans with sample values.

This file has the parts that several kinds share. The file of each kind has its own shape.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from pydantic import BaseModel

from singletable.blueprint import ReadBlueprint, SortBlueprint
from singletable.design.keys.key import Key, NoSortKey
from singletable.design.keys.ranges import Bound, SortRange
from singletable.design.keys.texts import template_of, template_of_all
from singletable.design.model.catalog import Catalog
from singletable.design.model.schema import EntitySchema
from singletable.design.values.annotations import plain_value
from singletable.design.values.conditions import Condition, ConditionData, all_of, condition_data

T = TypeVar("T")
K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class PatternCalls(Generic[T]):
    """The plans that calls of one pattern returned, each with the values that it was called with."""

    catalog: Catalog
    plans: Sequence[T]
    arguments: Sequence[dict[str, object]]

    @property
    def same(self) -> list[object]:
        """Return the values that were the same in all calls, though they are the caller's."""
        first, *others = self.arguments
        return [
            value
            for name, value in first.items()
            if value is not None and all(other[name] == value for other in others)
        ]

    def of(self, plans: Sequence[K]) -> PatternCalls[K]:
        """Return the calls with these plans."""
        return PatternCalls(self.catalog, plans, self.arguments)

    def of_kind(self, kind: type[K]) -> PatternCalls[K]:
        """Return the calls whose plans are of a kind."""
        return self.of([plan for plan in self.plans if isinstance(plan, kind)])


# Returns the kinds of requests that plans of any kind send; for plans inside of others.
ReadsOf: TypeAlias = Callable[[PatternCalls[Any], str | None], tuple[ReadBlueprint, ...]]


def equal_sort(keys: Sequence[Key | None], calls: PatternCalls[T]) -> SortBlueprint | None:
    """Return the condition that sort keys are these; None where there is no sort key."""
    if keys[0] is None or type(keys[0]) is NoSortKey:
        return None
    return SortBlueprint("=", (template_of([key for key in keys if key is not None], calls.same),))


def any_key(schema: EntitySchema) -> tuple[str, SortBlueprint | None]:
    """Return the key of any item of an entity: its partition key, and the condition on its sort key."""
    keys = schema.key.keys
    sort = None if keys.sk is NoSortKey else SortBlueprint("=", (template_of_all(keys.sk),))
    return template_of_all(keys.pk), sort


def named_read(catalog: Catalog, entity: type[BaseModel], name: str | None, *, by: str) -> ReadBlueprint:
    """Return the request for items of an entity whose keys other items, of the entity `by`, hold."""
    pk, sort = any_key(catalog.schema_for(entity))
    return ReadBlueprint("BatchGetItem", (entity.__name__,), pk, sort=sort, name=name, named_by=by)


def sort_of(ranges: Sequence[SortRange], calls: PatternCalls[T]) -> SortBlueprint | None:
    """Return the condition on sort keys that ranges of one kind share; None where any sort key is meant."""
    of = ranges[0].of
    bounds = [bounds_of(each) for each in ranges]
    own = of.compiled.prefix({}) if of.compiled is not None else ""
    if bounds[0]:
        operators = [operator for operator, _ in bounds[0]]
        templates = [
            template_of([each[number][1] for each in bounds], calls.same) for number in range(len(operators))
        ]
        operator = "BETWEEN" if operators == [">=", "<="] else " AND ".join(operators)
        return SortBlueprint(operator, tuple(templates), own or None)
    if not own:
        return None
    return SortBlueprint("begins_with" if of.parts else "=", (own,), own)


def bounds_of(bounds: SortRange) -> list[tuple[str, Bound]]:
    """Return the bounds that are given, each with its operator."""
    given = [
        ("=", bounds.eq),
        ("begins_with", bounds.begins),
        (">", bounds.gt),
        (">=", bounds.ge),
        ("<", bounds.lt),
        ("<=", bounds.le),
    ]
    return [(operator, bound) for operator, bound in given if bound is not None]


def filter_of(conditions: Sequence[Sequence[Condition]], calls: PatternCalls[T]) -> ConditionData | None:
    """Return the condition that the conditions of each call are together."""
    return condition_of([all_of(list(each)) for each in conditions], calls)


def condition_of(conditions: Sequence[Condition | None], calls: PatternCalls[T]) -> ConditionData | None:
    """Return a condition. A value of the caller is the name of a parameter: {"field": ..., "parameter": ...}."""
    given = [condition_data(condition) for condition in conditions if condition is not None]
    return _with_parameters(given, calls) if given else None


def _with_parameters(given: Sequence[ConditionData], calls: PatternCalls[T]) -> ConditionData:
    first = given[0]
    data: ConditionData = {}
    for key, value in first.items():
        others = [each.get(key) for each in given]
        match key:
            case "conditions":
                data[key] = [_with_parameters(members, calls) for members in zip(*others, strict=True)]
            case "condition":
                data[key] = _with_parameters(others, calls)  # type: ignore[arg-type]
            case "value" | "values" if _is_given(others, calls):
                data["parameter"] = _parameter(value, calls) or first["field"]
            case _:
                data[key] = value
    return data


def _is_given(values: Sequence[object], calls: PatternCalls[T]) -> bool:
    same = [plain_value(value) for value in calls.same]
    return any(value != values[0] for value in values) or values[0] in same


def _parameter(value: object, calls: PatternCalls[T]) -> str | None:
    """Name the parameter that has a value in the first call."""
    return next((name for name, each in calls.arguments[0].items() if plain_value(each) == value), None)
