"""`singletable serve` as people run it: a process, its first lines, its end."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import partial
from typing import IO, TYPE_CHECKING, Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

import singletable
from singletable.cli import main
from singletable.cli.serving import print_ready
from singletable.server import Address
from singletable.storage.check import check_file
from support.run_commands import command
from support.serving import TIMEOUT_S, CommandProcess, HttpSocket, call, post

if TYPE_CHECKING:
    from pathlib import Path

TABLE: dict[str, Any] = {
    "TableName": "things",
    "AttributeDefinitions": [{"AttributeName": "PK", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}],
    "BillingMode": "PAY_PER_REQUEST",
}


def ready(server: CommandProcess) -> Address:
    """Wait for the ready line of `serve --json`."""
    line = json.loads(server.read_line())
    return Address(line["host"], line["port"])


Start = Callable[..., CommandProcess]


@pytest.fixture
def start(tmp_path: Path, warm_programs: Path) -> Start:
    """What starts a command in the folder of the test at once; tests of a start and of an end use the real one."""
    return partial(CommandProcess, cwd=tmp_path, program=warm_programs / "singletable")


def connect(address: Address) -> Any:
    return boto3.client(
        "dynamodb",
        endpoint_url=address.url,
        region_name="us-east-1",
        aws_access_key_id="local",
        aws_secret_access_key="local",
        config=Config(retries={"total_max_attempts": 1}),
    )


def exports(url: str) -> list[str]:
    return [f"export AWS_ENDPOINT_URL_DYNAMODB{of}={url}" for of in ("", "_STREAMS")]


def test_first_lines_say_where_and_how(tmp_path: Path) -> None:
    with CommandProcess("serve", "app.db", "--port", "0", cwd=tmp_path) as server:
        found = re.fullmatch(
            r"singletable \S+ serves app\.db at (http://127\.0\.0\.1:(\d+))", server.read_line()
        )
        assert found is not None
        assert [server.read_line(), server.read_line()] == exports(found[1])
        with HttpSocket(Address("127.0.0.1", int(found[2]))) as client:
            assert client.ask(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").status == 200
        code, out, err = server.end(signal.SIGTERM)
    assert (code, out) == (0, "")
    assert "any credentials work" in err
    assert f'endpoint_url="{found[1]}"' in err


def test_ready_line_as_json_is_the_only_one(tmp_path: Path) -> None:
    with CommandProcess("serve", "--port", "0", "--json", cwd=tmp_path) as server:
        line = json.loads(server.read_line())
        code, out, err = server.end(signal.SIGTERM)
    assert (code, out) == (0, "")
    url = f"http://127.0.0.1:{line['port']}"
    assert line["url"] == url
    assert line["file"] is None
    assert line["pid"] == server.process.pid
    assert line["environment"] == {
        "AWS_ENDPOINT_URL_DYNAMODB": url,
        "AWS_ENDPOINT_URL_DYNAMODB_STREAMS": url,
    }
    assert "nothing is kept" in err


def test_address_that_others_can_reach_is_warned_about(start: Start) -> None:
    with start("serve", "--host", "0.0.0.0", "--port", "0") as server:
        assert server.read_line().endswith(" (listening on 0.0.0.0)")
        _, _, err = server.end(signal.SIGTERM)
    assert err.startswith("warning: whoever reaches 0.0.0.0 can read and change everything")


@pytest.mark.parametrize(
    ("host", "where"),
    [
        ("127.0.0.1", "http://127.0.0.1:8000"),
        ("localhost", "http://localhost:8000"),
        ("::1", "http://[::1]:8000"),
        ("0.0.0.0", "http://127.0.0.1:8000 (listening on 0.0.0.0)"),
        ("::", "http://[::1]:8000 (listening on ::)"),
        ("", "http://127.0.0.1:8000 (listening on every address)"),
    ],
)
def test_ready_line_names_what_was_asked_for(
    host: str, where: str, capsys: pytest.CaptureFixture[str]
) -> None:
    print_ready(Address(host, 8000), None, as_json=False)
    ready_line, *exported = capsys.readouterr().out.splitlines()
    assert ready_line == f"singletable {singletable.__version__} serves memory at {where}"
    assert exported == exports(where.partition(" ")[0])


def test_clients_find_tables_and_streams_by_the_environment_that_is_printed(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    with start("serve", "--port", "0", "--json") as server:
        for variable, url in json.loads(server.read_line())["environment"].items():
            monkeypatch.setenv(variable, url)
        credentials: Any = {"aws_access_key_id": "local", "aws_secret_access_key": "local"}
        tables = boto3.client("dynamodb", region_name="us-east-1", **credentials)
        streams = boto3.client("dynamodbstreams", region_name="us-east-1", **credentials)
        tables.create_table(
            **TABLE, StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
        )
        assert [stream["TableName"] for stream in streams.list_streams()["Streams"]] == ["things"]
        tables.close()
        streams.close()


def test_backups_are_not_kept_in_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    in_the_way = tmp_path / "notes.txt"
    in_the_way.write_text("not a folder")
    assert main(["serve", str(tmp_path / "app.db"), "--port", "0", "--backups", str(in_the_way)]) == 2
    assert capsys.readouterr().err == (
        f"error: ST807: backups cannot be kept in {in_the_way}, which is a file\n\n"
        "hint: give the path of a folder; one that does not exist yet is made\n"
        "page: docs/errors/ST807.md\n"
    )
    assert not (tmp_path / "app.db").exists()


@pytest.mark.parametrize("below", ["", "/deeper"])
def test_folder_that_cannot_be_written_is_refused_at_the_start(
    below: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # No user, not even root, makes a file in the folder of a process.
    folder = f"/proc/self/fd{below}" if os.path.isdir("/proc/self/fd") else locked_folder(tmp_path, below)
    assert main(["serve", str(tmp_path / "app.db"), "--port", "0", "--backups", folder]) == 2
    printed = capsys.readouterr().err
    assert re.match(rf"error: ST80[57]: {re.escape(folder)}", printed)
    assert "\n\nhint: " in printed
    assert not (tmp_path / "app.db").exists()


def locked_folder(tmp_path: Path, below: str) -> str:
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    return f"{locked}{below}"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--backup-keep", "3d"], "error: --backup-keep says how long backups of --backup-every are kept"),
        (["--backup-every", "weekly", "--backup-keep", "1h"], "error: 1h is shorter than weekly"),
        (["--backup-every", "91d"], "error: 90d is shorter than 91d"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_retention_that_makes_no_sense_is_refused(
    options: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", str(tmp_path / "app.db"), "--port", "0", *options]) == 2
    printed = capsys.readouterr().err
    assert printed.startswith(message)
    assert "\n\nhint: " in printed
    assert not (tmp_path / "app.db").exists()


def run_in_shell(command: str, cwd: Path) -> subprocess.Popen[str]:
    """Start a `singletable` command, written `$0 -m singletable`, with the redirections of a shell."""
    return subprocess.Popen(
        ["bash", "-c", f"exec {command}", sys.executable],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
    )


def test_server_without_stdout_serves(tmp_path: Path) -> None:
    with run_in_shell('"$0" -m singletable serve app.db --port 0 >&-', tmp_path) as server:
        try:
            assert server.stderr is not None
            hints = ""
            while not hints.endswith("Ctrl-C stops it\n"):
                hints += read_on(server.stderr, hints)
            found = re.search(r'endpoint_url="http://127\.0\.0\.1:(\d+)"', hints)
            assert found is not None
            with HttpSocket(Address("127.0.0.1", int(found[1]))) as client:
                assert client.ask(call("CreateTable", TABLE)).status == 200
                assert client.ask(call("ListTables", {})).json == {"TableNames": ["things"]}
            server.terminate()
            out, err = server.communicate(timeout=TIMEOUT_S)
        finally:
            server.kill()
    assert (server.returncode, out, err) == (0, "", "")
    assert check_file(str(tmp_path / "app.db")) == []


@pytest.mark.parametrize("flags", ["", "--log text", "--log json"])
def test_server_without_stderr_prints_no_hints(flags: str, tmp_path: Path) -> None:
    command = f'"$0" -m singletable serve --host 0.0.0.0 --port 0 --json {flags} 2>&-'
    with run_in_shell(command, tmp_path) as server:
        try:
            assert server.stdout is not None
            line = json.loads(read_on(server.stdout, ""))
            with HttpSocket(Address("127.0.0.1", line["port"])) as client:
                assert client.ask(call("ListTables", {})).status == 200
            server.terminate()
            out, _ = server.communicate(timeout=TIMEOUT_S)
        finally:
            server.kill()
    assert (server.returncode, out) == (0, "")


def read_on(stream: IO[str], before: str) -> str:
    """Wait for the next line of a process."""
    line = stream.readline()
    assert line, f"it ended after {before!r}"
    return line


def test_error_without_stderr_does_not_land_on_stdout(tmp_path: Path) -> None:
    with run_in_shell('"$0" -m singletable serve --port none 2>&-', tmp_path) as command:
        out, _ = command.communicate(timeout=TIMEOUT_S)
    assert (command.returncode, out) == (2, "")


def test_interrupt_ends_it_with_130_and_no_traceback(tmp_path: Path) -> None:
    with CommandProcess("serve", "app.db", "--port", "0", "--json", cwd=tmp_path) as server:
        ready(server)
        code, _, err = server.end(signal.SIGINT)
    assert code == 130
    assert "Traceback" not in err


def test_server_of_a_removed_file_is_unhealthy_and_fails_at_its_end(tmp_path: Path, start: Start) -> None:
    with start("serve", "app.db", "--port", "0", "--json") as server:
        address = ready(server)
        client = connect(address)
        client.create_table(**TABLE)
        (tmp_path / "app.db").unlink()
        with HttpSocket(address) as health:
            health.send(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            answer = health.receive()
        with pytest.raises(ClientError) as refused:
            client.put_item(TableName="things", Item={"PK": {"S": "a"}})
        client.close()
        code, _, err = server.end(signal.SIGTERM)
    assert (answer.status, answer.body.split(b":")[0]) == (503, b"unhealthy")
    assert str(tmp_path).encode() not in answer.body
    assert refused.value.response["Error"]["Code"] == "InternalServerError"
    assert code == 2
    assert f"error: ST811: {tmp_path / 'app.db'} was removed or renamed while it was open" in err


def test_port_in_use_is_explained(start: Start) -> None:
    with start("serve", "--port", "0", "--json") as first:
        address = ready(first)
        with start("serve", "app.db", "--port", str(address.port)) as second:
            out, err = second.process.communicate()
    assert (second.process.returncode, out) == (2, "")
    assert err.startswith(f"error: port {address.port} on 127.0.0.1 is in use\n\nhint: ")


def test_what_boto3_wrote_is_in_the_file_after_a_stop(tmp_path: Path) -> None:
    with CommandProcess("serve", "app.db", "--port", "0", "--json", cwd=tmp_path) as server:
        client = connect(ready(server))
        client.create_table(**TABLE)
        client.put_item(TableName="things", Item={"PK": {"S": "a"}, "raw": {"B": b"\x00\xff"}})
        client.close()
        assert server.end(signal.SIGTERM)[0] == 0
    with singletable.Database.open(tmp_path / "app.db") as database:
        stored = database.get_item(TableName="things", Key={"PK": {"S": "a"}})
    assert stored["Item"] == {"PK": {"S": "a"}, "raw": {"B": b"\x00\xff"}}


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL], ids=lambda sent: sent.name
)
def test_every_acknowledged_write_survives_the_end(number: signal.Signals, tmp_path: Path) -> None:
    acknowledged: set[str] = set()
    enough = threading.Event()

    def write(address: Address, writer: int) -> None:
        with HttpSocket(address) as client:
            for sequence in range(1_000_000):
                key = f"{writer}-{sequence}"
                try:
                    answer = client.ask(call("PutItem", {"TableName": "things", "Item": {"PK": {"S": key}}}))
                except OSError:
                    return
                if answer.status == 200:
                    acknowledged.add(key)
                if len(acknowledged) >= 200:
                    enough.set()

    with CommandProcess("serve", "app.db", "--port", "0", "--json", cwd=tmp_path) as server:
        address = ready(server)
        with HttpSocket(address) as client:
            assert client.ask(call("CreateTable", TABLE)).status == 200
        writers = [threading.Thread(target=write, args=(address, writer)) for writer in range(4)]
        for thread in writers:
            thread.start()
        assert enough.wait(20)
        code, _, err = server.end(number)
        for thread in writers:
            thread.join()
    assert code == {signal.SIGTERM: 0, signal.SIGINT: 130, signal.SIGKILL: -signal.SIGKILL}[number]
    assert "Traceback" not in err
    assert check_file(str(tmp_path / "app.db")) == []
    with singletable.Database.open(tmp_path / "app.db") as database:
        stored = {item["PK"]["S"] for page in pages(database) for item in page["Items"]}
    assert acknowledged <= stored
    # A writer may have one write that was stored and not answered: no more.
    assert len(stored - acknowledged) <= len(writers)


def pages(database: singletable.Database) -> Any:
    """Scan page by page."""
    start: dict[str, Any] = {}
    while True:
        page = database.scan(TableName="things", **start)
        yield page
        if "LastEvaluatedKey" not in page:
            return
        start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}


def test_relaxed_durability_still_keeps_everything_at_a_clean_end(tmp_path: Path, start: Start) -> None:
    options = ("--port", "0", "--json", "--durability", "relaxed")
    with start("serve", "app.db", *options) as server:
        with HttpSocket(ready(server)) as client:
            assert client.ask(call("CreateTable", TABLE)).status == 200
            assert (
                client.ask(call("PutItem", {"TableName": "things", "Item": {"PK": {"S": "a"}}})).status == 200
            )
        assert server.end(signal.SIGTERM)[0] == 0
    with singletable.Database.open(tmp_path / "app.db") as database:
        assert "Item" in database.get_item(TableName="things", Key={"PK": {"S": "a"}})


def test_boto3_sees_the_end_as_a_connection_error(start: Start) -> None:
    with start("serve", "--port", "0", "--json") as server:
        client = connect(ready(server))
        assert client.list_tables()["TableNames"] == []
        assert server.end(signal.SIGTERM)[0] == 0
    with pytest.raises((BotoCoreError, ClientError), match="Could not connect"):
        client.list_tables()
    client.close()


def test_arns_name_the_region_and_account_of_the_command(start: Start) -> None:
    flags = ("--region", "eu-west-1", "--account", "123456789012")
    with start("serve", "--port", "0", "--json", *flags) as server:
        table = connect(ready(server)).create_table(**TABLE)["TableDescription"]
        _, _, err = server.end(signal.SIGTERM)
    assert table["TableArn"] == "arn:aws:dynamodb:eu-west-1:123456789012:table/things"
    assert "AWS_DEFAULT_REGION=eu-west-1" in err
    assert 'region_name="eu-west-1"' in err


UNSIGNED = post(b"{}", "Content-Type: application/json", "X-Amz-Target: DynamoDB_20120810.ListTables")


def test_signature_is_asked_for_unless_switched_off(start: Start) -> None:
    with start("serve", "--port", "0", "--json") as server:
        with HttpSocket(ready(server)) as client:
            assert "MissingAuthenticationToken" in client.ask(UNSIGNED).json["__type"]
        _, _, err = server.end(signal.SIGTERM)
    assert "no signature" not in err
    with start("serve", "--port", "0", "--json", "--no-sign-check") as server:
        with HttpSocket(ready(server)) as client:
            assert client.ask(UNSIGNED).json == {"TableNames": []}
        _, _, err = server.end(signal.SIGTERM)
    assert "requests need no signature" in err


def test_connections_beyond_the_bound_are_turned_away(start: Start) -> None:
    with start("serve", "--port", "0", "--json", "--connections-max", "1") as server:
        address = ready(server)
        with HttpSocket(address) as first:
            assert first.ask(call("ListTables", {})).status == 200
            with HttpSocket(address) as second:
                assert second.receive().status == 503


def test_json_log_is_json_in_every_line(start: Start) -> None:
    options = ("--port", "0", "--json", "--log", "json", "--host", "0.0.0.0")
    with start("serve", *options) as server:
        address = ready(server)
        with HttpSocket(Address("127.0.0.1", address.port)) as client:
            answered = client.ask(call("CreateTable", TABLE))
            assert client.ask(UNSIGNED).status == 400
            client.send(b"nonsense\r\n\r\n")
            assert client.receive().status == 400
        code, out, err = server.end(signal.SIGTERM)
    assert (code, out) == (0, "")
    warning, *lines = [json.loads(line) for line in err.splitlines()]
    assert (warning["level"], warning["message"].partition(":")[0]) == (
        "warning",
        "whoever reaches 0.0.0.0 can read and change everything",
    )
    assert [(line["operation"], line["table"], line["status"], line["error"]) for line in lines] == [
        ("CreateTable", "things", 200, None),
        ("ListTables", None, 400, "MissingAuthenticationTokenException"),
        (None, None, 400, "MalformedHttpRequestException"),
    ]
    assert lines[0]["request_id"] == answered.headers["x-amzn-RequestId"]
    assert lines[0]["bytes_out"] == len(answered.body)
    assert lines[0]["remote"].startswith("127.0.0.1:")


def test_text_log_is_for_people(start: Start) -> None:
    with start("serve", "--port", "0", "--json", "--log", "text") as server:
        with HttpSocket(ready(server)) as client:
            assert client.ask(call("ListTables", {})).status == 200
        _, _, err = server.end(signal.SIGTERM)
    assert re.search(
        r"^\S+Z 127\.0\.0\.1:\d+ ListTables - 200 - 2/17 bytes [\d.]+ ms [0-9A-V]{52}$", err, re.M
    )
    assert "any credentials work" in err


def test_server_goes_on_when_nobody_reads_its_log(start: Start) -> None:
    with start("serve", "app.db", "--port", "0", "--json", "--log", "json") as server:
        address = ready(server)
        assert server.process.stderr is not None
        server.process.stderr.close()
        with HttpSocket(address) as client:
            for _ in range(50):
                assert client.ask(call("ListTables", {})).status == 200
        server.process.stderr = None
        assert server.end(signal.SIGTERM)[0] == 0


@pytest.mark.parametrize("count", ["0", "-1", "many", "1000001", "99999999999999999999"])
def test_count_of_connections_that_makes_no_sense_is_refused(
    count: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = command(capsys)("serve", f"--connections-max={count}")
    assert (ran.code, ran.out) == (2, "")
    assert f"'{count}' is no number from 1 to 1000000" in ran.err


@pytest.mark.parametrize("command", [("serve",), ("demo",)], ids=" ".join)
def test_names_and_origins_are_allowed_by_their_options(command: tuple[str], start: Start) -> None:
    options = ("--allow-host", "dynamodb", "--allow-host", "db", "--cors-origin", "http://localhost:3000")
    with (
        start(*command, "--port", "0", "--json", *options) as server,
        HttpSocket(ready(server)) as client,
    ):
        for host, origin, status in (
            (b"localhost", "http://localhost:3000", 200),
            (b"dynamodb", "http://localhost:3000", 200),
            (b"db:8000", "http://db:8000", 200),
            (b"localhost", "http://example.com", 403),
            (b"evil.example", "http://localhost:3000", 403),
        ):
            listed = call("ListTables", {}, f"Origin: {origin}")
            assert client.ask(listed.replace(b"Host: localhost", b"Host: " + host)).status == status


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--allow-host=http://dynamodb:8000", "is no name of a host: give it without a scheme and a port"),
        ("--cors-origin=localhost:3000", "is no origin: it is a scheme, a host and a port"),
    ],
)
def test_name_or_origin_that_is_none_is_refused(
    option: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = command(capsys)("serve", option)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
