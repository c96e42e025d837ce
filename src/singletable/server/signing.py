"""The form of a request's signature, as AWS asks for it. Pure; no secret is known here.

The signature itself is not verified, and its age is not looked at: the clock of a test may stand still. Any access
key and any region will do. Everything else about the form is refused as the service refuses it: first what is
missing, then what is malformed, and only then the scope of the credential.

The sentences and their order are those that dynalite recorded from the service ("dynalite connections", and the
notes in its index.js). Since then the service names a header by its hash, so that no error repeats a credential
("… in Authorization header (hashed with SHA-256 and encoded with Base64)", as users of DynamoDB, IAM and API
Gateway quote it), and speaks of 'Host' or ':authority' (aws/aws-sdk-php issue 2469, a GetItem).
"""

from __future__ import annotations

import re
from base64 import b64encode
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import parse_qsl

import orjson

from singletable.server.replies import AMZ_JSON, Reply

if TYPE_CHECKING:
    from collections.abc import Mapping

    from singletable.server.reader import Request

ALGORITHM: Final = "AWS4-HMAC-SHA256"
SERVICE: Final = "dynamodb"
TERMINATOR: Final = "aws4_request"

# As every SDK writes it, up to the signature. A header that does not match may be right, and is parsed in full.
_USUAL: Final = re.compile(
    rb"AWS4-HMAC-SHA256 Credential=[^/,\s]+/([0-9]{8})/[^/,\s]+/dynamodb/aws4_request, ?"
    rb"SignedHeaders=(?:[^;,\s]+;)*host(?:;[^,\s]+)?, ?Signature="
).fullmatch
_SIGNATURE_BYTES: Final = 64
_USUAL_BYTES_MAX: Final = 512
_QUERY_BYTES_MAX: Final = 4096  # the rest is no part of a signature
_ISO_BASIC: Final = re.compile(rb"([0-9]{8})T[0-9]{6}Z").fullmatch
_ACCESS_KEY_ID: Final = re.compile(rb"Credential=([!-.0-~]{1,128})/").search

_IN_HEADER: Final = ("Credential", "Signature", "SignedHeaders")
_IN_QUERY: Final = (
    "X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Signature", "X-Amz-SignedHeaders", "X-Amz-Date",
)  # fmt: skip


class _Fault(NamedTuple):
    """An error of the signature, before it is rendered as an answer."""

    code: str
    message: str


class _Claim(NamedTuple):
    """The signer that a request claims, and how it was signed."""

    algorithm: str
    credential: str
    signed_headers: str
    date: str | None  # of X-Amz-Date; a Date header may be in any form


_MISSING_TOKEN: Final = _Fault(
    "MissingAuthenticationTokenException", "Request is missing Authentication Token"
)
_SIGNED_TWICE: Final = _Fault(
    "InvalidSignatureException",
    "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header.",
)
_HOST_NOT_SIGNED: Final = _Fault(
    "InvalidSignatureException", "'Host' or ':authority' must be a 'SignedHeader' in the AWS Authorization."
)


def check_signed(request: Request, content_type: bytes = AMZ_JSON) -> Reply | None:
    """Return None if a request is signed in the right form, else the answer that refuses it."""
    if _is_usual(request):
        return None
    fault = _fault(request)
    if fault is None:
        return None
    body = orjson.dumps({"__type": f"com.amazon.coral.service#{fault.code}", "message": fault.message})
    return Reply(400, body, content_type)


def _is_usual(request: Request) -> bool:
    headers = request.headers
    authorization = headers.get(b"authorization", b"")
    return (
        request.url == b"/"
        and len(authorization) <= _USUAL_BYTES_MAX
        and authorization[-_SIGNATURE_BYTES:].isalnum()
        and _begins_as_usual(authorization[:-_SIGNATURE_BYTES], headers.get(b"x-amz-date", b"")[:17])
    )


# All but the signature is the same in all the requests that a client sends in a second.
@lru_cache(maxsize=256)
def _begins_as_usual(beginning: bytes, date: bytes) -> bool:
    usual, time = _USUAL(beginning), _ISO_BASIC(date)
    return usual is not None and time is not None and usual[1] == time[1]


def access_key_id(request: Request) -> str | None:
    """Return the id of the key that a request says it was signed with; no secret is in it."""
    found = _ACCESS_KEY_ID(request.headers.get(b"authorization", b""))
    return found[1].decode("ascii") if found else None


def _fault(request: Request) -> _Fault | None:
    authorization = request.headers.get(b"authorization", b"").decode("latin-1").strip()
    query = _query(request.url)
    is_in_query = "X-Amz-Algorithm" in query
    if authorization and is_in_query:
        return _SIGNED_TWICE
    if is_in_query:
        claim = _claim_of_query(query)
    elif authorization.startswith("AWS4-"):
        claim = _claim_of_header(authorization, request.headers)
    else:
        return _MISSING_TOKEN
    return claim if isinstance(claim, _Fault) else _fault_of_claim(claim)


def _query(url: bytes) -> dict[str, str]:
    if b"X-Amz-Algorithm" not in url:
        return {}
    text = url.partition(b"?")[2][:_QUERY_BYTES_MAX].decode("latin-1")
    return dict(parse_qsl(text, keep_blank_values=True))


def _claim_of_query(query: Mapping[str, str]) -> _Claim | _Fault:
    missing = [
        f"AWS query-string parameters must include '{name}'." for name in _IN_QUERY if not query.get(name)
    ]
    if missing:
        return _incomplete(" ".join([*missing, "Re-examine the query-string parameters."]))
    return _Claim(
        query["X-Amz-Algorithm"], query["X-Amz-Credential"], query["X-Amz-SignedHeaders"], query["X-Amz-Date"]
    )


def _claim_of_header(authorization: str, headers: Mapping[bytes, bytes]) -> _Claim | _Fault:
    algorithm, *written = re.split(r"[,\s]+", authorization)
    parts: dict[str, str] = {}
    for pair in filter(None, written):
        name, equals, value = pair.partition("=")
        if not equals:
            return _incomplete(
                "Invalid key=value pair (missing equal-sign) in Authorization header "
                f"(hashed with SHA-256 and encoded with Base64): '{_hashed(authorization)}'."
            )
        parts[name] = value
    # An empty SignedHeaders passes here; the check below then finds that Host is missing.
    missing = [
        f"Authorization header requires '{name}' parameter."
        for name in _IN_HEADER
        if not (parts.get(name) or (name == "SignedHeaders" and name in parts))
    ]
    if not (headers.get(b"x-amz-date") or headers.get(b"date")):
        missing.append("Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header.")
    if missing:
        named = f"(Hashed with SHA-256 and encoded with Base64) Authorization={_hashed(authorization)}"
        return _incomplete(" ".join([*missing, named]))
    date = headers.get(b"x-amz-date", b"").decode("latin-1")
    return _Claim(algorithm, parts["Credential"], parts["SignedHeaders"], date or None)


def _fault_of_claim(claim: _Claim) -> _Fault | None:
    day = None
    if claim.date is not None:
        date = _ISO_BASIC(claim.date.encode("latin-1", "replace"))
        if date is None:
            return _incomplete(
                f"Date must be in ISO-8601 'basic format'. Got '{claim.date}'. "
                "See http://en.wikipedia.org/wiki/ISO_8601"
            )
        day = date[1].decode()
    if "host" not in claim.signed_headers.lower().split(";"):
        return _HOST_NOT_SIGNED
    if claim.algorithm != ALGORITHM:
        return _incomplete(f"Unsupported AWS 'algorithm': '{claim.algorithm}' (only {ALGORITHM} for now). ")
    scope = claim.credential.rstrip("/").split("/")
    if len(scope) != 5:
        return _incomplete(
            "Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term, "
            f"got '{claim.credential}'"
        )
    return _fault_of_scope(scope, day, claim.date)


def _fault_of_scope(scope: list[str], day: str | None, date: str | None) -> _Fault | None:
    _, scope_day, _, service, terminator = scope
    wrong = []
    if service != SERVICE:
        wrong.append(f"Credential should be scoped to correct service: '{SERVICE}'.")
    if terminator != TERMINATOR:
        wrong.append(
            f"Credential should be scoped with a valid terminator: '{TERMINATOR}', not '{terminator}'."
        )
    if day not in (None, scope_day):
        wrong.append(
            "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: "
            f"'{scope_day}' != '{day}', from '{date}'."
        )
    return _Fault("InvalidSignatureException", " ".join(wrong)) if wrong else None


def _incomplete(message: str) -> _Fault:
    return _Fault("IncompleteSignatureException", message)


def _hashed(header: str) -> str:
    return b64encode(sha256(header.encode("latin-1")).digest()).decode()
