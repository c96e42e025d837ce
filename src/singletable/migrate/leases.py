"""A migration while it is being run: its record, kept up to date, and its lease, kept alive."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from singletable.client.calls import Steps, Wait
from singletable.design.session.session import Session
from singletable.migrate.records import Record, Records

LEASE_S: Final = 60.0
_RENEWED_AFTER: Final = 1 / 3  # of the lease


class MigrationLease:
    """What a runner holds of a migration. A dry run holds nothing, and writes nothing."""

    def __init__(
        self, session: Session, record: Record, *, lease_s: float = LEASE_S, is_dry: bool = False
    ) -> None:
        self.record = record
        self.is_dry = is_dry
        self.is_resumed = record.revision > 1  # somebody has begun before
        self._session = session
        self._records = Records(session)
        self._lease_us = int(lease_s * 1_000_000)
        self._saved_us = session.client.clock.elapsed_us()

    def save(self, **changes: Any) -> Steps[None]:
        """Write changes of the record; the lease begins anew by that."""
        elapsed_us = self._session.client.clock.elapsed_us()
        spent_us = self.record.elapsed_us + elapsed_us - self._saved_us
        until_us = self._session.now_us() + self._lease_us
        record = replace(self.record, **{"until_us": until_us, **changes, "elapsed_us": spent_us})
        self._saved_us = elapsed_us
        self.record = record if self.is_dry else (yield from self._records.save(record))

    def keep(self) -> Steps[None]:
        """Renew the lease, if a good part of it is over."""
        passed_us = self._session.client.clock.elapsed_us() - self._saved_us
        if not self.is_dry and passed_us > self._lease_us * _RENEWED_AFTER:
            yield from self.save()

    def wait(self, seconds: float) -> Steps[None]:
        """Wait, and keep the lease meanwhile."""
        slice_s = self._lease_us * _RENEWED_AFTER / 1_000_000
        while seconds > 0:
            yield Wait(min(seconds, slice_s))
            seconds -= slice_s
            yield from self.keep()

    def beside(self) -> MigrationLease:
        """Return what a look at the table holds that is no step: it records nothing, and keeps this one."""
        return _Beside(self)

    def release(self, **changes: Any) -> Steps[None]:
        """Give the lease back."""
        yield from self.save(**{"owner": "", "until_us": 0, **changes})


class _Beside(MigrationLease):
    """What a look at the table beside a step holds."""

    def __init__(self, held: MigrationLease) -> None:
        record = replace(held.record, segments=(), differing=0)
        super().__init__(held._session, record, lease_s=held._lease_us / 1_000_000, is_dry=True)
        self._held = held

    def save(self, **changes: Any) -> Steps[None]:
        yield from super().save(**changes)
        yield from self._held.keep()

    def keep(self) -> Steps[None]:
        return self._held.keep()
