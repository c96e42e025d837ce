"""Requests that do not say who signed them: the type, the sentence and the order of every refusal.

The first table is that of dynalite, recorded from the service ("dynalite connections"); a header is named by its
hash, as the service does by now.
"""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from singletable.server.reader import Request
from singletable.server.replies import AMZ_JSON, Reply
from singletable.server.routing import RoutedCall, Router
from singletable.server.signing import access_key_id, check_signed

SCOPE = "local/20261115/us-east-1/dynamodb/aws4_request"
SIGNATURE = "f" * 64
SIGNED = f"AWS4-HMAC-SHA256 Credential={SCOPE}, SignedHeaders=host;x-amz-date, Signature={SIGNATURE}"
DATE = "20261115T200105Z"

MISSING = ("MissingAuthenticationTokenException", "Request is missing Authentication Token")
BOTH = (
    "InvalidSignatureException",
    "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header.",
)
NO_DATE = "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header."
NO_SIGNED_HEADERS = "Authorization header requires 'SignedHeaders' parameter."


def request(
    authorization: str | None, *, url: str = "/", body: bytes = b"{}", **headers: str | None
) -> Request:
    named = {
        "x-amz-target": "DynamoDB_20120810.ListTables",
        "content-type": "application/x-amz-json-1.0",
        "authorization": authorization,
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    kept = {name.encode(): value.encode("latin-1") for name, value in named.items() if value is not None}
    return Request(b"POST", url.encode(), kept, body, True)


def refusal(refused: object) -> tuple[str, str]:
    assert isinstance(refused, Reply)
    answer: dict[str, Any] = json.loads(refused.body)
    namespace, _, code = answer["__type"].partition("#")
    assert (refused.status, namespace) == (400, "com.amazon.coral.service")
    return code, answer["message"]


def incomplete(*sentences: str, header: str) -> tuple[str, str]:
    hashed = base64.b64encode(hashlib.sha256(header.encode()).digest()).decode()
    named = f"(Hashed with SHA-256 and encoded with Base64) Authorization={hashed}"
    return "IncompleteSignatureException", " ".join([*sentences, named])


def query_misses(*names: str) -> tuple[str, str]:
    sentences = [f"AWS query-string parameters must include '{name}'. " for name in names]
    return "IncompleteSignatureException", "".join(sentences) + "Re-examine the query-string parameters."


@pytest.mark.parametrize(
    ("authorization", "url", "date", "expected"),
    [
        pytest.param(None, "/", None, MISSING, id="nothing"),
        pytest.param("", "/", None, MISSING, id="empty header"),
        pytest.param("AWS4", "/", None, MISSING, id="almost"),
        pytest.param("Bearer abc", "/", DATE, MISSING, id="another scheme"),
        pytest.param("X", "/?X-Amz-Algorith", None, MISSING, id="almost a query"),
        pytest.param(
            None,
            "/?X-Amz-Credential=a&X-Amz-Signature=b&X-Amz-SignedHeaders=c&X-Amz-Date=d",
            None,
            MISSING,
            id="query without its algorithm",
        ),
        pytest.param("X", "/?X-Amz-Algorithm", None, BOTH, id="both"),
        pytest.param(SIGNED, "/?X-Amz-Algorithm=AWS4-HMAC-SHA256", DATE, BOTH, id="both, signed"),
        pytest.param(
            "AWS4-",
            "/",
            None,
            incomplete(
                "Authorization header requires 'Credential' parameter.",
                "Authorization header requires 'Signature' parameter.",
                NO_SIGNED_HEADERS,
                NO_DATE,
                header="AWS4-",
            ),
            id="nothing but the beginning",
        ),
        *[
            pytest.param(header, "/", "a", incomplete(NO_SIGNED_HEADERS, header=header), id=header)
            for header in (
                "AWS4- Signature=b Credential=a",
                "AWS4- Signature=b,Credential=a",
                "AWS4- Signature=b, Credential=a",
            )
        ],
        pytest.param(SIGNED, "/", None, incomplete(NO_DATE, header=SIGNED), id="no date"),
        pytest.param(
            None,
            "/?X-Amz-Algorithm",
            None,
            query_misses(
                "X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Signature", "X-Amz-SignedHeaders", "X-Amz-Date"
            ),
            id="query of an empty algorithm",
        ),
        pytest.param(
            None,
            "/?X-Amz-Algorithm=a&X-Amz-Credential=b&X-Amz-Signature=c&X-Amz-Date=d",
            None,
            query_misses("X-Amz-SignedHeaders"),
            id="query without signed headers",
        ),
    ],
)
def test_what_is_missing_is_named(
    authorization: str | None, url: str, date: str | None, expected: tuple[str, str]
) -> None:
    assert refusal(check_signed(request(authorization, url=url, x_amz_date=date))) == expected


def scoped(credential: str) -> str:
    return SIGNED.replace(SCOPE, credential)


@pytest.mark.parametrize(
    ("authorization", "date", "code", "message"),
    [
        pytest.param(
            SIGNED.replace("local/", "lo cal/"),
            DATE,
            "IncompleteSignatureException",
            "Invalid key=value pair (missing equal-sign) in Authorization header (hashed with SHA-256 and encoded "
            "with Base64): '"
            + base64.b64encode(hashlib.sha256(SIGNED.replace("local/", "lo cal/").encode()).digest()).decode()
            + "'.",
            id="space in the key",
        ),
        pytest.param(
            SIGNED,
            "201",
            "IncompleteSignatureException",
            "Date must be in ISO-8601 'basic format'. Got '201'. See http://en.wikipedia.org/wiki/ISO_8601",
            id="date",
        ),
        pytest.param(
            SIGNED.replace("host;", "ghost;"),
            DATE,
            "InvalidSignatureException",
            "'Host' or ':authority' must be a 'SignedHeader' in the AWS Authorization.",
            id="host not signed",
        ),
        pytest.param(
            SIGNED.replace("host;x-amz-date", ""),
            DATE,
            "InvalidSignatureException",
            "'Host' or ':authority' must be a 'SignedHeader' in the AWS Authorization.",
            id="no header signed",
        ),
        pytest.param(
            SIGNED.replace("SHA256", "SHA25"),
            DATE,
            "IncompleteSignatureException",
            "Unsupported AWS 'algorithm': 'AWS4-HMAC-SHA25' (only AWS4-HMAC-SHA256 for now). ",
            id="algorithm",
        ),
        pytest.param(
            scoped("a/b/c/d"),
            DATE,
            "IncompleteSignatureException",
            "Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term, "
            "got 'a/b/c/d'",
            id="four elements",
        ),
        pytest.param(
            scoped("a/b/c/d/e"),
            DATE,
            "InvalidSignatureException",
            "Credential should be scoped to correct service: 'dynamodb'. "
            "Credential should be scoped with a valid terminator: 'aws4_request', not 'e'. "
            "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: "
            "'b' != '20261115', from '20261115T200105Z'.",
            id="scope",
        ),
        pytest.param(
            scoped("a/20261115/c/s3/aws4_request"),
            DATE,
            "InvalidSignatureException",
            "Credential should be scoped to correct service: 'dynamodb'.",
            id="of another service",
        ),
        pytest.param(
            SIGNED,
            "20261116T000000Z",
            "InvalidSignatureException",
            "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: "
            "'20261115' != '20261116', from '20261116T000000Z'.",
            id="of another day",
        ),
    ],
)
def test_what_is_malformed_is_named(authorization: str, date: str, code: str, message: str) -> None:
    assert refusal(check_signed(request(authorization, x_amz_date=date))) == (code, message)


@pytest.mark.parametrize(
    "signed",
    [
        pytest.param(request(SIGNED, x_amz_date=DATE), id="as SDKs write it"),
        pytest.param(request(SIGNED.replace(", ", ","), x_amz_date=DATE), id="without spaces"),
        pytest.param(request(SIGNED.replace(", ", ",   "), x_amz_date=DATE), id="with many spaces"),
        pytest.param(request(SIGNED.replace(", ", " "), x_amz_date=DATE), id="without commas"),
        pytest.param(
            request(
                f"AWS4-HMAC-SHA256 Signature=b, SignedHeaders=a;Host, Credential={SCOPE}", x_amz_date=DATE
            ),
            id="in another order",
        ),
        pytest.param(
            request(scoped("any/20261115/anywhere/dynamodb/aws4_request/"), x_amz_date=DATE), id="anywhere"
        ),
        pytest.param(request(SIGNED, date="Sun, 15 Nov 2026 20:01:05 GMT"), id="with a Date"),
        pytest.param(
            request(
                None,
                url="/?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=local%2F20261115%2Fus-east-1%2Fdynamodb"
                "%2Faws4_request&X-Amz-Date=20261115T200105Z&X-Amz-SignedHeaders=host&X-Amz-Signature=f",
            ),
            id="in the query",
        ),
        pytest.param(request(SIGNED, url="/?a=b", x_amz_date=DATE), id="with another query"),
    ],
)
def test_signed_request_is_accepted(signed: Request) -> None:
    assert check_signed(signed) is None


def test_what_botocore_signs_is_accepted() -> None:
    sent = AWSRequest("POST", "http://127.0.0.1:8000/", headers={"X-Amz-Target": "x"}, data=b"{}")
    SigV4Auth(Credentials("key", "secret", "token"), "dynamodb", "eu-west-1").add_auth(sent)
    headers = {name.lower(): value for name, value in sent.headers.items()}
    signed = request(headers["authorization"], x_amz_date=headers["x-amz-date"])
    assert check_signed(signed) is None
    assert access_key_id(signed) == "key"


def test_day_before_is_not_taken_for_the_day_of_a_request_that_was_accepted() -> None:
    assert check_signed(request(SIGNED, x_amz_date=DATE)) is None
    code, _ = refusal(check_signed(request(SIGNED, x_amz_date="20261114T200105Z")))
    assert code == "InvalidSignatureException"


@pytest.mark.parametrize("signature", ["a", "a" * 63 + "=", "a" * 63 + ","])
def test_any_signature_will_do(signature: str) -> None:
    assert check_signed(request(SIGNED.replace(SIGNATURE, signature), x_amz_date=DATE)) is None


def test_second_credential_is_the_one_that_counts() -> None:
    twice = SIGNED.replace(SIGNATURE, f"{SIGNATURE},Credential=b")
    code, message = refusal(check_signed(request(twice, x_amz_date=DATE)))
    assert code == "IncompleteSignatureException"
    assert message.endswith(", got 'b'")


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        pytest.param(request(None, body=b"{"), "SerializationException", id="JSON comes first"),
        pytest.param(
            request(None, x_amz_target="DynamoDB_20120810.ListTable"),
            "UnknownOperationException",
            id="then the target",
        ),
        pytest.param(request(None), "MissingAuthenticationTokenException", id="then the signature"),
        pytest.param(request(None, body=b""), "MissingAuthenticationTokenException", id="without a body"),
    ],
)
def test_signature_is_asked_for_last(asked: Request, code: str) -> None:
    refused = Router().route(asked)
    assert isinstance(refused, Reply)
    assert json.loads(refused.body)["__type"] == f"com.amazon.coral.service#{code}"


def test_wrong_content_type_is_not_found_whoever_signed_it() -> None:
    refused = Router().route(request(None, content_type="text/plain"))
    assert isinstance(refused, Reply)
    assert refused.status == 404


@pytest.mark.parametrize("content_type", ["application/json", "application/x-amz-json-1.0"])
def test_refusal_has_the_content_type_of_the_request(content_type: str) -> None:
    refused = Router().route(request(None, content_type=content_type))
    assert isinstance(refused, Reply)
    assert refused.content_type == content_type.encode()


def test_check_can_be_switched_off() -> None:
    asked = Router(checks_signatures=False).route(request(None))
    assert asked == RoutedCall("ListTables", b"{}", AMZ_JSON)


def test_no_refusal_repeats_the_header() -> None:
    header = "AWS4-HMAC-SHA256 Credential=AKIDSECRET, x"
    for date in (DATE, None):
        assert "AKIDSECRET" not in refusal(check_signed(request(header, x_amz_date=date)))[1]
