"""`singletable demo`: what it shows is true, what it says to try works when it is pasted, and its workers work."""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Semaphore
from typing import Any

import pytest

from serving import TIMEOUT_S, CommandProcess
from singletable import Database
from singletable.cli.demo_systems import run_systems
from singletable.cli.item_pictures import picture_of
from singletable.cli.picture import Painter, Row, Style
from singletable.client import open_client
from singletable.storage.check import check_file
from singletable.systems import Worker, find_system, installed_systems
from singletable_systems.kefir import Accounts, Kefir, UserId
from targets import no_aws_settings

TITLES = {name: system.title for name, system in installed_systems().items()}
READY = "export AWS_ENDPOINT_URL_DYNAMODB_STREAMS="
FILE = "demo.db"


@dataclass(frozen=True, slots=True)
class Demo:
    """A running demo: where it is, and what it has printed."""

    folder: Path
    screen: str
    consumers: list[dict[str, Any]]  # where they stood when it was ready

    @property
    def url(self) -> str:
        return self.screen.rpartition("=")[2].strip()

    def part(self, system: str) -> str:
        """Cut what is printed of one system out of the screen."""
        _, _, rest = self.screen.partition(f"{TITLES[system]}\n")
        ends = [rest.index(title) for title in TITLES.values() if title in rest]
        return rest[: min(ends, default=len(rest))]

    def ask(self, operation: str, **params: Any) -> dict[str, Any]:
        with no_aws_settings(), open_client(self.url) as client:
            return client.call(operation, params)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    """A demo that runs until the last test of this file has ended, and ends without a word."""
    folder = tmp_path_factory.mktemp("demo")
    with CommandProcess(
        "demo", "--port", "0", "--file", FILE, cwd=folder, PYTHONIOENCODING="utf-8"
    ) as process:
        screen = "\n".join(process.read_through(READY))
        yield Demo(folder, screen, listed_consumers(folder))
        assert process.end(signal.SIGTERM) == (0, "", "")
    assert check_file(str(folder / FILE)) == []


def listed_consumers(folder: Path) -> list[dict[str, Any]]:
    ran = subprocess.run(
        [sys.executable, "-m", "singletable", "stream", "consumers", FILE, "--json"],
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=TIMEOUT_S,
        check=True,
    )
    return [json.loads(line) for line in ran.stdout.splitlines()]


def pasted(part: str, number: int) -> str:
    """Cut the lines to paste out of what is printed: those behind the numbered headline."""
    section = re.search(rf"^{number}\. .*\n\n((?:.+\n)+)", part, re.MULTILINE)
    assert section is not None
    return section[1]


def paste(lines: str) -> str:
    ran = subprocess.run(
        ["bash", "-c", lines], capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


# --- what is shown ---------------------------------------------------------------------------------------------


def test_screen_says_what_the_tables_hold(demo: Demo) -> None:
    assert "table kefir-app-dev-table: 1,056 items\n" in demo.part("kefir")
    assert "Batch 120   BatchEvent 600   Device 36   Reminder 240   User 12   lock 48\n" in demo.part("kefir")
    assert re.search(r"table lunch-cache-dev: [23]0 items; by its index RestaurantIndex:", demo.screen)


def test_picture_shows_collections_in_the_order_of_their_keys(demo: Demo) -> None:
    drawn = re.search(r"^USER#ada  14 items\n((?:[├└]─ .*\n)+)", demo.part("kefir"), re.MULTILINE)
    assert drawn is not None
    sorts = [line.split()[1] for line in drawn[1].splitlines()]
    assert sorts == [f"BATCH#ada-{number:02}" for number in range(1, 8)] + ["…"]
    assert re.search(r"^niagara  [23] items\n├─ 20", demo.part("lunch_cache"), re.MULTILINE)
    assert "\x1b" not in demo.screen


def test_every_system_has_three_things_to_try(demo: Demo) -> None:
    for name in TITLES:
        headlines = re.findall(r"^\d\. .*\((.*)\)$", demo.part(name), re.MULTILINE)
        assert headlines == ["boto3", "Python", "AWS CLI"]


# --- what is to be tried ---------------------------------------------------------------------------------------


def test_pasted_boto3_lines_print_a_user_with_all_that_is_hers(demo: Demo) -> None:
    printed = paste(pasted(demo.part("kefir"), 1)).splitlines()
    assert len(printed) == 14
    assert printed[-1].startswith("METADATA Ada Lindqvist")


def test_pasted_python_lines_show_a_reminder_that_was_sent(demo: Demo) -> None:
    printed = paste(pasted(demo.part("kefir"), 2)).splitlines()
    assert [line.split()[0] for line in printed[:2]] == ["sent", "sent"]
    assert printed[2].endswith("Bottles are washed.")


@pytest.mark.skipif(shutil.which("aws") is None, reason="the AWS CLI is not installed")
def test_pasted_aws_cli_lines_print_batches_that_are_ready(demo: Demo) -> None:
    printed = paste(pasted(demo.part("kefir"), 3)).splitlines()
    assert printed
    assert printed == sorted(printed)


def test_pasted_boto3_lines_print_the_menu_of_this_week(demo: Demo) -> None:
    printed = paste(pasted(demo.part("lunch_cache"), 1)).splitlines()
    assert len(printed) == 15
    assert [line.split()[0] for line in printed[::3]] == ["måndag", "tisdag", "onsdag", "torsdag", "fredag"]
    assert printed[9].startswith("torsdag Ärtsoppa och pannkakor")


def test_pasted_python_lines_print_menus_of_this_week(demo: Demo) -> None:
    printed = paste(pasted(demo.part("lunch_cache"), 2)).splitlines()
    assert [line.split()[0] for line in printed] == ["niagara", "gröna-lunden", "la-cantina", "none"]
    assert printed[-1] == "none of nowhere"


@pytest.mark.skipif(shutil.which("aws") is None, reason="the AWS CLI is not installed")
def test_pasted_aws_cli_lines_print_a_history_with_its_mistakes(demo: Demo) -> None:
    printed = paste(pasted(demo.part("lunch_cache"), 3)).splitlines()
    assert len(printed) in (2, 3)
    assert all(re.match(r"spisa-hos-helena-\d{4}-\d\d\t14\t.+", line) for line in printed)


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


def test_file_is_found_again_as_it_was(tmp_path: Path) -> None:
    for _ in range(2):
        with CommandProcess("demo", "--port", "0", "--file", FILE, cwd=tmp_path) as process:
            screen = "\n".join(process.read_through(READY))
            assert "table kefir-app-dev-table: 1,056 items" in screen
            assert f"serves {FILE} at" in screen
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


def test_terminal_gets_colours_unless_they_are_not_wanted(tmp_path: Path) -> None:
    assert "\x1b[36m" in terminal_output(tmp_path, {"TERM": "xterm"})
    assert "\x1b[36m" not in terminal_output(tmp_path, {"TERM": "xterm", "NO_COLOR": "1"})


def terminal_output(cwd: Path, environment: dict[str, str]) -> str:
    """Run the demo on a pseudo terminal until it is ready; return what it showed."""
    ours, its = pty.openpty()
    wanted = {name: text for name, text in os.environ.items() if name != "NO_COLOR"} | environment
    arguments = [sys.executable, "-m", "singletable", "demo", "--port", "0"]
    with subprocess.Popen(arguments, stdout=its, stderr=its, cwd=cwd, env=wanted) as demo:
        os.close(its)
        shown = b""
        while READY.encode() not in shown:
            shown += os.read(ours, 65536)
        demo.send_signal(signal.SIGTERM)
    os.close(ours)
    return shown.decode()


def test_ascii_terminal_gets_an_ascii_picture(tmp_path: Path) -> None:
    with CommandProcess("demo", "--port", "0", cwd=tmp_path, PYTHONIOENCODING="ascii") as demo:
        shown = demo.read_through(READY)
        demo.end(signal.SIGTERM)
    assert any(line.startswith("|- BATCH#ada-01") for line in shown)
    assert any(line.startswith(r"gr\u00f6na-lunden") for line in shown)


def test_demo_as_json_is_one_line(tmp_path: Path) -> None:
    with CommandProcess("demo", "--port", "0", "--json", cwd=tmp_path) as demo:
        assert json.loads(demo.read_line())["file"] is None
        assert demo.end(signal.SIGTERM)[1] == ""


# --- the picture alone --------------------------------------------------------------------------------


def draw(rows: list[Row], *, width: int = 80, rows_max: int = 3) -> list[str]:
    style = Style(width=width, colour=False, unicode=True)
    return Painter(style, (row.entity for row in rows)).collections(rows, rows_max=rows_max)


def test_collection_that_is_too_long_says_how_many_more_there_are() -> None:
    rows = [Row("P", str(number), "Thing", "") for number in range(5)]
    assert draw(rows) == ["P  5 items", "├─ 0  Thing", "├─ 1  Thing", "└─ … 3 more"]


def test_collection_that_just_fits_is_shown_whole() -> None:
    rows = [Row("P", str(number), "Thing", "") for number in range(3)]
    assert draw(rows) == ["P  3 items", "├─ 0  Thing", "├─ 1  Thing", "└─ 2  Thing"]


def test_stored_text_does_not_steer_the_terminal() -> None:
    with Kefir.open(":memory:", stage="test") as db:
        ada = Accounts(db).sign_up("a@example.com", user_id=UserId("ada"), name="\x1b[31mred\nnext\u202e")
        lines = picture_of(db, [ada], Style(width=80, colour=False, unicode=True))
    assert lines[-1] == "└─ METADATA  User  a@example.com  ␛[31mred␊next\\u{202e}"


def test_details_are_cut_at_the_edge_of_the_terminal() -> None:
    (_, line) = draw([Row("P", "S", "Thing", "x" * 100)], width=30)
    assert len(line) == 30
