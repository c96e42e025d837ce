"""Partitions that all users share may be spread by options of the environment: other keys, the same answers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from support.paths import TESTS
from systems.cooking_partitions import partitions

HERE = Path(__file__).parent
RAISED = {
    "SMART_COOKING_APPROVED_SHARDS": "3",
    "SMART_COOKING_RECENT_SHARDS": "2",
    "SMART_COOKING_FEED_SHARDS": "2",
    "SMART_COOKING_FEED_EVERY": "month",
    "SMART_COOKING_SEARCH_LETTERS": "1",
}
SPREAD = (
    "approved_recipes",
    "recent_activities",
    "public_feed",
    "search_ingredients",
    "ingredients_named",
    "search_recipes",
)


def run(*arguments: str) -> str:
    """Run Python with the options raised; return what it printed."""
    path = os.pathsep.join(filter(None, (str(TESTS), os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, **RAISED, "PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, *arguments],
        env=environment,
        cwd=TESTS.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_options_as_they_stand_render_the_documented_keys() -> None:
    assert partitions() == {
        "approved GSI2PK": ["APPROVED"],  # 002:508
        "recent GSI3PK": ["RECENT#2025-01"],  # 000:70
        "feed GSI3PK": ["FEED#PUBLIC"],  # 002:370
        "search GSI2PK": ["INGREDIENT#SEARCH"],  # 002:164
        "title GSI3PK": ["RECIPE#SEARCH"],
    }


def test_raised_options_spread_the_keys() -> None:
    assert json.loads(run("-m", "systems.cooking_partitions")) == {
        "approved GSI2PK": ["APPROVED#0", "APPROVED#1", "APPROVED#2"],
        "recent GSI3PK": ["RECENT#2025-01#0", "RECENT#2025-01#1"],
        "feed GSI3PK": [
            f"FEED#PUBLIC#{month}#{shard}" for month in ("2025-01", "2025-02") for shard in (0, 1)
        ],
        "search GSI2PK": ["INGREDIENT#SEARCH#a", "INGREDIENT#SEARCH#b", "INGREDIENT#SEARCH#c"],
        "title GSI3PK": ["RECIPE#SEARCH#a", "RECIPE#SEARCH#b", "RECIPE#SEARCH#c"],
    }


def test_raised_options_give_the_same_answers() -> None:
    """The patterns are proved again, by brute force and with their pages and units, in a process of its own."""
    names = [f"test_pattern_finds_what_brute_force_finds[embedded-{name}]" for name in SPREAD]
    proofs = [f"{HERE / 'test_cooking_patterns.py'}::{name}" for name in names]
    done = run("-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", *proofs)
    assert f"{len(SPREAD)} passed" in done
