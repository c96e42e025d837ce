"""A server on one event loop: it listens, keeps its connections, and stops without losing an answer."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from singletable.clock import Clock, SystemClock
from singletable.errors.base import sentence_of
from singletable.limits import MIB
from singletable.server.access_log import AccessLog, LogStyle
from singletable.server.answering import Answering
from singletable.server.budget import Budget
from singletable.server.callers import Callers
from singletable.server.connection import Connection, Surroundings
from singletable.server.dispatch import Dispatcher
from singletable.server.listening import Address, open_sockets
from singletable.server.outbox import Outbox
from singletable.server.patience import Room, WaitLimits
from singletable.server.replies import ReplyWriter
from singletable.server.routing import Router

_log = logging.getLogger("singletable.server")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """Where a server listens, and its bounds."""

    host: str = "127.0.0.1"
    port: int = 8000
    region: str = "us-east-1"
    checks_signatures: bool = True  # that the headers are there and well-formed
    allow_hosts: Sequence[str] = ()  # names of the server, beside localhost and the host above; "*": any
    cors_origins: Sequence[
        str
    ] = ()  # whose web pages may call, as http://localhost:3000; "*": all, as at AWS
    log: LogStyle | None = None
    connections_max: int = 2048
    requests_max: int = 1024  # under way at once; a further one is refused (load shedding)
    arriving_bytes_max: int = 256 * MIB  # of large bodies, over all connections
    leaving_bytes_max: int = 256 * MIB  # of answers that clients do not take, over all connections
    threads: int = 4  # for requests that take long
    head_s_max: float = 10.0  # the head of a request must have arrived within this time
    request_s_max: float = 60.0  # and all of it within this
    idle_s_max: float = 300.0  # a connection on which nothing moves is closed
    stop_s_max: float = 10.0  # clients that do not take their answers are cut off when the server stops


class Server:
    """Serves one database over HTTP. Start it and stop it on the same loop."""

    def __init__(
        self, database: Answering, settings: ServerSettings | None = None, *, clock: Clock | None = None
    ) -> None:
        self._settings = settings or ServerSettings()
        self._database = database
        self._clock = clock or SystemClock()
        self._dispatcher: Dispatcher | None = None
        self._log: AccessLog | None = None
        self._connections: set[Connection] = set()
        self._listeners: list[asyncio.Server] = []
        self._empty = asyncio.Event()
        self._empty.set()
        self._patience = WaitLimits(
            head_s_max=self._settings.head_s_max,
            request_s_max=self._settings.request_s_max,
            idle_s_max=self._settings.idle_s_max,
        )
        self._room = Room(Connection.standing)
        self._sweep: asyncio.TimerHandle | None = None
        self._stopping = False
        self._told_trouble = False

    async def start(self) -> Address:
        """Listen; return the real address. Raises ListenError."""
        loop = asyncio.get_running_loop()
        settings = self._settings
        callers = Callers(
            allow_hosts=settings.allow_hosts, cors_origins=settings.cors_origins, listens_on=settings.host
        )
        sockets = open_sockets(settings.host, settings.port)
        port: int = sockets[0].getsockname()[1]
        self._dispatcher = Dispatcher(
            self._database, threads=settings.threads, requests_max=settings.requests_max
        )
        if settings.log is not None:
            self._log = AccessLog(sys.stderr.fileno(), settings.log, self._clock)
            self._log.start()
        surroundings = Surroundings(
            router=Router(
                region=settings.region,
                checks_signatures=settings.checks_signatures,
                callers=callers,
                has_trouble=self._has_trouble,
            ),
            dispatcher=self._dispatcher,
            replies=ReplyWriter(self._clock, os.urandom),
            outbox=Outbox(loop),
            log=self._log,
            arriving=Budget(settings.arriving_bytes_max),
            leaving=Budget(settings.leaving_bytes_max),
            opened=self._opened,
            closed=self._closed,
        )
        for opened in sockets:
            listener = await loop.create_server(
                lambda: Connection(surroundings, loop), sock=opened, backlog=1024
            )
            self._listeners.append(listener)
        self._close_slow()
        return Address(self._settings.host, port)

    async def stop(self) -> None:
        """Stop listening, answer every request that has arrived, and wait until all writes have ended."""
        self._stopping = True
        for listener in self._listeners:
            listener.close()
        if self._sweep is not None:
            self._sweep.cancel()
        for connection in tuple(self._connections):
            connection.finish()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._settings.stop_s_max):
                await self._empty.wait()
        for connection in tuple(self._connections):
            connection.cut()
        if self._dispatcher is not None:
            self._dispatcher.end()
            await asyncio.to_thread(self._dispatcher.close)
        if self._log is not None:
            await asyncio.to_thread(self._log.close)

    def _has_trouble(self) -> bool:
        """Tell whether the database cannot be written any more; the log says why, once."""
        trouble = self._database.trouble()
        if trouble is not None and not self._told_trouble:
            self._told_trouble = True
            _log.error("%s", sentence_of(trouble))
        return trouble is not None

    def _opened(self, connection: Connection) -> bool:
        # A connection may have been accepted just before the listener closed.
        has_room = not self._stopping and (
            len(self._connections) < self._settings.connections_max or self._make_room()
        )
        if has_room:
            self._connections.add(connection)
            self._empty.clear()
        return has_room

    def _closed(self, connection: Connection) -> None:
        self._connections.discard(connection)
        if not self._connections:
            self._empty.set()

    def _make_room(self) -> bool:
        """Close a connection for a new client, if there is one that may be closed."""
        now_s = asyncio.get_running_loop().time()
        while (chosen := self._room.choose(self._connections, now_s)) is not None:
            if chosen.give_way():
                self._connections.discard(chosen)
                return True
        return False

    def _close_slow(self) -> None:
        """Close connections on which nothing moves, or too little."""
        loop = asyncio.get_running_loop()
        now_s = loop.time()
        for connection in tuple(self._connections):
            standing = connection.standing()
            if standing is not None and self._patience.is_over(standing, now_s):
                connection.cut()
        self._room.forget()
        self._sweep = loop.call_later(self._patience.shortest_s / 4, self._close_slow)
