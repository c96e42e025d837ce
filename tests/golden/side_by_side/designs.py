"""The tables that random requests go to: every key type, every projection, local and global indexes.

They are few and made once, so that an example costs a few requests and no tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

ATTRIBUTE_NAMES = ("a", "n", "l", "m", "u", "name", "x.y")


@dataclass(frozen=True)
class Index:
    """An index of a design: the names of its partition and its sort key attributes."""

    name: str
    hashes: tuple[str, ...]
    ranges: tuple[str, ...] = ()
    projection: str = "ALL"
    included: tuple[str, ...] = ()
    is_local: bool = False

    @property
    def keys(self) -> tuple[str, ...]:
        return (*self.hashes, *self.ranges)

    def request(self) -> dict[str, Any]:
        projection: dict[str, Any] = {"ProjectionType": self.projection}
        if self.included:
            projection["NonKeyAttributes"] = list(self.included)
        return {
            "IndexName": self.name,
            "KeySchema": key_schema(self.hashes, self.ranges),
            "Projection": projection,
        }


@dataclass(frozen=True)
class Design:
    """A table: its name, the types of its key attributes, its keys and indexes."""

    name: str
    types: Mapping[str, str]
    hash: str
    range: str | None = None
    indexes: tuple[Index, ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        return (self.hash,) if self.range is None else (self.hash, self.range)

    @property
    def table(self) -> Index:
        """The table as if it were an index: what a query without IndexName goes to."""
        return Index("", (self.hash,), () if self.range is None else (self.range,))

    def request(self) -> dict[str, Any]:
        """Return the CreateTable request."""
        request: dict[str, Any] = {
            "TableName": self.name,
            "AttributeDefinitions": [
                {"AttributeName": name, "AttributeType": kind} for name, kind in self.types.items()
            ],
            "KeySchema": key_schema((self.hash,), self.table.ranges),
            "BillingMode": "PAY_PER_REQUEST",
        }
        for member, is_local in (("LocalSecondaryIndexes", True), ("GlobalSecondaryIndexes", False)):
            indexes = [index.request() for index in self.indexes if index.is_local == is_local]
            if indexes:
                request[member] = indexes
        return request


def key_schema(hashes: tuple[str, ...], ranges: tuple[str, ...]) -> list[dict[str, str]]:
    return [
        *({"AttributeName": name, "KeyType": "HASH"} for name in hashes),
        *({"AttributeName": name, "KeyType": "RANGE"} for name in ranges),
    ]


def _designs() -> Iterator[Design]:
    yield Design("Plain", {"p": "S"}, "p")
    yield Design(
        "Strings",
        {"p": "S", "r": "S", "g": "S", "h": "S"},
        "p",
        "r",
        (
            Index("gsi", ("g",), ("h",)),
            Index("keys", ("h",), projection="KEYS_ONLY"),
            Index("lsi", ("p",), ("g",), is_local=True),
        ),
    )
    yield Design(
        "Numbers",
        {"p": "N", "r": "N", "g": "N", "h": "S"},
        "p",
        "r",
        (
            Index("gsi", ("g",), ("r",), "INCLUDE", ("a", "m")),
            Index("lsi", ("p",), ("h",), "INCLUDE", ("n",), is_local=True),
        ),
    )
    yield Design(
        "Binaries",
        {"p": "B", "r": "B", "g": "B"},
        "p",
        "r",
        (
            Index("gsi", ("g",), (), "KEYS_ONLY"),
            Index("lsi", ("p",), ("g",), "KEYS_ONLY", is_local=True),
        ),
    )
    yield Design("Inverted", {"p": "S", "r": "N"}, "p", "r", (Index("gsi", ("r",), ("p",)),))
    yield Design(
        "Several",
        {"p": "S", "g": "S", "h": "N", "i": "S", "j": "N"},
        "p",
        None,
        (
            Index("gsi", ("g", "h"), ("i", "j")),
            Index("keys", ("i", "g"), (), "KEYS_ONLY"),
        ),
    )


DESIGNS = tuple(_designs())
