"""Names by which the server is called, and pages of other origins: who is let in, and what the others are told.

What an allowed origin gets is what the service answers (dynalite, "should set CORS …"; ScyllaDB, test_cors.py).
"""

from __future__ import annotations

import json

import pytest

import singletable
from singletable.server import BackgroundServer, ServerSettings
from singletable.server.callers import Callers
from singletable.server.reader import Request
from singletable.server.replies import AMZ_JSON, Reply
from singletable.server.routing import NOT_FOUND, RoutedCall, Router
from support.serving import HttpSocket, call

EXPOSED = "x-amzn-RequestId,x-amzn-ErrorType,x-amzn-ErrorMessage,Date"
PAGE = "http://example.com"


def a_request(method: str, headers: dict[str, str]) -> Request:
    kept = {name.encode(): value.encode("latin-1") for name, value in headers.items()}
    return Request(method.encode(), b"/", kept, b"", True)


def answer(method: str, headers: dict[str, str], callers: Callers | None = None) -> Reply:
    router = Router(callers=callers or Callers(cors_origins=["*"]))
    request = a_request(method, headers)
    asked = router.route(request)
    assert isinstance(asked, Reply)
    return router.dress(request, asked)


def lines(reply: Reply) -> dict[str, str]:
    return dict(line.split(": ", 1) for line in reply.headers.decode().splitlines())


def refusal(reply: Reply | None) -> str:
    """Return the sentence of a refusal, which no page can read."""
    assert reply is not None
    assert (reply.status, reply.headers) == (403, b"")
    text = json.loads(reply.body)
    assert text["__type"] == "com.amazon.coral.service#AccessDeniedException"
    message = text["message"]
    assert isinstance(message, str)
    return message


# --- names ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host",
    [
        *("localhost", "localhost:8000", "LocalHost", "localhost.", "localhost.:80", "shop.localhost:8000"),
        *("127.0.0.1", "127.0.0.1:8000", "127.8.9.10", "[::1]", "[::1]:8000", "0.0.0.0:8000"),
        *("192.168.1.5:8000", "[fe80::1]:8000", "localhost:"),
    ],
)
def test_this_machine_and_every_address_are_known_by_name(host: str) -> None:
    assert Callers().refuse({b"host": host.encode()}) is None


@pytest.mark.parametrize(
    ("host", "pasted"),
    [
        ("evil.example", "evil.example"),
        ("evil.example:8000", "evil.example"),
        ("dynamodb:8000", "dynamodb"),
        ("127.0.0.1.evil.example", "127.0.0.1.evil.example"),
        ("localhost.evil.example", "localhost.evil.example"),
        ("evillocalhost", "evillocalhost"),
        ("localhost@evil.example", "NAME"),
        ("127.0.0.1:80:80", "NAME"),
        ("[::1].evil.example", "NAME"),
        ("[localhost]", "NAME"),
        ("::1", "NAME"),
        ("", "NAME"),
        ("$(reboot)", "NAME"),
        ("a\xe4\x9fb", "NAME"),
        ("localhost:port", "NAME"),
    ],
)
def test_other_names_are_refused_with_what_allows_them(host: str, pasted: str) -> None:
    message = refusal(Callers().refuse({b"host": host.encode("latin-1")}))
    assert "(DNS rebinding)" in message
    assert f"start the server with --allow-host {pasted}; in Python it is allow_hosts" in message
    assert message.isascii()


@pytest.mark.parametrize("allowed", [["dynamodb"], ["other", "DynamoDB."], ["*"]], ids=str)
def test_allowed_names_are_known_however_they_are_written(allowed: list[str]) -> None:
    callers = Callers(allow_hosts=allowed)
    for host in (b"dynamodb", b"dynamodb:8000", b"DYNAMODB.:1"):
        assert callers.refuse({b"host": host}) is None
    assert (callers.refuse({b"host": b"evil.example"}) is None) == (allowed == ["*"])


def test_name_that_is_listened_on_is_known() -> None:
    callers = Callers(listens_on="db.internal")
    assert callers.refuse({b"host": b"db.internal:8000"}) is None
    assert callers.refuse({b"host": b"internal:8000"}) is not None


def test_names_that_were_right_are_remembered_up_to_a_bound() -> None:
    callers = Callers()
    for port in range(3000):
        assert callers.refuse({b"host": b"localhost:%d" % port}) is None
        assert callers.refuse({b"host": b"evil.example:%d" % port}) is not None
    assert 0 < len(callers.known_hosts) <= 256
    assert not any(host is not None and host.startswith(b"evil") for host in callers.known_hosts)


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "OPTIONS", "DELETE"])
def test_no_method_gets_through_by_a_strange_name(method: str) -> None:
    assert "'evil.example'" in refusal(answer(method, {"host": "evil.example:8000"}, Callers()))
    # Not even from the pages that the browser takes for the server's own.
    own = {"host": "evil.example:8000", "origin": "http://evil.example:8000"}
    assert refusal(answer(method, own, Callers()))


# --- pages ------------------------------------------------------------------------------------------------


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
        pytest.param(
            {"access-control-request-private-network": "true"},
            {"Access-Control-Allow-Private-Network": "true"},
            id="this machine",
        ),
    ],
)
def test_browser_that_asks_ahead_is_allowed_what_it_asks_for(
    asked: dict[str, str], allowed: dict[str, str]
) -> None:
    reply = answer("OPTIONS", {"origin": PAGE, **asked})
    assert (reply.status, reply.body, reply.content_type) == (200, b"", None)
    assert lines(reply) == {
        "Access-Control-Allow-Origin": "*",
        "Access-Control-Expose-Headers": EXPOSED,
        "Access-Control-Max-Age": "172800",
        **allowed,
    }


@pytest.mark.parametrize("method", ["GET", "POST", "PUT"])
def test_every_answer_allows_where_all_origins_are_allowed(method: str) -> None:
    reply = answer(method, {"origin": "whatever", "access-control-request-headers": "a"})
    assert lines(reply) == {"Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": EXPOSED}


@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
def test_answer_to_an_allowed_origin_allows_that_one_alone(method: str) -> None:
    callers = Callers(cors_origins=["http://localhost:3000", "HTTPS://Example.com:443", "null"])
    for origin in ("http://localhost:3000", "https://example.com", "null"):
        reply = answer(method, {"origin": origin}, callers)
        assert reply.status in (200, 400)
        assert lines(reply).items() >= {"Access-Control-Allow-Origin": origin, "Vary": "Origin"}.items()
    for origin in (
        "http://localhost:3001",
        "https://localhost:3000",
        "http://example.com",
        "https://example.com.evil",
    ):
        assert f"--cors-origin {origin}" in refusal(answer(method, {"origin": origin}, callers))


@pytest.mark.parametrize(
    ("origin", "pasted"),
    [
        ("http://example.com", "http://example.com"),
        ("https://example.com:8443", "https://example.com:8443"),
        ("http://[::1]:3000", "http://[::1]:3000"),
        ("chrome-extension://abcdef", "chrome-extension://abcdef"),
        ("null", "null"),
        ("", "ORIGIN"),
        ("$(reboot)", "ORIGIN"),
        ("http://x\xff", "ORIGIN"),
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
def test_pages_of_other_origins_are_refused_with_what_allows_them(
    method: str, origin: str, pasted: str
) -> None:
    message = refusal(answer(method, {"host": "localhost:8000", "origin": origin}, Callers()))
    assert f"start the server with --cors-origin {pasted}; in Python it is cors_origins" in message
    assert message.isascii()


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("http://localhost:8000", "localhost:8000"),
        ("http://127.0.0.1:8000", "127.0.0.1:8000"),
        ("http://[::1]:8000", "[::1]:8000"),
        ("http://LOCALHOST", "localhost"),
        ("https://localhost", "localhost"),
    ],
)
def test_page_of_the_server_itself_may_call(origin: str, host: str) -> None:
    reply = answer("GET", {"host": host, "origin": origin}, Callers())
    assert (reply.status, reply.headers) == (200, b"")


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("http://localhost:3000", "localhost:8000"),
        ("http://localhost", "localhost:8000"),
        ("http://localhost:8000", "127.0.0.1:8000"),
        ("ftp://localhost:8000", "localhost:8000"),
        ("localhost:8000", "localhost:8000"),
    ],
)
def test_page_of_another_port_or_name_of_this_machine_is_a_stranger(origin: str, host: str) -> None:
    assert refusal(answer("GET", {"host": host, "origin": origin}, Callers()))


@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
def test_answer_to_no_origin_says_nothing_of_origins(method: str) -> None:
    assert answer(method, {"access-control-request-headers": "a"}).headers == b""


@pytest.mark.parametrize("callers", [Callers(), Callers(cors_origins=["*"])], ids=["none", "all"])
def test_options_without_an_origin_is_not_found(callers: Callers) -> None:
    assert answer("OPTIONS", {}, callers) == NOT_FOUND


def test_request_that_needs_no_asking_ahead_changes_nothing() -> None:
    """A page may POST text, or nothing, to any origin without a preflight; the answer is not what it is about."""
    headers = {"x-amz-target": "DynamoDB_20120810.DeleteTable", "content-type": "application/x-amz-json-1.0"}
    router = Router(checks_signatures=False)
    assert router.route(a_request("POST", headers)) == RoutedCall("DeleteTable", b"", AMZ_JSON)
    for origin in ("http://example.com", "null"):
        refused = router.route(a_request("POST", {**headers, "origin": origin}))
        assert isinstance(refused, Reply)
        assert refusal(refused)


# --- what can be allowed ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["", "a b", "http://dynamodb", "dynamodb:8000", "[::1]", "*.example", "-", "ä"]
)
def test_what_is_no_name_cannot_be_allowed(name: str) -> None:
    with pytest.raises(ValueError, match="is no name of a host: give it without a scheme and a port"):
        Callers(allow_hosts=[name])


@pytest.mark.parametrize(
    "origin",
    ["", "localhost:3000", "http://localhost:3000/", "http://", "http://a/b", "http://*", "http://a b"],
)
def test_what_is_no_origin_cannot_be_allowed(origin: str) -> None:
    with pytest.raises(ValueError, match="is no origin: it is a scheme, a host and a port"):
        Callers(cors_origins=[origin])


def test_name_that_is_given_alone_is_not_taken_for_its_letters() -> None:
    with pytest.raises(ValueError, match="allow_hosts is a list"):
        Callers(allow_hosts="dynamodb")
    with pytest.raises(ValueError, match="cors_origins is a list"):
        Callers(cors_origins="*")


# --- over a socket ----------------------------------------------------------------------------------------


def test_server_refuses_strangers_and_goes_on_with_the_connection() -> None:
    settings = ServerSettings(port=0, allow_hosts=["dynamodb"], cors_origins=["http://localhost:3000"])
    with (
        singletable.Database.open(":memory:") as database,
        BackgroundServer(database, settings) as address,
        HttpSocket(address) as client,
    ):
        listed = call("ListTables", {})
        named = listed.replace(b"Host: localhost", b"Host: dynamodb:8000")
        assert client.ask(named).json == {"TableNames": []}
        rebound = client.ask(listed.replace(b"Host: localhost", b"Host: evil.example"))
        assert (rebound.status, rebound.json["message"][:50]) == (
            403,
            "This server is not known by the name 'evil.example",
        )
        foreign = client.ask(call("ListTables", {}, "Origin: http://example.com"))
        assert (foreign.status, foreign.headers.get("Access-Control-Allow-Origin")) == (403, None)
        allowed = client.ask(call("ListTables", {}, "Origin: http://localhost:3000"))
        assert (allowed.json, allowed.headers["Access-Control-Allow-Origin"]) == (
            {"TableNames": []},
            "http://localhost:3000",
        )


def test_settings_that_allow_no_name_are_refused_at_the_start() -> None:
    with singletable.Database.open(":memory:") as database:
        server = BackgroundServer(database, ServerSettings(port=0, allow_hosts=["http://dynamodb"]))
        with pytest.raises(ValueError, match="is no name of a host"):
            server.start()


def test_whole_url_counts_and_not_the_header_beside_it() -> None:
    with (
        singletable.Database.open(":memory:") as database,
        BackgroundServer(database) as address,
        HttpSocket(address) as client,
    ):
        listed = call("ListTables", {})
        for url, host, status in (
            (b"http://localhost:8000/", b"evil.example", 200),
            (b"http://evil.example/", b"localhost", 403),
            (b"http://localhost@evil.example/", b"localhost", 403),
            (b"HTTPS://evil.example", b"localhost", 403),
        ):
            changed = listed.replace(b"POST /", b"POST " + url).replace(b"Host: localhost", b"Host: " + host)
            assert client.ask(changed).status == status
