"""Whether an answer is DynamoDB's. A proxy's page with the status 200 is none, and botocore takes it for one.

botocore reads a body that is no JSON as an empty answer (`BaseJSONParser._parse_body_as_json`): a PutItem that
nobody has stored would seem to have succeeded, and a GetItem to have found nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

import orjson
from botocore.parsers import ResponseParserError

from singletable.operations import OPERATIONS

_ID: Final = "singletable-answers"
_ERROR_STATUS_MIN: Final = 300
# Amazon, DynamoDB Local 3.3.1, dynalite, moto, ministack and this server send both with every success; Alternator
# (server.cc) and ExtendDB (response.rs) the type at least. To an operation without output, Amazon sends no body.
_JSON_TYPE: Final = "application/x-amz-json-"
_REQUEST_ID: Final = "x-amzn-requestid"
# All of them answer any other operation with a member at least, if it is an empty list.
_MAY_BE_EMPTY: Final = frozenset(row.name for row in OPERATIONS.values() if row.returns == "maybe")
# A page of items would be read twice, for 4 % of what botocore takes to read it. How it begins tells enough.
_SHORT_BYTES_MAX: Final = 4096
_BEGINNING: Final = re.compile(rb'\s*\{\s*"(\w+)"\s*:')
_JSON_KINDS: Final[dict[str, type | tuple[type, ...]]] = {
    "boolean": bool,
    "double": (int, float),
    "integer": int,
    "list": list,
    "long": int,
    "map": dict,
    "string": str,
    "structure": dict,
    "timestamp": (int, float, str),
}


def watch_answers(boto_client: Any) -> None:
    """Let a client raise a ResponseParserError for a success that is not DynamoDB's, until `unwatch_answers`."""
    boto_client.meta.events.register(
        _event(boto_client), _refuse_foreign, unique_id=_ID, unique_id_uses_count=True
    )


def unwatch_answers(boto_client: Any) -> None:
    """Leave a client as it was before `watch_answers`."""
    boto_client.meta.events.unregister(_event(boto_client), unique_id=_ID, unique_id_uses_count=True)


def is_unread(metadata: Mapping[str, Any]) -> bool:
    """Tell of an answer without members whether its body was long: it began as an answer, and is no JSON."""
    length = metadata.get("HTTPHeaders", {}).get("content-length", "")
    return length.isdigit() and int(length) > _SHORT_BYTES_MAX


def is_of_parser(error: BaseException) -> bool:
    """Tell whether an error comes from reading an answer: botocore stumbles over JSON of another shape."""
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_globals.get("__name__") == "botocore.parsers":
            return True
        trace = trace.tb_next
    return False


def _event(boto_client: Any) -> str:
    return f"before-parse.{boto_client.meta.service_model.service_id.hyphenize()}"


def _refuse_foreign(operation_model: Any, response_dict: Mapping[str, Any], **_: Any) -> None:
    status, headers = response_dict["status_code"], response_dict["headers"]
    if status >= _ERROR_STATUS_MIN:
        return  # botocore looks for the code of an error, and tells where there is none
    kind = headers.get("content-type", "")
    if not kind.startswith(_JSON_TYPE) and _REQUEST_ID not in headers:
        raise ResponseParserError(f"it answered {operation_model.name} with {status}, {kind or 'of no type'}")
    shape = operation_model.output_shape
    if shape is not None and not _is_answer(operation_model.name, shape.members, response_dict["body"]):
        raise ResponseParserError(f"it answered {operation_model.name} with {status}, and no answer to that")


def _is_answer(operation: str, members: Mapping[str, Any], body: bytes) -> bool:
    if len(body) > _SHORT_BYTES_MAX:
        beginning = _BEGINNING.match(body)
        if beginning is not None and beginning[1].decode() in members:
            return True
    answer = _json(body)
    if not isinstance(answer, dict):
        return False
    known = [(members[name], value) for name, value in answer.items() if name in members]
    if not known and (answer or operation not in _MAY_BE_EMPTY):
        return False
    return all(isinstance(value, _JSON_KINDS[shape.type_name]) for shape, value in known if value is not None)


def _json(body: bytes) -> Any:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:  # also for what botocore reads: half of a surrogate pair
        pass
    try:
        return json.loads(body)
    except ValueError:
        return None
