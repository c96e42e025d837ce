"""Expression text as tokens, and the words for a token that stands in the wrong place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from singletable.expressions.refusals import ExpressionError

WORD: Final = "word"
NAME: Final = "#name"
VALUE: Final = ":value"
NUMBER: Final = "number"
UNKNOWN: Final = "unknown"
END: Final = "<EOF>"

KEYWORDS: Final = frozenset(("AND", "OR", "NOT", "BETWEEN", "IN", "SET", "REMOVE", "ADD", "DELETE"))

# A name starts with a letter ("_a" is the unknown character "_" and then a name), a number has no leading zero
# ("l[00]" is two numbers), and only these four characters are white space. DynamoDB reads any other character,
# a no-break space too, as a token of its own that fits nowhere.
_TOKEN: Final = re.compile(
    r"""[ \t\r\n]*(?:
        (?P<word>[A-Za-z][A-Za-z0-9_]*)
      | (?P<name>\#[A-Za-z0-9_]+)
      | (?P<value>:[A-Za-z0-9_]+)
      | (?P<number>0|[1-9][0-9]*)
      | (?P<symbol><>|<=|>=|[=<>()\[\].,+-])
      | (?P<unknown>[^ \t\r\n])
    )""",
    re.VERBOSE,
)
_NAMES: Final = re.compile(r"#[A-Za-z0-9_]+")
_KINDS: Final = {"word": WORD, "name": NAME, "value": VALUE, "number": NUMBER, "unknown": UNKNOWN}


class Token(NamedTuple):
    """A piece of an expression. The kind of a symbol is its text, that of a keyword its text in capitals."""

    kind: str
    text: str
    start: int
    end: int


def tokenize(source: str) -> list[Token]:
    """Return the tokens of an expression; the last one is its end. Text of any kind has tokens."""
    tokens: list[Token] = []
    position = 0
    while (match := _TOKEN.match(source, position)) is not None:
        group = match.lastgroup
        assert group is not None, "every alternative is named"
        text = match[group]
        kind = _KINDS.get(group, text)
        if group == "word" and text.upper() in KEYWORDS:
            kind = text.upper()
        position = match.end()
        tokens.append(Token(kind, text, match.start(group), position))
    tokens.append(Token(END, END, len(source), len(source)))
    return tokens


def syntax_error(source: str, tokens: Sequence[Token], index: int) -> ExpressionError:
    """Return the complaint about the token at this index.

    The message quotes the text from the token before (or the start) to the token after (or the end), as written:
    'Syntax error; token: "x", near: ") x y"'.
    """
    start = tokens[index - 1].start if index else 0
    end = tokens[min(index + 1, len(tokens) - 1)].end
    return ExpressionError(f'Syntax error; token: "{tokens[index].text}", near: "{source[start:end]}"')


def name_placeholders(source: str) -> list[str]:
    """Return every "#name" in an expression, as often as it is used."""
    return _NAMES.findall(source)
