"""The consumer of the table's changes: one dispatcher of all handlers, here or on AWS Lambda.

    with PerfectIt.open("perfectit.db") as db:
        db.search_index = Fts5Index("perfectit-search.db")
        with Workers(workers(db)), db.consume():
            ...

A stream has two readers at most (PI-24), so search, analytics and notifications are handlers of one. A change that
fails is tried again a few times and then put aside, and those behind it go on: `db.consume()` keeps it as a dead
letter, AWS sends word of it to where `event_source` says. A search index that is out of reach is no such
failure: it gets the cards that it has missed later, by the next change or by `workers`. On Lambda, which has no
memory of them, it is a failure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from singletable.systems import Worker
from singletable_systems.perfectit.reactions.fts5 import Fts5Index
from singletable_systems.perfectit.reactions.handlers import PerfectIt
from singletable_systems.perfectit.reactions.search import SearchIndex
from singletable_systems.perfectit.reactions.updates import Updates
from singletable_systems.perfectit.services.search_index import IndexKeeper

RETRIES: Final = 5
BATCH_RECORDS: Final = 100
_CATCH_UP_EVERY_S: Final = 5.0


def stream_function(
    target: Any = None,
    *,
    search_index: Callable[[], SearchIndex] | None = None,
    updates: Callable[[], Updates] | None = None,
    **options: Any,
) -> Callable[[Mapping[str, Any], Any], Mapping[str, Any]]:
    """Return the function that AWS Lambda runs over the table's stream. It makes what it needs on its first run.

    Without a search index, cards are found by the words of the table; without updates, nobody is told at once.
    """

    def prepare_all(db: PerfectIt) -> None:
        prepare(db)
        if search_index is not None:
            db.search_index = search_index()
        if updates is not None:
            db.updates = updates()

    return PerfectIt.lambda_handler(target, prepare=prepare_all, **options)


def prepare(db: PerfectIt) -> None:
    """Give an open design what its handlers use on Lambda: no backlog, which a function would forget."""
    db.index_backlog = None


def event_source(stream_arn: str, *, function: str, failures_arn: str) -> dict[str, Any]:
    """Return how the stream is given to the function: the arguments of CreateEventSourceMapping.

    Word of a change that cannot be handled goes to a queue or topic, and those behind it go on.
    """
    return {
        "EventSourceArn": stream_arn,
        "FunctionName": function,
        "StartingPosition": "TRIM_HORIZON",
        "BatchSize": BATCH_RECORDS,
        "MaximumRetryAttempts": RETRIES,
        "BisectBatchOnFunctionError": True,
        "FunctionResponseTypes": ["ReportBatchItemFailures"],
        "DestinationConfig": {"OnFailure": {"Destination": failures_arn}},
    }


def workers(db: PerfectIt) -> tuple[Worker, ...]:
    """Return what runs beside an open PerfectIt, and keeps its search index: without one, one in memory."""
    db.search_index = db.search_index or Fts5Index()
    return (Worker("perfectit-search-index", _CATCH_UP_EVERY_S, IndexKeeper(db).step),)
