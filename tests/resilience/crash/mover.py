"""A process that moves money between accounts, so that the sum stays the same, until it is killed.

usage: python -m resilience.crash.mover FILE SEED      (prints a line for each transfer)
"""

from __future__ import annotations

import os
import sys
from random import Random
from typing import Any

from singletable import Database

ACCOUNTS = 200
BALANCE = 1_000


def account(number: int) -> dict[str, Any]:
    return {"id": {"S": f"account-{number:04}"}}


def transfer(db: Database, random: Random) -> None:
    """Move an amount from one account to another, in one transaction."""
    source, target = random.sample(range(ACCOUNTS), 2)
    amount = random.randint(1, 9)
    moves = ((source, -amount), (target, amount))
    db.transact_write_items(
        TransactItems=[
            {
                "Update": {
                    "TableName": "accounts",
                    "Key": account(number),
                    "UpdateExpression": "ADD balance :by",
                    "ExpressionAttributeValues": {":by": {"N": str(by)}},
                }
            }
            for number, by in moves
        ]
    )


def open_accounts(db: Database) -> None:
    """Make the table of accounts, each with the same balance."""
    db.create_table(
        TableName="accounts",
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    for number in range(ACCOUNTS):
        item = {**account(number), "balance": {"N": str(BALANCE)}, "note": {"S": "x" * 500}}
        db.put_item(TableName="accounts", Item=item)


def main(path: str, seed: int) -> None:
    random = Random(seed)
    with Database.open(path, durability="relaxed") as db:
        while True:
            transfer(db, random)
            os.write(1, b"moved\n")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
