"""What a piece of logic asks for, without asking anybody: calls, calls at once, waits, and work of others.

Logic that talks to a table is a generator of these. It is sent the answers, and errors are thrown into it where
it waits for them; what it returns is its result. So one implementation serves every target, sync and async, and a
test can be the one that answers.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")


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

    A random one takes any part of its seconds, so that those who wait for the same do not come back together.
    """

    seconds: float
    is_random: bool = False


@dataclass(frozen=True, slots=True)
class Work:
    """A function that asks by itself, and waits for its answers. What it returns is sent back.

    Without holding up an event loop, that means a thread.
    """

    function: Callable[[], Any]


Step: TypeAlias = Call | Together | Wait | Work
Steps: TypeAlias = Generator[Step, Any, T]
