"""Transactions: that they are atomic, that one of several wins, that a second sending changes nothing."""

from __future__ import annotations

from typing import Any, Final

from singletable.client.capabilities import is_unknown_operation
from singletable.errors import ApiError, TransactionCanceledError
from singletable.probe.report import Finding, breaks, holds
from singletable.probe.table import WRITERS, Item, ProbeTable, key, text

# An engine that let more than one win did so in 18 of 30 rounds (ExtendDB 0.1.0): of so many, some are enough.
_ROUNDS: Final = 30
_ACTIONS_MAX: Final = 100
_NEW: Final = "attribute_not_exists(PK)"
_THROTTLED: Final = frozenset({"ThrottlingError", "ProvisionedThroughputExceeded"})
_LOST: Final = frozenset({"ConditionalCheckFailed", "TransactionConflict", "None", *_THROTTLED})
_MET: Final = frozenset({"TransactionConflictException", "TransactionInProgressException"})


def _put(table: ProbeTable, item: Item, *, is_new: bool = False) -> dict[str, Any]:
    condition = {"ConditionExpression": _NEW} if is_new else {}
    return {"Put": {"TableName": table.name, "Item": item, **condition}}


def _write(table: ProbeTable, *actions: dict[str, Any], **more: Any) -> None:
    table.ask("TransactWriteItems", TransactItems=list(actions), **more)


def atomic(table: ProbeTable) -> Finding:
    """Write three items, one of which is refused: none may be stored, and the refusal must name the one."""
    taken = {**key("ATOMIC", "taken"), **text(owner="first")}
    _write(table, _put(table, key("ATOMIC", "done")), _put(table, taken))
    try:
        _write(
            table,
            _put(table, key("ATOMIC", "before")),
            _put(table, key("ATOMIC", "taken"), is_new=True),
            _put(table, key("ATOMIC", "behind")),
        )
    except TransactionCanceledError as error:
        codes = [reason.code for reason in error.reasons]
    else:
        return breaks("a transaction is carried out although one of its conditions does not hold")
    stored = {item["SK"]["S"]: item for item in table.query("ATOMIC")}
    if stored.keys() != {"done", "taken"} or stored["taken"] != taken:
        return breaks(f"a transaction that was refused has written: {', '.join(sorted(stored))} are there")
    if codes != ["None", "ConditionalCheckFailed", "None"]:
        return breaks(f"the reasons of a refusal are {codes}, and do not say which action it was")
    return holds("all or nothing, and the refusal says which action it was")


def refused_items(table: ProbeTable) -> Finding:
    """Ask for the item that was in the way of a transaction."""
    taken = {**key("TAKEN"), **text(owner="first")}
    table.put(taken)
    put = _put(table, key("TAKEN"), is_new=True)
    put["Put"]["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
    try:
        _write(table, _put(table, key("TAKEN", "other")), put)
    except TransactionCanceledError as error:
        found = [reason.item for reason in error.reasons]
        if found[1:] != [taken]:
            return breaks(f"with the reasons of a refusal comes {found[1:]}")
        return holds("it comes with the reasons of the refusal")
    return breaks("a transaction is carried out although one of its conditions does not hold")


def transaction_race(table: ProbeTable) -> Finding:
    """Let writers take the same new item, each with an item of its own: one wins, and leaves both."""
    torn = several = 0
    for number in range(_ROUNDS):
        pk = f"RACE#{number}"

        def take(writer: int, pk: str = pk) -> int:
            lock = {**key(pk, "lock"), **text(owner=str(writer))}
            _write(table, _put(table, lock, is_new=True), _put(table, key(pk, str(writer))))
            return writer

        outcomes = table.race(take)
        strange = [each for each in outcomes if isinstance(each, ApiError) and not _has_lost(each)]
        if strange and is_unknown_operation(strange[0]):
            raise strange[0]
        if strange:
            return breaks(f"transactions that meet are answered with {strange[0].code}: {strange[0].message}")
        won = [each for each in outcomes if isinstance(each, int)]
        stored = {item["SK"]["S"]: item for item in table.query(pk)}
        owner = stored.pop("lock", {}).get("owner", {}).get("S")
        several += len(won) > 1
        torn += len(won) <= 1 and (
            sorted(stored) != [str(each) for each in won] or (owner is None) == bool(won)
        )
    if several:
        return breaks(f"in {several} of {_ROUNDS} rounds of {WRITERS} writers more than one has won")
    if torn:
        return breaks(f"in {torn} of {_ROUNDS} rounds what is stored is not what the winner wrote")
    return holds(f"{_ROUNDS} rounds of {WRITERS} writers, never more than one winner")


def _has_lost(error: ApiError) -> bool:
    if isinstance(error, TransactionCanceledError):
        return {reason.code for reason in error.reasons} <= _LOST
    return error.code in _MET


def idempotent(table: ProbeTable) -> Finding:
    """Send a transaction twice with one token, as a client does that got no answer: it must be idempotent."""
    wanted = key("TOKEN")
    add = {
        "Update": {
            "TableName": table.name,
            "Key": wanted,
            "UpdateExpression": "ADD hits :one",
            "ExpressionAttributeValues": {":one": {"N": "1"}},
        }
    }
    for _ in range(2):
        _write(table, add, ClientRequestToken=f"{table.name[-16:]}-token")
    hits = (table.get(wanted) or {}).get("hits", {}).get("N")
    if hits != "1":
        return breaks(f"what was sent twice with one token was carried out {hits} times")
    return holds("what is sent twice with one token is carried out once")


def large_transaction(table: ProbeTable) -> Finding:
    """Write and read as many items in one transaction as DynamoDB takes."""
    items = [{**key("MANY", f"{number:03}"), **text(text="x")} for number in range(_ACTIONS_MAX)]
    _write(table, *(_put(table, item, is_new=True) for item in items))
    gets = [{"Get": {"TableName": table.name, "Key": key("MANY", item["SK"]["S"])}} for item in items]
    answer = table.ask("TransactGetItems", TransactItems=gets)
    if [each.get("Item") for each in answer["Responses"]] != items:
        return breaks("TransactGetItems does not return what was written, in the order that it was asked for")
    return holds(f"{len(items)} items written together, and read together in their order")
