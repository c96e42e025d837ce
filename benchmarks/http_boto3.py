"""What a boto3 client waits for an answer, against a server that answers canned bytes.

Most of the time goes by in boto3 itself. The canned answer is one of this server's own, so that boto3 has the
same headers and as many bytes to read. One client in one thread asks each server in turn.
"""

from __future__ import annotations

import json
import socket
import sys
from typing import TYPE_CHECKING, Any

from benchmarks import http_servers
from benchmarks.http_client import HOST, content_length, whole_request
from benchmarks.http_requests import (
    GET,
    PUT,
    QUERY,
    item_of,
    key_of,
    load_table,
    make_source,
)
from benchmarks.http_servers import DURABLE, IN_MEMORY, Kind
from benchmarks.measure import Contender, Plan, Result, compare, interleave
from benchmarks.payloads import TABLE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ITEMS = 2_000
PLAN = Plan(rounds=30, turns=20, calls=5)
QUICK_DIVISOR = 5
GET_RATIO_MAX = 1.15


def run(directory: Path, *, quick: bool, say: Callable[[str], None]) -> list[Result]:
    """Measure get, query and put through boto3."""
    plan = PLAN.shorter(QUICK_DIVISOR if quick else 1)
    with (
        http_servers.serving(IN_MEMORY, directory) as memory,
        http_servers.serving(DURABLE, directory) as durable,
    ):
        say(f"loading {ITEMS:,} items of 1 KB, twice")
        for server in (memory, durable):
            load_table(server.port, make_source(items=ITEMS))
        calls = Calls()
        ports = {operation: http_servers.free_port() for operation in (GET, QUERY, PUT)}
        with http_servers.serving(canned(ports, memory.port, calls), directory):
            results: list[Result] = []
            for operation, port in ports.items():
                say(f"{operation}, in turns")
                subject, on_disk, floor = (
                    calls.contender(name, operation, at)
                    for name, at in (
                        (IN_MEMORY.name, memory.port),
                        (DURABLE.name, durable.port),
                        ("canned bytes", port),
                    )
                )
                interleave((subject, on_disk, floor), plan)
                goal = GET_RATIO_MAX if operation == GET else None
                results += [
                    compare(
                        f"{operation} through boto3, in memory", subject=subject, floor=floor, ratio_max=goal
                    ),
                    compare(f"{operation} through boto3, durable", subject=on_disk, floor=floor),
                ]
            return results


class Calls:
    """Calls of each operation, with parameters as they are given to boto3."""

    def __init__(self) -> None:
        self.source = make_source(items=ITEMS)
        self.made = 0

    def parameters(self, operation: str) -> dict[str, Any]:
        number = self.source.random.randrange(ITEMS)
        if operation == GET:
            return {"TableName": TABLE, "Key": key_of(number)}
        if operation == QUERY:
            values = {":p": key_of(number)["PK"]}
            return {
                "TableName": TABLE,
                "KeyConditionExpression": "PK = :p",
                "ExpressionAttributeValues": values,
            }
        self.made += 1
        return {"TableName": TABLE, "Item": item_of(self.source, number, version=str(self.made))}

    def contender(self, name: str, operation: str, port: int) -> Contender:
        client = client_of(port)
        call = {GET: client.get_item, QUERY: client.query, PUT: client.put_item}[operation]
        return Contender(
            name=name,
            prepare=lambda: self.parameters(operation),
            run=lambda parameters: call(**parameters),
        )


def client_of(port: int) -> Any:
    import boto3
    from botocore.config import Config

    return boto3.client(
        "dynamodb",
        endpoint_url=f"http://{HOST}:{port}",
        region_name="us-east-1",
        aws_access_key_id="benchmark",
        aws_secret_access_key="benchmark",
        config=Config(retries={"total_max_attempts": 1}),
    )


def canned(ports: dict[str, int], port: int, calls: Calls) -> Kind:
    """A server that gives at each port one answer, taken from a running one."""

    def command(directory: Path, first_port: int) -> list[str]:
        arguments = [str(first_port), str(directory / PUT)]  # where it is asked whether it runs
        for operation, at in ports.items():
            body = json.dumps(calls.parameters(operation)).encode()
            (directory / operation).write_bytes(whole_answer(port, operation, body))
            arguments += [str(at), str(directory / operation)]
        return [sys.executable, "-m", "benchmarks.canned_server", *arguments]

    return Kind(engine="canned bytes", place="memory", way="", command=command, version=lambda: "")


def whole_answer(port: int, operation: str, body: bytes) -> bytes:
    """The bytes of an answer as they come from the socket, headers and all."""
    with socket.create_connection((HOST, port)) as connection:
        connection.sendall(whole_request(operation, body))
        answer = b""
        while True:
            answer += connection.recv(1 << 20)
            head, separator, rest = answer.partition(b"\r\n\r\n")
            if separator and len(rest) == content_length(head):
                return answer
