"""Carry out an operation of the workload through the public API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from resilience.crash.workload import (
    COUNTER_KEY,
    GROUPS,
    LEDGER,
    SHARED,
    Batch,
    Count,
    Delete,
    Operation,
    Put,
    Transfer,
    Update,
    account_key,
    index_attributes,
    receipt,
    slot_key,
)
from singletable.errors import ConditionFailedError

if TYPE_CHECKING:
    from singletable import Database

DONE = "done"
REFUSED = "refused"


def perform(db: Database, operation: Operation) -> str:
    """Do it; return DONE, or REFUSED when its condition did not hold. Any other error is the caller's."""
    try:
        _perform(db, operation)
    except ConditionFailedError:
        return REFUSED
    return DONE


def _perform(db: Database, operation: Operation) -> None:
    match operation:
        case Put(table, item):
            db.put_item(TableName=table, Item=item)
        case Update():
            _update(db, operation)
        case Delete(table, writer, slot):
            db.delete_item(TableName=table, Key=slot_key(writer, slot))
        case Batch(puts, deletes):
            requests: list[Any] = [{"PutRequest": {"Item": put.item}} for put in puts]
            requests += [
                {"DeleteRequest": {"Key": slot_key(delete.writer, delete.slot)}} for delete in deletes
            ]
            answer = db.batch_write_item(RequestItems={LEDGER: requests})
            assert not answer.get("UnprocessedItems")
        case Transfer():
            _transfer(db, operation)
        case Count(writer, number):
            db.update_item(
                TableName=SHARED,
                Key=COUNTER_KEY,
                UpdateExpression="ADD #total :one SET #mine = :number",
                ConditionExpression="attribute_not_exists(#mine) OR #mine < :number",
                ExpressionAttributeNames={"#total": "Total", "#mine": f"Writer{writer}"},
                ExpressionAttributeValues={":one": {"N": "1"}, ":number": {"N": str(number)}},
            )


def _update(db: Database, update: Update) -> None:
    place = index_attributes(update.number % GROUPS, update.number)
    db.update_item(
        TableName=LEDGER,
        Key=slot_key(update.writer, update.slot),
        UpdateExpression=(
            "SET #number = :number, #payload = :payload, #group = :group, #rank = :rank REMOVE #flag"
        ),
        ConditionExpression="attribute_exists(PK)",
        ExpressionAttributeNames={
            "#number": "Number",
            "#payload": "Payload",
            "#group": "Group",
            "#rank": "Rank",
            "#flag": "Flag",
        },
        ExpressionAttributeValues={
            ":number": {"N": str(update.number)},
            ":payload": {"S": update.payload},
            ":group": place["Group"],
            ":rank": place["Rank"],
        },
    )


def _transfer(db: Database, transfer: Transfer) -> None:
    def add(account: int, amount: int) -> Any:
        return {
            "Update": {
                "TableName": SHARED,
                "Key": account_key(account),
                "UpdateExpression": "ADD #balance :amount",
                "ConditionExpression": "attribute_exists(PK)",
                "ExpressionAttributeNames": {"#balance": "Balance"},
                "ExpressionAttributeValues": {":amount": {"N": str(amount)}},
            }
        }

    db.transact_write_items(
        TransactItems=[
            add(transfer.source, -transfer.amount),
            {"Put": {"TableName": LEDGER, "Item": receipt(transfer)}},
            add(transfer.target, transfer.amount),
        ],
        ClientRequestToken=transfer.token,
    )
