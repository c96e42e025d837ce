"""A reader of database files, written from docs/internals/file-format.md and nothing else.

It imports nothing of the product: what it can read, the document describes.
"""

from __future__ import annotations

import base64
import json
import re
import sqlite3
import zlib
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple, Self

Item = dict[str, dict[str, Any]]
Attributes = list[dict[str, str]]


class Header(NamedTuple):
    """What the first 100 bytes say."""

    application_id: int
    format_version: int
    write_format: int
    read_format: int
    page_bytes: int
    text_encoding: int
    reserved_bytes: int
    largest_root_page: int


def read_header(path: Path) -> Header:
    head = path.read_bytes()[:100]

    def number(offset: int, length: int = 4) -> int:
        return int.from_bytes(head[offset : offset + length], "big")

    return Header(number(68), number(60), head[18], head[19], number(16, 2), number(56), head[20], number(52))


# --- sums of pages --------------------------------------------------------------------------------------

_MASK = 2**64 - 1


def page_sum(page: bytes, number: int) -> int:
    words = [int.from_bytes(page[at : at + 8], "little") for at in range(0, 4096, 8)]
    words[511] = number
    result = 0x5354423153756D73
    for lane in range(8):
        a = b = 0
        for word in words[lane::8]:
            a = (a + word) & _MASK
            b = (b + a) & _MASK
        result = (result ^ a) * 0x9E3779B97F4A7C15 & _MASK
        result ^= result >> 29
        result = (result ^ b) * 0xBF58476D1CE4E5B9 & _MASK
        result ^= result >> 32
    return result or 1


# --- key bytes ------------------------------------------------------------------------------------------


def key_bytes(kind: str, payload: str) -> bytes:
    match kind:
        case "S":
            return payload.encode("utf-8")
        case "B":
            return base64.b64decode(payload)
        case _:
            return number_bytes(payload)


def number_bytes(text: str) -> bytes:
    if text == "0":
        return b"\x80"
    whole, _, fraction = text.lstrip("-").partition(".")
    written = whole + fraction
    digits = written.lstrip("0")
    exponent = len(whole) - (len(written) - len(digits)) - 1
    digits = digits.rstrip("0")
    digits += "0" * (len(digits) % 2)
    pairs = bytes(int(digits[place : place + 2]) + 1 for place in range(0, len(digits), 2))
    body = bytes((exponent + 130,)) + pairs
    return b"\x7f" + bytes(255 - byte for byte in body) + b"\xff" if text[0] == "-" else b"\x81" + body


def partition_column(key: bytes) -> bytes:
    return zlib.crc32(key).to_bytes(4, "big") + key


# --- the file ---------------------------------------------------------------------------------------------


class SecondReader:
    """A file, read only."""

    def __init__(self, path: Path) -> None:
        header = read_header(path)
        assert header.application_id == 0x53544231, "not a singletable database"
        assert header.format_version == 4, f"format {header.format_version} is not known"
        self.connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.connection.close()

    def definition(self, table: str) -> dict[str, Any]:
        ((text,),) = self.connection.execute("SELECT definition FROM catalog WHERE name = ?", (table,))
        definition: dict[str, Any] = json.loads(text)
        return definition

    def index(self, table: str, index: str) -> dict[str, Any]:
        found: dict[str, Any]
        (found,) = (entry for entry in self.definition(table)["indexes"] if entry["name"] == index)
        return found

    def scan(self, table: str) -> list[Item]:
        definition = self.definition(table)
        rows = self.connection.execute(f"SELECT pk, sk, item FROM item_{definition['id']} ORDER BY pk, sk")
        items = []
        for pk, sk, stored in rows:
            item = read_item(stored)
            assert (pk, sk) == columns_of(definition["key"], item)
            items.append(item)
        return items

    def scan_index(self, table: str, name: str) -> list[Item]:
        """Return what the index shows of each item, in its order."""
        definition, index = self.definition(table), self.index(table, name)
        assert index["status"] == "ACTIVE"
        rows = self.connection.execute(
            f"SELECT ipk, isk, i.pk, i.sk, t.item FROM index_{index['id']} i JOIN item_{definition['id']} t "
            "ON t.id = i.item ORDER BY ipk, isk, i.pk, i.sk"
        )
        items = []
        for ipk, isk, pk, sk, stored in rows:
            item = read_item(stored)
            assert (ipk, isk) == columns_of(index["key"], item)
            assert (pk, sk) == columns_of(definition["key"], item)
            items.append(projected(item, index, definition))
        return items

    def missing_from_index(self, table: str, name: str) -> Iterator[Item]:
        """Yield the items that have no entry."""
        definition, index = self.definition(table), self.index(table, name)
        for (stored,) in self.connection.execute(
            f"SELECT item FROM item_{definition['id']} WHERE id NOT IN (SELECT item FROM index_{index['id']})"
        ):
            yield read_item(stored)

    def counts(self, store_id: int) -> tuple[int, int]:
        (row,) = self.connection.execute("SELECT items, bytes FROM counter WHERE id = ?", (store_id,))
        return row[0], row[1]

    def first_moment_us(self, table: str) -> int:
        """Return the first moment of a table that its log can bring back."""
        table_id = self.definition(table)["id"]
        ((since_us,),) = self.connection.execute("SELECT since FROM log WHERE table_id = ?", (table_id,))
        oldest = self.connection.execute(
            f"SELECT seq, at FROM log_{table_id} ORDER BY seq LIMIT 1"
        ).fetchone()
        first_us: int = since_us if oldest is None or oldest[0] == 1 else max(since_us, oldest[1])
        return first_us

    def state_at(self, table: str, at_us: int) -> list[Item]:
        """Return a table as it was, by undoing later changes with their before-images."""
        assert at_us >= self.first_moment_us(table)
        definition = self.definition(table)
        state = {
            (pk, sk): stored
            for pk, sk, stored in self.connection.execute(f"SELECT pk, sk, item FROM item_{definition['id']}")
        }
        for pk, sk, before in self.connection.execute(
            f"SELECT pk, sk, before FROM log_{definition['id']} WHERE at > ? ORDER BY seq DESC", (at_us,)
        ):
            state.pop((pk, sk), None)
            if before is not None:
                state[pk, sk] = before
        return [read_item(stored) for _, stored in sorted(state.items())]

    def versions(self, table: str) -> list[tuple[Item | None, Item | None]]:
        """Return each change as what was and what then was, also where the log does not have the latter."""
        table_id = self.definition(table)["id"]
        known = {
            (pk, sk): stored
            for pk, sk, stored in self.connection.execute(f"SELECT pk, sk, item FROM item_{table_id}")
        }
        changes = []
        rows = self.connection.execute(
            f"SELECT event, pk, sk, before, after FROM log_{table_id} ORDER BY seq DESC"
        )
        for event, pk, sk, before, after in rows:
            left = None if event in (3, 4) else known.get((pk, sk))
            assert after is None or after == left
            assert (before is None) == (event == 1)
            known[pk, sk] = before
            changes.append((before and read_item(before), left and read_item(left)))
        return changes[::-1]

    def expiring(self, table: str) -> list[tuple[int, Item]]:
        """Return the items that expire, in their order, each with its second."""
        definition = self.definition(table)
        ttl = definition["ttl"]
        assert ttl["is_ready"]
        rows = self.connection.execute(
            f"SELECT expires, t.item FROM expiry_{ttl['id']} e JOIN item_{definition['id']} t ON t.id = e.item "
            "ORDER BY expires, e.item"
        )
        items = [(expires, read_item(stored)) for expires, stored in rows]
        for expires, item in items:
            assert expires == int(Decimal(item[ttl["attribute"]]["N"]))
        return items

    def shards(self, table: str) -> list[dict[str, Any]]:
        """Return the shards of the stream that a table has, each with the numbers of its records."""
        table_id = self.definition(table)["id"]
        ((stream_id,),) = self.connection.execute(
            "SELECT id FROM stream WHERE table_id = ? AND ended IS NULL", (table_id,)
        )
        names = ("number", "parent", "part", "parts", "first", "last")
        rows = self.connection.execute(
            f"SELECT {', '.join(names)} FROM shard WHERE stream_id = ? ORDER BY number", (stream_id,)
        )
        shards = [dict(zip(names, row, strict=True)) for row in rows]
        log = self.connection.execute(f"SELECT seq, pk FROM log_{table_id} ORDER BY seq").fetchall()
        for shard in shards:
            shard["records"] = [seq for seq, pk in log if is_in_shard(shard, seq, pk)]
        return shards


def is_in_shard(shard: dict[str, Any], seq: int, pk: bytes) -> bool:
    if seq < shard["first"] or (shard["last"] is not None and seq > shard["last"]):
        return False
    place, part = int.from_bytes(pk[:4], "big") * int(shard["parts"]), int(shard["part"])
    return part << 32 <= place < (part + 1) << 32


def read_item(stored: bytes) -> Item:
    item: Item = json.loads(stored)
    plain = json.dumps(item, separators=(",", ":"), ensure_ascii=False).encode()
    assert stored == (b" " if b'"B":' in plain or b'"BS":' in plain else b"") + plain
    for value in item.values():
        check_value(value)
    return item


def check_value(value: dict[str, Any]) -> None:
    """Hold a value to the normal form."""
    ((kind, payload),) = value.items()
    match kind:
        case "SS" | "NS" | "BS":
            places = [key_bytes(kind[0], member) for member in payload]
            assert places == sorted(set(places))
        case "L":
            for member in payload:
                check_value(member)
        case "M":
            for member in payload.values():
                check_value(member)
        case "N":
            assert not re.search(r"[eE+]|^-?0[0-9]|\.[0-9]*0$|\.$|^-0$", payload)
        case "B":
            assert base64.b64encode(base64.b64decode(payload)).decode() == payload
        case "NULL":
            assert payload is True


def columns_of(key: dict[str, Attributes], item: Item) -> tuple[bytes, bytes]:
    (partition,) = key["partition"]
    sort = b"".join(key_bytes(part["type"], item[part["name"]][part["type"]]) for part in key["sort"])
    return partition_column(key_bytes(partition["type"], item[partition["name"]][partition["type"]])), sort


def projected(item: Item, index: dict[str, Any], table: dict[str, Any]) -> Item:
    if index["projection"]["kind"] == "ALL":
        return item
    keys = (
        *table["key"]["partition"],
        *table["key"]["sort"],
        *index["key"]["partition"],
        *index["key"]["sort"],
    )
    names = {*(attribute["name"] for attribute in keys), *index["projection"]["attributes"]}
    return {name: value for name, value in item.items() if name in names}
