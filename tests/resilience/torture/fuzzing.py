"""Send what the strategies make, and judge what comes back: a fit answer or a closed connection, always."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from resilience.torture import bodies, streams
from resilience.torture.answers import Answer, judge, read_answers
from resilience.torture.operations import EXAMPLES
from support.serving import SIGNATURE, TIMEOUT_S, call

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from resilience.torture.target import Target

Drawn = TypeVar("Drawn")


def attack(target: Target, pieces: Sequence[bytes]) -> list[Answer]:
    """Send the pieces, close our side, and return all that came back. A server that does not close hangs.

    Between two pieces another client is answered, so that the server most likely reads them one by one.
    """
    with target.connect_raw() as client:
        _send(target, client, [piece for piece in pieces if piece])
        received, was_reset = _receive_all(client)
    sent = b"".join(pieces)
    try:
        answers = read_answers(received, heads=b"HEAD" in sent)
    except AssertionError:
        if was_reset:
            return []
        raise
    for answer in answers:
        judge(answer)
    return answers


def _send(target: Target, client: socket.socket, pieces: list[bytes]) -> None:
    for position, piece in enumerate(pieces):
        if position:
            target.ping()
        try:
            client.sendall(piece)
        except (BrokenPipeError, ConnectionResetError):
            return  # refused before its end
    with contextlib.suppress(OSError):  # it may be gone already
        client.shutdown(socket.SHUT_WR)


def _receive_all(client: socket.socket) -> tuple[bytes, bool]:
    received = b""
    while True:
        try:
            data = client.recv(1 << 18)
        except ConnectionResetError:
            return received, True
        except TimeoutError:
            raise AssertionError(f"no end after {TIMEOUT_S} s; received {received[:500]!r}") from None
        if not data:
            return received, False
        received += data


def ask_once(target: Target, request: bytes) -> Answer:
    """Send one complete request; exactly one answer must come, and then the end."""
    answers = [answer for answer in attack(target, [request]) if answer.status != 100]
    assert len(answers) == 1, answers
    return answers[0]


def fuzz(
    strategy: SearchStrategy[Drawn],
    act: Callable[[Drawn], object],
    target: Target,
    *,
    examples: int,
    random_seed: int | None = None,
) -> None:
    """Act on many examples; after each one the server must be well. A seed makes them others than always."""

    @settings(
        max_examples=examples,
        derandomize=random_seed is None,
        database=None,
        deadline=None,
        phases=(Phase.explicit, Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(drawn=strategy)
    def run(drawn: Drawn) -> None:
        act(drawn)
        target.assert_well()

    (run if random_seed is None else seed(random_seed)(run))()


# --- the attacks, by name -----------------------------------------------------------------------------


def send_noise(target: Target, *, examples: int, random_seed: int | None = None) -> None:
    """Bytes of any kind."""
    strategy = streams.noise().flatmap(streams.pieces_of)
    fuzz(strategy, lambda pieces: attack(target, pieces), target, examples=examples, random_seed=random_seed)


def send_wrong_requests(target: Target, *, examples: int, random_seed: int | None = None) -> None:
    """HTTP that was valid once."""
    strategy = streams.wrong_requests().flatmap(streams.pieces_of)
    fuzz(strategy, lambda pieces: attack(target, pieces), target, examples=examples, random_seed=random_seed)


def send_pipelines(target: Target, *, examples: int, random_seed: int | None = None) -> None:
    """Good and bad requests in one go, cut anywhere: each gets its status, up to the one that ends it."""

    def act(drawn: tuple[list[streams.Asked], list[bytes]]) -> None:
        asked, pieces = drawn
        last = next((at for at, one in enumerate(asked) if one.closes), len(asked) - 1)
        answers = [answer for answer in attack(target, pieces) if answer.status != 100]
        assert [answer.status for answer in answers] == [one.status for one in asked[: last + 1]]

    strategy = st.lists(st.sampled_from(streams.ASKED), min_size=1, max_size=8).flatmap(
        lambda asked: st.tuples(st.just(asked), streams.pieces_of(b"".join(one.data for one in asked)))
    )
    fuzz(strategy, act, target, examples=examples, random_seed=random_seed)


def send_odd_chunks(target: Target, *, examples: int, random_seed: int | None = None) -> None:
    """A body in odd chunks means what it means in one piece."""
    value = {"TableName": "missing", "Key": {"PK": {"S": "p" * 100}, "SK": {"N": "1"}}}
    expected = ask_once(target, call("GetItem", value))
    headers = (
        "X-Amz-Target: DynamoDB_20120810.GetItem",
        "Content-Type: application/x-amz-json-1.0",
        *SIGNATURE,
    )

    def act(pieces: list[bytes]) -> None:
        (answer,) = attack(target, pieces)
        assert (answer.status, answer.body) == (expected.status, expected.body)

    body = streams.encoded("GetItem", value)
    strategy = streams.odd_chunks(body, *headers).flatmap(streams.pieces_of)
    fuzz(strategy, act, target, examples=examples, random_seed=random_seed)


def send_wrong_bodies(target: Target, *, examples: int, random_seed: int | None = None) -> None:
    """JSON of every operation, wrong anywhere, in a request that is right."""
    strategy = bodies.wrong_values() | bodies.wrong_bytes()

    def act(drawn: tuple[str, bytes]) -> None:
        ask_once(target, call(*drawn))

    fuzz(strategy, act, target, examples=examples, random_seed=random_seed)


def send_wrong_encodings(target: Target, *, examples: int, random_seed: int | None = None) -> None:
    """Bodies that are packed, broken, or neither."""

    def act(drawn: tuple[str, bytes, str]) -> None:
        operation, body, encoding = drawn
        request = call(operation, body, "Content-Encoding: @").replace(b"@", encoding.encode("latin-1"), 1)
        ask_once(target, request)

    fuzz(bodies.wrong_encodings(), act, target, examples=examples, random_seed=random_seed)


def send_wrong_headers(target: Target, *, examples: int, random_seed: int | None = None) -> None:
    """A valid body under any target, content type and signature."""
    targets = st.sampled_from(
        ("DynamoDB_20120810.", "DynamoDBStreams_20120810.", "", ".", "DynamoDB_20111205.")
    )
    names = st.sampled_from([operation for operation, _ in EXAMPLES]) | st.text(
        st.characters(min_codepoint=33, max_codepoint=255), max_size=12
    )
    types = st.sampled_from(
        (
            "application/x-amz-json-1.0",
            "application/json",
            "application/x-amz-json-1.1",
            "text/xml",
            "",
            ";",
            "\xff",
        )
    )
    authorization = st.sampled_from(SIGNATURE[:1]) | st.text(
        st.characters(min_codepoint=32, max_codepoint=255), max_size=60
    ).map(lambda text: f"Authorization: AWS4-HMAC-SHA256 {text}")

    def act(drawn: tuple[str, str, str, str, tuple[str, dict[str, object]]]) -> None:
        prefix, name, content_type, signature, (_, value) = drawn
        lines = [f"X-Amz-Target: {prefix}{name}", f"Content-Type: {content_type}", signature, SIGNATURE[1]]
        body = streams.encoded(name, value)
        head = ["POST / HTTP/1.1", "Host: localhost", f"Content-Length: {len(body)}", *lines, "", ""]
        ask_once(target, "\r\n".join(head).encode("latin-1") + body)

    strategy = st.tuples(targets, names, types, authorization, st.sampled_from(EXAMPLES))
    fuzz(strategy, act, target, examples=examples, random_seed=random_seed)


ATTACKS = {
    "noise": send_noise,
    "requests": send_wrong_requests,
    "pipelines": send_pipelines,
    "chunks": send_odd_chunks,
    "bodies": send_wrong_bodies,
    "encodings": send_wrong_encodings,
    "headers": send_wrong_headers,
}


def new_seed() -> int:
    return int.from_bytes(os.urandom(4))
