"""State machine, third part: transactions, their cancellation reasons and their tokens."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from resilience.model import conditions, updates
from resilience.model.expression_strategies import conditions as drawn_conditions
from resilience.model.machine_items import ItemRules, maybe, shown
from resilience.model.machine_tables import table_exists
from resilience.model.refusals import Reason, RefusedError
from resilience.model.strategies import items, keys
from resilience.model.tables import Key, Table
from resilience.model.values import Item, item_to_wire

ACTIONS_MAX = 4


class Action:
    """One action of a transaction: what it asks, and what the model does."""

    def __init__(self, table: Table, kind: str, key: Key) -> None:
        self.table = table
        self.kind = kind
        self.key = key
        self.condition: conditions.Condition | None = None
        self.item: Item = {}
        self.update: updates.Update | None = None
        self.show_item = False

    def apply(self, *, removal_creates: bool) -> None:
        match self.kind:
            case "Put":
                self.table.put(self.item, self.condition)
            case "Delete":
                self.table.delete(self.key, self.condition)
            case "Update":
                self.table.update(self.key, self.update, self.condition, removal_creates=removal_creates)
            case _:
                self.table.check_condition(self.key, self.condition)

    def reason(self, *, removal_creates: bool) -> Reason:
        """Apply, and say how it went."""
        try:
            self.apply(removal_creates=removal_creates)
        except RefusedError as refusal:
            if refusal.code == "ConditionalCheckFailedException":
                return Reason(
                    "ConditionalCheckFailed",
                    "The conditional request failed",
                    refusal.item if self.show_item else None,
                )
            return Reason("ValidationError", refusal.message)
        return Reason("None")


class TransactionRules(ItemRules):
    """Writes and reads in transactions."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = 0
        self.last_request: dict[str, Any] | None = None

    @precondition(table_exists)
    @rule(data=st.data())
    def transact_write_items(self, data: st.DataObject) -> None:
        actions: list[Action] = []
        wires: list[dict[str, Any]] = []
        for _ in range(data.draw(st.integers(1, ACTIONS_MAX), label="actions")):
            name, table = self.draw_table(data)
            action, wire = self.draw_action(data, name, table)
            seen = [(id(other.table), other.key) for other in actions]
            again = (id(table), action.key) in seen and not data.draw(st.booleans(), label="twice")
            if not again and not self.holds_misfit(table, action.key):
                actions.append(action)
                wires.append(wire)
        if not actions:
            return
        request: dict[str, Any] = {"TransactItems": wires}
        if data.draw(st.sampled_from([True, True, False]), label="token"):
            self.tokens += 1
            request["ClientRequestToken"] = f"token-{id(self)}-{self.tokens}"
        before = {name: copy.copy(table.items) for name, table in self.tables.items()}
        result = self.both(lambda: self.transact(actions, before), "transact_write_items", **request)
        if result is not None and "ClientRequestToken" in request:
            self.last_request = request
            if data.draw(st.booleans(), label="repeat"):
                self.repeat_transaction_as(change=data.draw(st.booleans(), label="change"))

    def draw_action(self, data: st.DataObject, name: str, table: Table) -> tuple[Action, dict[str, Any]]:
        kind = data.draw(st.sampled_from(["Put", "Delete", "Update", "ConditionCheck"]), label="kind")
        printer = self.printer(data)
        wire: dict[str, Any] = {"TableName": name}
        if kind == "Put":
            item = data.draw(items(table), label="item")
            action = Action(table, kind, table.key_of(item))
            action.item = item
            wire["Item"] = self.spelled(data, item)
        else:
            action = Action(table, kind, data.draw(keys(table), label="key"))
            wire["Key"] = self.spelled(data, table.key_item(action.key))
        sample = table.items.get(action.key, {})
        if kind == "Update":
            action.update = data.draw(self.updates_of(table, sample), label="update")
            wire["UpdateExpression"] = updates.printed(action.update, printer)
        drawn = drawn_conditions(sample) if kind == "ConditionCheck" else maybe(drawn_conditions(sample))
        condition = action.condition = data.draw(drawn, label="condition")
        if condition is not None:
            wire["ConditionExpression"] = conditions.printed(condition, printer)
        action.show_item = data.draw(st.booleans(), label="show item")
        if action.show_item:
            wire["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
        return action, {kind: wire | printer.parameters()}

    def transact(self, actions: list[Action], before: dict[str, dict[Key, Item]]) -> None:
        """Apply all actions or, when one of them fails, none."""
        targets = [(id(action.table), action.key) for action in actions]
        if len(set(targets)) < len(targets):
            message = "Transaction request cannot include multiple operations on one item"
            raise RefusedError.validation(message)
        # An empty index key refuses the whole request; one of a wrong type is a reason of its action.
        if any(action.table.has_empty_index_key(action.item) for action in actions):
            raise RefusedError.validation()
        creates = self.endpoint.dialect.removal_creates
        reasons = tuple(action.reason(removal_creates=creates) for action in actions)
        codes = [reason.code for reason in reasons]
        if set(codes) == {"None"}:
            return
        for name, table in self.tables.items():
            table.items = before[name]
        raise RefusedError("TransactionCanceledException", None, None, reasons)

    @precondition(lambda machine: machine.last_request is not None)
    @rule(change=st.booleans())
    def repeat_transaction(self, change: bool) -> None:
        self.repeat_transaction_as(change=change)

    def repeat_transaction_as(self, *, change: bool) -> None:
        """The same token again changes nothing; with another request it is refused."""
        request = self.last_request
        assert request is not None
        if not change:
            self.endpoint.call("transact_write_items", **request)
            return
        ((kind, wire),) = request["TransactItems"][0].items()
        other = dict(wire)
        if other.pop("ReturnValuesOnConditionCheckFailure", None) is None:
            other["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
        changed = request | {"TransactItems": [{kind: other}, *request["TransactItems"][1:]]}
        wanted = RefusedError("IdempotentParameterMismatchException")
        self.check_refused(wanted, "transact_write_items", changed)

    def delete(self, name: str) -> None:
        super().delete(name)
        self.last_request = None

    @precondition(table_exists)
    @rule(data=st.data())
    def get_items(self, data: st.DataObject) -> None:
        """Read by key, in one of the three ways."""
        ways = [self.get_item, self.batch_get_item, self.transact_get_items]
        data.draw(st.sampled_from(ways), label="way")(data)

    def transact_get_items(self, data: st.DataObject) -> None:
        wires, wanted = [], []
        seen = set()
        for _ in range(data.draw(st.integers(1, ACTIONS_MAX), label="gets")):
            name, table = self.draw_table(data)
            key, printer = data.draw(keys(table), label="key"), self.printer(data)
            if (name, key) in seen:
                continue
            seen.add((name, key))
            wire: dict[str, Any] = {"TableName": name, "Key": item_to_wire(table.key_item(key))}
            paths = self.draw_projection(data, printer, wire)
            wires.append({"Get": wire | printer.parameters()})
            wanted.append(shown(table.items.get(key), paths))
        answer = self.endpoint.call("transact_get_items", TransactItems=wires)
        assert len(answer["Responses"]) == len(wanted)
        for response, item in zip(answer["Responses"], wanted, strict=True):
            # Of an item of which the projection leaves nothing, the answer may be empty or absent (API reference,
            # TransactGetItems: "if the requested item has no projected attributes, the corresponding
            # ItemResponse object is an empty Map").
            self.check_item(self.endpoint.item(response.get("Item")) or None, item or None)
