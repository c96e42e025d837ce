"""The newest time that a database knows: no change gets an earlier one, whatever the clock says.

It is that of the newest entry of all logs, or of a moment that is stored elsewhere, from which on, or up to which,
something counts. Who opens a database looks at all logs. Who has it open, while other processes write, reads what
they have noted, which may be a tenth of a second behind, and looks at the end of each log that it writes to.
"""

from __future__ import annotations

from typing import Final

from singletable.storage import schema
from singletable.storage.catalog import Execute
from singletable.storage.log import newest_time_us, select_logs
from singletable.storage.transaction import Transaction

_NOTED_EVERY_US: Final = 100_000  # to note each change would make every put slower


def noted_us(execute: Execute) -> int:
    """Return the newest time that was noted."""
    noted: int = next(execute(schema.NEWEST), (0,))[0]
    return noted


class ChangeTimes:
    """What one process knows of the times that changes have got. To be used by who holds the writer."""

    __slots__ = ("_last_us", "_noted_us", "known_logs")

    def __init__(self) -> None:
        self._last_us = 0
        self._noted_us = 0
        self.known_logs: set[int] = set()  # that nobody else has written to since this process has looked

    def learn_all(self, execute: Execute) -> None:
        """Learn what the file knows, exactly."""
        self.learn_noted(execute)
        self.stand_behind(newest_time_us(execute, select_logs(execute)))

    def learn_noted(self, execute: Execute) -> None:
        """Learn what other processes have done, as far as one number tells."""
        self._noted_us = noted_us(execute)
        self.stand_behind(self._noted_us)
        self.known_logs.clear()

    def stand_behind(self, newest_us: int) -> None:
        """Learn of a time that something has."""
        self._last_us = max(self._last_us, newest_us)

    def next_us(self, clock_us: int) -> int:
        """Return the time of the next transaction, which is its own also behind a clock that was put back."""
        return clock_us if clock_us >= self._last_us else self._last_us + 1

    def note(self, transaction: Transaction) -> None:
        """Let others know the time of a transaction: sometimes, and always where the clock does not tell them."""
        now_us = transaction.now_us
        if transaction.keeps_moment or (
            transaction.has_logged
            and (now_us > transaction.clock_us or now_us - self._noted_us >= _NOTED_EVERY_US)
        ):
            transaction.note_time()

    def committed(self, transaction: Transaction) -> None:
        self._last_us = transaction.now_us
        if transaction.has_noted:
            self._noted_us = transaction.now_us
