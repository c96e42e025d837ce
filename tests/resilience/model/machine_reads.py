"""State machine, last part: queries and scans, page by page, also while items vanish between the pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from resilience.model import conditions
from resilience.model.expression_strategies import conditions as drawn_conditions
from resilience.model.expression_strategies import projections
from resilience.model.machine_items import maybe
from resilience.model.machine_tables import table_exists
from resilience.model.machine_transactions import TransactionRules
from resilience.model.pages import Reading, check_cursors, check_groups, check_same_items, read_all
from resilience.model.paths import Path, Printer
from resilience.model.refusals import RefusedError
from resilience.model.strategies import SCALARS, range_tests, scalars
from resilience.model.tables import Index, RangeTest, Table
from resilience.model.values import Item, Value, frozen_items, item_to_wire

SEGMENTS_MAX = 4


@dataclass
class View:
    """What a query and a scan share: where they read, what they keep, what they show."""

    name: str
    table: Table
    index: Index | None
    condition: conditions.Condition | None
    paths: tuple[Path, ...] | None
    select: str | None
    parameters: dict[str, Any]

    def kept(self, item: Item) -> bool:
        """Filter an item as the index holds it."""
        return self.condition is None or conditions.holds(self.condition, self.table.view(item, self.index))

    def shown(self, items: list[Item]) -> list[Item]:
        if self.select == "COUNT":
            return []
        whole = self.select == "ALL_ATTRIBUTES"
        kept = [item for item in items if self.kept(item)]
        return [self.table.shown(item, self.index, self.paths, whole=whole) for item in kept]

    def check_allowed(self, *, query: bool) -> None:
        """Refuse what a secondary index cannot give."""
        held = self.table.projected_names(self.index)
        if self.index is None or held is None:
            return
        if self.select == "ALL_ATTRIBUTES" and not self.index.local:
            raise RefusedError.validation()
        if self.paths is not None and not self.index.local and not {path[0] for path in self.paths} <= held:
            raise RefusedError.validation()
        # A scan takes what the index does not hold for absent; a query refuses ("Secondary index … does not
        # project one or more filter attributes", quoted in sensedeep/dynamodb-onetable issue 377).
        if query and self.condition is not None and not conditions.top_level_names(self.condition) <= held:
            raise RefusedError.validation()


class ReadRules(TransactionRules):
    """Reads many items."""

    def draw_view(self, data: st.DataObject, printer: Printer, *, query: bool) -> View:
        name, table = self.draw_table(data)
        index, parameters = self.draw_source(data, name, table)
        held = table.projected_names(index)
        names = held if data.draw(st.integers(0, 4), label="within the index") else None
        settled = query or (
            self.endpoint.dialect.scan_filters_index and index is not None and not index.local
        )
        condition = self.draw_filter(data, table, index, names if settled else held, query=query)
        if condition is not None:
            parameters["FilterExpression"] = conditions.printed(condition, printer)
        select = data.draw(st.sampled_from([None, None, "COUNT", "ALL_ATTRIBUTES"]), label="Select")
        paths = None
        if select is not None:
            parameters["Select"] = select
        else:
            paths = data.draw(maybe(projections(names)), label="projection")
        if paths is not None:
            parameters["ProjectionExpression"] = ", ".join(printer.path(path) for path in paths)
        limit = data.draw(st.sampled_from([1, 2, 3, 5, None]), label="Limit")
        if limit is not None:
            parameters["Limit"] = limit
        return View(name, table, index, condition, paths, select, parameters)

    def draw_source(
        self, data: st.DataObject, name: str, table: Table
    ) -> tuple[Index | None, dict[str, Any]]:
        """Draw where to read: the table, or more often one of its indexes."""
        indexes = table.definition.indexes
        index: Index | None = data.draw(st.sampled_from([None, *indexes, *indexes]), label="index")
        return index, {"TableName": name} | ({} if index is None else {"IndexName": index.name})

    def draw_filter(
        self,
        data: st.DataObject,
        table: Table,
        index: Index | None,
        names: frozenset[str] | None,
        *,
        query: bool,
    ) -> conditions.Condition | None:
        """Draw a filter; that of a query may not name the keys it is queried by.

        What a scan of a local index sees of an attribute that the index does not hold, no source settles.
        """
        if not data.draw(st.booleans(), label="filter"):
            return None
        own = (index or table.definition).key_names() if query else ()
        known = names if names is not None else {"a1", "b1", "n1", "s1", "q1", "m1", "name", "g1", "g2", "pk"}
        usable = sorted(set(known) - set(own))
        stored = sorted(table.items, key=repr)
        sample = table.items[data.draw(st.sampled_from(stored), label="sample")] if stored else {}
        return data.draw(drawn_conditions(sample, usable), label="condition") if usable else None

    def draw_partition(
        self, data: st.DataObject, view: View, printer: Printer
    ) -> tuple[Value, RangeTest | None]:
        """Draw the key condition: mostly a partition that has items."""
        keys = view.index or view.table.definition
        types = view.table.definition.types
        stored = [item[keys.hash_name] for item in view.table.entries(view.index)]
        fresh = scalars(types[keys.hash_name])
        choice = st.one_of(st.sampled_from(stored), st.sampled_from(stored), fresh) if stored else fresh
        hash_value = data.draw(choice, label="partition")
        text = f"{printer.name(keys.hash_name)} = {printer.value(hash_value)}"
        range_test = None
        if keys.range_name is not None:
            range_test = data.draw(range_tests(types[keys.range_name]), label="sort key")
        if range_test is not None and keys.range_name is not None:
            text += f" AND {range_test.printed(keys.range_name, printer)}"
        view.parameters["KeyConditionExpression"] = text
        return hash_value, range_test

    # --- query ----------------------------------------------------------------------

    @precondition(table_exists)
    @rule(data=st.data())
    def query(self, data: st.DataObject) -> None:
        for _ in range(2):
            self.query_once(data)

    def query_once(self, data: st.DataObject) -> None:
        printer = self.printer(data)
        view = self.draw_view(data, printer, query=True)
        hash_value, range_test = self.draw_partition(data, view, printer)
        forward = data.draw(st.booleans(), label="forward")
        parameters = view.parameters | printer.parameters() | {"ScanIndexForward": forward}
        try:
            view.check_allowed(query=True)
        except RefusedError as refusal:
            self.check_refused(refusal, "query", parameters)
            return
        groups = view.table.query(view.index, hash_value, range_test, forward=forward)
        unique = view.index is None and names_its_last_item(view.table, range_test)
        reading = self.read_paged(view, "query", parameters, unique=unique)
        check_groups(reading.items, [view.shown(group) for group in groups])
        self.check_counts(reading, view, [item for group in groups for item in group])

    def read_paged(
        self, view: View, operation: str, parameters: dict[str, Any], *, unique: bool = False
    ) -> Reading:
        """Read all pages; together they are the one page that a request without limit gives."""
        reading = read_all(self.endpoint, operation, parameters, unique=unique)
        check_cursors(reading, view.table, view.index)
        if "Limit" in parameters:
            unlimited = {member: value for member, value in parameters.items() if member != "Limit"}
            at_once = read_all(self.endpoint, operation, unlimited)
            assert frozen_items(reading.items) == frozen_items(at_once.items)
            assert (reading.count, reading.scanned) == (at_once.count, at_once.scanned)
        return reading

    def check_counts(self, reading: Reading, view: View, matched: list[Item]) -> None:
        assert reading.scanned == len(matched)
        assert reading.count == sum(view.kept(item) for item in matched)

    # --- scan -----------------------------------------------------------------------

    @precondition(table_exists)
    @rule(data=st.data())
    def scan(self, data: st.DataObject) -> None:
        """Scan in segments: together they hold every item exactly once."""
        printer = self.printer(data)
        view = self.draw_view(data, printer, query=False)
        segments = data.draw(st.sampled_from([None, *range(1, SEGMENTS_MAX + 1)]), label="segments")
        parameters = view.parameters | printer.parameters()
        try:
            view.check_allowed(query=False)
        except RefusedError as refusal:
            self.check_refused(refusal, "scan", parameters)
            return
        if segments is None:
            readings = [self.read_paged(view, "scan", parameters)]
        else:
            shares = [{"TotalSegments": segments, "Segment": number} for number in range(segments)]
            readings = [self.read_paged(view, "scan", parameters | share) for share in shares]
        entries = view.table.entries(view.index)
        check_same_items([item for reading in readings for item in reading.items], view.shown(entries))
        assert sum(reading.scanned for reading in readings) == len(entries)
        assert sum(reading.count for reading in readings) == sum(view.kept(item) for item in entries)

    # --- items vanish while somebody reads ------------------------------------------

    @precondition(table_exists)
    @rule(data=st.data())
    def read_while_deleting(self, data: st.DataObject) -> None:
        """Delete the cursor's item and others between pages: nothing else is skipped or repeated."""
        name, table = self.draw_table(data)
        index, parameters = self.draw_source(data, name, table)
        operation = data.draw(st.sampled_from(["query", "scan"]), label="operation")
        if operation == "query":
            self.add_partition(data, table, index, parameters)
        at_once = read_all(self.endpoint, operation, parameters)
        limit = data.draw(st.integers(1, 3), label="Limit")
        survivors = [table.key_of(item) for item in at_once.items]
        passed = 0

        def delete_some(cursor: dict[str, Any]) -> None:
            nonlocal passed
            passed += limit
            here = survivors[passed - 1]
            cursor_item = self.endpoint.item(cursor)
            assert cursor_item is not None
            assert table.key_of(cursor_item) == here
            others = data.draw(st.lists(st.sampled_from(survivors), max_size=2), label="others")
            doomed = [*others, here] if data.draw(st.booleans(), label="cursor too") else others
            for key in doomed:
                self.endpoint.call("delete_item", TableName=name, Key=item_to_wire(table.key_item(key)))
                table.delete(key)
            survivors[passed:] = [key for key in survivors[passed:] if key not in doomed]

        unique = operation == "query" and index is None and names_its_last_item(table, None)
        parameters["Limit"] = limit
        reading = read_all(self.endpoint, operation, parameters, delete_some, unique=unique)
        assert [table.key_of(item) for item in reading.items] == survivors

    def add_partition(
        self, data: st.DataObject, table: Table, index: Index | None, parameters: dict[str, Any]
    ) -> None:
        keys = index or table.definition
        stored = [item[keys.hash_name] for item in table.entries(index)]
        choices = stored or SCALARS[table.definition.types[keys.hash_name]]
        printer = Printer()
        value = printer.value(data.draw(st.sampled_from(choices), label="partition"))
        parameters["KeyConditionExpression"] = f"{printer.name(keys.hash_name)} = {value}"
        parameters["ScanIndexForward"] = data.draw(st.booleans(), label="forward")
        parameters |= printer.parameters()


def names_its_last_item(table: Table, range_test: RangeTest | None) -> bool:
    """Tell whether a key condition on a table names its whole key, or the sort key that a page may end with."""
    if table.definition.range_name is None:
        return True
    return range_test is not None and range_test.operator in ("=", "<=", ">=", "BETWEEN")


class ModelMachine(ReadRules):
    """The whole machine."""
