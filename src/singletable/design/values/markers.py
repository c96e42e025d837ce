"""What a field's annotation can say beyond its type: values that are read by the layer, docs, linter and planner.

    created_at: CreatedAt = auto()
    ttl: Ttl = expires(days=90)
    likes_count: Annotated[int, CountOf("Reaction")] = 0

A marker is data; its behaviour is in the module that implements it. Markers of kept data, such as `CountOf`, are
in `singletable.design.kept`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import Field

from singletable.design.values.conditions import Condition

Upkeep = Literal["transaction", "stream"]

# --- values that the layer fills in ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Auto:
    """The field is the clock's time of the first write, or of every write."""

    when: Literal["create", "write"]


@dataclass(frozen=True, slots=True)
class Lock:
    """The field counts the writes of an item; a write demands the number that was read."""


@dataclass(frozen=True, slots=True)
class TimeToLive:
    """The field is stored as seconds since 1970, and reads hide an item whose time is over."""


@dataclass(frozen=True, slots=True)
class Expires:
    """How long an item lives: from the write that makes it, or from the time of one of its fields."""

    delta: timedelta
    after: str | None = None
    when: Condition | None = None


CreatedAt = Annotated[datetime, Auto("create")]
UpdatedAt = Annotated[datetime, Auto("write")]
Version = Annotated[int, Lock()]
Ttl = Annotated[datetime | None, TimeToLive()]


def auto() -> Any:
    """Let the layer fill in a `CreatedAt` or `UpdatedAt` when the item is written."""
    return Field(default_factory=_now)


def expires(
    *,
    days: float = 0,
    hours: float = 0,
    minutes: float = 0,
    seconds: float = 0,
    after: str | None = None,
    when: Condition | None = None,
) -> Any:
    """Let an item expire this long after its creation, or after the time in a field; only under a condition."""
    policy = Expires(timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds), after, when)
    field: Any = Field(default=None)
    field.metadata.append(policy)
    return field


def _now() -> datetime:
    now = datetime.now(UTC)
    return now.replace(microsecond=now.microsecond // 1000 * 1000)


# --- parts of keys that are computed --------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ShardOf:
    """Write sharding: the part spreads items over partitions, by a field. A single shard renders as nothing."""

    count: int
    by: str


@dataclass(frozen=True, slots=True)
class BucketOf:
    """The part is the span that a time of the entity is in: `2025`, `2025-01`, `2025-W04` or `2025-01-20`.

    With "never" there is one span for all times, which renders as nothing.
    """

    by: str
    every: Literal["year", "month", "week", "day", "never"]


@dataclass(frozen=True, slots=True)
class InitialOf:
    """The part is the first letters of a text of the entity, this many. No letters render as nothing.

    A shorter text is stored whole, but queries cannot ask for it.
    """

    of: str
    letters: int = 0


# --- how a field is stored --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Stored:
    """The field is stored under this name, whatever the design's casing says."""

    name: str


@dataclass(frozen=True, slots=True)
class Digits:
    """A fractional number is stored with at most this many decimals; one with more is refused, or rounded."""

    decimals: int
    rounds: bool = False


@dataclass(frozen=True, slots=True)
class Compressed:
    """The field is stored as compressed JSON; the plain form is read too."""


# --- data that is kept by the layer ------------------------------------------------------------------
#
# A child names its parent by the fields of the parent's key, under the same names or under those of `via`:
# `via={"post_id": "target_id"}` says that the key's post_id is the child's target_id.


class KeptField:
    """The layer keeps the field up to date with other items. `singletable.design.kept` has the markers."""

    __slots__ = ()


# --- values that are worked out ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, init=False)
class Computed:
    """A function computes the field from other fields of the same entity. It gets their values, in this order.

    The value is computed whenever an entity is made, read or written; a given value is ignored.
    """

    function: Callable[..., Any]
    fields: tuple[str, ...]

    def __init__(self, function: Callable[..., Any], *fields: str) -> None:
        object.__setattr__(self, "function", function)
        object.__setattr__(self, "fields", fields)
