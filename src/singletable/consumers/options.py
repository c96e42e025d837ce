"""What the user of a consumer may choose, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, TypedDict

from singletable import limits
from singletable.consumers.filters import make_filter, several

if TYPE_CHECKING:
    from singletable.consumers.states import Missed

Start: TypeAlias = Literal["TRIM_HORIZON", "LATEST"]

_STARTS: Final = ("TRIM_HORIZON", "LATEST")
_LEASE_S_MIN: Final = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerOptions:
    """How a consumer works. `consume` takes one, or keywords of the same names."""

    batch_size: int = 100
    """How many records a handler is given at most."""
    start: Start = "TRIM_HORIZON"
    """Where a new consumer begins: with the oldest change that is kept, or with what comes."""
    events: Iterable[str] | None = None
    """INSERT, MODIFY, REMOVE: only such changes; None: all."""
    changed: Iterable[str] | None = None
    """Names of attributes: only changes of one of them; None: all."""
    retries: int | None = 5
    """How often a batch that fails is tried again; None: for ever, as AWS Lambda does by itself."""
    backoff_s: float = 0.2
    """How long the first pause before another try is, at most; each further one is twice as long."""
    backoff_s_max: float = 30.0
    hold_s: float = limits.CONSUMER_HOLD_S
    """For how long changes that it has not handled are kept."""
    lease_s: float = limits.CONSUMER_LEASE_S
    """How long after the end of a process another one may take over."""
    poll_s: float = 0.2
    """How often it looks for what other processes have written."""
    on_missed: Callable[[Missed], object] | None = None
    """Is told of changes that are gone before they were handled; by default a warning is logged."""
    wait: Callable[[float], object] | None = None
    """Waits that many seconds between two tries; by default until then, or until `stop`."""
    random: Callable[[], float] | None = None
    """Like `random.random`: tells how much of the second half of a pause is waited."""
    background: bool = True
    """Whether it runs in a thread of its own; otherwise `drain` and `run_once` run it."""

    def __post_init__(self) -> None:
        # An iterator can be read once, and options may be used for several consumers.
        for name in ("events", "changed"):
            given = getattr(self, name)
            object.__setattr__(self, name, None if given is None else tuple(several(name, given)))
        self._check()
        make_filter(self.events, self.changed)

    def _check(self) -> None:
        size_max, hold_s_max = limits.CONSUMER_BATCH_MAX, limits.CONSUMER_HOLD_S
        if not 1 <= self.batch_size <= size_max:
            raise ValueError(f"batch_size is a number from 1 to {size_max}, not {self.batch_size!r}")
        if self.start not in _STARTS:
            raise ValueError(f"start is 'TRIM_HORIZON' or 'LATEST', not {self.start!r}")
        if not 0 <= self.hold_s <= hold_s_max:
            raise ValueError(
                f"hold_s is a number of seconds from 0 to {hold_s_max} (7 days), not {self.hold_s!r}"
            )
        if not _LEASE_S_MIN <= self.lease_s <= limits.CONSUMER_LEASE_S_MAX:
            raise ValueError(f"lease_s is a number from {_LEASE_S_MIN} to {limits.CONSUMER_LEASE_S_MAX}")
        if self.poll_s <= 0:
            raise ValueError("poll_s is a number of seconds, more than 0")
        if self.retries is not None and self.retries < 0:
            raise ValueError("retries is a number from 0, or None to try for ever")
        if not self.backoff_s >= 0:
            raise ValueError("backoff_s is a number of seconds from 0 to backoff_s_max")


class ConsumerKeywords(TypedDict, total=False):
    """The options as keywords of `consume`, for type checkers."""

    batch_size: int
    start: Start
    events: Iterable[str] | None
    changed: Iterable[str] | None
    retries: int | None
    backoff_s: float
    backoff_s_max: float
    hold_s: float
    lease_s: float
    poll_s: float
    on_missed: Callable[[Missed], object] | None
    wait: Callable[[float], object] | None
    random: Callable[[], float] | None
    background: bool
