"""Work on a table whose log is its stream, its past and the feed of a consumer, by a clock that is moved by hand.

Writes, and with the hours that pass: items expire, records are trimmed, shards follow each other. A step that
fails may be done again, with the result of once. Two runs of the same steps leave the same, to the last entry of
the log.
"""

from __future__ import annotations

from typing import Any

from singletable import Database
from singletable.clock import ManualClock
from singletable.consumers import Consumer
from support.expiring import enable, log_of
from support.past_tables import turn_on
from support.sample_tables import attributes, index, key_schema

TABLE = "logged"
COPY = "copy"
STEPS = 40

_ITEMS = 6
_HOUR_S = 3600
_STREAM: Any = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}


class LoggedWork:
    """The steps, on an open database that goes by the clock."""

    def __init__(self, db: Database, clock: ManualClock) -> None:
        self.db = db
        self._clock = clock
        self._moved = 0
        _create_tables(db)
        self._consumer = self._consume()

    def reopened(self, db: Database) -> None:
        """Go on with the database, which was closed and opened again."""
        self.db = db
        self._consumer = self._consume()

    def step(self, number: int) -> None:
        """Do the number-th step; the first is 1."""
        match number % 8:
            case 0 | 3:
                self._pass_hours(number)
            case 5 | 7:
                self._consumer.run_once()
            case 6:
                self.db.delete_item(TableName=TABLE, Key=_key(number - 4))
            case _:
                expires_s = self._clock.now_us() // 1_000_000 + number % 3 * 10 * _HOUR_S
                self.db.put_item(
                    TableName=TABLE,
                    Item={
                        **_key(number),
                        "number": {"N": str(number)},
                        "expires": {"N": str(expires_s)},
                        "Colour": {"S": f"colour#{number % 3}"},
                        "payload": {"S": "x" * (number % 4 * 3000)},
                    },
                )

    def _pass_hours(self, number: int) -> None:
        """Let time pass, once; what was not done when it had passed is done when the step is done again."""
        is_new, self._moved = number > self._moved, number
        self._clock.advance(6 * _HOUR_S if is_new else 0)

    def _consume(self) -> Consumer:
        return self.db.consume(TABLE, _copy, "copier", batch_size=3, background=False)


def _create_tables(db: Database) -> None:
    db.create_table(
        TableName=TABLE,
        KeySchema=key_schema("PK"),
        AttributeDefinitions=attributes(PK="S", Colour="S"),
        GlobalSecondaryIndexes=[index("ByColour", "Colour")],
        BillingMode="PAY_PER_REQUEST",
        StreamSpecification=_STREAM,
    )
    db.create_table(
        TableName=COPY,
        KeySchema=key_schema("PK"),
        AttributeDefinitions=attributes(PK="S"),
        BillingMode="PAY_PER_REQUEST",
    )
    enable(db, TABLE)
    turn_on(db, TABLE, days=1)


def _key(number: int) -> Any:
    return {"PK": {"S": f"item#{number % _ITEMS}"}}


def _copy(event: Any, context: Any) -> None:
    for record in event["Records"]:
        change = record["dynamodb"]
        if record["eventName"] == "REMOVE":
            context.transaction.delete_item(TableName=COPY, Key=change["Keys"])
        else:
            context.transaction.put_item(TableName=COPY, Item=change["NewImage"])


def left_by(db: Database) -> dict[str, Any]:
    """Return all that the steps have left: items, the log, where the consumer stands, the shards."""
    (stream,) = db.list_streams(TableName=TABLE)["Streams"]
    described = db.describe_stream(StreamArn=stream["StreamArn"])["StreamDescription"]
    (status,) = db.consumers(TABLE)
    return {
        "items": db.scan(TableName=TABLE)["Items"],
        "copy": db.scan(TableName=COPY)["Items"],
        "log": log_of(db, TABLE),
        "position": (status.position, status.missed),
        "shards": described["Shards"],
    }
