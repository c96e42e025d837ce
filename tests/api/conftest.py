"""The API of the studio, as most tests of it ask it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from support.asking_api import ApiClient, asked, studio_api


@pytest.fixture
def studio() -> Iterator[tuple[ApiClient, Any]]:
    with asked(studio_api()) as opened:
        yield opened


@pytest.fixture
def client(studio: tuple[ApiClient, Any]) -> ApiClient:
    return studio[0]
