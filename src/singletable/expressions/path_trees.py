"""Several document paths as one tree, and the parts of an item that they select."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from singletable.expressions.nodes import Element, Path, path_text
from singletable.expressions.refusals import ExpressionError
from singletable.limits import EXPRESSION_NESTING_MAX
from singletable.values.types import Item, Value


@dataclass(frozen=True, slots=True)
class Branch:
    """The steps that go on from one place: into a map, or into a list (in the order of its indexes).

    A step leads to another branch, or to the number of the path that ends there.
    """

    into_list: bool
    steps: tuple[tuple[Element, Branch | int], ...]


_Growing: TypeAlias = "dict[Element, _Growing | int]"


def check_path(path: Path) -> None:
    """Raise the error of a single path."""
    if len(path.elements) > EXPRESSION_NESTING_MAX:
        raise ExpressionError(
            f"The document path has too many nesting levels; nesting levels: {len(path.elements)}"
        )
    if path.undefined is not None:
        raise ExpressionError(
            "An expression attribute name used in the document path is not defined; "
            f"attribute name: {path.undefined}"
        )


def grow_tree(paths: Sequence[Path]) -> Branch:
    """Return the tree of these paths, or raise when two of them conflict or overlap.

    DynamoDB goes through its paths from the last one to the first, which shows when there is more than one thing
    to complain about.
    """
    root: _Growing = {}
    for number in range(len(paths) - 1, -1, -1):
        check_path(paths[number])
        _grow(root, paths, number)
    return _branch(root)


def _grow(root: _Growing, paths: Sequence[Path], number: int) -> None:
    elements = paths[number].elements
    node = root
    for element in elements[:-1]:
        _refuse_conflict(node, element, paths, number)
        child = node.setdefault(element, {})
        if isinstance(child, int):
            raise _refusal("overlap", elements, paths[child])
        node = child
    last = elements[-1]
    _refuse_conflict(node, last, paths, number)
    if last in node:
        raise _refusal("overlap", elements, paths[_any_leaf(node[last])])
    node[last] = number


def _refuse_conflict(node: _Growing, element: Element, paths: Sequence[Path], number: int) -> None:
    # One path takes this place for a map and another takes it for a list.
    if node and isinstance(next(iter(node)), int) != isinstance(element, int):
        raise _refusal("conflict", paths[number].elements, paths[_any_leaf(node)])


def _refusal(verb: str, one: tuple[Element, ...], two: Path) -> ExpressionError:
    return ExpressionError(
        f"Two document paths {verb} with each other; must remove or rewrite one of these paths; "
        f"path one: {path_text(one)}, path two: {two}"
    )


def _any_leaf(node: _Growing | int) -> int:
    while not isinstance(node, int):
        node = next(iter(node.values()))
    return node


def _branch(node: _Growing) -> Branch:
    steps = [
        (element, child if isinstance(child, int) else _branch(child)) for element, child in node.items()
    ]
    into_list = isinstance(next(iter(node)), int)
    if into_list:
        steps.sort(key=lambda step: int(step[0]))
    else:
        steps.reverse()
    return Branch(into_list, tuple(steps))


# --- selecting ---------------------------------------------------------------------


def select(item: Item, branch: Branch) -> Item:
    """Return the parts of an item, or of a map, that the paths lead to.

    A path that finds nothing leaves no trace. Selected list elements close ranks and keep their order.
    """
    selected: Item = {}
    for name, child in branch.steps:
        assert isinstance(name, str), "the steps into a map are names"
        found = item.get(name)
        if found is not None:
            part = found if isinstance(child, int) else _select_inside(found, child)
            if part is not None:
                selected[name] = part
    return selected


def _select_inside(value: Value, branch: Branch) -> Value | None:
    if not branch.into_list:
        members = value.get("M")
        selected = select(members, branch) if members is not None else None
        return {"M": selected} if selected else None
    elements = value.get("L")
    if elements is None:
        return None
    parts: list[Value] = []
    for index, child in branch.steps:
        assert isinstance(index, int), "the steps into a list are indexes"
        if index < len(elements):
            part = elements[index] if isinstance(child, int) else _select_inside(elements[index], child)
            if part is not None:
                parts.append(part)
    return {"L": parts} if parts else None
