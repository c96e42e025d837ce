"""Activity by month (SC-59), counted from the stream, each record once however often it is delivered.

Activity is counted, and not the items that are left of it: an item that is deleted later still counts. The
month is that of the activity itself, in UTC, so that a consumer that is late, or begins anew, counts in the
same one.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Literal

from singletable import Add, Change, Once, Update
from singletable_systems.smart_cooking.model.entities import CookingHistory, MonthlyActivity

Doing = Literal["cookings", "ratings", "recipes", "posts", "comments", "reactions"]


def month_of(at: datetime) -> str:
    """Return the month that a moment is in: `2025-01`."""
    return f"{at.astimezone(UTC):%Y-%m}"


def counted(doing: Doing, at: datetime) -> Once:
    """Return the write that counts an activity in its month, once for a change; it creates a missing month."""
    month = MonthlyActivity(month=month_of(at))
    one_more: dict[str, Any] = {doing: Add(1)}
    return Once(Update(month, **one_more), missing=(month,))


def made(doing: Doing, change: Change[Any]) -> Iterator[Once]:
    """Count an item when it is made, in the month of its `created_at`; later changes of it are not counted."""
    if change.kind == "create":
        yield counted(doing, change.entity.created_at)


def cooked(change: Change[CookingHistory]) -> Iterator[Once]:
    """Count a cooking when it is completed, in the month in which that was."""
    was_completed = change.old is not None and change.old.status == "completed"
    if change.new is not None and change.new.status == "completed" and not was_completed:
        yield counted("cookings", change.new.cook_date)
