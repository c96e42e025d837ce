"""The SQL of the file: what is in it, how it is made, and every statement that touches items and entries.

docs/internals/file-format.md describes the same in words.
"""

from __future__ import annotations

from typing import Final

APPLICATION_ID: Final = 0x53544231  # "STB1" in the header of every file
FORMAT_VERSION: Final = 2

CREATE: Final = f"""
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {FORMAT_VERSION};
CREATE TABLE meta(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO meta VALUES ('catalog_version', 1), ('next_id', 1);
CREATE TABLE catalog(name TEXT PRIMARY KEY, id INTEGER NOT NULL, definition BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE counter(id INTEGER PRIMARY KEY, items INTEGER NOT NULL, bytes INTEGER NOT NULL);
CREATE TABLE backfill(index_id INTEGER PRIMARY KEY, position INTEGER NOT NULL);
CREATE TABLE dropped(name TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE token(token TEXT PRIMARY KEY, at INTEGER NOT NULL, digest BLOB NOT NULL) WITHOUT ROWID;
CREATE INDEX token_at ON token(at);
CREATE TABLE log(
    seq INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    table_id INTEGER NOT NULL,
    event INTEGER NOT NULL,
    pk BLOB NOT NULL,
    sk BLOB NOT NULL,
    before BLOB,
    after BLOB
);
CREATE INDEX log_item ON log(table_id, pk, sk, seq);
"""

CATALOG_VERSION: Final = "SELECT value FROM meta WHERE name = 'catalog_version'"
BUMP_CATALOG: Final = "UPDATE meta SET value = value + 1 WHERE name = 'catalog_version' RETURNING value"
NEXT_ID: Final = "UPDATE meta SET value = value + 1 WHERE name = 'next_id' RETURNING value - 1"
SELECT_CATALOG: Final = "SELECT definition FROM catalog ORDER BY name"
SAVE_TABLE: Final = "INSERT OR REPLACE INTO catalog(name, id, definition) VALUES (?, ?, ?)"
FORGET_TABLE: Final = "DELETE FROM catalog WHERE name = ?"

SELECT_COUNTER: Final = "SELECT items, bytes FROM counter WHERE id = ?"
INSERT_COUNTER: Final = "INSERT INTO counter(id, items, bytes) VALUES (?, 0, 0)"
ADD_TO_COUNTER: Final = "UPDATE counter SET items = items + ?, bytes = bytes + ? WHERE id = ?"
DELETE_COUNTER: Final = "DELETE FROM counter WHERE id = ?"

SELECT_TOKEN: Final = "SELECT at, digest FROM token WHERE token = ?"
SAVE_TOKEN: Final = "INSERT OR REPLACE INTO token(token, at, digest) VALUES (?, ?, ?)"
# A few at a time, so that no request pays for many.
FORGET_OLD_TOKENS: Final = "DELETE FROM token WHERE token IN (SELECT token FROM token WHERE at < ? LIMIT 16)"

INSERT_LOG: Final = "INSERT INTO log(at, table_id, event, pk, sk, before, after) VALUES (?, ?, ?, ?, ?, ?, ?)"
LAST_LOG_TIME: Final = "SELECT at FROM log ORDER BY seq DESC LIMIT 1"

SELECT_BACKFILL: Final = "SELECT position FROM backfill WHERE index_id = ?"
SAVE_BACKFILL: Final = "INSERT OR REPLACE INTO backfill(index_id, position) VALUES (?, ?)"
DELETE_BACKFILL: Final = "DELETE FROM backfill WHERE index_id = ?"

SELECT_DROPPED: Final = "SELECT name FROM dropped ORDER BY name LIMIT 1"
INSERT_DROPPED: Final = "INSERT INTO dropped(name) VALUES (?)"
DELETE_DROPPED: Final = "DELETE FROM dropped WHERE name = ?"

PAGE_COLUMNS: Final = "t.bytes, t.item"
PLACED_COLUMNS: Final = f"i.ipk, i.isk, i.pk, i.sk, {PAGE_COLUMNS}"


def item_table(table_id: int) -> str:
    return f"item_{table_id}"


def index_table(index_id: int) -> str:
    return f"index_{index_id}"


def create_item_table(table_id: int) -> str:
    name = item_table(table_id)
    return (
        f"CREATE TABLE {name}(id INTEGER PRIMARY KEY, pk BLOB NOT NULL, sk BLOB NOT NULL,"
        f" bytes INTEGER NOT NULL, item BLOB NOT NULL);"
        f"CREATE UNIQUE INDEX {name}_key ON {name}(pk, sk);"
    )


def create_index_table(index_id: int) -> str:
    # The table's key stands behind the index key: entries with equal index keys have a place of their own,
    # and a cursor stays exact when the item it names is gone.
    return (
        f"CREATE TABLE {index_table(index_id)}(ipk BLOB NOT NULL, isk BLOB NOT NULL, pk BLOB NOT NULL,"
        f" sk BLOB NOT NULL, item INTEGER NOT NULL, PRIMARY KEY (ipk, isk, pk, sk)) WITHOUT ROWID;"
    )


def item_source(table_id: int) -> str:
    return f"{item_table(table_id)} t"


def index_source(index_id: int, table_id: int) -> str:
    return f"{index_table(index_id)} i CROSS JOIN {item_table(table_id)} t ON t.id = i.item"


def select_item(table_id: int) -> str:
    return f"SELECT bytes, item FROM {item_table(table_id)} WHERE pk = ? AND sk = ?"


def select_image(table_id: int) -> str:
    return f"SELECT id, bytes, item FROM {item_table(table_id)} WHERE pk = ? AND sk = ?"


def insert_item(table_id: int) -> str:
    return f"INSERT INTO {item_table(table_id)}(pk, sk, bytes, item) VALUES (?, ?, ?, ?)"


def update_item(table_id: int) -> str:
    return f"UPDATE {item_table(table_id)} SET bytes = ?, item = ? WHERE id = ?"


def delete_item(table_id: int) -> str:
    return f"DELETE FROM {item_table(table_id)} WHERE id = ?"


def insert_entry(index_id: int) -> str:
    return f"INSERT INTO {index_table(index_id)}(ipk, isk, pk, sk, item) VALUES (?, ?, ?, ?, ?)"


def insert_missing_entry(index_id: int) -> str:
    return f"INSERT OR IGNORE INTO {index_table(index_id)}(ipk, isk, pk, sk, item) VALUES (?, ?, ?, ?, ?)"


def delete_entry(index_id: int) -> str:
    return f"DELETE FROM {index_table(index_id)} WHERE ipk = ? AND isk = ? AND pk = ? AND sk = ?"


def select_rows_after(table_id: int) -> str:
    return f"SELECT id, pk, sk, bytes, item FROM {item_table(table_id)} WHERE id > ? ORDER BY id LIMIT ?"


def delete_some_rows(name: str) -> str:
    # An index table has no row id; its key's first columns serve as well for taking some rows away.
    if name.startswith("index_"):
        columns = "ipk, isk, pk, sk"
        return f"DELETE FROM {name} WHERE ({columns}) IN (SELECT {columns} FROM {name} LIMIT ?)"
    return f"DELETE FROM {name} WHERE id IN (SELECT id FROM {name} LIMIT ?)"
