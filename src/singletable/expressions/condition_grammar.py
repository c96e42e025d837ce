"""The grammar of conditions and filters; key conditions are read with it as well.

    condition   = conjunction { OR conjunction }
    conjunction = negation { AND negation }
    negation    = { NOT } primary
    primary     = "(" condition ")" | call
                | operand comparator operand
                | operand BETWEEN operand AND operand
                | operand IN "(" operand { "," operand } ")"
    operand     = "(" operand ")" | path | value | call

An opening parenthesis can begin a condition or an operand. Both are read alike until a later token decides, so
that a syntax error always names the first token that fits neither.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, cast

from singletable.expressions import tokens as kinds
from singletable.expressions.functions import CONDITIONS
from singletable.expressions.grammar import ExpressionReader, Parsed, Parsing, run
from singletable.expressions.nodes import (
    And,
    Between,
    Checked,
    Comparator,
    Comparison,
    Condition,
    In,
    Not,
    Or,
)

_COMPARATORS: Final = frozenset(("=", "<>", "<", "<=", ">", ">="))


@dataclass(frozen=True, slots=True)
class ParsedCondition:
    root: Condition
    checked: tuple[Checked, ...]
    operators: int


def parse_condition(source: str, names: Mapping[str, str | None]) -> ParsedCondition:
    """Return the tree of a condition, or raise the error of its text."""
    reader = _ConditionReader(source, names, CONDITIONS)
    parsed = run(reader.condition(operand_allowed=False))
    reader.take(kinds.END)
    root = reader.as_condition(parsed)
    reader.finish()
    return ParsedCondition(root, tuple(reader.checked), reader.operators)


class _ConditionReader(ExpressionReader):
    def as_condition(self, parsed: Parsed) -> Condition:
        return cast("Condition", self.as_whole(parsed))

    def condition(self, *, operand_allowed: bool) -> Parsing:
        first: Parsed = yield self._conjunction(operand_allowed=operand_allowed)
        if self.kind != "OR":
            return first
        parts = [self.as_condition(first)]
        while self.kind == "OR":
            self.take("OR")
            parts.append(self.as_condition((yield self._conjunction(operand_allowed=False))))
        return self._joined(Or(tuple(parts)))

    def _conjunction(self, *, operand_allowed: bool) -> Parsing:
        first: Parsed = yield self._negation(operand_allowed=operand_allowed)
        if self.kind != "AND":
            return first
        parts = [self.as_condition(first)]
        while self.kind == "AND":
            self.take("AND")
            parts.append(self.as_condition((yield self._negation(operand_allowed=False))))
        return self._joined(And(tuple(parts)))

    def _joined(self, node: And | Or) -> Parsed:
        self.operators += len(node.parts) - 1
        return Parsed(node, "whole")

    def _negation(self, *, operand_allowed: bool) -> Parsing:
        negations = 0
        while self.kind == "NOT":
            self.take("NOT")
            negations += 1
        parsed: Parsed = yield self._primary(operand_allowed=operand_allowed and not negations)
        if not negations:
            return parsed
        node = self.as_condition(parsed)
        for _ in range(negations):
            node = Not(node)
        self.operators += negations
        return Parsed(node, "whole")

    def _primary(self, *, operand_allowed: bool) -> Parsing:
        parsed: Parsed
        if self.kind == "(":
            self.take("(")
            inner = yield self.condition(operand_allowed=True)
            self.take(")")
            parsed = self.group(inner, settled=inner.kind != "operand")
        else:
            parsed = yield self.operand()
        if parsed.kind == "whole":
            return parsed
        if self.kind in _COMPARATORS or self.kind in ("BETWEEN", "IN"):
            parsed = yield self._predicate(parsed)
            return parsed
        if parsed.kind == "call" or (operand_allowed and self.kind == ")"):
            return parsed
        raise self.unexpected()

    def _predicate(self, first: Parsed) -> Parsing:
        left = self.as_operand(first)
        self.operators += 1
        operator = self.take("BETWEEN", "IN", *_COMPARATORS).kind
        node: Comparison | Between | In
        if operator == "BETWEEN":
            low = self.as_operand((yield self.operand()))
            self.take("AND")
            node = Between(left, low, self.as_operand((yield self.operand())))
        elif operator == "IN":
            self.take("(")
            candidates = [self.as_operand((yield self.operand()))]
            while self.take(",", ")").kind == ",":
                candidates.append(self.as_operand((yield self.operand())))
            node = In(left, tuple(candidates))
        else:
            node = Comparison(cast("Comparator", operator), left, self.as_operand((yield self.operand())))
        return Parsed(self.check(node), "whole")
