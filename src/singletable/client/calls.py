"""The requests of sans-I/O logic: calls, calls at once, waits, and blocking work.

Logic that talks to a table is a generator of these requests. A client sends the answers into it, and throws errors
into it. Its return value is the result. So one implementation serves every target, sync and async, and a test can
play the target.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, TypeVar, assert_never

from singletable.clock import backoff_s

T = TypeVar("T")

RETRY_S: Final = 0.05
RETRY_S_MAX: Final = 5.0
CONFLICT_S_MAX: Final = 0.5  # the other writer is done soon
RETRIES_MAX: Final = 80

Params: TypeAlias = dict[str, Any]  # of an operation, as a boto3 client takes them; or a part of them
Answer: TypeAlias = dict[str, Any]  # of an operation, as a boto3 client returns it; or a part of it


@dataclass(frozen=True, slots=True)
class Call:
    """One operation of DynamoDB, by its name, with the parameters of a boto3 client. Its answer is sent back."""

    operation: str
    params: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Together:
    """Calls that may run at once and in any order. The list of their answers is sent back.

    If one of them fails, its error is thrown (the first, in their order); whether the others were carried out is
    not known then.
    """

    calls: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class Wait:
    """A pause. None is sent back.

    A random one has full jitter: it takes any part of its seconds, so that clients do not return at the same time.
    """

    seconds: float
    is_random: bool = False


@dataclass(frozen=True, slots=True)
class Work:
    """A blocking function that makes its own calls. Its return value is sent back.

    In an event loop it runs in a thread.
    """

    function: Callable[[], Any]


Step: TypeAlias = Call | Together | Wait | Work
Steps: TypeAlias = Generator[Step, Any, T]


# --- steps at once --------------------------------------------------------------------------------------


def side_by_side(pieces: Sequence[Steps[T]]) -> Steps[list[T]]:
    """Run steps that do not depend on each other; return their results in their order.

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
    """Send all of these requests at once; return their answers."""
    pauses = [step for step in steps if isinstance(step, Wait)]
    if pauses:
        yield max(pauses, key=lambda pause: pause.seconds)
    calls = [call for step in steps for call in _calls(step)]
    found: list[Any] = []
    if len(calls) == 1:
        found = [(yield calls[0])]
    elif calls:
        found = yield Together(tuple(calls))
    answers, given = iter(found), []
    for step in steps:
        match step:
            case Call():
                given.append(next(answers))
            case Together(several):
                given.append([next(answers) for _ in several])
            case Work():
                given.append((yield step))
            case Wait():
                given.append(None)
            case _:
                assert_never(step)
    return given


def _calls(step: Step) -> tuple[Call, ...]:
    return (step,) if isinstance(step, Call) else step.calls if isinstance(step, Together) else ()


# --- units, and the back-off before a request is sent again ---------------------------------------------


def read_units(answer: Answer) -> float:
    """Return the units that an answer says it has consumed."""
    consumed = answer.get("ConsumedCapacity")
    if not consumed:
        return 0.0
    if isinstance(consumed, list):
        return float(sum(each.get("CapacityUnits", 0.0) for each in consumed))
    return float(consumed.get("CapacityUnits", 0.0))


def backoff(*, seconds_max: float = RETRY_S_MAX) -> Iterator[Wait]:
    """Return random pauses for some minutes. The upper bound of each is twice that of the one before.

    AWS calls that exponential backoff with full jitter: clients that collided do not collide again after equal
    pauses.
    """
    for failures in range(1, RETRIES_MAX + 1):
        yield Wait(backoff_s(failures, RETRY_S, seconds_max), is_random=True)
