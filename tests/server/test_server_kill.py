"""A server that ends in the middle of many writes has lost nothing it acknowledged, and nothing is half there."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from resilience.torture.kills import FILE, KillLoop
from resilience.torture.target import python
from singletable import Database

if TYPE_CHECKING:
    from pathlib import Path

SOAK_S = float(os.environ.get("SOAK_S", "60"))
ENDS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)


def test_killed_server_loses_nothing(tmp_path: Path) -> None:
    loop = KillLoop(tmp_path, seed=101)
    for writes in (40, 300, 5, 150):
        loop.end_after(writes, signal.SIGKILL)
    # Every kind of write was among what is checked.
    assert loop.acknowledged.keys() == {"Put", "Update", "Delete", "Batch", "Transfer", "Count"}
    checked = subprocess.run(
        python("-m", "singletable", "check", FILE), cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=lambda sent: sent.name)
def test_stopped_server_loses_nothing(tmp_path: Path, number: signal.Signals) -> None:
    loop = KillLoop(tmp_path, seed=102)
    for writes in (60, 250):
        loop.end_after(writes, number)


def test_two_killed_servers_of_one_file_lose_nothing(tmp_path: Path) -> None:
    loop = KillLoop(tmp_path, seed=103, servers=2)
    for writes in (50, 200):
        loop.end_after(writes, signal.SIGKILL)


@pytest.mark.parametrize(
    ("table", "key"),
    [
        pytest.param("sequence", {"PK": {"S": "sequence-0/0"}, "SK": {"N": "1"}}, id="a write is lost"),
        pytest.param(
            "sequence", {"PK": {"S": "sequence-0/1"}, "SK": {"N": "3"}}, id="half a transaction is lost"
        ),
        pytest.param("shared", {"PK": {"S": "account#0"}}, id="an account is lost"),
    ],
)
def test_loss_would_be_noticed(tmp_path: Path, table: str, key: Any) -> None:
    loop = KillLoop(tmp_path, seed=104, writers=4, ahead=1)
    loop.end_after(100, signal.SIGKILL)
    with Database.open(tmp_path / FILE) as db:
        db.delete_item(TableName=table, Key=key)
    with pytest.raises(AssertionError, match=r"a gap|places differ"):
        loop.verify()


@pytest.mark.soak
@pytest.mark.parametrize("servers", [1, 3])
def test_nothing_is_lost_in_many_ends(tmp_path: Path, servers: int) -> None:
    seed = int.from_bytes(os.urandom(4))
    print(f"seed {seed}")
    random = Random(seed)
    loop = KillLoop(tmp_path, seed, writers=24, ahead=6, servers=servers)
    ends_s = time.monotonic() + SOAK_S / 2
    while time.monotonic() < ends_s:
        writes = random.choice((1, random.randint(2, 100), random.randint(100, 2000)))
        loop.end_after(writes, random.choice(ENDS))
