"""Wrong use that argparse cannot know: what is told like every other error, with exit code 2."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from singletable.errors import SingleTableError

if TYPE_CHECKING:
    from collections.abc import Iterable


class WrongUseError(SingleTableError):
    """A command cannot be carried out as it was given."""

    def __init__(self, message: str, *, hint: str) -> None:
        super().__init__(message, hint=hint)


def meant(given: str, known: Iterable[str]) -> str:
    """Return a sentence that names what was probably meant; nothing if no name is near."""
    near = get_close_matches(given, list(known), n=1, cutoff=0.5)
    return f"did you mean {near[0]}? " if near else ""
