"""Pages of other origins, as the service answers them (dynalite, "should set CORS …"; ScyllaDB, test_cors.py)."""

from __future__ import annotations

import pytest

from singletable.server.reader import Request
from singletable.server.replies import Reply
from singletable.server.routing import NOT_FOUND, Router

EXPOSED = "x-amzn-RequestId,x-amzn-ErrorType,x-amzn-ErrorMessage,Date"


def answer(method: str, headers: dict[str, str], router: Router | None = None) -> Reply:
    router = router or Router()
    kept = {name.encode(): value.encode() for name, value in headers.items()}
    request = Request(method.encode(), b"/", kept, b"", True)
    asked = router.route(request)
    assert isinstance(asked, Reply)
    return router.dress(request, asked)


def lines(reply: Reply) -> dict[str, str]:
    return dict(line.split(": ", 1) for line in reply.headers.decode().splitlines())


@pytest.mark.parametrize(
    ("asked", "allowed"),
    [
        pytest.param({}, {}, id="nothing"),
        pytest.param(
            {"access-control-request-headers": "a, b, c"},
            {"Access-Control-Allow-Headers": "a, b, c"},
            id="headers",
        ),
        pytest.param(
            {"access-control-request-headers": "a, b, c", "access-control-request-method": "d"},
            {"Access-Control-Allow-Headers": "a, b, c", "Access-Control-Allow-Methods": "d"},
            id="headers and method",
        ),
    ],
)
def test_browser_that_asks_ahead_is_allowed_what_it_asks_for(
    asked: dict[str, str], allowed: dict[str, str]
) -> None:
    reply = answer("OPTIONS", {"origin": "http://example.com", **asked})
    assert (reply.status, reply.body, reply.content_type) == (200, b"", None)
    assert lines(reply) == {
        "Access-Control-Allow-Origin": "*",
        "Access-Control-Expose-Headers": EXPOSED,
        "Access-Control-Max-Age": "172800",
        **allowed,
    }


@pytest.mark.parametrize("method", ["GET", "POST", "PUT"])
def test_every_answer_to_another_origin_allows_it(method: str) -> None:
    reply = answer(method, {"origin": "whatever", "access-control-request-headers": "a"})
    assert lines(reply) == {"Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": EXPOSED}


@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
def test_answer_to_no_origin_says_nothing_of_origins(method: str) -> None:
    assert answer(method, {"access-control-request-headers": "a"}).headers == b""


def test_options_without_an_origin_is_not_found() -> None:
    assert answer("OPTIONS", {}) == NOT_FOUND


@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
def test_origins_can_be_refused(method: str) -> None:
    reply = answer(method, {"origin": "http://example.com"}, Router(allows_origins=False))
    assert reply.headers == b""
    assert (reply.status == 404) == (method == "OPTIONS")
