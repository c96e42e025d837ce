"""Being the one who runs a consumer: taking its lease, keeping it while the handler works, giving it back."""

from __future__ import annotations

import contextlib
import os
import secrets
import threading

from singletable.errors import DatabaseError
from singletable.storage import consumers
from singletable.storage.consumers import Lease, LeaseLostError, Mark, Registered
from singletable.storage.store import Store


def new_owner() -> str:
    """Return a name that nobody else has, which tells people the process."""
    return f"{os.getpid()}-{secrets.token_hex(6)}"


class LeaseKeeper:
    """The lease of one consumer. While it is held, a thread renews it, however long the handler takes."""

    def __init__(self, store: Store, lease: Lease) -> None:
        self.lease = lease
        self._store = store
        self._clock = store.clock
        self._is_over: threading.Event | None = None
        self._renewed_us = 0

    def take(self) -> Registered | None:
        """Take the lease; None if another holds it."""
        registered = self._store.write(
            lambda transaction: consumers.take_lease(transaction, self.lease, self._clock.elapsed_us())
        )
        if registered is not None:
            self._renewed_us = self._clock.elapsed_us()
            self._is_over = threading.Event()
            name = f"singletable lease of {self.lease.name}"
            threading.Thread(target=self._keep, args=(self._is_over,), name=name, daemon=True).start()
        return registered

    def renewed(self, elapsed_us: int) -> None:
        """Note that a transaction of the consumer has renewed the lease."""
        self._renewed_us = elapsed_us

    def give_back(self, mark: Mark | None) -> None:
        """Let others go on from here, at once."""
        if self._end():
            with contextlib.suppress(LeaseLostError, DatabaseError):  # then it ends by itself
                self._store.write(lambda transaction: consumers.end_lease(transaction, self.lease, mark))

    def drop(self) -> None:
        """Note that the lease is lost."""
        self._end()

    def _end(self) -> bool:
        is_over, self._is_over = self._is_over, None
        if is_over is not None:
            is_over.set()
        return is_over is not None

    def _keep(self, is_over: threading.Event) -> None:
        length_us = self.lease.length_us
        while not is_over.wait(length_us / 3_000_000):
            elapsed_us = self._clock.elapsed_us()
            if elapsed_us - self._renewed_us < length_us // 4:
                continue
            try:
                self._renew(elapsed_us)
            except LeaseLostError:
                return
            except DatabaseError:
                continue  # a full disk, a busy file: it may be over when the time comes again

    def _renew(self, elapsed_us: int) -> None:
        self._store.write(lambda transaction: consumers.renew_lease(transaction, self.lease, elapsed_us))
        self._renewed_us = elapsed_us
