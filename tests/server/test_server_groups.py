"""Writes that share a COMMIT, over HTTP, on a disk whose sync waits at a gate or fails.

A group is made for certain: the COMMIT of a first write is held at the gate until all others have arrived. That
nothing was answered is seen after a round trip of another client: by then the event loop has sent what it had to.
"""

from __future__ import annotations

import select
import threading
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Self

import pytest

from resilience.crash.faulty_sync_vfs import FAULTY_SYNC, FaultySyncs, faulty_syncs
from singletable import Database
from singletable.server import BackgroundServer
from singletable.wire.execution import Execution
from support.serving import TIMEOUT_S, HttpSocket, Response, call

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from singletable.server import Address
    from singletable.storage.transaction import Transaction
    from singletable.wire.answers import WireAnswer
    from singletable.wire.parameters import Outcome

TABLE: Any = {
    "TableName": "things",
    "AttributeDefinitions": [{"AttributeName": "PK", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}],
    "BillingMode": "PAY_PER_REQUEST",
}
INTERNAL_ERROR = "com.amazonaws.dynamodb.v20120810#InternalServerError"
IS_NEW = "attribute_not_exists(PK)"


def item(key: str, value: str) -> dict[str, Any]:
    return {"PK": {"S": key}, "v": {"S": value}}


def put(key: str, value: str = "new", **parameters: str) -> bytes:
    return call("PutItem", {"TableName": "things", "Item": item(key, value), **parameters})


def get(key: str) -> bytes:
    return call("GetItem", {"TableName": "things", "Key": {"PK": {"S": key}}, "ConsistentRead": True})


def check_is_new(key: str) -> bytes:
    """A transaction that writes nothing, and is cancelled where the item exists."""
    check = {"TableName": "things", "Key": {"PK": {"S": key}}, "ConditionExpression": IS_NEW}
    return call("TransactWriteItems", {"TransactItems": [{"ConditionCheck": check}]})


class Arriving(Database):
    """A database that tells when it was asked, and lets a test spoil a write before it is carried out."""

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        self._begun = threading.Semaphore(0)
        self.spoil: Callable[[bytes, Execution], None] = lambda body, write: None

    def begin(self, operation: str, body: bytes) -> WireAnswer | Execution | None:
        begun = super().begin(operation, body)
        if isinstance(begun, Execution):
            self.spoil(body, begun)
            self._begun.release()
        return begun

    def wait_for_writes(self, count: int) -> None:
        for _ in range(count):
            assert self._begun.acquire(timeout=TIMEOUT_S)


class Group:
    """A server on a disk whose syncs can be held, and clients whose writes share a COMMIT."""

    def __init__(self, database: Arriving, syncs: FaultySyncs, address: Address, stack: ExitStack) -> None:
        self.database = database
        self.syncs = syncs
        self.address = address
        self._stack = stack
        self._clients: list[HttpSocket] = []

    @contextmanager
    def at_its_commit(self, *requests: bytes) -> Iterator[Self]:
        """Send writes from a client each, that are carried out together; their COMMIT is held for the block."""
        first = self._connect()
        with self.syncs.held():
            first.send(put("first"))
            self.syncs.wait_for_one()
            self._clients = [self._connect() for _ in requests]
            for client, request in zip(self._clients, requests, strict=True):
                client.send(request)
            self.database.wait_for_writes(1 + len(requests))
            self.syncs.let_one_go()
            assert first.receive().status == 200
            self.syncs.wait_for_one()
            yield self

    def ask(self, request: bytes) -> Response:
        """Ask for something as another client."""
        with HttpSocket(self.address) as client:
            return client.ask(request)

    def is_unanswered(self) -> bool:
        """Tell whether no client has heard anything, after a round trip of another one."""
        self.ask(get("first"))
        return not select.select([client._socket for client in self._clients], [], [], 0)[0]

    def answers(self) -> list[Response]:
        return [client.receive() for client in self._clients]

    def stored(self) -> dict[str, str]:
        items = self.ask(call("Scan", {"TableName": "things", "ConsistentRead": True})).json["Items"]
        return {found["PK"]["S"]: found["v"]["S"] for found in items}

    def _connect(self) -> HttpSocket:
        return self._stack.enter_context(HttpSocket(self.address))


@pytest.fixture
def group(tmp_path: Path) -> Iterator[Group]:
    with faulty_syncs() as syncs, Arriving.open(tmp_path / "app.db", vfs=FAULTY_SYNC) as database:
        database.create_table(**TABLE)
        database.put_item(TableName="things", Item=item("old", "old"))
        with BackgroundServer(database) as address, ExitStack() as stack:
            yield Group(database, syncs, address, stack)
        assert database.check() == []


# One of each kind of answer that tells of what others of the group have written, or of what was there before.
OF_EVERY_KIND: Sequence[bytes] = (
    put("a", "1"),
    put("a", "2", ConditionExpression=IS_NEW, ReturnValuesOnConditionCheckFailure="ALL_OLD"),
    put("a", "3", ReturnValues="ALL_OLD"),
    put("old", ConditionExpression=IS_NEW),
    check_is_new("a"),
)


def test_no_answer_leaves_before_the_commit_has_returned(group: Group) -> None:
    synced = group.syncs.count
    with group.at_its_commit(*OF_EVERY_KIND):
        assert group.is_unanswered()
    written, failed, returned, failed_on_old, cancelled = group.answers()
    assert (written.status, written.json) == (200, {})
    assert failed.status == failed_on_old.status == 400
    assert failed.json["__type"] == failed_on_old.json["__type"]
    assert failed.json["__type"].endswith("#ConditionalCheckFailedException")
    assert failed.json["Item"] == item("a", "1")
    assert (returned.status, returned.json) == (200, {"Attributes": item("a", "1")})
    assert cancelled.status == 400
    assert [reason["Code"] for reason in cancelled.json["CancellationReasons"]] == ["ConditionalCheckFailed"]
    assert group.syncs.count - synced == 2, "the first write, and all the others together"


def test_nobody_reads_what_is_not_committed(group: Group) -> None:
    with group.at_its_commit(put("a"), put("old")):
        assert group.ask(get("a")).json == {}
        assert group.stored() == {"first": "new", "old": "old"}
    assert [answer.status for answer in group.answers()] == [200, 200]
    assert group.stored() == {"first": "new", "a": "new", "old": "new"}


def test_failed_conditions_alone_are_answered_without_a_commit(group: Group) -> None:
    """They have seen nothing but what is committed."""
    synced = group.syncs.count
    first, other = put("old", ConditionExpression=IS_NEW), check_is_new("old")
    assert (group.ask(first).status, group.ask(other).status) == (400, 400)
    assert group.syncs.count == synced


def test_group_whose_sync_fails_fails_as_a_whole(group: Group, caplog: pytest.LogCaptureFixture) -> None:
    with group.at_its_commit(*OF_EVERY_KIND):
        group.syncs.arm(at=1)
        assert group.is_unanswered()
    answers = group.answers()
    assert [answer.status for answer in answers] == [500] * len(OF_EVERY_KIND)
    assert {answer.json["__type"] for answer in answers} == {INTERNAL_ERROR}
    assert "disk I/O error" in caplog.text
    assert group.stored() == {"first": "new", "old": "old"}
    assert group.ask(put("a")).status == 200
    assert group.stored() == {"first": "new", "old": "old", "a": "new"}


def test_what_waits_behind_a_group_that_fails_is_carried_out(
    group: Group, caplog: pytest.LogCaptureFixture
) -> None:
    with group.at_its_commit(put("a")), HttpSocket(group.address) as behind:
        behind.send(put("b"))
        group.database.wait_for_writes(1)
        group.syncs.arm(at=1)
        group.syncs.let_one_go()
        assert [answer.status for answer in group.answers()] == [500]
        group.syncs.wait_for_one()
        group.syncs.let_one_go()
        assert behind.receive().status == 200
    assert group.stored() == {"first": "new", "old": "old", "b": "new"}
    assert "disk I/O error" in caplog.text


# --- a mistake of ours in one member -----------------------------------------------------------------


def _fails_at_once(write: Execution) -> None:
    def work(transaction: Transaction) -> Any:
        raise KeyError("a mistake of ours")

    write.work = work


def _fails_when_it_has_written(write: Execution) -> None:
    right = write.work

    def work(transaction: Transaction) -> Any:
        right(transaction)
        raise KeyError("a mistake of ours")

    write.work = work


def _fails_in_its_answer(write: Execution) -> None:
    def render(result: Any) -> Outcome:
        raise KeyError("a mistake of ours")

    write.render = render


@pytest.mark.parametrize(
    ("spoil", "is_stored"),
    [(_fails_at_once, False), (_fails_when_it_has_written, False), (_fails_in_its_answer, True)],
    ids=["at once", "when it has written", "in its answer"],
)
def test_mistake_in_one_member_fails_that_one_alone(
    group: Group,
    spoil: Callable[[Execution], None],
    is_stored: bool,
    caplog: pytest.LogCaptureFixture,
) -> None:
    group.database.spoil = lambda body, write: spoil(write) if b'"bad"' in body else None
    with group.at_its_commit(put("a"), put("bad"), put("a", "again", ReturnValues="ALL_OLD"), put("b")):
        assert group.is_unanswered()
        assert group.stored() == {"first": "new", "old": "old"}
    before, bad, again, behind = group.answers()
    assert (before.status, bad.status, again.status, behind.status) == (200, 500, 200, 200)
    assert bad.json["__type"] == INTERNAL_ERROR
    assert again.json == {"Attributes": item("a", "new")}
    expected = {"first": "new", "old": "old", "a": "again", "b": "new"}
    assert group.stored() == (expected | {"bad": "new"} if is_stored else expected)
    assert "PutItem" in caplog.text
