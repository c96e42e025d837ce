"""A handler as it is given, and what it says of a batch: as AWS Lambda takes it.

"If you return any of the following, Lambda treats a batch as a complete success: an empty batchItemFailures list,
a null batchItemFailures list, an empty EventResponse, a null EventResponse. [...] as a complete failure: an empty
string itemIdentifier, a null itemIdentifier, an itemIdentifier with a bad key name." (Lambda guide, "Configuring
partial batch response with DynamoDB and Lambda")
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from singletable.consumers.context import Context
from singletable.consumers.events import Event

Handler = Callable[..., Any]

_ERROR_CHARACTERS_MAX = 4096


class HandlerFailedError(Exception):
    """The handler has not taken a batch. `first` is the record that it named, if it named one."""

    def __init__(self, text: str, *, first: int | None = None) -> None:
        super().__init__(text)
        self.text = text
        self.first = first
        self.is_front_done = False  # whether the records before it are


class CheckedHandler:
    """A handler whose parameters are known."""

    def __init__(self, handler: Handler) -> None:
        if not callable(handler):
            raise TypeError(f"a handler is a function of an event and a context, not {handler!r}")
        if inspect.iscoroutinefunction(handler) or inspect.iscoroutinefunction(type(handler).__call__):
            raise TypeError(
                "a handler is an ordinary function, as AWS Lambda calls it: inside it, asyncio.run(...) runs "
                "what is asynchronous"
            )
        self._handler = handler
        self._takes_context = _takes_context(handler)

    def call(self, records: Sequence[Event], context: Context) -> None:
        """Hand a batch to the handler; raise HandlerFailedError unless it has taken all of it."""
        # The handler may change what it is given: the records are needed again where it fails.
        event: Event = {"Records": [_copied(record) for record in records]}
        try:
            response = self._handler(event, context) if self._takes_context else self._handler(event)
        except Exception as error:
            raise HandlerFailedError(error_text(error)) from error
        if inspect.iscoroutine(response):
            response.close()
            raise HandlerFailedError("the handler returned a coroutine, which nobody awaits")
        failed = _first_failed(response, [record["dynamodb"]["SequenceNumber"] for record in records])
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


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _copied(member) for name, member in value.items()}
    return [_copied(member) for member in value] if isinstance(value, list) else value


def _first_failed(response: Any, numbers: Sequence[str]) -> HandlerFailedError | None:
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
