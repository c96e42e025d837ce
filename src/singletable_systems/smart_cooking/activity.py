"""Activity by month (SC-59): how much was done, counted as the stream tells it, however often it does.

Doings are counted, not what is there: what was deleted later was done all the same. The month is that of the doing
itself, in UTC, so that a consumer that is late, or begins anew, counts in the same one.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Literal

from singletable import Add, Change, Once, Update
from singletable_systems.smart_cooking.entities import CookingHistory, MonthlyActivity

Doing = Literal["cookings", "ratings", "recipes", "posts", "comments", "reactions"]


def month_of(at: datetime) -> str:
    """Return the month that a moment is in: `2025-01`."""
    return f"{at.astimezone(UTC):%Y-%m}"


def counted(doing: Doing, at: datetime) -> Once:
    """Return what counts one doing in its month, once for a change; it makes the month's item if there is none."""
    month = MonthlyActivity(month=month_of(at))
    one_more: dict[str, Any] = {doing: Add(1)}
    return Once(Update(month, **one_more), missing=(month,))


def made(doing: Doing, change: Change[Any]) -> Iterator[Once]:
    """Count an item when it is made, in the month of its `created_at`; what becomes of it later counts no more."""
    if change.kind == "create":
        yield counted(doing, change.entity.created_at)


def cooked(change: Change[CookingHistory]) -> Iterator[Once]:
    """Count a cooking when it is completed, in the month in which that was."""
    was_completed = change.old is not None and change.old.status == "completed"
    if change.new is not None and change.new.status == "completed" and not was_completed:
        yield counted("cookings", change.new.cook_date)
