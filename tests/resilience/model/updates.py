"""Update expressions of the model: what changes and how, applied naively, and printed, never parsed."""

from __future__ import annotations

import copy
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, assert_never

from resilience.model.paths import MISSING, Missing, Path, Printer, project, reach
from resilience.model.refusals import RefusedError
from resilience.model.values import ARITHMETIC, Item, Value, type_of

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True)
class Given:
    value: Value


@dataclass(frozen=True)
class Read:
    path: Path


@dataclass(frozen=True)
class IfNotExists:
    path: Path
    otherwise: Term


@dataclass(frozen=True)
class ListAppend:
    left: Term
    right: Term


@dataclass(frozen=True)
class Arithmetic:
    operator: str
    left: Term
    right: Term


Term = Given | Read | IfNotExists | ListAppend | Arithmetic


@dataclass(frozen=True)
class Update:
    """One update expression; no two of its paths overlap."""

    sets: tuple[tuple[Path, Term], ...] = ()
    removes: tuple[Path, ...] = ()
    adds: tuple[tuple[Path, Value], ...] = ()
    deletes: tuple[tuple[Path, frozenset[Value]], ...] = ()

    def only_removes(self) -> bool:
        return not self.sets and not self.adds

    def fixed_types(self) -> dict[str, str]:
        """Tell the types that whole attributes get, as far as the expression alone decides them."""
        given: list[tuple[Path, Term]] = [
            *self.sets,
            *((path, Given(value)) for path, value in self.adds),
            *((path, Given(value)) for path, value in self.deletes),
        ]
        types = {path[0]: _fixed_type(term) for path, term in given if len(path) == 1}
        return {str(name): kind for name, kind in types.items() if kind is not None}

    def paths(self) -> list[Path]:
        """List every path that the expression targets."""
        return [
            *(path for path, _ in self.sets),
            *self.removes,
            *(path for path, _ in self.adds),
            *(path for path, _ in self.deletes),
        ]


def _fixed_type(term: Term) -> str | None:
    match term:
        case Given(value):
            return type_of(value)
        case Arithmetic():
            return "N"
        case ListAppend():
            return "L"
        case IfNotExists(_, otherwise):
            return _fixed_type(otherwise)
        case Read():
            return None


def invalid_path() -> RefusedError:
    return RefusedError.validation(
        "The document path provided in the update expression is invalid for update"
    )


def missing_attribute() -> RefusedError:
    return RefusedError.validation(
        "The provided expression refers to an attribute that does not exist in the item"
    )


def wrong_type() -> RefusedError:
    return RefusedError.validation("An operand in the update expression has an incorrect data type")


def applied(update: Update, item: Item) -> Item:
    """Return the item after the update. Every right-hand side sees the item as it was."""
    new, gone = _outcomes(update, item)
    result = copy.deepcopy(item)
    # A position beyond the end appends, so the lowest goes first (guide, "Adding elements to a list").
    for path in sorted(new, key=_positions):
        _assign(result, path, new[path])
    # A removed list element closes the gap, so the highest position goes first.
    for path in sorted(gone, key=_positions, reverse=True):
        _drop(result, path)
    return result


def _outcomes(update: Update, item: Item) -> tuple[dict[Path, Value], list[Path]]:
    """Compute what each path becomes. Where several things are wrong, any of the messages will do."""
    new: dict[Path, Value] = {}
    gone: list[Path] = list(update.removes)
    refusals: list[str | None] = []

    for path, term in update.sets:
        with collected(refusals):
            new[path] = resolved(term, item)
    for path, addend in update.adds:
        with collected(refusals):
            new[path] = _sum(reach(item, path), addend)
    for path, members in update.deletes:
        with collected(refusals):
            _difference(path, reach(item, path), members, new=new, gone=gone)
    for path in update.paths():
        with collected(refusals):
            _check_parent(item, path)
    check_collected(refusals)
    return new, gone


@contextmanager
def collected(refusals: list[str | None]) -> Iterator[None]:
    try:
        yield
    except RefusedError as refusal:
        refusals.append(refusal.message)


def check_collected(refusals: list[str | None]) -> None:
    if refusals:
        raise RefusedError.validation(refusals[0] if len(set(refusals)) == 1 else None)


def resolved(term: Term, item: Item) -> Value:
    """Compute a right-hand side on the item as it was before the update."""
    match term:
        case Given(value):
            return value
        case Read(path):
            found = reach(item, path)
            if isinstance(found, Missing):
                raise missing_attribute()
            return found
        case IfNotExists(path, otherwise):
            found = reach(item, path)
            return resolved(otherwise, item) if isinstance(found, Missing) else found
        case ListAppend(left, right):
            one, other = _operands(left, right, item, list)
            return one + other
        case Arithmetic(operator, left, right):
            one, other = _operands(left, right, item, Decimal)
            return ARITHMETIC.add(one, other) if operator == "+" else ARITHMETIC.subtract(one, other)
        case _:
            assert_never(term)


def _operands(left: Term, right: Term, item: Item, kind: type) -> tuple[Any, Any]:
    """Resolve two operands of one type; where both are wrong, either message will do."""
    values: list[Value] = []
    refusals: list[str | None] = []
    for term in (left, right):
        with collected(refusals):
            value = resolved(term, item)
            if not isinstance(value, kind):
                raise wrong_type()
            values.append(value)
    check_collected(refusals)
    return values[0], values[1]


def _positions(path: Path) -> list[tuple[str, int]]:
    return [(step, 0) if isinstance(step, str) else ("", step) for step in path]


def _sum(found: Value | Missing, addend: Value) -> Value:
    if isinstance(found, Missing):
        return addend
    if type_of(found) != type_of(addend):
        raise wrong_type()
    return ARITHMETIC.add(found, addend) if isinstance(addend, Decimal) else found | addend


def _difference(
    path: Path,
    found: Value | Missing,
    members: frozenset[Value],
    *,
    new: dict[Path, Value],
    gone: list[Path],
) -> None:
    if isinstance(found, Missing):
        return
    if type_of(found) != type_of(members):
        raise wrong_type()
    rest = found - members
    if rest:
        new[path] = rest
    else:
        gone.append(path)  # there is no empty set: the attribute goes


def _check_parent(item: Item, path: Path) -> None:
    parent = reach(item, path[:-1])
    if not isinstance(parent, dict if isinstance(path[-1], str) else list):
        raise invalid_path()


def _assign(item: Item, path: Path, value: Value) -> None:
    parent: Any = reach(item, path[:-1])
    last = path[-1]
    if isinstance(last, int) and last >= len(parent):
        parent.append(value)
    else:
        parent[last] = copy.deepcopy(value)


def _drop(item: Item, path: Path) -> None:
    parent, last = reach(item, path[:-1]), path[-1]
    if isinstance(parent, list) and isinstance(last, int):
        del parent[last : last + 1]
    elif isinstance(parent, dict):
        parent.pop(last, None)


def touched(update: Update, item: Item, *, whole_attributes: bool) -> Item:
    """Return what UPDATED_OLD or UPDATED_NEW shows of the item before or after.

    AWS shows what each path reaches and no more (ExtendDB pull request 105, verified on AWS);
    its local build shows the whole attribute when the path reaches anything.
    """
    paths = update.paths()
    if whole_attributes:
        paths = [path[:1] for path in paths if reach(item, path) is not MISSING]
    return project(item, paths)


def printed(update: Update, printer: Printer) -> str:
    """Write an update as expression text."""
    clauses = []
    if update.sets:
        clauses.append("SET " + ", ".join(_set_text(path, term, printer) for path, term in update.sets))
    if update.removes:
        clauses.append("REMOVE " + ", ".join(printer.path(path) for path in update.removes))
    for keyword, actions in (("ADD", update.adds), ("DELETE", update.deletes)):
        if actions:
            texts = [f"{printer.path(path)} {printer.value(value)}" for path, value in actions]
            clauses.append(f"{keyword} " + ", ".join(texts))
    return " ".join(clauses)


def _set_text(path: Path, term: Term, printer: Printer) -> str:
    return f"{printer.path(path)} = {_text(term, printer)}"


def _text(term: Term, printer: Printer) -> str:
    match term:
        case Given(value):
            return printer.value(value)
        case Read(path):
            return printer.path(path)
        case IfNotExists(path, otherwise):
            return f"if_not_exists({printer.path(path)}, {_text(otherwise, printer)})"
        case ListAppend(left, right):
            return f"list_append({_text(left, printer)}, {_text(right, printer)})"
        case Arithmetic(operator, left, right):
            return f"{_text(left, printer)} {operator} {_text(right, printer)}"
        case _:
            assert_never(term)
