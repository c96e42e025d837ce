"""A server on one event loop: it listens, keeps its connections, and stops without losing an answer."""

from __future__ import annotations

import asyncio
import contextlib
import os
from dataclasses import dataclass

from singletable.clock import Clock, SystemClock
from singletable.server.connection import Connection, Surroundings
from singletable.server.dispatch import Answering, Dispatcher
from singletable.server.listening import Address, open_sockets
from singletable.server.replies import ReplyWriter


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """Where a server listens, and its bounds."""

    host: str = "127.0.0.1"
    port: int = 8000
    connections_max: int = 512
    write_threads: int = 16
    idle_s_max: float = 300.0  # a connection on which nothing moves is closed
    stop_s_max: float = 10.0  # clients that do not take their answers are cut off when the server stops


class Server:
    """Serves one database over HTTP. Start it and stop it on the same loop."""

    def __init__(
        self, database: Answering, settings: ServerSettings | None = None, *, clock: Clock | None = None
    ) -> None:
        self._settings = settings or ServerSettings()
        self._dispatcher = Dispatcher(database, write_threads=self._settings.write_threads)
        self._surroundings = Surroundings(
            dispatcher=self._dispatcher,
            replies=ReplyWriter(clock or SystemClock(), os.urandom),
            opened=self._opened,
            closed=self._closed,
        )
        self._connections: set[Connection] = set()
        self._listeners: list[asyncio.Server] = []
        self._empty = asyncio.Event()
        self._empty.set()
        self._sweep: asyncio.TimerHandle | None = None
        self._stopping = False

    async def start(self) -> Address:
        """Listen; return the real address. Raises ListenError."""
        loop = asyncio.get_running_loop()
        sockets = open_sockets(self._settings.host, self._settings.port)
        port: int = sockets[0].getsockname()[1]
        for opened in sockets:
            listener = await loop.create_server(
                lambda: Connection(self._surroundings, loop), sock=opened, backlog=1024
            )
            self._listeners.append(listener)
        self._close_idle()
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
        await asyncio.to_thread(self._dispatcher.close)

    def _opened(self, connection: Connection) -> bool:
        # A connection may have been accepted just before the listener closed.
        has_room = len(self._connections) < self._settings.connections_max and not self._stopping
        if has_room:
            self._connections.add(connection)
            self._empty.clear()
        return has_room

    def _closed(self, connection: Connection) -> None:
        self._connections.discard(connection)
        if not self._connections:
            self._empty.set()

    def _close_idle(self) -> None:
        loop = asyncio.get_running_loop()
        silent_since_s = loop.time() - self._settings.idle_s_max
        for connection in tuple(self._connections):
            if connection.active_s < silent_since_s and not connection.is_waiting_for_disk:
                connection.cut()
        self._sweep = loop.call_later(self._settings.idle_s_max / 4, self._close_idle)
