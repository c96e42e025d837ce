"""The shards and time buckets of a key class, for patterns that read all of them.

Merged([Batch.by_status.query(StatusPK(status=status, shard=n)) for n in shards(StatusPK)])
Walk([Post.by_month.query(MonthPK(month=m)).newest_first() for m in buckets(MonthPK, newest=now, oldest=start)])
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta

from singletable.design.key_parts import bucket_of
from singletable.design.keys import Key
from singletable.design.markers import BucketOf, ShardOf
from singletable.errors import DeclarationError


def shards(of: type[Key] | int) -> range:
    """Return the numbers of the shards of a key class."""
    if isinstance(of, int):
        return range(of)
    for part in of.parts:
        if isinstance(part.source, ShardOf):
            return range(part.source.count)
    raise DeclarationError(
        f"{of.__name__} ({of.template}) has no shards", hint="Annotated[int, ShardOf(4, by=...)]"
    )


def buckets(of: type[Key], *, newest: datetime, oldest: datetime) -> Iterator[str]:
    """Return the names of the buckets of a key class, newest first; "" where all times are one."""
    every = next((part.source.every for part in of.parts if isinstance(part.source, BucketOf)), None)
    if every is None:
        raise DeclarationError(
            f"{of.__name__} ({of.template}) has no time buckets",
            hint='Annotated[str, BucketOf("created_at", "month")]',
        )
    last = bucket_of(oldest, every)
    day = newest.astimezone(UTC).date()
    while True:
        name = bucket_of(day, every)
        if name < last:
            return
        yield name
        if name == last:
            return
        day = _before(day, every)


def _before(day: date, every: str) -> date:
    """Return a day of the bucket before."""
    match every:
        case "year":
            return date(day.year, 1, 1) - timedelta(days=1)
        case "month":
            return date(day.year, day.month, 1) - timedelta(days=1)
        case "week":
            return day - timedelta(days=7)
        case _:
            return day - timedelta(days=1)
