"""This tree beside another commit: `python -m benchmarks.beside REV [--rounds N] [--only TEXT] [--json]`.

Both trees do the same work, in processes that alternate, so that a slow minute of the machine falls on both.
CPU time is measured, since other programs disturb it less. A ratio above 1 says that this tree is slower.
The work uses only names that both trees have: `Database`, and what `singletable` exports of designs.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Annotated, Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
REPEATS: Final = 5
SECONDS: Final = 0.12  # of CPU for one repeat of one work
RECORDS: Final = 200
WORKER: Final = "--worker"

Work = Callable[[int], object]  # is called with a number that no other call has


# --- the work, in a process whose PYTHONPATH names one of the trees -----------------------------------------


def engine_work(stack: ExitStack) -> Iterator[tuple[str, Work]]:
    """Yield requests as they come over HTTP: JSON in, JSON out."""
    from singletable import Database

    folder = stack.enter_context(tempfile.TemporaryDirectory())
    for place in (":memory:", os.path.join(folder, "items.db")):
        where = "memory" if place == ":memory:" else "a file"
        database = stack.enter_context(Database.open(place))
        database.create_table(**TABLE)
        for number in range(1_000):
            database.call("PutItem", {"TableName": "items", "Item": item(number)})
        for name, request in REQUESTS.items():
            operation = name.split()[0]
            yield f"{name}, {where}", answering(database, operation, request)


def answering(database: Any, operation: str, request: Callable[[int], dict[str, Any]]) -> Work:
    def work(number: int) -> object:
        body = json.dumps({"TableName": "items", **request(number)}).encode()
        return database.answer(operation, body)

    if operation in ("TransactWriteItems", "BatchWriteItem"):
        return lambda number: database.answer(operation, json.dumps(request(number)).encode())
    return work


TABLE: Final[dict[str, Any]] = {
    "TableName": "items",
    "KeySchema": [
        {"AttributeName": "PK", "KeyType": "HASH"},
        {"AttributeName": "SK", "KeyType": "RANGE"},
    ],
    "AttributeDefinitions": [
        {"AttributeName": name, "AttributeType": "S"} for name in ("PK", "SK", "GSI1PK", "GSI1SK")
    ],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "GSI1",
            "KeySchema": [
                {"AttributeName": "GSI1PK", "KeyType": "HASH"},
                {"AttributeName": "GSI1SK", "KeyType": "RANGE"},
            ],
            "Projection": {"ProjectionType": "ALL"},
        }
    ],
    "BillingMode": "PAY_PER_REQUEST",
}


def item(number: int) -> dict[str, Any]:
    texts = {f"field{each}": {"S": f"{number}-{each}-" + "x" * 40} for each in range(12)}
    return {
        **key(number),
        "GSI1PK": {"S": f"GROUP#{number % 10}"},
        "GSI1SK": {"S": f"{number:09}"},
        "amount": {"N": str(number)},
        **texts,
    }


def key(number: int) -> dict[str, Any]:
    return {"PK": {"S": f"OWNER#{number // 100}"}, "SK": {"S": f"ITEM#{number % 100:04}"}}


REQUESTS: Final[dict[str, Callable[[int], dict[str, Any]]]] = {
    "GetItem": lambda number: {"Key": key(number % 1_000)},
    "PutItem with a condition": lambda number: {
        "Item": item(number % 1_000) | {"once": {"S": f"{number}"}},
        "ConditionExpression": "attribute_exists(PK) AND amount >= :least",
        "ExpressionAttributeValues": {":least": {"N": "0"}},
    },
    "UpdateItem": lambda number: {
        "Key": key(number % 1_000),
        "UpdateExpression": "SET #c = :c ADD amount :one",
        "ExpressionAttributeNames": {"#c": "changed"},
        "ExpressionAttributeValues": {":c": {"S": f"{number}"}, ":one": {"N": "1"}},
    },
    "Query of 25": lambda number: {
        "KeyConditionExpression": "PK = :pk",
        "ExpressionAttributeValues": {":pk": {"S": f"OWNER#{number % 10}"}},
        "Limit": 25,
    },
    "Query by an index with a filter": lambda number: {
        "IndexName": "GSI1",
        "KeyConditionExpression": "GSI1PK = :pk",
        "FilterExpression": "amount > :n",
        "ExpressionAttributeValues": {":pk": {"S": f"GROUP#{number % 10}"}, ":n": {"N": "50"}},
        "Limit": 25,
    },
    "Scan of 100": lambda number: {"Limit": 100},
    "TransactWriteItems of 3": lambda number: {
        "TransactItems": [
            {"Put": {"TableName": "items", "Item": item((number * 3 + each) % 1_000)}} for each in range(3)
        ]
    },
    "BatchWriteItem of 10": lambda number: {
        "RequestItems": {
            "items": [{"PutRequest": {"Item": item((number * 10 + each) % 1_000)}} for each in range(10)]
        }
    },
}


def design_work(stack: ExitStack) -> Iterator[tuple[str, Work]]:
    """Yield calls of a design in memory."""
    from singletable import (
        Add,
        Change,
        CountOf,
        Design,
        Entity,
        Gt,
        Index,
        Key,
        Keys,
        Query,
        SortKey,
        Table,
        Unique,
        Update,
        on,
        pattern,
    )

    class ShopTable(Table):
        name = "shops"
        pitr_days = None
        by_title = Index("ByTitle", pk="GSI1PK", sk="GSI1SK")

    class ShopPK(Key, template="SHOP#{shop_id}"):
        shop_id: str

    class ShopSK(SortKey, template="SHOP"):
        pass

    class ProductSK(SortKey, template="PRODUCT#{product_id}"):
        product_id: str

    class NoteSK(SortKey, template="NOTE#{note_id}"):
        note_id: str

    class TitlePK(Key, template="TITLE#{title}"):
        title: str

    class CodePK(Key, template="CODE#{code}"):
        code: str

    class Shop(Entity):
        key = Keys(ShopPK, ShopSK)
        shop_id: str
        products: Annotated[int, CountOf("Product")] = 0

    class Product(Entity):
        key = Keys(ShopPK, ProductSK)
        by_title = ShopTable.by_title.keys(TitlePK, ProductSK)
        unique_code = Unique(CodePK)
        shop_id: str
        product_id: str
        title: str
        code: str
        amount: int = 0

    class Note(Entity):
        key = Keys(ShopPK, NoteSK)
        shop_id: str
        note_id: str
        text: str = ""
        seen: int = 0

    class Shops(Design):
        table = ShopTable
        entities = (Shop, Product, Note)

        @pattern("1 Notes of a shop")
        def notes(self, shop_id: str) -> Query[Note]:
            return Note.key.query(ShopPK(shop_id=shop_id))

        @pattern("2 Products by title")
        def titled(self, title: str) -> Query[Product]:
            return Product.by_title.query(TitlePK(title=title)).where(Gt("amount", 0))

        @on(Note)
        def see(self, change: Change[Note]) -> None:
            assert change.new is None or change.new.note_id

    db = stack.enter_context(Shops.open(":memory:"))
    db.create(Shop(shop_id="s"))
    notes = [
        db.create(Note(shop_id="s", note_id=f"n{each:03}", text="x" * 200)).entity for each in range(100)
    ]
    for each in range(100):
        db.create(Product(shop_id="s", product_id=f"p{each}", title="cup", code=f"c{each}", amount=1))

    yield (
        "db.create with a unique value, a counter and an index",
        lambda number: db.create(
            Product(shop_id="s", product_id=f"q{number}", title="mug", code=f"d{number}", amount=1)
        ),
    )
    yield "db.create", lambda number: db.create(Note(shop_id="x", note_id=f"{number}", text="x" * 200))
    yield "db.put", lambda number: db.put(Note(shop_id="s", note_id="put", text=f"{number}"))
    yield "db.get", lambda number: db.plan(Note.key.get(ShopPK(shop_id="s"), NoteSK(note_id="n001"))).one()
    yield "a page of 50 entities", lambda number: db.notes("s").page(50)
    yield "a page of 20 by an index with a filter", lambda number: db.titled("cup").page(20)
    yield "db.update", lambda number: db.update(notes[number % 100], text=f"{number}")
    yield (
        "a transaction of two updates",
        lambda number: db.transaction(
            Update(notes[number % 50], seen=Add(1)), Update(notes[50 + number % 50], text=f"{number}")
        ),
    )
    yield (
        "db.create and db.delete",
        lambda number: db.delete(db.create(Note(shop_id="y", note_id="z")).entity),
    )
    yield f"{RECORDS} records handled", handling(stack, Shops, Note)


def handling(stack: ExitStack, design: Any, note: Any) -> Work:
    db = stack.enter_context(design.open(":memory:"))
    consumer = db.consume(background=False)
    stack.callback(consumer.stop)

    def work(number: int) -> object:
        for each in range(RECORDS):
            db.put(note(shop_id="s", note_id=f"n{each}", text=f"{number}"))
        begun = time.process_time()
        consumer.drain()
        return time.process_time() - begun

    return work


def measure(only: str) -> dict[str, float]:
    """Return the CPU time of each work in microseconds: the best of several repeats."""
    found: dict[str, float] = {}
    with ExitStack() as stack:
        for source in (engine_work, design_work):
            for name, work in source(stack):
                if only in name:
                    found[name] = best(work, is_timed_inside=name.endswith("handled"))
    return found


def best(work: Work, *, is_timed_inside: bool) -> float:
    numbers = iter(range(10_000_000))
    for _ in range(3 if is_timed_inside else 30):
        work(next(numbers))
    gc.collect()
    gc.disable()
    times: list[float] = []
    for _ in range(REPEATS):
        if is_timed_inside:
            times.append(float(str(work(next(numbers)))))
            continue
        count, begun = 0, time.process_time()
        while time.process_time() - begun < SECONDS:
            for _ in range(10):
                work(next(numbers))
            count += 10
        times.append((time.process_time() - begun) / count)
    gc.enable()
    return min(times) * 1e6


# --- two trees ----------------------------------------------------------------------------------------------


def compare(revision: str, rounds: int, only: str) -> dict[str, dict[str, float]]:
    """Return, for each work, the best time of both trees, and the ratio of this one to the other."""
    with tempfile.TemporaryDirectory() as folder:
        other = Path(folder) / "tree"
        git = ["git", "-C", str(ROOT)]
        subprocess.run([*git, "worktree", "add", "-q", "--detach", str(other), revision], check=True)
        try:
            sides: dict[str, list[dict[str, float]]] = {"other": [], "this": []}
            for number in range(rounds):
                print(f"round {number + 1} of {rounds}", file=sys.stderr)
                order = [("other", other), ("this", ROOT)]
                for name, tree in order if number % 2 == 0 else reversed(order):
                    sides[name].append(measured_in(tree, only))
        finally:
            subprocess.run([*git, "worktree", "remove", "--force", str(other)], check=True)
    return {name: row(name, sides) for name in sides["this"][0] if name in sides["other"][0]}


def measured_in(tree: Path, only: str) -> dict[str, float]:
    run = [sys.executable, str(Path(__file__)), WORKER, only]
    environment = os.environ | {"PYTHONPATH": str(tree / "src"), "PYTHONHASHSEED": "0"}
    done = subprocess.run(run, env=environment, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def row(name: str, sides: dict[str, list[dict[str, float]]]) -> dict[str, float]:
    other, this = ([each[name] for each in sides[side]] for side in ("other", "this"))
    return {
        "other_us": min(other),
        "this_us": min(this),
        "ratio": min(this) / min(other),
        "median_ratio": median(mine / theirs for mine, theirs in zip(this, other, strict=True)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.beside", description="Compare with a commit.")
    parser.add_argument("revision", help="the commit to compare with")
    parser.add_argument("--rounds", type=int, default=7, help="how often each tree runs (7)")
    parser.add_argument("--only", default="", metavar="TEXT", help="only work whose name holds this text")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    found = compare(arguments.revision, arguments.rounds, arguments.only)
    if arguments.json:
        print(json.dumps(found, indent=2))
        return
    print(
        f"| work | {arguments.revision}, us | this tree, us | ratio | median of rounds |\n|---|--:|--:|--:|--:|"
    )
    for name, each in found.items():
        print(
            f"| {name} | {each['other_us']:.1f} | {each['this_us']:.1f} | {each['ratio']:.3f} | "
            f"{each['median_ratio']:.3f} |"
        )


if __name__ == "__main__":
    if sys.argv[1:2] == [WORKER]:
        print(json.dumps(measure(sys.argv[2])))
    else:
        main()
