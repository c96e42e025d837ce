"""A handler as it is given, and what it says of a batch: as AWS Lambda takes it.

"If you return any of the following, Lambda treats a batch as a complete success: an empty batchItemFailures list,
a null batchItemFailures list, an empty EventResponse, a null EventResponse. [...] as a complete failure: an empty
string itemIdentifier, a null itemIdentifier, an itemIdentifier with a bad key name." (Lambda guide, "Configuring
partial batch response with DynamoDB and Lambda")
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence

from singletable.consumers.context import Context
from singletable.consumers.events import Event, LoggedRecord
from singletable.consumers.writes import Writes
from singletable.values.change_records import TakesChanges

Handler = Callable[..., object]

_ERROR_CHARACTERS_MAX = 4096


class HandlerFailedError(Exception):
    """The handler has not taken a batch. `first` is the record that it named, if it named one."""

    def __init__(self, text: str, *, first: int | None = None) -> None:
        super().__init__(text)
        self.text = text
        self.first = first
        self.is_front_done = False  # whether the records before it are


class CheckedHandler:
    """A handler whose parameters are known.

    It is called with an event and a context. One that `TakesChanges`, as a design does, is given a list of
    `ChangeRecord`s instead, and answers in the same way.
    """

    def __init__(self, handler: Handler, new_context: Callable[[Writes], Context]) -> None:
        if not callable(handler):
            raise TypeError(f"a handler is a function of an event and a context, not {handler!r}")
        if inspect.iscoroutinefunction(handler) or inspect.iscoroutinefunction(type(handler).__call__):
            raise TypeError(
                "a handler is an ordinary function, as AWS Lambda calls it: inside it, asyncio.run(...) runs "
                "what is asynchronous"
            )
        self._handler = handler
        self._takes_context = _takes_context(handler)
        self._new_context = new_context
        self._take_changes = handler.take_changes if isinstance(handler, TakesChanges) else None

    def hand_over(self, records: Sequence[LoggedRecord], writes: Writes) -> None:
        """Hand a batch to the handler; raise HandlerFailedError unless it has taken all of it."""
        if self._take_changes is None:
            self.call([record.event() for record in records], writes)
            return
        changes = [record.change() for record in records]
        _hand_over(self._take_changes, (changes,), [change.sequence_number for change in changes])

    def call(self, records: list[Event], writes: Writes) -> None:
        """Call the handler with an event of records; raise HandlerFailedError unless it has taken all of them."""
        numbers = [record["dynamodb"]["SequenceNumber"] for record in records]
        event = {"Records": records}
        given = (event, self._new_context(writes)) if self._takes_context else (event,)
        _hand_over(self._handler, given, numbers)


def _hand_over(handler: Handler, given: tuple[object, ...], numbers: Sequence[str]) -> None:
    try:
        response = handler(*given)
    except Exception as error:
        raise HandlerFailedError(error_text(error)) from error
    if inspect.iscoroutine(response):
        response.close()
        raise HandlerFailedError("the handler returned a coroutine, which nobody awaits")
    failed = _first_failed(response, numbers)
    if failed is not None:
        raise failed


def error_text(error: BaseException) -> str:
    """Return what is kept of an error."""
    text = str(error)
    return (f"{type(error).__name__}: {text}" if text else type(error).__name__)[:_ERROR_CHARACTERS_MAX]


def _takes_context(handler: Handler) -> bool:
    try:
        signature = inspect.signature(handler)
    except (TypeError, ValueError):  # some functions written in C do not tell
        return True
    for arguments in ((None, None), (None,)):
        try:
            signature.bind(*arguments)
        except TypeError:
            continue
        return len(arguments) == 2
    raise TypeError("a handler takes an event and a context, or only an event")


def _first_failed(response: object, numbers: Sequence[str]) -> HandlerFailedError | None:
    """Return that a response names a record, the first of them; None if it names none."""
    failures = response.get("batchItemFailures") if isinstance(response, Mapping) else None
    if not failures:
        return None
    try:
        first, failure = min(
            ((numbers.index(failure["itemIdentifier"]), failure) for failure in failures),
            key=lambda named: named[0],
        )
    except (KeyError, TypeError, ValueError):
        return HandlerFailedError(
            "batchItemFailures names a record that is not in the batch: "
            '{"itemIdentifier": SequenceNumber} is expected'
        )
    # AWS Lambda has no word for why; a handler that is run here may tell, for the dead letters.
    text = failure.get("error") or "the handler named it in batchItemFailures"
    return HandlerFailedError(str(text)[:_ERROR_CHARACTERS_MAX], first=first)
