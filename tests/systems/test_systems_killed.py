"""Systems that are killed: while they are seeded, and while they serve and are written to."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import pytest

from resilience.crash.children import run
from resilience.crash.verify import assert_sound
from singletable import Database
from singletable.cli import main
from singletable.cli.demo import run_systems
from singletable.systems import find_system
from singletable_systems.kefir import Kefir, UserId
from singletable_systems.lunch_cache import LunchCache
from support.opened_designs import stored_items
from support.serving import CommandProcess
from support.streamed_tables import records_of
from support.targets import no_aws_settings
from systems.kefir_load import STAGE, Brewer, Load, Memory, PlainWriter, assert_kept
from systems.lunch_load import ENVIRONMENT, Parser

DAY = datetime.now(UTC).date().isoformat()  # of another day, devices and menus would be expired
RUNS_AT_ONCE = 50
SYSTEMS = ("kefir", "lunch_cache", "perfectit", "smart_cooking")


# --- seeding ----------------------------------------------------------------------------------------------------


def items_of(system: str, path: Path) -> list[Any]:
    """Return what is stored, in order; without the moments at which locks were taken."""
    found = find_system(system)
    environment: dict[str, Any] = dict(found.environment)
    with found.design.open(str(path), create=False, **environment) as db:
        assert db.verify().is_clean
        items = stored_items(db)
    return [{name: value for name, value in item.items() if name != "$takenAt"} for item in items]


def count_items(path: Path) -> int:
    with Database.open(path) as database:
        tables = database.list_tables()["TableNames"]
        return sum(database.scan(TableName=table, Select="COUNT")["Count"] for table in tables)


def batched(files: list[Path], size: int) -> Iterator[list[Path]]:
    yield from (files[start : start + size] for start in range(0, len(files), size))


def killed_while_seeding(tmp_path: Path, system: str, kills: int) -> None:
    whole = tmp_path / "whole.db"
    calls = int(run("seeder", "seed", system, DAY, f"{whole}:0"))
    expected = items_of(system, whole)
    files = [tmp_path / f"{point}.db" for point in sorted(Random(system).sample(range(1, calls), kills))]
    for some in batched(files, RUNS_AT_ONCE):
        assert (
            run("seeder", "seed", system, DAY, *(f"{file}:{file.stem}" for file in some)) == b""
        )  # each was killed
    was_half_done = False
    for file in files:
        was_half_done |= 0 < count_items(file) < len(expected)
        assert_sound(file)
        assert main(["seed", system, "--day", DAY, "--target", str(file), "--json", "--add"]) == 0
        assert items_of(system, file) == expected
        assert_sound(file)
    assert was_half_done or len(expected) < 100  # so few are there together, or none of them


# One whose numbers are kept as it is written, and one that is loaded settled; all of them with make soak.
@pytest.mark.parametrize("system", ["kefir", "smart_cooking"])
def test_seed_that_is_killed_is_completed_by_adding(tmp_path: Path, system: str) -> None:
    with no_aws_settings():
        killed_while_seeding(tmp_path, system, kills=2)


@pytest.mark.soak
@pytest.mark.parametrize("system", SYSTEMS)
def test_seed_survives_many_kills(tmp_path: Path, system: str) -> None:
    with no_aws_settings():
        killed_while_seeding(tmp_path, system, kills=150)


def test_demo_that_is_killed_while_it_seeds_seeds_again(tmp_path: Path) -> None:
    whole = tmp_path / "whole.db"
    calls = int(run("seeder", "demo", "kefir", DAY, f"{whole}:0"))
    count = count_items(whole)
    files = [tmp_path / f"{calls * part // 10}.db" for part in (3, 7)]
    assert run("seeder", "demo", "kefir", DAY, *(f"{file}:{file.stem}" for file in files)) == b""
    assert any(0 < count_items(file) < count for file in files)
    for file in files:
        with Database.open(file) as database, run_systems(database, [find_system("kefir")]) as (running,):
            assert running.db.verify().is_clean
            assert running.db.drift() == []
        assert count_items(file) == count
        assert_sound(file)


# --- serving ----------------------------------------------------------------------------------------------------

FILE = "demo.db"
BREWERS = [UserId("ada"), UserId("bo"), UserId("chidi")]
Mark = tuple[
    str | None, str | None, str | None
]  # the status of a reminder, and when it was sent or cancelled


class KilledDemo:
    """A demo on a file, killed under load again and again; what was acknowledged is known."""

    def __init__(self, directory: Path, seed: int) -> None:
        self._directory = directory
        self._seed = seed
        self._random = Random(seed)
        self._brewers = {user_id: Memory() for user_id in BREWERS}
        self._plain = [Memory(), Memory()]
        self._parser = Parser(seed)
        self._marks: dict[str, Mark] = {}

    def kill(self) -> None:
        """Start the demo, let everybody write to it, kill it, and look at what it has left."""
        self._seed += 1
        brewers = [Brewer(user_id, self._seed, memory) for user_id, memory in self._brewers.items()]
        writers = [PlainWriter(number, memory) for number, memory in enumerate(self._plain)]
        with self._demo() as (process, url):
            self._parser.seed = self._seed
            load = Load([*brewers, *writers, self._parser], url)
            load.wait_for(self._random.randint(30, 150))
            process.end(signal.SIGKILL)
            load.join()
            assert load.problems == []
        self._check_file()

    def assert_it_goes_on(self) -> None:
        """Start it once more: what is due was sent, or is claimed by one who was killed; others are scheduled."""
        with self._demo() as (process, url), Kefir.open(url, stage=STAGE) as db:
            now = db.now()
            for user_id in BREWERS:
                for batch in db.batches(user_id).all():
                    for reminder in db.reminders(batch.batch_id).where(status="pending").all():
                        if reminder.due_at > now:
                            assert reminder.scheduler_arn is not None
                        else:
                            assert reminder.next_try_at > now
            assert process.end(signal.SIGTERM)[0] == 0
        self._check_file()

    @contextmanager
    def _demo(self) -> Iterator[tuple[CommandProcess, str]]:
        arguments = ("demo", "--port", "0", "--file", FILE, "--json")
        with no_aws_settings(), CommandProcess(*arguments, cwd=self._directory) as process:
            yield process, f"http://127.0.0.1:{json.loads(process.read_line())['port']}"

    def _check_file(self) -> None:
        path = self._directory / FILE
        assert_sound(path)
        with Database.open(path) as database, Kefir.open(database, stage=STAGE, create=False) as db:
            assert db.verify().is_clean
            for user_id, memory in self._brewers.items():
                assert_kept(db, memory, user_id)
            for memory in self._plain:
                assert_kept(db, memory, None)
            self._check_marks(stored_items(db))
            with LunchCache.open(database, environment=ENVIRONMENT, create=False) as lunch:
                assert lunch.verify().is_clean
                self._parser.assert_kept(lunch)
            arn = database.describe_table(TableName=db.session.table)["Table"]["LatestStreamArn"]
            assert_sent_once(records_of(database, arn))
        assert_sound(path)

    def _check_marks(self, items: list[Any]) -> None:
        """Assert that what was sent or cancelled stays so, with the moment that it had."""
        for item in items:
            if item.get("entityType") == {"S": "Reminder"}:
                status, *moments = [
                    item.get(name, {}).get("S") for name in ("status", "sentAt", "cancelledAt")
                ]
                assert [moment is not None for moment in moments] == [status == "sent", status == "cancelled"]
                key, mark = item["PK"]["S"] + item["SK"]["S"], (status, *moments)
                known = self._marks.get(key)
                assert known is None or known[0] == "pending" or known == mark
                self._marks[key] = mark


def assert_sent_once(records: list[Any]) -> None:
    """Assert that the stream tells of each reminder at most once that it was sent, and never takes it back."""
    was_sent: set[str] = set()
    for record in records:
        change = record["dynamodb"]
        old, new = (change.get(image, {}).get("status") for image in ("OldImage", "NewImage"))
        if change["Keys"]["SK"]["S"].startswith("REMINDER#") and old != new == {"S": "sent"}:
            key = str(change["Keys"])
            assert key not in was_sent or old is None
            was_sent.add(key)
        assert not (old == {"S": "sent"} and new == {"S": "pending"})


def test_demo_that_is_killed_under_load_loses_nothing_and_sends_nothing_twice(tmp_path: Path) -> None:
    demo = KilledDemo(tmp_path, seed=1)
    demo.kill()
    demo.assert_it_goes_on()


@pytest.mark.soak
@pytest.mark.parametrize("seed", [100, 200])
def test_demo_survives_many_kills(tmp_path: Path, seed: int) -> None:
    demo = KilledDemo(tmp_path, seed=seed)
    for _ in range(15):
        demo.kill()
    demo.assert_it_goes_on()
