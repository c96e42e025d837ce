"""Runs the handlers of a design: as a consumer of the embedded engine, or as one AWS Lambda function."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Unpack

from singletable.client.calls import Call, Steps
from singletable.design.model.catalog import Catalog
from singletable.design.session.session import Session
from singletable.design.streams.change import VIEW
from singletable.design.streams.dispatch import (
    Response,
    StreamDispatcher,
    kept_by_stream,
    refuse_view,
    response,
)
from singletable.design.streams.handlers import StreamHandler
from singletable.errors import CapabilityError, DeclarationError
from singletable.values.change_records import ChangeRecord, TakesChanges

if TYPE_CHECKING:
    from singletable.consumers import Consumer, ConsumerOptions, DeadLetter, Redriven
    from singletable.consumers.options import ConsumerKeywords
    from singletable.database import Database


logger = logging.getLogger("singletable.streams")

LambdaHandler = Callable[[Mapping[str, Any], object], Response]

_FAILURES_HINT: Final = (
    "on AWS, the OnFailure destination of the event source mapping is told what was put aside"
)


def start_consumer(
    design: object,
    session: Session,
    handlers: Sequence[StreamHandler],
    name: str,
    options: ConsumerOptions | None,
    **changes: Unpack[ConsumerKeywords],
) -> Consumer:
    """Run the handlers of a design over the changes of its table, on the embedded engine."""
    database = _database(
        session, "lambda_handler(target) is the function that AWS Lambda runs over the table's stream"
    )
    refuse_idle(session.catalog, handlers)
    session.run(_check_stream(session))
    handler = ConsumerHandler(StreamDispatcher(design, session, handlers))
    return database.consume(session.table, handler, name, options, **changes)


def put_aside(session: Session, name: str) -> list[DeadLetter]:
    """Return the dead letters: the records that the handlers of a design could not handle."""
    return _database(session, _FAILURES_HINT).dead_letters(session.table, name)


def redrive(design: object, session: Session, handlers: Sequence[StreamHandler], *, name: str) -> Redriven:
    """Run the handlers of a design over the dead letters, and remove those that succeed."""
    database = _database(session, _FAILURES_HINT)
    refuse_idle(session.catalog, handlers)
    return database.redrive(session.table, name, ConsumerHandler(StreamDispatcher(design, session, handlers)))


def _database(session: Session, hint: str) -> Database:
    client = session.client
    if client.database is None:
        raise CapabilityError(f"{client!r} runs no consumers: they are of the embedded engine", hint=hint)
    return client.database


class ConsumerHandler(TakesChanges):
    """The handlers of a design, for a consumer of the embedded engine."""

    def __init__(self, dispatcher: StreamDispatcher) -> None:
        self._dispatcher = dispatcher

    def take_changes(self, changes: Sequence[ChangeRecord]) -> Response:
        """Handle changes as the consumer reads them from the log."""
        return response(self._dispatcher.dispatch(changes), tells_error=True)

    def __call__(self, event: Mapping[str, Any], context: object) -> Response:
        """Handle an event. Dead letters are stored as events."""
        return response(self._dispatcher.dispatch(event["Records"]), tells_error=True)


def _check_stream(session: Session) -> Steps[None]:
    answer = yield Call("DescribeTable", {"TableName": session.table})
    stream = answer["Table"].get("StreamSpecification") or {}
    if stream.get("StreamEnabled"):
        refuse_view(stream["StreamViewType"], session.table)


def refuse_idle(catalog: Catalog, handlers: Sequence[StreamHandler]) -> None:
    """Refuse to run a design without handlers and without data kept by the stream."""
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
    """A function for AWS Lambda. It opens the design at the first event, and keeps it open."""

    def __init__(self, open_dispatcher: Callable[[], StreamDispatcher]) -> None:
        self._open = open_dispatcher
        self._dispatcher: StreamDispatcher | None = None
        self._lock = Lock()

    def __call__(self, event: Mapping[str, Any], context: object) -> Response:
        with self._lock:
            if self._dispatcher is None:
                self._dispatcher = self._open()
        failure = self._dispatcher.dispatch(event["Records"])
        if failure is not None:
            # The answer to Lambda has no field for the reason.
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
