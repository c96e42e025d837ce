"""The grammar of updates.

    update     = section { section }
    section    = SET path "=" value { "," path "=" value }
               | REMOVE path { "," path }
               | ADD path placeholder { "," path placeholder }
               | DELETE path placeholder { "," path placeholder }
    value      = operand | arithmetic
    arithmetic = operand ( "+" | "-" ) operand | "(" arithmetic ")"
    operand    = "(" operand ")" | path | placeholder | call

Sums do not nest: "a + b + c" and "a + (b + c)" are syntax errors in DynamoDB too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, cast

from singletable.expressions import tokens as kinds
from singletable.expressions.functions import UPDATES
from singletable.expressions.grammar import ExpressionReader, Parsed, Parsing, run
from singletable.expressions.nodes import (
    Action,
    AddAction,
    Arithmetic,
    Checked,
    DeleteAction,
    Operand,
    RemoveAction,
    SetAction,
)
from singletable.expressions.refusals import ExpressionError

_SECTIONS: Final = ("SET", "REMOVE", "ADD", "DELETE")


@dataclass(frozen=True, slots=True)
class ParsedAction:
    action: Action
    checked: tuple[Checked, ...]  # the nodes of its value, without its target


@dataclass(frozen=True, slots=True)
class ParsedUpdate:
    actions: tuple[ParsedAction, ...]
    operators: int


def parse_update(source: str, names: Mapping[str, str | None]) -> ParsedUpdate:
    """Return the actions of an update as they are written, or raise the error of its text."""
    reader = _UpdateReader(source, names, UPDATES)
    actions: list[ParsedAction] = []
    seen: set[str] = set()
    repeated: str | None = None
    while not actions or reader.kind != kinds.END:
        section = reader.take(*_SECTIONS).kind
        if section in seen and repeated is None:
            repeated = section
        seen.add(section)
        actions.extend(reader.section(section))
    reader.finish()
    if repeated is not None:
        raise ExpressionError(f'The "{repeated}" section can only be used once in an update expression;')
    return ParsedUpdate(tuple(actions), reader.operators)


class _UpdateReader(ExpressionReader):
    def section(self, section: str) -> list[ParsedAction]:
        readers: dict[str, Callable[[], Action]] = {
            "SET": self._set,
            "REMOVE": lambda: RemoveAction(self.path()),
            "ADD": lambda: AddAction(self.path(), self.placeholder()),
            "DELETE": lambda: DeleteAction(self.path(), self.placeholder()),
        }
        read = readers[section]
        actions = [self._action(read)]
        while self.kind == ",":
            self.take(",")
            actions.append(self._action(read))
        return actions

    def _action(self, read: Callable[[], Action]) -> ParsedAction:
        self.checked = []
        return ParsedAction(read(), tuple(self.checked))

    def _set(self) -> SetAction:
        target = self.path()
        self.take("=")
        value = self.as_whole(run(self._value()))
        return SetAction(target, cast("Operand | Arithmetic", value))

    def _value(self) -> Parsing:
        first: Parsed
        if self.kind == "(":
            self.take("(")
            inner = yield self._value()
            self.take(")")
            first = self.group(inner, settled=True)
        else:
            first = yield self.operand()
        if first.kind == "whole" or self.kind not in ("+", "-"):
            return first
        operator = cast("Literal['+', '-']", self.take("+", "-").kind)
        left = self.as_operand(first)
        right = self.as_operand((yield self.operand()))
        self.operators += 1
        return Parsed(self.check(Arithmetic(operator, left, right)), "whole")
