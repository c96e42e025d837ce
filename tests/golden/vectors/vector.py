"""What a case is: plain values, in the wire form that an SDK sends and gets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from golden.vectors.matching import Matcher

Wire = dict[str, Any]


class Refusal:
    """An error: its code, its message, and the members that its type carries beside them."""

    def __init__(self, code: str, message: str | Matcher, *, status: int = 400, **members: Any) -> None:
        self.code = code
        self.message = message
        self.status = status
        self.members = members

    def __repr__(self) -> str:
        return f"{self.code}: {self.message}"


def validation(message: str | Matcher) -> Refusal:
    return Refusal("ValidationException", message)


@dataclass(frozen=True)
class Earlier:
    """A value in a request that is not known before: it is taken from the newest answer to an operation."""

    operation: str
    path: tuple[str | int, ...]

    def within(self, answer: Any) -> Any:
        for step in self.path:
            answer = answer[step]
        return answer


def earlier(operation: str, *path: str | int) -> Any:
    return Earlier(operation, path)


@dataclass(frozen=True)
class Step:
    """A request that is sent after the one of the vector, and what it finds."""

    operation: str
    request: Wire
    expected: Any


def then(operation: str, request: Wire, expected: Any) -> Step:
    return Step(operation, request, expected)


@dataclass(frozen=True)
class Vector:
    """One case. It expects an `answer` or an `error`."""

    name: str
    operation: str
    request: Wire
    answer: Any = None
    error: Refusal | None = None
    tables: Sequence[Wire] = ()  # CreateTable requests
    given: Mapping[str, Sequence[Wire]] = field(default_factory=dict)  # items by the name of their table
    before: Sequence[tuple[str, Wire]] = ()  # requests that must succeed first
    after: Sequence[Step] = ()
    makes: Sequence[str] = ()  # tables that the vector itself makes: they are deleted when it is over
    wire_only: bool = False  # no Python value can say this: broken JSON types, broken base64
    evidence: str = ""

    def __post_init__(self) -> None:
        assert (self.answer is None) != (self.error is None), f"{self.name}: an answer or an error"
        names = {table["TableName"] for table in self.tables}
        assert self.given.keys() <= names, f"{self.name}: items of a table that the vector does not name"

    @property
    def expected(self) -> Any:
        return self.answer if self.error is None else self.error
