"""Where an operation runs: short reads at once on the event loop, writes in groups, long requests in a thread.

A read takes microseconds: a thread would cost more than the read. Its length is not known in advance, so the
database gives up a read that turns out to be long, and it runs again in a thread. Writes that arrive together
share one transaction, and none is answered before its COMMIT has returned.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

from singletable.limits import KIB
from singletable.metrics import PROMETHEUS_CONTENT_TYPE, to_prometheus
from singletable.operations import SERVED
from singletable.server.replies import AMZ_JSON, TOO_MANY_REQUESTS, Reply
from singletable.server.writers import WriteQueue, WriterOnLoop, WriterToDisk
from singletable.wire.answers import WireAnswer

if TYPE_CHECKING:
    from singletable.server.answering import Answering
    from singletable.server.routing import Deferred, RoutedCall

Done = Callable[[Reply], None]

IN_THREADS: Final = frozenset(row.name for row in SERVED.values() if row.runs == "thread")
# To read 16 MB of JSON takes long, and to refuse them takes seconds.
SHORT_BODY_BYTES_MAX: Final = 64 * KIB

_INTERNAL_ERROR: Final = (
    b'{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError",'
    b'"message":"The request could not be carried out; the log of the server says why"}'
)

_log = logging.getLogger("singletable.server")


class Dispatcher:
    """Answers calls, each in the place that suits it. Used on the event loop."""

    def __init__(self, database: Answering, *, threads: int, requests_max: int) -> None:
        # In memory all share one connection: a thread that reads rows must not wait for one that filters others.
        threads = 1 if database.is_in_memory else threads
        self._database = database
        self._loop = asyncio.get_running_loop()
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="singletable-long")
        self._writer: WriteQueue = (
            WriterOnLoop(database, self._loop)
            if database.is_in_memory
            else WriterToDisk(database, self._loop, self._threads)
        )
        self._metrics_thread = ThreadPoolExecutor(1, thread_name_prefix="singletable-metrics")
        self._metrics_wanted: list[Done] = []
        self._is_making_metrics = False
        self._requests_max = requests_max
        self._under_way = 0
        self._threads_max = threads
        self._in_threads = 0

    def start(self, call: RoutedCall, done: Done) -> Reply | None:
        """Answer a call at once and return the reply, or begin it: `done` gets its reply later, on the loop."""
        if len(call.body) > SHORT_BODY_BYTES_MAX or call.operation in IN_THREADS:
            return self._start_long(call, done)
        try:
            begun = self._database.begin(call.operation, call.body)
        except Exception as failure:
            return _reply(call, failure)
        if isinstance(begun, WireAnswer):
            return Reply(begun.status, begun.body, call.content_type)
        if begun is None:
            return self._start_long(call, done)
        if not self._has_room():
            return TOO_MANY_REQUESTS
        self._under_way += 1
        begun.tell = lambda answer: self._finish(call, answer, done)
        self._writer.add(begun)
        return None

    def start_deferred(self, asked: Deferred, done: Done) -> Reply | None:
        """Route and answer a long request in one step of a thread: an unpacked body never waits in memory."""
        return self.run(lambda: self._answer_deferred(asked), done)

    def start_metrics(self, done: Done) -> None:
        """Begin to answer with the metrics of the database: there is always room for that."""
        self._metrics_wanted.append(done)
        if not self._is_making_metrics:
            self._make_metrics()

    def _make_metrics(self) -> None:
        # One answer for all requests that came before it was begun: else a client that asks on every connection
        # would wait on all of them at once, and occupy the whole server.
        asking, self._metrics_wanted = self._metrics_wanted, []
        self._is_making_metrics = bool(asking)
        if asking:
            making = self._loop.run_in_executor(self._metrics_thread, self._metrics)
            making.add_done_callback(lambda made: self._made_metrics(made, asking))

    def _made_metrics(self, made: asyncio.Future[Reply], asking: list[Done]) -> None:
        if not made.cancelled():
            self._make_metrics()
            reply = _made(made)
            for done in asking:
                done(reply)

    def run(self, work: Callable[[], Reply], done: Done) -> Reply | None:
        """Make a reply in a thread; return one only if there is no room for that."""
        if not self._has_room():
            return TOO_MANY_REQUESTS
        self._under_way += 1
        self._in_threads += 1

        def finish(finished: asyncio.Future[Reply]) -> None:
            self._under_way -= 1
            self._in_threads -= 1
            if not finished.cancelled():
                done(_made(finished))

        self._loop.run_in_executor(self._threads, work).add_done_callback(finish)
        return None

    def has_idle_thread(self) -> bool:
        """Whether optional work may begin: a thread is free, and there is room."""
        return self._in_threads < self._threads_max and self._under_way < self._requests_max

    def count_refusal(self, reply: Reply) -> None:
        """Count an answer that no operation gave."""
        if reply.status == 400:
            self._database.refused(throttled=False)

    def end(self) -> None:
        """Start no more writes. Called on the event loop, before `close`."""
        self._writer.end()

    def close(self) -> None:
        """Wait for the running requests, and give up the queued ones. Not called on the event loop."""
        self._threads.shutdown(wait=True, cancel_futures=True)
        self._metrics_thread.shutdown(wait=True, cancel_futures=True)
        self._writer.close()

    def _answer_deferred(self, asked: Deferred) -> Reply:
        call = asked.finish()
        if isinstance(call, Reply):
            self.count_refusal(call)
            return call
        try:
            return _reply(call, self._database.answer(call.operation, call.body))
        except Exception as failure:
            return _reply(call, failure)

    def _has_room(self) -> bool:
        if self._under_way < self._requests_max:
            return True
        self._database.refused(throttled=True)
        return False

    def _metrics(self) -> Reply:
        text = to_prometheus(self._database.metrics())
        return Reply(200, text, PROMETHEUS_CONTENT_TYPE.encode())

    def _start_long(self, call: RoutedCall, done: Done) -> Reply | None:
        if not self._has_room():
            return TOO_MANY_REQUESTS
        self._under_way += 1
        self._in_threads += 1
        answering = self._loop.run_in_executor(
            self._threads, self._database.answer, call.operation, call.body
        )
        answering.add_done_callback(lambda answered: self._answered(call, answered, done))
        return None

    def _answered(self, call: RoutedCall, answered: asyncio.Future[WireAnswer], done: Done) -> None:
        self._in_threads -= 1
        if not answered.cancelled():
            self._finish(call, answered.exception() or answered.result(), done)

    def _finish(self, call: RoutedCall, answer: WireAnswer | BaseException, done: Done) -> None:
        self._under_way -= 1
        done(_reply(call, answer))


def _made(finished: asyncio.Future[Reply]) -> Reply:
    failure = finished.exception()
    return finished.result() if failure is None else _broken("a request", failure, AMZ_JSON)


def _reply(call: RoutedCall, answer: WireAnswer | BaseException) -> Reply:
    if isinstance(answer, BaseException):
        return _broken(call.operation, answer, call.content_type)
    return Reply(answer.status, answer.body, call.content_type)


def _broken(what: str, failure: BaseException, content_type: bytes) -> Reply:
    _log.error("%s failed: %s: %s", what, type(failure).__name__, failure)
    _log.debug("where it failed", exc_info=failure)
    return Reply(500, _INTERNAL_ERROR, content_type)
