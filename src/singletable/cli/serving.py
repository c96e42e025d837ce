"""Running a server from the command line: its log, the ready line, how it ended."""

from __future__ import annotations

import argparse
import json
import logging
import os
import queue
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from logging.handlers import QueueHandler, QueueListener
from typing import TYPE_CHECKING, Any, Final

from singletable import __version__
from singletable.cli.arguments import checked
from singletable.cli.messages import say, say_failure
from singletable.server import serve_until_signal
from singletable.server.access_log import time_text
from singletable.server.callers import checked_host, checked_origin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from singletable.server import Address, Answering, ServerSettings

# To SDKs and the AWS CLI, streams are a service of their own: without its variable they would ask AWS.
ENDPOINT_VARIABLES = ("AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL_DYNAMODB_STREAMS")
CREDENTIALS = (
    "AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local AWS_REGION={region} AWS_DEFAULT_REGION={region}"
)

_FAILED = 2


_WAITING_LINES_MAX: Final = 1_000


class _JsonLines(logging.Formatter):
    """What else the server has to say, when its log is read by a program."""

    def format(self, record: logging.LogRecord) -> str:
        at = time_text(int(record.created * 1_000_000))
        message = {"time": at, "level": record.levelname.lower(), "message": record.getMessage()}
        if record.exc_info:
            message["trace"] = self.formatException(record.exc_info)
        return json.dumps(message)


def add_port(parser: argparse.ArgumentParser) -> None:
    """Describe --port."""
    parser.add_argument(
        "--port", type=_port, default=8000, help="the port; 0 takes a free one (default: %(default)s)"
    )


def add_callers(parser: argparse.ArgumentParser) -> None:
    """Describe who may call the server: --allow-host and --cors-origin."""
    parser.add_argument(
        "--allow-host",
        dest="allow_hosts",
        metavar="NAME",
        type=_host,
        action="append",
        default=[],
        help="a name by which clients reach the server, such as that of its container; may be given again, "
        "* allows any (default: localhost, IP addresses, and --host)",
    )
    parser.add_argument(
        "--cors-origin",
        dest="cors_origins",
        metavar="ORIGIN",
        type=_origin,
        action="append",
        default=[],
        help="let web pages of this origin call the server, such as http://localhost:3000; may be given again, "
        "* allows all, as AWS does (default: none)",
    )


def _host(text: str) -> str:
    return checked(checked_host, text)


def _origin(text: str) -> str:
    return checked(checked_origin, text)


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= 65535):
        raise argparse.ArgumentTypeError(f"{text!r} is no port: a number from 0 to 65535")
    return int(text)


@contextmanager
def server_log(*, as_json: bool, debug: bool) -> Iterator[None]:
    """Write what is logged to stderr while a database is open and served: opening it may have something to say."""
    _open_missing_streams()
    handler = logging.StreamHandler()
    handler.setFormatter(_JsonLines() if as_json else logging.Formatter("%(levelname)s: %(message)s"))
    with background_log(handler, logging.DEBUG if debug else logging.WARNING):
        yield


def run_server(database: Answering, settings: ServerSettings, *, on_ready: Callable[[Address], None]) -> int:
    """Serve until a signal; return the exit code."""
    received = serve_until_signal(database, settings, on_ready=on_ready)
    trouble = database.trouble()
    if trouble is not None:
        say_failure(trouble)
        return _FAILED
    return 130 if received is signal.SIGINT else 0


def _open_missing_streams() -> None:
    """Have what is printed go nowhere in a process that was started without stdout or stderr (`>&-`).

    It also keeps their file descriptors from becoming those of a socket, to which a crash would be reported.
    """
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115


def print_ready(address: Address, file: str | None, *, as_json: bool) -> None:
    """Print, on stdout, that requests are taken from now on, and where."""
    if as_json:
        ready = {
            "url": address.url,
            "host": address.host,
            "port": address.port,
            "file": file,
            "pid": os.getpid(),
            "version": __version__,
            "environment": dict.fromkeys(ENDPOINT_VARIABLES, address.url),
        }
        print(json.dumps(ready))
    else:
        print("\n".join([ready_line(address, file), *export_lines(address)]))
    sys.stdout.flush()


def ready_line(address: Address, file: str | None) -> str:
    """Say what is served, and where."""
    return f"singletable {__version__} serves {file or 'memory'} at {address.url}{_listening(address)}"


def export_lines(address: Address) -> list[str]:
    """Return lines for a shell from which SDKs and the AWS CLI find the server."""
    return [f"export {variable}={address.url}" for variable in ENDPOINT_VARIABLES]


def _listening(address: Address) -> str:
    # A client cannot connect to "any address": the URL names one, the line names what was asked for.
    is_named = address.url in (
        f"http://{address.host}:{address.port}",
        f"http://[{address.host}]:{address.port}",
    )
    return "" if is_named else f" (listening on {address.host or 'every address'})"


def warn_if_reachable(address: Address) -> None:
    """Warn, in the log, of an address that others can reach."""
    if not address.is_loopback:
        logging.getLogger("singletable.cli").warning(_reachable(address))


def say_how_to_connect(address: Address, file: str | None, region: str, *, signed: bool) -> None:
    """Print, on stderr, what a client needs."""
    if not address.is_loopback:
        say(f"warning: {_reachable(address)}")
        say("clients reach it by an IP address; by a name, if it was started with --allow-host NAME")
    if file is None:
        say("in memory: nothing is kept when it stops; name a file to keep it")
    say(f"any credentials work: export {CREDENTIALS.format(region=region)}")
    if not signed:
        say("requests need no signature: curl works as it is")
    say(
        f'boto3: boto3.client("dynamodb", endpoint_url="{address.url}", region_name="{region}", '
        'aws_access_key_id="local", aws_secret_access_key="local")'
    )
    say("Ctrl-C stops it")


def _reachable(address: Address) -> str:
    reached = address.host or "this machine"
    return f"whoever reaches {reached} can read and change everything: there are no passwords"


# --- a log that holds up nobody: a thread writes the lines, and leaves out what nobody reads ------------------


class _Dropping(QueueHandler):
    """Puts lines into a queue; what comes when that is full is counted, and told with the next line."""

    def __init__(self, waiting: queue.Queue[Any]) -> None:
        super().__init__(waiting)
        self._dropped = 0

    def prepare(self, record: logging.LogRecord) -> logging.LogRecord:
        return record  # it stays in this process: the handler formats it

    def enqueue(self, record: logging.LogRecord) -> None:
        try:
            if self._dropped:
                record.msg = f"{record.getMessage()} ({self._dropped} lines before this one were left out)"
                record.args = None
            self.queue.put_nowait(record)
            self._dropped = 0
        except queue.Full:
            self._dropped += 1


@contextmanager
def background_log(handler: logging.Handler, level: int) -> Iterator[None]:
    """Give all lines of the log to a handler, in a thread, for as long as the block lasts."""
    waiting: queue.Queue[Any] = queue.Queue(_WAITING_LINES_MAX)
    listener = QueueListener(waiting, handler)
    logging.basicConfig(level=level, handlers=[_Dropping(waiting)])
    listener.start()
    try:
        yield
    finally:
        _stop(listener, waiting)


def _stop(listener: QueueListener, waiting: queue.Queue[Any]) -> None:
    """Write what still waits; a reader that does not read is not waited for."""
    thread: Any = listener._thread
    try:
        waiting.put_nowait(None)  # how a listener is told to end
    except queue.Full:
        return
    thread.join(2.0)
