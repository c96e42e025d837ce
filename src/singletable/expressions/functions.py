"""The functions of the two languages: where each may stand, and how many operands it takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

OPERAND_COUNTS: Final = {
    "attribute_exists": 1,
    "attribute_not_exists": 1,
    "attribute_type": 2,
    "begins_with": 2,
    "contains": 2,
    "size": 1,
    "if_not_exists": 2,
    "list_append": 2,
}


@dataclass(frozen=True, slots=True)
class Language:
    """The functions that one kind of expression knows. Their names, unlike keywords, are case-sensitive."""

    title: str
    whole: frozenset[str]  # may stand alone: be a condition, or the value that is set
    operands: frozenset[str]  # may be an operand of something else

    def call_problem(self, function: str) -> str | None:
        """Say why there is no such function here."""
        if function not in OPERAND_COUNTS:
            return f"Invalid function name; function: {function}"
        if function not in self.whole and function not in self.operands:
            return f"The function is not allowed in {self.title} expression; function: {function}"
        return None


CONDITIONS: Final = Language(
    title="a condition",
    whole=frozenset(
        ("attribute_exists", "attribute_not_exists", "attribute_type", "begins_with", "contains")
    ),
    operands=frozenset(("size",)),
)
UPDATES: Final = Language(
    title="an update",
    whole=frozenset(("if_not_exists", "list_append")),
    operands=frozenset(("if_not_exists",)),
)
