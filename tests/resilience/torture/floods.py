"""Connections that are slow, silent, many or greedy. Each flood stays until its block ends."""

from __future__ import annotations

import gzip
import socket
import struct
import time
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING

from resilience.torture.answers import Answer, judge, read_answers
from singletable.limits import REQUEST_BYTES_MAX
from support.serving import SIGNATURE, TIMEOUT_S, call, post

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from resilience.torture.target import Target

LARGE_TEXT = "x" * 390_000
AMZ = ("X-Amz-Target: DynamoDB_20120810.ListTables", "Content-Type: application/x-amz-json-1.0", *SIGNATURE)


def key(text: str, number: int = 1) -> dict[str, dict[str, str]]:
    return {"PK": {"S": text}, "SK": {"N": str(number)}}


def get(text: str, number: int = 1) -> bytes:
    return call("GetItem", {"TableName": "things", "Key": key(text, number)})


def put(text: str, number: int = 1, **more: dict[str, str]) -> bytes:
    return call("PutItem", {"TableName": "things", "Item": {**key(text, number), **more}})


def store_large(target: Target, count: int) -> None:
    """Store items of nearly the size that an item may have."""
    with target.connect() as client:
        for number in range(count):
            assert client.ask(put("large", number, v={"S": LARGE_TEXT})).status == 200


def get_all_large(count: int, *headers: str) -> bytes:
    """Ask for all of them in one answer."""
    keys = [key("large", number) for number in range(count)]
    return call("BatchGetItem", {"RequestItems": {"things": {"Keys": keys}}}, *headers)


def assert_answers_others(target: Target) -> None:
    """Assert that somebody who behaves can write, read what was written, and ask for a page."""
    with target.connect() as client:
        assert client.ask(put("other")).status == 200
        assert client.ask(get("other")).json == {"Item": key("other")}
        assert client.ask(call("Scan", {"TableName": "things", "Limit": 3})).status == 200


def until(target: Target, holds: Callable[[], bool], what: str) -> None:
    """Ask again and again; each time the server answers somebody else in between."""
    ends_s = time.monotonic() + TIMEOUT_S
    while not holds():
        assert time.monotonic() < ends_s, f"{what}: not within {TIMEOUT_S} s"
        target.ping()


def until_closed(target: Target, client: socket.socket, byte: Callable[[], bytes] = lambda: b"") -> None:
    """Wait until the server has closed the connection, sending some bytes more each time."""
    client.setblocking(False)

    def is_closed() -> bool:
        try:
            client.send(byte())
            return client.recv(1 << 16) == b""
        except BlockingIOError:
            return False
        except (ConnectionResetError, BrokenPipeError):
            return True

    until(target, is_closed, "the connection is closed")


def push(client: socket.socket, data: bytes) -> int:
    """Send until the server takes no more for a moment; return how many bytes it took."""
    client.settimeout(0.2)
    sent = 0
    try:
        while sent < len(data):
            sent += client.send(data[sent : sent + (1 << 16)])
    except TimeoutError:
        pass
    except (ConnectionResetError, BrokenPipeError):
        pass
    client.settimeout(TIMEOUT_S)
    return sent


# --- slow -----------------------------------------------------------------------------------------


@contextmanager
def slow_loris(target: Target, connections: int, bytes_of_each: int) -> Iterator[None]:
    """Send requests byte by byte, in turns, and never the last one."""
    request = put("loris", v={"S": "x" * bytes_of_each})
    with ExitStack() as open_ones:
        clients = [open_ones.enter_context(target.connect_raw()) for _ in range(connections)]
        for position in range(min(bytes_of_each, len(request) - 1)):
            for client in clients:
                with suppress(ConnectionError):  # it took too long, and its place is another's by now
                    client.send(request[position : position + 1])
            target.ping()
        yield


@contextmanager
def half_sent_bodies(target: Target, connections: int, body_bytes: int = REQUEST_BYTES_MAX) -> Iterator[None]:
    """Announce a body, send all of it but one byte, and wait."""
    head = post(b"", *AMZ).replace(b"Length: 0", b"Length: %d" % body_bytes)
    with ExitStack() as open_ones:
        for _ in range(connections):
            client = open_ones.enter_context(target.connect_raw())
            push(client, head + b" " * (body_bytes - 1))
            target.ping()
        yield


def send_packed(target: Target, connections: int) -> Iterator[Answer]:
    """Send bodies of some kilobytes that unpack to as much as a body may hold, all at once; yield the answers."""
    packed = gzip.compress(b"{" + b" " * (REQUEST_BYTES_MAX - 2) + b"}")
    with crowd(target, connections) as clients:
        for client in clients:
            client.sendall(call("ListTables", packed, "Content-Encoding: gzip", "Connection: close"))
        for client in clients:
            (answer,) = read_answers(read_all(client))
            judge(answer)
            yield answer


# --- deaf -----------------------------------------------------------------------------------------


@contextmanager
def deaf(target: Target, connections: int, request: bytes, count: int) -> Iterator[list[socket.socket]]:
    """Ask for much, many times over, and never read an answer."""
    with ExitStack() as open_ones:
        clients = []
        for _ in range(connections):
            client = open_ones.enter_context(target.connect_raw())
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.settimeout(0.05)
            try:
                client.sendall(request * count)
            except TimeoutError:
                pass  # the server takes no more, as it should
            except (ConnectionResetError, BrokenPipeError):
                pass
            clients.append(client)
        target.ping()
        yield clients


# --- many -----------------------------------------------------------------------------------------


def come_and_go(target: Target, connections: int) -> None:
    """Connect and leave, in every way there is: at once, with a reset, in the middle, before the answer."""
    ways = (b"", b"POST / HT", put("gone")[:-1], put("gone"), get("gone") * 20, b"\x16\x03\x01")
    reset = struct.pack("ii", 1, 0)
    for number in range(connections):
        with target.connect_raw() as client:
            client.sendall(ways[number % len(ways)])
            if number % 2:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
        if number % 50 == 0:
            target.ping()


@contextmanager
def crowd(target: Target, connections: int) -> Iterator[list[socket.socket]]:
    """Open connections and hold them."""
    with ExitStack() as open_ones:
        yield [open_ones.enter_context(target.connect_raw()) for _ in range(connections)]


# --- far ahead ------------------------------------------------------------------------------------


def pipeline(target: Target, requests: list[bytes]) -> list[Answer]:
    """Send all requests before an answer is read, as far as the server lets us; return the answers."""
    data = b"".join(requests)
    received = bytearray()
    with target.connect_raw() as client:
        position = push(client, data)
        client.settimeout(TIMEOUT_S)
        while position < len(data):
            # Only now, when nothing moves any more, some answers are read, and as much is sent as then fits.
            received += client.recv(1 << 16)
            client.setblocking(False)
            with suppress(BlockingIOError):
                position += client.send(data[position : position + (1 << 16)])
            client.settimeout(TIMEOUT_S)
        client.shutdown(socket.SHUT_WR)
        while more := client.recv(1 << 18):
            received += more
    answers = read_answers(bytes(received))
    for answer in answers:
        judge(answer)
    return answers


# --- all of it ------------------------------------------------------------------------------------


def every_kind(target: Target) -> None:
    """Flood a server in every way, the table of `store_large` being there. Others are answered meanwhile."""
    with slow_loris(target, 100, 60), deaf(target, 20, get("large", 0), 50), half_sent_bodies(target, 4):
        assert_answers_others(target)
    come_and_go(target, 500)
    assert len(pipeline(target, [get("large", 99)] * 1000)) == 1000
    assert_answers_others(target)


def read_all(client: socket.socket) -> bytes:
    """Read to the end, whichever way that comes."""
    received = bytearray()
    try:
        while more := client.recv(1 << 16):
            received += more
    except ConnectionResetError:
        pass
    return bytes(received)


def has_room(target: Target) -> bool:
    """Whether a new client is answered."""
    with target.connect() as client:
        try:
            return client.ask(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").status == 200
        except (ConnectionError, TimeoutError):
            return False
