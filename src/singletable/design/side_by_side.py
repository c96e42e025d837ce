"""Several pieces of logic at once: what each of them asks for next is asked for together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from singletable.client.calls import Call, Step, Steps, Together, Wait, Work

T = TypeVar("T")


def side_by_side(pieces: Sequence[Steps[T]]) -> Steps[list[T]]:
    """Go through pieces of logic that do not depend on each other; return their results in their order.

    An error ends all of them.
    """
    results: dict[int, T] = {}
    waiting: dict[int, Step] = {}

    def go_on(number: int, answer: Any) -> None:
        try:
            waiting[number] = pieces[number].send(answer)
        except StopIteration as end:
            results[number] = end.value

    try:
        for number in range(len(pieces)):
            go_on(number, None)
        while waiting:
            asked = dict(waiting)
            waiting.clear()
            answers = yield from _answered(list(asked.values()))
            for number, answer in zip(asked, answers, strict=True):
                go_on(number, answer)
    finally:
        for piece in pieces:
            piece.close()
    return [results[number] for number in range(len(pieces))]


def _answered(steps: list[Step]) -> Steps[list[Any]]:
    """Ask for all of these at once; return their answers."""
    pauses = [step for step in steps if isinstance(step, Wait)]
    if pauses:
        yield max(pauses, key=lambda pause: pause.seconds)
    calls = [call for step in steps for call in _calls(step)]
    found: list[Any] = []
    if len(calls) == 1:
        found = [(yield calls[0])]
    elif calls:
        found = yield Together(tuple(calls))
    answers = iter(found)
    given = []
    for step in steps:
        answer = (yield step) if isinstance(step, Work) else _answer(step, answers)
        given.append(answer)
    return given


def _calls(step: Step) -> tuple[Call, ...]:
    match step:
        case Call():
            return (step,)
        case Together(calls):
            return calls
        case _:
            return ()


def _answer(step: Step, answers: Any) -> Any:
    match step:
        case Call():
            return next(answers)
        case Together(calls):
            return [next(answers) for _ in calls]
        case _:
            return None
