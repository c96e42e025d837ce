"""The SQL of the file: its tables, how they are made, and every statement that touches items and entries.

docs/internals/file-format.md describes the same in words.
"""

from __future__ import annotations

from typing import Final

APPLICATION_ID: Final = 0x53544231  # "STB1" in the header of every file
FORMAT_VERSION: Final = 4

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
"""

# Tables of logs, streams and their readers. Format 3 added them.
CREATE_REGISTERS: Final = """
CREATE TABLE log(table_id INTEGER PRIMARY KEY, since INTEGER NOT NULL);
CREATE TABLE stream(
    id INTEGER PRIMARY KEY,
    table_id INTEGER NOT NULL,
    table_name TEXT NOT NULL,
    label INTEGER NOT NULL,
    view TEXT NOT NULL,
    definition BLOB NOT NULL,
    ended INTEGER
);
CREATE INDEX stream_table ON stream(table_name, label);
CREATE TABLE shard(
    stream_id INTEGER NOT NULL,
    number INTEGER NOT NULL,
    parent INTEGER,
    part INTEGER NOT NULL,
    parts INTEGER NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER,
    began INTEGER NOT NULL,
    ended INTEGER,
    PRIMARY KEY (stream_id, number)
) WITHOUT ROWID;
CREATE TABLE consumer(
    table_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    position INTEGER NOT NULL,
    position_at INTEGER NOT NULL,
    hold INTEGER NOT NULL,
    log_since INTEGER NOT NULL,
    missed INTEGER NOT NULL,
    owner TEXT,
    lease_from INTEGER,
    lease_until INTEGER,
    PRIMARY KEY (table_id, name)
) WITHOUT ROWID;
CREATE TABLE dead_letter(
    table_id INTEGER NOT NULL,
    consumer TEXT NOT NULL,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    record BLOB NOT NULL,
    error TEXT NOT NULL,
    tries INTEGER NOT NULL
);
CREATE UNIQUE INDEX dead_letter_record ON dead_letter(table_id, consumer, seq);
CREATE TABLE restore(
    table_id INTEGER PRIMARY KEY,
    source_id INTEGER,
    at INTEGER NOT NULL,
    path TEXT,
    pk BLOB NOT NULL,
    sk BLOB NOT NULL
);
"""

CATALOG_VERSION: Final = "SELECT value FROM meta WHERE name = 'catalog_version'"
BUMP_CATALOG: Final = "UPDATE meta SET value = value + 1 WHERE name = 'catalog_version' RETURNING value"
NEXT_ID: Final = "UPDATE meta SET value = value + 1 WHERE name = 'next_id' RETURNING value - 1"
NEWEST: Final = "SELECT value FROM meta WHERE name = 'newest'"
SELECT_META_PAGE: Final = "SELECT rootpage FROM sqlite_schema WHERE name = 'meta'"
SELECT_MARK: Final = "SELECT value FROM meta WHERE name = 'wal_mark'"
NOTE_MARK_BEFORE: Final = """
INSERT OR REPLACE INTO meta SELECT 'wal_mark_before', coalesce((SELECT value FROM meta WHERE name = 'wal_mark'), ?)
"""
NOTE_MARK: Final = "INSERT OR REPLACE INTO meta VALUES ('wal_mark', ?)"
CHANGE_MARK: Final = "UPDATE meta SET value = ? WHERE name = 'wal_mark'"
# Stands there from the upgrade to format 4 until all pages have been written anew, with room for their sums.
HAS_NO_SUMS: Final = "SELECT value FROM meta WHERE name = 'no_sums'"
NOTE_NO_SUMS: Final = "INSERT OR REPLACE INTO meta VALUES ('no_sums', 1)"
FORGET_NO_SUMS: Final = "DELETE FROM meta WHERE name = 'no_sums'"
NOTE_NEWEST: Final = "INSERT OR REPLACE INTO meta VALUES ('newest', ?)"
# The newest time of the clock that was believed: by it things are deleted. Only a confirmation puts it back.
TRUSTED: Final = "SELECT value FROM meta WHERE name = 'trusted'"
NOTE_TRUSTED: Final = (
    "INSERT INTO meta VALUES ('trusted', ?)"
    " ON CONFLICT (name) DO UPDATE SET value = max(value, excluded.value)"
)
CONFIRM_TRUSTED: Final = "INSERT OR REPLACE INTO meta VALUES ('trusted', ?)"
BACKUPS_KEPT: Final = "SELECT value FROM meta WHERE name = 'backups_kept'"
NOTE_BACKUPS_KEPT: Final = "INSERT OR REPLACE INTO meta VALUES ('backups_kept', ?)"
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

SELECT_LOGS: Final = "SELECT table_id FROM log ORDER BY table_id"
# A log stays when changes are no longer logged; `since` is when they were last turned on.
INSERT_LOG: Final = (
    "INSERT INTO log(table_id, since) VALUES (?, ?)"
    " ON CONFLICT (table_id) DO UPDATE SET since = excluded.since"
)
DELETE_LOG: Final = "DELETE FROM log WHERE table_id = ?"

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


# --- the log of a table ---------------------------------------------------------------------


def log_table(table_id: int) -> str:
    return f"log_{table_id}"


def create_log_table(table_id: int) -> str:
    # Times never go back, so an item's entries are in the order of their times, and the row id, which SQLite
    # adds to each entry of an index, orders those of one time.
    name = log_table(table_id)
    return (
        f"CREATE TABLE IF NOT EXISTS {name}(seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, event INTEGER NOT NULL,"
        f" pk BLOB NOT NULL, sk BLOB NOT NULL, before BLOB, after BLOB);"
        f"CREATE INDEX IF NOT EXISTS {name}_item ON {name}(pk, sk, at);"
    )


def insert_entry_of_log(table_id: int) -> str:
    return f"INSERT INTO {log_table(table_id)}(at, event, pk, sk, before, after) VALUES (?, ?, ?, ?, ?, ?)"


def select_newest_of_log(table_id: int) -> str:
    return f"SELECT seq, at FROM {log_table(table_id)} ORDER BY seq DESC LIMIT 1"


# --- the items of a table by the time at which they expire ------------------------------------


def expiry_table(expiry_id: int) -> str:
    return f"expiry_{expiry_id}"


def create_expiry_table(expiry_id: int) -> str:
    return (
        f"CREATE TABLE {expiry_table(expiry_id)}(expires INTEGER NOT NULL, item INTEGER NOT NULL,"
        f" PRIMARY KEY (expires, item)) WITHOUT ROWID;"
    )


def insert_expiry(expiry_id: int) -> str:
    return f"INSERT OR IGNORE INTO {expiry_table(expiry_id)}(expires, item) VALUES (?, ?)"


def delete_expiry(expiry_id: int) -> str:
    return f"DELETE FROM {expiry_table(expiry_id)} WHERE expires = ? AND item = ?"


# --- tables that are taken away -----------------------------------------------------------------

# Those without a row id, with the columns of their key.
_KEY_COLUMNS: Final = {"index": "ipk, isk, pk, sk", "expiry": "expires, item"}


def delete_some_rows(name: str) -> str:
    kind = name.partition("_")[0]
    columns = _KEY_COLUMNS.get(kind, "rowid")
    return f"DELETE FROM {name} WHERE ({columns}) IN (SELECT {columns} FROM {name} LIMIT ?)"
