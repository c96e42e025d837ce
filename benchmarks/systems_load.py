"""The load that Lunch Cache's design asks to be tested with: 1,000 readers at once, batch writes, index queries.

All servers have the same made-up menus in the table of the design, and get each load in turn, round by round. No
request may fail: one answer that is not a 200 ends the run.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import islice
from pathlib import Path
from typing import Any, Final

from benchmarks import http_servers
from benchmarks.http_client import Client
from benchmarks.http_load import Burst, burst, require_wrk
from benchmarks.http_requests import BATCH_ITEMS, UNIQUE, Bodies, put_all
from benchmarks.http_results import LeftOut, Rate
from benchmarks.http_servers import DURABLE, IN_MEMORY, PEERS, Server
from singletable_systems.lunch_cache import LunchCache
from singletable_systems.lunch_cache.operating.system import SYSTEM

DAY: Final = date(2026, 11, 16)
MENUS: Final = 2_000
BURST_S: Final = 5
QUICK_BURST_S: Final = 2
ROUNDS: Final = 5
QUICK_ROUNDS: Final = 1
BESIDE: Final = ("dynalite, in memory", "ministack, in memory")

Item = dict[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Work:
    """One of the loads: what is asked for, and by how many at once."""

    name: str
    bodies: Bodies
    clients: int


def run(directory: Path, *, quick: bool, say: Callable[[str], None]) -> list[Rate | LeftOut]:
    """Measure all servers under all loads."""
    http_servers.require_linux()
    require_wrk()
    table, items = seeded_menus()
    works = write_works(directory, table["TableName"], items)
    kinds = (IN_MEMORY, DURABLE, *(kind for kind in PEERS if kind.name in BESIDE))
    measured: dict[tuple[str, str], list[Burst]] = {}
    with http_servers.all_serving(kinds, directory, say) as (servers, left_out):
        for server in servers:
            say(f"{server.name}: {len(items):,} menus")
            fill(server, table, items)
        for number in range(1 + (QUICK_ROUNDS if quick else ROUNDS)):
            say(f"round {number}" if number else "warm-up")
            for work in works:
                for server in servers:
                    each = load(server, work, servers, quick=quick)
                    if number:
                        measured.setdefault((work.name, server.name), []).append(each)
        versions = {server.name: server.kind.version() for server in servers}
    return [
        *(rate_of(work, server, bursts, versions[server]) for (work, server), bursts in measured.items()),
        *left_out,
    ]


def load(server: Server, work: Work, servers: Sequence[Server], *, quick: bool) -> Burst:
    """Load one server while the others are idle."""
    http_servers.settle(servers)
    seconds = QUICK_BURST_S if quick else BURST_S
    return burst(server.name, server.port, work.bodies, connections=work.clients, seconds=seconds)


def rate_of(work: str, server: str, bursts: Sequence[Burst], version: str) -> Rate:
    rates = [each.rate for each in bursts]
    return Rate(
        operation=work,
        server=server,
        rate=round(statistics.median(rates), 1),
        rate_low=round(min(rates), 1),
        rate_high=round(max(rates), 1),
        p50_ms=round(statistics.median(each.p50_ms for each in bursts), 2),
        p99_ms=round(statistics.median(each.p99_ms for each in bursts), 2),
        requests=sum(each.requests for each in bursts),
        version=version,
    )


# --- the table, its menus, and what is asked of it ------------------------------------------------------------


def seeded_menus() -> tuple[dict[str, Any], list[Item]]:
    """Return the request that makes the table, and the items that the system's seed makes."""
    with LunchCache.open(":memory:", environment="dev") as db:
        db.load(islice(SYSTEM.seed("large", DAY).entities, MENUS))
        call = db.session.client.call
        described = call("DescribeTable", {"TableName": db.session.table})["Table"]
        items: list[Item] = []
        start: dict[str, Any] = {}
        while True:
            answer = call("Scan", {"TableName": db.session.table, **start})
            items += answer["Items"]
            if "LastEvaluatedKey" not in answer:
                break
            start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}
    indexes = [
        {name: index[name] for name in ("IndexName", "KeySchema", "Projection")}
        for index in described["GlobalSecondaryIndexes"]
    ]
    kept = {name: described[name] for name in ("TableName", "AttributeDefinitions", "KeySchema")}
    return {**kept, "GlobalSecondaryIndexes": indexes, "BillingMode": "PAY_PER_REQUEST"}, items


def fill(server: Server, table: dict[str, Any], items: Sequence[Item]) -> None:
    client = Client(server.port)
    client.call("CreateTable", **table)
    put_all(client, table["TableName"], items)
    client.close()


def write_works(directory: Path, table: str, items: Sequence[Item]) -> list[Work]:
    """Write what is asked for: every menu, the history of every restaurant, and menus in batches."""
    restaurants = sorted({item["restaurant"]["S"] for item in items})
    size = min(len(json.dumps(item)) for item in items)
    gets = ({"TableName": table, "Key": {"pk": item["pk"]}} for item in items)
    queries = ({"TableName": table, **history_of(restaurant)} for restaurant in restaurants)
    return [
        Work("GetItem of 1,000 at once", _bodies(directory, "GetItem", gets, size // 2), 1_000),
        Work(
            "Query of RestaurantIndex of 1,000 at once",
            _bodies(directory, "Query", queries, size // 2),
            1_000,
        ),
        Work(
            f"BatchWriteItem of {BATCH_ITEMS} menus of 100 at once",
            _bodies(directory, "BatchWriteItem", batches_of(table, items), 2),
            100,
        ),
    ]


def history_of(restaurant: str) -> dict[str, Any]:
    return {
        "IndexName": "RestaurantIndex",
        "KeyConditionExpression": "restaurant = :restaurant",
        "ExpressionAttributeValues": {":restaurant": {"S": restaurant}},
        "ScanIndexForward": False,
        "Limit": 10,
    }


def batches_of(table: str, items: Sequence[Item]) -> Iterator[dict[str, Any]]:
    """Write menus again, each with a source that nobody has written before."""
    for start in range(0, len(items) - BATCH_ITEMS + 1, BATCH_ITEMS):
        puts = [
            {"PutRequest": {"Item": {**item, "metadata": {"M": {"source": {"S": UNIQUE}}}}}}
            for item in items[start : start + BATCH_ITEMS]
        ]
        yield {"RequestItems": {table: puts}}


def _bodies(
    directory: Path, operation: str, requests: Iterable[dict[str, Any]], answer_bytes_min: int
) -> Bodies:
    path = directory / f"{operation}.jsonl"
    with path.open("w", encoding="ascii") as file:
        file.writelines(json.dumps(request) + "\n" for request in requests)
    return Bodies(operation=operation, path=path, answer_bytes_min=answer_bytes_min)
