"""Who may knock: credentials, hosts, origins, cookies, bounds; and hostile input, which is a problem of 4xx."""

from __future__ import annotations

import time
from typing import Any

import jwt
import pytest
import schemathesis
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from hypothesis import HealthCheck, settings
from schemathesis.specs.openapi.checks import positive_data_acceptance
from starlette.requests import Request

from designs.studio import Studio
from singletable.api import (
    Api,
    BearerAuthentication,
    JwtAuthentication,
    Limits,
    NoAuthentication,
    Principal,
    app,
)
from singletable.errors import DeclarationError, DesignError
from support.asking_api import ADA, BOB, SECRET, ApiClient, as_, asked, client_of, problem, studio_api

ISSUER, AUDIENCE = "https://id.example.org", "studio"
RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)
OTHER_RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)
EC = ec.generate_private_key(ec.SECP256R1())


def _jwks() -> dict[str, Any]:
    from jwt.algorithms import ECAlgorithm, RSAAlgorithm

    keys: list[dict[str, Any]] = [
        RSAAlgorithm.to_jwk(RSA.public_key(), as_dict=True) | {"kid": "one", "alg": "RS256"},
        ECAlgorithm.to_jwk(EC.public_key(), as_dict=True) | {"kid": "two", "alg": "ES256"},
    ]
    return {"keys": keys}


def _token(key: Any = RSA, algorithm: str = "RS256", kid: str = "one", **changes: Any) -> str:
    claims = {"sub": ADA, "iss": ISSUER, "aud": AUDIENCE, "exp": int(time.time()) + 600, **changes}
    present = {name: value for name, value in claims.items() if value is not None}
    return jwt.encode(present, key, algorithm, headers={"kid": kid})


# --- credentials -----------------------------------------------------------------------------------------------


def test_token_of_a_provider_is_checked_in_all_it_says() -> None:
    auth = JwtAuthentication(jwks=_jwks(), issuer=ISSUER, audience=AUDIENCE)
    with asked(studio_api(), auth=auth) as (client, _):
        for token in (_token(), _token(EC, "ES256", "two"), _token(roles=["operator", 7])):
            assert client.get("/patterns/paintings", headers=as_(token)).status_code == 200
        assert client.get(f"/paintings/{BOB}/p", headers=as_(_token(roles="operator"))).status_code == 404
        problem(client.get(f"/paintings/{BOB}/p", headers=as_(_token())), 403, "forbidden")
        for wrong in (
            _token(exp=int(time.time()) - 10),
            _token(exp=None),
            _token(iss="https://evil.example.org"),
            _token(aud="another"),
            _token(aud=None),
            _token(sub=None),
            _token(sub=""),
            _token(OTHER_RSA),
            _token(kid="three"),
            _token("a shared secret that is long enough", "HS256"),
            _token("", "none"),
            _token()[:-3] + "abc",
            "not.a.token",
        ):
            answer = client.get("/patterns/paintings", headers=as_(wrong))
            problem(answer, 401, "unauthenticated")
            assert 'error="invalid_token"' in answer.headers["www-authenticate"]
    for algorithms in (("HS256",), ("none",), ()):
        with pytest.raises(DeclarationError, match="not all asymmetric"):
            JwtAuthentication(jwks=_jwks(), issuer=ISSUER, audience=AUDIENCE, algorithms=algorithms)


def test_without_authentication_only_this_machine_is_answered() -> None:
    with Studio.open(":memory:") as db, client_of(db, Api.all(Studio), auth=NoAuthentication()) as client:
        assert client.get("/patterns/paintings?user_id=ada").json()["items"] == []
        for headers in (
            {"X-Forwarded-For": "203.0.113.7"},
            {"Forwarded": "for=203.0.113.7"},
            {"Host": "192.0.2.1"},
        ):
            problem(client.get("/patterns/paintings?user_id=ada", headers=headers), 403, "forbidden")
    with Studio.open(":memory:") as db:
        with pytest.raises(DeclarationError, match="exposes everything"):
            app(db, Api.all(Studio), auth=BearerAuthentication(lambda token: None), cursor_secret=SECRET)
        with pytest.raises(DeclarationError, match="could be guessed"):
            app(db, studio_api(), auth=NoAuthentication(), cursor_secret="short")


class _Cookies:
    """Sessions by cookies, as a system may have them."""

    challenge: str | None = None
    is_local = False

    async def principal(self, request: Request) -> Principal | None:
        name = request.cookies.get("session")
        return None if name is None else Principal(name, by_cookie=True)


def test_write_by_a_cookie_comes_from_a_page_that_may() -> None:
    with asked(studio_api(), auth=_Cookies(), cors_origins=["https://studio.example.org"]) as (client, _):

        def post(number: int, **headers: str) -> Any:
            body = {"painting_id": f"p{number}", "title": f"t{number}"}
            return client.post("/paintings", json=body, headers={"Cookie": "session=ada", **headers})

        problem(post(1), 403, "foreign-origin")
        problem(post(1, Origin="https://evil.example.org"), 403, "foreign-origin")
        problem(post(1, Origin="null"), 403, "foreign-origin")
        assert post(1, Origin="http://localhost").status_code == 201
        allowed = post(2, Origin="https://studio.example.org")
        assert allowed.headers["access-control-allow-origin"] == "https://studio.example.org"
        assert "ETag" in allowed.headers["access-control-expose-headers"]
        form = client.post(
            "/paintings",
            content=b"painting_id=p",
            headers={"Cookie": "session=ada", "Origin": "http://localhost"},
        )
        problem(form, 415, "unsupported-media-type")


def test_strange_names_and_pages_are_refused_before_anything_is_asked() -> None:
    with asked(studio_api(), allow_hosts=["api.example.org"], cors_origins=["http://localhost:3000"]) as (
        client,
        _,
    ):
        problem(client.get("/healthz", headers={"Host": "evil.example.org"}), 403, "strange-host")
        assert client.get("/healthz", headers={"Host": "api.example.org:443"}).status_code == 200
        problem(client.get("/healthz", headers={"Origin": "http://evil.example.org"}), 403, "foreign-origin")
        asks = {"Origin": "http://localhost:3000", "Access-Control-Request-Method": "PATCH"}
        told = client.request("OPTIONS", "/paintings/ada/p", headers=asks)
        assert (told.status_code, told.headers["access-control-allow-origin"]) == (
            204,
            "http://localhost:3000",
        )
        assert "PATCH" in told.headers["access-control-allow-methods"]


def test_bounds_are_problems() -> None:
    limits = Limits(body_bytes_max=500, query_bytes_max=300, requests_max=0)
    with asked(studio_api(), limits=limits) as (client, _):
        problem(client.get(f"/patterns/paintings?status={'x' * 400}", headers=as_(ADA)), 414, "uri-too-long")
        problem(client.post("/paintings", content=b"x" * 600, headers=as_(ADA)), 413, "too-large")
        busy = client.get("/patterns/paintings", headers=as_(ADA))
        problem(busy, 503, "busy")
        assert busy.headers["retry-after"] == "1"
        assert client.get("/healthz").status_code == 200

    async def pieces() -> Any:
        for _ in range(20):
            yield b"[" * 50

    with asked(studio_api(), limits=Limits(body_bytes_max=500)) as (client, _):
        chunked = client.post(
            "/paintings", content=pieces(), headers=as_(ADA, Content_Type="application/json")
        )
        problem(chunked, 413, "too-large")


# --- hostile input ---------------------------------------------------------------------------------------------

_DEEP = b'{"title":' + b"[" * 5000 + b"]" * 5000 + b"}"
_BODIES: dict[str, bytes] = {
    "nothing": b"",
    "no json": b"{",
    "a list": b"[]",
    "a number": b"7",
    "null": b"null",
    "not a number": b'{"painting_id":"p","title":"t","price":NaN}',
    "too large a number": b'{"painting_id":"p","title":"t","price":1e999}',
    "infinite": b'{"painting_id":"p","title":"t","price":Infinity}',
    "too many digits": b'{"painting_id":"p","title":"t","price":' + b"9" * 5000 + b"}",
    "too small": b'{"painting_id":"p","title":"t","price":1e-200}',
    "no utf-8": b'{"painting_id":"\xff\xfe","title":"t"}',
    "half a letter": b'{"painting_id":"\\ud800","title":"t"}',
    "deep": _DEEP,
    "a strange name": b'{"painting_id":"p","title":"t","__proto__":{}}',
    "a name of nothing": b'{"painting_id":"p","title":"t","\\u0000":1}',
    "a wrong type": b'{"painting_id":{"$gt":""},"title":["t"]}',
    "a separator": b'{"painting_id":"p#q","title":"t"}',
    "an empty key": b'{"painting_id":"","title":"t"}',
    "a long key": b'{"painting_id":"' + b"k" * 3000 + b'","title":"t"}',
    "a key of another": b'{"user_id":"bob","painting_id":"p","title":"t"}',
    "a kept value": b'{"painting_id":"p","title":"t","comments":7}',
    "an attribute": b'{"painting_id":"p","title":"t","PK":"USER#bob"}',
    "a long title": b'{"painting_id":"p","title":"' + b"t" * 500 + b'"}',
    "a large item": b'{"painting_id":"p","title":"t","tags":["' + b"t" * 450_000 + b'"]}',
}


@pytest.mark.parametrize("body", _BODIES.values(), ids=_BODIES)
def test_hostile_body_is_a_problem(client: ApiClient, body: bytes) -> None:
    headers = as_(ADA, Content_Type="application/json")
    client.post("/paintings", json={"painting_id": "there", "title": "there"}, headers=as_(ADA))
    for method, path, content in (
        ("POST", "/paintings", body),
        ("PUT", "/paintings/ada/there", body),
        ("POST", "/patterns/hang", b'{"painting":' + body + b"}"),
        ("POST", "/patterns/burn", body),
    ):
        answer = client.request(method, path, content=content, headers=headers)
        assert 400 <= answer.status_code < 500, (method, path, answer.status_code, answer.text[:300])
        found = answer.json()
        assert found["status"] == answer.status_code
        assert "Traceback" not in answer.text
        assert ".py" not in answer.text


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/paintings/ada/%FF", {}),
        ("/paintings/ada/%00", {}),
        ("/paintings/ada/a%23b", {}),
        ("/paintings/ada/" + "k" * 2000, {}),
        ("/paintings/ada/..%2F..%2Fetc%2Fpasswd%23", {}),
        ("/paintings//x", {}),
        ("/sketches/ada/seven", {}),
        ("/sketches/ada/-1", {}),
        ("/sketches/ada/1e400", {}),
        ("/sketches/ada/" + "9" * 5000, {}),
        ("/patterns/paintings?cursor=%00", {}),
        ("/patterns/paintings?cursor=" + "A" * 500, {}),
        ("/patterns/paintings?cursor=é", {}),
        ("/patterns/paintings?%FF=1", {}),
        ("/patterns/paintings?limit=1e3", {}),
        ("/patterns/paintings?limit=-1", {}),
        ("/patterns/sketches?numbers=@/etc/passwd", {}),
        ("/patterns/sketches?numbers=" + "9" * 400, {}),
        ("/paintings/ada/p", {"If-Match": "x"}),
        ("/paintings/ada/p", {"Authorization": "Basic YTpi"}),
        ("/paintings/ada/p", {"Authorization": "Bearer "}),
        ("/paintings/ada/p", {"Authorization": "Bearer \xff"}),
        ("/changes", {"Accept": "text/event-stream", "Last-Event-ID": "-1"}),
        ("/changes", {"Accept": "text/event-stream", "Last-Event-ID": "1" * 21}),
        ("/changes", {"Accept": "application/json"}),
        ("/problems/..%2F", {}),
    ],
)
def test_hostile_path_query_or_header_is_a_problem(
    client: ApiClient, path: str, headers: dict[str, str]
) -> None:
    sent = as_(ADA) | headers
    answer = client.get(path, headers={name: value.encode("latin-1") for name, value in sent.items()})
    assert 400 <= answer.status_code < 500, (answer.status_code, answer.text[:300])
    assert answer.json()["status"] == answer.status_code


def test_conditions_and_keys_that_are_none_are_refused(client: ApiClient) -> None:
    client.post("/paintings", json={"painting_id": "p", "title": "t"}, headers=as_(ADA))
    for header, value, status in (
        ("If-Match", "x", 400),
        ("If-Match", '"x", y', 400),
        ("If-None-Match", "x", 400),
        ("Idempotency-Key", "", 400),
        ("Idempotency-Key", "k" * 300, 400),
        ("Content-Type", "text/plain", 415),
        ("Content-Type", "application/json; charset=utf-16", 415),
    ):
        answer = client.patch("/paintings/ada/p", json={"title": "u"}, headers=as_(ADA) | {header: value})
        assert answer.status_code == status, (header, value, answer.text)


def test_mistake_of_the_server_says_nothing_of_it(studio: tuple[ApiClient, Any]) -> None:
    _, db = studio

    def fails(token: str) -> Principal | None:
        raise DesignError("the file /secret/place.db")

    def breaks(token: str) -> Principal | None:
        raise RuntimeError("the file /secret/place.db")

    for check in (fails, breaks):
        with client_of(db, studio_api(), auth=BearerAuthentication(check)) as client:
            answer = client.get("/patterns/paintings", headers=as_(ADA))
            problem(answer, 500, "internal")
            assert "secret" not in answer.text


# --- what the document says is so ------------------------------------------------------------------------------


def open_api_of_studio() -> Any:
    """Return an application in memory that stays open for random requests."""
    db = Studio.open(":memory:")
    ada = Principal(ADA, frozenset(("operator", "editor")))
    auth = BearerAuthentication({ADA: ada}.get)
    return app(db, studio_api(), auth=auth, cursor_secret=SECRET, allow_hosts=["testserver"])


SCHEMA = schemathesis.openapi.from_asgi("/openapi.json", open_api_of_studio())


@SCHEMA.exclude(path="/changes").parametrize()
@settings(max_examples=4, suppress_health_check=list(HealthCheck))
def test_random_requests_are_answered_as_the_document_says(case: Any) -> None:
    # A text that its type allows may still be no key: the document does not say that of separators.
    case.call_and_validate(headers=as_(ADA), excluded_checks=[positive_data_acceptance])
