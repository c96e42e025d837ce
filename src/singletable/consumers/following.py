"""Reading the changes of a table without being a consumer: nothing is stored, and nothing is held back.

Who reads keeps the number of the last change. The log keeps changes for a day, or as long as consumers need them;
what is gone by then is told, not passed over.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from singletable.consumers.events import Presentation
from singletable.engine.stream_records import sequence_number, sequence_position
from singletable.errors import ConsumerError, NotLoggedError
from singletable.limits import MIB
from singletable.storage.catalog import Catalog, Execute
from singletable.storage.consumers import select_complete
from singletable.storage.log import Entry, select_end, select_logs, select_start
from singletable.storage.store import Store
from singletable.storage.tables import Table
from singletable.values.change_records import ChangeRecord

_ROWS_MAX: Final = 250
_BYTES_MAX: Final = 4 * MIB


@dataclass(frozen=True, slots=True)
class Stretch:
    """Some changes in their order, where the next ones begin, and whether earlier ones are not kept any more."""

    records: list[ChangeRecord]
    position: int
    has_missed: bool = False


class TableChanges:
    """Reads the changes of one table."""

    def __init__(self, store: Store, table: str, *, region: str, table_arn: str) -> None:
        self._store = store
        self._name = table
        self._region, self._arn = region, table_arn
        self._shown_as: Presentation | None = None

    def newest(self) -> int:
        """Return the position behind the newest change."""
        return self._store.read(
            lambda execute, catalog: select_end(execute, self._table(execute, catalog).id).seq
        )

    def behind(self, number: str) -> int:
        """Return the position behind the change of a sequence number; refuse one that no log can have."""
        position = sequence_position(number)
        if position is None or not 0 <= position <= self.newest():
            raise ConsumerError(f"{number!r} is no sequence number of table {self._name!r}")
        return position

    def number(self, position: int) -> str:
        """Return the sequence number of a position."""
        return sequence_number(position)

    def read(self, position: int) -> Stretch:
        """Read the changes behind a position: none, if there are none yet."""

        def work(execute: Execute, catalog: Catalog) -> tuple[Table, int | None, list[Entry]]:
            table = self._table(execute, catalog)
            found = select_complete(
                execute, table.id, table, after=position, rows_max=_ROWS_MAX, bytes_max=_BYTES_MAX
            )
            return table, select_start(execute, table.id), found

        table, start, entries = self._store.read(work)
        if self._shown_as is None or self._shown_as.table is not table:
            self._shown_as = Presentation(table, region=self._region, table_arn=self._arn)
        records = [self._shown_as.change(entry) for entry in entries]
        following = entries[-1].seq if entries else position
        return Stretch(records, following, has_missed=start is not None and start > position + 1)

    def _table(self, execute: Execute, catalog: Catalog) -> Table:
        table = catalog.named(self._name)
        if table is None:
            raise ConsumerError(f"there is no table {self._name!r}")
        if table.id not in select_logs(execute):
            raise NotLoggedError(
                f"the changes of table {self._name!r} are not logged", hint="turn its stream on"
            )
        return table
