"""A client: somebody who answers calls, and who can go through the steps of a piece of logic, sync or async."""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from random import random as any_part
from types import TracebackType
from typing import Any, Self, TypeVar, assert_never

from singletable.client.calls import Call, Step, Steps, Together, Wait, Work
from singletable.client.capabilities import Capabilities
from singletable.clock import Clock

T = TypeVar("T")

Answer = dict[str, Any]
Sleep = Callable[[float], object]
Random = Callable[[], float]


class Client(ABC):
    """One target: a database in this process, AWS, or an endpoint that speaks DynamoDB's protocol.

    Parameters and answers are those of a boto3 client: values are {"S": "x"}, binary ones are `bytes`. What
    DynamoDB refuses raises an `ApiError`, whatever the target; trouble on the way raises a `TargetError` or a
    `DatabaseError`.

    A sleep that is given is called for every wait, also in `arun`; without one, threads and tasks sleep. A random
    that is given, like `random.random`, tells how much of a random wait is waited.
    """

    def __init__(self, clock: Clock, sleep: Sleep | None = None, random: Random | None = None) -> None:
        self.clock = clock
        self.sleep = sleep
        self.random = random

    @property
    @abstractmethod
    def capabilities(self) -> Capabilities:
        """What the target can do."""

    @property
    @abstractmethod
    def is_trusted(self) -> bool:
        """Whether it is Amazon DynamoDB or the engine here: a setting that these drop or refuse is an error."""

    @abstractmethod
    def lacks(self, feature: str) -> None:
        """Count a feature among the missing ones from now on: the target has shown that it does not have it."""

    @abstractmethod
    def call(self, operation: str, params: Mapping[str, Any]) -> Answer:
        """Carry out one operation, named as DynamoDB names it."""

    @abstractmethod
    async def acall(self, operation: str, params: Mapping[str, Any]) -> Answer:
        """Carry out one operation without holding up the event loop."""

    @abstractmethod
    def call_together(self, calls: Sequence[Call]) -> list[Answer]:
        """Carry out independent operations; raise the first error, in their order."""

    @abstractmethod
    async def acall_together(self, calls: Sequence[Call]) -> list[Answer]:
        """Carry out independent operations without holding up the event loop."""

    @abstractmethod
    def close(self) -> None:
        """Release what this client has opened. Twice does nothing more."""

    def run(self, steps: Steps[T]) -> T:
        """Go through steps to their end; return their result."""
        call = self.call
        send = steps.send
        answer: Any = None
        try:
            step = send(None)
            while True:
                try:
                    answer = call(step.operation, step.params) if type(step) is Call else self._take(step)
                except Exception as error:
                    step = steps.throw(error)
                else:
                    step = send(answer)
        except StopIteration as end:
            result: T = end.value
            return result
        finally:
            steps.close()

    async def arun(self, steps: Steps[T]) -> T:
        """Go through steps to their end without holding up the event loop; return their result."""
        answer: Any = None
        try:
            step = steps.send(None)
            while True:
                try:
                    answer = await self._atake(step)
                except Exception as error:
                    step = steps.throw(error)
                else:
                    step = steps.send(answer)
        except StopIteration as end:
            result: T = end.value
            return result
        finally:
            steps.close()

    def _take(self, step: Step) -> Any:
        match step:
            case Call(operation, params):
                return self.call(operation, params)
            case Together(calls):
                return self.call_together(calls)
            case Wait():
                (self.sleep or time.sleep)(self._seconds(step))
                return None
            case Work(function):
                return function()
            case _:
                assert_never(step)

    async def _atake(self, step: Step) -> Any:
        match step:
            case Call(operation, params):
                return await self.acall(operation, params)
            case Together(calls):
                return await self.acall_together(calls)
            case Wait():
                if self.sleep is None:
                    await asyncio.sleep(self._seconds(step))
                else:
                    self.sleep(self._seconds(step))
                return None
            case Work(function):
                return await asyncio.to_thread(function)
            case _:
                assert_never(step)

    def _seconds(self, wait: Wait) -> float:
        return wait.seconds * (self.random or any_part)() if wait.is_random else wait.seconds

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
