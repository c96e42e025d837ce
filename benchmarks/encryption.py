"""What encryption costs: a plain and an encrypted file, the same requests in turns.

usage: python -m benchmarks.encryption [--quick]

Figures are CPU time of one request, the least of several rounds: other programs on the machine add to it. The
cipher chooses by the processor whether it uses AES instructions; SQLite3 Multiple Ciphers has no switch for that.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from singletable import Database

TABLE: Final = "orders"
_ITEMS_A_USER: Final = 25

Request = Callable[[Database, int], object]


def item(number: int) -> dict[str, Any]:
    user, order = divmod(number, _ITEMS_A_USER)
    return {
        "pk": {"S": f"USER#{user}"},
        "sk": {"S": f"ORDER#{order:04}"},
        "note": {"S": "x" * 300},
        "total": {"N": str(number)},
        "address": {"M": {"street": {"S": "v" * 50}}},
    }


def filled(path: Path, key: bytes | None, items: int) -> Database:
    """Open a new file with so many items."""
    db = Database.open(path, durability="relaxed", key=key)
    db.create_table(
        TableName=TABLE,
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
        AttributeDefinitions=[
            {"AttributeName": "pk", "AttributeType": "S"},
            {"AttributeName": "sk", "AttributeType": "S"},
        ],
        BillingMode="PAY_PER_REQUEST",
    )
    for first in range(0, items, 25):
        puts: Any = [{"PutRequest": {"Item": item(number)}} for number in range(first, first + 25)]
        db.batch_write_item(RequestItems={TABLE: puts})
    return db


def get(db: Database, number: int) -> object:
    wanted = item(number)
    return db.get_item(TableName=TABLE, Key={"pk": wanted["pk"], "sk": wanted["sk"]})


def query(db: Database, number: int) -> object:
    values: Any = {":pk": item(number)["pk"]}
    return db.query(TableName=TABLE, KeyConditionExpression="pk = :pk", ExpressionAttributeValues=values)


def put(db: Database, number: int) -> object:
    return db.put_item(TableName=TABLE, Item=item(number))


def put_and_get(db: Database, number: int) -> object:
    """Read behind each write: what the reader had in memory is void."""
    put(db, number)
    return get(db, number)


REQUESTS: Final[dict[str, tuple[Request, int]]] = {
    "get": (get, 2000),
    "query of 25": (query, 300),
    "put": (put, 1000),
    "put, then get": (put_and_get, 500),
}


def cpu_us(request: Request, db: Database, numbers: list[int]) -> float:
    began_s = time.process_time()
    for number in numbers:
        request(db, number)
    return (time.process_time() - began_s) / len(numbers) * 1e6


def measure(items: int, rounds: int) -> dict[str, tuple[float, float]]:
    """Return the microseconds of each request, plain and encrypted."""
    chosen = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        plain = filled(Path(folder) / "plain.db", None, items)
        encrypted = filled(Path(folder) / "encrypted.db", bytes(range(32)), items)
        best = {name: (float("inf"), float("inf")) for name in REQUESTS}
        for _ in range(rounds):
            for name, (request, count) in REQUESTS.items():
                numbers = [chosen.randrange(items) for _ in range(count)]
                best[name] = (
                    min(best[name][0], cpu_us(request, plain, numbers)),
                    min(best[name][1], cpu_us(request, encrypted, numbers)),
                )
        plain.close()
        encrypted.close()
    return best


def main() -> None:
    """Print a table of the figures."""
    parser = argparse.ArgumentParser(description="Measure what encryption costs.")
    parser.add_argument("--quick", action="store_true", help="fewer items and rounds")
    arguments = parser.parse_args()
    items, rounds = (10_000, 3) if arguments.quick else (100_000, 10)
    print(f"{items} items; microseconds of CPU for each request\n")
    print("| | plain | encrypted | |\n|---|--:|--:|--:|")
    for name, (plain, encrypted) in measure(items, rounds).items():
        print(f"| {name} | {plain:.1f} | {encrypted:.1f} | {encrypted / plain:.2f}x |")


if __name__ == "__main__":
    main()
