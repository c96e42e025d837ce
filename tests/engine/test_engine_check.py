"""The checker: it finds every kind of damage that SQL can do to a database, and names the place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from singletable import Database, limits
from singletable.clock import ManualClock
from singletable.errors import NotADatabaseError, StorageFailedError
from singletable.storage.check import check_file
from singletable.storage.check_log import Problem
from singletable.storage.definitions import TtlDefinition
from singletable.storage.transaction import Transaction
from support.by_hand import opened_by_hand
from support.sample_tables import attributes, create_plain, create_single, index, item, n, open_by_hand, s


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A sound file: a table with an index, a stream of two shards and items that expire, and a table without."""
    path = tmp_path / "test.db"
    clock = ManualClock()
    with Database.open(path, durability="relaxed", clock=clock) as db:
        create_single(
            db,
            StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
        )
        create_plain(db)
        clock.advance(1)
        for number in range(5):
            db.put_item(TableName="single", Item=item("p", f"{number}", GSI1PK="g", GSI1SK="h", x=n(number)))
            clock.advance(1)
        db.put_item(TableName="single", Item=item("p", "0", GSI1PK="g", GSI1SK="i", x=n(9)))
        db.delete_item(TableName="single", Key=item("p", "1"))
        db.put_item(TableName="plain", Item={"id": s("a"), "x": {"B": b"\x00"}})
        clock.advance(limits.SHARD_OPEN_S)
        db._session.store.write(expire_by_x)
        clock.advance(1)
    assert check_file(path) == []
    return path


def expire_by_x(transaction: Transaction) -> None:
    """Have the items of a table expire by an attribute; its values lie more than five years back."""
    table = transaction.catalog.named("single")
    assert table is not None
    ttl = TtlDefinition(id=transaction.new_id(), attribute="x", is_ready=False)
    transaction.alter_table(replace(table.definition, ttl=ttl))


def run(path: Path, sql: str, values: tuple[Any, ...] = ()) -> None:
    with opened_by_hand(path) as connection:
        connection.execute(sql, values).fetchall()
        assert connection.changes() or sql.startswith(("CREATE", "DROP"))


def names(path: Path) -> dict[str, str]:
    """Return the SQLite tables: `single` and `plain` hold items, `gsi` the entries of the index."""
    with opened_by_hand(path) as connection:
        found = {
            row[0]: orjson.loads(row[1]) for row in connection.execute("SELECT name, definition FROM catalog")
        }
        ((stream_id,),) = connection.execute("SELECT id FROM stream").fetchall()
    return {
        "log": f"log_{found['single']['id']}",
        "expiry": f"expiry_{found['single']['ttl']['id']}",
        "expiry_id": str(found["single"]["ttl"]["id"]),
        "single": f"item_{found['single']['id']}",
        "plain": f"item_{found['plain']['id']}",
        "gsi": f"index_{found['single']['indexes'][0]['id']}",
        "gsi_id": str(found["single"]["indexes"][0]["id"]),
        "single_id": str(found["single"]["id"]),
        "plain_id": str(found["plain"]["id"]),
        "stream_id": str(stream_id),
        "stream": f"stream {stream_id} of table single",
    }


DAMAGES = [
    pytest.param(
        "DELETE FROM {gsi} WHERE item = 3",
        [
            ("table single, row 3", "its entry in index GSI1 is missing or wrong"),
            ("table single, index GSI1", "it holds 3 items of"),
        ],
        id="missing-entry",
    ),
    pytest.param(
        "INSERT INTO {gsi}(ipk, isk, pk, sk, item) VALUES (x'00', x'00', x'00', x'00', 3)",
        [("table single, index GSI1", "1 entries have no item that they stand for")],
        id="extra-entry",
    ),
    pytest.param(
        "UPDATE {gsi} SET item = 99 WHERE item = 3",
        [
            ("table single, row 3", "its entry in index GSI1 is missing or wrong"),
            ("table single, index GSI1", "1 entries have no item that they stand for"),
            ("table single, index GSI1", "it holds 3 items of"),
        ],
        id="entry-of-another-row",
    ),
    pytest.param(
        "UPDATE {gsi} SET isk = x'7a' WHERE item = 3",
        [
            ("table single, row 3", "its entry in index GSI1 is missing or wrong"),
            ("table single, index GSI1", "1 entries have no item that they stand for"),
            ("table single, index GSI1", "it holds 3 items of"),
        ],
        id="entry-in-another-place",
    ),
    pytest.param(
        "UPDATE {single} SET bytes = bytes + 1 WHERE id = 3",
        [
            ("table single, row 3", "its size is "),
            ("table single", "it holds 4 items of "),
            ("table single, index GSI1", "it holds 4 items of "),
        ],
        id="wrong-size",
    ),
    pytest.param(
        "UPDATE counter SET items = items + 1 WHERE id = {single_id}",
        [("table single", "but 5 items of ")],
        id="wrong-count-of-items",
    ),
    pytest.param(
        "UPDATE counter SET bytes = bytes - 1 WHERE id = {gsi_id}",
        [("table single, index GSI1", "bytes are counted")],
        id="wrong-size-of-an-index",
    ),
    pytest.param(
        "DELETE FROM counter WHERE id = {plain_id}",
        [("table plain", "it holds 1 items of ")],
        id="missing-count",
    ),
    pytest.param(
        "UPDATE {single} SET sk = x'7a7a' WHERE id = 3",
        [
            ("table single, row 3", "its key columns do not match the item"),
            ("table single, row 3", "its entry in index GSI1 is missing or wrong"),
            ("table single, index GSI1", "1 entries have no item that they stand for"),
            ("table single, log entry 3", "it is the newest of its item, which is different"),
        ],
        id="wrong-sort-column",
    ),
    pytest.param(
        "UPDATE {plain} SET pk = x'0000000061'",
        [("table plain, row 1", "its key columns do not match the item")],
        id="wrong-partition-column",
    ),
    pytest.param(
        "UPDATE {plain} SET item = CAST('{{\"id\":' AS BLOB)",
        [("table plain, row 1", "the item cannot be read")],
        id="item-that-is-no-json",
    ),
    pytest.param(
        'UPDATE {plain} SET item = CAST(\'{{"x":{{"S":"no key"}}}}\' AS BLOB)',
        [("table plain, row 1", "the item cannot be read")],
        id="item-without-its-key",
    ),
    pytest.param(
        "DELETE FROM {plain}",
        [("table plain", "it holds 0 items of 0 bytes")],
        id="missing-item",
    ),
    pytest.param(
        "DELETE FROM {single} WHERE id = 3",
        [
            ("table single", "it holds 3 items of"),
            ("table single, index GSI1", "1 entries have no item that they stand for"),
            ("table single, index GSI1", "it holds 3 items of"),
            ("table single, log entry 3", "it is the newest of its item, which is different"),
        ],
        id="missing-item-of-a-stream",
    ),
    pytest.param(
        "UPDATE {log} SET before = CAST('{{}}' AS BLOB) WHERE seq = 6",
        [("table single, log entry 6", "it begins from another state than entry 1 of the same item left")],
        id="broken-chain",
    ),
    pytest.param(
        "DELETE FROM {log} WHERE seq = 6",
        [
            ("log of table single, entry 7", "it follows entry 5"),
            ("table single, log entry 1", "it is the newest of its item, which is different"),
        ],
        id="missing-log-entry",
    ),
    pytest.param(
        "UPDATE {log} SET after = CAST('{{}}' AS BLOB) WHERE seq = 3",
        [("table single, log entry 3", "it is the newest of its item, which is different")],
        id="wrong-newest-image",
    ),
    pytest.param(
        "UPDATE {log} SET at = 1 WHERE seq = 4",
        [("log of table single, entry 4", "its time lies before that of the entry before it")],
        id="time-that-goes-back",
    ),
    pytest.param(
        "UPDATE {log} SET event = 9 WHERE seq = 4",
        [("log of table single, entry 4", "unknown event 9")],
        id="unknown-event",
    ),
    pytest.param(
        "UPDATE {log} SET event = 1 WHERE seq = 7",
        [
            ("log of table single, entry 7", "its images do not fit its event"),
            ("table single, log entry 7", "it is the newest of its item, which is different"),
        ],
        id="event-of-another-kind",
    ),
    pytest.param(
        "CREATE TABLE item_99(x)",
        [("structure", "table item_99 belongs to nothing in the catalog")],
        id="orphan-table",
    ),
    pytest.param("DROP TABLE {gsi}", [("structure", "is missing")], id="missing-table"),
    pytest.param(
        "INSERT INTO backfill(index_id, position) VALUES ({gsi_id}, 0)",
        [("table single, index GSI1", "its status and its backfill position disagree")],
        id="backfill-of-an-active-index",
    ),
    pytest.param(
        "UPDATE catalog SET definition = CAST('{{}}' AS BLOB) WHERE name = 'plain'",
        [("catalog", "a table definition cannot be read")],
        id="unreadable-definition",
    ),
    pytest.param(
        "INSERT INTO dropped VALUES ('item_{single_id}')",
        [("structure", "is in use, and marked as dropped")],
        id="live-table-marked-as-dropped",
    ),
    pytest.param(
        "UPDATE meta SET value = 1 WHERE name = 'next_id'",
        [("catalog", "an id is used twice, or would be")],
        id="id-that-would-be-used-again",
    ),
    pytest.param(
        "UPDATE catalog SET name = 'other' WHERE name = 'single'",
        [("catalog", "the row of other holds the definition of single")],
        id="definition-under-another-name",
    ),
    pytest.param(
        "INSERT INTO counter VALUES (999, 1, 1); INSERT INTO backfill VALUES (998, 1)",
        [("catalog", "belongs to no table or index")],
        id="orphan-counter-and-backfill",
    ),
    pytest.param(
        "UPDATE {log} SET event = 4 WHERE seq = 6",
        [("log of table single, entry 6", "its images do not fit its event")],
        id="expiry-that-left-an-item",
    ),
    pytest.param(
        "DELETE FROM log",
        [("structure", "table {log} belongs to nothing in the catalog")],
        id="log-that-is-not-registered",
    ),
    pytest.param(
        "INSERT INTO log(table_id, since) VALUES (77, 0)",
        [("structure", "table log_77 is missing")],
        id="registered-log-that-is-missing",
    ),
    pytest.param(
        "DELETE FROM log; DROP TABLE {log}",
        [
            ("table single", "its changes are to be logged, and it has no log"),
            ("{stream}", "its log is not there"),
        ],
        id="missing-log",
    ),
    pytest.param(
        "DELETE FROM {expiry} WHERE item = 3",
        [("table single, row 3", "it is missing among the items that expire")],
        id="missing-expiry",
    ),
    pytest.param(
        "INSERT INTO {expiry}(expires, item) VALUES (99, 99)",
        [("table single", "1 entries of expiring items stand for no item")],
        id="extra-expiry",
    ),
    pytest.param(
        "UPDATE {expiry} SET expires = 77 WHERE item = 3",
        [
            ("table single, row 3", "it is missing among the items that expire"),
            ("table single", "1 entries of expiring items stand for no item"),
        ],
        id="expiry-at-another-time",
    ),
    pytest.param(
        "INSERT INTO backfill(index_id, position) VALUES ({expiry_id}, 9)",
        [("table single", "the status of its expiry and its backfill position disagree")],
        id="backfill-of-a-ready-expiry",
    ),
    pytest.param(
        "DROP TABLE {expiry}", [("structure", "table {expiry} is missing")], id="expiry-table-missing"
    ),
    pytest.param(
        "DELETE FROM stream",
        [
            ("streams", "those that are on are not those of the tables"),
            ("stream {stream_id}", "it has shards, and is not there"),
        ],
        id="missing-stream",
    ),
    pytest.param(
        "UPDATE stream SET ended = 1",
        [
            ("streams", "those that are on are not those of the tables"),
            ("{stream}", "it has ended, and its shards have not, or are gone"),
        ],
        id="stream-that-ended-too-early",
    ),
    pytest.param(
        "UPDATE stream SET label = label + 1000",
        [("streams", "those that are on are not those of the tables")],
        id="stream-with-another-label",
    ),
    pytest.param(
        "UPDATE stream SET definition = (SELECT definition FROM catalog WHERE name = 'plain')",
        [("{stream}", "it holds the definition of another table")],
        id="stream-of-another-table",
    ),
    pytest.param(
        "UPDATE stream SET definition = x'00'",
        [("{stream}", "the definition of its table cannot be read")],
        id="stream-without-a-definition",
    ),
    pytest.param(
        "UPDATE meta SET value = {stream_id} WHERE name = 'next_id'",
        [("catalog", "an id is used twice, or would be")],
        id="id-of-a-stream-that-would-be-used-again",
    ),
    pytest.param(
        "DELETE FROM shard WHERE number = 1",
        [
            ("{stream}", "its open shards do not hold each partition once"),
            ("{stream}", "the shards that follow shard 0 do not go on where it ended"),
        ],
        id="missing-shard",
    ),
    pytest.param(
        "UPDATE shard SET parts = 2 WHERE number = 1",
        [
            ("{stream}", "its open shards do not hold each partition once"),
            ("{stream}", "the shards that follow shard 0 do not go on where it ended"),
        ],
        id="shard-of-half-the-partitions",
    ),
    pytest.param(
        "INSERT INTO shard SELECT stream_id, 2, 0, part, 2, first, last, began, ended FROM shard WHERE number = 1;"
        "UPDATE shard SET parts = 2 WHERE number = 1",
        [
            ("{stream}", "its open shards do not hold each partition once"),
            ("{stream}", "the shards that follow shard 0 do not go on where it ended"),
        ],
        id="two-shards-of-the-same-half",
    ),
    pytest.param(
        "UPDATE shard SET first = first + 1 WHERE number = 1",
        [("{stream}", "the shards that follow shard 0 do not go on where it ended")],
        id="shard-that-leaves-out-a-record",
    ),
    pytest.param(
        "UPDATE shard SET last = 99 WHERE number = 0; UPDATE shard SET first = 100 WHERE number = 1",
        [("{stream}", "a shard of it reaches beyond the log")],
        id="shard-beyond-the-log",
    ),
    pytest.param(
        "UPDATE shard SET ended = NULL WHERE number = 0",
        [("{stream}", "a shard of it has ended, and has no end")],
        id="shard-that-ended-at-no-time",
    ),
    pytest.param(
        "INSERT INTO consumer VALUES ({single_id}, 'mail', 9, 0, 0, 0, 0, NULL, NULL, NULL)",
        [("consumer mail of log {single_id}", "it has seen more than there is")],
        id="consumer-ahead-of-the-log",
    ),
    pytest.param(
        "INSERT INTO consumer VALUES (77, 'mail', 0, 0, 0, 0, 0, NULL, NULL, NULL)",
        [("consumer mail of log 77", "its log is not there")],
        id="consumer-without-a-log",
    ),
    pytest.param(
        "INSERT INTO dead_letter VALUES (77, 'mail', 1, 0, x'00', 'no', 1)",
        [("consumer mail of log 77", "its log is not there")],
        id="dead-letter-without-a-log",
    ),
    pytest.param(
        "INSERT INTO restore VALUES ({plain_id}, {single_id}, 0, NULL, x'', x'')",
        [("restores", "those under way are not those of the tables")],
        id="restore-of-a-table-that-is-there",
    ),
    pytest.param(
        "INSERT INTO restore VALUES ({plain_id}, NULL, 0, NULL, x'', x'')",
        [
            ("restores", "those under way are not those of the tables"),
            ("restore of table {plain_id}", "it has no source, or two"),
        ],
        id="restore-from-nowhere",
    ),
    pytest.param(
        "INSERT INTO restore VALUES ({single_id}, {plain_id}, 0, NULL, x'', x'')",
        [
            ("restores", "those under way are not those of the tables"),
            ("restore of table {single_id}", "its source is not there, or has no log"),
        ],
        id="restore-from-a-table-without-a-log",
    ),
]


@pytest.mark.parametrize(("sql", "wanted"), DAMAGES)
def test_damage_is_found_and_named(path: Path, sql: str, wanted: list[tuple[str, str]]) -> None:
    named = names(path)
    run(path, sql.format(**named))
    problems = check_file(path)
    expected = [(where.format(**named), what.format(**named)) for where, what in wanted]
    for where, what in expected:
        assert any(found.where == where and what in found.what for found in problems), problems
    # Nothing else is blamed.
    assert {found.where for found in problems} == {where for where, _ in expected}


def test_the_database_itself_finds_the_same(path: Path) -> None:
    run(path, "UPDATE counter SET items = items + 1 WHERE id = {single_id}".format(**names(path)))
    from_outside = check_file(path)
    with Database.open(path, durability="relaxed", clock=ManualClock(1_800_000_000_000_000)) as db:
        assert db.check() == from_outside != []


def test_a_sound_file_has_no_problems_while_it_is_in_use(path: Path) -> None:
    with Database.open(path, durability="relaxed", clock=ManualClock(1_800_000_000_000_000)) as db:
        db.put_item(TableName="plain", Item={"id": s("b")})
        assert check_file(path) == []
        assert db.check() == []


def test_a_damaged_file_is_told_in_a_hundred_lines_at_most(path: Path) -> None:
    with Database.open(path, durability="relaxed", clock=ManualClock(1_800_000_000_000_000)) as db:
        for start in range(0, 150, 25):
            writes: list[Any] = [
                {"PutRequest": {"Item": {"id": s(f"{number:03}")}}} for number in range(start, start + 25)
            ]
            db.batch_write_item(RequestItems={"plain": writes})
    run(path, "UPDATE {plain} SET bytes = bytes + 1".format(**names(path)))
    problems = check_file(path)
    assert len(problems) == 101
    assert problems[-1] == Problem("check", "stopped after 100 problems")


def test_progress_goes_up_to_the_end(path: Path) -> None:
    seen: list[tuple[int, int]] = []
    check_file(path, lambda done, total: seen.append((done, total)))
    assert seen[-1] == (5, 5)
    assert seen == sorted(seen)


def test_an_index_in_the_making_is_sound_and_its_gaps_are_not(tmp_path: Path) -> None:
    path = tmp_path / "test.db"
    with open_by_hand(str(path)) as db:
        create_plain(db)
        for number in range(100):
            db.put_item(TableName="plain", Item={"id": s(f"{number:03}"), "g": s("g")})
        db.update_table(
            TableName="plain",
            AttributeDefinitions=attributes(g="S"),
            GlobalSecondaryIndexUpdates=[{"Create": index("by-g", "g")}],
        )
    assert check_file(path) == []
    with opened_by_hand(path) as connection:
        (entries,) = [
            row[0]
            for row in connection.execute("SELECT name FROM sqlite_schema WHERE name GLOB 'index_[0-9]*'")
        ]
    run(path, f"DELETE FROM {entries} WHERE item = 5")
    assert Problem("table plain, row 5", "its entry in index by-g is missing or wrong") in check_file(path)


@pytest.mark.parametrize(
    ("make", "error"),
    [
        pytest.param(lambda path: None, StorageFailedError, id="no-file"),
        pytest.param(lambda path: path.write_text("no database at all" * 100), NotADatabaseError, id="text"),
        pytest.param(lambda path: path.mkdir(), StorageFailedError, id="directory"),
    ],
)
def test_what_is_no_database_is_not_checked(
    tmp_path: Path, make: Callable[[Path], object], error: type[Exception]
) -> None:
    path = tmp_path / "other"
    make(path)
    with pytest.raises(error):
        check_file(path)
