"""Questions to the access patterns of a design: with which arguments each is asked, and on which index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

Arguments = tuple[Any, ...]
Indexes = str | tuple[str, ...] | None  # those that a pattern may query


@dataclass(frozen=True)
class Question:
    """The questions to one pattern. Of what is equal in `ties`, an index does not tell the order."""

    index: Indexes
    arguments: Sequence[Arguments]
    ties: tuple[str, ...] = field(default=())


def question(index: Indexes, *arguments: Arguments, ties: tuple[str, ...] = ()) -> Question:
    return Question(index, arguments, ties)
