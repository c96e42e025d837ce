"""PAT311: a reserved word stands bare in an expression."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from singletable.expressions.reserved import is_reserved
from singletable.lint.bench import Bench
from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View

if TYPE_CHECKING:
    from singletable.blueprint.positions import Path

_TOKEN: Final = re.compile(
    r"""'[^']*'|"[^"]*"|\{[^{}]*\}|(?P<word>[#:]?[A-Za-z_]\w*)(?P<after>\s*\(|#)?|(?P<sign><>|[<>=]+)|\S"""
)
_KEYWORDS: Final = frozenset({"AND", "OR", "NOT", "IN", "BETWEEN", "SET", "REMOVE", "ADD", "DELETE"})
_READS: Final = ("key_expression", "filter_expression", "projection_expression")
_WRITES: Final = ("update_expression", "condition_expression")


def check(view: View) -> Iterator[Finding]:
    """Look for words of expressions that are reserved."""
    known = {each.stored for entity in view.blueprint.entities for each in entity.attributes}
    for path, member, text in _expressions(view):
        for word in _bare(text, known):
            yield finding(
                RULE,
                path,
                message=f"{word} is a reserved word and stands bare in the {member.replace('_', ' ')} {text}",
                because=f"an expression with a reserved word is refused: {word} has to be given by a placeholder, "
                f"as #{word}",
                repair=f'write #{word}, and give ExpressionAttributeNames {{"#{word}": "{word}"}}',
                facts={"word": word},
            )


def prove(found: Finding, bench: Bench) -> str | None:
    """Ask for the attribute by its bare name."""
    refusal = bench.refusal("scan", ProjectionExpression=found.facts["word"])
    return f"an expression with it is refused: {refusal}" if refusal is not None else None


def _expressions(view: View) -> Iterator[tuple[Path, str, str]]:
    for read in view.reads:
        for member in _READS:
            if text := getattr(read.read, member):
                yield read.path, member, text
    for write in view.writes:
        for member in _WRITES:
            if text := getattr(write.write, member):
                yield write.path, member, text


def _bare(text: str, known: set[str]) -> list[str]:
    """Return the reserved words that stand for attributes; what is compared with may be a value, in short."""
    found: list[str] = []
    is_compared = False
    for token in _TOKEN.finditer(text):
        word = token["word"]
        if (
            word is not None
            and word[0] not in "#:"
            and token["after"] is None
            and word.upper() not in _KEYWORDS
            and is_reserved(word)
            and (not is_compared or word in known)
        ):
            found.append(word)
        is_compared = token["sign"] is not None
    return list(dict.fromkeys(found))


RULE = Rule("PAT311", Severity.ERROR, "A reserved word stands bare in an expression", check, prove)
