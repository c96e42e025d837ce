"""The DynamoDB wire protocol over HTTP, for any AWS SDK.

`serve_until_signal` runs in the foreground, `BackgroundServer` in a thread, `Server` on a loop of your own.
They reach a database only through the protocol `Answering`. Requests are parsed in wire, not here.
"""

from __future__ import annotations

from singletable.server.answering import Answering
from singletable.server.listening import Address, ListenError
from singletable.server.running import BackgroundServer, serve_until_signal
from singletable.server.server import Server, ServerSettings

__all__ = [
    "Address",
    "Answering",
    "BackgroundServer",
    "ListenError",
    "Server",
    "ServerSettings",
    "serve_until_signal",
]
