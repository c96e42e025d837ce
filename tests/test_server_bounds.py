"""What all connections together may make a server hold, and how long one request may take to arrive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import pytest

import singletable
from serving import HttpSocket, call
from singletable.limits import KIB, MIB
from singletable.server import BackgroundServer, ServerSettings
from singletable.server.budget import Budget
from singletable.server.reader import UNCOUNTED_BODY_BYTES, Refusal, Request, RequestReader

if TYPE_CHECKING:
    from collections.abc import Iterator

TABLE: Any = {
    "TableName": "things",
    "AttributeDefinitions": [{"AttributeName": "PK", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}],
    "BillingMode": "PAY_PER_REQUEST",
}
GET = call("GetItem", {"TableName": "things", "Key": {"PK": {"S": "a"}}})


def put(size: int) -> bytes:
    return call("PutItem", {"TableName": "things", "Item": {"PK": {"S": "a"}, "v": {"S": "x" * size}}})


@pytest.fixture
def database() -> Iterator[singletable.Database]:
    with singletable.Database.open(":memory:") as opened:
        opened.create_table(**TABLE)
        yield opened


def test_body_that_does_not_come_to_its_end_makes_room_for_one_that_does(
    database: singletable.Database,
) -> None:
    settings = ServerSettings(port=0, arriving_bytes_max=300 * KIB)
    whole = put(200 * KIB)
    with BackgroundServer(database, settings) as address, HttpSocket(address) as stuck:
        stuck.send(whole[: 190 * KIB])
        with HttpSocket(address) as other, pytest.raises(ConnectionError):
            send_beside(other, whole, stuck)


def send_beside(other: HttpSocket, whole: bytes, stuck: HttpSocket) -> NoReturn:
    """Send whole requests until the server has read what the stuck client sent, and needs its room."""
    while True:
        assert other.ask(whole).status == 200
        stuck.send(b"x")


def test_body_for_which_there_is_no_room_at_all_is_throttled(database: singletable.Database) -> None:
    settings = ServerSettings(port=0, arriving_bytes_max=100 * KIB)
    with BackgroundServer(database, settings) as address, HttpSocket(address) as client:
        answer = client.ask(put(200 * KIB))
        assert answer.status == 400
        assert answer.json["__type"] == "com.amazon.coral.availability#ThrottlingException"
        assert client.is_closed_by_server()
        with HttpSocket(address) as other:
            assert other.ask(put(80 * KIB)).status == 200


def test_who_has_stood_still_for_the_longest_time_loses_first() -> None:
    lost: list[str] = []
    budget = Budget(10)

    def first() -> None:
        lost.append("first")

    def second() -> None:
        lost.append("second")

    def third() -> None:
        lost.append("third")

    assert budget.take(4, first)
    assert budget.take(3, second)
    assert budget.take(1, first)  # which goes on, and so has stood still for less time than the second
    assert budget.take(4, third)
    assert lost == ["second"]
    assert not budget.take(20, third)  # nobody loses anything where that would not be enough
    assert (lost, budget.used) == (["second"], 5)
    assert budget.settle(first) == 5
    assert not budget.take(6, third)  # what is settled is not taken from anybody
    budget.give(5)
    assert budget.take(10, third)
    assert (lost, budget.used) == (["second"], 10)
    budget.release(third)
    assert budget.used == 0


def test_body_gives_its_bytes_back_when_it_is_taken_refused_or_lost() -> None:
    budget = Budget(MIB)
    large = put(2 * UNCOUNTED_BODY_BYTES)

    reader = RequestReader(budget, lambda: None)
    reader.feed(large)
    taken = reader.take()
    assert isinstance(taken, Request)
    assert budget.used == taken.held_bytes == len(taken.body)
    budget.give(taken.held_bytes)

    reader.feed(large + large[:-1])
    assert budget.used > len(taken.body)
    reader.close()
    assert budget.used == 0

    reader = RequestReader(Budget(UNCOUNTED_BODY_BYTES), lambda: None)
    reader.feed(large)
    assert isinstance(reader.take(), Refusal)
    assert reader.finished


def test_small_bodies_are_not_counted() -> None:
    budget = Budget(0)
    reader = RequestReader(budget, lambda: None)
    reader.feed(put(UNCOUNTED_BODY_BYTES // 2))
    assert isinstance(reader.take(), Request)


def test_request_that_does_not_come_to_its_end_is_cut_off(database: singletable.Database) -> None:
    settings = ServerSettings(port=0, request_s_max=0.05)
    with BackgroundServer(database, settings) as address, HttpSocket(address) as slow:
        slow.send(GET[:-1])
        assert slow.is_closed_by_server()
        with HttpSocket(address) as other:
            assert other.ask(GET).status == 200


def test_connection_between_two_requests_may_be_silent_for_longer(database: singletable.Database) -> None:
    settings = ServerSettings(port=0, request_s_max=0.05)
    with BackgroundServer(database, settings) as address, HttpSocket(address) as silent:
        assert silent.ask(GET).status == 200
        with HttpSocket(address) as slow:
            slow.send(GET[:-1])
            assert slow.is_closed_by_server()
        assert silent.ask(GET).status == 200


def test_answers_that_nobody_takes_are_bounded_together(database: singletable.Database) -> None:
    keys: list[Any] = [{"PK": {"S": f"{number:02}"}} for number in range(40)]
    for key in keys:
        database.put_item(TableName="things", Item={**key, "v": {"S": "x" * (390 * KIB)}})
    large_get = call("BatchGetItem", {"RequestItems": {"things": {"Keys": keys}}})
    settings = ServerSettings(port=0, leaving_bytes_max=MIB)
    with BackgroundServer(database, settings) as address, HttpSocket(address) as greedy:
        greedy.send(large_get + large_get)  # more than the buffers of both sockets hold
        with HttpSocket(address) as other:
            assert other.ask(GET).status == 200
        with pytest.raises(ConnectionError):
            assert [greedy.receive(), greedy.receive()] == []
