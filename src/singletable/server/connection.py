"""One client connection: requests in, answers out in the same order, and its end."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

from singletable.limits import MIB
from singletable.server.reader import Refusal, Request, RequestReader
from singletable.server.replies import CONTINUE, Reply, ReplyWriter, error_reply
from singletable.server.routing import Call, route

if TYPE_CHECKING:
    from collections.abc import Callable

    from singletable.server.dispatch import Dispatcher

PIPELINED_REQUESTS_MAX: Final = 32
PIPELINED_BYTES_MAX: Final = 2 * MIB
REQUESTS_PER_TURN: Final = 16  # then other connections get their turn
LINGER_S: Final = 5.0  # how long a refused client may go on sending before the connection is cut
LINGER_BYTES_MAX: Final = 64 * MIB

NO_ROOM: Final = error_reply(503, "ServiceUnavailable", "There is no room for another connection")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the connections of one server share."""

    dispatcher: Dispatcher
    replies: ReplyWriter
    opened: Callable[[Connection], bool]  # False: there is no room for this one
    closed: Callable[[Connection], None]


class Connection(asyncio.Protocol):
    """Answers the requests of one client, one after the other.

    A pipelined request is begun when the one before it has been answered, so a client that sends a write and
    a read in one go reads its own write.
    """

    __slots__ = (
        "_discarded_bytes",
        "_ending",
        "_linger",
        "_loop",
        "_pending",
        "_reader",
        "_reading_paused",
        "_surroundings",
        "_transport",
        "_turn_scheduled",
        "_writing_paused",
        "active_s",
    )

    _transport: asyncio.Transport

    def __init__(self, surroundings: Surroundings, loop: asyncio.AbstractEventLoop) -> None:
        self._surroundings = surroundings
        self._loop = loop
        self._reader = RequestReader()
        self._pending: asyncio.Future[Reply] | None = None  # a write that is under way
        self._ending = False  # close when everything that arrived has been answered
        self._linger: asyncio.TimerHandle | None = None
        self._discarded_bytes = 0
        self._reading_paused = False
        self._writing_paused = False
        self._turn_scheduled = False
        self.active_s = loop.time()

    @property
    def is_waiting_for_disk(self) -> bool:
        """Whether a write of this client is under way."""
        return self._pending is not None

    def finish(self) -> None:
        """Answer what has arrived, take nothing more, then close."""
        self._ending = True
        self._reader.finished = True
        if self._linger is not None:
            self._transport.close()
        self._answer_ready()

    def cut(self) -> None:
        """Close at once."""
        self._transport.abort()

    # --- what the transport calls ------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        if not self._surroundings.opened(self):
            self._reader.finished = True
            self._write(NO_ROOM, keep_alive=False)
            self._transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._linger is not None:
            self._linger.cancel()
        self._reader.finished = True
        self._reader.ready.clear()
        self._surroundings.closed(self)

    def data_received(self, data: bytes) -> None:
        self.active_s = self._loop.time()
        if not self._reader.finished:
            self._reader.feed(data)
            self._answer_ready()
            return
        self._discarded_bytes += len(data)
        if self._discarded_bytes > LINGER_BYTES_MAX:
            self.cut()

    def eof_received(self) -> bool:
        # A client may close its sending side and still wait for answers.
        self._ending = True
        self._reader.finished = True
        return self._linger is None and (self._pending is not None or bool(self._reader.ready))

    def pause_writing(self) -> None:
        self._writing_paused = True

    def resume_writing(self) -> None:
        self._writing_paused = False
        self.active_s = self._loop.time()
        self._answer_ready()

    # --- answering, in order -------------------------------------------------------------------

    def _answer_ready(self) -> None:
        turn = 0
        ready = self._reader.ready
        while ready and self._pending is None and not self._writing_paused:
            if self._transport.is_closing():
                return
            if turn == REQUESTS_PER_TURN:
                self._schedule_turn()
                break
            turn += 1
            self._begin(self._reader.take())
        self._hold_back_or_go_on()
        if not ready and self._pending is None and self._linger is None:
            self._at_rest()

    def _begin(self, arrived: Request | Refusal) -> None:
        if isinstance(arrived, Refusal):
            self._end_with(arrived.reply)
            return
        asked = route(arrived)
        outcome = self._surroundings.dispatcher.start(asked) if isinstance(asked, Call) else asked
        if isinstance(outcome, Reply):
            self._reply(arrived, outcome)
            return
        self._pending = outcome
        outcome.add_done_callback(lambda done: self._written(arrived, done))

    def _written(self, request: Request, done: asyncio.Future[Reply]) -> None:
        self._pending = None
        self.active_s = self._loop.time()
        if self._transport.is_closing():
            return
        self._reply(request, done.result())
        self._answer_ready()

    def _reply(self, request: Request, reply: Reply) -> None:
        keep_alive = request.keep_alive and not (self._ending and not self._reader.ready)
        self._ending = self._ending or not request.keep_alive
        self._write(reply, keep_alive=keep_alive, head_only=request.method == b"HEAD")

    def _write(self, reply: Reply, *, keep_alive: bool, head_only: bool = False) -> None:
        self._transport.write(
            self._surroundings.replies.render(reply, keep_alive=keep_alive, head_only=head_only)
        )

    def _at_rest(self) -> None:
        if self._ending:
            self._transport.close()
        elif self._reader.awaits_continue:
            # Only now: behind the answers to the requests that came before it.
            self._reader.awaits_continue = False
            self._transport.write(CONTINUE)

    def _schedule_turn(self) -> None:
        if not self._turn_scheduled:
            self._turn_scheduled = True
            self._loop.call_soon(self._take_turn)

    def _take_turn(self) -> None:
        self._turn_scheduled = False
        if not self._transport.is_closing():
            self._answer_ready()

    def _hold_back_or_go_on(self) -> None:
        # A client that sends faster than it is answered waits in its own socket, not in our memory.
        waiting = self._reader
        full = len(waiting.ready) >= PIPELINED_REQUESTS_MAX or waiting.ready_bytes >= PIPELINED_BYTES_MAX
        if full != self._reading_paused and not self._transport.is_closing():
            self._reading_paused = full
            if full:
                self._transport.pause_reading()
            else:
                self._transport.resume_reading()

    def _end_with(self, reply: Reply) -> None:
        # Closing while the client is still sending would reset the connection, and the client would see a
        # broken pipe instead of the answer. So: answer, close our side, and drop what still comes.
        self._write(reply, keep_alive=False)
        if self._ending:
            return
        self._ending = True
        self._linger = self._loop.call_later(LINGER_S, self.cut)
        self._transport.write_eof()
