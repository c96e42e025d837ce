"""The methods of a Database that the crash workload uses, carried out over one HTTP connection.

Nothing is sent twice: what was not answered is not known, and the caller learns that by a Disconnected.
"""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any, Self, cast

from singletable.errors import ConditionFailedError
from support.serving import HttpSocket, call

if TYPE_CHECKING:
    from types import TracebackType

    from singletable import Database
    from singletable.server import Address


class DisconnectedError(Exception):
    """The connection broke before the answer came: whether the request was carried out is open."""


class AnswerError(Exception):
    """An answer that is no success."""

    def __init__(self, status: int, code: str, answer: dict[str, Any]) -> None:
        super().__init__(f"{status} {code}: {answer}")
        self.status = status
        self.code = code
        self.answer = answer


class TableClient:
    """One client with one connection."""

    def __init__(self, address: Address) -> None:
        try:
            self._socket = HttpSocket(address)
        except (ConnectionError, TimeoutError) as error:
            raise DisconnectedError from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.__exit__(None, None, None)

    def ask(self, operation: str, **request: Any) -> dict[str, Any]:
        """Send one request; return its answer. Raises AnswerError, DisconnectedError."""
        body = json.dumps(request, default=_binary).encode()
        try:
            answer = self._socket.ask(call(operation, body))
        except ConnectionError as error:
            raise DisconnectedError from error
        if answer.status == 200:
            return answer.json
        if answer.status == 503:  # it was stopping when we came
            raise DisconnectedError
        raise AnswerError(answer.status, answer.json["__type"].rpartition("#")[2], answer.json)

    def as_database(self) -> Database:
        """Return this client where a Database is expected."""
        return cast("Database", self)

    def put_item(self, **request: Any) -> Any:
        return self._ask("PutItem", **request)

    def update_item(self, **request: Any) -> Any:
        return self._ask("UpdateItem", **request)

    def delete_item(self, **request: Any) -> Any:
        return self._ask("DeleteItem", **request)

    def batch_write_item(self, **request: Any) -> Any:
        return self._ask("BatchWriteItem", **request)

    def transact_write_items(self, **request: Any) -> Any:
        return self._ask("TransactWriteItems", **request)

    def _ask(self, operation: str, **request: Any) -> Any:
        try:
            return self.ask(operation, **request)
        except AnswerError as error:
            if error.code == "ConditionalCheckFailedException":
                raise ConditionFailedError from error
            raise


def _binary(value: object) -> str:
    assert isinstance(value, bytes)
    return base64.b64encode(value).decode()
