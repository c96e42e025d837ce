"""The checker: it finds every kind of damage that SQL can do to a database, and names the place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import orjson
import pytest

from designs import attributes, create_plain, create_single, index, item, n, open_by_hand, s
from singletable import Database
from singletable.clock import ManualClock
from singletable.errors import NotADatabaseError, StorageFailedError
from singletable.storage.check import check_file
from singletable.storage.problems import Problem


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A sound file: a table with an index, a local index and a stream, and a table without."""
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
    assert check_file(path) == []
    return path


@contextmanager
def damaged(path: Path) -> Iterator[apsw.Connection]:
    connection = apsw.Connection(str(path))
    try:
        yield connection
    finally:
        connection.close()


def run(path: Path, sql: str, values: tuple[Any, ...] = ()) -> None:
    with damaged(path) as connection:
        connection.execute(sql, values).fetchall()
        assert connection.changes() or sql.startswith(("CREATE", "DROP"))


def names(path: Path) -> dict[str, str]:
    """Return the SQLite tables: `single` and `plain` hold items, `gsi` the entries of the index."""
    with damaged(path) as connection:
        found = {
            row[0]: orjson.loads(row[1]) for row in connection.execute("SELECT name, definition FROM catalog")
        }
    return {
        "single": f"item_{found['single']['id']}",
        "plain": f"item_{found['plain']['id']}",
        "gsi": f"index_{found['single']['indexes'][0]['id']}",
        "gsi_id": str(found["single"]["indexes"][0]["id"]),
        "single_id": str(found["single"]["id"]),
        "plain_id": str(found["plain"]["id"]),
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
        "UPDATE log SET before = CAST('{{}}' AS BLOB) WHERE seq = 6",
        [("table single, log entry 6", "it begins from another state than entry 1 of the same item left")],
        id="broken-chain",
    ),
    pytest.param(
        "DELETE FROM log WHERE seq = 6",
        [("table single, log entry 1", "it is the newest of its item, which is different")],
        id="missing-log-entry",
    ),
    pytest.param(
        "UPDATE log SET after = CAST('{{}}' AS BLOB) WHERE seq = 3",
        [("table single, log entry 3", "it is the newest of its item, which is different")],
        id="wrong-newest-image",
    ),
    pytest.param(
        "UPDATE log SET at = 1 WHERE seq = 4",
        [("log entry 4", "its time lies before that of the entry before it")],
        id="time-that-goes-back",
    ),
    pytest.param(
        "UPDATE log SET event = 9 WHERE seq = 4", [("log entry 4", "unknown event 9")], id="unknown-event"
    ),
    pytest.param(
        "UPDATE log SET event = 1 WHERE seq = 7",
        [("log entry 7", "its images do not fit its event")],
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
]


@pytest.mark.parametrize(("sql", "wanted"), DAMAGES)
def test_damage_is_found_and_named(path: Path, sql: str, wanted: list[tuple[str, str]]) -> None:
    run(path, sql.format(**names(path)))
    problems = check_file(path)
    for where, what in wanted:
        assert any(found.where == where and what in found.what for found in problems), problems
    # Nothing else is blamed.
    assert {found.where for found in problems} == {where for where, _ in wanted}


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
    with damaged(path) as connection:
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
