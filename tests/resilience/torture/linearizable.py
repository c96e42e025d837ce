"""Is there an order in which a history could have happened, one step at a time?

The search is that of Wing and Gong ("Testing and verifying concurrent objects", 1993) with the memory of Lowe
("Testing for linearizability", 2017): a set of steps taken and a state are never looked at twice. A step may be
taken when no other step that is still to be taken had ended before it began.

A step whose answer never came may have been taken at any moment after it began, or not at all.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

STATES_MAX: Final = 3_000_000


class Model(Protocol):
    """An object as it would be if only one client used it."""

    @property
    def start(self) -> Hashable:
        """The state before the first step."""
        ...

    def step(self, state: Any, asked: Any) -> tuple[Hashable, Any]:
        """Return the state after a request, and the answer it must get."""
        ...


@dataclass(frozen=True, slots=True)
class Step:
    """What a client asked and got. `ended` is None when no answer came."""

    asked: Any
    answered: Any
    began: int
    ended: int | None

    def __post_init__(self) -> None:
        assert self.ended is None or self.began < self.ended


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether an order exists; if not, how far the longest one came and where it could not go on."""

    holds: bool
    explained: int
    state: Any = None
    stuck: tuple[Step, ...] = ()

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        if self.holds:
            return f"all {self.explained} steps are explained"
        steps = "\n".join(f"    {step}" for step in self.stuck)
        return f"after {self.explained} steps the state is {self.state!r}, and none of these can follow:\n{steps}"


class UndecidedError(Exception):
    """The history has too many possible orders."""


@dataclass(frozen=True, slots=True)
class _Place:
    """How far a search has come: the answered steps taken, as far as all are and beyond; the open ones taken."""

    taken: int  # the first step, in the order of beginning, that is not taken
    beyond: int  # bits of steps behind it that are taken
    open_taken: int  # bits of steps without an answer that are taken
    state: Hashable


def check(model: Model, steps: Sequence[Step], *, states_max: int = STATES_MAX) -> Verdict:
    """Look for an order of the steps that the model allows."""
    answered = sorted((step for step in steps if step.ended is not None), key=lambda step: step.began)
    open_steps = [step for step in steps if step.ended is None]
    search = _Search(model, answered, open_steps)
    start = _Place(0, 0, 0, model.start)
    stack, seen = [start], {start}
    best = start
    while stack:
        place = stack.pop()
        if place.taken == len(answered):
            return Verdict(True, len(answered))
        if _count(place) > _count(best):
            best = place
        # The step that began first is tried first, those without an answer last: the stack is turned around.
        for following in reversed(search.following(place)):
            if following not in seen:
                seen.add(following)
                stack.append(following)
        if len(seen) > states_max:
            raise UndecidedError(
                f"more than {states_max} states; {_count(best)} of {len(answered)} steps explained"
            )
    stuck = tuple(answered[at] for at in search.candidates(best))
    return Verdict(False, _count(best), best.state, stuck)


def _count(place: _Place) -> int:
    return place.taken + place.beyond.bit_count()


@dataclass(frozen=True, slots=True)
class _Search:
    model: Model
    answered: list[Step]
    open_steps: list[Step]

    def candidates(self, place: _Place) -> list[int]:
        """The answered steps that may come next: nobody who is left had ended before they began."""
        found: list[int] = []
        first_end: float = float("inf")
        for at in range(place.taken, len(self.answered)):
            step = self.answered[at]
            if step.began > first_end:
                break
            if not place.beyond >> (at - place.taken) & 1:
                found.append(at)
                assert step.ended is not None
                first_end = min(first_end, step.ended)
        return found

    def following(self, place: _Place) -> list[_Place]:
        candidates = self.candidates(place)
        places: list[_Place] = []
        for at in candidates:
            step = self.answered[at]
            state, answer = self.model.step(place.state, step.asked)
            if answer == step.answered:
                places.append(_taken(place, at, state))
        first_end = min((self.answered[at].ended or 0 for at in candidates), default=0)
        for number, step in enumerate(self.open_steps):
            if place.open_taken >> number & 1 or step.began > first_end:
                continue
            state, _ = self.model.step(place.state, step.asked)
            if state != place.state:  # else it does not matter whether it was taken
                places.append(_Place(place.taken, place.beyond, place.open_taken | 1 << number, state))
        return places


def _taken(place: _Place, at: int, state: Hashable) -> _Place:
    taken, beyond = place.taken, place.beyond | 1 << (at - place.taken)
    while beyond & 1:
        taken, beyond = taken + 1, beyond >> 1
    return _Place(taken, beyond, place.open_taken, state)
