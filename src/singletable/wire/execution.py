"""The one way in to all operations: a request is begun, and finished.

Between the two, a write waits for its transaction, which it may share with others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter
from typing import Any, TypeVar

from singletable.engine.patience import OutOfPatienceError
from singletable.errors import (
    ConditionFailedError,
    SerializationError,
    SingleTableError,
    TransactionCanceledError,
    UnknownOperationError,
    ValidationError,
)
from singletable.metrics import failure_of
from singletable.operations import operation_refusal
from singletable.storage.file.failures import not_understood
from singletable.storage.write_groups import GroupedWrite
from singletable.wire.arns import check_table_arns
from singletable.wire.forms import JSON, Form
from singletable.wire.operations import PLAIN, RUN
from singletable.wire.parameters import Answer, OperationContext, Outcome, Params, Render, Work, table_name
from singletable.wire.validation.constraints import check
from singletable.wire.validation.refusals import refuse_types

T = TypeVar("T")


class Execution:
    """One request under way: begun, then finished with its outcome, or failed. It is counted at its end.

    A write waits in between: `work` is what it does in its transaction, `render` makes its outcome of the result,
    and `tell` takes the answer to whom a server owes it.
    """

    __slots__ = ("_form", "_params", "_started_s", "operation", "render", "session", "tell", "work")

    work: Work
    render: Render
    tell: Callable[[Any], None]

    def __init__(self, session: OperationContext, operation: str, params: Params, form: Form) -> None:
        self.session = session
        self.operation = operation
        self._params = params
        self._form = form
        self._started_s = perf_counter()

    def begin(self) -> Outcome | None:
        """Check the shape of the parameters and carry out a read; None: a write, whose `work` is to be done."""
        operation = self.operation
        run = RUN.get(operation)
        if run is None:
            raise UnknownOperationError(operation_refusal(operation))
        session, form = self.session, self._form
        if form is JSON and operation in PLAIN:
            plain = PLAIN[operation](session, self._params)
            if plain is not None:
                return plain
        params = self._params = check(operation, self._params, native=form.is_native)
        check_table_arns(operation, params, session.region, session.account)
        begun = run(session, params, form)
        if isinstance(begun, tuple):
            self.work, self.render = begun
            return None
        return Outcome(begun) if isinstance(begun, dict) else begun

    def finish_written(self, written: GroupedWrite[Any]) -> Answer:
        """Return the answer of a write whose transaction has ended."""
        return self.finish(self.render(written.get()))

    def finish(self, outcome: Outcome) -> Answer:
        """Return the answer of a request that succeeded."""
        consumed = outcome.consumed
        if consumed:
            table = consumed[0].table if len(consumed) == 1 else None
            latency_s = perf_counter() - self._started_s
            self.session.metrics.succeeded(
                self.operation, table, latency_s, consumed, outcome.returned, is_read=outcome.is_read
            )
        return outcome.answer

    def fail(self, error: Exception) -> Exception:
        """Return the error to answer a failed request with."""
        failure = self._explained(error)
        if not isinstance(failure, OutOfPatienceError):
            self.session.metrics.failed(self.operation, self._named_table(), failure_of(failure))
            if isinstance(failure, ConditionFailedError | TransactionCanceledError):
                self.session.metrics.written(failure.units)
        return failure

    def _named_table(self) -> str | None:
        name = self._params.get("TableName")
        return table_name(name) if isinstance(name, str) else None

    def _explained(self, error: Exception) -> Exception:
        if isinstance(error, ValidationError):
            try:
                # AWS reads the whole body before it validates any of it (dynalite's tests of every operation).
                refuse_types(self.operation, self._params, native=self._form.is_native)
            except SingleTableError as worse:
                return worse
            return error
        if isinstance(error, SingleTableError | OutOfPatienceError):
            return error
        if isinstance(error, UnicodeEncodeError):  # half of a surrogate pair, which Python can hold
            return SerializationError(f"A value of the request cannot be sent: {error}")
        broken = not_understood(self.session.store.path)
        broken.__cause__ = error
        return broken


def execute(session: OperationContext, operation: str, params: Params, form: Form) -> Answer:
    """Carry out an operation from its beginning to its end."""
    execution = Execution(session, operation, params, form)
    try:
        outcome = execution.begin()
        if outcome is None:
            outcome = execution.render(session.store.write(execution.work))
        return execution.finish(outcome)
    except Exception as error:
        failure = execution.fail(error)
        try:
            if failure is error:
                raise
            raise failure from failure.__cause__
        finally:
            del failure  # which knows this frame: so both go at once


def execute_together(
    session: OperationContext, requests: Sequence[tuple[str, Params]], form: Form
) -> list[Answer | Exception]:
    """Carry out operations that do not depend on each other; return the answer or the error of each.

    Their writes share transactions, and wait for the disk once.
    """
    executions = [Execution(session, operation, params, form) for operation, params in requests]
    begun = [_tried(execution, execution.begin) for execution in executions]
    works = [execution.work for execution, each in zip(executions, begun, strict=True) if each is None]
    written = iter(session.store.write_together(works))
    answers: list[Answer | Exception] = []
    for execution, each in zip(executions, begun, strict=True):
        if isinstance(each, Exception):
            answers.append(each)
        elif each is None:
            answers.append(_tried(execution, partial(execution.finish_written, next(written))))
        else:
            answers.append(_tried(execution, partial(execution.finish, each)))
    return answers


def _tried(execution: Execution, step: Callable[[], T]) -> T | Exception:
    try:
        return step()
    except Exception as error:
        return execution.fail(error)
