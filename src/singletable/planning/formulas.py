"""Arithmetic that a document states: names, numbers, + - * / and parentheses. Nothing else is evaluated.

A formula may come from anybody: it is read by hand, in bounded time, and never by Python.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

FORMULA_LENGTH_MAX: Final = 4_000
DEPTH_MAX: Final = 50

_TOKEN: Final = re.compile(r"\s*(?:(?P<number>\d+(?:\.\d+)?)|(?P<name>[A-Za-z_]\w*)|(?P<sign>[-+*/()]))")
_SHOWN: Final = 40


class FormulaError(Exception):
    """A formula that cannot be worked out; it says why in one sentence."""


@dataclass(frozen=True, slots=True)
class Token:
    """A number, a name, or a sign of a formula."""

    kind: str  # number, name, sign
    text: str


def tokens_of(formula: str) -> tuple[Token, ...]:
    """Return the tokens of a formula. What is no arithmetic is an error."""
    if len(formula) > FORMULA_LENGTH_MAX:
        raise FormulaError(f"the formula has more than {FORMULA_LENGTH_MAX:,} characters")
    found, at, end = [], 0, len(formula.rstrip())
    while at < end:
        match = _TOKEN.match(formula, at)
        if match is None:
            raise FormulaError(
                f"{_shown(formula[at:])} is no arithmetic: only names, numbers, + - * / and ( )"
            )
        assert match.lastgroup is not None
        found.append(Token(match.lastgroup, match[match.lastgroup]))
        at = match.end()
    if not found:
        raise FormulaError("the formula is empty")
    return tuple(found)


def names_of(formula: str) -> tuple[str, ...]:
    """Return the names in a formula, each once."""
    return tuple(dict.fromkeys(token.text for token in tokens_of(formula) if token.kind == "name"))


def evaluate(formula: str, values: Mapping[str, float]) -> float:
    """Work a formula out with these values of its names."""
    found = _Reader(tokens_of(formula), values).whole()
    if not math.isfinite(found):
        raise FormulaError(f"{_shown(formula)} is no finite number")
    return found


def with_values(formula: str, values: Mapping[str, float], shown: Callable[[float], str]) -> str:
    """Write a formula with values in the place of its names."""
    texts: list[str] = []
    for token in tokens_of(formula):
        text = shown(values[token.text]) if token.kind == "name" and token.text in values else token.text
        is_glued = token.text == ")" or (texts and texts[-1].endswith("("))
        texts.append(text if is_glued or not texts else f" {text}")
    return "".join(texts)


class _Reader:
    """Reads sums of products of values, from left to right."""

    def __init__(self, tokens: tuple[Token, ...], values: Mapping[str, float]) -> None:
        self._tokens: Iterator[Token] = iter(tokens)
        self._values = values
        self._next = next(self._tokens, None)
        self._depth = 0

    def whole(self) -> float:
        found = self._sum()
        if self._next is not None:
            raise FormulaError(f"{_shown(self._next.text)} stands where a sign or the end should")
        return found

    def _sum(self) -> float:
        found = self._product()
        while (sign := self._taken("+", "-")) is not None:
            other = self._product()
            found = found + other if sign == "+" else found - other
        return found

    def _product(self) -> float:
        found = self._value()
        while (sign := self._taken("*", "/")) is not None:
            other = self._value()
            if sign == "/" and other == 0:
                raise FormulaError("it divides by zero")
            found = found * other if sign == "*" else found / other
        return found

    def _value(self) -> float:
        token = self._next
        if token is None:
            raise FormulaError("the formula ends where a value should stand")
        self._advance()
        if token.kind == "number":
            return float(token.text)
        if token.kind == "name":
            if token.text not in self._values:
                raise FormulaError(f"{_shown(token.text)} is none of its terms")
            return self._values[token.text]
        if token.text == "(":
            return self._inner()
        raise FormulaError(f"{token.text} stands where a value should")

    def _inner(self) -> float:
        self._depth += 1
        if self._depth > DEPTH_MAX:
            raise FormulaError(f"its parentheses are more than {DEPTH_MAX} deep")
        found = self._sum()
        if self._taken(")") is None:
            raise FormulaError("a parenthesis is not closed")
        self._depth -= 1
        return found

    def _taken(self, *signs: str) -> str | None:
        token = self._next
        if token is None or token.kind != "sign" or token.text not in signs:
            return None
        self._advance()
        return token.text

    def _advance(self) -> None:
        self._next = next(self._tokens, None)


def _shown(text: str) -> str:
    """Quote what somebody has written: a few characters of it, escaped."""
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")
