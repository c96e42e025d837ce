"""Slow, deaf, half-closed and countless clients: the others are answered, memory stays bounded, it stops."""

from __future__ import annotations

import gzip
import os
import select
import signal
import socket
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from resilience.torture import floods
from resilience.torture.answers import read_answers
from resilience.torture.bodies import repeated
from resilience.torture.target import Target
from singletable.limits import MIB, REQUEST_BYTES_MAX
from singletable.storage.check import check_file
from support.serving import call

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SOAK_S = float(os.environ.get("SOAK_S", "60"))
# What a server with two budgets of 32 MiB may hold: those, and what its threads copy on the way. Without them the
# floods below would make it hold more.
HELD_BYTES_MAX = 192 * MIB
LARGE_ITEMS = 20  # in one answer: more than the buffers of the system take
# The same with the budgets of the command.
GROWTH_BYTES_MAX = 1024 * MIB


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    with Target(tmp_path_factory.mktemp("floods"), durability="relaxed") as started:
        started.create_things()
        floods.store_large(started, 40)
        yield started
        started.assert_well()
        started.stop()


@pytest.fixture
def held(target: Target) -> Iterator[None]:
    """Afterwards nothing is left of a flood: the sockets of its connections are closed."""
    floods.assert_answers_others(target)
    sockets = target.open_sockets
    yield
    floods.until(target, lambda: target.open_sockets <= sockets, "the connections of the flood are closed")
    target.assert_well()


# --- slow -----------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("held")
def test_requests_that_never_end_hold_up_nobody(target: Target) -> None:
    before = target.resident_bytes
    with floods.slow_loris(target, 200, 150):
        floods.assert_answers_others(target)
        assert target.resident_bytes - before < 64 * MIB


def test_client_that_never_ends_its_request_is_closed(tmp_path: Path) -> None:
    """A byte now and then is no silence. It must not keep a place for ever: there are only so many."""
    request = floods.put("loris", v={"S": "x" * 390_000})
    with Target(tmp_path, None, settings={"request_s_max": 1.0}) as target:
        position = 0

        def next_byte() -> bytes:
            nonlocal position
            position += 1
            return request[position - 1 : position]

        with target.connect_raw() as client:
            floods.until_closed(target, client, next_byte)
        assert position < len(request), "the request was sent to its end"


def test_client_that_takes_no_answers_is_closed(tmp_path: Path) -> None:
    with Target(tmp_path, None, settings={"idle_s_max": 1.0}) as target:
        target.create_things()
        floods.store_large(target, 1)
        sockets = target.open_sockets
        with floods.deaf(target, 5, floods.get("large", 0), 100):
            floods.until(target, lambda: target.open_sockets <= sockets, "the deaf clients are cut off")


# --- greedy -----------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("held")
def test_clients_that_read_no_answers_hold_up_nobody(target: Target) -> None:
    before = target.resident_bytes
    with floods.deaf(target, 50, floods.get("large", 0), 200):
        floods.assert_answers_others(target)
        assert target.resident_bytes - before < 50 * 3 * MIB


@pytest.fixture
def narrow(tmp_path: Path) -> Iterator[Target]:
    """A server that may hold little for its clients, however many they are."""
    budgets = {"arriving_bytes_max": 32 * MIB, "leaving_bytes_max": 32 * MIB}
    with Target(tmp_path, durability="relaxed", settings=budgets) as started:
        started.create_things()
        floods.store_large(started, LARGE_ITEMS)
        yield started
        started.assert_well()


def test_large_answers_that_nobody_reads_are_bounded_together(narrow: Target) -> None:
    before = narrow.resident_bytes
    with floods.deaf(narrow, 60, floods.get_all_large(LARGE_ITEMS), 3):
        floods.assert_answers_others(narrow)
        assert narrow.resident_bytes - before < HELD_BYTES_MAX


def test_large_bodies_that_never_end_are_bounded_together(narrow: Target) -> None:
    before = narrow.resident_bytes
    with floods.half_sent_bodies(narrow, 60, 4 * MIB):
        floods.assert_answers_others(narrow)
        assert narrow.resident_bytes - before < HELD_BYTES_MAX


def test_bodies_of_clients_that_have_left_are_forgotten(narrow: Target) -> None:
    """One after the other, so that there is never more than one: nothing of the others may be kept."""
    before = narrow.resident_bytes
    for _ in range(16):
        with floods.half_sent_bodies(narrow, 1):
            pass
    floods.until(narrow, lambda: narrow.resident_bytes - before < HELD_BYTES_MAX, "the bodies are forgotten")


def test_packed_bodies_are_bounded_together(narrow: Target) -> None:
    """A few kilobytes each, and sixteen megabytes each as soon as they are unpacked."""
    before = highest = narrow.resident_bytes
    for answer in floods.send_packed(narrow, 16):
        assert answer.status in (200, 400), answer
        highest = max(highest, narrow.resident_bytes)
    assert highest - before < HELD_BYTES_MAX


def test_client_that_reads_gets_its_large_answer_beside_those_that_do_not(narrow: Target) -> None:
    with floods.deaf(narrow, 20, floods.get_all_large(LARGE_ITEMS), 3):
        for _ in range(10):
            with narrow.connect_raw() as client:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
                client.sendall(floods.get_all_large(LARGE_ITEMS, "Connection: close"))
                (answer,) = read_answers(floods.read_all(client))
            assert answer.status == 200
            assert len(answer.body) > LARGE_ITEMS * len(floods.LARGE_TEXT)


def test_client_that_sends_can_store_a_large_item_beside_those_that_do_not(narrow: Target) -> None:
    with floods.half_sent_bodies(narrow, 20, 4 * MIB):
        floods.store_large(narrow, 3)


def test_more_requests_than_may_be_under_way(tmp_path: Path) -> None:
    """Who is one too many is told so, in words that SDKs send the request again for."""
    with Target(tmp_path, settings={"requests_max": 4}) as target:
        target.create_things()
        with floods.crowd(target, 60) as clients:
            for client in clients:
                client.sendall(floods.put("many") * 10)
                client.shutdown(socket.SHUT_WR)
            answers = [read_answers(floods.read_all(client)) for client in clients]
        assert {len(of_one) for of_one in answers} == {10}
        kinds = {(answer.status, answer.code) for of_one in answers for answer in of_one}
        assert kinds <= {(200, ""), (400, "ThrottlingException")}
        assert (200, "") in kinds
        target.assert_well()
        target.stop()


def test_client_that_sends_without_pause_is_not_taken_for_one_that_never_ends(tmp_path: Path) -> None:
    """Whenever the server looks, half a request is there: but it is always another one."""
    request = floods.put("busy")
    half = len(request) // 2
    request_s_max = 0.4
    with Target(tmp_path, None, settings={"request_s_max": request_s_max}) as target:
        target.create_things()
        with ExitStack() as connected:
            clients = [connected.enter_context(target.connect()) for _ in range(20)]
            for client in clients:
                client.send(request[:half])
            ends_s = time.monotonic() + 4 * request_s_max
            while time.monotonic() < ends_s:
                for client in clients:
                    assert client.ask(request[half:] + request[:half]).status == 200


# --- many -------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("held")
def test_thousands_come_and_go(target: Target) -> None:
    before = target.resident_bytes
    floods.come_and_go(target, 3000)
    assert target.resident_bytes - before < 64 * MIB


def test_more_connections_than_there_is_room_for(tmp_path: Path) -> None:
    with Target(tmp_path, None, settings={"connections_max": 40}) as target:
        with floods.crowd(target, 39) as clients:  # and one that is a client of the test itself
            for (
                client
            ) in clients:  # who has been answered loses its place to others, but half of all keep theirs
                client.sendall(floods.get("nothing"))
                assert client.recv(1 << 16)
            target.ping()
            with floods.crowd(target, 60) as others:
                floods.until(target, lambda: len(select.select(others, (), (), 0)[0]) >= 40, "40 are refused")
                for other in select.select(others, (), (), 0)[0]:
                    (refusal,) = read_answers(floods.read_all(other))
                    assert (refusal.status, refusal.closes) == (503, True)
            target.ping()
        floods.until(target, lambda: floods.has_room(target), "there is room again")
        target.assert_quiet()
        target.stop()


def test_more_connections_than_files_may_be_open(tmp_path: Path) -> None:
    """The system has bounds too: who was connected goes on, and when others leave there is room again."""
    with Target(tmp_path, "few.db", open_files_max=60) as target:
        target.create_things()
        with target.connect() as client, floods.crowd(target, 150):
            assert client.ask(floods.put("known")).status == 200
            assert client.ask(floods.get("known")).json == {"Item": floods.key("known")}
            assert client.ask(call("Scan", {"TableName": "things"})).json["Count"] == 1
        floods.until(target, lambda: floods.has_room(target), "there is room again")
        floods.assert_answers_others(target)
        assert "Traceback" not in target.said(), target.said()
        target.stop()


# --- far ahead ----------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("held")
def test_thousands_of_pipelined_reads_are_answered_in_order(target: Target) -> None:
    with target.connect() as client:
        for number in range(10):
            assert client.ask(floods.put("ordered", number, v={"S": "x" * 1000})).status == 200
    answers = floods.pipeline(target, [floods.get("ordered", number % 10) for number in range(4000)])
    expected = [b'"SK":{"N":"%d"}' % (number % 10) for number in range(4000)]
    assert len(answers) == len(expected)
    assert all(text in answer.body for text, answer in zip(expected, answers, strict=True))


@pytest.mark.usefixtures("held")
def test_thousands_of_pipelined_writes_are_carried_out_in_order(target: Target) -> None:
    update = {
        "TableName": "things",
        "Key": floods.key("counter"),
        "UpdateExpression": "ADD visits :one",
        "ExpressionAttributeValues": {":one": {"N": "1"}},
        "ReturnValues": "UPDATED_NEW",
    }
    answers = floods.pipeline(target, [call("UpdateItem", update)] * 2000)
    first = int(answers[0].body.split(b'"')[7]) if answers else 0
    bodies = [answer.body for answer in answers]
    assert bodies == [b'{"Attributes":{"visits":{"N":"%d"}}}' % (first + number) for number in range(2000)]


# --- the end ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=lambda sent: sent.name)
def test_server_stops_in_the_middle_of_everything(tmp_path: Path, number: signal.Signals) -> None:
    with Target(tmp_path, "stopped.db", settings={"stop_s_max": 0.5}) as target, ExitStack() as all_floods:
        target.create_things()
        floods.store_large(target, 1)
        all_floods.enter_context(floods.slow_loris(target, 20, 50))
        all_floods.enter_context(floods.half_sent_bodies(target, 3, MIB))
        all_floods.enter_context(floods.deaf(target, 10, floods.get("large", 0), 100))
        all_floods.enter_context(floods.crowd(target, 50))
        writers = all_floods.enter_context(floods.crowd(target, 20))
        for writer in writers:
            writer.sendall(floods.put("late") * 20)
        target.stop(number)
    assert check_file(str(tmp_path / "stopped.db")) == []


def test_server_stops_while_long_requests_wait_for_their_turn(tmp_path: Path) -> None:
    """Nobody will get an answer to them any more: they must not be carried out first."""
    operation, body = repeated("batch of puts", REQUEST_BYTES_MAX)
    request = call(operation, gzip.compress(body), "Content-Encoding: gzip")
    with Target(tmp_path, settings={"stop_s_max": 0.5}) as target:
        target.create_things()
        with floods.crowd(target, 24) as clients:
            for client in clients:
                client.sendall(request)
            target.ping()
            target.stop()


def test_second_signal_while_it_stops_changes_nothing(tmp_path: Path) -> None:
    with Target(tmp_path, "stopped.db", settings={"stop_s_max": 0.5}) as target:
        target.create_things()
        floods.store_large(target, 1)
        with floods.deaf(target, 3, floods.get("large", 0), 100):
            for _ in range(5):
                target.process.send_signal(signal.SIGTERM)
            target.stop()


# --- for longer ---------------------------------------------------------------------------------------------


@pytest.mark.soak
def test_floods_of_every_kind_for_long(target: Target) -> None:
    """Again and again: memory that grows a little with each flood shows here."""
    floods.every_kind(target)
    after_first = target.resident_bytes
    ends_s = time.monotonic() + SOAK_S
    while time.monotonic() < ends_s:
        floods.every_kind(target)
        target.assert_well()
        assert target.resident_bytes - after_first < HELD_BYTES_MAX


@pytest.mark.soak
def test_budgets_of_the_command_hold(target: Target) -> None:
    before = target.resident_bytes
    with floods.deaf(target, 150, floods.get_all_large(40), 3), floods.half_sent_bodies(target, 80):
        floods.assert_answers_others(target)
        assert target.resident_bytes - before < GROWTH_BYTES_MAX
    assert len(list(floods.send_packed(target, 150))) == 150
    assert target.resident_bytes - before < GROWTH_BYTES_MAX


@pytest.mark.soak
def test_crowd_above_the_bound_of_the_command(tmp_path: Path) -> None:
    with Target(tmp_path, None) as target:
        with floods.crowd(target, 1000):
            target.ping()
        floods.until(target, lambda: floods.has_room(target), "there is room again")
        target.assert_quiet()
        target.stop()
