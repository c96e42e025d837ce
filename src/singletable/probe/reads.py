"""Reads: pages that lose nothing, scans in parts, the order of keys; and indexes, from projections to new ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

from singletable.errors import ApiError, ThrottledError
from singletable.probe.report import Finding, absent, breaks, holds
from singletable.probe.table import (
    ADDED,
    NARROW,
    SEEN_S_MAX,
    SETTLED_S_MAX,
    TIES,
    Item,
    ProbeTable,
    definitions,
    is_refusal,
    key,
    text,
    wide_index,
)

_COUNT: Final = 10
_LIMITS: Final = (1, 3, 7)
_SEGMENTS: Final = 4
# As UTF-8 orders them. By the rules of a language, as some databases sort, a stands before B.
_IN_ORDER: Final = ("A", "A#1", "B", "_", "a", "a#1", "b", "é")


def table_pages(table: ProbeTable) -> Finding:
    """Read a partition in pages of several sizes, forwards and backwards."""
    items = [key("PAGES", f"{number:02}") for number in range(_COUNT)]
    for item in items:
        table.put(item)
    for forward in (True, False):
        wanted = [item["SK"]["S"] for item in (items if forward else items[::-1])]
        for limit in _LIMITS:
            found = _paged(table, table.condition("PAGES"), limit, forward=forward)
            if found != wanted:
                return breaks(_lost(found, wanted, limit, forward=forward))
    return holds(f"{_COUNT} items in pages of {_said(_LIMITS)}, both ways, each once and in order")


def tied_pages(table: ProbeTable) -> Finding:
    """Read entries of an index that have equal keys in pages of several sizes, forwards and backwards."""
    wanted = ["a", *(f"tie{number}" for number in range(_COUNT)), "z"]
    for sk in wanted:
        table.put({**key("TIES", sk), **text(GPK="TIES", GSK=sk[:3])})
    if not _is_seen(table, "TIES", len(wanted)):
        return breaks(f"the index does not show {len(wanted)} writes within {SEEN_S_MAX:.0f} s")
    for forward in (True, False):
        for limit in _LIMITS:
            found = _paged(table, table.condition("TIES", index=TIES), limit, forward=forward)
            if sorted(found) != sorted(wanted):
                return breaks(_lost(found, wanted, limit, forward=forward))
    return holds(f"{_COUNT} entries with equal keys in pages of {_said(_LIMITS)}, both ways, each once")


def _paged(table: ProbeTable, condition: Mapping[str, Any], limit: int, *, forward: bool) -> list[str]:
    params = {**condition, "Limit": limit, "ScanIndexForward": forward}
    return [item["SK"]["S"] for page in table.pages(params) for item in page]


def _lost(found: list[str], wanted: list[str], limit: int, *, forward: bool) -> str:
    counts = Counter(found)
    missing, again = len(set(wanted) - counts.keys()), sum(count > 1 for count in counts.values())
    way = "forwards" if forward else "backwards"
    trouble = [f"{missing} are lost"] * bool(missing) + [f"{again} come again"] * bool(again)
    said = " and ".join(trouble) or "the order is wrong"
    return f"of {len(wanted)} items in pages of {limit}, read {way}, {said}"


def _said(limits: Iterable[int]) -> str:
    return ", ".join(map(str, limits))


def parallel_scan(table: ProbeTable) -> Finding:
    """Scan the table in parts, and compare with all of it."""
    for number in range(_COUNT):
        table.put(key(f"SCAN#{number}"))

    def scanned(**part: int) -> Counter[tuple[str, str]]:
        params = {"ConsistentRead": True, "Limit": 50, **part}
        pages = table.pages(params, "Scan")
        return Counter((item["PK"]["S"], item["SK"]["S"]) for page in pages for item in page)

    whole = scanned()
    parts: Counter[tuple[str, str]] = Counter()
    for segment in range(_SEGMENTS):
        parts += scanned(Segment=segment, TotalSegments=_SEGMENTS)
    if (
        set(whole.values()) != {1}
        or not {(f"SCAN#{number}", "-") for number in range(_COUNT)} <= whole.keys()
    ):
        return breaks("a scan in pages does not return every item once")
    if parts != whole:
        return breaks(f"a scan returns {whole.total()} items, and its {_SEGMENTS} parts {parts.total()}")
    return holds(f"{_SEGMENTS} parts have every item once")


def key_order(table: ProbeTable) -> Finding:
    """Read texts in their order, and parts of it by a beginning and by bounds."""
    for sk in _IN_ORDER[::-1]:
        table.put(key("ORDER", sk))
    found = [item["SK"]["S"] for item in table.query("ORDER")]
    if found != list(_IN_ORDER):
        return breaks(f"texts are in the order {' '.join(found)}")
    for condition, values, wanted in (
        ("begins_with(SK, :a)", {":a": "a"}, ["a", "a#1"]),
        ("SK BETWEEN :a AND :b", {":a": "A#", ":b": "_"}, ["A#1", "B", "_"]),
    ):
        params = table.condition("ORDER")
        params["KeyConditionExpression"] += f" AND {condition}"
        params["ExpressionAttributeValues"] |= {name: {"S": value} for name, value in values.items()}
        found = [item["SK"]["S"] for page in table.pages(params) for item in page]
        if found != wanted:
            return breaks(f"{condition} finds {' '.join(found)}")
    return holds("by the bytes of UTF-8; begins_with and BETWEEN too")


# --- indexes --------------------------------------------------------------------------------------------


def _is_seen(table: ProbeTable, pk: str, count: int, index: str = TIES, attribute: str = "GPK") -> bool:
    return table.eventually(lambda: len(table.query(pk, index=index, attribute=attribute)) == count)


def index_lag(table: ProbeTable) -> Finding:
    """Measure how long an index takes to show writes."""
    clock = table.client.clock
    longest_us = 0
    for number in range(_COUNT):
        begun_us = clock.elapsed_us()
        table.put({**key("LAG", str(number)), **text(GPK="LAG", GSK=str(number))})
        if not _is_seen(table, "LAG", number + 1):
            return breaks(f"a write is not in the index within {SEEN_S_MAX:.0f} s")
        longest_us = max(longest_us, clock.elapsed_us() - begun_us)
    return holds(f"an index shows a write within {max(1, longest_us // 1000)} ms, reading it included")


def sparse_index(table: ProbeTable) -> Finding:
    """Write an item that is not in an index, then enters it, moves in it, and leaves it again."""
    wanted = key("SPARSE")
    table.put(wanted)
    for change, count in ((text(GPK="SPARSE", GSK="1"), 1), (text(GPK="SPARSE", GSK="2"), 1), ({}, 0)):
        table.put({**wanted, **change})

        def is_so(change: Item = change, count: int = count) -> bool:
            found = table.query("SPARSE", index=TIES)
            return len(found) == count and all(item == {**wanted, **change} for item in found)

        if not table.eventually(is_so):
            return breaks("an index keeps entries that no item has any more, or has none of a new one")
    return holds("items without its keys are not in it, and leave it when they lose them")


def projections(table: ProbeTable) -> Finding:
    """Ask an index for attributes that it does not project."""
    table.put({**key("NARROW"), **text(GPK="NARROW", GSK="-", secret="x")})
    if not _is_seen(table, "NARROW", 1, NARROW):
        return breaks(f"an index of keys does not show a write within {SEEN_S_MAX:.0f} s")
    (found,) = table.query("NARROW", index=NARROW)
    if found.keys() == {"PK", "SK", "GPK", "GSK"}:
        return holds("an index has what it projects, and nothing else")
    if "secret" in found:
        return absent("an index has all attributes, whatever it projects")
    return breaks(f"an index of keys has {', '.join(sorted(found))}")


def wide_keys(table: ProbeTable) -> Finding:
    """Query an index with two attributes each in its partition key and its sort key."""
    try:
        described = table.make_again([wide_index("wide", ["w1", "w2"], ["w3", "w4"])], "w1", "w2", "w3", "w4")
    except ApiError as error:
        if not is_refusal(error):
            raise
        return absent(f"an index of several attributes is refused: {error.message}")
    if len(described["GlobalSecondaryIndexes"][0]["KeySchema"]) != 4:
        return absent("an index of several attributes gets fewer of them")
    for number in "12":
        item = {**key("WIDE", number), **text(w1="a", w2="b", w3="c", w4=number)}
        table.ask("PutItem", TableName=table.again, Item=item)
    params = {
        "TableName": table.again,
        "IndexName": "wide",
        "KeyConditionExpression": "w1 = :a AND w2 = :b AND w3 = :c AND w4 > :d",
        "ExpressionAttributeValues": text(**{":a": "a", ":b": "b", ":c": "c", ":d": "1"}),
    }
    if not table.eventually(
        lambda: [item["w4"]["S"] for item in table.ask("Query", params).get("Items", ())] == ["2"]
    ):
        return breaks("a query by all of its attributes does not find the one item")
    return holds("two attributes in the partition key, two in the sort key")


def added_index(table: ProbeTable) -> Finding:
    """Add an index to a table with items; then all earlier operations must still work."""
    old = {**key("ADDED", "old"), **text(GPK="ADDED", GSK="old", APK="ADDED")}
    table.put(old)
    create = {
        "IndexName": ADDED,
        "KeySchema": [{"AttributeName": "APK", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "ALL"},
    }
    table.on(
        "UpdateTable",
        AttributeDefinitions=definitions("PK", "SK", "GPK", "GSK", "APK"),
        GlobalSecondaryIndexUpdates=[{"Create": create}],
    )
    if not table.settle():
        return Finding("untried", f"the index is not there after {SETTLED_S_MAX:.0f} s")
    new = {**key("ADDED", "new"), **text(GPK="ADDED", GSK="new", APK="ADDED")}
    try:
        table.put(new)
    except ThrottledError:
        raise
    except ApiError as error:
        return breaks(f"a table with a new index takes no writes: {error.message or error.code}")
    if table.get(key("ADDED", "old")) != old or table.get(key("ADDED", "neither")) is not None:
        return breaks("GetItem of a table with a new index does not find its items")
    if table.query("ADDED") != [new, old]:
        return breaks("a query of a table with a new index does not find its items")
    for index, attribute in ((TIES, "GPK"), (ADDED, "APK")):
        if not _is_seen(table, "ADDED", 2, index, attribute):
            return breaks(
                f"the {'new' if index == ADDED else 'old'} index does not have the old and the new item"
            )
    return holds("old and new items are in it; writes, reads and the other indexes go on")
