"""One request of each operation on items, as right as random draws make it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from golden.side_by_side.designs import DESIGNS, Design, Index
from golden.side_by_side.expressions import Writer
from golden.side_by_side.legacy import (
    attribute_updates,
    attributes_to_get,
    conditions,
    expectations,
    key_conditions,
)
from golden.side_by_side.values import Item, items, keys, stored_items

Request = dict[str, Any]

CAPACITY = ("NONE", "TOTAL", "INDEXES")
METRICS = ("NONE", "SIZE")


@dataclass(frozen=True)
class Scene:
    """A table and what it holds."""

    design: Design
    items: list[Item]


@dataclass(frozen=True)
class Script:
    """One example: a table with its items, and a request to it."""

    scene: Scene
    operation: str
    request: Request


@st.composite
def scenes(draw: st.DrawFn) -> Scene:
    design = draw(st.sampled_from(DESIGNS))
    return Scene(design, draw(stored_items(design)))


class Composer:
    """Draws the parts that requests are made of."""

    def __init__(self, draw: st.DrawFn, scene: Scene) -> None:
        self.draw = draw
        self.scene = scene
        self.design = scene.design
        self.writer = Writer(draw, scene.design, scene.items)

    def chance(self) -> bool:
        return self.draw(st.booleans())

    def maybe(self, request: Request, name: str, choices: tuple[Any, ...]) -> None:
        if self.chance():
            request[name] = self.draw(st.sampled_from(choices))

    def key(self) -> Item:
        """Draw a key, mostly that of a stored item."""
        if bool(self.scene.items) and self.draw(st.integers(0, 3)):
            stored = self.draw(st.sampled_from(self.scene.items))
            return {name: stored[name] for name in self.design.keys}
        return self.draw(keys(self.design))

    def item(self) -> Item:
        return {**self.draw(items(self.design)), **self.key()}

    def on_table(self, **members: Any) -> Request:
        return {"TableName": self.design.name, **members}

    def writing(self, request: Request, *, returns: tuple[str, ...]) -> Request:
        """Add what all writes of one item take: a condition, and what to report."""
        match self.draw(st.sampled_from(("none", "expression", "expression", "legacy"))):
            case "expression":
                request["ConditionExpression"] = self.writer.condition()
            case "legacy":
                request.update(expectations(self.draw, self.design, self.scene.items))
        request.update(self.writer.placeholders())
        self.maybe(request, "ReturnValues", returns)
        self.maybe(request, "ReturnConsumedCapacity", CAPACITY)
        self.maybe(request, "ReturnItemCollectionMetrics", METRICS)
        self.maybe(request, "ReturnValuesOnConditionCheckFailure", ("ALL_OLD", "NONE"))
        return request

    def index(self) -> Index:
        return self.draw(st.sampled_from((self.design.table, *self.design.indexes)))

    def paging(self, request: Request, index: Index) -> None:
        """Add what Query and Scan have in common."""
        if index.name:
            request["IndexName"] = index.name
        match self.draw(st.sampled_from(("none", "expression", "legacy"))):
            case "expression":
                request["ProjectionExpression"] = self.writer.projection()
            case "legacy":
                request["AttributesToGet"] = attributes_to_get(self.draw, self.design)
        if "ProjectionExpression" in request or "AttributesToGet" in request:
            self.maybe(request, "Select", ("SPECIFIC_ATTRIBUTES",))
        else:
            everything = "ALL_PROJECTED_ATTRIBUTES" if index.name else "ALL_ATTRIBUTES"
            self.maybe(request, "Select", ("COUNT", everything, "ALL_ATTRIBUTES"))
        self.maybe(request, "Limit", (1, 2, 10))
        self.maybe(request, "ConsistentRead", (not index.name or index.is_local, False))
        self.maybe(request, "ReturnConsumedCapacity", CAPACITY)
        if self.scene.items and not self.draw(st.integers(0, 3)):
            stored = self.draw(st.sampled_from(self.scene.items))
            names = dict.fromkeys((*self.design.keys, *index.keys))
            request["ExclusiveStartKey"] = {name: stored[name] for name in names if name in stored}


# --- single items --------------------------------------------------------------------------------


def put_item(compose: Composer) -> Request:
    request = compose.on_table(Item=compose.item())
    return compose.writing(request, returns=("NONE", "ALL_OLD"))


def delete_item(compose: Composer) -> Request:
    return compose.writing(compose.on_table(Key=compose.key()), returns=("NONE", "ALL_OLD"))


def update_item(compose: Composer) -> Request:
    request = compose.on_table(Key=compose.key())
    match compose.draw(st.sampled_from(("expression", "expression", "expression", "legacy", "none"))):
        case "expression":
            request["UpdateExpression"] = compose.writer.update()
        case "legacy":
            request["AttributeUpdates"] = attribute_updates(compose.draw, compose.design)
    returns = ("NONE", "ALL_OLD", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW")
    return compose.writing(request, returns=returns)


def get_item(compose: Composer) -> Request:
    request = compose.on_table(Key=compose.key())
    match compose.draw(st.sampled_from(("none", "expression", "legacy"))):
        case "expression":
            request["ProjectionExpression"] = compose.writer.projection()
        case "legacy":
            request["AttributesToGet"] = attributes_to_get(compose.draw, compose.design)
    request.update(compose.writer.placeholders())
    compose.maybe(request, "ConsistentRead", (True, False))
    compose.maybe(request, "ReturnConsumedCapacity", CAPACITY)
    return request


# --- pages ---------------------------------------------------------------------------------------


def query(compose: Composer) -> Request:
    index = compose.index()
    request = compose.on_table()
    if compose.draw(st.integers(0, 3)):
        request["KeyConditionExpression"] = compose.writer.key_condition(index)
        if compose.chance():
            request["FilterExpression"] = compose.writer.condition()
    else:
        request["KeyConditions"] = key_conditions(compose.draw, compose.design, index)
        if compose.chance():
            request["QueryFilter"] = conditions(compose.draw, compose.design)
            compose.maybe(request, "ConditionalOperator", ("AND", "OR"))
    compose.paging(request, index)
    compose.maybe(request, "ScanIndexForward", (True, False))
    request.update(compose.writer.placeholders())
    return request


def scan(compose: Composer) -> Request:
    index = compose.index()
    request = compose.on_table()
    match compose.draw(st.sampled_from(("none", "expression", "legacy"))):
        case "expression":
            request["FilterExpression"] = compose.writer.condition()
        case "legacy":
            request["ScanFilter"] = conditions(compose.draw, compose.design)
            compose.maybe(request, "ConditionalOperator", ("AND", "OR"))
    compose.paging(request, index)
    if compose.chance():
        request["TotalSegments"] = compose.draw(st.integers(1, 4))
        request["Segment"] = compose.draw(st.integers(0, request["TotalSegments"] - 1))
    request.update(compose.writer.placeholders())
    return request


# --- several items -------------------------------------------------------------------------------


def batch_get_item(compose: Composer) -> Request:
    part: Request = {"Keys": [compose.key() for _ in range(compose.draw(st.integers(1, 3)))]}
    match compose.draw(st.sampled_from(("none", "expression", "legacy"))):
        case "expression":
            part["ProjectionExpression"] = compose.writer.projection()
            names = compose.writer.placeholders().get("ExpressionAttributeNames")
            if names:
                part["ExpressionAttributeNames"] = names
        case "legacy":
            part["AttributesToGet"] = attributes_to_get(compose.draw, compose.design)
    compose.maybe(part, "ConsistentRead", (True, False))
    request: Request = {"RequestItems": {compose.design.name: part}}
    compose.maybe(request, "ReturnConsumedCapacity", CAPACITY)
    return request


def batch_write_item(compose: Composer) -> Request:
    writes: list[Request] = []
    for _ in range(compose.draw(st.integers(1, 3))):
        if compose.chance():
            writes.append({"PutRequest": {"Item": compose.item()}})
        else:
            writes.append({"DeleteRequest": {"Key": compose.key()}})
    request: Request = {"RequestItems": {compose.design.name: writes}}
    compose.maybe(request, "ReturnConsumedCapacity", CAPACITY)
    compose.maybe(request, "ReturnItemCollectionMetrics", METRICS)
    return request


def transact_get_items(compose: Composer) -> Request:
    gets: list[Request] = []
    for _ in range(compose.draw(st.integers(1, 3))):
        get = compose.on_table(Key=compose.key())
        if compose.chance():
            writer = Writer(compose.draw, compose.design, compose.scene.items)
            get["ProjectionExpression"] = writer.projection()
            get.update(writer.placeholders())
        gets.append({"Get": get})
    request: Request = {"TransactItems": gets}
    compose.maybe(request, "ReturnConsumedCapacity", CAPACITY)
    return request


def _action(compose: Composer) -> Request:
    writer = Writer(compose.draw, compose.design, compose.scene.items)
    action = compose.draw(st.sampled_from(("Put", "Update", "Delete", "ConditionCheck")))
    members = {"Item": compose.item()} if action == "Put" else {"Key": compose.key()}
    request = compose.on_table(**members)
    if action == "Update":
        request["UpdateExpression"] = writer.update()
    if action == "ConditionCheck" or compose.chance():
        request["ConditionExpression"] = writer.condition()
    compose.maybe(request, "ReturnValuesOnConditionCheckFailure", ("ALL_OLD", "NONE"))
    request.update(writer.placeholders())
    return {action: request}


def transact_write_items(compose: Composer) -> Request:
    actions = [_action(compose) for _ in range(compose.draw(st.integers(1, 3)))]
    request: Request = {"TransactItems": actions}
    compose.maybe(request, "ReturnConsumedCapacity", CAPACITY)
    compose.maybe(request, "ReturnItemCollectionMetrics", METRICS)
    return request


ITEM_OPERATIONS: Mapping[str, Callable[[Composer], Request]] = {
    "PutItem": put_item,
    "GetItem": get_item,
    "UpdateItem": update_item,
    "DeleteItem": delete_item,
    "Query": query,
    "Scan": scan,
    "BatchGetItem": batch_get_item,
    "BatchWriteItem": batch_write_item,
    "TransactGetItems": transact_get_items,
    "TransactWriteItems": transact_write_items,
}


@st.composite
def right_scripts(draw: st.DrawFn, operation: str) -> Script:
    """Draw a table with items and a request of an operation, without a slip."""
    scene = draw(scenes())
    return Script(scene, operation, ITEM_OPERATIONS[operation](Composer(draw, scene)))
