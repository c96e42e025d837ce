"""Processes with an open design, killed at any moment: nothing acknowledged is lost, nothing is half done."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest

from designs.shops import Shop, Shops
from resilience.crash.children import Reports, start
from resilience.crash.shopping import SHOP, Told
from resilience.crash.verify import assert_sound
from support.unique_locks import wrong_locks


@dataclass
class KillLoop:
    """One file with a shop, written by processes that are killed again and again."""

    path: Path
    seed: int
    processes: int
    told: dict[int, Told] = field(default_factory=dict)
    rounds: int = 0

    def __post_init__(self) -> None:
        self.told = {writer: Told() for writer in range(self.processes)}
        with Shops.open(str(self.path)) as db:
            db.create(Shop(shop_id=SHOP))

    def kill_after(self, lines_max: int) -> None:
        """Start the writers, kill them after so many lines, and check everything."""
        self.rounds += 1
        shoppers = [
            start("shopper", self.path, writer, self.seed + self.rounds) for writer in range(self.processes)
        ]
        with Reports(shoppers) as reports:
            for count, line in enumerate(reports.lines(), 1):
                writer, _, text = line.partition(" ")
                self.told[int(writer)].take(text)
                if count == lines_max:
                    reports.kill()  # what stands in the pipe was told before, so reading goes on
            reports.assert_killed()
        self.check()

    def check(self) -> None:
        assert_sound(self.path)
        with Shops.open(str(self.path)) as db:
            assert db.verify().differences == ()
            # The locks of holds go with them when they expire, and may be there until they are swept.
            assert [lock for lock in wrong_locks(db) if "SLOT#" not in str(lock)] == []
            for writer, told in self.told.items():
                told.settle(db, writer)
            assert db.verify().differences == ()
        assert_sound(self.path)


def _kill_repeatedly(loop: KillLoop, kills: int) -> None:
    random = Random(loop.seed)
    for _ in range(kills):
        loop.kill_after(
            random.choice((random.randint(1, 9), random.randint(10, 100), random.randint(100, 400)))
        )


def test_killed_writers_of_a_design_lose_nothing_and_leave_nothing_half_done(tmp_path: Path) -> None:
    _kill_repeatedly(KillLoop(tmp_path / "shops.db", seed=1, processes=2), kills=4)


@pytest.mark.soak
@pytest.mark.parametrize(("seed", "processes"), [(100, 1), (200, 2), (300, 4)])
def test_a_design_survives_many_kills(tmp_path: Path, seed: int, processes: int) -> None:
    _kill_repeatedly(KillLoop(tmp_path / "shops.db", seed=seed, processes=processes), kills=40)
