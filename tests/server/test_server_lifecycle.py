"""A server beside slow disks, impatient clients and its own end."""

from __future__ import annotations

import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

import singletable
from singletable.server import Address, BackgroundServer, ListenError, ServerSettings
from singletable.server.dispatch import SHORT_BODY_BYTES_MAX
from support.serving import TIMEOUT_S, HttpSocket, call

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from singletable.storage.write_groups import OpenGroup
    from singletable.wire.answers import WireAnswer
    from singletable.wire.execution import Execution

TABLE: Any = {
    "TableName": "things",
    "AttributeDefinitions": [{"AttributeName": "PK", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}],
    "BillingMode": "PAY_PER_REQUEST",
}
PUT = call("PutItem", {"TableName": "things", "Item": {"PK": {"S": "a"}, "v": {"S": "1"}}})
GET = call("GetItem", {"TableName": "things", "Key": {"PK": {"S": "a"}}})
STORED = {"Item": {"PK": {"S": "a"}, "v": {"S": "1"}}}


class SlowDisk:
    """A real database whose writes wait, as if for a disk, until they are let go."""

    is_in_memory = False

    def __init__(self, database: singletable.Database) -> None:
        self._database = database
        self.answer = database.answer
        self.metrics = database.metrics
        self.trouble = database.trouble
        self.refused = database.refused
        self.arrived = threading.Semaphore(0)
        self.put_began = threading.Semaphore(0)
        self.let_go = threading.Event()
        self.groups: list[int] = []

    def begin(self, operation: str, body: bytes) -> WireAnswer | Execution | None:
        self.arrived.release()
        return self._database.begin(operation, body)

    def apply_writes(self, waiting: Sequence[Execution]) -> OpenGroup[Any] | None:
        return None

    def commit_writes(self, waiting: Sequence[Execution], group: OpenGroup[Any]) -> list[WireAnswer]:
        raise AssertionError("nothing was applied")

    def answer_writes(self, waiting: Sequence[Execution]) -> list[WireAnswer]:
        self.groups.append(len(waiting))
        self.put_began.release()
        assert self.let_go.wait(TIMEOUT_S)
        return self._database.answer_writes(waiting)


@pytest.fixture
def database() -> Iterator[singletable.Database]:
    with singletable.Database.open(":memory:") as opened:
        opened.create_table(**TABLE)
        yield opened


@pytest.fixture
def slow(database: singletable.Database) -> SlowDisk:
    return SlowDisk(database)


class Recording:
    """A real database that tells in which threads it was asked, and for what."""

    def __init__(self, database: singletable.Database) -> None:
        self._database = database
        self.is_in_memory = database.is_in_memory
        self.answer_writes = database.answer_writes
        self.apply_writes = database.apply_writes
        self.commit_writes = database.commit_writes
        self.metrics = database.metrics
        self.trouble = database.trouble
        self.refused = database.refused
        self.asked: list[tuple[str, bool]] = []

    def answer(self, operation: str, body: bytes) -> WireAnswer:
        self._record(operation)
        return self._database.answer(operation, body)

    def begin(self, operation: str, body: bytes) -> WireAnswer | Execution | None:
        self._record(operation)
        return self._database.begin(operation, body)

    def _record(self, operation: str) -> None:
        is_on_loop = threading.current_thread().name == "singletable-server"
        self.asked.append((operation, is_on_loop))


def test_what_is_long_is_not_answered_on_the_event_loop(database: singletable.Database) -> None:
    recording = Recording(database)
    long_get = call("GetItem", {"TableName": "things", "Key": {"PK": {"S": "a" * SHORT_BODY_BYTES_MAX}}})
    with BackgroundServer(recording) as address, HttpSocket(address) as client:
        assert client.ask(GET).status == 200
        assert client.ask(PUT).status == 200
        assert client.ask(long_get).status == 400
        assert client.ask(call("DeleteTable", {"TableName": "things"})).status == 200
    assert recording.asked == [
        ("GetItem", True),
        ("PutItem", True),
        ("GetItem", False),
        ("DeleteTable", False),
    ]


def test_page_that_turns_out_to_be_long_is_read_again_in_a_thread(database: singletable.Database) -> None:
    recording = Recording(database)
    items: Any = [{"PutRequest": {"Item": {"PK": {"S": f"{n}"}, "v": {"N": f"{n}"}}}} for n in range(200)]
    for first in range(0, len(items), 25):
        database.batch_write_item(RequestItems={"things": items[first : first + 25]})
    short = {"TableName": "things"}
    long: Any = {
        **short,
        "FilterExpression": "v >= :low",
        "ExpressionAttributeValues": {":low": {"N": "150"}},
        "ReturnConsumedCapacity": "TOTAL",
    }
    with BackgroundServer(recording) as address, HttpSocket(address) as client:
        assert client.ask(call("Scan", short)).json["Count"] == 200
        answer = client.ask(call("Scan", long)).json
    assert (answer["Count"], answer["ScannedCount"]) == (50, 200)
    assert recording.asked == [("Scan", True), ("Scan", True), ("Scan", False)]
    assert answer["ConsumedCapacity"] == database.scan(**long)["ConsumedCapacity"]


def test_write_that_waits_for_the_disk_holds_up_no_other_client(slow: SlowDisk) -> None:
    with BackgroundServer(slow) as address, HttpSocket(address) as writer, HttpSocket(address) as reader:
        writer.send(PUT)
        assert slow.put_began.acquire(timeout=TIMEOUT_S)
        assert reader.ask(GET).json == {}
        slow.let_go.set()
        assert writer.receive().status == 200
        assert reader.ask(GET).json == STORED


def test_writes_that_arrive_during_a_commit_share_the_next_one(slow: SlowDisk) -> None:
    with BackgroundServer(slow) as address, HttpSocket(address) as reader:
        clients = [HttpSocket(address) for _ in range(8)]
        clients[0].send(PUT)
        assert slow.put_began.acquire(timeout=TIMEOUT_S)
        for client in clients[1:]:
            client.send(PUT)
        for _ in clients:
            assert slow.arrived.acquire(timeout=TIMEOUT_S)
        assert reader.ask(GET).status == 200  # so the loop has done what it had begun
        slow.let_go.set()
        for client in clients:
            with client:
                assert client.receive().status == 200
    assert slow.groups == [1, 7]


def test_request_that_is_one_too_many_is_throttled(slow: SlowDisk) -> None:
    settings = ServerSettings(port=0, requests_max=1)
    with BackgroundServer(slow, settings) as address, HttpSocket(address) as writer:
        writer.send(PUT)
        assert slow.put_began.acquire(timeout=TIMEOUT_S)
        with HttpSocket(address) as other:
            refusal = other.ask(PUT)
            assert refusal.status == 400
            assert refusal.json["__type"].endswith("#ThrottlingException")
            slow.let_go.set()
            assert writer.receive().status == 200
            assert other.ask(PUT).status == 200


def test_writes_of_one_turn_in_memory_share_a_transaction(database: singletable.Database) -> None:
    class Counting(Recording):
        """Holds the loop at the first write, so that all others are there when its next turn begins."""

        def __init__(self, database: singletable.Database) -> None:
            super().__init__(database)
            self.groups: list[int] = []
            self.answer_writes = self._counted
            self.is_held = threading.Event()
            self.let_go = threading.Event()

        def begin(self, operation: str, body: bytes) -> WireAnswer | Execution | None:
            if operation == "PutItem" and not self.is_held.is_set():
                self.is_held.set()
                assert self.let_go.wait(TIMEOUT_S)
            return super().begin(operation, body)

        def _counted(self, waiting: Sequence[Execution]) -> list[WireAnswer]:
            self.groups.append(len(waiting))
            return database.answer_writes(waiting)

    counting = Counting(database)
    with BackgroundServer(counting) as address:
        clients = [HttpSocket(address) for _ in range(16)]
        for client in clients:
            assert client.ask(GET).status == 200
        clients[0].send(PUT)
        assert counting.is_held.wait(TIMEOUT_S)
        for client in clients[1:]:
            client.send(PUT)
        counting.let_go.set()
        for client in clients:
            with client:
                assert client.receive().status == 200
    assert counting.groups == [1, 15]


def test_read_sent_behind_a_write_on_one_connection_sees_it(slow: SlowDisk) -> None:
    with BackgroundServer(slow) as address, HttpSocket(address) as client:
        client.send(PUT + GET)
        assert slow.put_began.acquire(timeout=TIMEOUT_S)
        slow.let_go.set()
        assert client.receive().json == {}
        assert client.receive().json == STORED


def test_client_that_leaves_during_its_write_disturbs_nobody(slow: SlowDisk) -> None:
    with BackgroundServer(slow) as address, HttpSocket(address) as other:
        with HttpSocket(address) as leaving:
            leaving.send(PUT + GET)
            assert slow.put_began.acquire(timeout=TIMEOUT_S)
        slow.let_go.set()
        assert other.ask(PUT).status == 200
        assert other.ask(GET).json == STORED


def test_stop_answers_the_write_under_way_and_what_was_sent_behind_it(slow: SlowDisk) -> None:
    server = BackgroundServer(slow)
    with server as address, ThreadPoolExecutor(1) as beside:
        client = HttpSocket(address)
        client.send(PUT + GET)
        assert slow.put_began.acquire(timeout=TIMEOUT_S)
        stopping = beside.submit(server.stop)
        assert refuses_connections(address)
        slow.let_go.set()
        stopping.result(TIMEOUT_S)
        with client:
            first, second = client.receive(), client.receive()
            assert (first.json, second.json) == ({}, STORED)
            assert (first.headers["Connection"], second.headers["Connection"]) == ("keep-alive", "close")
            assert client.is_closed_by_server()


def refuses_connections(address: Address) -> bool:
    """Wait until nobody listens any more."""
    while True:
        try:
            socket.create_connection((address.host, address.port), timeout=TIMEOUT_S).close()
        except ConnectionRefusedError:
            return True
        except ConnectionResetError:
            continue  # it was in the queue of the listener when that closed


def test_stop_closes_idle_connections(database: singletable.Database) -> None:
    with BackgroundServer(database) as address:
        client = HttpSocket(address)
        assert client.ask(GET).status == 200
    with client:
        assert client.is_closed_by_server()


def test_stop_does_not_wait_for_a_client_that_takes_no_answers(database: singletable.Database) -> None:
    large = call("PutItem", {"TableName": "things", "Item": {"PK": {"S": "a"}, "v": {"S": "x" * 390_000}}})
    with BackgroundServer(database, ServerSettings(port=0, stop_s_max=0.05)) as address:
        client = HttpSocket(address)
        assert client.ask(large).status == 200
        client.send(GET * 200)
        with HttpSocket(address) as other:
            assert other.ask(GET).status == 200
    client.__exit__(None, None, None)


def test_silent_connection_is_closed(database: singletable.Database) -> None:
    with (
        BackgroundServer(database, ServerSettings(port=0, idle_s_max=0.05)) as address,
        HttpSocket(address) as silent,
        HttpSocket(address) as half_sent,
    ):
        half_sent.send(GET[:-1])
        assert silent.is_closed_by_server()
        assert half_sent.is_closed_by_server()


def test_write_under_way_is_not_silence(slow: SlowDisk) -> None:
    settings = ServerSettings(port=0, idle_s_max=0.05)
    with BackgroundServer(slow, settings) as address, HttpSocket(address) as writer:
        writer.send(PUT)
        assert slow.put_began.acquire(timeout=TIMEOUT_S)
        with HttpSocket(address) as silent:
            assert silent.is_closed_by_server()
        slow.let_go.set()
        assert writer.receive().status == 200


def test_connection_above_the_bound_is_told_so(slow: SlowDisk) -> None:
    settings = ServerSettings(port=0, connections_max=1)
    with BackgroundServer(slow, settings) as address:
        with HttpSocket(address) as writer:
            writer.send(PUT)
            assert slow.put_began.acquire(timeout=TIMEOUT_S)
            with HttpSocket(address) as other:
                refusal = other.receive()
                assert refusal.status == 503
                assert refusal.json["__type"] == "com.amazon.coral.service#ServiceUnavailable"
                assert other.is_closed_by_server()
            slow.let_go.set()
            assert writer.receive().status == 200
        assert has_room(address)


def has_room(address: Address) -> bool:
    """Try until the server has noticed that a client left."""
    while True:
        with HttpSocket(address) as client:
            try:
                if client.ask(GET).status == 200:
                    return True
            except ConnectionError:
                continue


class Broken:
    """A database that fails in ways nobody thought of: at once, in a thread, and in the middle of a group."""

    is_in_memory = False

    def __init__(self, database: singletable.Database) -> None:
        self._database = database
        self.metrics = database.metrics
        self.trouble = database.trouble
        self.refused = database.refused

    def answer(self, operation: str, body: bytes) -> WireAnswer:
        raise RuntimeError("the floor is missing")

    def begin(self, operation: str, body: bytes) -> WireAnswer | Execution | None:
        if operation == "GetItem":
            raise RuntimeError("the floor is missing")
        return self._database.begin(operation, body)

    def apply_writes(self, waiting: Sequence[Execution]) -> OpenGroup[Any] | None:
        raise RuntimeError("the floor is missing")

    def commit_writes(self, waiting: Sequence[Execution], group: OpenGroup[Any]) -> list[WireAnswer]:
        raise RuntimeError("the floor is missing")

    def answer_writes(self, waiting: Sequence[Execution]) -> list[WireAnswer]:
        raise RuntimeError("the floor is missing")


@pytest.mark.parametrize(
    "request_bytes",
    [PUT, GET, call("DeleteTable", {"TableName": "things"})],
    ids=["write", "read", "in a thread"],
)
def test_failure_of_the_database_is_an_internal_server_error(
    database: singletable.Database, request_bytes: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    with BackgroundServer(Broken(database)) as address, HttpSocket(address) as client:
        for _ in range(2):
            answer = client.ask(request_bytes)
            assert answer.status == 500
            assert answer.json["__type"] == "com.amazonaws.dynamodb.v20120810#InternalServerError"
            assert "floor" not in answer.json["message"]
    assert "the floor is missing" in caplog.text


# --- addresses ---------------------------------------------------------------------------------------


def test_port_in_use_is_explained(database: singletable.Database) -> None:
    with (
        BackgroundServer(database) as address,
        pytest.raises(ListenError, match=f"port {address.port} on 127.0.0.1 is in use") as raised,
        BackgroundServer(database, ServerSettings(port=address.port)),
    ):
        pass
    assert raised.value.hint is not None
    assert "--port" in raised.value.hint


@pytest.mark.parametrize(
    ("host", "message"),
    [
        ("no-such-host.invalid", "the host 'no-such-host.invalid' is not known here"),
        ("a" * 300, "is not known here"),
        ("192.0.2.1", "192.0.2.1 is not an address of this machine"),
    ],
)
def test_host_that_cannot_be_listened_on_is_explained(
    database: singletable.Database, host: str, message: str
) -> None:
    with pytest.raises(ListenError, match=message), BackgroundServer(database, ServerSettings(host=host)):
        pass


def test_every_address_of_a_host_gets_the_same_free_port(database: singletable.Database) -> None:
    with BackgroundServer(database, ServerSettings(host="localhost", port=0)) as address:
        for family, _, _, _, resolved in socket.getaddrinfo(
            "localhost", address.port, type=socket.SOCK_STREAM
        ):
            if family == socket.AF_INET6 and not socket.has_dualstack_ipv6():
                continue
            with HttpSocket(Address(str(resolved[0]), address.port)) as client:
                assert client.ask(GET).status == 200


@pytest.mark.parametrize(
    ("host", "url", "is_loopback"),
    [
        ("127.0.0.1", "http://127.0.0.1:8000", True),
        ("localhost", "http://localhost:8000", True),
        ("::1", "http://[::1]:8000", True),
        ("0.0.0.0", "http://127.0.0.1:8000", False),
        ("::", "http://[::1]:8000", False),
        ("192.0.2.1", "http://192.0.2.1:8000", False),
    ],
)
def test_address_is_given_as_a_local_client_writes_it(host: str, url: str, is_loopback: bool) -> None:
    address = Address(host, 8000)
    assert (address.url, address.is_loopback) == (url, is_loopback)
