"""Updates: prepared once for a text and its names, then bound to the values of each request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from singletable.errors import ValidationError
from singletable.expressions.checks import (
    Check,
    CheckList,
    Values,
    add_or_delete_check,
    check_list,
    node_checks,
)
from singletable.expressions.nodes import (
    Action,
    AddAction,
    Arithmetic,
    DeleteAction,
    FunctionCall,
    Operand,
    Placeholder,
    RemoveAction,
)
from singletable.expressions.path_trees import Branch, grow_tree, select
from singletable.expressions.prepared import Names, Uses
from singletable.expressions.refusals import ExpressionError
from singletable.expressions.update_charges import UpdateCharge, charge_of
from singletable.expressions.update_effects import Effect, effect_of
from singletable.expressions.update_grammar import ParsedUpdate, parse_update
from singletable.limits import EXPRESSION_CACHE_ENTRIES_MAX, NESTING_LEVELS_MAX
from singletable.values.types import Item, Value

_INVALID_PATH: Final = "The document path provided in the update expression is invalid for update"
_TOO_DEEP: Final = "Nesting Levels have exceeded supported limits"


@dataclass(frozen=True, slots=True)
class PreparedUpdate:
    checks: CheckList
    uses: Uses
    tree: Branch
    effects: tuple[tuple[str, Effect], ...]  # with the top-level attribute that each of them writes
    fixed: tuple[tuple[str, str], ...]
    """Attributes that get their type from the request, with the placeholder that has it, or the type itself."""
    charge: UpdateCharge
    only_removes: bool


class Update:
    """An update with its values, ready to be applied to items."""

    __slots__ = ("_prepared", "_values", "_values_bytes")

    def __init__(self, prepared: PreparedUpdate, values: Values, values_bytes: int = 0) -> None:
        """Take the values, and their size together as far as the update is charged for them."""
        self._prepared = prepared
        self._values = values
        self._values_bytes = values_bytes

    def apply(self, item: Item) -> Item:
        """Return the item as it is after the update; the given one stays as it was."""
        prepared = self._prepared
        values = self._values
        if prepared.uses.nested_attributes:
            results = [effect(item, values) for _, effect in prepared.effects]
            return _rewrite_members(item, prepared.tree, results, 1)
        updated = item.copy()
        for attribute, effect in prepared.effects:
            result = effect(item, values)
            if result is not None:
                updated[attribute] = result
            else:
                updated.pop(attribute, None)
        return updated

    def project(self, item: Item) -> Item:
        """Return the parts of an item at the written paths, for UPDATED_OLD and UPDATED_NEW.

        Only the nested parts come back, and list indexes mean the item as given: after "REMOVE l[1]" the new item
        may have another l[1], which is returned, and after "SET l[100] = :v" it has no l[100] (ScyllaDB's
        conformance tests, run against the service).
        """
        return select(item, self._prepared.tree)

    def charges_more_than(self, bytes_max: int) -> bool:
        """Say whether the request itself is above the limit of an item, independently of the item."""
        return self._prepared.charge.exceeds(bytes_max, self._values, self._values_bytes)

    @property
    def fixed_types(self) -> dict[str, str]:
        """The types that whole attributes get, as far as the request decides them: by a value, or by a sum."""
        values = self._values
        return {
            attribute: next(iter(values[source])) if source in values else source
            for attribute, source in self._prepared.fixed
        }

    @property
    def only_removes(self) -> bool:
        """Whether it only removes attributes, or members of sets."""
        return self._prepared.only_removes

    @property
    def attributes(self) -> frozenset[str]:
        """The top-level attributes it writes."""
        return self._prepared.uses.attributes

    @property
    def nested_attributes(self) -> frozenset[str]:
        """The top-level attributes that it writes inside of, with "." or "[]"."""
        return self._prepared.uses.nested_attributes


@lru_cache(maxsize=EXPRESSION_CACHE_ENTRIES_MAX)
def prepare_update(source: str, names: Names) -> PreparedUpdate:
    """Parse and compile an update."""
    parsed = parse_update(source, dict(names))
    targets = [action.action.target for action in parsed.actions]
    tree = grow_tree(targets)
    checks = check_list(_checks(parsed), operators=parsed.operators)
    placeholders = [
        node.name for action in parsed.actions for node in action.checked if isinstance(node, Placeholder)
    ]
    effects: tuple[tuple[str, Effect], ...] = ()
    if checks.passable:
        effects = tuple([(a.action.target.attribute, effect_of(a.action)) for a in parsed.actions])
    actions = [action.action for action in parsed.actions]
    return PreparedUpdate(
        checks,
        Uses.of(source, names, targets, placeholders),
        tree,
        effects,
        tuple(_fixed(actions)),
        charge_of(actions),
        all(isinstance(action, RemoveAction | DeleteAction) for action in actions),
    )


def _fixed(actions: Sequence[Action]) -> Iterator[tuple[str, str]]:
    for action in actions:
        if not isinstance(action, RemoveAction) and len(action.target.elements) == 1:
            source = _type_source(action.value)
            if source is not None:
                yield action.target.attribute, source


def _type_source(value: Operand | Arithmetic) -> str | None:
    """Return the placeholder that decides the type of a value, or the type; None if the item decides it."""
    match value:
        case Placeholder(name):
            return name
        case Arithmetic():
            return "N"
        case FunctionCall("list_append", _):
            return "L"
        case FunctionCall("if_not_exists", (_, fallback)):
            return _type_source(fallback)
        case _:
            return None


def _checks(parsed: ParsedUpdate) -> Iterator[Check | ExpressionError]:
    # Like the paths, the values are gone through from the last action to the first.
    for action in reversed(parsed.actions):
        yield from node_checks(action.checked)
        match action.action:
            case AddAction(_, Placeholder(name)):
                yield add_or_delete_check("ADD", name)
            case DeleteAction(_, Placeholder(name)):
                yield add_or_delete_check("DELETE", name)


# --- writing along paths -----------------------------------------------------------------


def _rewrite_members(
    members: Item, branch: Branch, results: Sequence[Value | None], level: int
) -> dict[str, Any]:
    updated = members.copy()
    for name, child in branch.steps:
        assert isinstance(name, str), "the steps into a map are names"
        if isinstance(child, Branch):
            updated[name] = _rewrite_inside(members.get(name), child, results, level)
            continue
        result = results[child]
        if result is None:
            updated.pop(name, None)
        else:
            _check_levels(result, level)
            updated[name] = result
    return updated


def _rewrite_elements(
    elements: list[Value], branch: Branch, results: Sequence[Value | None], level: int
) -> list[Value]:
    """Return a list with its elements replaced, removed and appended. All indexes are those of the old list."""
    updated: list[Value | None] = list(elements)
    for index, child in branch.steps:
        assert isinstance(index, int), "the steps into a list are indexes"
        inside = index < len(elements)
        if isinstance(child, Branch):
            element = elements[index] if inside else None
            updated[index : index + 1] = [_rewrite_inside(element, child, results, level)]
            continue
        result = results[child]
        if result is not None:
            _check_levels(result, level)
        if inside:
            updated[index] = result
        elif result is not None:
            # Wherever beyond the end, it is appended; several in the order of their indexes.
            updated.append(result)
    return [element for element in updated if element is not None]


def _rewrite_inside(
    value: Value | None, branch: Branch, results: Sequence[Value | None], level: int
) -> Value:
    tag = "L" if branch.into_list else "M"
    content = None if value is None else value.get(tag)
    if content is None:
        # Nothing is created on the way to a target, and a REMOVE needs the way to be there too.
        raise ValidationError(_INVALID_PATH)
    rewrite = _rewrite_elements if branch.into_list else _rewrite_members
    return {tag: rewrite(content, branch, results, level + 1)}


def _check_levels(value: Value, level: int) -> None:
    # A value directly in the item was within the limits before, and still is.
    if level > 1 and level + _container_levels(value) > NESTING_LEVELS_MAX:
        raise ValidationError(_TOO_DEEP)


def _container_levels(value: Value) -> int:
    ((tag, payload),) = value.items()
    if tag == "L":
        return 1 + max(map(_container_levels, payload), default=0)
    if tag == "M":
        return 1 + max(map(_container_levels, payload.values()), default=0)
    return 0
