"""Where things are."""

from __future__ import annotations

from pathlib import Path
from typing import Final

TESTS: Final = Path(__file__).resolve().parent.parent
ROOT: Final = TESTS.parent
FIXTURES: Final = TESTS / "fixtures"
# What type checkers know of the package from the run before: they would read all of it anew each time.
TYPE_CACHE: Final = ROOT / ".mypy_cache" / "tests"
