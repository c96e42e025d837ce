"""Requests that make, change, describe and delete tables, as right as random draws make them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from golden.side_by_side.designs import Design, Index
from golden.side_by_side.requests import Request

MADE = "Made"
_NAMES = ("p", "r", "g", "h", "i")
_THROUGHPUT = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}


@dataclass(frozen=True)
class TableScript:
    """One example: a table that is there before, if any, and a request."""

    before: Request | None
    operation: str
    request: Request


@st.composite
def indexes(draw: st.DrawFn, name: str, *, is_local: bool) -> Index:
    """Draw an index; of a global one, each part of the key may have several attributes."""
    names = draw(st.permutations(_NAMES[1:] if is_local else _NAMES))
    count = 1 if is_local else draw(st.sampled_from((1, 1, 1, 2)))
    hashes = ("p",) if is_local else tuple(names[:count])
    ranges = tuple(names[count : count + draw(st.integers(1 if is_local else 0, 1))])
    projection = draw(st.sampled_from(("ALL", "KEYS_ONLY", "INCLUDE")))
    included = tuple(draw(st.lists(st.sampled_from(("a", "b", "n")), min_size=1, max_size=2, unique=True)))
    return Index(name, hashes, ranges, projection, included if projection == "INCLUDE" else (), is_local)


@st.composite
def table_designs(draw: st.DrawFn) -> Design:
    """Draw a table: keys of any type, with local and global indexes."""
    range_name = draw(st.sampled_from((None, "r")))
    drawn: list[Index] = []
    if range_name is not None:
        drawn += [draw(indexes(f"lsi{number}", is_local=True)) for number in range(draw(st.integers(0, 1)))]
    drawn += [draw(indexes(f"gsi{number}", is_local=False)) for number in range(draw(st.integers(0, 2)))]
    used = {"p", range_name, *(name for index in drawn for name in index.keys)}
    types = {name: draw(st.sampled_from("SNB")) for name in _NAMES if name in used}
    return Design(MADE, types, "p", range_name, tuple(drawn))


def _with_settings(draw: st.DrawFn, request: Request) -> Request:
    if draw(st.booleans()):
        request["BillingMode"] = "PROVISIONED"
    if request["BillingMode"] == "PROVISIONED":
        request["ProvisionedThroughput"] = dict(_THROUGHPUT)
        for index in request.get("GlobalSecondaryIndexes", ()):
            index["ProvisionedThroughput"] = dict(_THROUGHPUT)
        if draw(st.booleans()):
            del request["BillingMode"]
    if draw(st.booleans()):
        request["DeletionProtectionEnabled"] = draw(st.booleans())
    if draw(st.booleans()):
        request["TableClass"] = draw(st.sampled_from(("STANDARD", "STANDARD_INFREQUENT_ACCESS")))
    if draw(st.booleans()):
        request["StreamSpecification"] = draw(
            st.sampled_from(
                ({"StreamEnabled": False}, {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"})
            )
        )
    return request


def create_table(draw: st.DrawFn, design: Design) -> Request:
    return _with_settings(draw, design.request())


def _index_update(draw: st.DrawFn, design: Design) -> Request:
    names = [index.name for index in design.indexes if not index.is_local]
    forms = ["Create", "Update", "Delete"] if names else ["Create"]
    match draw(st.sampled_from(forms)):
        case "Create":
            new = draw(indexes("gsi9", is_local=False))
            return {"Create": new.request()}
        case "Update":
            return {
                "Update": {"IndexName": draw(st.sampled_from(names)), "ProvisionedThroughput": _THROUGHPUT}
            }
        case _:
            return {"Delete": {"IndexName": draw(st.sampled_from(names))}}


def update_table(draw: st.DrawFn, design: Design) -> Request:
    request: Request = {"TableName": MADE}
    match draw(st.sampled_from(("index", "index", "billing", "throughput", "protection", "stream", "class"))):
        case "index":
            update = _index_update(draw, design)
            request["GlobalSecondaryIndexUpdates"] = [update]
            created = [element["AttributeName"] for element in update.get("Create", {}).get("KeySchema", ())]
            request["AttributeDefinitions"] = [
                {"AttributeName": name, "AttributeType": design.types.get(name, "S")}
                for name in sorted({*design.types, *created})
            ]
        case "billing":
            request["BillingMode"] = draw(st.sampled_from(("PAY_PER_REQUEST", "PROVISIONED")))
            if draw(st.booleans()):
                request["ProvisionedThroughput"] = {"ReadCapacityUnits": 6, "WriteCapacityUnits": 7}
        case "throughput":
            units = draw(st.sampled_from((5, 6)))
            request["ProvisionedThroughput"] = {"ReadCapacityUnits": units, "WriteCapacityUnits": 5}
        case "protection":
            request["DeletionProtectionEnabled"] = draw(st.booleans())
        case "stream":
            request["StreamSpecification"] = draw(
                st.sampled_from(
                    ({"StreamEnabled": False}, {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"})
                )
            )
        case "class":
            request["TableClass"] = draw(st.sampled_from(("STANDARD", "STANDARD_INFREQUENT_ACCESS")))
    return request


def of_table(_draw: st.DrawFn, _design: Design) -> Request:
    return {"TableName": MADE}


def list_tables(draw: st.DrawFn, _design: Design) -> Request:
    request: Request = {}
    if draw(st.booleans()):
        request["Limit"] = draw(st.integers(1, 10))
    if draw(st.booleans()):
        request["ExclusiveStartTableName"] = draw(st.sampled_from(("Made", "Numbers", "aaa", "Zzz")))
    return request


TABLE_OPERATIONS: Mapping[str, Callable[[st.DrawFn, Design], Request]] = {
    "CreateTable": create_table,
    "UpdateTable": update_table,
    "DeleteTable": of_table,
    "DescribeTable": of_table,
    "ListTables": list_tables,
}


@st.composite
def table_scripts(draw: st.DrawFn, operation: str) -> TableScript:
    """Draw a table that is there before, and a request of an operation, without a slip."""
    design = draw(table_designs())
    before: Any = None
    if operation not in ("CreateTable", "ListTables") or not draw(st.integers(0, 9)):
        before = create_table(draw, design)
    return TableScript(before, operation, TABLE_OPERATIONS[operation](draw, design))
