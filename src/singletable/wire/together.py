"""Several operations of one caller at once: what they write shares transactions, and waits for the disk once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from singletable.storage.write_groups import Written
from singletable.wire.forms import Form
from singletable.wire.operations import Execution
from singletable.wire.outcomes import Outcome, PendingWrite
from singletable.wire.parameters import Answer, Params, Session

T = TypeVar("T")


def execute_together(
    session: Session, requests: Sequence[tuple[str, Params]], form: Form
) -> list[Answer | Exception]:
    """Carry out operations that do not depend on each other; return what each answers, or what it failed with."""
    executions = [Execution(session, operation, params, form) for operation, params in requests]
    begun = [_tried(execution, execution.begin) for execution in executions]
    written = iter(
        session.store.write_together([each.work for each in begun if isinstance(each, PendingWrite)])
    )
    answers: list[Answer | Exception] = []
    for execution, each in zip(executions, begun, strict=True):
        if isinstance(each, Exception):
            answers.append(each)
        elif isinstance(each, PendingWrite):
            answers.append(_tried(execution, partial(_finish_written, execution, each, next(written))))
        else:
            answers.append(_tried(execution, partial(execution.finish, each)))
    return answers


def _finish_written(execution: Execution, pending: PendingWrite, written: Written[Any]) -> Answer:
    outcome: Outcome = pending.render(written.get())
    return execution.finish(outcome)


def _tried(execution: Execution, work: Callable[[], T]) -> T | Exception:
    try:
        return work()
    except Exception as error:
        return execution.fail(error)
