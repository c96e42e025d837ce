"""`singletable demo`: what it shows is true, what it says to try works when it is pasted, and its workers work."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Semaphore
from typing import Any, Literal

import pytest

from singletable import Database
from singletable.cli.demo import run_systems
from singletable.client import open_client
from singletable.storage.check import check_file
from singletable.systems import Worker, find_system, installed_systems
from singletable_systems.perfectit import CardId, PerfectIt, UserId, Voting
from support.serving import TIMEOUT_S, CommandProcess
from support.targets import no_aws_settings

READY = "export AWS_ENDPOINT_URL_DYNAMODB_STREAMS="
FILE = "demo.db"
VENV_COMMAND = Path(sys.executable).with_name("singletable")


@dataclass(frozen=True, slots=True)
class Demo:
    """A running demo: where it is, and what it has printed."""

    folder: Path
    screen: list[str]
    consumers: list[dict[str, Any]]  # where they stood when it was ready
    python: Path

    @property
    def url(self) -> str:
        return self.screen[-1].rpartition("=")[2]

    @property
    def to_paste(self) -> list[str]:
        return [line for line in self.screen if line.startswith(("  ", "export "))]

    def paste(self, line: str) -> str:
        """Paste a line into a shell of another terminal, with a Python that starts at once."""
        return paste(line.replace(sys.executable, str(self.python)), self.folder)

    def paste_line_with(self, part: str) -> str:
        (line,) = [line for line in self.to_paste if part in line]
        return self.paste(line)

    def listed_consumers(self) -> list[dict[str, Any]]:
        return listed_consumers(self.folder, self.python)

    def ask(self, operation: str, **params: Any) -> dict[str, Any]:
        with no_aws_settings(), open_client(self.url) as client:
            return client.call(operation, params)


def paste(line: str, folder: Path) -> str:
    """Run a line in a shell with an environment of its own: no venv is active, nothing of AWS is set."""
    kept = {name: os.environ[name] for name in ("HOME", "LANG", "PATH") if name in os.environ}
    paths = [each for each in kept["PATH"].split(os.pathsep) if not (Path(each) / "singletable").exists()]
    ran = subprocess.run(
        ["bash", "-c", line],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        cwd=folder,
        env={**kept, "PATH": os.pathsep.join(paths), "PYTHONIOENCODING": "utf-8"},
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory, warm_programs: Path) -> Iterator[Demo]:
    """A demo that runs until the last test of this file has ended, and ends without a word."""
    folder, python = tmp_path_factory.mktemp("demo"), warm_programs / "python"
    program = warm_programs / "singletable"
    with CommandProcess(
        "demo", "--port", "0", "--file", FILE, cwd=folder, program=program, PYTHONIOENCODING="utf-8"
    ) as process:
        screen = process.read_through(READY)
        yield Demo(folder, screen, listed_consumers(folder, python), python)
        assert process.end(signal.SIGTERM) == (0, "", "")
    assert check_file(str(folder / FILE)) == []


def listed_consumers(folder: Path, python: Path) -> list[dict[str, Any]]:
    ran = subprocess.run(
        [python, "-m", "singletable", "stream", "consumers", FILE, "--json"],
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=TIMEOUT_S,
        check=True,
    )
    return [json.loads(line) for line in ran.stdout.splitlines()]


# --- what is shown ---------------------------------------------------------------------------------------------


def test_address_comes_first_and_the_rest_fits_a_terminal(demo: Demo) -> None:
    assert demo.screen[0].endswith(f" serves {FILE} at {demo.url}; Ctrl-C stops it")
    assert len(demo.screen) <= 13
    said = [line for line in demo.screen if line not in demo.to_paste]
    assert all(len(line) <= 80 for line in said)
    assert all(line.endswith(":") for line in said[1:])


def test_every_system_has_something_to_try(demo: Demo) -> None:
    for name, system in installed_systems().items():
        title = system.title.partition(":")[0]
        place = next(place for place, line in enumerate(demo.screen) if line.startswith(f"{title}: "))
        assert f" run {name}." in demo.screen[place + 1]


def test_nothing_needs_the_aws_cli_or_an_active_venv(demo: Demo) -> None:
    for line in demo.to_paste:
        (program, *_) = shlex.split(line)
        assert program in (sys.executable, "export")


def test_lines_begin_with_what_the_demo_was_started_by(tmp_path: Path) -> None:
    (tmp_path / ".venv").symlink_to(VENV_COMMAND.parents[1])
    with subprocess.Popen(
        [".venv/bin/singletable", "demo", "--port", "0"], stdout=subprocess.PIPE, text=True, cwd=tmp_path
    ) as demo:
        assert demo.stdout is not None
        try:
            lines = [demo.stdout.readline() for _ in range(3)]
            assert paste(lines[2], tmp_path).startswith("kefir.user ")
        finally:
            demo.send_signal(signal.SIGTERM)
    assert lines[1].endswith("In another terminal, in this folder:\n")
    assert lines[2] == "  .venv/bin/singletable run --list\n"


# --- what is to be tried ---------------------------------------------------------------------------------------


def test_every_line_that_is_shown_can_be_pasted(demo: Demo) -> None:
    for line in demo.to_paste:
        assert demo.paste(line) or line.startswith("export ")


def test_pasted_exports_lead_a_client_to_the_server(demo: Demo) -> None:
    lines = "\n".join(line for line in demo.to_paste if line.startswith("export "))
    asked = f"{sys.executable} -c 'import os; print(*(v for k, v in os.environ.items() if k.startswith(\"AWS\")))'"
    assert demo.paste(f"{lines}\n{asked}").split() == [demo.url, demo.url]


def test_pasted_line_shows_a_reminder_that_was_sent(demo: Demo) -> None:
    printed = demo.paste_line_with("kefir.batch_view")
    assert "name: Apple and cinnamon (9)" in printed
    reminders = printed.partition("reminders: ")[2]
    assert reminders.count("status: sent") == reminders.count("Reminder  PK=") == 2


def test_pasted_line_shows_the_menus_of_a_restaurant_newest_first(demo: Demo) -> None:
    printed = demo.paste_line_with("lunch_cache.history")
    weeks = re.findall(r"^WeeklyMenu  pk=niagara-(\d{4}-\d\d)$", printed, re.MULTILINE)
    assert len(weeks) in (2, 3)
    assert weeks == sorted(weeks, reverse=True)


def scores(printed: str) -> dict[str, int]:
    """Return the scores of cards, in the order of a list."""
    ids, values = re.findall(r"\bid: (\w+)", printed), re.findall(r"\bvoteScore: (-?\d+)", printed)
    return {card: int(value) for card, value in zip(ids, values, strict=True)}


def test_vote_is_in_the_pasted_list_a_moment_later(demo: Demo) -> None:
    before = scores(demo.paste_line_with("perfectit.top_voted"))
    assert list(before.values()) == sorted(before.values(), reverse=True)
    best, score = next(iter(before.items()))
    with no_aws_settings(), PerfectIt.open(demo.url) as db:
        was = db.vote(UserId("ada"), best).maybe()
        value: Literal[1, -1] = -1 if was is None or was.value == 1 else 1
        for _ in range(2):  # which is counted once
            Voting(db).vote(UserId("ada"), CardId(best), value)
    score += value - (0 if was is None else was.value)
    while any(consumer["records_behind"] for consumer in demo.listed_consumers()):
        pass  # each look starts a process
    after = scores(demo.paste_line_with("perfectit.top_voted"))
    assert list(after.values()) == sorted(after.values(), reverse=True)
    assert after.get(best, score) == score
    assert best in after or min(after.values()) >= score


def test_four_other_lists_share_the_index_of_public_posts(demo: Demo) -> None:
    printed = demo.paste_line_with("smart_cooking.public_feed")
    posted = re.findall(r"\bcreated_at: (\S+)", printed)
    assert len(posted) == 3
    assert posted == sorted(posted, reverse=True)
    assert printed.count("is_public: true") == 3
    found: set[str] = set()
    start: dict[str, Any] = {}
    while True:
        page = demo.ask("Scan", TableName="smart-cooking-data-dev", IndexName="GSI3", **start)
        found |= {item["entity_type"]["S"] for item in page["Items"]}
        if "LastEvaluatedKey" not in page:
            break
        start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}
    (title,) = [line for line in demo.screen if line.startswith("Smart Cooking: ")]
    assert "four other lists share their index" in title
    assert len(found - {"POST"}) == 4


# --- what runs beside it ---------------------------------------------------------------------------------------


def test_due_reminder_was_sent_before_anybody_asked(demo: Demo) -> None:
    key = {"PK": {"S": "BATCH#ada-09"}, "SK": {"S": "REMINDER#ada-09-r2"}}
    item = demo.ask("GetItem", TableName="kefir-app-dev-table", Key=key)["Item"]
    assert item["status"] == {"S": "sent"}
    assert item["sentAt"]["S"] > item["dueAt"]["S"]
    assert "GSI2PK" not in item  # it has left the queue


def test_pending_reminders_have_their_schedules(demo: Demo) -> None:
    scanned = demo.ask("Scan", TableName="kefir-app-dev-table")
    pending = [item for item in scanned["Items"] if item.get("status") == {"S": "pending"}]
    assert pending
    assert all(item["schedulerArn"]["S"].startswith("arn:aws:scheduler:local:") for item in pending)


def test_no_consumer_is_behind(demo: Demo) -> None:
    with_handlers = [system.design for system in installed_systems().values() if system.has_handlers]
    assert {consumer["name"] for consumer in demo.consumers} == {each.__name__ for each in with_handlers}
    for consumer in demo.consumers:
        assert (consumer["records_behind"], consumer["dead_letters"], consumer["missed"]) == (0, 0, 0)


def test_expired_items_are_deleted(demo: Demo) -> None:
    for table in ("kefir-app-dev-table", "lunch-cache-dev"):
        ttl = demo.ask("DescribeTimeToLive", TableName=table)["TimeToLiveDescription"]
        assert ttl == {"TimeToLiveStatus": "ENABLED", "AttributeName": "ttl"}


def test_file_is_found_again_as_it_was(tmp_path: Path, warm_programs: Path) -> None:
    program = warm_programs / "singletable"
    for _ in range(2):
        with CommandProcess("demo", "--port", "0", "--file", FILE, cwd=tmp_path, program=program) as process:
            screen = process.read_through(READY)
            assert f"serves {FILE} at" in screen[0]
            with no_aws_settings(), open_client(screen[-1].rpartition("=")[2]) as client:
                found = client.call("Scan", {"TableName": "kefir-app-dev-table", "Select": "COUNT"})
                assert found["Count"] == 1056
            assert process.end(signal.SIGINT) == (130, "", "")
    assert check_file(str(tmp_path / FILE)) == []


def test_worker_that_fails_is_logged_and_stops_nothing_else(caplog: pytest.LogCaptureFixture) -> None:
    tried = Semaphore(0)

    def fail() -> int:
        tried.release()
        raise OSError("the door is locked")

    lunch = replace(find_system("lunch_cache"), workers=lambda db: [Worker("door", 0.001, fail)])
    with Database.open(":memory:") as database, run_systems(database, [lunch]) as (running,):
        assert running.beside == ["door every 0.001 s"]
        for _ in range(3):
            assert tried.acquire(timeout=TIMEOUT_S)
    assert "door failed; again in" in caplog.text
    assert "the door is locked" in caplog.text


# --- ways of showing it ------------------------------------------------------------------------------------------


def test_demo_as_json_is_one_line(tmp_path: Path, warm_programs: Path) -> None:
    program = warm_programs / "singletable"
    with CommandProcess("demo", "--port", "0", "--json", cwd=tmp_path, program=program) as demo:
        assert json.loads(demo.read_line())["file"] is None
        assert demo.end(signal.SIGTERM)[1] == ""
