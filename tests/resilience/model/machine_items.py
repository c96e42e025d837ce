"""State machine, second part: single items and batches."""

from __future__ import annotations

from random import Random
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from resilience.model import conditions, updates
from resilience.model.expression_strategies import conditions as drawn_conditions
from resilience.model.expression_strategies import projections
from resilience.model.expression_strategies import updates as drawn_updates
from resilience.model.machine_tables import TableRules, table_exists
from resilience.model.paths import Path, Printer, project
from resilience.model.refusals import RefusedError
from resilience.model.strategies import TABLE_NAMES, crowd, definitions, items, keys, respelled
from resilience.model.tables import Definition, Key, Table
from resilience.model.updates import Update
from resilience.model.values import Item, item_to_wire, same

NO_CONDITION_AS_OFTEN = 2
BATCH_ITEMS_MAX = 25
MIXED_BATCH_ITEMS_MAX = 4
BATCH_KEYS_MAX = 6


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(*[st.none()] * NO_CONDITION_AS_OFTEN, strategy)


class ItemRules(TableRules):
    """Writes and reads single items, and several at once."""

    def printer(self, data: st.DataObject) -> Printer:
        return Printer(alias_all=data.draw(st.booleans(), label="placeholders for all names"))

    def spelled(self, data: st.DataObject, item: Item) -> dict[str, Any]:
        """Write an item for the wire, its numbers perhaps in an unusual spelling."""
        return respelled(item_to_wire(item), data.draw(st.sampled_from([0, 0, 1, 2, 3]), label="spelling"))

    @initialize(definition=definitions(), count=st.integers(0, BATCH_ITEMS_MAX), seed=st.integers(0, 2**32))
    def first_table(self, definition: Definition, count: int, seed: int) -> None:
        self.create(TABLE_NAMES[0], definition)
        if count:
            self.fill_table(TABLE_NAMES[0], count, seed)

    # --- many items -----------------------------------------------------------------

    @precondition(table_exists)
    @rule(data=st.data(), count=st.integers(1, BATCH_ITEMS_MAX), seed=st.integers(0, 2**32))
    def fill(self, data: st.DataObject, count: int, seed: int) -> None:
        """Put many items at once, so that partitions and index partitions have several."""
        self.fill_table(self.draw_table(data)[0], count, seed)

    def fill_table(self, name: str, count: int, seed: int) -> None:
        table = self.tables[name]
        crowded = [item for item in crowd(table, count, Random(seed)) if fits_indexes(table, item)]
        requests = [{"PutRequest": {"Item": item_to_wire(item)}} for item in crowded]
        answer = self.endpoint.call("batch_write_item", RequestItems={name: requests})
        assert answer["UnprocessedItems"] == {}
        for item in crowded:
            table.put(item)

    # --- one item -------------------------------------------------------------------

    def write_parameters(
        self, data: st.DataObject, name: str, return_values: list[str], printer: Printer, sample: Item
    ) -> tuple[conditions.Condition | None, dict[str, Any]]:
        """Draw what the three writes share: a condition, and what to return."""
        condition = data.draw(maybe(drawn_conditions(sample)), label="condition")
        parameters: dict[str, Any] = {"TableName": name}
        if condition is not None:
            parameters["ConditionExpression"] = conditions.printed(condition, printer)
        returned = data.draw(st.sampled_from([None, *return_values]), label="ReturnValues")
        if returned is not None:
            parameters["ReturnValues"] = returned
        on_failure = data.draw(st.sampled_from([None, "NONE", "ALL_OLD"]), label="on failure")
        if on_failure is not None:
            parameters["ReturnValuesOnConditionCheckFailure"] = on_failure
        return condition, parameters

    def check_attributes(self, answer: dict[str, Any], wanted: Item | None) -> None:
        """`Attributes` is there exactly when there is something to show."""
        self.check_item(self.endpoint.item(answer.get("Attributes")), wanted or None)

    @precondition(table_exists)
    @rule(data=st.data())
    def put_item(self, data: st.DataObject) -> None:
        name, table = self.draw_table(data)
        printer = self.printer(data)
        item = data.draw(items(table), label="item")
        sample = table.items.get(table.key_of(item), item)
        condition, parameters = self.write_parameters(data, name, ["NONE", "ALL_OLD"], printer, sample)
        parameters |= {"Item": self.spelled(data, item)} | printer.parameters()
        result = self.both(
            lambda: hiding(parameters, lambda: table.put(item, condition)), "put_item", **parameters
        )
        if result is not None:
            old, answer = result
            self.check_attributes(answer, old if parameters.get("ReturnValues") == "ALL_OLD" else None)

    @precondition(table_exists)
    @rule(data=st.data())
    def delete_item(self, data: st.DataObject) -> None:
        name, table = self.draw_table(data)
        printer = self.printer(data)
        key = data.draw(keys(table), label="key")
        sample = table.items.get(key, {})
        condition, parameters = self.write_parameters(data, name, ["NONE", "ALL_OLD"], printer, sample)
        parameters |= {"Key": self.spelled(data, table.key_item(key))} | printer.parameters()
        result = self.both(
            lambda: hiding(parameters, lambda: table.delete(key, condition)), "delete_item", **parameters
        )
        if result is not None:
            old, answer = result
            self.check_attributes(answer, old if parameters.get("ReturnValues") == "ALL_OLD" else None)

    @precondition(table_exists)
    @rule(data=st.data())
    def update_item(self, data: st.DataObject) -> None:
        self.update_one(data)

    @precondition(table_exists)
    @rule(data=st.data())
    def update_items_one_after_the_other(self, data: st.DataObject) -> None:
        for _ in range(3):
            self.update_one(data)

    def update_one(self, data: st.DataObject) -> None:
        name, table = self.draw_table(data)
        printer = self.printer(data)
        key = data.draw(keys(table), label="key")
        if self.holds_misfit(table, key):
            return
        sample = table.items.get(key, {})
        some = self.updates_of(table, sample)
        update: Update | None = data.draw(st.one_of(some, some, some, st.none()), label="update")
        returnable = ["NONE", "ALL_OLD", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW"]
        condition, parameters = self.write_parameters(data, name, returnable, printer, sample)
        if update is not None:
            parameters["UpdateExpression"] = updates.printed(update, printer)
        parameters |= {"Key": self.spelled(data, table.key_item(key))} | printer.parameters()
        creates = self.endpoint.dialect.removal_creates
        result = self.both(
            lambda: hiding(parameters, lambda: table.update(key, update, condition, removal_creates=creates)),
            "update_item",
            **parameters,
        )
        if result is not None:
            (old, new), answer = result
            self.check_attributes(answer, self.returned(parameters.get("ReturnValues"), update, old, new))

    def updates_of(self, table: Table, sample: Item) -> st.SearchStrategy[Update]:
        """Draw updates, of which those that mistype an index key only where that is refused as AWS does."""
        some = drawn_updates(table, sample)
        if self.endpoint.dialect.typed_index_keys:
            return some
        return some.filter(lambda update: not table.mistypes_index_key(update))

    def holds_misfit(self, table: Table, key: Key) -> bool:
        """Tell whether an item does not fit an index that was added later.

        The documentation does not say what an update of another attribute of such an item answers.
        """
        return not fits_indexes(table, table.items.get(key, {}))

    def returned(
        self, return_values: str | None, update: Update | None, old: Item | None, new: Item | None
    ) -> Item | None:
        whole = not self.endpoint.dialect.updated_parts
        match return_values:
            case "ALL_OLD":
                return old
            case "ALL_NEW":
                return new
            case "UPDATED_OLD" if update is not None and old is not None:
                return updates.touched(update, old, whole_attributes=whole)
            case "UPDATED_NEW" if update is not None and new is not None:
                return updates.touched(update, new, whole_attributes=whole)
        return None

    def get_item(self, data: st.DataObject) -> None:
        name, table = self.draw_table(data)
        printer = self.printer(data)
        key = data.draw(keys(table), label="key")
        parameters: dict[str, Any] = {"TableName": name, "Key": self.spelled(data, table.key_item(key))}
        paths = self.draw_projection(data, printer, parameters)
        if data.draw(st.booleans()):
            parameters["ConsistentRead"] = True
        answer = self.endpoint.call("get_item", **parameters, **printer.parameters())
        stored = table.items.get(key)
        self.check_item(self.endpoint.item(answer.get("Item")), shown(stored, paths))

    def draw_projection(
        self, data: st.DataObject, printer: Printer, parameters: dict[str, Any]
    ) -> tuple[Path, ...] | None:
        paths: tuple[Path, ...] | None = data.draw(maybe(projections()), label="projection")
        if paths is not None:
            parameters["ProjectionExpression"] = ", ".join(printer.path(path) for path in paths)
        return paths

    # --- batches --------------------------------------------------------------------

    @precondition(table_exists)
    @rule(data=st.data())
    def batch_write_item(self, data: st.DataObject) -> None:
        """Put and delete in several tables; one wrong request refuses all."""
        writes: dict[str, list[tuple[Key, Item | None]]] = {}
        for _ in range(data.draw(st.integers(1, MIXED_BATCH_ITEMS_MAX), label="requests")):
            name, table = self.draw_table(data)
            if data.draw(st.booleans(), label="put"):
                item = data.draw(items(table), label="item")
                writes.setdefault(name, []).append((table.key_of(item), item))
            else:
                writes.setdefault(name, []).append((data.draw(keys(table), label="key"), None))
        requests = {
            name: [
                {"DeleteRequest": {"Key": item_to_wire(self.tables[name].key_item(key))}}
                if item is None
                else {"PutRequest": {"Item": self.spelled(data, item)}}
                for key, item in entries
            ]
            for name, entries in writes.items()
        }
        misfits = [
            item
            for name, entries in writes.items()
            for _, item in entries
            if item is not None and not fits_indexes(self.tables[name], item)
        ]
        if misfits and not self.endpoint.dialect.whole_batches:
            return
        result = self.both(lambda: self.batch_written(writes), "batch_write_item", RequestItems=requests)
        if result is not None:
            assert result[1]["UnprocessedItems"] == {}

    def batch_written(self, writes: dict[str, list[tuple[Key, Item | None]]]) -> None:
        for name, entries in writes.items():
            if len({key for key, _ in entries}) < len(entries):
                raise RefusedError.validation("Provided list of item keys contains duplicates")
            for _, item in entries:
                if item is not None:
                    self.tables[name].check_index_keys(item)
        for name, entries in writes.items():
            for key, item in entries:
                if item is None:
                    self.tables[name].delete(key)
                else:
                    self.tables[name].put(item)

    def batch_get_item(self, data: st.DataObject) -> None:
        wanted: dict[str, list[Item]] = {}
        requests: dict[str, Any] = {}
        for name in data.draw(st.lists(st.sampled_from(sorted(self.tables)), min_size=1, unique=True)):
            table, printer = self.tables[name], self.printer(data)
            drawn = data.draw(st.lists(keys(table), min_size=1, max_size=BATCH_KEYS_MAX, unique=True))
            requests[name] = {"Keys": [self.spelled(data, table.key_item(key)) for key in drawn]}
            paths = self.draw_projection(data, printer, requests[name])
            requests[name] |= printer.parameters()
            found = [shown(table.items.get(key), paths) for key in drawn]
            wanted[name] = [item for item in found if item is not None]
        answer = self.endpoint.call("batch_get_item", RequestItems=requests)
        assert answer["UnprocessedKeys"] == {}
        assert set(answer["Responses"]) == set(wanted)
        for name, expected in wanted.items():
            self.check_unordered(answer["Responses"][name], expected)

    def check_unordered(self, wires: list[dict[str, Any]], wanted: list[Item]) -> None:
        actual = [self.endpoint.item(wire) or {} for wire in wires]
        for item in wanted:
            match_at = next((at for at, other in enumerate(actual) if same(item, other)), None)
            assert match_at is not None, f"{item} is not among {actual}"
            del actual[match_at]
        assert not actual


def fits_indexes(table: Table, item: Item) -> bool:
    try:
        table.check_index_keys(item)
    except RefusedError:
        return False
    return True


def hiding(parameters: dict[str, Any], expected: Any) -> Any:
    """Ask the model; a refused condition shows the item only when the request asks for it."""
    try:
        return expected()
    except RefusedError as refusal:
        if parameters.get("ReturnValuesOnConditionCheckFailure") != "ALL_OLD":
            refusal.item = None
        raise


def shown(item: Item | None, paths: tuple[Path, ...] | None) -> Item | None:
    """Project an item; one of which nothing is left is still there, empty."""
    return item if item is None or paths is None else project(item, paths)
