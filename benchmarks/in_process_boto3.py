"""boto3 without a network: the engine alone, a client, a Table resource, and moto; and what tests pay for it."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from boto3.dynamodb.types import TypeDeserializer

from benchmarks import payloads
from benchmarks.engine_speed import load
from benchmarks.floor import PAGE_ITEMS
from benchmarks.measure import Contender, Plan, Reading, Result, compare, interleave
from benchmarks.payloads import TABLE, Item, Payloads
from benchmarks.startup import milliseconds
from singletable import Database

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ITEMS = 1_000  # moto takes long to load more
SIZE = payloads.ONE_KB

GET_PLAN = Plan(rounds=20, turns=5, calls=5)
QUERY_PLAN = Plan(rounds=10, turns=2, calls=2)
PUT_PLAN = Plan(rounds=20, turns=5, calls=5)
BUILD_PLAN = Plan(rounds=10, turns=1, calls=5)
QUICK_ROUNDS = 4
TESTS = 400

GET_TIMES_MIN = 15.0
QUERY_TIMES_MIN = 100.0
FIXTURE_MS_MAX = 2.0


def run(directory: Path, *, quick: bool, say: Callable[[str], None]) -> list[Result]:
    """Measure calls against moto, where it is installed; then clients and fixtures."""
    results: list[Result] = []
    with ExitStack() as stack:
        bench = Bench(stack)
        moto_client = client_of_moto(stack)
        if moto_client is None:
            say("moto is not installed, so nothing is compared with it: pip install --group bench")
        else:
            say(f"loading {ITEMS:,} items of {SIZE.name}, also into moto")
            bench.load_moto(moto_client)
        say("get, query, put")
        results += bench.calls(quick=quick)
        say("building clients")
        results += bench.builds(quick=quick)
    say(f"pytest, {TESTS} tests with each fixture")
    return [*results, *fixtures(directory)]


def client_of_moto(stack: ExitStack) -> Any:
    try:
        from moto import mock_aws
    except ModuleNotFoundError:
        return None
    import boto3

    stack.enter_context(mock_aws())
    return boto3.client("dynamodb", region_name="us-east-1")


class Bench:
    """One database in memory, reached in three ways, and moto beside it."""

    def __init__(self, stack: ExitStack) -> None:
        self.payloads = Payloads(SIZE, items=ITEMS)
        self.database = stack.enter_context(Database.open(":memory:"))
        load(self.database, self.payloads.all_items_shuffled())
        self.clients: dict[str, Any] = {"engine": self.database, "db.client()": self.database.client()}
        self.table = self.database.resource().Table(TABLE)
        self.deserialize = TypeDeserializer().deserialize

    def load_moto(self, client: Any) -> None:
        load(client, self.payloads.all_items_shuffled())
        self.clients["moto"] = client

    def calls(self, *, quick: bool) -> list[Result]:
        return [
            *self._compare("get", self._gets(), shorter(GET_PLAN, quick=quick), GET_TIMES_MIN),
            *self._compare(
                f"query of {PAGE_ITEMS}", self._queries(), shorter(QUERY_PLAN, quick=quick), QUERY_TIMES_MIN
            ),
            *self._compare("put", self._puts(), shorter(PUT_PLAN, quick=quick), None),
        ]

    def _compare(
        self, name: str, contenders: list[Contender], plan: Plan, times_min: float | None
    ) -> list[Result]:
        interleave(contenders, plan)
        by_name = {contender.name: contender for contender in contenders}
        client = by_name["db.client()"]
        results: list[Result] = [
            compare(f"{name}, {SIZE.name}: {other}", subject=by_name[other], floor=by_name["engine"])
            for other in ("db.client()", "Table")
        ]
        if "moto" in by_name:
            against_moto = compare(
                f"{name}, {SIZE.name}: moto", subject=by_name["moto"], floor=client, ratio_min=times_min
            )
            results.append(against_moto)
        return results

    def _gets(self) -> list[Contender]:
        def get_of(client: Any) -> Callable[[Any], object]:
            get_item = client.get_item
            return lambda key: get_item(TableName=TABLE, Key=key)

        table = self.table
        return [
            *self._each(lambda: payloads.key_of(self._any_number()), get_of),
            Contender(
                name="Table",
                prepare=lambda: self._plain(payloads.key_of(self._any_number())),
                run=lambda key: table.get_item(Key=key),
            ),
        ]

    def _queries(self) -> list[Contender]:
        def query_of(client: Any) -> Callable[[Any], object]:
            return lambda partition: client.query(
                TableName=TABLE,
                KeyConditionExpression="PK = :p",
                ExpressionAttributeValues={":p": {"S": partition}},
                Limit=PAGE_ITEMS,
            )

        table = self.table
        return [
            *self._each(self._any_partition, query_of),
            Contender(
                name="Table",
                prepare=self._any_partition,
                run=lambda partition: table.query(
                    KeyConditionExpression="PK = :p",
                    ExpressionAttributeValues={":p": partition},
                    Limit=PAGE_ITEMS,
                ),
            ),
        ]

    def _puts(self) -> list[Contender]:
        def put_of(client: Any) -> Callable[[Any], object]:
            return lambda item: client.put_item(TableName=TABLE, Item=item)

        table = self.table
        return [
            *self._each(self._any_item, put_of),
            Contender(
                name="Table",
                prepare=lambda: self._plain(self._any_item()),
                run=lambda item: table.put_item(Item=item),
            ),
        ]

    def _each(
        self, prepare: Callable[[], Any], call_of: Callable[[Any], Callable[[Any], object]]
    ) -> list[Contender]:
        return [
            Contender(name=name, prepare=prepare, run=call_of(client))
            for name, client in self.clients.items()
        ]

    def builds(self, *, quick: bool) -> list[Result]:
        database = self.database
        client = Contender(name="client", prepare=lambda: None, run=lambda _: database.client())
        resource = Contender(name="resource", prepare=lambda: None, run=lambda _: database.resource())
        interleave((client, resource), shorter(BUILD_PLAN, quick=quick))
        return [
            milliseconds("a further db.client()", client),
            milliseconds("a further db.resource()", resource),
        ]

    def _plain(self, item: Item) -> dict[str, Any]:
        return {name: self.deserialize(value) for name, value in item.items()}

    def _any_item(self) -> Item:
        return self.payloads.item(self._any_number())

    def _any_partition(self) -> str:
        return payloads.partition_key(self._any_number())

    def _any_number(self) -> int:
        return self.payloads.random.randrange(ITEMS)


def shorter(plan: Plan, *, quick: bool) -> Plan:
    return Plan(rounds=QUICK_ROUNDS, turns=plan.turns, calls=plan.calls) if quick else plan


# --- what a test pays ------------------------------------------------------------------------------------

REPORTER = """
import json

durations_ms = {}

def pytest_runtest_logreport(report):
    durations_ms[report.nodeid] = durations_ms.get(report.nodeid, 0) + report.duration * 1000

def pytest_sessionfinish():
    with open("durations.json", "w") as file:
        json.dump(list(durations_ms.values()), file)
"""


def fixtures(directory: Path) -> list[Result]:
    """Time tests as pytest does, and take away tests that ask for nothing, which run in between."""
    (directory / "conftest.py").write_text(REPORTER)
    return [tests_asking(directory, name) for name in ("dynamodb", "dynamodb_client", "dynamodb_resource")]


def tests_asking(directory: Path, fixture: str) -> Reading:
    path = directory / f"test_{fixture}.py"
    tests = (
        f"def test_{number}({fixture if number % 2 else ''}):\n    pass\n" for number in range(2 * TESTS)
    )
    path.write_text("".join(tests))
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(path)],
        check=True,
        stdout=subprocess.DEVNULL,
        cwd=directory,
    )
    durations_ms = json.loads((directory / "durations.json").read_text())
    asking_nothing_ms = statistics.median(durations_ms[0::2])
    asking_ms = statistics.quantiles(durations_ms[1::2], n=10)
    return Reading(
        name=f"a test that asks for {fixture}",
        unit="ms",
        value=round(statistics.median(durations_ms[1::2]) - asking_nothing_ms, 3),
        low=round(asking_ms[0] - asking_nothing_ms, 3),
        high=round(asking_ms[-1] - asking_nothing_ms, 3),
        value_max=FIXTURE_MS_MAX,
    )
