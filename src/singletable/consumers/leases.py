"""The lease of a consumer: the process that holds it runs the consumer, and renews it while the handler works."""

from __future__ import annotations

import contextlib
import threading

from singletable.errors import DatabaseError
from singletable.storage import consumers
from singletable.storage.consumers import Lease, LeaseLostError, Mark, Registered
from singletable.storage.store import Store


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
        """Release the lease, so that another process can continue at once."""
        if self._end():
            with contextlib.suppress(LeaseLostError, DatabaseError):  # then the lease expires by itself
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
                continue  # a full disk or a busy file may be over by the next renewal

    def _renew(self, elapsed_us: int) -> None:
        self._store.write(lambda transaction: consumers.renew_lease(transaction, self.lease, elapsed_us))
        self._renewed_us = elapsed_us
