"""What is wrong with a database, as `check` tells it."""

from __future__ import annotations

from typing import NamedTuple


class Problem(NamedTuple):
    """One finding: the place, and what is wrong there."""

    where: str
    what: str
