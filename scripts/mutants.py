"""Mutants: small wrong changes of functions, found in their syntax trees and written into their source.

A mutant is known by its function, not by its file: two commits have the same mutant if the function reads the same
in both. So the tests of two commits can be held against each other.
"""

from __future__ import annotations

import ast
import copy
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

FunctionNode: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef

_COMPARISONS: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_ARITHMETIC: Final[dict[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}


@dataclass(frozen=True)
class Function:
    """A function of the source, and where it stands."""

    path: Path
    name: str
    node: FunctionNode

    @property
    def identity(self) -> str:
        """What two commits agree on if the function is the same in both."""
        text = f"{self.name}\n{ast.unparse(self.node)}"
        return f"{self.name}:{hashlib.sha256(text.encode()).hexdigest()[:12]}"


@dataclass(frozen=True)
class Change:
    """One wrong change: what stands at a place, and what would stand there instead."""

    node: ast.AST
    text: str


def functions_of(package: Path) -> dict[str, Function]:
    """Return the functions of a package by their identity; those that are there twice are left out."""
    found: dict[str, Function] = {}
    twice = set()
    for path in sorted(package.rglob("*.py")):
        for function in _functions_in(path, ast.parse(path.read_text()), ""):
            if function.identity in found:
                twice.add(function.identity)
            found[function.identity] = function
    return {identity: function for identity, function in found.items() if identity not in twice}


def _functions_in(path: Path, parent: ast.AST, prefix: str) -> Iterator[Function]:
    for node in ast.iter_child_nodes(parent):
        match node:
            case ast.ClassDef():
                yield from _functions_in(path, node, f"{prefix}{node.name}.")
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                if not any("overload" in ast.unparse(each) for each in node.decorator_list):
                    yield Function(path, prefix + node.name, node)
            case ast.If() | ast.Try():
                yield from _functions_in(path, node, prefix)


def changes_of(function: FunctionNode) -> list[Change]:
    """Return the wrong changes of a function, always in the same order."""
    return [
        change for statement in function.body for node in _walk(statement) for change in _changes_at(node)
    ]


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """Walk through what runs: no annotations, docstrings, assertions or texts inside of texts."""
    match node:
        case ast.Assert() | ast.JoinedStr():
            return
        case ast.Expr(value=ast.Constant()):
            return
    yield node
    skipped = {"annotation", "returns", "decorator_list"}
    for field, value in ast.iter_fields(node):
        if field not in skipped:
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from _walk(child)


def _changes_at(node: ast.AST) -> Iterator[Change]:
    yield from _changes_of_expression(node)
    yield from _changes_of_statement(node)


def _changes_of_expression(node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.Compare(ops=ops):
            for index, operator in enumerate(ops):
                changed = copy.deepcopy(node)
                changed.ops[index] = _COMPARISONS[type(operator)]()
                yield Change(node, f"({ast.unparse(changed)})")
        case ast.BoolOp():
            other: ast.boolop = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            yield Change(node, f"({ast.unparse(ast.BoolOp(other, node.values))})")
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield Change(node, f"bool({ast.unparse(operand)})")
        case ast.BinOp(left, operator, right) if type(operator) in _ARITHMETIC:
            yield Change(node, f"({ast.unparse(ast.BinOp(left, _ARITHMETIC[type(operator)](), right))})")
        case ast.IfExp(test, body, orelse):
            yield Change(node, f"({ast.unparse(ast.IfExp(test, orelse, body))})")
        case ast.Constant(value=bool() as value):
            yield Change(node, repr(not value))
        case ast.Constant(value=int() as number):
            yield Change(node, f"({number + 1})")
        case ast.Constant(value=str() as text) if text:
            yield Change(node, repr("!" + text))


def _changes_of_statement(node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.If(test=test) | ast.While(test=test):
            yield Change(test, f"(not ({ast.unparse(test)}))")
        case ast.Return(value=value) if value is not None and not _is_nothing(value):
            yield Change(node, "return None")
        case ast.Raise() | ast.AugAssign() | ast.Expr(value=ast.Call()):
            yield Change(node, "pass")
        case ast.Break():
            yield Change(node, "continue")
        case ast.Continue():
            yield Change(node, "break")


def _is_nothing(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def with_change(source: str, change: Change) -> str:
    """Return the source of a module with one change in it."""
    node = change.node
    assert isinstance(node, ast.expr | ast.stmt)
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    lines = source.encode().splitlines(keepends=True)
    before = b"".join(lines[: node.lineno - 1]) + lines[node.lineno - 1][: node.col_offset]
    after = lines[node.end_lineno - 1][node.end_col_offset :] + b"".join(lines[node.end_lineno :])
    return (before + change.text.encode() + after).decode()


def with_calls(source: str, marked: Sequence[tuple[FunctionNode, str]]) -> str:
    """Return the source of a module whose functions call something first."""
    lines = source.splitlines(keepends=True)
    for function, call in sorted(marked, key=lambda each: -each[0].lineno):
        first = function.body[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and len(function.body) > 1:
            first = function.body[1]
        start = min([first.lineno, *(each.lineno for each in getattr(first, "decorator_list", []))])
        if start == function.lineno:  # all on one line
            continue
        lines.insert(start - 1, " " * first.col_offset + call + "\n")
    return "".join(lines)
