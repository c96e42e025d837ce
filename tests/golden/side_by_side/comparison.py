"""What differs between two replies to one request, leaving out what AWS leaves open.

Left open are the order of a scan and of sets, moments, identifiers, and the region and account in an ARN.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Literal

import orjson

from golden.side_by_side.endpoints import Reply
from golden.side_by_side.requests import Request

Aspect = Literal["refusal", "answer", "capacity", "collections", "state"]

_ARN = re.compile(r"arn:aws:dynamodb:[a-z0-9-]*:\d*:")
_MOMENTS = frozenset(
    (
        *(
            "CreationDateTime",
            "LastIncreaseDateTime",
            "LastDecreaseDateTime",
            "LastUpdateToPayPerRequestDateTime",
        ),
        *("TableId", "LastUpdateDateTime", "LatestStreamLabel", "LatestStreamArn", "SizeEstimateRangeGB"),
    )
)


@dataclass(frozen=True)
class Difference:
    """One aspect in which two replies differ, and what each of them has there."""

    aspect: Aspect
    ours: Any
    theirs: Any


def normal(node: Any) -> Any:
    """Return JSON with numbers in one form, sets in one order, and without moments and identifiers."""
    if isinstance(node, dict):
        if len(node) == 1:
            ((tag, payload),) = node.items()
            if tag == "N" and isinstance(payload, str):
                return {"N": _number(payload)}
            if tag == "NS" and isinstance(payload, list):
                return {"NS": sorted(map(_number, payload))}
            if tag in ("SS", "BS") and isinstance(payload, list):
                return {tag: sorted(payload)}
        if isinstance(node.get("NonKeyAttributes"), list):
            node = {**node, "NonKeyAttributes": sorted(node["NonKeyAttributes"])}
        return {key: normal(value) for key, value in node.items() if key not in _MOMENTS}
    if isinstance(node, list):
        return [normal(entry) for entry in node]
    return _ARN.sub("arn:aws:dynamodb:region:account:", node) if isinstance(node, str) else node


def _number(text: str) -> str:
    try:
        return format(Decimal(text).normalize() + 0, "f")
    except InvalidOperation:
        return text


def unordered(entries: list[Any]) -> list[Any]:
    return sorted(entries, key=lambda entry: orjson.dumps(entry, option=orjson.OPT_SORT_KEYS))


def differences(operation: str, request: Request, ours: Reply, theirs: Reply) -> list[Difference]:
    """Return the aspects in which two replies differ."""
    if ours.is_refusal or theirs.is_refusal:
        first, second = _refusal(ours), _refusal(theirs)
        return [] if first == second else [Difference("refusal", first, second)]
    first, second = normal(ours.body), normal(theirs.body)
    found: list[Difference] = []
    for aspect, member in (("capacity", "ConsumedCapacity"), ("collections", "ItemCollectionMetrics")):
        one, other = _listed(first.pop(member, None)), _listed(second.pop(member, None))
        if one != other:
            found.append(Difference(aspect, one, other))  # type: ignore[arg-type]
    one, other = _comparable(operation, request, first), _comparable(operation, request, second)
    if one != other:
        found.insert(0, Difference("answer", one, other))
    return found


def _refusal(reply: Reply) -> Any:
    if not reply.is_refusal:
        return "OK"
    refusal = {"status": reply.status, "code": reply.code, "message": reply.message}
    for member in ("Item", "CancellationReasons"):
        if member in reply.body:
            refusal[member] = normal(reply.body[member])
    return refusal


def _listed(found: Any) -> Any:
    return unordered(found) if isinstance(found, list) else found


def _comparable(operation: str, request: Request, body: Any) -> Any:
    """Return what of an answer must be the same."""
    if operation == "Scan":
        # Where a scan goes on from a key, or ends at a limit, or what a segment holds, depends on the order.
        if any(request.get(member) for member in ("ExclusiveStartKey", "Limit", "TotalSegments")):
            return {"members": [member for member in ("Items", "Count") if member in body]}
        return _sorted_items(body)
    if operation == "Query" and request.get("IndexName"):
        # Entries of an index with equal keys have no order that is promised.
        is_open = request.get("Limit") or request.get("ExclusiveStartKey")
        return {"Items": "Items" in body} if is_open else _sorted_items(body)
    if operation in ("DeleteTable", "UpdateTable"):
        # AWS describes the table as it was, or without its keys; what it became is looked at afterwards.
        return {"TableName": body["TableDescription"]["TableName"]}
    for member in ("Table", "TableDescription"):
        if member in body:
            return described(body[member])
    if operation == "BatchGetItem":
        responses = {table: unordered(items) for table, items in body.get("Responses", {}).items()}
        return {**body, "Responses": responses}
    return body


# What a description must tell alike. Status, warm throughput, ARNs and the like are each service's own, and have
# tests of their own.
_DESCRIBED = (
    "TableName",
    "KeySchema",
    "ProvisionedThroughput",
    "DeletionProtectionEnabled",
    "StreamSpecification",
)
_INDEX_DESCRIBED = ("IndexName", "KeySchema", "Projection")


def described(table: Any) -> Any:
    """Return what two descriptions of a table must have in common."""
    if table is None:
        return None
    found = {member: table[member] for member in _DESCRIBED if member in table}
    found["AttributeDefinitions"] = unordered(table.get("AttributeDefinitions", []))
    for member in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes"):
        indexes = [
            {name: index[name] for name in _INDEX_DESCRIBED if name in index}
            for index in table.get(member, ())
        ]
        if indexes:
            found[member] = unordered(indexes)
    return found


def _sorted_items(body: Any) -> Any:
    return {**body, "Items": unordered(body["Items"])} if "Items" in body else body
