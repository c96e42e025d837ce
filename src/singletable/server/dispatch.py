"""Where an operation runs: short reads at once on the event loop, all else in a thread.

A durable write waits for the disk. In a thread it waits alone, and writes that wait together share one
commit below. A short read takes microseconds: a thread would cost more than the read.
"""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final, Protocol

from singletable.limits import KIB
from singletable.server.replies import Reply

if TYPE_CHECKING:
    from singletable.server.routing import Call

# Short enough to be answered on the event loop; a page or a batch may take long, and all others would wait.
SHORT_READS: Final = frozenset(("GetItem", "DescribeTable", "ListTables"))
# A key has at most 3 KB and an expression 4 KB. What is longer is wrong, and 16 MB take seconds to be refused.
SHORT_BODY_BYTES_MAX: Final = 64 * KIB

_INTERNAL_ERROR: Final = (
    b'{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError",'
    b'"message":"The request could not be carried out; the log of the server says why"}'
)

_log = logging.getLogger("singletable.server")


class Answering(Protocol):
    """What the server needs of a database."""

    def answer(self, operation: str, body: bytes) -> tuple[int, bytes]:
        """Carry out one operation; return the HTTP status and the JSON of the answer or error."""
        ...


class Dispatcher:
    """Answers calls, each in the place that suits it."""

    __slots__ = ("_database", "_threads")

    def __init__(self, database: Answering, *, write_threads: int) -> None:
        self._database = database
        self._threads = ThreadPoolExecutor(write_threads, thread_name_prefix="singletable-write")

    def start(self, call: Call) -> Reply | asyncio.Future[Reply]:
        """Answer a short read; begin anything else and return its future, which never fails."""
        if call.operation in SHORT_READS and len(call.body) <= SHORT_BODY_BYTES_MAX:
            return self._answer(call)
        return asyncio.get_running_loop().run_in_executor(self._threads, self._answer, call)

    def close(self) -> None:
        """Wait until everything that was begun has ended."""
        self._threads.shutdown(wait=True)

    def _answer(self, call: Call) -> Reply:
        try:
            status, body = self._database.answer(call.operation, call.body)
        except Exception as failure:
            _log.error("%s failed: %s: %s", call.operation, type(failure).__name__, failure)
            _log.debug("where it failed", exc_info=failure)
            return Reply(500, _INTERNAL_ERROR, call.content_type)
        return Reply(status, body, call.content_type)
