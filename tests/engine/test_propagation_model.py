"""Global indexes with a delay, against a list of timed changes.

What a delayed index answers now is what the index of a database without a delay answers to which only those
changes were made that are old enough: every member of every page is compared, cursors and units too. The table
and its local index are compared with a database to which every change was made at once.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    multiple,
    precondition,
    rule,
    run_state_machine_as_test,
)

from singletable import Database
from singletable.clock import ManualClock
from support.sample_tables import all_items
from support.things import (
    ATTRIBUTES,
    CONDITIONS,
    INDEX_KEYS,
    KEYS,
    OTHERS,
    Item,
    create_things,
    key_of,
    queries,
    scans,
)

DELAY_US = 1_000

Change = tuple[int, Item, Item | None]  # when, the key, the item from then on


# --- the machine -------------------------------------------------------------------------------------


class DelayedIndexes(RuleBasedStateMachine):
    """Writes, passing time and pages; each page may be followed by the next, whatever happened in between."""

    read = Bundle("read")

    def __init__(self) -> None:
        super().__init__()
        self.clock = ManualClock()
        self.delayed = Database.open(":memory:", clock=self.clock, index_delay_s=DELAY_US / 1_000_000)
        self.at_once = Database.open(":memory:", clock=self.clock)
        self.late = Database.open(":memory:", clock=self.clock)
        self.changes: list[Change] = []

    @initialize()
    def make_tables(self) -> None:
        for db in (self.delayed, self.at_once, self.late):
            create_things(db)

    def teardown(self) -> None:
        assert self.delayed.check() == []
        for db in (self.delayed, self.at_once, self.late):
            db.close()

    # --- writing

    def made(self, key: Item) -> None:
        """Remember what a write has made of an item."""
        item = self.delayed.get_item(TableName="things", Key=key).get("Item")
        self.changes.append((self.clock.now_us(), key, item))
        self.write(self.at_once, key, item)

    @staticmethod
    def write(db: Database, key: Item, item: Item | None) -> None:
        if item is None:
            db.delete_item(TableName="things", Key=key)
        else:
            db.put_item(TableName="things", Item=item)

    @rule(key=KEYS, more=ATTRIBUTES)
    def put(self, key: Item, more: Item) -> None:
        self.delayed.put_item(TableName="things", Item={**key, **more})
        self.made(key)

    @rule(key=KEYS)
    def delete(self, key: Item) -> None:
        self.delayed.delete_item(TableName="things", Key=key)
        self.made(key)

    @rule(key=KEYS, name=st.sampled_from(["g", "h", "u", "x"]), data=st.data())
    def update(self, key: Item, name: str, data: st.DataObject) -> None:
        value = data.draw(st.none() | {**INDEX_KEYS, **OTHERS}[name])
        update: dict[str, Any] = {"UpdateExpression": f"REMOVE {name}"}
        if value is not None:
            update = {"UpdateExpression": f"SET {name} = :v", "ExpressionAttributeValues": {":v": value}}
        self.delayed.update_item(TableName="things", Key=key, **update)
        self.made(key)

    @rule(writes=st.lists(st.tuples(KEYS, st.none() | ATTRIBUTES), min_size=2, max_size=8, unique_by=key_of))
    def transact(self, writes: list[tuple[Item, Item | None]]) -> None:
        actions: list[Any] = [
            {"Delete": {"TableName": "things", "Key": key}}
            if more is None
            else {"Put": {"TableName": "things", "Item": {**key, **more}}}
            for key, more in writes
        ]
        self.delayed.transact_write_items(TransactItems=actions)
        for key, _ in writes:
            self.made(key)

    @rule(share=st.sampled_from([0.3, 0.5, 1, 2]))
    def time_passes(self, share: float) -> None:
        self.clock.time_us += int(DELAY_US * share)

    # --- reading

    def compare(self, operation: str, request: dict[str, Any]) -> Any:
        due = [change for change in self.changes if change[0] <= self.clock.now_us() - DELAY_US]
        for _, key, item in due:
            self.write(self.late, key, item)
        self.changes = self.changes[len(due) :]
        is_delayed = request.get("IndexName") not in (None, "local")
        expected = getattr(self.late if is_delayed else self.at_once, operation)(
            TableName="things", **request
        )
        answer = getattr(self.delayed, operation)(TableName="things", **request)
        assert answer == expected
        if "LastEvaluatedKey" not in answer:
            return multiple()
        return operation, {**request, "ExclusiveStartKey": answer["LastEvaluatedKey"]}

    @rule(target=read, request=queries())
    def query(self, request: dict[str, Any]) -> Any:
        return self.compare("query", request)

    @rule(target=read, request=scans())
    def scan(self, request: dict[str, Any]) -> Any:
        return self.compare("scan", request)

    @rule(target=read, page=read)
    def read_on(self, page: tuple[str, dict[str, Any]]) -> Any:
        return self.compare(*page)

    @precondition(lambda self: self.changes)
    @rule(name=st.sampled_from(sorted(CONDITIONS)))
    def everything_arrives(self, name: str) -> None:
        self.clock.time_us += DELAY_US
        for limit in (1, 100):
            request = {"TableName": "things", "IndexName": name, "Limit": limit}
            assert all_items(self.delayed, "scan", **request) == all_items(self.at_once, "scan", **request)


TestDelayedIndexes = DelayedIndexes.TestCase
TestDelayedIndexes.settings = settings(max_examples=25, stateful_step_count=50)


@pytest.mark.soak
def test_many_random_writes_arrive_late() -> None:
    long = settings(max_examples=1000, stateful_step_count=50, derandomize=False)
    run_state_machine_as_test(DelayedIndexes, settings=long)
