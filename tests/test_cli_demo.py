"""`singletable demo`: what it shows is true, and what it says to try works when it is pasted."""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from serving import TIMEOUT_S, CommandProcess
from singletable.cli.picture import Painter, Row, Style
from singletable.cli.shop import shop_items

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def screen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """What a running demo has printed; it runs until the last test of this file has ended."""
    cwd = tmp_path_factory.mktemp("demo")
    with CommandProcess("demo", "--port", "0", cwd=cwd, PYTHONIOENCODING="utf-8") as demo:
        yield "\n".join(demo.read_through("export AWS_ENDPOINT_URL_DYNAMODB_STREAMS="))
        assert demo.end(signal.SIGTERM) == (0, "", "")


def pasted(screen: str, number: int) -> str:
    """Cut the lines to paste out of the screen: those behind the numbered headline."""
    section = re.search(rf"^{number}\. .*\n\n((?:.+\n)+)", screen, re.MULTILINE)
    assert section is not None
    return section[1]


def paste(lines: str) -> str:
    ran = subprocess.run(
        ["bash", "-c", lines], capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_screen_says_what_the_table_holds(screen: str) -> None:
    items = list(shop_items())
    collections = {item["PK"]["S"] for item in items}
    assert screen.startswith(f"table shop: {len(items)} items in {len(collections)} item collections\n")
    assert "Address 16   Customer 12   Line 110   Order 44   Product 16\n" in screen


def test_picture_shows_collections_in_the_order_of_their_keys(screen: str) -> None:
    drawn = re.search(r"^CUSTOMER#ada  7 items\n((?:[├└]─ .*\n)+)", screen, re.MULTILINE)
    assert drawn is not None
    sorts = [line.split()[1] for line in drawn[1].splitlines()]
    assert sorts == sorted(sorts)
    assert sorts[0] == "ADDRESS#home"
    assert sorts[-1] == "PROFILE"
    assert "\x1b" not in screen


def test_pasted_boto3_lines_print_open_orders_oldest_first(screen: str) -> None:
    printed = paste(pasted(screen, 2)).splitlines()
    assert [line.split()[1] for line in printed] == [
        "CUSTOMER#ada",
        "CUSTOMER#hugo",
        "CUSTOMER#chidi",
        "CUSTOMER#jun",
    ]
    assert printed == sorted(printed)


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_pasted_curl_line_prints_the_item(screen: str) -> None:
    answer = json.loads(paste(pasted(screen, 3)))
    assert answer["Item"]["name"] == {"S": "Blue mug"}
    assert answer["Item"]["price"] == {"N": "11.5"}


@pytest.mark.skipif(shutil.which("aws") is None, reason="the AWS CLI is not installed")
def test_pasted_aws_cli_line_prints_the_customer(screen: str) -> None:
    printed = paste(pasted(screen, 1)).splitlines()
    assert len(printed) == 7
    assert printed[-1].split() == ["PROFILE", "Customer", "None"]


def test_terminal_gets_colours_unless_they_are_not_wanted(tmp_path: Path) -> None:
    assert "\x1b[" in terminal_output(tmp_path, {"TERM": "xterm"})
    assert "\x1b[" not in terminal_output(tmp_path, {"TERM": "xterm", "NO_COLOR": "1"})


def terminal_output(cwd: Path, environment: dict[str, str]) -> str:
    """Run the demo on a pseudo terminal until it is ready; return what it showed."""
    ours, its = pty.openpty()
    wanted = {name: text for name, text in os.environ.items() if name != "NO_COLOR"} | environment
    arguments = [sys.executable, "-m", "singletable", "demo", "--port", "0"]
    with subprocess.Popen(arguments, stdout=its, stderr=its, cwd=cwd, env=wanted) as demo:
        os.close(its)
        shown = b""
        while b"export AWS_ENDPOINT_URL_DYNAMODB_STREAMS" not in shown:
            shown += os.read(ours, 65536)
        demo.send_signal(signal.SIGTERM)
    os.close(ours)
    return shown.decode()


def test_ascii_terminal_gets_an_ascii_picture(tmp_path: Path) -> None:
    with CommandProcess("demo", "--port", "0", cwd=tmp_path, PYTHONIOENCODING="ascii") as demo:
        shown = demo.read_through("export AWS_ENDPOINT_URL_DYNAMODB_STREAMS=")
        demo.end(signal.SIGTERM)
    assert any(line.startswith("|- ADDRESS#home") for line in shown)


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


def test_details_are_cut_at_the_edge_of_the_terminal() -> None:
    (_, line) = draw([Row("P", "S", "Thing", "x" * 100)], width=30)
    assert len(line) == 30


def test_shop_is_the_same_every_time_and_has_no_key_twice() -> None:
    items = list(shop_items())
    assert items == list(shop_items())
    assert len({(item["PK"]["S"], item["SK"]["S"]) for item in items}) == len(items) == 198
