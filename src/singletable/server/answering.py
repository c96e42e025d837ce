"""The protocol by which the server uses a database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from singletable.errors import DatabaseError
from singletable.metrics import MetricsSnapshot
from singletable.storage.write_groups import OpenGroup
from singletable.wire.answers import WireAnswer
from singletable.wire.execution import Execution


class Answering(Protocol):
    """Answers requests of the DynamoDB protocol: an HTTP status and a body for each."""

    @property
    def is_in_memory(self) -> bool:
        """Whether no write ever waits for a disk."""
        ...

    def trouble(self) -> DatabaseError | None:
        """Return why nothing is written any more; None while all is well. It never waits."""
        ...

    def metrics(self) -> MetricsSnapshot:
        """Return the counters as they are now."""
        ...

    def refused(self, *, throttled: bool) -> None:
        """Count a request that was refused before it came to an operation."""
        ...

    def answer(self, operation: str, body: bytes) -> WireAnswer:
        """Answer one request, however long it takes."""
        ...

    def begin(self, operation: str, body: bytes) -> WireAnswer | Execution | None:
        """Answer a request that is soon done, or read one that writes; None: it would take long."""
        ...

    def apply_writes(self, waiting: Sequence[Execution]) -> OpenGroup[Any] | None:
        """Carry out writes together, and leave their transaction open; None if that would have to wait."""
        ...

    def commit_writes(self, waiting: Sequence[Execution], group: OpenGroup[Any]) -> list[WireAnswer]:
        """Commit writes that were applied, which waits for the disk, and answer them."""
        ...

    def answer_writes(self, waiting: Sequence[Execution]) -> list[WireAnswer]:
        """Carry out writes together, and answer them when they are committed."""
        ...
