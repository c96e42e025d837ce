"""A client: it answers calls, and runs the steps of a generator, sync or async."""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from random import random as any_part
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar, assert_never

from singletable.client.calls import Answer, Call, Step, Steps, Together, Wait, Work
from singletable.client.capabilities import Capabilities
from singletable.clock import Clock

if TYPE_CHECKING:
    from singletable.database import Database

T = TypeVar("T")

Sleep = Callable[[float], object]
Random = Callable[[], float]


class ClientSettings(NamedTuple):
    """The settings of a client, for any target; None stands for the default."""

    clock: Clock | None
    capabilities: Capabilities | None
    sleep: Sleep | None
    random: Random | None


class Client(ABC):
    """One target: a database in this process, AWS, or an endpoint that speaks DynamoDB's protocol.

    Parameters and answers are those of a boto3 client: values are {"S": "x"}, binary ones are `bytes`. A request
    that DynamoDB refuses raises an `ApiError`, on any target; a failure to reach the target raises a `TargetError`
    or a `DatabaseError`.

    A given `sleep` is called for every wait, also in `arun`; without one, threads and tasks sleep. A given
    `random`, like `random.random`, is the jitter: it decides which part of a random wait is waited.
    """

    database: Database | None = None
    """The database in this process that answers; None where somebody else does."""

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
        """Whether the target is Amazon DynamoDB or this engine: a dropped or refused setting is then an error."""

    @property
    def is_plain_file(self) -> bool:
        """Whether the target is a file that is not encrypted, whatever a table asks for."""
        return False

    @abstractmethod
    def lacks(self, feature: str) -> None:
        """Mark a feature as missing from now on: the target has shown that it does not have it."""

    @abstractmethod
    def call(self, operation: str, params: Mapping[str, Any]) -> Answer:
        """Carry out one operation, named as DynamoDB names it."""

    @abstractmethod
    async def acall(self, operation: str, params: Mapping[str, Any]) -> Answer:
        """Carry out one operation without blocking the event loop."""

    @abstractmethod
    def call_together(self, calls: Sequence[Call]) -> list[Answer]:
        """Carry out independent operations; raise the first error, in their order."""

    @abstractmethod
    async def acall_together(self, calls: Sequence[Call]) -> list[Answer]:
        """Carry out independent operations without holding up the event loop."""

    @abstractmethod
    def close(self) -> None:
        """Release the resources of this client. Closing twice is harmless."""

    def run(self, steps: Steps[T]) -> T:
        """Run steps to their end; return their result."""
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
        """Run steps to their end without blocking the event loop; return their result."""
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
