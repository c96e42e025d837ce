"""One client connection: requests in, answers out in the same order, and its end."""

from __future__ import annotations

import asyncio
import socket
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Final, cast

from singletable.limits import KIB, MIB
from singletable.server.encoding import is_long_to_encode
from singletable.server.patience import Standing
from singletable.server.reader import Refusal, Request, RequestReader
from singletable.server.replies import CONTINUE, Reply, ReplyWriter, error_reply
from singletable.server.routing import Deferred, MetricsCall, RoutedCall, Router

if TYPE_CHECKING:
    from collections.abc import Callable

    from singletable.server.access_log import AccessLog
    from singletable.server.budget import Budget
    from singletable.server.dispatch import Dispatcher
    from singletable.server.outbox import Outbox

PIPELINED_REQUESTS_MAX: Final = 32
PIPELINED_BYTES_MAX: Final = 256 * KIB
REQUESTS_PER_TURN: Final = 16  # then other connections get their turn
BYTES_PER_TURN: Final = 64 * KIB  # of answers: then it is seen whether the client takes them
LINGER_S: Final = 5.0  # how long a refused client may go on sending before the connection is cut
LINGER_BYTES_MAX: Final = 64 * MIB

NO_ROOM: Final = error_reply(503, "ServiceUnavailable", "There is no room for another connection")


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """The state that the connections of one server share."""

    router: Router
    dispatcher: Dispatcher
    replies: ReplyWriter
    outbox: Outbox
    log: AccessLog | None
    arriving: Budget  # of large bodies
    leaving: Budget  # of answers that clients do not take
    opened: Callable[[Connection], bool]  # False: there is no room for this one
    closed: Callable[[Connection], None]


class Connection(asyncio.Protocol):
    """Answers the requests of one client, one after the other.

    A pipelined request is begun when the one before it has been answered, so a client that sends a write and
    a read in one go reads its own write.
    """

    __slots__ = (
        "_active_s",
        "_began_s",
        "_deaf_bytes",
        "_deaf_s",
        "_discarded_bytes",
        "_ending",
        "_linger",
        "_loop",
        "_midway_s",
        "_pending",
        "_reader",
        "_reading_paused",
        "_surroundings",
        "_transport",
        "_turn_bytes",
        "_turn_scheduled",
        "_was_answered",
        "_writing_paused",
    )

    _transport: asyncio.Transport

    def __init__(self, surroundings: Surroundings, loop: asyncio.AbstractEventLoop) -> None:
        self._surroundings = surroundings
        self._loop = loop
        self._reader = RequestReader(surroundings.arriving, self.cut)
        self._pending: Request | None = None  # that is under way
        self._began_s = 0.0  # when that was begun
        self._ending = False  # close when everything that arrived has been answered
        self._linger: asyncio.TimerHandle | None = None
        self._discarded_bytes = 0
        self._reading_paused = False
        self._writing_paused = False
        self._turn_bytes = 0
        self._turn_scheduled = False
        self._active_s = loop.time()
        self._midway_s: float | None = None  # since when a request has been arriving
        self._was_answered = False
        self._deaf_s = 0.0  # since when answers are not taken, if writing is paused
        self._deaf_bytes = 0  # that were to be taken then

    def standing(self) -> Standing | None:
        """Return what this client is doing; None while the server works on one of its requests."""
        if self._pending is not None:
            return None
        transport, was_answered = self._transport, self._was_answered
        if self._writing_paused:
            taken_bytes = self._deaf_bytes - transport.get_write_buffer_size()
            return Standing("leaving", self._deaf_s, taken_bytes, was_answered)
        if self._reader.ready and not transport.is_closing():
            return None  # it has had its turn, and others have theirs
        if self._midway_s is not None:
            return Standing("arriving", self._midway_s, self._reader.body_bytes, was_answered)
        if transport.get_write_buffer_size():
            return Standing("leaving", self._active_s, 0, was_answered)
        return Standing("resting", self._active_s, was_answered=was_answered)

    def finish(self) -> None:
        """Answer the requests that have arrived, read no more, then close."""
        self._ending = True
        self._reader.finished = True
        if self._linger is not None:
            self._close()
        self._answer_ready()

    def give_way(self) -> bool:
        """Close at once for another client; False: a request has arrived that was not read yet.

        So the only request that can be lost is one that is on its way while the connection is closed. Any server
        with an idle timeout loses those. Clients send such a request again, over a new connection.
        """
        self._surroundings.outbox.flush()
        standing = self.standing()
        if standing is None or (standing.doing == "resting" and _has_unread_bytes(self._transport)):
            return False
        self.cut()
        return True

    def cut(self) -> None:
        """Close at once."""
        self._transport.abort()

    # --- callbacks of the transport ----------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        if not self._surroundings.opened(self):
            self._reader.finished = True
            self._send(None, NO_ROOM, keep_alive=False)
            self._close()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._linger is not None:
            self._linger.cancel()
        self._reader.close()
        self._surroundings.leaving.release(self.cut)
        self._surroundings.closed(self)

    def data_received(self, data: bytes) -> None:
        reader = self._reader
        if not reader.finished:
            begun_before = reader.begun
            reader.feed(data)
            # Only a request is a sign of life: blank lines in front of one may come for ever.
            if reader.begun != begun_before:
                self._active_s = self._loop.time()
                self._midway_s = self._active_s if reader.is_midway else None
            elif not reader.is_midway:
                self._midway_s = None
            self._answer_ready()
            return
        self._discarded_bytes += len(data)
        if self._discarded_bytes > LINGER_BYTES_MAX:
            self.cut()

    def eof_received(self) -> bool:
        # A client may close its sending side and still wait for answers.
        self._ending = True
        self._reader.finished = True
        self._surroundings.outbox.flush()  # the transport may be closed when this returns
        return self._linger is None and (self._pending is not None or bool(self._reader.ready))

    def pause_writing(self) -> None:
        self._writing_paused = True
        self._deaf_s = self._loop.time()
        self._deaf_bytes = self._transport.get_write_buffer_size()
        if not self._surroundings.leaving.take(self._deaf_bytes, self.cut):
            self.cut()

    def resume_writing(self) -> None:
        self._writing_paused = False
        self._surroundings.leaving.release(self.cut)
        self._active_s = self._loop.time()
        self._answer_ready()

    # --- answering, in order -------------------------------------------------------------------

    def _answer_ready(self) -> None:
        turn = 0
        self._turn_bytes = 0
        ready = self._reader.ready
        while ready and self._pending is None and not self._writing_paused:
            if self._transport.is_closing():
                return
            if turn == REQUESTS_PER_TURN or self._turn_bytes > BYTES_PER_TURN:
                self._schedule_turn()
                break
            turn += 1
            self._begin(self._reader.take())
        self._hold_back_or_go_on()
        if not ready and self._pending is None and self._linger is None:
            self._at_rest()

    def _begin(self, arrived: Request | Refusal) -> None:
        if isinstance(arrived, Refusal):
            self._surroundings.dispatcher.count_refusal(arrived.reply)
            self._end_with(arrived.reply)
            return
        self._pending = arrived
        if self._surroundings.log is not None:
            self._began_s = perf_counter()
        reply = self._ask(self._surroundings.router.route(arrived))
        if reply is not None:
            self._answer(reply)

    def _ask(self, asked: RoutedCall | Deferred | MetricsCall | Reply) -> Reply | None:
        """Return the reply, if there is one at once."""
        dispatcher = self._surroundings.dispatcher
        if isinstance(asked, RoutedCall):
            return dispatcher.start(asked, self._done)
        if isinstance(asked, Reply):
            dispatcher.count_refusal(asked)
            return asked
        if isinstance(asked, MetricsCall):
            dispatcher.start_metrics(self._done)
            return None
        return dispatcher.start_deferred(asked, self._done)

    def _done(self, reply: Reply) -> None:
        """Answer the request that was under way, and go on with the next."""
        self._active_s = self._loop.time()
        self._answer(reply)
        self._answer_ready()

    def _answer(self, reply: Reply) -> None:
        request = self._pending
        assert request is not None
        router, dispatcher = self._surroundings.router, self._surroundings.dispatcher
        if not router.changes(request, reply):
            self._finish(reply, reply)
        elif not is_long_to_encode(reply):
            self._finish(router.dress(request, reply), reply)
        elif not dispatcher.has_idle_thread():
            # Answers that wait to be compressed would take more room than sending them as they are.
            self._finish(router.dress(request, reply, encodes=False), reply)
        else:
            dispatcher.run(
                lambda: router.dress(request, reply), lambda dressed: self._dressed(dressed, reply)
            )

    def _dressed(self, dressed: Reply, reply: Reply) -> None:
        self._finish(dressed, reply)
        self._answer_ready()

    def _finish(self, dressed: Reply, reply: Reply) -> None:
        request, self._pending = self._pending, None
        assert request is not None
        if request.held_bytes:
            self._surroundings.arriving.give(request.held_bytes)
        if self._transport.is_closing():
            return
        keep_alive = request.keep_alive and not (self._ending and not self._reader.ready)
        self._ending = self._ending or not request.keep_alive
        self._was_answered = True
        self._send(request, dressed, keep_alive=keep_alive, plain=reply)

    def _send(
        self, request: Request | None, reply: Reply, *, keep_alive: bool, plain: Reply | None = None
    ) -> None:
        surroundings = self._surroundings
        request_id = surroundings.replies.new_id()
        head = surroundings.replies.head(reply, request_id, keep_alive=keep_alive)
        body = b"" if request is not None and request.method == b"HEAD" else reply.body
        self._turn_bytes += len(body)
        surroundings.outbox.send(self._transport, head, body)
        if surroundings.log is not None:
            surroundings.log.record(
                request,
                plain or reply,
                request_id=request_id.decode(),
                remote=_remote(self._transport),
                bytes_out=len(body),
                duration_s=perf_counter() - self._began_s if request is not None else 0.0,
            )

    def _at_rest(self) -> None:
        if self._ending:
            self._close()
        elif self._reader.awaits_continue:
            # Only now: behind the answers to the requests that came before it.
            self._reader.awaits_continue = False
            self._restart_arriving()
            self._surroundings.outbox.send(self._transport, CONTINUE, b"")

    def _close(self) -> None:
        self._surroundings.outbox.flush()
        self._transport.close()

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
                self._restart_arriving()
                self._transport.resume_reading()

    def _restart_arriving(self) -> None:
        """Give a request that waited for us its whole time again."""
        if self._midway_s is not None:
            self._midway_s = self._loop.time()

    def _end_with(self, reply: Reply) -> None:
        # Closing while the client is still sending would reset the connection, and the client would see a
        # broken pipe instead of the answer. So: answer, close our side, and drop the rest.
        self._send(None, reply, keep_alive=False)
        if self._ending:
            return
        self._ending = True
        self._linger = self._loop.call_later(LINGER_S, self.cut)
        self._surroundings.outbox.flush()
        self._transport.write_eof()


def _remote(transport: asyncio.Transport) -> str:
    address = transport.get_extra_info("peername")
    return f"{address[0]}:{address[1]}" if address else "-"


def _has_unread_bytes(transport: asyncio.Transport) -> bool:
    """Whether the system holds something for us that the event loop has not come to yet."""
    known = transport.get_extra_info("socket")
    try:
        # The sockets of event loops do not let themselves be read: this is another handle of the same one.
        with socket.fromfd(known.fileno(), known.family, known.type) as same:
            same.settimeout(0)
            return bool(same.recv(1, socket.MSG_PEEK))
    except OSError:  # there is nothing, or it is broken
        return False
