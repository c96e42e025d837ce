"""How long a server waits for a client, and who makes room for others where there is none. Pure: times go in.

Who sends a byte a second, or takes one, is never silent. So a request has a time for its head, and what is longer
(a body, an answer) a rate that it must keep on average. Where all places are taken, those who have nothing under
way go first, and then those who are slow.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeVar, assert_never

from singletable.limits import KIB

if TYPE_CHECKING:
    from collections.abc import Callable

BYTES_PER_S_MIN: Final = 16 * KIB
# Where there is no room: who was answered before may come back soon, and who never asked has had the time to.
SILENT_S_MIN: Final = 10.0
SLOW_S_MIN: Final = 1.0

Held = TypeVar("Held")


class Standing(NamedTuple):
    """What a connection has been at, since when, and how far it has come."""

    doing: Literal["resting", "arriving", "leaving"]  # nothing, a request, answers that are not taken
    since_s: float
    moved_bytes: int = 0  # of a body, or of the answers; a head is a head until it is whole
    was_answered: bool = True  # at least once


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long a server waits."""

    head_s_max: float
    request_s_max: float
    idle_s_max: float

    @property
    def shortest_s(self) -> float:
        return min(self.head_s_max, self.request_s_max, self.idle_s_max)

    def is_over(self, standing: Standing, now_s: float) -> bool:
        """Whether a connection has had all the time that it gets, however much room there is."""
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


def who_makes_room(
    held: Iterable[Held], standing: Callable[[Held], Standing | None], now_s: float
) -> Held | None:
    """Choose who loses its place to a new client, if there is one who may. No standing: a request is under way."""
    resting: tuple[float, Held] | None = None
    slow: tuple[float, Held] | None = None
    for each in held:
        stands = standing(each)
        if stands is None:
            continue
        waited_s = now_s - stands.since_s
        if stands.doing == "resting":
            least_s = SILENT_S_MIN if stands.was_answered else SLOW_S_MIN
            if waited_s >= least_s and (resting is None or waited_s > resting[0]):
                resting = (waited_s, each)
        elif _is_slow(stands, waited_s, SLOW_S_MIN) and (slow is None or waited_s > slow[0]):
            slow = (waited_s, each)
    chosen = resting or slow
    return None if chosen is None else chosen[1]


def _is_slow(standing: Standing, waited_s: float, after_s: float) -> bool:
    """Whether a connection falls behind the rate that it must keep, `after_s` not counted."""
    return standing.moved_bytes < BYTES_PER_S_MIN * (waited_s - after_s)
