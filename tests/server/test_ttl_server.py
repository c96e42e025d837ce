"""Time to live over the server: the option of the command, and items that go while it serves."""

from __future__ import annotations

import json
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from singletable.cli.parser import build_parser
from singletable.server import Address
from singletable.storage.check import check_file
from support.serving import CommandProcess, HttpSocket, call

TABLE: dict[str, Any] = {
    "TableName": "sessions",
    "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
    "BillingMode": "PAY_PER_REQUEST",
}
SPECIFICATION = {"AttributeName": "expires", "Enabled": True}


def ask(client: HttpSocket, operation: str, request: dict[str, Any]) -> Any:
    answer = client.ask(call(operation, request))
    assert answer.status == 200, answer.body
    return answer.json


def make_sessions(client: HttpSocket) -> None:
    """Make a table with an item that has expired and one that has not."""
    ask(client, "CreateTable", TABLE)
    ask(client, "UpdateTimeToLive", {"TableName": "sessions", "TimeToLiveSpecification": SPECIFICATION})
    for name, seconds in (("gone", -60), ("kept", 3600)):
        expires = {"N": str(int(time.time()) + seconds)}
        ask(client, "PutItem", {"TableName": "sessions", "Item": {"id": {"S": name}, "expires": expires}})


def sessions(client: HttpSocket) -> list[str]:
    items = ask(client, "Scan", {"TableName": "sessions"})["Items"]
    return sorted(item["id"]["S"] for item in items)


def served(*options: str, directory: Path) -> CommandProcess:
    return CommandProcess("serve", "app.db", "--port", "0", "--json", *options, cwd=directory)


def connect(server: CommandProcess) -> HttpSocket:
    line = json.loads(server.read_line())
    return HttpSocket(Address(line["host"], line["port"]))


def test_expired_items_go_while_it_serves(tmp_path: Path) -> None:
    never = threading.Event()
    with served("--ttl-sweep", "0.05", directory=tmp_path) as server:
        with connect(server) as client:
            make_sessions(client)
            for _ in range(600):
                if sessions(client) == ["kept"]:
                    break
                never.wait(0.05)
            assert sessions(client) == ["kept"]
            metrics = client.ask(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").body
            assert b'singletable_time_to_live_deleted_items_total{table="sessions"} 1\n' in metrics
        code, _, said = server.end(signal.SIGTERM)
    assert code == 0, said
    assert check_file(str(tmp_path / "app.db")) == []


def test_a_server_that_does_not_sweep_keeps_them(tmp_path: Path) -> None:
    with served("--ttl-sweep", "off", directory=tmp_path) as server:
        with connect(server) as client:
            make_sessions(client)
            assert sessions(client) == ["gone", "kept"]
            described = ask(client, "DescribeTimeToLive", {"TableName": "sessions"})
            assert described == {
                "TimeToLiveDescription": {"TimeToLiveStatus": "ENABLED", "AttributeName": "expires"}
            }
        server.end(signal.SIGTERM)


@pytest.mark.parametrize(
    ("text", "seconds"), [("1", 1.0), ("0.01", 0.01), ("172800", 172_800.0), ("off", None)]
)
def test_an_interval_is_seconds_or_off(text: str, seconds: float | None) -> None:
    assert build_parser().parse_args(["serve", "--ttl-sweep", text]).ttl_sweep == seconds


def test_the_interval_is_a_second_unless_it_is_told() -> None:
    assert build_parser().parse_args(["serve"]).ttl_sweep == 1.0


@pytest.mark.parametrize("text", ["0", "0.001", "-1", "172801", "nan", "inf", "on", "", "1s"])
def test_what_is_no_interval_is_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        build_parser().parse_args(["serve", "--ttl-sweep", text])
    assert caught.value.code == 2
    assert "is no interval: seconds, from 0.01 to 172800, or off" in capsys.readouterr().err
