"""The shape of a key: which of its parts are constant, told from the values that were seen.

USER#u1 and USER#u2 are USER#{…}. Single-table designs begin their keys with words and join the parts with one
separator, mostly `#`. Where that is not so, the whole value is one placeholder.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

_SEPARATORS: Final = ("#", "|", "::", "~", "/", ":", "@", "_", "-")
_INSIDE_WORDS: Final = ("/", ":", "@", "_", "-")  # these part a key only behind a word in capitals
_WORD: Final = re.compile(r"[A-Za-z][A-Za-z_-]*")
_CAPITALS: Final = re.compile(r"[A-Z][A-Z_-]+")
_COMMON: Final = 0.3  # of all values, those that a separator has to part behind a word


@dataclass(frozen=True, slots=True)
class Shape:
    """Parts of a key, joined by a separator. A part is a constant text, or None for a placeholder.

    With `has_rest`, more may follow, since the values had different numbers of parts.
    """

    parts: tuple[str | None, ...]
    separator: str
    has_rest: bool = False

    def template(self, names: Sequence[str]) -> str:
        """Write the shape with a name for each placeholder, the rest among them."""
        left = iter(names)
        shown = [f"{{{next(left)}}}" if part is None else part for part in self.parts]
        return self.separator.join([*shown, *(f"{{{name}}}" for name in left)])

    def values(self, text: str) -> tuple[str, ...] | None:
        """Return what a key has for the placeholders; None if it has another shape."""
        parts = self.separated(text)
        if len(parts) < len(self.parts) or (len(parts) > len(self.parts) and not self.has_rest):
            return None
        pairs = list(zip(self.parts, parts, strict=False))
        if any(constant is not None and constant != part for constant, part in pairs):
            return None
        rest = parts[len(self.parts) :]
        more = (self.separator.join(rest),) if self.has_rest else ()
        return (*(part for constant, part in pairs if constant is None), *more)

    def separated(self, text: str) -> list[str]:
        """Take a key apart."""
        return text.split(self.separator) if self.separator else [text]


def separator_of(values: Iterable[str]) -> str:
    """Return what joins the parts of keys: what most often follows a word that several keys begin with."""
    known = set(values)
    best, best_share = "", 0.0
    for separator in _SEPARATORS:
        heads = Counter(value.split(separator, 1)[0] for value in known if separator in value)
        count = sum(
            n
            for head, n in heads.items()
            if is_constant(head) or (n > 1 and separator not in _INSIDE_WORDS and _WORD.fullmatch(head))
        )
        share = count / len(known) if known else 0.0
        if share > max(best_share, _COMMON):  # an earlier one wins where both part as many
            best, best_share = separator, share
    return best


def head_of(value: str, separator: str) -> str | None:
    """Return the word that a key begins with, or is; None if it is a value."""
    head, found, _ = value.partition(separator) if separator else (value, "", "")
    return head if _WORD.fullmatch(head) and (found or is_constant(head)) else None


def is_constant(part: str) -> bool:
    """Tell whether a part that was seen once looks like a word of the design, as METADATA does."""
    return _CAPITALS.fullmatch(part) is not None


def shape_of(values: Sequence[str], separator: str) -> Shape:
    """Return the shape that all of these values have."""
    rows = [value.split(separator) if separator else [value] for value in values]
    least = min(map(len, rows))
    parts: list[str | None] = []
    for place in range(least):
        seen = {row[place] for row in rows}
        (first,) = seen if len(seen) == 1 else (None,)
        stays = first is not None and (is_constant(first) or (len(rows) > 2 and bool(_WORD.fullmatch(first))))
        parts.append(first if stays else None)
    return Shape(tuple(parts), separator, has_rest=any(len(row) > least for row in rows))
