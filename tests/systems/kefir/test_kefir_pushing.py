"""Messages reach Expo's push service as it wants them, and its answers become tickets."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator

import pytest

from singletable.clock import ManualClock
from singletable_systems.kefir.model.keys import UserId
from singletable_systems.kefir.reactions.handlers import Kefir
from singletable_systems.kefir.services.dispatcher import Dispatcher
from singletable_systems.kefir.services.push import (
    DEVICE_GONE,
    ExpoPush,
    LocalPush,
    Message,
    PushUnavailableError,
    Ticket,
)
from systems.expo_endpoint import ExpoEndpoint, expo_endpoint
from systems.kefir_reminders import brewer, remind, stored


@pytest.fixture
def expo() -> Iterator[ExpoEndpoint]:
    with expo_endpoint() as endpoint:
        yield endpoint


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")


def token(name: object) -> str:
    return f"ExponentPushToken[{name}]"


def message(name: object, body: str = "Taste it") -> Message:
    return Message(token(name), "Kefir", body, {"batchId": "b1", "reminderId": f"r{name}"})


# --- what is sent ---------------------------------------------------------------------------------------


def test_message_has_the_fields_that_expo_reads(expo: ExpoEndpoint) -> None:
    assert ExpoPush(url=expo.url).send([message(1)]) == [Ticket(id=f"receipt of {token(1)}")]
    assert expo.messages == [
        {
            "to": token(1),
            "title": "Kefir",
            "body": "Taste it",
            "sound": "default",
            "data": {"batchId": "b1", "reminderId": "r1"},
        }
    ]
    (headers,) = expo.headers
    assert headers["content-type"] == headers["accept"] == "application/json"
    assert "authorization" not in headers
    assert "content-encoding" not in headers


@pytest.mark.parametrize(
    ("count", "requests"), [(0, []), (100, [100]), (101, [100, 1]), (250, [100, 100, 50])]
)
def test_a_request_has_a_hundred_messages_at_most(
    expo: ExpoEndpoint, count: int, requests: list[int]
) -> None:
    tickets = ExpoPush(url=expo.url).send([message(number) for number in range(count)])
    assert [ticket.id for ticket in tickets] == [f"receipt of {token(number)}" for number in range(count)]
    assert [len(request) for request in expo.requests] == requests


def test_many_messages_are_compressed(expo: ExpoEndpoint) -> None:
    ExpoPush(url=expo.url).send([message(number, "Smörgåsbord") for number in range(50)])
    assert expo.headers[0]["content-encoding"] == "gzip"
    assert int(expo.headers[0]["content-length"]) < 1024
    assert {each["body"] for each in expo.messages} == {"Smörgåsbord"}


def test_compressed_answer_is_read(expo: ExpoEndpoint) -> None:
    expo.compresses = True
    assert all(ticket.is_ok for ticket in ExpoPush(url=expo.url).send([message(1)]))
    expo.failures = [(429, b'{"errors": [{"code": "TOO_MANY_REQUESTS", "message": "slow down"}]}')]
    with pytest.raises(PushUnavailableError, match="TOO_MANY_REQUESTS: slow down"):
        ExpoPush(url=expo.url).send([message(1)])


def test_access_token_is_sent_where_there_is_one(expo: ExpoEndpoint) -> None:
    expo.access_token = "secret"
    assert ExpoPush(url=expo.url, access_token="secret").send([message(1)])[0].is_ok
    with pytest.raises(PushUnavailableError, match="UNAUTHORIZED"):
        ExpoPush(url=expo.url).send([message(1)])


# --- what is answered -----------------------------------------------------------------------------------


def test_each_message_has_its_own_ticket(expo: ExpoEndpoint) -> None:
    expo.unregistered = {token(2)}
    tickets = ExpoPush(url=expo.url).send([message(number) for number in (1, 2, 3)])
    assert [ticket.is_ok for ticket in tickets] == [True, False, True]
    assert [ticket.is_device_gone for ticket in tickets] == [False, True, False]
    assert tickets[1] == Ticket(DEVICE_GONE, f'"{token(2)}" is not a registered push notification recipient')


def test_malformed_message_takes_no_others_along(expo: ExpoEndpoint) -> None:
    messages = [message(number) for number in range(99)]
    messages.insert(37, Message("nonsense", "Kefir", "Taste it"))
    tickets = ExpoPush(url=expo.url).send(messages)
    assert [number for number, ticket in enumerate(tickets) if not ticket.is_ok] == [37]
    assert str(tickets[37]) == 'VALIDATION_ERROR: "nonsense" is not a valid Expo push token'
    assert [each["to"] for each in expo.messages] == [token(number) for number in range(99)]


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (
            429,
            b'{"errors": [{"code": "TOO_MANY_REQUESTS", "message": "slow down"}]}',
            "TOO_MANY_REQUESTS: slow down",
        ),
        (503, b"<html>", "HTTP 503: Service Unavailable"),
        (500, b'{"errors": []}', "HTTP 500: Internal Server Error"),
        (401, b"{}", "HTTP 401: Unauthorized"),
        (404, b"", "HTTP 404: Not Found"),
        (200, b"no JSON", "its answer is not as documented"),
        (0, b"", "unreachable: Remote end closed connection"),
    ],
)
def test_service_that_fails_is_to_blame_and_the_tickets_before_are_kept(
    expo: ExpoEndpoint, status: int, body: bytes, said: str
) -> None:
    expo.failures = [None, (status, body)]
    with pytest.raises(PushUnavailableError, match=said) as failed:
        ExpoPush(url=expo.url).send([message(number) for number in range(250)])
    assert [ticket.id for ticket in failed.value.tickets] == [f"receipt of {token(n)}" for n in range(100)]
    assert len(expo.messages) == 100, "those behind it are not tried"


def test_service_that_fails_while_a_malformed_message_is_looked_for_keeps_the_tickets_before(
    expo: ExpoEndpoint,
) -> None:
    expo.failures = [(400, b""), None, (503, b"")]
    with pytest.raises(PushUnavailableError) as failed:
        ExpoPush(url=expo.url).send([message(number) for number in range(10)])
    assert [ticket.id for ticket in failed.value.tickets] == [f"receipt of {token(n)}" for n in range(5)]


@pytest.mark.parametrize("status", [400, 413])
def test_message_that_is_refused_alone_is_to_blame_itself(expo: ExpoEndpoint, status: int) -> None:
    expo.failures = [(status, b"")]
    (ticket,) = ExpoPush(url=expo.url).send([message(1)])
    assert ticket.error == f"HTTP {status}"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"no JSON",
        b"[]",
        b'{"data": []}',
        b'{"data": [{"status": "ok"}, {"status": "ok"}]}',
        b'{"data": "x"}',
        b'{"data": [{}]}',
        b'{"data": null}',
        b"\xff\xfe",
    ],
)
def test_answer_that_is_not_as_documented_is_a_failure_of_the_service(
    expo: ExpoEndpoint, body: bytes
) -> None:
    expo.failures = [(200, body)]
    with pytest.raises(PushUnavailableError, match="its answer is not as documented"):
        ExpoPush(url=expo.url).send([message(1)])


def test_error_without_details_is_an_error(expo: ExpoEndpoint) -> None:
    expo.failures = [(200, json.dumps({"data": [{"status": "error", "message": "no"}]}).encode())]
    assert ExpoPush(url=expo.url).send([message(1)]) == [Ticket("error", "no")]


def test_service_that_is_not_there_is_unreachable() -> None:
    with expo_endpoint() as gone:
        url = gone.url
    with pytest.raises(PushUnavailableError, match="unreachable: ") as failed:
        ExpoPush(url=url, timeout_s=5).send([message(1), message(2)])
    assert failed.value.tickets == ()


# --- with the dispatcher, and in this process --------------------------------------------------------------


def test_dispatcher_sends_by_expo(expo: ExpoEndpoint) -> None:
    clock = ManualClock()
    with Kefir.open(":memory:", clock=clock) as db:
        brewer(db, devices=2)
        for number, device in enumerate(list(db.devices(UserId("u1")).all())):
            db.update(device, push_token=token(number))
        expo.unregistered = {token(0)}
        remind(db, "r1", minutes=-1)
        dispatcher = Dispatcher(db, ExpoPush(url=expo.url))
        expo.failures = [(503, b"")]
        with pytest.raises(PushUnavailableError, match="HTTP 503: Service Unavailable"):
            dispatcher.send_due()
        assert (stored(db, "r1").status, stored(db, "r1").attempts) == ("pending", 0)
        clock.advance(0.001)
        assert dispatcher.send_due() == 1
        assert [each["to"] for each in expo.messages] == [token(0), token(1)]
        assert [device.push_token for device in db.devices(UserId("u1")).all()] == [token(1)]


def test_local_push_takes_and_logs_every_message(caplog: pytest.LogCaptureFixture) -> None:
    push = LocalPush()
    with caplog.at_level(logging.INFO, "singletable.kefir"):
        tickets = [*push.send([message(1), message(2)]), *push.send([message(3)])]
    assert [ticket.id for ticket in tickets] == ["local-1", "local-2", "local-3"]
    assert all(ticket.is_ok for ticket in tickets)
    assert list(push.messages) == [message(1), message(2), message(3)]
    assert f"push to {token(1)}: Taste it" in caplog.text


def test_local_push_keeps_the_newest_messages_only() -> None:
    push = LocalPush()
    for number in range(1500):
        push.send([message(number)])
    assert (len(push.messages), push.messages[0]) == (1000, message(500))
