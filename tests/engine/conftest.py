"""Where the requests of this room are carried out cannot be told from their answers: memory is enough.

Modules about what the file changes, and those of streams, expiry and the past, ask for both.
"""

from __future__ import annotations

import pytest


@pytest.fixture
def place() -> str:
    return "memory"
