"""Realistic single-table items: an order of a customer, unique every time, of about 1 KB or 3 KB as stored.

Most have many attributes; to tell what depends on that, there are some with one long text instead.

Everything follows from a seed. Numbers are in normal form and sets are sorted, so that an item reads
back exactly as it was given and the stored bytes can be compared.
"""

from __future__ import annotations

import random
from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

Item = dict[str, dict[str, Any]]

SEED: Final = 20_240_517
TABLE: Final = "orders"
INDEX: Final = "by-status"
ORDERS_PER_CUSTOMER: Final = 40  # more than a page of 25, so that every query has a next page
ORDERS_PER_BUCKET: Final = 40

STATUSES: Final = ("PLACED", "PACKED", "SHIPPED", "DELIVERED", "RETURNED")
CITIES: Final = ("Amsterdam", "Bergen", "Český Krumlov", "Graz", "Kraków", "León", "Málaga", "Odense")
NOTE: Final = (
    "please leave the parcel with the neighbour or behind the green door call before noon bread milk "
    "rye flour butter lemon walnut honey kefir garlic basil pepper salt oats apple cheese yeast"
)
TEXT_CHARACTERS: Final = 64 * 1024

TABLE_DEFINITION: Final[dict[str, Any]] = {
    "TableName": TABLE,
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [
        {"AttributeName": name, "AttributeType": "S"} for name in ("PK", "SK", "GSI1PK", "GSI1SK")
    ],
    "KeySchema": [
        {"AttributeName": "PK", "KeyType": "HASH"},
        {"AttributeName": "SK", "KeyType": "RANGE"},
    ],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": INDEX,
            "KeySchema": [
                {"AttributeName": "GSI1PK", "KeyType": "HASH"},
                {"AttributeName": "GSI1SK", "KeyType": "RANGE"},
            ],
            "Projection": {"ProjectionType": "ALL"},
        }
    ],
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How large an item is: the number of order lines and the length of the note; or all of it is the note."""

    name: str
    lines: int
    note_characters: int
    is_one_text: bool = False
    table: str = TABLE


ONE_KB: Final = Size(name="1 KB", lines=2, note_characters=326)
ONE_KB_TEXT: Final = Size(name="1 KB", lines=0, note_characters=872, is_one_text=True, table="texts")
THREE_KB: Final = Size(name="3 KB", lines=6, note_characters=1902)


def partition_key(number: int) -> str:
    return f"CUSTOMER#{number // ORDERS_PER_CUSTOMER:08d}"


def sort_key(number: int) -> str:
    return f"ORDER#2024-05-17T12:00:{number % ORDERS_PER_CUSTOMER:02d}Z"


def key_of(number: int) -> Item:
    """The primary key of the item with this number."""
    return {"PK": {"S": partition_key(number)}, "SK": {"S": sort_key(number)}}


def bucket_key(bucket: int) -> str:
    return f"STATUS#{STATUSES[bucket % len(STATUSES)]}#{bucket:08d}"


class Payloads:
    """Makes items. The item of a number always has the same keys and never the same contents twice."""

    def __init__(self, size: Size, *, items: int, seed: int = SEED) -> None:
        self.size = size
        self.items = items
        self.random = random.Random(seed)
        self.buckets = max(1, items // ORDERS_PER_BUCKET)
        words = self.random.choices(NOTE.split(), k=TEXT_CHARACTERS // 4)
        self.text = " ".join(words)[:TEXT_CHARACTERS]
        self.made = 0

    def item(self, number: int, *, bucket: int | None = None) -> Item:
        """Make an item; its index partition follows from its number unless one is given."""
        self.made += 1
        below = self._below
        if bucket is None:
            bucket = self.usual_bucket(number)
        placed_s = 1_715_900_000 + below(10_000_000)
        keys = {
            "PK": {"S": partition_key(number)},
            "SK": {"S": sort_key(number)},
            "GSI1PK": {"S": bucket_key(bucket)},
            "GSI1SK": {"S": f"{number:010d}"},
            "type": {"S": "Order"},
            "version": {"N": str(self.made)},
        }
        if self.size.is_one_text:
            return {**keys, "note": {"S": self._text(self.size.note_characters)}}
        return {
            **keys,
            "placedAt": {"N": str(placed_s)},
            "total": {"N": f"{below(900)}.{below(10)}5"},
            "paid": {"BOOL": placed_s % 3 != 0},
            "note": {"S": self._text(self.size.note_characters)},
            "address": {
                "M": {
                    "name": {"S": f"{self._text(9)} {self.made:x}"},
                    "street": {"S": f"{self._text(14)} {1 + below(300)}"},
                    "city": {"S": CITIES[placed_s % len(CITIES)]},
                    "postcode": {"S": str(10_000 + below(90_000))},
                }
            },
            "lines": {"L": [self._line(position) for position in range(self.size.lines)]},
            "tags": {"SS": [f"tag-{placed_s % 97}", "web", f"week-{placed_s % 52}"]},
        }

    def usual_bucket(self, number: int) -> int:
        # Spread, so that the items of one index partition stand far apart in the table.
        return (number * 7919) % self.buckets

    def all_items_shuffled(self) -> Iterator[Item]:
        """Make every item once, in an order that no key follows."""
        for number in self.numbers_shuffled():
            yield self.item(number)

    def numbers_shuffled(self) -> array[int]:
        numbers = array("l", range(self.items))
        self.random.shuffle(numbers)
        return numbers

    def _below(self, limit: int) -> int:
        return int(self.random.random() * limit)  # a tenth of the cost of randrange

    def _text(self, characters: int) -> str:
        start = self._below(TEXT_CHARACTERS - characters)
        return self.text[start : start + characters]

    def _line(self, position: int) -> dict[str, Any]:
        below = self._below
        return {
            "M": {
                "sku": {"S": f"SKU-{below(1_000_000):06d}"},
                "title": {"S": self._text(24)},
                "quantity": {"N": str(1 + position % 5)},
                "price": {"N": f"{below(200)}.{below(10)}9"},
            }
        }
