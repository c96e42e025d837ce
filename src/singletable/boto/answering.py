"""Answers in place of a network, given to a botocore client at its `before-call` event.

By then botocore has checked the parameters and serialised the request; that request is carried out as if it had
come over HTTP. The answer is handed over as botocore would have parsed it: nothing is encoded or decoded.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Final

import orjson
from botocore.parsers import create_parser
from botocore.utils import parse_timestamp

from singletable.errors import ApiError, SerializationError
from singletable.wire.answers import error_answer
from singletable.wire.execution import execute
from singletable.wire.forms import JSON, NativeForm
from singletable.wire.parameters import OperationContext, Params

_REQUEST_ID_BYTES: Final = 26  # 52 characters, as over HTTP
_parser: Final = create_parser("json")


class BotoForm(NativeForm):
    """Requests as botocore has serialised them, answers as it would have parsed them: times are local."""

    is_native = False

    def time(self, at_us: int) -> Any:
        return parse_timestamp(JSON.time(at_us))


_FORM: Final = BotoForm()


class Response:
    """Stands for the HTTP response: handlers of `after-call` see it."""

    __slots__ = ("content", "headers", "status_code")

    def __init__(self, status_code: int, headers: dict[str, str], content: bytes = b"") -> None:
        self.status_code = status_code
        self.headers = headers
        self.content = content


class Answers:
    """Answers the calls of the clients that it is attached to, from the database that is asked for with each."""

    def __init__(
        self,
        find_session: Callable[[], OperationContext],
        *,
        random_bytes: Callable[[int], bytes] = os.urandom,
    ) -> None:
        self._find_session = find_session
        self._random_bytes = random_bytes

    def attach(self, client: Any) -> None:
        """Answer this client from now on. Handlers of its user come first: one that answers has answered."""
        service = client.meta.service_model.service_id.hyphenize()
        client.meta.events.register_last(f"before-call.{service}", self._answer)

    def _answer(self, model: Any, params: dict[str, Any], **_: Any) -> tuple[Response, dict[str, Any]]:
        session = self._find_session()
        headers = {
            "x-amzn-requestid": self._random_bytes(_REQUEST_ID_BYTES).hex().upper(),
            "content-type": "application/x-amz-json-1.0",
        }
        try:
            answer = execute(session, model.name, _parsed(params["body"]), _FORM)
        except ApiError as error:
            return _refused(error, model, headers)
        answer["ResponseMetadata"] = {
            "RequestId": headers["x-amzn-requestid"],
            "HTTPStatusCode": 200,
            "HTTPHeaders": headers,
            "RetryAttempts": 0,
        }
        return Response(200, headers), answer


def _parsed(body: bytes) -> Params:
    try:
        params: Params = orjson.loads(body)
    except orjson.JSONDecodeError:  # half of a surrogate pair, for one: botocore sends it, AWS refuses it
        raise SerializationError("") from None
    return params


def _refused(error: ApiError, model: Any, headers: dict[str, str]) -> tuple[Response, dict[str, Any]]:
    """Let botocore read the error as it would over HTTP: first what all errors have, then what its type has."""
    status, body = error_answer(error)
    response = {"status_code": status, "headers": headers, "body": body}
    parsed: dict[str, Any] = _parser.parse(response, model.output_shape)
    shape = model.service_model.shape_for_error_code(parsed["Error"]["Code"])
    if shape is not None:
        parsed.update(_parser.parse(response, shape))
    parsed["ResponseMetadata"]["RetryAttempts"] = 0
    return Response(status, headers, body), parsed
