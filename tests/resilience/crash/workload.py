"""What the writers do. Pure: the operation is a function of seed, writer and number.

So the process that verifies knows every operation, also the one that was in flight when a writer died,
without having been told. Each writer has keys of its own; accounts and the counter are shared by all. Every
operation may be carried out twice in a row with the result of once, so a writer that was killed starts again
with the operation it had not reported.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

Item = dict[str, dict[str, Any]]

LEDGER = "ledger"
EVENTS = "events"
SHARED = "shared"

ACCOUNTS = 5
ACCOUNT_START = 1000
KEYS_OF_A_WRITER = 12
GROUPS = 4


@dataclass(frozen=True, slots=True)
class Put:
    table: str
    item: Item


@dataclass(frozen=True, slots=True)
class Update:
    """Change an item of the ledger if it exists; its place in the indexes moves."""

    writer: int
    slot: int
    number: int
    payload: str


@dataclass(frozen=True, slots=True)
class Delete:
    table: str
    writer: int
    slot: int


@dataclass(frozen=True, slots=True)
class Batch:
    """BatchWriteItem: each of its requests stands alone, so any part of it may be there after a crash."""

    puts: tuple[Put, ...]
    deletes: tuple[Delete, ...]


@dataclass(frozen=True, slots=True)
class Transfer:
    """Move an amount between two accounts and leave a receipt, all or nothing."""

    writer: int
    number: int
    source: int
    target: int
    amount: int
    token: str


@dataclass(frozen=True, slots=True)
class Count:
    """Add one to the shared total and note the number of the operation, unless that was done already."""

    writer: int
    number: int


Operation = Put | Update | Delete | Batch | Transfer | Count


@dataclass(frozen=True, slots=True)
class Workload:
    """A family of writers; `large` is the share of items that span many pages."""

    seed: int
    large: float = 0.02
    large_bytes: int = 20_000

    def operation(self, writer: int, number: int) -> Operation:
        """Return what the writer does as its number-th operation (the first is 1)."""
        random = Random(f"{self.seed}/{writer}/{number}")
        kind = random.choices(
            ("put", "event", "update", "delete", "batch", "transfer", "count"), (24, 14, 20, 8, 6, 16, 12)
        )[0]
        match kind:
            case "put":
                return self._put(random, LEDGER, writer, number)
            case "event":
                return self._put(random, EVENTS, writer, number)
            case "update":
                return Update(writer, _slot(random), number, self._payload(random))
            case "delete":
                return Delete(random.choice((LEDGER, EVENTS)), writer, _slot(random))
            case "batch":
                return self._batch(random, writer, number)
            case "transfer":
                source, target = random.sample(range(ACCOUNTS), 2)
                token = f"{self.seed}-{writer}-{number}"
                return Transfer(writer, number, source, target, random.randint(1, 50), token)
            case _:
                return Count(writer, number)

    def _put(self, random: Random, table: str, writer: int, number: int, slot: int | None = None) -> Put:
        slot = _slot(random) if slot is None else slot
        item = {
            **slot_key(writer, slot),
            "Number": {"N": str(number)},
            "Payload": {"S": self._payload(random)},
            "Bytes": {"B": random.randbytes(random.randint(0, 40))},
        }
        if table == LEDGER:
            item |= index_attributes(random.randrange(GROUPS), number)
            if random.random() < 0.5:
                item["Flag"] = {"S": random.choice("xyz")}
        return Put(table, item)

    def _batch(self, random: Random, writer: int, number: int) -> Batch:
        slots = random.sample(range(KEYS_OF_A_WRITER), 4)
        puts = tuple(self._put(random, LEDGER, writer, number, slot) for slot in slots[:3])
        return Batch(puts, (Delete(LEDGER, writer, slots[3]),))

    def _payload(self, random: Random) -> str:
        large = random.random() < self.large
        length = random.randint(self.large_bytes // 2, self.large_bytes) if large else random.randint(20, 900)
        return random.randbytes(length // 2).hex()


def _slot(random: Random) -> int:
    return random.randrange(KEYS_OF_A_WRITER)


# --- keys ---------------------------------------------------------------------------


def slot_key(writer: int, slot: int) -> Item:
    return {"PK": {"S": f"writer#{writer}"}, "SK": {"S": f"slot#{slot:02}"}}


def receipt_key(writer: int, number: int) -> Item:
    # The place is used again after a while, so that the ledger does not grow without end.
    return {"PK": {"S": f"writer#{writer}"}, "SK": {"S": f"receipt#{number % 16:02}"}}


def account_key(account: int) -> Item:
    return {"PK": {"S": f"account#{account}"}}


COUNTER_KEY: Item = {"PK": {"S": "counter"}}


def index_attributes(group: int, number: int) -> Item:
    """Where an item of the ledger stands in the index ByGroup."""
    return {"Group": {"S": f"group#{group}"}, "Rank": {"N": str(number % 7)}}


def receipt(transfer: Transfer) -> Item:
    return {
        **receipt_key(transfer.writer, transfer.number),
        **index_attributes(transfer.number % GROUPS, transfer.number),
        "Number": {"N": str(transfer.number)},
        "From": {"N": str(transfer.source)},
        "To": {"N": str(transfer.target)},
        "Amount": {"N": str(transfer.amount)},
    }
