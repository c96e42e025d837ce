"""Reading HTTP from a stream that may be cut anywhere."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from singletable.limits import MIB
from singletable.server.budget import Budget
from singletable.server.reader import (
    HEAD_BYTES_MAX,
    HEAD_TOO_LARGE,
    NOT_ONE_HOST,
    TOO_MANY_BODIES,
    UNCOUNTED_BODY_BYTES,
    Refusal,
    Request,
    RequestReader,
)
from support.serving import call, post

BODIES = st.binary(max_size=40)


def chunked_post(pieces: list[bytes]) -> bytes:
    head = post(b"").replace(b"Content-Length: 0", b"Transfer-Encoding: chunked")
    return head + b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces if piece) + b"0\r\n\r\n"


MESSAGES = st.one_of(
    BODIES.map(lambda body: (call("PutItem", body), body)),
    BODIES.map(lambda body: (call("PutItem", body, "Connection: Upgrade", "Upgrade: h2c"), body)),
    st.lists(BODIES, max_size=4).map(lambda pieces: (chunked_post(pieces), b"".join(pieces))),
    st.just((b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", b"")),
)


@given(messages=st.lists(MESSAGES, max_size=6), cuts=st.lists(st.integers(0, 1000), max_size=8))
def test_requests_are_the_same_wherever_the_stream_is_cut(
    messages: list[tuple[bytes, bytes]], cuts: list[int]
) -> None:
    stream = b"".join(sent for sent, _ in messages)
    reader = RequestReader(Budget(64 * MIB), lambda: None)
    edges = sorted({0, len(stream), *(cut % (len(stream) + 1) for cut in cuts)})
    for start, end in itertools.pairwise(edges):
        reader.feed(stream[start:end])
    read = [reader.take() for _ in range(len(reader.ready))]
    assert [request.body for request in read if isinstance(request, Request)] == [
        body for _, body in messages
    ]
    assert reader.ready_bytes == 0
    assert not reader.finished


@given(st.lists(st.binary(max_size=200), max_size=6))
def test_any_bytes_end_in_requests_or_one_refusal(pieces: list[bytes]) -> None:
    reader = RequestReader(Budget(64 * MIB), lambda: None)
    for piece in pieces:
        if not reader.finished:
            reader.feed(piece)
    refusals = [arrived for arrived in reader.ready if isinstance(arrived, Refusal)]
    assert len(refusals) <= 1
    assert not refusals or (reader.finished and isinstance(reader.ready[-1], Refusal))


def test_body_in_many_small_chunks_is_kept_in_one_buffer() -> None:
    reader = RequestReader(Budget(64 * MIB), lambda: None)
    reader.feed(chunked_post([b"x"] * 5000))
    request = reader.take()
    assert isinstance(request, Request)
    assert request.body == b"x" * 5000


def test_offers_of_another_protocol_may_come_by_the_thousand() -> None:
    reader = RequestReader(Budget(64 * MIB), lambda: None)
    reader.feed(call("ListTables", {}, "Connection: Upgrade", "Upgrade: h2c") * 3000)
    assert len(reader.ready) == 3000
    assert not reader.finished


@pytest.mark.parametrize("name", [b"Accept", b"host-of-nobody", b"x"])
def test_names_of_headers_count_to_the_head(name: bytes) -> None:
    reader = RequestReader(Budget(64 * MIB), lambda: None)
    reader.feed(b"GET / HTTP/1.1\r\nHost: localhost\r\n" + (name + b":\r\n") * 5000 + b"\r\n")
    assert list(reader.ready) == [HEAD_TOO_LARGE]


@pytest.mark.parametrize(
    ("refused", "refusal"),
    [
        pytest.param(post(b"", f"X-Long: {'x' * HEAD_BYTES_MAX}"), HEAD_TOO_LARGE, id="head"),
        pytest.param(post(b"", "Host: other"), NOT_ONE_HOST, id="host"),
        pytest.param(post(b"x" * UNCOUNTED_BODY_BYTES + b"x"), TOO_MANY_BODIES, id="body"),
    ],
)
def test_nothing_is_read_behind_a_refusal(refused: bytes, refusal: Refusal) -> None:
    reader = RequestReader(Budget(0), lambda: None)
    reader.feed(refused + call("ListTables", {}) * 100 + b"GET / HTTP/1.1\r\n")
    assert list(reader.ready) == [refusal]
    assert reader.begun == 1
    assert not reader.is_midway
