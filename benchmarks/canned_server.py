"""The least that a server over HTTP can cost in Python: it reads a request and writes bytes that it has ready.

    python -m benchmarks.canned_server PORT FILE [PORT FILE ...]

Each port answers every request with the bytes of its file, headers and all.
"""

from __future__ import annotations

import asyncio
import functools
import sys
from pathlib import Path
from typing import cast

import httptools


class Canned(asyncio.Protocol):
    """One connection."""

    def __init__(self, answer: bytes) -> None:
        self.answer = answer
        self.parser = httptools.HttpRequestParser(self)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self.parser.feed_data(data)

    def on_message_complete(self) -> None:
        self.transport.write(self.answer)


async def serve(answers: dict[int, bytes]) -> None:
    loop = asyncio.get_running_loop()
    for port, answer in answers.items():
        await loop.create_server(functools.partial(Canned, answer), "127.0.0.1", port)
    await asyncio.Event().wait()


def main(arguments: list[str]) -> None:
    import uvloop

    pairs = zip(arguments[0::2], arguments[1::2], strict=True)
    uvloop.run(serve({int(port): Path(file).read_bytes() for port, file in pairs}))


if __name__ == "__main__":
    main(sys.argv[1:])
