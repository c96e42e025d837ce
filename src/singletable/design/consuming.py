"""Where the handlers of a design run: as a consumer of the embedded engine, or as one AWS Lambda function."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from singletable.client.calls import Call, Steps
from singletable.client.embedded import EmbeddedClient
from singletable.design.catalog import Catalog
from singletable.design.dispatching import (
    VIEW,
    Dispatcher,
    Response,
    kept_by_stream,
    records_of,
    refuse_view,
    response,
)
from singletable.design.session import Session
from singletable.design.streams import StreamHandler
from singletable.errors import CapabilityError, DeclarationError

if TYPE_CHECKING:
    from singletable.consumers import Consumer, DeadLetter, Redriven
    from singletable.database import Database

logger = logging.getLogger("singletable.streams")

LambdaHandler = Callable[[Mapping[str, Any], Any], Response]

_FAILURES_HINT: Final = (
    "on AWS, the OnFailure destination of the event source mapping is told what was put aside"
)


def start_consumer(
    design: Any,
    session: Session,
    handlers: Sequence[StreamHandler],
    *,
    name: str,
    background: bool,
    options: Mapping[str, Any],
) -> Consumer:
    """Run the handlers of a design over the changes of its table, on the embedded engine."""
    database = _database(
        session, "lambda_handler(target) is the function that AWS Lambda runs over the table's stream"
    )
    refuse_idle(session.catalog, handlers)
    session.run(_check_stream(session))
    handle = _handler(design, session, handlers)
    return database.consume(session.table, handle, name, background=background, **options)


def put_aside(session: Session, name: str) -> list[DeadLetter]:
    """Return the records that the handlers of a design could not take."""
    return _database(session, _FAILURES_HINT).dead_letters(session.table, name)


def redrive(design: Any, session: Session, handlers: Sequence[StreamHandler], *, name: str) -> Redriven:
    """Run the handlers of a design over what was put aside, and forget what they take."""
    database = _database(session, _FAILURES_HINT)
    refuse_idle(session.catalog, handlers)
    return database.redrive(session.table, name, _handler(design, session, handlers))


def _database(session: Session, hint: str) -> Database:
    client = session.client
    if not isinstance(client, EmbeddedClient):
        raise CapabilityError(
            f"{client!r} runs no consumers: they are of the embedded engine",
            hint=hint,
        )
    return client.database


def _handler(design: Any, session: Session, handlers: Sequence[StreamHandler]) -> LambdaHandler:
    dispatcher = Dispatcher(design, session, handlers)

    def handle(event: Mapping[str, Any], context: Any) -> Response:
        return response(dispatcher.dispatch(records_of(event)), tells_error=True)

    return handle


def _check_stream(session: Session) -> Steps[None]:
    answer = yield Call("DescribeTable", {"TableName": session.table})
    stream = answer["Table"].get("StreamSpecification") or {}
    if stream.get("StreamEnabled"):
        refuse_view(stream["StreamViewType"], session.table)


def refuse_idle(catalog: Catalog, handlers: Sequence[StreamHandler]) -> None:
    """Refuse to run what does nothing."""
    if not handlers and not kept_by_stream(catalog):
        raise DeclarationError(
            f"{catalog.name} has no handlers, and keeps nothing by its stream",
            hint='@on(SomeEntity) above a method, or by="stream" in a counter, copy or derived item',
        )


def check_declared_stream(design: str, view: str | None) -> None:
    """Refuse a design with handlers whose table is declared without the stream that they need."""
    if view != VIEW:
        raise DeclarationError(
            f"{design} has handlers, which get items as they were and as they are, and its table has "
            f"{'no stream' if view is None else f'a stream of {view}'}",
            hint=f'stream = "{VIEW}"',
        )


class LazyHandler:
    """A function for AWS Lambda: it opens the design when the first event comes, and keeps it open."""

    def __init__(self, open_dispatcher: Callable[[], Dispatcher]) -> None:
        self._open = open_dispatcher
        self._dispatcher: Dispatcher | None = None
        self._lock = Lock()

    def __call__(self, event: Mapping[str, Any], context: Any) -> Response:
        with self._lock:
            if self._dispatcher is None:
                self._dispatcher = self._open()
        failure = self._dispatcher.dispatch(records_of(event))
        if failure is not None:
            # The answer has no place for the reason.
            logger.error("record %s could not be handled", failure.sequence_number, exc_info=failure.error)
        return response(failure)


def function_region() -> str:
    """Return the region that a Lambda function runs in, as a target."""
    region = os.environ.get("AWS_REGION")
    if region is None:
        raise DeclarationError(
            "AWS_REGION is not set, as it is in a Lambda function",
            hint='lambda_handler("dynamodb://eu-north-1")',
        )
    return f"dynamodb://{region}"
