"""What all connections together may make a server hold, how long each may take, and who loses its place."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

import singletable
from singletable.limits import KIB, MIB
from singletable.server import BackgroundServer, Server, ServerSettings
from singletable.server.budget import Budget
from singletable.server.connection import REQUESTS_PER_TURN, Connection
from singletable.server.dispatch import Dispatcher
from singletable.server.patience import BYTES_PER_S_MIN, LOOK_AROUND_S, Room, Standing, WaitLimits
from singletable.server.reader import UNCOUNTED_BODY_BYTES, Refusal, Request, RequestReader
from support.serving import TIMEOUT_S, HttpSocket, ShiftedLoop, call

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from singletable.server.replies import Reply

TABLE: Any = {
    "TableName": "things",
    "AttributeDefinitions": [{"AttributeName": "PK", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}],
    "BillingMode": "PAY_PER_REQUEST",
}
GET = call("GetItem", {"TableName": "things", "Key": {"PK": {"S": "a"}}})
HEALTH = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


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


# --- who is slow ------------------------------------------------------------------------------------------

PATIENCE = WaitLimits(head_s_max=10, request_s_max=60, idle_s_max=300)
RATE = BYTES_PER_S_MIN


@pytest.mark.parametrize(
    ("standing", "last_s", "over_s"),
    [
        pytest.param(Standing("resting", 0), 300, 301, id="silent"),
        pytest.param(Standing("arriving", 0), 10, 10.01, id="head"),
        pytest.param(Standing("arriving", 0, RATE), 11, 11.01, id="body of a second's worth"),
        pytest.param(Standing("arriving", 0, 5 * RATE), 15, 15.01, id="body of five"),
        pytest.param(Standing("arriving", 0, 1000 * RATE), 60, 60.01, id="fast body without an end"),
        pytest.param(Standing("leaving", 0), 60, 60.01, id="answer that is not taken"),
        pytest.param(Standing("leaving", 0, 500 * RATE), 560, 560.01, id="answer that is taken slowly"),
        pytest.param(Standing("leaving", 0, -RATE), 59, 59.01, id="answer that got longer meanwhile"),
    ],
)
def test_patience_has_an_end(standing: Standing, last_s: float, over_s: float) -> None:
    assert not PATIENCE.is_over(standing, last_s)
    assert PATIENCE.is_over(standing, over_s)
    assert not PATIENCE.is_over(standing._replace(since_s=1000), last_s + 1000)


@pytest.mark.parametrize(
    ("standings", "chosen"),
    [
        pytest.param({"busy": None}, None, id="a request is under way"),
        pytest.param({"answered": Standing("resting", 99.91)}, None, id="just answered"),
        pytest.param({"answered": Standing("resting", 99.89)}, "answered", id="between two requests"),
        pytest.param({"answered": Standing("resting", 90)}, "answered", id="silent for long"),
        pytest.param({"new": Standing("resting", 99.1, was_answered=False)}, None, id="just connected"),
        pytest.param({"new": Standing("resting", 99, was_answered=False)}, "new", id="connected for nothing"),
        pytest.param({"head": Standing("arriving", 99.1)}, None, id="head that just began"),
        pytest.param({"head": Standing("arriving", 98.9)}, "head", id="slow head"),
        pytest.param({"body": Standing("arriving", 50, 100 * RATE)}, None, id="fast body"),
        pytest.param({"body": Standing("arriving", 97, RATE)}, "body", id="slow body"),
        pytest.param({"deaf": Standing("leaving", 98.9)}, "deaf", id="answer that is not taken"),
        pytest.param({"deaf": Standing("leaving", 90, 100 * RATE)}, None, id="answer that is"),
        pytest.param(
            {
                "trickling": Standing("arriving", 10),
                "silent": Standing("resting", 80),
                "more silent": Standing("resting", 70),
                "new": Standing("resting", 98, was_answered=False),
                "busy": None,
            },
            "more silent",
            id="who has nothing under way goes before who is slow",
        ),
        pytest.param(
            {
                "just answered": Standing("resting", 99),
                "trickling": Standing("arriving", 80),
                "trickling for longer": Standing("arriving", 70),
                "deaf": Standing("leaving", 75),
            },
            "trickling for longer",
            id="who has been slow for the longest time goes first",
        ),
        pytest.param(
            {
                "just answered": Standing("resting", 99.95),
                "a moment ago": Standing("resting", 99.7),
                "two moments ago": Standing("resting", 99.5),
                "busy": None,
                "fast": Standing("arriving", 99.4),
            },
            "two moments ago",
            id="who was answered the longest ago goes first",
        ),
    ],
)
def test_place_is_taken_from_who_needs_it_least(
    standings: dict[str, Standing | None], chosen: str | None
) -> None:
    assert Room(standings.__getitem__).choose(standings, 100) == chosen


def test_clients_that_were_answered_keep_half_of_the_places() -> None:
    standings = {
        "first": Standing("resting", 99.1),
        "second": Standing("resting", 99.2),
        "third": Standing("resting", 99.3),
        "new": Standing("resting", 99.4, was_answered=False),
        "sending": Standing("arriving", 99.5, was_answered=False),
    }
    room = Room(standings.__getitem__)
    assert room.choose(standings, 100) == "first"
    assert room.choose(standings, 100) is None
    del standings["first"]
    standings["newest"] = Standing("resting", 100, was_answered=False)
    assert room.choose(standings, 100.2) is None


def test_who_has_asked_since_or_left_is_not_chosen() -> None:
    standings: dict[str, Standing | None] = {name: Standing("arriving", 10) for name in "abcdef"}
    room = Room(standings.__getitem__)
    assert room.choose(standings, 100) == "a"
    standings["b"] = None
    standings["c"] = Standing("arriving", 100)
    del standings["d"]
    assert room.choose(standings, 100.01) == "e"


def test_everybody_is_looked_at_once_for_many_new_clients() -> None:
    looks = 0

    def standing(_: int) -> Standing:
        nonlocal looks
        looks += 1
        return Standing("arriving", 0)

    room, held = Room(standing), set(range(1000))
    for _ in range(500):
        chosen = room.choose(held, 100)
        assert chosen is not None
        held.remove(chosen)
    assert looks == 1000 + 500
    room.choose(held, 100 + LOOK_AROUND_S)
    assert looks == 1000 + 500 + 500 + 1


class Client:
    """A connection to a server on the same loop."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    def write(self, data: bytes) -> None:
        self._writer.write(data)

    async def ask(self, data: bytes) -> int:
        """Send, and return the status of the answer."""
        self.write(data)
        return await self.status()

    async def status(self) -> int:
        head = await self._in_time(self._reader.readuntil(b"\r\n\r\n"))
        await self._in_time(self._reader.readexactly(int(head.partition(b"Content-Length: ")[2].split()[0])))
        return int(head.split()[1])

    async def first_byte(self) -> Any:
        return await self._in_time(self._reader.readexactly(1))

    async def is_closed(self) -> bool:
        """Wait for the end of the connection."""
        try:
            return not await self._in_time(self._reader.read(1))
        except ConnectionError:
            return True

    async def close(self) -> None:
        self._writer.close()
        with contextlib.suppress(ConnectionError):
            await self._in_time(self._writer.wait_closed())

    async def send(self, data: bytes) -> None:
        self._writer.write(data)
        await self._in_time(self._writer.drain())

    async def _in_time(self, waiting: Awaitable[Any]) -> Any:
        return await asyncio.wait_for(waiting, TIMEOUT_S)


class Place:
    """A server, its clients, and the clock of both."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._clients: list[Client] = []

    async def connect(self) -> Client:
        client = Client(*await asyncio.open_connection("127.0.0.1", self._port))
        self._clients.append(client)
        return client

    async def close(self) -> None:
        for client in self._clients:
            await client.close()

    async def connect_all(self, count: int) -> list[Client]:
        """Connect, and be answered one after the other."""
        clients = [await self.connect() for _ in range(count)]
        for client in clients:
            assert await client.ask(HEALTH) == 200
        return clients

    def pass_s(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, ShiftedLoop)
        loop.shift_s += seconds


def at_a_server(
    database: singletable.Database, scenario: Callable[[Place], Awaitable[None]], connections_max: int = 10
) -> None:
    async def run() -> None:
        server = Server(database, ServerSettings(port=0, connections_max=connections_max))
        address = await server.start()
        place = Place(address.port)
        try:
            await scenario(place)
        finally:
            await place.close()
            await server.stop()

    with asyncio.Runner(loop_factory=ShiftedLoop) as runner:
        runner.run(run())


TRICKLED = {
    "nothing": b"",
    "blank lines": b"\r\n",
    "head": GET[:20],
    "body": GET[:-10],
    "chunks": GET[: GET.index(b"Content-Length")] + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1;",
}


@pytest.mark.parametrize("trickled", TRICKLED)
def test_connections_that_trickle_bytes_keep_nobody_out(
    database: singletable.Database, trickled: str
) -> None:
    async def scenario(place: Place) -> None:
        clients = [await place.connect() for _ in range(3)]
        for client in clients:
            await client.send(TRICKLED[trickled])
        # Another is let in, and each of the three has been heard of a moment ago.
        refused = await place.connect()
        assert await refused.status() == 503
        place.pass_s(0.6)
        for client in clients:
            await client.send(b"\r\n" if trickled == "blank lines" else TRICKLED[trickled][:0])
        place.pass_s(0.6)
        for _ in clients:
            welcome = await place.connect()
            assert await welcome.ask(GET) == 200
        for client in clients:
            assert await client.is_closed()

    at_a_server(database, scenario, connections_max=3)


def test_silent_connection_makes_room_before_one_that_sends(database: singletable.Database) -> None:
    async def scenario(place: Place) -> None:
        silent, sending = await place.connect(), await place.connect()
        assert (await silent.ask(GET), await sending.ask(GET)) == (200, 200)
        place.pass_s(11)
        await sending.send(GET[:-1])
        welcome = await place.connect()
        assert await welcome.ask(GET) == 200
        assert await silent.is_closed()
        assert await sending.ask(GET[-1:]) == 200

    at_a_server(database, scenario, connections_max=2)


def test_small_requests_on_all_connections_keep_nobody_out(database: singletable.Database) -> None:
    async def scenario(place: Place) -> None:
        clients = await place.connect_all(4)
        for _ in range(3):
            place.pass_s(0.5)
            for client in clients[1:]:
                assert await client.ask(HEALTH) == 200
            place.pass_s(0.5)
            welcome = await place.connect()
            assert await welcome.ask(HEALTH) == 200
            assert await clients[0].is_closed()
            clients = [*clients[1:], welcome]

    at_a_server(database, scenario, connections_max=4)


def send_to_the_socket(server: Server, victim: Client) -> None:
    victim.write(GET)


def have_requests_wait_for_their_turn(server: Server, victim: Client) -> None:
    victim.write(GET * (REQUESTS_PER_TURN + 1))
    (connection,) = server._connections  # as the event loop does it, but the next turn has not come yet
    received = connection._transport.get_extra_info("socket")
    with socket.fromfd(received.fileno(), received.family, received.type) as same:
        connection.data_received(same.recv(1 << 20))


@pytest.mark.parametrize(
    ("arrive", "requests"),
    [
        pytest.param(send_to_the_socket, 1, id="not read yet"),
        pytest.param(have_requests_wait_for_their_turn, REQUESTS_PER_TURN + 1, id="not begun yet"),
    ],
)
def test_request_that_has_arrived_when_room_is_made_is_answered(
    database: singletable.Database,
    monkeypatch: pytest.MonkeyPatch,
    arrive: Callable[[Server, Client], None],
    requests: int,
) -> None:
    opened = Server._opened
    victims: list[Client] = []

    def arrive_first(server: Server, connection: Connection) -> bool:
        for victim in victims:
            arrive(server, victim)
            loop = asyncio.get_running_loop()
            assert isinstance(loop, ShiftedLoop)
            loop.shift_s += 11
        return opened(server, connection)

    monkeypatch.setattr(Server, "_opened", arrive_first)

    async def scenario(place: Place) -> None:
        victims.extend(await place.connect_all(1))
        place.pass_s(11)
        refused = await place.connect()
        assert await refused.status() == 503
        for _ in range(requests):
            assert await victims[0].status() == 200

    at_a_server(database, scenario, connections_max=1)


@pytest.mark.parametrize("trickled", ["head", "body", "chunks"])
def test_request_that_trickles_is_cut_off_after_the_time_of_a_head(
    database: singletable.Database, trickled: str
) -> None:
    async def scenario(place: Place) -> None:
        slow, other = await place.connect(), await place.connect()
        assert await other.ask(GET) == 200
        await slow.send(TRICKLED[trickled])
        assert await other.ask(GET) == 200  # so what was sent has been read
        place.pass_s(13)
        assert await slow.is_closed()
        assert await other.ask(GET) == 200

    at_a_server(database, scenario)


def test_large_body_that_keeps_coming_gets_more_time(database: singletable.Database) -> None:
    whole = put(300 * KIB)

    async def scenario(place: Place) -> None:
        client, other = await place.connect(), await place.connect()
        for start in range(0, len(whole), 100 * KIB):
            await client.send(whole[start : start + 100 * KIB])
            for _ in range(4):
                assert await other.ask(GET) == 200
            place.pass_s(5)
        assert await client.status() == 200

    at_a_server(database, scenario)


def test_answer_that_is_not_taken_is_given_up(database: singletable.Database) -> None:
    keys: list[Any] = [{"PK": {"S": f"{number:02}"}} for number in range(40)]
    for key in keys:
        database.put_item(TableName="things", Item={**key, "v": {"S": "x" * (390 * KIB)}})
    large_get = call("BatchGetItem", {"RequestItems": {"things": {"Keys": keys}}})

    async def scenario(place: Place) -> None:
        deaf, other = await place.connect(), await place.connect()
        await deaf.send(large_get)
        assert await deaf.first_byte() == b"H"  # more is taken than that, but not all of 16 MB
        for _ in range(3):
            place.pass_s(30)
            assert await other.ask(GET) == 200
        with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
            await deaf.status()

    at_a_server(database, scenario)


def test_metrics_are_made_once_for_all_who_wait_for_them(database: singletable.Database) -> None:
    """Who asks for them on every connection does not wait on all of them until each was answered by itself."""

    async def ask() -> list[Reply]:
        dispatcher = Dispatcher(database, threads=1, requests_max=1)
        answered: list[asyncio.Future[Reply]] = [
            asyncio.get_running_loop().create_future() for _ in range(50)
        ]
        for each in answered:
            dispatcher.start_metrics(each.set_result)
        replies = await asyncio.wait_for(asyncio.gather(*answered), TIMEOUT_S)
        dispatcher.end()
        await asyncio.to_thread(dispatcher.close)
        return replies

    replies = asyncio.run(ask())
    assert {reply.status for reply in replies} == {200}
    assert len({id(reply) for reply in replies}) == 2  # the first is not of those who came behind it
