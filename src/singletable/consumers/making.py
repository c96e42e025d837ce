"""Making a consumer from what its user asks for: the defaults, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, Literal

from singletable import limits
from singletable.consumers.consumer import Consumer
from singletable.consumers.filters import make_filter
from singletable.consumers.retrying import RetryPolicy
from singletable.consumers.runner import Settings
from singletable.consumers.states import Missed
from singletable.wire.parameters import Session, table_name

Start = Literal["TRIM_HORIZON", "LATEST"]

_STARTS: Final = ("TRIM_HORIZON", "LATEST")
_LEASE_S_MIN: Final = 0.1


def make_consumer(
    session: Session,
    database: Any,
    table: str,
    handler: Callable[..., Any],
    name: str,
    *,
    batch_size: int,
    start: Start,
    events: Iterable[str] | None,
    changed: Iterable[str] | None,
    retries: int | None,
    backoff_s: float,
    backoff_s_max: float,
    hold_s: float,
    lease_s: float,
    poll_s: float,
    on_missed: Callable[[Missed], object] | None,
    wait: Callable[[float], object] | None,
    background: bool,
) -> Consumer:
    """Check what is asked for, and make the consumer."""
    _check_name(name)
    if not 1 <= batch_size <= limits.CONSUMER_BATCH_MAX:
        raise ValueError(f"batch_size is a number from 1 to {limits.CONSUMER_BATCH_MAX}, not {batch_size!r}")
    if start not in _STARTS:
        raise ValueError(f"start is 'TRIM_HORIZON' or 'LATEST', not {start!r}")
    if not 0 <= hold_s <= limits.CONSUMER_HOLD_S:
        raise ValueError(
            f"hold_s is a number of seconds from 0 to {limits.CONSUMER_HOLD_S} (7 days), not {hold_s!r}"
        )
    if not _LEASE_S_MIN <= lease_s <= limits.CONSUMER_LEASE_S_MAX:
        raise ValueError(f"lease_s is a number from {_LEASE_S_MIN} to {limits.CONSUMER_LEASE_S_MAX}")
    if poll_s <= 0:
        raise ValueError("poll_s is a number of seconds, more than 0")
    settings = Settings(
        name=name,
        batch_size=batch_size,
        filter=make_filter(events, changed),
        policy=RetryPolicy(retries=retries, backoff_s=backoff_s, backoff_s_max=max(backoff_s, backoff_s_max)),
        lease_us=round(lease_s * 1_000_000),
        on_missed=on_missed,
    )
    return Consumer(
        session,
        database,
        table_name(table),
        handler,
        settings,
        at_end=start == "LATEST",
        hold_us=round(hold_s * 1_000_000),
        poll_s=poll_s,
        wait=wait,
        in_background=background,
    )


def _check_name(name: str) -> None:
    if not 1 <= len(name) <= limits.CONSUMER_NAME_LENGTH_MAX:
        raise ValueError(f"a consumer has a name of 1 to {limits.CONSUMER_NAME_LENGTH_MAX} characters")
