"""Questions to the access patterns of a design: with which arguments each is asked, and on which index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

Arguments = tuple[Any, ...]


@dataclass(frozen=True)
class Question:
    """The questions to one pattern. Of what is equal in `ties`, an index does not tell the order."""

    index: str | None
    arguments: Sequence[Arguments]
    ties: tuple[str, ...] = field(default=())


def question(index: str | None, *arguments: Arguments, ties: tuple[str, ...] = ()) -> Question:
    return Question(index, arguments, ties)
