"""How a request is read and refused does not depend on where the database is: memory is enough."""

from __future__ import annotations

import pytest


@pytest.fixture
def place() -> str:
    return "memory"
