"""A client over a database in this process: no network, no serialisation, straight to the engine."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

from singletable.client.base import Client, ClientSettings, Random, Sleep
from singletable.client.calls import Answer, Call
from singletable.client.capabilities import EMBEDDED, Capabilities
from singletable.database import Database
from singletable.operations import SERVED

# These take microseconds, less than a thread would. Anything else may wait for the disk.
_READS: Final = frozenset(row.name for row in SERVED.values() if row.runs == "loop")


class EmbeddedClient(Client):
    """Calls a `Database`. If the client owns it, closing the client closes it.

    In `arun`, reads are carried out on the event loop, and writes in a thread, because a durable one waits for the
    disk. If its task is cancelled, a write is carried out nevertheless.
    """

    def __init__(
        self,
        database: Database,
        *,
        owns: bool,
        capabilities: Capabilities = EMBEDDED,
        sleep: Sleep | None = None,
        random: Random | None = None,
    ) -> None:
        super().__init__(database.clock, sleep, random)
        self.database: Database = database
        self._owns = owns
        self._capabilities = capabilities

    @property
    def capabilities(self) -> Capabilities:
        return self._capabilities

    @property
    def is_trusted(self) -> bool:
        return True

    @property
    def is_plain_file(self) -> bool:
        return not (self.database.is_in_memory or self.database.is_encrypted)

    def lacks(self, feature: str) -> None:
        self._capabilities = self._capabilities.without(feature)

    def call(self, operation: str, params: Mapping[str, Any]) -> Answer:
        answer: Answer = self.database.call(operation, params)
        return answer

    async def acall(self, operation: str, params: Mapping[str, Any]) -> Answer:
        if operation in _READS:
            return self.call(operation, params)
        return await asyncio.to_thread(self.call, operation, params)

    def call_together(self, calls: Sequence[Call]) -> list[Answer]:
        """Read one after the other, since reads are short; write together, since that waits for the disk."""
        if all(call.operation in _READS for call in calls):
            return [self.call(call.operation, call.params) for call in calls]
        return self.database.call_together([(call.operation, call.params) for call in calls])

    async def acall_together(self, calls: Sequence[Call]) -> list[Answer]:
        if all(call.operation in _READS for call in calls):
            return self.call_together(calls)
        return await asyncio.to_thread(self.call_together, calls)

    def close(self) -> None:
        if self._owns:
            self.database.close()

    def __repr__(self) -> str:
        return f"<EmbeddedClient {self.database.path}>"


def open_database(path: str, settings: ClientSettings, engine_options: Mapping[str, Any]) -> EmbeddedClient:
    """Open a file or memory, with the options of `Database.open`."""
    return over_database(Database.open(path, clock=settings.clock, **engine_options), settings, owns=True)


def over_database(database: Database, settings: ClientSettings, *, owns: bool) -> EmbeddedClient:
    """Ask a database that is open."""
    _, capabilities, sleep, random = settings
    return EmbeddedClient(
        database, owns=owns, capabilities=capabilities or EMBEDDED, sleep=sleep, random=random
    )
