"""The nodes of expression trees. Names are resolved already; values are still placeholders.

The tree of a condition can be as deep as 4 KB of text allow, so nothing compares, hashes or prints whole trees.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Comparator: TypeAlias = Literal["=", "<>", "<", "<=", ">", ">="]
Element: TypeAlias = str | int


@dataclass(frozen=True, slots=True)
class Path:
    """A document path: an attribute name, then names of map members and indexes of list elements."""

    elements: tuple[Element, ...]
    undefined: str | None = None  # the first placeholder in it that stands for nothing

    @property
    def attribute(self) -> str:
        """The top-level attribute it starts from."""
        return str(self.elements[0])

    def __str__(self) -> str:
        return path_text(self.elements)


@dataclass(frozen=True, slots=True)
class Placeholder:
    """A value that comes with the request, like ":v"."""

    name: str


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A function and its operands."""

    function: str
    operands: tuple[Operand, ...]


Operand: TypeAlias = Path | Placeholder | FunctionCall


# --- conditions -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Comparison:
    operator: Comparator
    left: Operand
    right: Operand


@dataclass(frozen=True, slots=True)
class Between:
    operand: Operand
    low: Operand
    high: Operand


@dataclass(frozen=True, slots=True)
class In:
    operand: Operand
    candidates: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class And:
    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Or:
    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Not:
    inner: Condition


Condition: TypeAlias = Comparison | Between | In | FunctionCall | And | Or | Not


# --- updates ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Arithmetic:
    operator: Literal["+", "-"]
    left: Operand
    right: Operand


@dataclass(frozen=True, slots=True)
class SetAction:
    target: Path
    value: Operand | Arithmetic


@dataclass(frozen=True, slots=True)
class RemoveAction:
    target: Path


@dataclass(frozen=True, slots=True)
class AddAction:
    target: Path
    value: Placeholder


@dataclass(frozen=True, slots=True)
class DeleteAction:
    target: Path
    value: Placeholder


Action: TypeAlias = SetAction | RemoveAction | AddAction | DeleteAction

# Nodes with a check of their own; operands are checked before their operators.
Checked: TypeAlias = Path | Placeholder | FunctionCall | Comparison | Between | In | Arithmetic


def path_text(elements: tuple[Element, ...]) -> str:
    """Return a path as DynamoDB's messages write it: "[a, b, [0]]"."""
    return f"[{', '.join(f'[{element}]' if isinstance(element, int) else element for element in elements)}]"
