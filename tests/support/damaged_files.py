"""A database with something of everything, what it holds and has held, and damage to chosen pages of it."""

from __future__ import annotations

import base64
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Final, Literal

import apsw
import orjson

from singletable import Database
from singletable.clock import ManualClock

PAGE_BYTES: Final = 4096
_FAR_S: Final = 1_900_000_000

Key = bytes
"""The attributes of a key as JSON, which sorts and can be hashed."""
Item = dict[str, Any]


@dataclass
class Sound:
    """A sound file, and what its tables hold and have held."""

    path: Path
    items: dict[str, dict[Key, Item]] = field(default_factory=lambda: defaultdict(dict))
    versions: dict[str, dict[Key, list[Item]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )
    past: list[tuple[int, dict[Key, Item]]] = field(default_factory=list)
    """States of the table `recovered`, each with its time in seconds."""
    content: bytes = b""
    pages: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    """The pages of each tree of each kind (leaf, internal, overflow), as SQLite's dbstat tells them."""

    @property
    def page_count(self) -> int:
        return len(self.content) // PAGE_BYTES


_KEYS: Final[dict[str, tuple[tuple[str, Literal["S", "N", "B"]], ...]]] = {
    "plain": (("id", "S"),),
    "twin": (("id", "S"),),
    "numbers": (("n", "N"), ("b", "B")),
    "streamed": (("pk", "S"), ("sk", "N")),
    "recovered": (("id", "B"),),
    "empty": (("id", "S"),),
    "gone": (("id", "S"),),
}


def key_of(table: str, item: Item) -> Key:
    return key_text({name: item[name] for name, _ in _KEYS[table]})


def key_text(key: Item) -> Key:
    """Return a key as JSON; its binary values are bytes, or base64 already."""
    plain = {
        name: {"B": base64.b64encode(value["B"]).decode()} if isinstance(value.get("B"), bytes) else value
        for name, value in key.items()
    }
    return orjson.dumps(plain, option=orjson.OPT_SORT_KEYS)


def all_of(reader: Any, table: str) -> dict[Key, Item]:
    """Return all items of a table, by their keys."""
    found: dict[Key, Item] = {}
    start: dict[str, Any] = {}
    while True:
        page = reader.scan(TableName=table, **start)
        found |= {key_of(table, item): item for item in page["Items"]}
        if "LastEvaluatedKey" not in page:
            return found
        start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}


class _Maker:
    def __init__(self, sound: Sound, scale: int) -> None:
        self._sound = sound
        self._random = Random(1)
        self._clock = ManualClock()
        self._scale = scale

    def make(self) -> None:
        with Database.open(self._sound.path, durability="relaxed", clock=self._clock) as self._db:
            for table in _KEYS:
                if table != "gone":
                    self._create(table)
            for part in range(2):
                for number in range(part * self._scale, (part + 1) * self._scale):
                    self._put_everywhere(number)
                    self._clock.time_us += 1_000_000
                self._change_some()
                self._note_past()
                if part == 0:
                    for table in ("plain", "numbers"):
                        self._db.create_backup(TableName=table, BackupName="half")
            self._free_pages()

    def _free_pages(self) -> None:
        """Delete items that stand together: free pages still have them, as SQLite does not wipe what is free."""
        for table in ("plain", "streamed"):
            items = self._sound.items[table]
            for key in [key for key, item in items.items() if "changed" not in item][: self._scale // 3]:
                item = items.pop(key)
                self._db.delete_item(TableName=table, Key={name: item[name] for name, _ in _KEYS[table]})
                self._clock.time_us += 1_000_000
        self._create("gone")
        for number in range(20):
            self._db.put_item(TableName="gone", Item={"id": {"S": f"id{number}"}, "text": {"S": "x" * 1_500}})
        self._db.delete_table(TableName="gone")

    def _create(self, table: str) -> None:
        named = list(_KEYS[table])
        more: dict[str, Any] = {}
        if table in ("numbers", "streamed"):
            named.append(("g", "S"))
            more["GlobalSecondaryIndexes"] = [
                {
                    "IndexName": "by_g",
                    "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
                    "Projection": {"ProjectionType": "KEYS_ONLY"},
                }
            ]
        if table == "streamed":
            more["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
        self._db.create_table(
            TableName=table,
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": kind} for name, kind in named],
            KeySchema=[
                {"AttributeName": name, "KeyType": "RANGE" if place else "HASH"}
                for place, (name, _) in enumerate(_KEYS[table])
            ],
            **more,
        )
        if table == "recovered":
            self._db.update_continuous_backups(
                TableName=table, PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
            )
        if table == "numbers":
            self._db.update_time_to_live(
                TableName=table, TimeToLiveSpecification={"Enabled": True, "AttributeName": "until"}
            )

    def _put_everywhere(self, number: int) -> None:
        for table in ("plain", "twin", "numbers", "streamed", "recovered"):
            self._put(table, number)

    def _put(self, table: str, number: int) -> None:
        size = self._random.choice((5, 50, 200, 400))
        if number % 29 == 0:
            size = 9_000
        text = {"S": self._random.choice("abcdefgh") * size}
        match table:
            case "numbers":
                item: Item = {
                    "n": {"N": str(number % 7 - 3)},
                    "b": {"B": number.to_bytes(2) * 20},
                    "g": {"S": "x"},
                }
                if number % 2:
                    item["until"] = {"N": str(_FAR_S + number)}
            case "streamed":
                item = {"pk": {"S": f"p{number % 5}"}, "sk": {"N": str(number)}, "text": text}
                if number % 3:
                    item["g"] = {"S": f"g{number % 3}" * 30}
            case "recovered":
                item = {"id": {"B": number.to_bytes(3)}, "text": text}
            case _:
                item = {"id": {"S": f"id{number}"}, "text": text}
        self._db.put_item(TableName=table, Item=item)
        key = key_of(table, item)
        self._sound.items[table][key] = item
        self._sound.versions[table][key].append(item)

    def _change_some(self) -> None:
        for table in ("plain", "twin", "numbers", "streamed", "recovered"):
            items = self._sound.items[table]
            for key in self._random.sample(sorted(items), len(items) // 3):
                self._clock.time_us += 1_000_000
                item = items.pop(key)
                kept = {name: item[name] for name, _ in _KEYS[table]}
                if self._random.random() < 0.5:
                    self._db.delete_item(TableName=table, Key=kept)
                    continue
                changed = {**item, "changed": {"N": str(self._random.randrange(1_000))}}
                self._db.put_item(TableName=table, Item=changed)
                items[key] = changed
                self._sound.versions[table][key].append(changed)
            self._note_past()

    def _note_past(self) -> None:
        self._sound.past.append((self._clock.time_us, dict(self._sound.items["recovered"])))
        self._clock.time_us += 1_000_000


def make_sound(folder: Path, scale: int = 90) -> Sound:
    """Make the file: tables with equal keys, binary and numeric ones, indexes, expiry, a stream, backups."""
    sound = Sound(folder / "sound.db")
    _Maker(sound, scale).make()
    sound.content = sound.path.read_bytes()
    connection = apsw.Connection(str(sound.path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        rows: list[Any] = connection.execute("SELECT name, pagetype, pageno FROM dbstat").fetchall()
    finally:
        connection.close()
    for name, kind, page in rows:
        sound.pages.setdefault((name, kind), []).append(page)
    in_use = {page for pages in sound.pages.values() for page in pages}
    free = [page for page in range(1, sound.page_count + 1) if page not in in_use]
    trunk = int.from_bytes(sound.content[32:36])
    sound.pages["freelist", "trunk"] = [trunk]
    sound.pages["freelist", "leaf"] = [page for page in free if page != trunk]
    return sound


def damage(content: bytes, page: int, random: Random) -> bytes:
    """Return a file with another content of a page: a bit, a half, all of it, or that of another page."""
    start = (page - 1) * PAGE_BYTES
    found = bytearray(content[start : start + PAGE_BYTES])
    match random.randrange(4):
        case 0:
            found[random.randrange(PAGE_BYTES)] ^= 1 << random.randrange(8)
        case 1:
            found[PAGE_BYTES // 2 :] = random.randbytes(PAGE_BYTES // 2)
        case 2:
            found[:] = bytes(PAGE_BYTES)
        case _:
            other = random.randrange(len(content) // PAGE_BYTES) * PAGE_BYTES
            found[:] = content[other : other + PAGE_BYTES]
    return content[:start] + found + content[start + PAGE_BYTES :]
