"""Ways to run a server: in the foreground until a signal, or in a thread beside other code."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import gc
import signal
import sys
import threading
from concurrent.futures import Future
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from singletable.limits import MIB
from singletable.server.server import Server, ServerSettings

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from singletable.server.answering import Answering
    from singletable.server.listening import Address

_OTHER_FILES: Final = 128
_M_MMAP_THRESHOLD: Final = -3  # of glibc's malloc.h
# How long a thread that computes may keep the event loop waiting; Python's own 5 ms are felt by every request.
_SWITCH_INTERVAL_S: Final = 0.0005


def serve_until_signal(
    database: Answering, settings: ServerSettings, *, on_ready: Callable[[Address], None]
) -> signal.Signals:
    """Serve until SIGTERM or SIGINT; return which, once every write that was begun has ended.

    The database stays open: it belongs to the caller. The process is taken to be there for this alone.
    """
    settings = replace(settings, connections_max=_allow_connections(settings.connections_max))
    sys.setswitchinterval(_SWITCH_INTERVAL_S)
    # Imported modules stay: no garbage collection has to look at them. And requests leave next to no cycles
    # behind, but 16 MB of JSON become millions of objects, which cost 2.5 times as much with a collection every
    # 700.
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    _give_large_blocks_back()
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


def _give_large_blocks_back() -> None:
    """Let blocks of a megabyte and more go back to the system when they are free.

    By default glibc keeps those that it has seen before, in pieces: after a flood of answers of 16 MB, five times
    as much stayed in use.
    """
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, MIB)


def _allow_connections(wanted: int) -> int:
    """Let the process have a file for each connection; return how many there can be, beside those of the database.

    Often 1,024 files are set, and a process may set more for itself, up to a hard limit.
    """
    try:
        import resource
    except ImportError:  # not on Windows, where no such limit is
        return wanted
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = wanted + _OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < files:
        soft = files if hard == resource.RLIM_INFINITY else min(files, hard)
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if soft == resource.RLIM_INFINITY:
        return wanted
    return max(1, min(wanted, soft - min(_OTHER_FILES, soft // 2)))


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
        """Answer the requests that have arrived, then end. A second stop does nothing."""
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
