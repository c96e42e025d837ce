"""What an operation comes to: an answer at once, or a write that waits for its transaction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from singletable.capacity.consumed import Consumed
from singletable.storage.transaction import Transaction
from singletable.wire.parameters import Answer


@dataclass(slots=True)
class Outcome:
    """An answer, and what the request used."""

    answer: Answer
    consumed: Sequence[Consumed] = ()
    is_read: bool | None = None  # where that does not follow from the operation
    returned: int | None = None  # items, of a read that may return several


class PendingWrite(NamedTuple):
    """A write that has been parsed: what it does in its transaction, and how the result of that is answered.

    So a server can carry out the writes of many requests in one transaction.
    """

    work: Callable[[Transaction], Any]
    render: Callable[[Any], Outcome]
