"""What a known difference is: how to tell it, what the engine does there, and what says that AWS does otherwise.

Which vectors show a difference is kept by the run that found them, in results/: `python -m golden.peers --keep`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_PREFIX = "1 validation error detected: "
_MESSAGE = re.compile(r"message: expected (['\"])(?P<expected>.*)\1, got (['\"])(?P<got>.*)\3", re.DOTALL)


@dataclass(frozen=True)
class Difference:
    """What an engine answers otherwise, for one reason."""

    reason: str  # what the engine does, in a sentence
    judge: str  # what says that AWS does otherwise
    shows: Sequence[str]  # regular expressions, one of which is found in how the difference was described

    def covers(self, description: str) -> bool:
        return any(re.search(pattern, description, re.DOTALL) for pattern in self.shows)


def describe(name: str, lines: Sequence[str]) -> str:
    """Return what the patterns are held against: the vector's name, the kind of the difference, its lines."""
    return "\n".join([name, f"[{_kind(lines)}]", *lines])


def _kind(lines: Sequence[str]) -> str:
    first, text = lines[0], "\n".join(lines)
    if all(map(_lacks_prefix, lines)):
        return "PREFIX"  # right but for the words that AWS has put before it since 2026
    if first.startswith("not even prepared"):
        return "UNPREPARED"
    if first.startswith(("no answer", "a broken answer")):
        return "FAILED"
    if re.search(r"got 5\d\d|refused: : |Internal(Failure|ServerError)", text):
        return "500"
    for beginning, kind in (("accepted", "ACCEPTED"), ("refused", "REFUSED"), ("code:", "CODE")):
        if first.startswith(beginning):
            return kind
    is_about_words = first.startswith("message:") and all(
        line.startswith(("message:", "$.")) for line in lines
    )
    return "WORDS" if is_about_words else "ANSWER"


def _lacks_prefix(line: str) -> bool:
    match = _MESSAGE.fullmatch(line)
    return match is not None and match["expected"] == _PREFIX + match["got"]


def reason_of(differences: Sequence[Difference], description: str) -> str | None:
    """Return the reason of a difference: the first that covers it."""
    return next((each.reason for each in differences if each.covers(description)), None)


def grouped(
    differences: Sequence[Difference], found: Mapping[str, Sequence[str]]
) -> tuple[dict[str, list[str]], list[str]]:
    """Return the names of vectors by the reason of their difference, and those that nothing covers."""
    groups: dict[str, list[str]] = {difference.reason: [] for difference in differences}
    uncovered = []
    for name, lines in sorted(found.items()):
        reason = reason_of(differences, describe(name, lines))
        if reason is None:
            uncovered.append(name)
        else:
            groups[reason].append(name)
    return {reason: names for reason, names in groups.items() if names}, uncovered
