"""The common grammar of all expressions: reading paths, values and function calls from tokens.

DynamoDB complains in stages, and each stage is over before the next begins: syntax and redundant parentheses;
then function names, reserved words and list indexes in the order they are written; then, operands first,
everything that needs names and values. A reader raises for the first stage at once and notes down the second.

Parentheses and calls can be nested as deep as 4 KB of text allow, deeper than Python lets functions call each
other. So each nesting rule is a generator that yields the inner part it needs read; `run` keeps their stack.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias, TypeVar

from singletable.expressions import tokens as kinds
from singletable.expressions.functions import Language
from singletable.expressions.nodes import (
    Arithmetic,
    Checked,
    Condition,
    Element,
    FunctionCall,
    Operand,
    Path,
    Placeholder,
)
from singletable.expressions.refusals import ExpressionError
from singletable.expressions.reserved import is_reserved
from singletable.expressions.tokens import Token, syntax_error, tokenize

_INDEX_MAX: Final = 2**31 - 1
_REDUNDANT: Final = "The expression has redundant parentheses;"

_Node = TypeVar("_Node", bound=Checked)


@dataclass(frozen=True, slots=True)
class Parsed:
    """A part that was read, and how it may be used."""

    node: Operand | Condition | Arithmetic
    kind: Literal["operand", "call", "whole"]  # a call can still be either of the other two
    position: int = 0  # of a call: the index of its token
    grouped: bool = False  # stands in parentheses of its own
    redundant: bool = False  # stands in too many, which is refused once it is an operand


Parsing: TypeAlias = Generator[Any, Any, Parsed]


def run(parsing: Parsing) -> Parsed:
    """Run a parsing and every inner one it asks for, without recursion."""
    waiting: list[Parsing] = []
    result: Parsed | None = None
    while True:
        try:
            inner = parsing.send(result)
        except StopIteration as done:
            result = done.value
            assert result is not None, "a parsing returns what it read"
            if not waiting:
                return result
            parsing = waiting.pop()
        else:
            waiting.append(parsing)
            parsing, result = inner, None


class ExpressionReader:
    """Reads one expression. Its notes are complete when all tokens are read."""

    def __init__(self, source: str, names: Mapping[str, str | None], language: Language) -> None:
        self._source = source
        self._names = names
        self._language = language
        self._tokens = tokenize(source)
        self._index = 0
        self._notes: list[tuple[int, str]] = []
        self.checked: list[Checked] = []  # in the order in which they are checked
        self.operators = 0

    # --- tokens ---

    @property
    def kind(self) -> str:
        """The kind of the token that comes next."""
        return self._tokens[self._index].kind

    def take(self, *wanted: str) -> Token:
        """Return the next token and step over it; any other kind than those wanted is a syntax error."""
        token = self._tokens[self._index]
        if token.kind not in wanted:
            raise self.unexpected()
        self._index += 1
        return token

    def unexpected(self) -> ExpressionError:
        """Return the complaint about the next token."""
        return syntax_error(self._source, self._tokens, self._index)

    def finish(self) -> None:
        """Raise the first complaint of the stage that follows syntax."""
        if self._notes:
            raise ExpressionError(min(self._notes, key=lambda note: note[0])[1])

    # --- operands ---

    def path(self) -> Path:
        """Read a document path."""
        undefined: str | None = None
        elements: list[Element] = []
        while True:
            token = self.take(kinds.WORD, kinds.NAME)
            if token.kind == kinds.WORD:
                elements.append(token.text)
                if is_reserved(token.text):
                    self._note(f"Attribute name is a reserved keyword; reserved keyword: {token.text}")
            else:
                name = self._names.get(token.text)
                elements.append(token.text if name is None else name)
                if name is None and undefined is None:
                    undefined = token.text
            while self.kind == "[":
                self.take("[")
                elements.append(self._list_index())
                self.take("]")
            if self.kind != ".":
                return Path(tuple(elements), undefined)
            self.take(".")

    def placeholder(self) -> Placeholder:
        """Read a value."""
        return self.check(Placeholder(self.take(kinds.VALUE).text))

    def operand(self) -> Parsing:
        """Read a path, a value or a function call, or one of these in parentheses."""
        match self.kind:
            case "(":
                self.take("(")
                inner = yield self.operand()
                self.take(")")
                return self.group(inner, settled=True)
            case kinds.VALUE:
                return Parsed(self.placeholder(), "operand")
            case kinds.WORD if self._tokens[self._index + 1].kind == "(":
                called: Parsed = yield self._call()
                return called
            case _:
                return Parsed(self.check(self.path()), "operand")

    def _call(self) -> Parsing:
        position = self._index
        function = self.take(kinds.WORD).text
        problem = self._language.call_problem(function)
        if problem is not None:
            self._notes.append((position, problem))
        operands: list[Operand] = []
        self.take("(")
        while True:
            operands.append(self.as_operand((yield self.operand())))
            if self.take(",", ")").kind == ")":
                break
        self.operators += 1
        return Parsed(self.check(FunctionCall(function, tuple(operands))), "call", position)

    def _list_index(self) -> int:
        index = int(self.take(kinds.NUMBER).text)
        if index > _INDEX_MAX:
            self._note(f"List index is not within the allowable range; index: [{index}]")
        return index

    # --- how a part is used ---

    def as_operand(self, parsed: Parsed) -> Operand:
        """Return a part that was read, used as an operand."""
        node = parsed.node
        assert isinstance(node, Path | Placeholder | FunctionCall), "only these are operands"
        if parsed.redundant:
            raise ExpressionError(_REDUNDANT)
        if parsed.kind == "call":
            self._note_misuse(parsed, self._language.operands)
        return node

    def as_whole(self, parsed: Parsed) -> Operand | Condition | Arithmetic:
        """Return a part that was read, used as a condition or as the value to set."""
        if parsed.kind == "call":
            self._note_misuse(parsed, self._language.whole)
        return parsed.node

    def group(self, inner: Parsed, *, settled: bool) -> Parsed:
        """Return the part between parentheses; redundant parentheses, as in "((a))", are refused.

        The refusal has to wait until it is settled that parentheses may stand here at all.
        """
        if inner.grouped and settled:
            raise ExpressionError(_REDUNDANT)
        return replace(inner, grouped=True, redundant=inner.grouped)

    def check(self, node: _Node) -> _Node:
        """Put a node on the list of those to be checked, and return it."""
        self.checked.append(node)
        return node

    def _note_misuse(self, parsed: Parsed, allowed: frozenset[str]) -> None:
        assert isinstance(parsed.node, FunctionCall), "the caller looked at the kind"
        function = parsed.node.function
        if function not in allowed and self._language.call_problem(function) is None:
            text = f"The function is not allowed to be used this way in an expression; function: {function}"
            self._notes.append((parsed.position, text))

    def _note(self, message: str) -> None:
        self._notes.append((self._index - 1, message))
