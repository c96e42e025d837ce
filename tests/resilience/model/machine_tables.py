"""State machine, first part: tables and their indexes come and go, and everything agrees with the model."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from resilience.model.endpoints import Endpoint
from resilience.model.pages import check_groups, check_same_items, read_all
from resilience.model.paths import Printer
from resilience.model.refusals import RefusedError
from resilience.model.strategies import INDEX_NAMES, TABLE_NAMES, definitions, index
from resilience.model.tables import Definition, Index, Table
from resilience.model.values import Item, Value, frozen

Expected = TypeVar("Expected")

STEPS_BETWEEN_COMPARISONS = 10
INDEX_WAIT_S = 20.0
GLOBAL_INDEXES_MAX = 3


def table_exists(machine: TableRules) -> bool:
    return bool(machine.tables)


class TableRules(RuleBasedStateMachine):
    """Creates, changes and deletes tables. A subclass says what stands at the other end."""

    poll_s = 0.001

    def __init__(self) -> None:
        super().__init__()
        self.tables: dict[str, Table] = {}
        self.steps = 0
        self.endpoint = self.open()

    def open(self) -> Endpoint:
        raise NotImplementedError

    def close(self) -> None:
        """Let go of the endpoint."""

    # --- comparing ------------------------------------------------------------------

    def both(
        self, expected: Callable[[], Expected], operation: str, **parameters: Any
    ) -> tuple[Expected, dict[str, Any]] | None:
        """Ask the model and the endpoint. Return both answers, or None when both refused alike."""
        try:
            wanted = expected()
        except RefusedError as refusal:
            self.check_refused(refusal, operation, parameters)
            return None
        return wanted, self.endpoint.call(operation, **parameters)

    def check_refused(self, wanted: RefusedError, operation: str, parameters: dict[str, Any]) -> None:
        actual = self.endpoint.refusal(operation, **parameters)
        assert actual is not None, f"not refused with {wanted!r}: {operation} {parameters}"
        if self.refused_otherwise(actual, wanted):
            return
        assert actual.code == wanted.code, f"{actual!r} is not {wanted!r}: {operation} {parameters}"
        if wanted.message is not None and self.endpoint.dialect.exact_messages:
            assert actual.message == wanted.message, f"{actual!r} is not {wanted!r}: {operation} {parameters}"
        self.check_item(actual.item, wanted.item)
        self.check_reasons(actual, wanted)

    def refused_otherwise(self, actual: RefusedError, wanted: RefusedError) -> bool:
        """Tell whether an endpoint refused a wrong transaction whole where AWS cancels it, or the reverse."""
        allowed = not self.endpoint.dialect.orderly_transactions
        either = {"ValidationException", "TransactionCanceledException"}
        wrong = wanted.code == "ValidationException" or "ValidationError" in [
            reason.code for reason in wanted.reasons
        ]
        return allowed and wrong and {actual.code, wanted.code} == either

    def check_reasons(self, actual: RefusedError, wanted: RefusedError) -> None:
        """Compare the reasons for each action of a transaction.

        DynamoDB may stop at an action that is not valid, and then has no reason for the others (scylladb,
        test_transact_write_cancellation_reasons_validationerror, verified on AWS).
        """
        codes = [reason.code for reason in actual.reasons]
        expected = [reason.code for reason in wanted.reasons]
        assert len(codes) == len(expected), f"{codes} is not {expected}"
        stopped = "ValidationError" in codes and "ValidationError" in expected
        for one, other in zip(actual.reasons, wanted.reasons, strict=True):
            if stopped and one.code == "None":
                continue
            assert one.code == other.code, f"{codes} is not {expected}"
            if other.message is not None and self.endpoint.dialect.exact_messages:
                assert one.message == other.message, f"{one!r} is not {other!r}"
            self.check_item(one.item, other.item)
        if codes:
            prefix = "Transaction cancelled, please refer cancellation reasons for specific reasons"
            assert actual.message == f"{prefix} [{', '.join(codes)}]"

    def check_item(self, actual: Item | None, wanted: Item | None) -> None:
        assert frozen(actual) == frozen(wanted), f"{actual!r} is not {wanted!r}"

    def draw_table(self, data: st.DataObject) -> tuple[str, Table]:
        name = data.draw(st.sampled_from(sorted(self.tables)), label="table")
        return name, self.tables[name]

    # --- rules ----------------------------------------------------------------------

    @rule(data=st.data())
    def change_tables(self, data: st.DataObject) -> None:
        """Create or delete a table, or add or remove an index."""
        ways = [self.create_table, self.delete_table, self.add_index, self.add_index, self.remove_index]
        data.draw(st.sampled_from(ways), label="way")(data)
        assert self.endpoint.call("list_tables")["TableNames"] == sorted(self.tables)

    def create_table(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(TABLE_NAMES), label="name")
        definition = data.draw(definitions(), label="definition")
        if name in self.tables:
            wanted = RefusedError("ResourceInUseException")
            self.check_refused(wanted, "create_table", {"TableName": name, **definition.to_wire()})
        else:
            self.create(name, definition)

    def create(self, name: str, definition: Definition) -> None:
        answer = self.endpoint.call("create_table", TableName=name, **definition.to_wire())
        assert answer["TableDescription"]["TableName"] == name
        self.tables[name] = Table(definition)
        self.await_indexes(name)

    def delete_table(self, data: st.DataObject) -> None:
        if len(self.tables) < 2:
            return
        name, _ = self.draw_table(data)
        self.delete(name)

    def delete(self, name: str) -> None:
        self.endpoint.call("delete_table", TableName=name)
        del self.tables[name]
        wanted = RefusedError("ResourceNotFoundException")
        self.check_refused(wanted, "describe_table", {"TableName": name})
        self.check_refused(wanted, "scan", {"TableName": name})

    def add_index(self, data: st.DataObject) -> None:
        """Add a global index to a table that has items; it fills from them."""
        name, table = self.draw_table(data)
        definition = table.definition
        taken = [other.name for other in definition.indexes if not other.local]
        free = [candidate for candidate in INDEX_NAMES if candidate not in taken]
        if len(taken) >= GLOBAL_INDEXES_MAX:
            return
        added = data.draw(index(free[0], definition.types, definition.range_name, local=False))
        if not self.addable(table, added):
            return
        table.add_index(added)
        self.endpoint.call(
            "update_table",
            TableName=name,
            AttributeDefinitions=table.definition.attribute_definitions(),
            GlobalSecondaryIndexUpdates=[{"Create": added.to_wire()}],
        )
        self.await_indexes(name)

    def remove_index(self, data: st.DataObject) -> None:
        name, table = self.draw_table(data)
        present = self.removable(table)
        if not present:
            return
        removed = data.draw(st.sampled_from(present))
        update = {"GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": removed}}]}
        self.endpoint.call("update_table", TableName=name, **update)
        table.remove_index(removed)
        self.await_indexes(name)
        gone = RefusedError("ValidationException")
        self.check_refused(gone, "scan", {"TableName": name, "IndexName": removed})

    def addable(self, table: Table, index: Index) -> bool:
        return True

    def removable(self, table: Table) -> list[str]:
        return [index.name for index in table.definition.indexes if not index.local]

    def await_indexes(self, name: str) -> None:
        """Wait until the table and its indexes are as the model has them, and active."""
        wanted = {index.name for index in self.tables[name].definition.indexes if not index.local}
        give_up_s = time.monotonic() + INDEX_WAIT_S
        while True:
            description = self.endpoint.call("describe_table", TableName=name)["Table"]
            indexes = description.get("GlobalSecondaryIndexes", [])
            statuses = {description["TableStatus"], *(index["IndexStatus"] for index in indexes)}
            if {index["IndexName"] for index in indexes} == wanted and statuses == {"ACTIVE"}:
                return
            assert time.monotonic() < give_up_s, f"{name} does not become active: {description}"
            time.sleep(self.poll_s)

    # --- invariants -----------------------------------------------------------------

    @invariant()
    def compare_now_and_then(self) -> None:
        self.steps += 1
        if self.steps % STEPS_BETWEEN_COMPARISONS == 0:
            self.compare_everything()

    def compare_everything(self) -> None:
        for name, table in self.tables.items():
            for view in (None, *table.definition.indexes):
                self.compare_view(name, table, view)

    def compare_view(self, name: str, table: Table, view: Index | None) -> None:
        """Read a table or index whole, and partition by partition, forwards and backwards."""
        source = {"TableName": name} | ({} if view is None else {"IndexName": view.name})
        entries = table.entries(view)
        reading = read_all(self.endpoint, "scan", source)
        check_same_items(reading.items, [table.view(item, view) for item in entries])
        hash_name = (view or table.definition).hash_name
        partitions: list[Value] = [item[hash_name] for item in entries]
        for hash_value in sorted(set(partitions), key=repr):
            printer = Printer()
            text = f"{printer.name(hash_name)} = {printer.value(hash_value)}"
            for forward in (True, False):
                parameters = {"KeyConditionExpression": text, "ScanIndexForward": forward}
                found = read_all(self.endpoint, "query", source | parameters | printer.parameters())
                groups = table.query(view, hash_value, None, forward=forward)
                check_groups(found.items, [[table.view(item, view) for item in group] for group in groups])

    def teardown(self) -> None:
        try:
            if sys.exc_info()[0] is None:  # a step that failed says more than what it left behind
                self.compare_everything()
        finally:
            self.close()
