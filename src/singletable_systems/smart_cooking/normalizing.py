"""One normal form of names, for what is written and for what is asked: `Thịt gà` is `thit ga`.

000 writes `thit-ga` and 002 `thit ga` (SC-15): what separates words makes no difference here.
"""

from __future__ import annotations

from typing import Final

from singletable.systems import plain_text

NORMAL_BYTES_MAX: Final = 1_000  # with what stands before it, a normal form fits into a sort key


def normalize(text: str) -> str:
    """Return a text in lower case and without accents, its words of letters and digits joined by single spaces."""
    return " ".join(plain_text(text).split())


def has_normal_form(text: str) -> bool:
    """Tell whether a text has letters, and not more than a key can hold."""
    return 0 < len(normalize(text).encode(errors="replace")) <= NORMAL_BYTES_MAX
