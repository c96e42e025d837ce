"""Problem details (RFC 9457): what an answer says that is no result. One table maps errors of designs and targets.

Nothing here shows a path of a file, a traceback, or the key of somebody else's item: sentences of errors that
could name one are replaced by the row's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson
from pydantic import ValidationError as InvalidValueError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from singletable import errors
from singletable.visible import visible

PROBLEM_TYPE: Final = "application/problem+json"
PROBLEMS_PATH: Final = "/problems"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of problem: its stable name, the status, what it is in a few words, and what to do."""

    name: str
    status: int
    title: str
    help: str
    number: str = ""  # of the error in docs/errors, where it has one
    retry_after_s: int | None = None


class Problem(HTTPException):
    """What a request is answered with instead of a result."""

    def __init__(
        self,
        kind: Kind,
        detail: str = "",
        *,
        errors: Iterable[Mapping[str, str]] = (),
        headers: Mapping[str, str] | None = None,
        number: str = "",
    ) -> None:
        found = dict(headers or {})
        if kind.retry_after_s is not None:
            found.setdefault("Retry-After", str(kind.retry_after_s))
        super().__init__(kind.status, detail or kind.help, headers=found)
        self.kind = kind
        self.errors = list(errors)
        self.number = number or kind.number

    def data(self) -> dict[str, Any]:
        """Return it as JSON can hold it."""
        data: dict[str, Any] = {
            "type": f"{PROBLEMS_PATH}/{self.kind.name}",
            "title": self.kind.title,
            "status": self.kind.status,
            "detail": visible(str(self.detail)),
        }
        if self.number:
            data["st"] = self.number
        if self.errors:
            data["errors"] = [dict(each) for each in self.errors]
        return data

    def response(self) -> Response:
        """Return the answer."""
        headers = {"Cache-Control": "no-store", **(self.headers or {})}
        # A text of a request may hold halves of surrogate pairs, which no JSON can.
        text = orjson.dumps(_encodable(self.data()))
        return Response(text, self.status_code, headers, PROBLEM_TYPE)


def _encodable(value: Any) -> Any:
    match value:
        case str():
            return value.encode("utf-8", "replace").decode()
        case dict():
            return {name: _encodable(member) for name, member in value.items()}
        case list():
            return [_encodable(member) for member in value]
        case _:
            return value


BAD_REQUEST: Final = Kind(
    "bad-request", 400, "The request cannot be read", "Send what the API's page describes."
)
BAD_CURSOR: Final = Kind(
    "bad-cursor",
    400,
    "No cursor of this question",
    "Begin without a cursor. A cursor goes with the path, parameters and user of the page that gave it.",
    "ST401",
)
UNAUTHENTICATED: Final = Kind("unauthenticated", 401, "Nobody is signed in", "Send credentials.")
FORBIDDEN: Final = Kind("forbidden", 403, "Not allowed", "Ask as somebody who may.")
STRANGE_HOST: Final = Kind(
    "strange-host", 403, "Called by a strange name", "Let the operator allow the name."
)
FOREIGN_ORIGIN: Final = Kind(
    "foreign-origin", 403, "Called from a foreign page", "Let the operator allow the page's origin."
)
NOT_FOUND: Final = Kind("not-found", 404, "Not found", "Nothing is here.", "ST302")
NO_PATH: Final = Kind("no-such-path", 404, "No such path", "Look at /docs for the paths that there are.")
WRONG_METHOD: Final = Kind("wrong-method", 405, "No such method here", "The header Allow has the methods.")
NOT_ACCEPTABLE: Final = Kind(
    "not-acceptable", 406, "No such form", "Accept application/json; lists are JSON lines and CSV too."
)
CONFLICT: Final = Kind(
    "conflict", 409, "The state of the data forbids it", "Read it again, and make the change once more."
)
IN_PROGRESS: Final = Kind(
    "in-progress", 409, "A request of this Idempotency-Key is under way", "Try again.", retry_after_s=1
)
CHANGED: Final = Kind(
    "precondition-failed",
    412,
    "Somebody else has changed it",
    "Read it again, and make the change once more.",
)
TOO_LARGE: Final = Kind("too-large", 413, "The body is too large", "Send less at a time.")
URI_TOO_LONG: Final = Kind("uri-too-long", 414, "The address is too long", "Ask for less at a time.")
WRONG_TYPE: Final = Kind("unsupported-media-type", 415, "No such type of body", "Send application/json.")
INVALID: Final = Kind("invalid", 422, "Values cannot be taken", "The list errors says which, and why.")
KEY_REUSED: Final = Kind(
    "idempotency-key-reused",
    422,
    "The Idempotency-Key was used for another request",
    "Take a new key for a new request.",
)
MATCH_REQUIRED: Final = Kind(
    "match-required", 428, "If-Match is required", "Read it, and send its ETag as If-Match."
)
THROTTLED: Final = Kind("throttled", 429, "Too much at once", "Try again later.", "ST513", retry_after_s=1)
INTERNAL: Final = Kind("internal", 500, "A mistake of the server", "It is in the server's log.")
BAD_ITEM: Final = Kind(
    "bad-item", 500, "A stored item is not what its entity says", "Let the operator repair it.", "ST207"
)
NOT_HERE: Final = Kind("not-here", 501, "This target cannot do it", "Ask another target.", "ST503")
UNAVAILABLE: Final = Kind(
    "unavailable", 503, "The database is not available", "Try again later.", retry_after_s=5
)
BUSY: Final = Kind("busy", 503, "Too many requests are under way", "Try again.", retry_after_s=1)

KINDS: Final = {value.name: value for value in list(globals().values()) if isinstance(value, Kind)}


@dataclass(frozen=True, slots=True)
class _Row:
    """What becomes of a class of errors, and whether its sentence may be shown as it is."""

    kind: Kind
    is_shown: bool = False


# Every error that a request can meet. A class that is not listed is found by its nearest base.
_TABLE: Final[dict[type[BaseException], _Row]] = {
    errors.UnknownFieldError: _Row(INVALID, is_shown=True),
    errors.MissingKeyPartError: _Row(INVALID, is_shown=True),
    errors.SeparatorError: _Row(INVALID, is_shown=True),
    errors.KeyValueError: _Row(INVALID, is_shown=True),
    errors.ItemTooLargeError: _Row(TOO_LARGE, is_shown=True),
    errors.InvalidItemError: _Row(BAD_ITEM),
    errors.InvalidWriteError: _Row(INVALID, is_shown=True),
    errors.ConditionValueError: _Row(INVALID, is_shown=True),
    errors.AlreadyExistsError: _Row(CONFLICT, is_shown=True),
    errors.NotFoundError: _Row(NOT_FOUND),
    errors.VersionConflictError: _Row(CHANGED),
    errors.DuplicateError: _Row(CONFLICT),
    errors.ConditionNotMetError: _Row(CONFLICT),
    errors.CursorError: _Row(BAD_CURSOR),
    errors.SeveralFoundError: _Row(CONFLICT),
    errors.TableMissingError: _Row(UNAVAILABLE),
    errors.IndexMissingError: _Row(UNAVAILABLE),
    errors.CapabilityError: _Row(NOT_HERE),
    errors.NotLoggedError: _Row(NOT_HERE),
    errors.DesignError: _Row(INTERNAL),
    errors.ThrottledError: _Row(THROTTLED),
    errors.ValidationError: _Row(INVALID, is_shown=True),  # of the target: a number too large, an empty key
    errors.ApiError: _Row(UNAVAILABLE),
    errors.TargetThrottledError: _Row(THROTTLED),
    errors.TargetError: _Row(UNAVAILABLE),
    errors.ConsumerError: _Row(UNAVAILABLE),
    errors.DatabaseError: _Row(UNAVAILABLE),
    errors.SingleTableError: _Row(INTERNAL),
}


def problem_of(error: errors.SingleTableError) -> Problem:
    """Return the problem that an error of a design or a target is."""
    row = next(_TABLE[each] for each in type(error).__mro__ if each in _TABLE)
    detail = error.message if row.is_shown else ""
    if isinstance(error, errors.DuplicateError):
        # Its sentence names the item that has the value, which may be anybody's.
        detail = f"{' and '.join(error.fields) or 'a value'} must be unique, and is taken"
    elif isinstance(error, errors.ConditionNotMetError):
        detail = "a condition of the write does not hold for what is stored"
    pointers = [{"pointer": f"#/{name}", "detail": "is taken"} for name in getattr(error, "fields", ())]
    return Problem(row.kind, detail, errors=pointers, number=error.number or "")


def pointer(place: Iterable[int | str]) -> str:
    """Return a place in a document as a JSON pointer in a fragment (RFC 6901, section 6)."""
    return "#" + "".join(f"/{str(each).replace('~', '~0').replace('/', '~1')}" for each in place)


def invalid(found: InvalidValueError, before: tuple[int | str, ...] = (), kind: Kind = INVALID) -> Problem:
    """Return the problem of values that Pydantic refuses, each with its place."""
    problems = found.errors(include_url=False, include_input=False, include_context=False)
    if any(each["type"] in ("json_invalid", "recursion_loop") for each in problems):
        return Problem(BAD_REQUEST, f"The body is no JSON: {problems[0]['msg']}")
    shown = [{"pointer": pointer((*before, *each["loc"])), "detail": each["msg"]} for each in problems[:20]]
    return Problem(kind, errors=shown)


def refused_field(name: str, why: str) -> Problem:
    """Return the problem of one field."""
    return Problem(INVALID, f"{name} {why}", errors=[{"pointer": pointer((name,)), "detail": why}])
