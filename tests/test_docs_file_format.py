"""docs/internals/file-format.md says what is in the file: its examples, and a reader written from it alone."""

from __future__ import annotations

import ast
import json
import re
import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pytest

from docs.blocks import ROOT, blocks_of, rows_of, section_of
from docs.second_reader import SecondReader, key_bytes, number_bytes, partition_column, read_header
from singletable import Database
from singletable.clock import ManualClock
from singletable.storage.definitions import IndexDefinition, TableDefinition
from singletable.values import keys

DOCUMENT: Final = ROOT / "docs" / "internals" / "file-format.md"


def unquoted(cell: str) -> str:
    return cell.strip("`")


def from_hex(cell: str) -> bytes:
    return bytes.fromhex(unquoted(cell))


# --- the examples ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file that the document's own code makes."""
    directory = tmp_path_factory.mktemp("file-format")
    (code,) = (block.text for block in blocks_of(DOCUMENT) if block.language == "python")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(directory)
        exec(compile(code, str(DOCUMENT), "exec"), {})
    return directory / "example.db"


def example_rows(title: str) -> list[list[str]]:
    """The table of the example behind the sentence that begins so."""
    return rows_of(
        section_of(DOCUMENT, "## An example").partition(f"Its `{title}`")[2].partition("\nIts ")[0]
    )


def stored(example: Path, sql: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(example)) as connection:
        return connection.execute(sql).fetchall()


def test_meta_of_the_example(example: Path) -> None:
    assert example_rows("meta") == [
        [name, str(value)] for name, value in stored(example, "SELECT * FROM meta")
    ]


def test_items_of_the_example(example: Path) -> None:
    rows = [
        (int(row_id), from_hex(pk), from_hex(sk), int(size), shown_item(item))
        for row_id, pk, sk, size, item in example_rows("item_1")
    ]
    assert rows == stored(example, "SELECT id, pk, sk, bytes, item FROM item_1 ORDER BY pk, sk")


def shown_item(cell: str) -> bytes:
    space = " " if cell.startswith("a space, then ") else ""
    return (space + unquoted(cell.removeprefix("a space, then "))).encode()


def test_entries_of_the_example(example: Path) -> None:
    rows = [(*map(from_hex, cells[:4]), int(cells[4])) for cells in example_rows("index_2")]
    assert rows == stored(example, "SELECT ipk, isk, pk, sk, item FROM index_2 ORDER BY ipk, isk, pk, sk")


def test_counts_of_the_example(example: Path) -> None:
    rows = [tuple(map(int, cells)) for cells in example_rows("counter")]
    assert rows == stored(example, "SELECT id, items, bytes FROM counter ORDER BY id")


def test_log_of_the_example(example: Path) -> None:
    rows = [
        (
            *map(int, cells[:4]),
            *map(from_hex, cells[4:6]),
            *(None if c == "null" else int(c) for c in cells[6:]),
        )
        for cells in example_rows("log")
    ]
    columns = "seq, at, table_id, event, pk, sk, length(before), length(after)"
    assert rows == stored(example, f"SELECT {columns} FROM log ORDER BY seq")


def test_definition_of_the_example(example: Path) -> None:
    (shown,) = (json.loads(block.text) for block in blocks_of(DOCUMENT) if block.language == "json")
    ((text,),) = stored(example, "SELECT definition FROM catalog")
    real = json.loads(text)
    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", real["uuid"])
    assert {**shown, "uuid": real["uuid"]} == real


def test_every_field_of_a_definition_is_explained() -> None:
    explained = [unquoted(row[0]) for row in rows_of(section_of(DOCUMENT, "## The catalog"))]
    fields = (*TableDefinition.__dataclass_fields__, *IndexDefinition.__dataclass_fields__)
    assert explained == list(fields)


def test_schema_is_the_one_shown(example: Path) -> None:
    shown: list[str] = []
    for block in blocks_of(DOCUMENT):
        if block.language == "sql":
            text = block.text.replace("item_N", "item_1").replace("index_M", "index_2")
            shown += [statement.strip() for statement in text.split(";") if statement.strip()]
    real = [sql for (sql,) in stored(example, "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")]
    assert sorted(shown) == sorted(real)


def test_header_is_the_one_shown(example: Path) -> None:
    shown = {row[0]: row[1] for row in rows_of(section_of(DOCUMENT, "## The SQLite file"))}
    application_id = ast.literal_eval(re.findall(r"`(0x\w+)`", shown["application id"])[0])
    header = read_header(example)
    assert header == (
        *(application_id, int(unquoted(shown["format version"]))),
        *(2, 2),
        int(shown["page size"].split()[0]),
        {"UTF-8": 1}[shown["text encoding"]],
        int(shown["reserved space in a page"].split()[0]),
        {"off": 0}[shown["auto-vacuum"]],
    )
    assert application_id.to_bytes(4, "big") == b"STB1"
    assert stat.S_IMODE(example.stat().st_mode) == 0o600


NUMBER_ROWS: Final = [
    row for row in rows_of(section_of(DOCUMENT, "## Key bytes")) if re.match(r"-?\d", row[0])
]


@pytest.mark.parametrize(("number", "shown"), NUMBER_ROWS, ids=[row[0] for row in NUMBER_ROWS])
def test_number_has_the_key_bytes_shown(number: str, shown: str) -> None:
    assert number_bytes(number) == keys.number_key_bytes(number) == from_hex(shown)


def test_partition_columns_are_those_shown() -> None:
    rows = [row for row in rows_of(section_of(DOCUMENT, "## The partition column")) if len(row) == 3]
    assert len(rows) == 3
    for kind, payload, shown in rows:
        column = partition_column(key_bytes(unquoted(kind), payload))
        assert column == keys.partition_bytes(key_bytes(unquoted(kind), payload)) == from_hex(shown)


# --- the second reader --------------------------------------------------------------------------------------

TABLES: Final[dict[str, dict[str, Any]]] = {
    kind: {
        "TableName": f"keys-{kind}",
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [
            {"AttributeName": "p", "AttributeType": kind},
            {"AttributeName": "s", "AttributeType": kind},
            {"AttributeName": "g", "AttributeType": kind},
            {"AttributeName": "l", "AttributeType": "N"},
        ],
        "KeySchema": [
            {"AttributeName": "p", "KeyType": "HASH"},
            {"AttributeName": "s", "KeyType": "RANGE"},
        ],
        "GlobalSecondaryIndexes": [
            {
                "IndexName": "all",
                "KeySchema": [
                    {"AttributeName": "g", "KeyType": "HASH"},
                    {"AttributeName": "l", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "ALL"},
            },
            {
                "IndexName": "partition-only",
                "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["more"]},
            },
        ],
        "LocalSecondaryIndexes": [
            {
                "IndexName": "local",
                "KeySchema": [
                    {"AttributeName": "p", "KeyType": "HASH"},
                    {"AttributeName": "l", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            }
        ],
        "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"},
    }
    for kind in ("S", "N", "B")
}
PAYLOADS: Final[dict[str, list[Any]]] = {
    "S": ["a", "A", "a\x00", "b#1", "é", "日本", "\U0001f96f"],
    "N": ["0", "1", "-1", "9.9", "10", "-0.05", "123.45", "1e125", "-1e-130", "9" * 38],
    "B": [b"\x00", b"\x00\x00", b"\x01", b"a", b"\xff", b"\xff\x00"],
}
LOCALS: Final = ["5", "-5", "0", "5", "120", "0.5"]


def fill(database: Database, clock: ManualClock) -> None:
    """Put items with every kind of key, then overwrite, move and delete some."""
    for kind, table in TABLES.items():
        database.create_table(**table)
        payloads = PAYLOADS[kind]
        for number, partition in enumerate(payloads):
            for place, sort in enumerate(payloads):
                clock.advance(1)
                item: dict[str, Any] = {"p": {kind: partition}, "s": {kind: sort}, "more": {"SS": ["y", "x"]}}
                if (number + place) % 3:
                    item["g"] = {kind: payloads[place % 2]}
                if (number + place) % 4:
                    item["l"] = {"N": LOCALS[(number * place) % len(LOCALS)]}
                if place == 1:
                    item["deep"] = {
                        "M": {"list": {"L": [{"BS": [b"\xff", b"2"]}, {"NULL": True}, {"N": "1.50"}]}},
                    }
                    item["numbers"] = {"NS": ["10", "9.90", "-1", "0.1e1"]}
                database.put_item(TableName=table["TableName"], Item=item)
        clock.advance(1)
        database.delete_item(
            TableName=table["TableName"], Key={"p": {kind: payloads[0]}, "s": {kind: payloads[1]}}
        )
        moved = {
            "p": {kind: payloads[1]},
            "s": {kind: payloads[2]},
            "g": {kind: payloads[-1]},
            "l": {"N": "7"},
        }
        database.put_item(TableName=table["TableName"], Item=moved)


def pages(database: Database, operation: str, **request: Any) -> list[Any]:
    """Return all items, as the wire shows them: binary values as base64."""
    items: list[Any] = []
    start: dict[str, Any] = {}
    while True:
        body = json.dumps({**request, "Limit": 7, **start}).encode()
        status, answer = database.answer(operation, body)
        assert status == 200, answer
        page = json.loads(answer)
        items += page["Items"]
        if "LastEvaluatedKey" not in page:
            return items
        start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}


@pytest.mark.parametrize("kind", TABLES)
def test_second_reader_reads_what_the_engine_reads(kind: str, tmp_path: Path) -> None:
    name = f"keys-{kind}"
    clock = ManualClock()
    with Database.open(tmp_path / "app.db", durability="relaxed", clock=clock) as database:
        fill(database, clock)
        with SecondReader(tmp_path / "app.db") as reader:  # while the database is open
            scanned = reader.scan(name)
            assert scanned == pages(database, "Scan", TableName=name)
            definition = reader.definition(name)
            described = database.describe_table(TableName=name)["Table"]
            assert reader.counts(definition["id"]) == (described["ItemCount"], described["TableSizeBytes"])
            for index in definition["indexes"]:
                shown = reader.scan_index(name, index["name"])
                assert shown == pages(database, "Scan", TableName=name, IndexName=index["name"])
                assert reader.counts(index["id"])[0] == len(shown)
                wanted = {part["name"] for part in (*index["key"]["partition"], *index["key"]["sort"])}
                missing = list(reader.missing_from_index(name, index["name"]))
                assert missing
                assert not any(wanted <= item.keys() for item in missing)
                assert len(missing) + len(shown) == len(scanned)


def test_second_reader_undoes_the_log(tmp_path: Path) -> None:
    clock = ManualClock()
    states: dict[int, list[Any]] = {}
    with Database.open(tmp_path / "app.db", durability="relaxed", clock=clock) as database:
        database.create_table(**TABLES["S"])
        for step, (key, text) in enumerate(
            [("a", "1"), ("b", "1"), ("a", "2"), ("b", None), ("b", "3"), ("a", None)]
        ):
            clock.advance(1)
            at = {"p": {"S": key}, "s": {"S": key}}
            if text is None:
                database.delete_item(TableName="keys-S", Key=at)
            else:
                database.put_item(TableName="keys-S", Item={**at, "text": {"S": text}})
            states[clock.now_us()] = pages(database, "Scan", TableName="keys-S")
            assert len(states) == step + 1
    with SecondReader(tmp_path / "app.db") as reader:
        for at_us, state in states.items():
            assert reader.state_at("keys-S", at_us) == state


def test_clock_that_goes_back_does_not_take_the_log_along(tmp_path: Path) -> None:
    clock = ManualClock()
    with Database.open(tmp_path / "app.db", clock=clock) as database:
        database.create_table(**TABLES["S"])
        for seconds in (10, -5, 0):
            clock.advance(seconds)
            item = {"p": {"S": "a"}, "s": {"S": "b"}, "text": {"S": str(seconds)}}
            database.put_item(TableName="keys-S", Item=item)
    times = [at for (at,) in stored(tmp_path / "app.db", "SELECT at FROM log ORDER BY seq")]
    assert len(times) == 3
    assert times == sorted(times)
