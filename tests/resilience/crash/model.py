"""What the tables must hold, as plain dicts.

A writer's state is a function of how many of its operations are there. The state of the whole database is
the sum of its writers' states, since the shared items are sums: balances are what the transfers moved, the
counter's total is how often it was counted.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import assert_never

from resilience.crash.perform import DONE, REFUSED
from resilience.crash.workload import (
    ACCOUNT_START,
    ACCOUNTS,
    COUNTER_KEY,
    GROUPS,
    LEDGER,
    SHARED,
    Batch,
    Count,
    Delete,
    Item,
    Operation,
    Put,
    Transfer,
    Update,
    Workload,
    account_key,
    index_attributes,
    receipt,
    slot_key,
)

Key = tuple[str, ...]
Place = tuple[str, Key]  # table and key
Items = dict[Place, Item]


def place_of(table: str, item: Item) -> Place:
    key = (item["PK"]["S"],) if table == SHARED else (item["PK"]["S"], item["SK"]["S"])
    return table, key


@dataclass(frozen=True)
class WriterState:
    """What is there of one writer: its items, what it moved between accounts, what it counted."""

    items: Items = field(default_factory=dict)
    moved: Counter[int] = field(default_factory=Counter)
    counts: int = 0
    count_last: int = 0

    def after(self, operation: Operation) -> tuple[WriterState, str]:
        """Return the state after the operation, and the outcome it must have."""
        match operation:
            case Put(table, item):
                return self._with({place_of(table, item): item}), DONE
            case Update():
                return self._updated(operation)
            case Delete(table, writer, slot):
                return self._with({place_of(table, slot_key(writer, slot)): None}), DONE
            case Batch(puts, deletes):
                changes: dict[Place, Item | None] = {place_of(put.table, put.item): put.item for put in puts}
                changes |= {
                    place_of(delete.table, slot_key(delete.writer, delete.slot)): None for delete in deletes
                }
                return self._with(changes), DONE
            case Transfer():
                moved = Counter(self.moved)
                moved[operation.source] -= operation.amount
                moved[operation.target] += operation.amount
                item = receipt(operation)
                return replace(self._with({place_of(LEDGER, item): item}), moved=moved), DONE
            case Count(_, number):
                return replace(self, counts=self.counts + 1, count_last=number), DONE
            case _:
                assert_never(operation)

    def _with(self, changes: dict[Place, Item | None]) -> WriterState:
        items = dict(self.items)
        for place, item in changes.items():
            if item is None:
                items.pop(place, None)
            else:
                items[place] = item
        return replace(self, items=items)

    def _updated(self, update: Update) -> tuple[WriterState, str]:
        place = place_of(LEDGER, slot_key(update.writer, update.slot))
        stored = self.items.get(place)
        if stored is None:
            return self, REFUSED
        item = {
            **stored,
            "Number": {"N": str(update.number)},
            "Payload": {"S": update.payload},
            **index_attributes(update.number % GROUPS, update.number),
        }
        item.pop("Flag", None)
        return self._with({place: item}), DONE


@dataclass
class Progress:
    """How far one writer has come, as it reported, and what may be there beyond that."""

    workload: Workload
    writer: int
    acknowledged: int = 0
    state: WriterState = field(default_factory=WriterState)
    _again: bool = False  # the next operation may have been done already by a process that died

    def acknowledge(self, number: int, outcome: str) -> None:
        """Take in a reported operation; its outcome must be the one the model expects."""
        assert number == self.acknowledged + 1, f"writer {self.writer} reported {number} out of order"
        operation = self.workload.operation(self.writer, number)
        self.state, expected = self.state.after(operation)
        # A counting that was in flight when its process died is refused when it had been done after all.
        known = outcome == expected or (self._again and isinstance(operation, Count))
        assert known, f"writer {self.writer}, operation {number}: {outcome}, expected {expected}: {operation}"
        self.acknowledged, self._again = number, False

    def restarted(self) -> None:
        """Note that the process died: whether the operation in flight was done is open."""
        self._again = True

    def possible_states(self) -> tuple[WriterState, WriterState]:
        """Return the state without and with the operation that may be in flight."""
        return self.state, self.state.after(self.in_flight)[0]

    @property
    def in_flight(self) -> Operation:
        return self.workload.operation(self.writer, self.acknowledged + 1)


def shared_items(states: dict[int, WriterState]) -> Items:
    """Return the accounts and the counter as these writers must have left them."""
    moved: Counter[int] = Counter()
    for state in states.values():
        moved.update(state.moved)
    items: Items = {}
    for account in range(ACCOUNTS):
        item = {**account_key(account), "Balance": {"N": str(ACCOUNT_START + moved[account])}}
        items[place_of(SHARED, item)] = item
    counter: Item = {**COUNTER_KEY, "Total": {"N": str(sum(state.counts for state in states.values()))}}
    for writer, state in states.items():
        if state.count_last:
            counter[f"Writer{writer}"] = {"N": str(state.count_last)}
    items[place_of(SHARED, counter)] = counter
    return items
