"""The newest time that a database knows: no change gets an earlier one, whatever the clock says."""

from __future__ import annotations

from typing import Final

from singletable.storage.catalog import Catalog, Execute, scalar
from singletable.storage.log import newest_time_us, select_logs

# A moment from which on, or up to which, something counts: a change that comes later must lie behind it, also when
# the clock was put back since and the process that has stored it has ended. The moment of a backup is of no log.
_SELECT_REGISTERED: Final = (
    "SELECT coalesce(max(at), 0) FROM ("
    "SELECT max(since) AS at FROM log"
    " UNION ALL SELECT max(at) FROM restore WHERE source_id IS NOT NULL"
    " UNION ALL SELECT max(began) FROM shard"
    " UNION ALL SELECT max(ended) FROM shard"
    " UNION ALL SELECT max(ended) FROM stream)"
)


def newest_known_us(execute: Execute, catalog: Catalog) -> int:
    """Return the time of the last change, or of the last moment that was stored, if that is later."""
    recoveries = (table.definition.recovery for table in catalog)
    return max(
        newest_time_us(execute, select_logs(execute)),
        int(scalar(execute(_SELECT_REGISTERED))),
        *(recovery.since_us for recovery in recoveries if recovery is not None),
    )
