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

from documents.blocks import ROOT, blocks_of, rows_of, section_of
from documents.second_reader import (
    SecondReader,
    key_bytes,
    number_bytes,
    page_sum,
    partition_column,
    read_header,
)
from singletable import Database, limits
from singletable.clock import ManualClock
from singletable.storage.definitions import IndexDefinition, TableDefinition
from singletable.storage.file import page_sums
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


def test_pages_of_the_example_end_with_their_sums(example: Path) -> None:
    content = example.read_bytes()
    pages = [content[start : start + 4096] for start in range(0, len(content), 4096)]
    assert [int.from_bytes(page[-8:], "little") for page in pages] == [
        page_sum(page, number) for number, page in enumerate(pages, 1)
    ]


@pytest.mark.parametrize("number", [1, 2, 262_146, 2**32 - 2])
@pytest.mark.parametrize("page", [bytes(4096), b"\xff" * 4096, bytes(range(256)) * 16])
def test_sum_of_a_page_is_the_one_described(page: bytes, number: int) -> None:
    assert page_sums.page_sum(page, number) == page_sum(page, number)


def test_meta_of_the_example(example: Path) -> None:
    assert example_rows("meta") == [
        [name, "random" if name.startswith("wal_mark") else str(value)]
        for name, value in stored(example, "SELECT * FROM meta")
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
            *map(int, cells[:3]),
            *map(from_hex, cells[3:5]),
            *(None if c == "null" else int(c) for c in cells[5:]),
        )
        for cells in example_rows("log_1")
    ]
    columns = "seq, at, event, pk, sk, length(before), length(after)"
    assert rows == stored(example, f"SELECT {columns} FROM log_1 ORDER BY seq")


@pytest.mark.parametrize(
    ("title", "columns"),
    [
        ("log", "table_id, since"),
        ("stream", "id, table_id, table_name, label, view, ended"),
        ("shard", "stream_id, number, parent, part, parts, first, last, began, ended"),
        ("expiry_4", "expires, item"),
    ],
)
def test_registers_of_the_example(example: Path, title: str, columns: str) -> None:
    real = stored(example, f"SELECT {columns} FROM {title} ORDER BY 1, 2")
    assert example_rows(title) == [["null" if c is None else str(c) for c in row] for row in real]
    assert example_rows(title)


def test_stream_of_the_example_holds_the_definition_that_the_table_had(example: Path) -> None:
    ((text,),) = stored(example, "SELECT definition FROM catalog")
    ((then,),) = stored(example, "SELECT definition FROM stream")
    assert json.loads(then) == {**json.loads(text), "ttl": None, "ttl_changed_us": None}


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


NAMES_OF_THE_EXAMPLE: Final = {
    "item_N": "item_1",
    "index_M": "index_2",
    "log_N": "log_1",
    "expiry_K": "expiry_4",
}


def test_every_column_is_explained(example: Path) -> None:
    """Of the tables that have a section; those of the others stand in one line each."""
    sections = {
        "log_1": "## The log",
        "expiry_4": "## Expiry",
        "restore": "## Restores",
        "item_1": "## Items",
        "index_2": "## Indexes",
    }
    explained: dict[str, list[str]] = {
        name: [column for row in rows_of(section_of(DOCUMENT, title)) for column in columns_named(row[0])]
        for name, title in sections.items()
    }
    streams = [columns_named(row[0]) for row in rows_of(section_of(DOCUMENT, "## Streams and shards"))]
    flat = [column for names in streams for column in names]
    explained["stream"], explained["shard"] = flat[: flat.index("stream_id")], flat[flat.index("stream_id") :]
    readers = [columns_named(row[0]) for row in rows_of(section_of(DOCUMENT, "## Consumers"))]
    flat = [column for names in readers for column in names]
    split = flat.index("table_id", 1)
    explained["consumer"], explained["dead_letter"] = flat[:split], flat[split:]
    for name, columns in explained.items():
        real = [row[1] for row in stored(example, f"PRAGMA table_info({name})")]
        assert columns == real, name


def columns_named(cell: str) -> list[str]:
    return re.findall(r"`(\w+)`", cell)


def test_schema_is_the_one_shown(example: Path) -> None:
    shown: list[str] = []
    for block in blocks_of(DOCUMENT):
        if block.language == "sql":
            text = block.text
            for name, real_name in NAMES_OF_THE_EXAMPLE.items():
                text = text.replace(name, real_name)
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


def test_second_reader_knows_how_far_back_a_trimmed_log_goes(tmp_path: Path) -> None:
    clock = ManualClock()
    states: dict[int, list[Any]] = {}
    with Database.open(tmp_path / "app.db", durability="relaxed", clock=clock) as database:
        database.create_table(**TABLES["S"])
        for hour in range(40):
            clock.advance(3600)
            item = {"p": {"S": "a"}, "s": {"S": str(hour % 3)}, "hour": {"N": str(hour)}}
            database.put_item(TableName="keys-S", Item=item)
            states[clock.now_us()] = pages(database, "Scan", TableName="keys-S")
    with SecondReader(tmp_path / "app.db") as reader:
        first_us = reader.first_moment_us("keys-S")
        kept = {at_us: state for at_us, state in states.items() if at_us >= first_us}
        assert len(kept) == 24 + 1 + 1  # of the last 24 hours, and the newest that nobody needs
        for at_us, state in kept.items():
            assert reader.state_at("keys-S", at_us) == state


def test_second_reader_follows_the_versions_of_items_without_a_stream(tmp_path: Path) -> None:
    """The log has only what was; what then was is found in the next entry, or in the table."""
    with Database.open(tmp_path / "app.db", durability="relaxed", clock=ManualClock()) as database:
        database.create_table(**{**TABLES["S"], "StreamSpecification": {"StreamEnabled": False}})
        recovery: Any = {"PointInTimeRecoveryEnabled": True}
        database.update_continuous_backups(TableName="keys-S", PointInTimeRecoverySpecification=recovery)
        at = {"p": {"S": "a"}, "s": {"S": "b"}}
        one, two = {**at, "text": {"S": "1"}}, {**at, "text": {"S": "2"}}
        database.put_item(TableName="keys-S", Item=one)
        database.put_item(TableName="keys-S", Item=two)
        database.delete_item(TableName="keys-S", Key=at)
        database.put_item(TableName="keys-S", Item=one)
    with SecondReader(tmp_path / "app.db") as reader:
        assert reader.versions("keys-S") == [(None, one), (one, two), (two, None), (None, one)]


def test_second_reader_reads_what_expires(tmp_path: Path) -> None:
    clock = ManualClock()
    now_s = clock.now_us() // 1_000_000
    texts = ["1", str(now_s + 5), str(now_s + 60), f"{now_s + 70}.5", str(now_s + 60), "-3", "9" * 20]
    with Database.open(tmp_path / "app.db", durability="relaxed", clock=clock) as database:
        database.create_table(**TABLES["S"])
        for number, text in enumerate(texts):
            item = {"p": {"S": "a"}, "s": {"S": str(number)}, "until": {"N": text}}
            database.put_item(TableName="keys-S", Item=item)
        database.put_item(TableName="keys-S", Item={"p": {"S": "a"}, "s": {"S": "x"}, "until": {"S": "5"}})
        ttl: Any = {"Enabled": True, "AttributeName": "until"}
        database.update_time_to_live(TableName="keys-S", TimeToLiveSpecification=ttl)
        clock.advance(20)
    with SecondReader(tmp_path / "app.db") as reader:
        shown = [(expires, item["s"]["S"]) for expires, item in reader.expiring("keys-S")]
        removed = [before for before, after in reader.versions("keys-S") if after is None]
    assert shown == [(-3, "5"), (1, "0"), (now_s + 60, "2"), (now_s + 60, "4"), (now_s + 70, "3")]
    assert [item["s"]["S"] for item in removed if item] == ["1"]


def test_second_reader_finds_each_record_in_one_shard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "SHARD_RECORDS_MAX", 20)
    clock = ManualClock()
    with Database.open(tmp_path / "app.db", durability="relaxed", clock=clock) as database:
        fill(database, clock)
        clock.advance(5 * 3600)
        database.put_item(TableName="keys-N", Item={"p": {"N": "5"}, "s": {"N": "5"}})
    with SecondReader(tmp_path / "app.db") as reader:
        shards = reader.shards("keys-N")
        records = sorted(seq for shard in shards for seq in shard["records"])
        assert records == list(range(1, len(reader.versions("keys-N")) + 1))
        assert sum(bool(shard["records"]) for shard in shards) > 3
        assert {shard["parts"] for shard in shards} == {1, 2, 4}


def test_clock_that_goes_back_does_not_take_the_log_along(tmp_path: Path) -> None:
    clock = ManualClock()
    with Database.open(tmp_path / "app.db", clock=clock) as database:
        database.create_table(**TABLES["S"])
        for seconds in (10, -5, 0):
            clock.advance(seconds)
            item = {"p": {"S": "a"}, "s": {"S": "b"}, "text": {"S": str(seconds)}}
            database.put_item(TableName="keys-S", Item=item)
    times = [at for (at,) in stored(tmp_path / "app.db", "SELECT at FROM log_1 ORDER BY seq")]
    assert len(times) == 3
    assert times == sorted(times)
