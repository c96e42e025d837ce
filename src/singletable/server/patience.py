"""Timeouts of clients, and which connection makes room for a new one on a full server. Pure: times go in.

A client that sends or reads a byte a second is never silent. So the head of a request has a timeout, and the
longer parts (a body, an answer) have an average rate that they must keep. When all places are taken, connections
with nothing under way are closed first, then slow ones, and then those between two requests, the longest idle
first.

A client whose connection is closed between two requests connects again. nginx closes the longest idle connections
too, however short that is (ngx_drain_connections of its ngx_connection.c). Here clients that were answered keep
half of the places: a client that opens thousands of connections and asks nothing must not push them all out.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from operator import itemgetter
from typing import TYPE_CHECKING, Final, Generic, Literal, NamedTuple, TypeVar, assert_never

from singletable.limits import KIB

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

BYTES_PER_S_MIN: Final = 16 * KIB
# On a full server: a client that was answered may ask again soon; one that never asked had time enough.
SILENT_S_MIN: Final = 10.0
SLOW_S_MIN: Final = 1.0
# To pause for less on all of 2,048 connections is to ask 20,000 times a second: more than one process answers.
PAUSE_S_MIN: Final = 0.1
# To find a connection to close, all are looked at: a flood must not cause that for each of its connections.
LOOK_AROUND_S: Final = 0.05

Held = TypeVar("Held")


class Standing(NamedTuple):
    """What a connection is doing, since when, and how many bytes it has moved."""

    doing: Literal["resting", "arriving", "leaving"]  # nothing, a request, answers that are not taken
    since_s: float
    moved_bytes: int = 0  # of a body, or of the answers; a head is a head until it is whole
    was_answered: bool = True  # at least once


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitLimits:
    """How long a server waits."""

    head_s_max: float
    request_s_max: float
    idle_s_max: float

    @property
    def shortest_s(self) -> float:
        return min(self.head_s_max, self.request_s_max, self.idle_s_max)

    def is_over(self, standing: Standing, now_s: float) -> bool:
        """Whether a connection has timed out, also on a server with room."""
        waited_s = now_s - standing.since_s
        match standing.doing:
            case "resting":
                return waited_s > self.idle_s_max
            case "arriving":
                return waited_s > self.request_s_max or _is_slow(
                    standing, waited_s, min(self.head_s_max, self.idle_s_max)
                )
            case "leaving":
                return _is_slow(standing, waited_s, min(self.request_s_max, self.idle_s_max))
            case _:
                assert_never(standing.doing)


class _Rank(IntEnum):
    SILENT = 0
    SLOW = 1
    PAUSING = 2  # between two requests


class Room(Generic[Held]):
    """The order in which connections lose their places to new clients. Looks at all only now and then."""

    __slots__ = ("_look_again_s", "_next", "_standing")

    def __init__(self, standing: Callable[[Held], Standing | None]) -> None:
        """Take the function that returns a connection's standing; None: a request is under way."""
        self._standing = standing
        self._next: list[Held] = []  # connections that may lose their places; the next one is last
        self._look_again_s = float("-inf")

    def choose(self, held: Collection[Held], now_s: float) -> Held | None:
        """Choose a connection to close; none is chosen twice. None: all keep their places for now."""
        if now_s >= self._look_again_s:
            self._look_again_s = now_s + LOOK_AROUND_S
            self._next = self._look_around(held, now_s)
        while self._next:
            chosen = self._next.pop()
            # Others were let in since it was looked at: it may have asked something, or have left.
            if chosen in held and _rank(self._standing(chosen), now_s) is not None:
                return chosen
        return None

    def forget(self) -> None:
        """Forget the list, so that closed connections are freed; the next `choose` looks at all again."""
        self._next = []
        self._look_again_s = float("-inf")

    def _look_around(self, held: Collection[Held], now_s: float) -> list[Held]:
        ranked: list[tuple[tuple[_Rank, float], Held]] = []
        answered = 0
        for each in held:
            standing = self._standing(each)
            answered += standing is None or standing.was_answered
            rank = _rank(standing, now_s)
            if rank is not None:
                ranked.append((rank, each))
        ranked.sort(key=itemgetter(0))
        pausing = sum(rank is _Rank.PAUSING for (rank, _), _ in ranked)
        staying = pausing - min(pausing, max(0, answered - len(held) // 2))
        return [each for _, each in reversed(ranked[: len(ranked) - staying])]


def _rank(standing: Standing | None, now_s: float) -> tuple[_Rank, float] | None:
    """Rank a connection that may lose its place: the lowest goes first. None: it keeps its place."""
    if standing is None:
        return None
    waited_s = now_s - standing.since_s
    if standing.doing != "resting":
        return (_Rank.SLOW, standing.since_s) if _is_slow(standing, waited_s, SLOW_S_MIN) else None
    if waited_s >= (SILENT_S_MIN if standing.was_answered else SLOW_S_MIN):
        return _Rank.SILENT, standing.since_s
    return (_Rank.PAUSING, standing.since_s) if standing.was_answered and waited_s >= PAUSE_S_MIN else None


def _is_slow(standing: Standing, waited_s: float, after_s: float) -> bool:
    """Whether a connection is below the rate that it must keep. The first `after_s` do not count."""
    return standing.moved_bytes < BYTES_PER_S_MIN * (waited_s - after_s)
