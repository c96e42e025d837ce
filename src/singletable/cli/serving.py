"""Running a server from the command line: its log, the ready line, how it ended."""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from singletable import __version__
from singletable.cli.background_log import background_log
from singletable.cli.messages import say, say_failure
from singletable.server import serve_until_signal
from singletable.server.access_log import time_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from singletable.server import Address, Answering, ServerSettings

# To SDKs and the AWS CLI, streams are a service of their own: without its variable they would ask AWS.
ENDPOINT_VARIABLES = ("AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL_DYNAMODB_STREAMS")
CREDENTIALS = (
    "AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local AWS_REGION={region} AWS_DEFAULT_REGION={region}"
)


_FAILED = 2


class _JsonLines(logging.Formatter):
    """What else the server has to say, when its log is read by a program."""

    def format(self, record: logging.LogRecord) -> str:
        at = time_text(int(record.created * 1_000_000))
        message = {"time": at, "level": record.levelname.lower(), "message": record.getMessage()}
        if record.exc_info:
            message["trace"] = self.formatException(record.exc_info)
        return json.dumps(message)


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
