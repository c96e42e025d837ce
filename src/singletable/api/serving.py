"""Running an application with uvicorn: on sockets that are bound already, in one process or several."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable
from typing import Any

import uvicorn
from uvicorn.supervisors import Multiprocess


def serve(
    application: Any, sockets: list[socket.socket], *, workers: int, on_ready: Callable[[], None]
) -> signal.Signals | None:
    """Serve until a signal, and return it. Several workers need "module:function", which makes the application."""
    config = uvicorn.Config(
        application,
        factory=isinstance(application, str),
        workers=workers,
        access_log=False,
        log_level="warning",
        server_header=False,
        proxy_headers=False,  # a caller is who has connected, not who a header says
        timeout_graceful_shutdown=5,
        lifespan="off",
    )
    if workers > 1:
        # The sockets listen, so nobody who connects from now on is lost.
        on_ready()
        several = _Workers(config, sockets=sockets)
        several.run()
        return several.ended_by
    server = _Server(config, on_ready)
    server.run(sockets=sockets)
    return server.ended_by


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_ready = on_ready
        self.ended_by: signal.Signals | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self.started:
            self._on_ready()

    def handle_exit(self, sig: int, frame: Any) -> None:
        super().handle_exit(sig, frame)
        self.ended_by = signal.Signals(sig)
        # It would be raised again when all is over; the caller knows it by now.
        self._captured_signals.clear()


class _Workers(Multiprocess):
    ended_by: signal.Signals = signal.SIGTERM

    def handle_int(self) -> None:
        super().handle_int()
        self.ended_by = signal.SIGINT
