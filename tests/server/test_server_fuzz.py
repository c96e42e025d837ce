"""Any bytes at the port get an answer of DynamoDB or a closed connection: no 500, no hang, no traceback."""

from __future__ import annotations

import gzip
import os
import time
from typing import TYPE_CHECKING

import pytest

from resilience.torture import floods, fuzzing, streams
from resilience.torture.answers import judge, read_answers
from resilience.torture.bodies import REPEATED, repeated
from resilience.torture.operations import EXAMPLES
from resilience.torture.target import Target
from singletable.limits import MIB, REQUEST_BYTES_MAX
from support.serving import SIGNATURE, call, post

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SOAK_S = float(os.environ.get("SOAK_S", "60"))
EXAMPLES_OF_EACH = 120
AMZ = ("X-Amz-Target: DynamoDB_20120810.ListTables", "Content-Type: application/x-amz-json-1.0", *SIGNATURE)


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    with Target(tmp_path_factory.mktemp("fuzz"), durability="relaxed") as started:
        started.create_things()
        yield started
        started.assert_well()
        started.stop()


@pytest.mark.parametrize("name", fuzzing.ATTACKS)
def test_any_bytes_are_answered_or_refused(target: Target, name: str) -> None:
    fuzzing.ATTACKS[name](target, examples=EXAMPLES_OF_EACH)


def test_what_the_fuzzers_start_from_is_valid(tmp_path: Path) -> None:
    """A condition may fail, a table may be busy: but nothing is wrong with the requests themselves."""
    with Target(tmp_path, None) as fresh:
        fresh.create_things()
        answers = [fuzzing.ask_once(fresh, call(operation, body)) for operation, body in EXAMPLES]
    codes = {answer.code for answer in answers} - {""}
    conditions = {"ConditionalCheckFailedException", "TransactionCanceledException", "ResourceInUseException"}
    assert codes <= conditions, [answer.body for answer in answers if answer.code not in conditions]


@pytest.mark.parametrize("operation", [operation for operation, _ in EXAMPLES])
def test_unsigned_request_is_refused(target: Target, operation: str) -> None:
    target_line = f"X-Amz-Target: DynamoDB_20120810.{operation}"
    request = post(b'{"TableName":"missing"}', target_line, "Content-Type: application/x-amz-json-1.0")
    assert fuzzing.ask_once(target, request).code == "MissingAuthenticationTokenException"
    target.assert_well()


# --- one request that somebody else may take for two -------------------------------------------------


@pytest.mark.parametrize("name", streams.AMBIGUOUS)
def test_request_that_can_be_read_in_two_ways_is_not_read(target: Target, name: str) -> None:
    (refusal,) = fuzzing.attack(target, [streams.ambiguous(name)])
    assert (refusal.status, refusal.closes) == (400, True)
    assert fuzzing.ask_once(target, streams.IS_SMUGGLED).body == b"{}"
    target.assert_well()


# --- too much ----------------------------------------------------------------------------------------


def test_announced_body_above_the_limit_is_refused_while_it_is_not_sent(target: Target) -> None:
    head = post(b"", *AMZ).replace(b"Length: 0", b"Length: %d" % (REQUEST_BYTES_MAX + 1))
    (refusal,) = fuzzing.attack(target, [head])
    assert (refusal.status, refusal.code) == (413, "RequestEntityTooLargeException")
    target.assert_well()


def test_chunked_body_above_the_limit_is_refused_while_it_comes(target: Target) -> None:
    head = post(b"", *AMZ).replace(b"Content-Length: 0", b"Transfer-Encoding: chunked")
    chunk = b"%x\r\n" % MIB + b" " * MIB + b"\r\n"
    (refusal,) = fuzzing.attack(target, [head, *[chunk] * 20])
    assert (refusal.status, refusal.closes) == (413, True)
    target.assert_well()


def test_chunks_of_one_byte_are_put_together(target: Target) -> None:
    head = post(b"", *AMZ).replace(b"Content-Length: 0", b"Transfer-Encoding: chunked")
    body = b'{"Limit":1' + b" " * 100_000 + b"}"
    chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in body)
    assert fuzzing.ask_once(target, head + chunks + b"0\r\n\r\n").status == 200


@pytest.mark.parametrize("unpacked_bytes", [REQUEST_BYTES_MAX + 1, 1 << 30], ids=["just above", "a gigabyte"])
def test_packed_body_that_unpacks_to_too_much_is_refused(target: Target, unpacked_bytes: int) -> None:
    before = target.resident_bytes
    bomb = gzip.compress(bytes(REQUEST_BYTES_MAX + 1)) if unpacked_bytes < 1 << 30 else _gigabyte()
    answer = fuzzing.ask_once(target, call("ListTables", bomb, "Content-Encoding: gzip"))
    assert (answer.status, answer.code) == (413, "RequestEntityTooLargeException")
    target.assert_well()
    assert target.resident_bytes - before < 256 * MIB


def _gigabyte() -> bytes:
    # A member of 16 MB after the other: gzip lets them stand in a row.
    return gzip.compress(bytes(16 * MIB)) * 64


QUICK = ("batch of nothing", "attribute definitions")


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.soak) for name in REPEATED]
)
def test_body_that_is_wrong_in_a_million_places_is_refused(tmp_path: Path, name: str) -> None:
    """Several at once, a few kilobytes each as they are sent: if one took long, nobody else would be served."""
    operation, body = repeated(name, REQUEST_BYTES_MAX)
    request = call(operation, gzip.compress(body), "Content-Encoding: gzip", "Connection: close")
    with Target(tmp_path, None) as fresh:
        fresh.create_things()
        with floods.crowd(fresh, 3) as clients:
            for client in clients:
                client.sendall(request)
            fresh.ping()
            for client in clients:
                (answer,) = read_answers(floods.read_all(client))
                judge(answer)
                assert answer.status == 400
        fresh.assert_well()


@pytest.mark.parametrize(
    "expectation", ["100-continue", "100-Continue", "200-ok", "", "100-continue, 100-continue"]
)
def test_expectation_never_leaves_a_client_waiting(target: Target, expectation: str) -> None:
    answers = fuzzing.attack(target, [call("ListTables", {"Limit": 1}, f"Expect: {expectation}")])
    assert [answer.status for answer in answers if answer.status != 100] in ([200], [417])


def test_client_that_was_told_to_go_on_and_does_not_is_let_go(target: Target) -> None:
    head, _, _ = call("ListTables", {"Limit": 1}, "Expect: 100-continue").partition(b"\r\n\r\n")
    assert [answer.status for answer in fuzzing.attack(target, [head + b"\r\n\r\n", b""])] in ([100], [])
    target.assert_well()


# --- for longer ----------------------------------------------------------------------------------------


@pytest.mark.soak
@pytest.mark.parametrize("name", fuzzing.ATTACKS)
def test_any_bytes_are_answered_or_refused_for_long(target: Target, name: str) -> None:
    ends_s = time.monotonic() + SOAK_S / len(fuzzing.ATTACKS)
    while time.monotonic() < ends_s:
        random_seed = fuzzing.new_seed()
        print(f"{name}: seed {random_seed}")
        fuzzing.ATTACKS[name](target, examples=500, random_seed=random_seed)
