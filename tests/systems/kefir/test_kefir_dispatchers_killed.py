"""Dispatchers that are killed at any write: every reminder is sent, and marked once, with the moment of that."""

from __future__ import annotations

from pathlib import Path
from random import Random
from shutil import copyfile

import pytest

from resilience.crash.children import run
from resilience.crash.verify import assert_sound
from singletable import Database
from singletable.clock import ManualClock
from singletable_systems.kefir import Kefir, Reminder
from singletable_systems.kefir.services.reminders import CLAIM
from systems.kefir_reminders import BATCH, brewer, remind

NOW_S = 1_800_000_000
AFTER_CLAIM_S = NOW_S + int(CLAIM.total_seconds()) + 1
LATER_S = AFTER_CLAIM_S + 10_000
REMINDERS = {f"r{number}" for number in range(6)}


def make_template(path: Path) -> None:
    """Make a Kefir in which reminders are due."""
    with (
        Database.open(path, clock=ManualClock((NOW_S - 60) * 1_000_000)) as database,
        Kefir.open(database, stage="test") as db,
    ):
        brewer(db)
        for name in REMINDERS:
            remind(db, name)


def stored(path: Path, now_s: int) -> dict[str, Reminder]:
    with (
        Database.open(path, clock=ManualClock(now_s * 1_000_000)) as database,
        Kefir.open(database, stage="test") as db,
    ):
        assert db.verify().is_clean
        return {each.reminder_id: each for each in db.reminders(BATCH).all()}


def pushed(path: Path) -> list[str]:
    written = Path(f"{path}.pushed")
    return written.read_text().split() if written.exists() else []


def kill_dispatchers(tmp_path: Path, kills: int | None) -> None:
    template = tmp_path / "template.db"
    make_template(template)
    copyfile(template, tmp_path / "whole.db")
    points = range(1, int(dispatch(NOW_S, {tmp_path / "whole.db": 0})) + 1)
    chosen = points if kills is None else sorted(Random(kills).sample(points, kills))
    killed_at = {tmp_path / f"{point}.db": point for point in chosen}
    for path in killed_at:
        copyfile(template, path)
    assert dispatch(NOW_S, killed_at) == b""  # nobody was left to print anything
    killed = [Killed(path) for path in killed_at]
    assert len({len(each.sent) for each in killed}) > 1, "none was killed while it marked"
    dispatch(AFTER_CLAIM_S, dict.fromkeys(killed_at, 0))
    for each in killed:
        each.assert_gone_on_with()
    dispatch(LATER_S, dict.fromkeys(killed_at, 0))
    for each in killed:
        each.assert_left_alone()


def dispatch(now_s: int, killed_at: dict[Path, int]) -> bytes:
    return run("dispatching", now_s, *(f"{path}:{point}" for path, point in killed_at.items()))


class Killed:
    """What a dispatcher has left that was killed, and what becomes of it."""

    def __init__(self, path: Path) -> None:
        assert_sound(path)
        self._path = path
        self._pushed = pushed(path)
        found = stored(path, NOW_S)
        self.sent = {name: each for name, each in found.items() if each.status == "sent"}
        assert set(self._pushed) >= self.sent.keys()
        assert len(self._pushed) == len(set(self._pushed))
        self._after: dict[str, Reminder] = {}

    def assert_gone_on_with(self) -> None:
        """Assert that another dispatcher has sent the rest, when the claims had run out."""
        self._after = stored(self._path, AFTER_CLAIM_S)
        assert {each.status for each in self._after.values()} == {"sent"}
        # Who was killed between the two has pushed, and not marked: that alone is pushed again.
        again = pushed(self._path)[len(self._pushed) :]
        assert sorted(again) == sorted(REMINDERS - self.sent.keys())
        assert {name: self._after[name] for name in self.sent} == self.sent

    def assert_left_alone(self) -> None:
        """Assert that what is sent is done with."""
        assert stored(self._path, LATER_S) == self._after
        assert_sound(self._path)


def test_killed_dispatcher_loses_no_reminder_and_marks_none_twice(tmp_path: Path) -> None:
    kill_dispatchers(tmp_path, kills=5)


@pytest.mark.soak
def test_dispatcher_that_is_killed_at_any_write_loses_no_reminder(tmp_path: Path) -> None:
    kill_dispatchers(tmp_path, kills=None)
