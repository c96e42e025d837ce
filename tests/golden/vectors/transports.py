"""The ways a request can go: into the process as JSON or as Python values, or over HTTP."""

from __future__ import annotations

import base64
import json
import re
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from singletable import Database
from singletable.errors import ApiError, ConditionFailedError, TransactionCanceledError

TIMEOUT_S = 30.0
OF_STREAMS = frozenset(("DescribeStream", "GetRecords", "GetShardIterator", "ListStreams"))


@dataclass(frozen=True)
class Reply:
    """What came back: the members of an answer, or of an error with its code."""

    status: int
    body: dict[str, Any]

    @property
    def code(self) -> str | None:
        return str(self.body.get("__type", "")).rpartition("#")[2] if self.status >= 400 else None

    @property
    def message(self) -> str:
        """The message; AWS writes its name in two ways."""
        return str(self.body.get("message", self.body.get("Message", "")))

    @property
    def members(self) -> dict[str, Any]:
        """What an error carries beside its code and message."""
        return {
            name: value for name, value in self.body.items() if name not in ("__type", "message", "Message")
        }


class Transport(Protocol):
    carries_json: bool  # it can send whatever JSON can say

    def send(self, operation: str, request: dict[str, Any]) -> Reply: ...


class NativeTransport:
    """Into the process, as the Python values of a boto3 client."""

    carries_json = False

    def __init__(self, database: Database) -> None:
        self._database = database

    def send(self, operation: str, request: dict[str, Any]) -> Reply:
        method = getattr(self._database, re.sub(r"(?<=[a-z])(?=[A-Z])", "_", operation).lower())
        try:
            return Reply(200, to_wire(method(**to_native(request))))
        except ApiError as error:
            return Reply(error.status, to_wire(_error_body(error)))


def _error_body(error: ApiError) -> dict[str, Any]:
    body: dict[str, Any] = {"__type": error.code, "message": error.message}
    if isinstance(error, ConditionFailedError) and error.item is not None:
        body["Item"] = error.item
    if isinstance(error, TransactionCanceledError):
        members = (("Code", "code"), ("Message", "message"), ("Item", "item"))
        body["CancellationReasons"] = [
            {name: value for name, field in members if (value := getattr(reason, field)) is not None}
            for reason in error.reasons
        ]
    return body


def to_native(value: Any) -> Any:
    return _with_binary(value, str, base64.b64decode)


def to_wire(value: Any) -> Any:
    return _with_binary(value, bytes, lambda raw: base64.b64encode(raw).decode())


def _with_binary(value: Any, kind: type, convert: Callable[[Any], Any]) -> Any:
    """Copy a value, with its binary values converted and its times as seconds."""
    if isinstance(value, dict):
        return {
            name: convert(inner)
            if name == "B" and isinstance(inner, kind)
            else [convert(element) for element in inner]
            if name == "BS" and isinstance(inner, list) and all(isinstance(e, kind) for e in inner)
            else _with_binary(inner, kind, convert)
            for name, inner in value.items()
        }
    if isinstance(value, list):
        return [_with_binary(element, kind, convert) for element in value]
    return value.timestamp() if isinstance(value, datetime) else value


class HttpTransport:
    """To any endpoint, signed, with nothing in between that would check the request first."""

    carries_json = True

    def __init__(self, url: str, credentials: Credentials, region: str) -> None:
        self._url = url
        self._signer = SigV4Auth(credentials, "dynamodb", region)

    def send(self, operation: str, request: dict[str, Any]) -> Reply:
        body = json.dumps(request).encode()
        headers = {
            "X-Amz-Target": f"{'DynamoDBStreams' if operation in OF_STREAMS else 'DynamoDB'}_20120810.{operation}",
            "Content-Type": "application/x-amz-json-1.0",
        }
        signed = AWSRequest("POST", self._url, headers=headers, data=body)
        self._signer.add_auth(signed)
        sent = urllib.request.Request(self._url, data=body, headers=dict(signed.headers.items()))
        try:
            with urllib.request.urlopen(sent, timeout=TIMEOUT_S) as response:
                # AWS answers TagResource and UntagResource with no body at all.
                return Reply(response.status, json.loads(response.read() or b"{}"))
        except urllib.error.HTTPError as error:
            with error:
                return Reply(error.code, _parsed(error.read()))


def _parsed(body: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(body)
    except ValueError:
        answer = None
    return answer if isinstance(answer, dict) else {"message": body.decode(errors="replace")}


class Abroad:
    """To an endpoint of another region and account, in whose names the vectors are sent and read.

    The vectors speak of us-east-1 and of the account 000000000000.
    """

    carries_json = True

    def __init__(self, transport: Transport, *, region: str, account: str) -> None:
        self._transport = transport
        self._names = {"us-east-1": region, ":000000000000:": f":{account}:"}

    def send(self, operation: str, request: dict[str, Any]) -> Reply:
        reply = self._transport.send(operation, _renamed(request, self._names))
        back = {theirs: ours for ours, theirs in self._names.items()}
        return Reply(reply.status, _renamed(reply.body, back))


def _renamed(value: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    text = json.dumps(value)
    for old, new in names.items():
        text = text.replace(old, new)
    renamed: dict[str, Any] = json.loads(text)
    return renamed
