"""Tables of the model: a dict of items, with every index computed from it by brute force."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from resilience.model.conditions import Condition, holds
from resilience.model.paths import Path, Printer, project
from resilience.model.refusals import RefusedError
from resilience.model.updates import Update, applied
from resilience.model.values import Item, Value, order_key, type_of

if TYPE_CHECKING:
    from collections.abc import Hashable

Key = tuple[Value, ...]


@dataclass(frozen=True)
class Index:
    """A secondary index: local ones share the partition key of their table."""

    name: str
    local: bool
    hash_name: str
    range_name: str | None
    projection: str
    included: tuple[str, ...] = ()

    def key_names(self) -> tuple[str, ...]:
        return (self.hash_name,) if self.range_name is None else (self.hash_name, self.range_name)

    def to_wire(self) -> dict[str, Any]:
        projection: dict[str, Any] = {"ProjectionType": self.projection}
        if self.projection == "INCLUDE":
            projection["NonKeyAttributes"] = list(self.included)
        return {
            "IndexName": self.name,
            "KeySchema": key_schema(self.hash_name, self.range_name),
            "Projection": projection,
        }


@dataclass(frozen=True)
class Definition:
    """What CreateTable says of a table."""

    types: dict[str, str]
    hash_name: str
    range_name: str | None
    indexes: tuple[Index, ...] = ()

    def key_names(self) -> tuple[str, ...]:
        return (self.hash_name,) if self.range_name is None else (self.hash_name, self.range_name)

    def defined_names(self) -> list[str]:
        """Name every attribute that is a key of the table or of an index; DynamoDB wants exactly these."""
        names = set(self.key_names()).union(*(index.key_names() for index in self.indexes))
        return sorted(names)

    def attribute_definitions(self) -> list[dict[str, str]]:
        return [{"AttributeName": name, "AttributeType": self.types[name]} for name in self.defined_names()]

    def to_wire(self) -> dict[str, Any]:
        wire: dict[str, Any] = {
            "KeySchema": key_schema(self.hash_name, self.range_name),
            "AttributeDefinitions": self.attribute_definitions(),
            "BillingMode": "PAY_PER_REQUEST",
        }
        for member, local in (("LocalSecondaryIndexes", True), ("GlobalSecondaryIndexes", False)):
            indexes = [index.to_wire() for index in self.indexes if index.local == local]
            if indexes:
                wire[member] = indexes
        return wire


def key_schema(hash_name: str, range_name: str | None) -> list[dict[str, str]]:
    schema = [{"AttributeName": hash_name, "KeyType": "HASH"}]
    if range_name is not None:
        schema.append({"AttributeName": range_name, "KeyType": "RANGE"})
    return schema


@dataclass(frozen=True)
class RangeTest:
    """The sort-key half of a key condition."""

    operator: str  # = < <= > >= BETWEEN begins_with
    low: Value
    high: Value = None

    def holds(self, value: Value) -> bool:
        found, low = order_key(value), order_key(self.low)
        match self.operator:
            case "BETWEEN":
                return bool(low <= found <= order_key(self.high))
            case "begins_with":
                return bool(found.startswith(low))
        outcomes = {"=": found == low, "<": found < low, "<=": found <= low, ">": found > low}
        return bool(outcomes.get(self.operator, found >= low))

    def printed(self, name: str, printer: Printer) -> str:
        attribute, low = printer.name(name), printer.value(self.low)
        match self.operator:
            case "BETWEEN":
                return f"{attribute} BETWEEN {low} AND {printer.value(self.high)}"
            case "begins_with":
                return f"begins_with({attribute}, {low})"
        return f"{attribute} {self.operator} {low}"


@dataclass
class Table:
    """One table. Methods raise RefusedError and then have changed nothing."""

    definition: Definition
    items: dict[Key, Item] = field(default_factory=dict)

    def key_of(self, item: Item) -> Key:
        return tuple(item[name] for name in self.definition.key_names())

    def key_item(self, key: Key) -> Item:
        return dict(zip(self.definition.key_names(), key, strict=True))

    def index(self, name: str) -> Index:
        return next(index for index in self.definition.indexes if index.name == name)

    # --- writes -------------------------------------------------------------------

    def check_condition(self, key: Key, condition: Condition | None) -> Item | None:
        """Return the stored item when the condition holds on it."""
        stored = self.items.get(key)
        if condition is not None and not holds(condition, stored or {}):
            raise RefusedError.condition(stored)
        return stored

    def put(self, item: Item, condition: Condition | None = None) -> Item | None:
        self.check_index_keys(item)
        key = self.key_of(item)
        stored = self.check_condition(key, condition)
        self.items[key] = item
        return stored

    def delete(self, key: Key, condition: Condition | None = None) -> Item | None:
        stored = self.check_condition(key, condition)
        self.items.pop(key, None)
        return stored

    def update(
        self,
        key: Key,
        update: Update | None,
        condition: Condition | None = None,
        *,
        removal_creates: bool = False,
    ) -> tuple[Item | None, Item | None]:
        """Return the item before and after.

        An update of nothing creates an item that did not exist, one that only removes does not (scylladb issue
        5862 and its test_update_item_non_existent, verified on AWS), whatever its paths
        (test_nested_attribute_remove_from_missing_item).
        """
        if update is not None:
            self.check_index_types(update)
        stored = self.check_condition(key, condition)
        if stored is None and update is not None and update.only_removes() and not removal_creates:
            return None, None
        before = stored if stored is not None else self.key_item(key)
        after = before if update is None else applied(update, before)
        if update is not None:
            self.check_index_keys(after)
        self.items[key] = after
        return stored, after

    def index_key_names(self) -> set[str]:
        return {name for index in self.definition.indexes for name in index.key_names()}

    def check_index_types(self, update: Update) -> None:
        """Refuse another type for an index key, where the expression tells it before the item is read."""
        if self.mistypes_index_key(update):
            raise RefusedError.validation()

    def mistypes_index_key(self, update: Update) -> bool:
        """Tell whether an expression gives an index key another type, whatever is stored."""
        types = update.fixed_types()
        return any(
            types.get(name, self.definition.types[name]) != self.definition.types[name]
            for name in self.index_key_names()
        )

    def check_index_keys(self, item: Item) -> None:
        """Refuse an index key of another type than defined, or an empty one."""
        if not all(self.fits(item, name) for name in self.index_key_names()):
            raise RefusedError.validation()

    def has_empty_index_key(self, item: Item) -> bool:
        """Tell whether an index key is there, of its type, and empty."""
        types = self.definition.types
        present = [(name, item[name]) for name in self.index_key_names() if name in item]
        return any(value in ("", b"") and type_of(value) == types[name] for name, value in present)

    def fits(self, item: Item, name: str) -> bool:
        if name not in item:
            return True
        return type_of(item[name]) == self.definition.types[name] and item[name] not in ("", b"")

    # --- reads --------------------------------------------------------------------

    def entries(self, index: Index | None) -> list[Item]:
        """List the whole items that stand in the table or in one of its indexes: those with all its keys."""
        if index is None:
            return list(self.items.values())
        return [
            item
            for item in self.items.values()
            if all(name in item and self.fits(item, name) for name in index.key_names())
        ]

    def projected_names(self, index: Index | None) -> frozenset[str] | None:
        """Name the attributes that an index holds; None means all."""
        if index is None or index.projection == "ALL":
            return None
        return frozenset({*self.definition.key_names(), *index.key_names(), *index.included})

    def view(self, item: Item, index: Index | None) -> Item:
        """Show an item as an index holds it."""
        names = self.projected_names(index)
        return item if names is None else {name: value for name, value in item.items() if name in names}

    def query(
        self, index: Index | None, hash_value: Value, range_test: RangeTest | None, *, forward: bool
    ) -> list[list[Item]]:
        """List the matching items in order, those with equal sort keys grouped: their order is open."""
        keys = index or self.definition
        groups: dict[Hashable, list[Item]] = {}
        for item in self.entries(index):
            range_value = None if keys.range_name is None else item[keys.range_name]
            if item[keys.hash_name] == hash_value and (range_test is None or range_test.holds(range_value)):
                groups.setdefault(range_value, []).append(item)
        return [groups[value] for value in sorted(groups, key=order_key, reverse=not forward)]

    def shown(self, item: Item, index: Index | None, paths: tuple[Path, ...] | None, *, whole: bool) -> Item:
        """Show an item of a query or scan: projected by the index, then by the request.

        A local index fetches what it does not hold from the table; a global one never does.
        """
        if whole:
            return item
        if paths is None:
            return self.view(item, index)
        return project(item, paths)

    # --- definition -----------------------------------------------------------------

    def add_index(self, index: Index) -> None:
        self.definition = replace(self.definition, indexes=(*self.definition.indexes, index))

    def remove_index(self, name: str) -> None:
        kept = tuple(index for index in self.definition.indexes if index.name != name)
        self.definition = replace(self.definition, indexes=kept)
