"""Items: conditions under races, reads after writes, batches, and the values that attributes hold."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

from singletable.errors import ApiError, ConditionFailedError
from singletable.limits import BATCH_WRITE_ITEMS_MAX, ITEM_BYTES_MAX
from singletable.probe.report import Finding, absent, breaks, holds
from singletable.probe.table import WRITERS, Item, ProbeTable, is_refusal, key, text

_ROUNDS: Final = 10
_ADDITIONS: Final = 5  # of each writer
_MISSING: Final = 5
_NEW: Final = "attribute_not_exists(PK)"


def put_race(table: ProbeTable) -> Finding:
    """Let writers put the same new item: exactly one must win, and its item must be stored."""
    wrong = 0
    for number in range(_ROUNDS):
        pk = f"PUT#{number}"

        def put(writer: int, pk: str = pk) -> int:
            table.put({**key(pk), **text(writer=str(writer))}, ConditionExpression=_NEW)
            return writer

        won, others = _sorted_out(table.race(put), ConditionFailedError)
        stored = table.get(key(pk)) or {}
        wrong += [stored.get("writer")] != [{"S": str(writer)} for writer in won] or bool(others)
    if wrong:
        return breaks(f"in {wrong} of {_ROUNDS} rounds of {WRITERS} writers there was not one winner")
    return holds(f"{_ROUNDS} rounds of {WRITERS} writers, one winner each")


def _sorted_out(outcomes: list[int | ApiError], *losing: type[ApiError]) -> tuple[list[int], list[ApiError]]:
    """Return the winners, and the errors other than those of losing the race."""
    won = [each for each in outcomes if isinstance(each, int)]
    errors = [each for each in outcomes if isinstance(each, ApiError)]
    return won, [error for error in errors if not isinstance(error, losing)]


def update_conditions(table: ProbeTable) -> Finding:
    """Update and delete under conditions that hold, and under conditions that fail."""
    wanted = key("CONDITION")
    table.put({**wanted, "version": {"N": "1"}})

    def update(version: int) -> None:
        table.on(
            "UpdateItem",
            Key=wanted,
            UpdateExpression="SET version = :new",
            ConditionExpression="version = :old",
            ExpressionAttributeValues={":old": {"N": str(version)}, ":new": {"N": str(version + 1)}},
        )

    update(1)
    if _is_done(lambda: update(1)):
        return breaks("an update is carried out although its condition does not hold")
    gone = {"ConditionExpression": "version = :old", "ExpressionAttributeValues": {":old": {"N": "1"}}}
    if _is_done(lambda: table.on("DeleteItem", Key=wanted, **gone)):
        return breaks("a deletion is carried out although its condition does not hold")
    stored = table.get(wanted)
    if stored != {**wanted, "version": {"N": "2"}}:
        return breaks(f"what is stored is not what was written: {stored}")
    return holds("updates and deletions, with conditions that hold and that do not")


def _is_done(write: Any) -> bool:
    try:
        write()
    except ConditionFailedError:
        return False
    return True


def refused_item(table: ProbeTable) -> Finding:
    """Ask for the item that was in the way of a write."""
    item = {**key("REFUSED"), **text(owner="first")}
    table.put(item)
    try:
        table.put(item, ConditionExpression=_NEW, ReturnValuesOnConditionCheckFailure="ALL_OLD")
    except ConditionFailedError as error:
        if error.item is None:
            return absent("ReturnValuesOnConditionCheckFailure is not answered")
        return (
            holds("it comes with the refusal")
            if error.item == item
            else breaks(f"another comes: {error.item}")
        )
    return breaks("an item is overwritten although the condition says no")


def counter_race(table: ProbeTable) -> Finding:
    """Let writers add to the same number."""
    wanted = key("COUNTER")

    def add(writer: int) -> int:
        for _ in range(_ADDITIONS):
            one = {":one": {"N": "1"}}
            table.on(
                "UpdateItem", Key=wanted, UpdateExpression="ADD hits :one", ExpressionAttributeValues=one
            )
        return writer

    _, errors = _sorted_out(table.race(add))
    if errors:
        return breaks(f"additions are refused: {errors[0].message}")
    found = int((table.get(wanted) or {}).get("hits", {}).get("N", "0"))
    if found != WRITERS * _ADDITIONS:
        return breaks(f"{WRITERS * _ADDITIONS} additions came to {found}")
    return holds(f"{WRITERS} writers, {_ADDITIONS} additions each, none is lost")


def read_after_write(table: ProbeTable) -> Finding:
    """Read an item directly after its write, consistently, by its key and by its partition."""
    for number in range(_ROUNDS):
        item = {**key("FRESH"), "number": {"N": str(number)}}
        table.put(item)
        if table.get(key("FRESH")) != item or table.query("FRESH") != [item]:
            return breaks("a consistent read does not see the write before it")
    table.on("DeleteItem", Key=key("FRESH"))
    if table.get(key("FRESH")) is not None:
        return breaks("a consistent read sees what was deleted before it")
    return holds("GetItem and Query see the write before them")


def batches(table: ProbeTable) -> Finding:
    """Write and read many items at once, and retry those that the target leaves unprocessed."""
    items = [
        {**key("BATCH", f"{number:02}"), **text(text="x" * 100)} for number in range(BATCH_WRITE_ITEMS_MAX)
    ]
    writes = {table.name: [{"PutRequest": {"Item": item}} for item in items]}
    wanted = [key("BATCH", f"{number:02}") for number in range(len(items) + _MISSING)]
    left: dict[str, Any] = writes
    for _ in table.pauses(10.0):
        if not left:
            break
        left = table.ask("BatchWriteItem", RequestItems=left).get("UnprocessedItems") or {}
    found: list[Item] = []
    reads: dict[str, Any] = {table.name: {"Keys": wanted, "ConsistentRead": True}}
    for _ in table.pauses(10.0):
        if not reads:
            break
        answer = table.ask("BatchGetItem", RequestItems=reads)
        found += answer.get("Responses", {}).get(table.name, [])
        reads = answer.get("UnprocessedKeys") or {}
    if left or reads:
        return breaks("some are left unprocessed for ever")
    if sorted(found, key=lambda item: item["SK"]["S"]) != items:
        return breaks(f"{len(items)} items were written, and {len(found)} come back")
    return holds(f"{len(items)} items written at once, and read among {_MISSING} that are not there")


# --- values ---------------------------------------------------------------------------------------------


def texts_with_nul(table: ProbeTable) -> Finding:
    return _kept(table, "NUL", text(text="a\0b"))


def empty_values(table: ProbeTable) -> Finding:
    return _kept(
        table, "EMPTY", {"text": {"S": ""}, "content": {"B": b""}, "list": {"L": []}, "map": {"M": {}}}
    )


def long_numbers(table: ProbeTable) -> Finding:
    """Store numbers of 38 digits, large and small ones; they may come back written otherwise."""
    texts = (
        "12345678901234567890123456789012345678",
        "-0.12345678901234567890123456789012345678",
        "1E-130",
        "9.9E+125",
    )
    item = {**key("NUMBERS"), **{f"n{number}": {"N": digits} for number, digits in enumerate(texts)}}
    table.put(item)
    stored = table.get(key("NUMBERS")) or {}
    found = [stored.get(f"n{number}", {}).get("N", "0") for number in range(len(texts))]
    if [Decimal(digits) for digits in found] != [Decimal(digits) for digits in texts]:
        return breaks(f"they come back as {', '.join(found)}")
    return holds("38 digits, and from 1E-130 to 9.9E+125")


def large_items(table: ProbeTable) -> Finding:
    """Store an item of just the size that DynamoDB takes, and take it away again."""
    wanted = key("LARGE")
    used = sum(len(name) + len(value["S"]) for name, value in wanted.items()) + len("text")
    finding = _kept(table, "LARGE", text(text="x" * (ITEM_BYTES_MAX - used)), said="400 KB")
    table.on("DeleteItem", Key=wanted)
    return finding


def _kept(table: ProbeTable, pk: str, values: Item, *, said: str = "they come back as they were") -> Finding:
    item = {**key(pk), **values}
    try:
        table.put(item)
    except ApiError as error:
        if not is_refusal(error):
            raise
        return breaks(f"they are refused: {error.message}")
    if table.get(key(pk)) != item:
        return breaks("what comes back is not what was written")
    return holds(said)
