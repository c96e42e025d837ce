"""The page on the server names its bounds and the members of its log as they are."""

from __future__ import annotations

import json
import re
from typing import Final

import pytest

from documents.blocks import ROOT
from singletable.limits import EXPRESSION_CACHE_ENTRIES_MAX, KIB, MIB, REQUEST_BYTES_MAX
from singletable.server import ServerSettings
from singletable.server.access_log import WAITING_LINES_MAX, Line
from singletable.server.connection import PIPELINED_BYTES_MAX, PIPELINED_REQUESTS_MAX
from singletable.server.encoding import ENCODED_BYTES_MIN, MEMBERS_MAX
from singletable.server.patience import BYTES_PER_S_MIN, LOOK_AROUND_S, PAUSE_S_MIN, SILENT_S_MIN, SLOW_S_MIN
from singletable.server.reader import HEAD_BYTES_MAX, UNCOUNTED_BODY_BYTES

PAGE: Final = (ROOT / "docs" / "reference" / "server.md").read_text(encoding="utf-8")
SETTINGS: Final = ServerSettings()


def size(count: int) -> str:
    return f"{count // MIB} MB" if count % MIB == 0 else f"{count // KIB} KB"


def rows_of(header: str) -> list[list[str]]:
    """Return the cells of the table that begins with this line."""
    _, found, rest = PAGE.partition(f"\n{header}\n")
    assert found
    table = rest.partition("\n\n")[0].splitlines()[1:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table]


@pytest.mark.parametrize(
    ("start", "bound"),
    [
        ("connections", f"{SETTINGS.connections_max:,}, or `--connections-max`"),
        ("head of a request", size(HEAD_BYTES_MAX)),
        ("body of a request", size(REQUEST_BYTES_MAX)),
        ("time for the head of a request", f"{SETTINGS.head_s_max:.0f} s"),
        ("rate of a body", f"{size(BYTES_PER_S_MIN)} a second"),
        ("time for a request to arrive", f"{SETTINGS.request_s_max:.0f} s"),
        (f"rate at which an answer is taken, after {SETTINGS.request_s_max:.0f} s", size(BYTES_PER_S_MIN)),
        ("silence on a connection", f"{SETTINGS.idle_s_max:.0f} s"),
        ("pipelined", f"{PIPELINED_REQUESTS_MAX} requests, or {size(PIPELINED_BYTES_MAX)}"),
        ("requests under way", f"{SETTINGS.requests_max:,}"),
        (f"large bodies (over {size(UNCOUNTED_BODY_BYTES)})", size(SETTINGS.arriving_bytes_max)),
        ("answers that clients do not take", size(SETTINGS.leaving_bytes_max)),
        ("lines of the log", f"{WAITING_LINES_MAX:,}"),
        ("expressions that are remembered", f"{EXPRESSION_CACHE_ENTRIES_MAX:,}"),
        ("time to stop", f"{SETTINGS.stop_s_max:.0f} s"),
    ],
)
def test_bound_is_the_one_that_holds(start: str, bound: str) -> None:
    (row,) = [row for row in rows_of("| | | beyond it |") if row[0].startswith(start)]
    assert row[1].startswith(bound)


def test_times_of_who_makes_room_are_those_that_hold() -> None:
    text = " ".join(PAGE.split())
    assert f"has been silent for {SILENT_S_MIN:.0f} s" in text
    assert f"has not asked anything for {SLOW_S_MIN:.0f} s" in text
    assert f"was answered at least {PAUSE_S_MIN} s ago" in text
    assert f"at most every {LOOK_AROUND_S} s" in text
    assert f"less than {size(BYTES_PER_S_MIN)} a second" in text
    assert f"Times are looked at every {SETTINGS.head_s_max / 4:.1f} s" in text


def test_bounds_of_compression_are_those_that_hold() -> None:
    assert f"at most {MEMBERS_MAX} members" in PAGE
    assert f"Answers of {size(ENCODED_BYTES_MIN)} and more" in PAGE


def test_line_of_the_log_is_one() -> None:
    shown = re.search(r'`(\{"time".*?\})`', PAGE, re.DOTALL)
    assert shown is not None
    assert list(json.loads(shown[1])) == list(Line._fields)


def test_every_member_of_the_log_is_explained() -> None:
    names = [name for row in rows_of("| member | |") for name in re.findall(r"`(\w+)`", row[0])]
    assert names == list(Line._fields)
