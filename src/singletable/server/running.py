"""Ways to run a server: in the foreground until a signal, or in a thread beside other code."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import signal
import sys
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING, Final

from singletable.server.server import Server, ServerSettings

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from singletable.server.answering import Answering
    from singletable.server.listening import Address

_OTHER_FILES: Final = 128
# How long a thread that computes may keep the event loop waiting; Python's own 5 ms are felt by every request.
_SWITCH_INTERVAL_S: Final = 0.001


def serve_until_signal(
    database: Answering, settings: ServerSettings, *, on_ready: Callable[[Address], None]
) -> signal.Signals:
    """Serve until SIGTERM or SIGINT; return which, once every write that was begun has ended.

    The database stays open: it belongs to the caller. The process is taken to be there for this alone.
    """
    _allow_open_files(settings.connections_max + _OTHER_FILES)
    sys.setswitchinterval(_SWITCH_INTERVAL_S)
    gc.freeze()  # what has been imported stays: no collection has to look at it
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        return runner.run(_serve(database, settings, on_ready))


async def _serve(
    database: Answering, settings: ServerSettings, on_ready: Callable[[Address], None]
) -> signal.Signals:
    loop = asyncio.get_running_loop()
    stopped: asyncio.Future[signal.Signals] = loop.create_future()

    def stop(received: signal.Signals) -> None:
        if not stopped.done():
            stopped.set_result(received)

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop, number)
    server = Server(database, settings)
    address = await server.start()
    try:
        on_ready(address)
        return await stopped
    finally:
        await server.stop()


def _allow_open_files(wanted: int) -> None:
    """Let the process have a file for each connection, as far as it may decide that: often only 1,024 are set."""
    try:
        import resource
    except ImportError:  # not on Windows, where no such limit is
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


class BackgroundServer:
    """A server in a thread of its own, for as long as a `with` block lasts.

    >>> with BackgroundServer(database) as address:  # doctest: +SKIP
    ...     boto3.client("dynamodb", endpoint_url=address.url)
    """

    def __init__(self, database: Answering, settings: ServerSettings | None = None) -> None:
        self._database = database
        self._settings = settings or ServerSettings(port=0)
        self._ready: Future[Address] = Future()
        self._stop: Callable[[], object] = lambda: None
        self._thread = threading.Thread(target=self._run, name="singletable-server", daemon=True)

    def start(self) -> Address:
        """Begin to serve; return the real address. Raises ListenError."""
        self._thread.start()
        return self._ready.result()

    def stop(self) -> None:
        """Answer what has arrived, then end. A second stop does nothing."""
        stop, self._stop = self._stop, lambda: None
        stop()
        self._thread.join()

    def __enter__(self) -> Address:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _run(self) -> None:
        try:
            with asyncio.Runner(loop_factory=_loop_factory()) as runner:
                runner.run(self._serve())
        except BaseException as failure:
            if self._ready.done():
                raise
            self._ready.set_exception(failure)

    async def _serve(self) -> None:
        loop = asyncio.get_running_loop()
        stopped = asyncio.Event()
        self._stop = lambda: loop.call_soon_threadsafe(stopped.set)
        server = Server(self._database, self._settings)
        address = await server.start()
        self._ready.set_result(address)
        await stopped.wait()
        await server.stop()


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop
