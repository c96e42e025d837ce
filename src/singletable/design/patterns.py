"""What stands above an access pattern, and what a design says of sizes and rates. Data only."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

# "14b Export the activity of a batch"; "#1", "01" and "1." are 1 in another spelling.
_NUMBERED: Final = re.compile(r"#?0*(\d+[a-h]?)[.:)]? (.+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Volume:
    """How many items of an entity there are for each of something, and how large one is."""

    count: float
    kb: float


@dataclass(frozen=True, slots=True)
class Rate:
    """How often a second an entity is written."""

    creates: float = 0.0
    updates: float = 0.0
    deletes: float = 0.0


@dataclass(frozen=True, slots=True)
class PatternInfo:
    """What stands above an access pattern: its number and title, how often it is asked, what it repairs.

    `samples` are values of parameters with which the pattern can be called without data, where none can be made
    from their types.
    """

    number: str
    title: str
    rps: float = 0.0
    documented: str = ""
    fixes: str = ""
    consistent: bool = False
    cached_s: float | None = None
    samples: Mapping[str, Any] = field(default_factory=dict)


def split_title(title: str) -> tuple[str, str]:
    """Split "14b Export all user data" into its number, which may be missing, and the rest."""
    found = _NUMBERED.fullmatch(title)
    return (found[1], found[2]) if found else ("", title)
