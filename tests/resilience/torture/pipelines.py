"""Writers that send many requests ahead. What is there of one of them must be a beginning of what it sent.

Each writer sends its writes in order on one connection and reads the answers behind. After a kill the writes that
were answered must be there, the others may be there up to some point, and none behind a gap. Every third write is
a transaction of three items: all of it or nothing.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from resilience.crash.verify import read_pages
from support.serving import HttpSocket, call

if TYPE_CHECKING:
    from collections.abc import Iterable

    from singletable import Database
    from singletable.server import Address

TABLE: Final = "sequence"
AHEAD: Final = 24
_PARTS: Final = 3
CREATE: Final[dict[str, Any]] = {
    "TableName": TABLE,
    "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}],
    "AttributeDefinitions": [
        {"AttributeName": "PK", "AttributeType": "S"},
        {"AttributeName": "SK", "AttributeType": "N"},
        {"AttributeName": "Of", "AttributeType": "S"},
    ],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "ByWriter",
            "KeySchema": [
                {"AttributeName": "Of", "KeyType": "HASH"},
                {"AttributeName": "SK", "KeyType": "RANGE"},
            ],
            "Projection": {"ProjectionType": "KEYS_ONLY"},
        }
    ],
    "BillingMode": "PAY_PER_REQUEST",
}


def _item(writer: str, number: int, part: int) -> dict[str, Any]:
    key = {"PK": {"S": f"{writer}/{part}"}, "SK": {"N": str(number)}}
    return {**key, "Of": {"S": writer}, "v": {"S": "x" * (number % 500)}}


def request(writer: str, number: int) -> bytes:
    """The number-th write of a writer."""
    if number % 3:
        return call("PutItem", {"TableName": TABLE, "Item": _item(writer, number, 0)})
    items = [{"Put": {"TableName": TABLE, "Item": _item(writer, number, part)}} for part in range(_PARTS)]
    return call("TransactWriteItems", {"TransactItems": items})


@dataclass
class Sequence:
    """One writer, and how far it has come."""

    writer: str
    sent: int = 0  # writes up to this number may be there
    acknowledged: int = 0  # writes up to this number must be there
    problems: list[str] = field(default_factory=list)

    def write_until_disconnected(self, address: Address) -> None:
        """Keep many writes on their way until the server is gone."""
        self.sent = self.acknowledged  # what was not answered is sent again: a put may be repeated
        try:
            with HttpSocket(address) as client:
                while True:
                    ahead = range(self.sent + 1, self.acknowledged + AHEAD + 1)
                    self.sent = max(self.sent, self.acknowledged + AHEAD)
                    client.send(b"".join(request(self.writer, number) for number in ahead))
                    answer = client.receive()
                    if answer.status == 503:
                        return  # it was stopping when we came
                    if answer.status != 200:
                        self.problems.append(f"{self.writer}: {answer.status} {answer.body[:300]!r}")
                        return
                    self.acknowledged += 1
        except ConnectionError:
            return
        except BaseException as error:
            self.problems.append(f"{self.writer}: {type(error).__name__}: {error}")
            raise


def start_all(sequences: Iterable[Sequence], address: Address) -> list[threading.Thread]:
    threads = [
        threading.Thread(target=sequence.write_until_disconnected, args=(address,)) for sequence in sequences
    ]
    for thread in threads:
        thread.start()
    return threads


def verify(db: Database, sequences: Iterable[Sequence], furthest: dict[str, int]) -> None:
    """Assert that of each writer a beginning is there; `furthest` holds what was there of it before."""
    found: dict[str, set[tuple[int, int]]] = {}
    for item in read_pages(db.scan, TableName=TABLE):
        writer, _, part = item["PK"]["S"].partition("/")
        found.setdefault(writer, set()).add((int(item["SK"]["N"]), int(part)))
    for sequence in sequences:
        assert not sequence.problems, sequence.problems
        stored = found.get(sequence.writer, set())
        last = max((number for number, _ in stored), default=0)
        expected = {
            (number, part)
            for number in range(1, last + 1)
            for part in (range(_PARTS) if number % 3 == 0 else range(1))
        }
        assert stored == expected, f"{sequence.writer}: a gap, or half a transaction: {stored ^ expected}"
        sent = max(sequence.sent, furthest.get(sequence.writer, 0))
        assert sequence.acknowledged <= last <= sent, (sequence, last)
        furthest[sequence.writer] = last
        entries = sum(len(page["Items"]) for page in _query_pages(db, sequence.writer))
        assert entries == len(stored), f"{sequence.writer}: {entries} index entries for {len(stored)} items"


def _query_pages(db: Database, writer: str) -> Iterable[Any]:
    start: dict[str, Any] = {}
    while True:
        page = db.query(
            TableName=TABLE,
            IndexName="ByWriter",
            KeyConditionExpression="#of = :writer",
            ExpressionAttributeNames={"#of": "Of"},
            ExpressionAttributeValues={":writer": {"S": writer}},
            **start,
        )
        yield page
        if "LastEvaluatedKey" not in page:
            return
        start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}
