"""What each operation does: a module for each, or for a family, with how it is parsed, run and rendered.

The facts of an operation are its row in `singletable.operations`.
"""

from __future__ import annotations

from typing import Final

from singletable.wire.operations import (
    backups,
    batches,
    create_table,
    items,
    pages,
    recovery,
    streams,
    tables,
    tags,
    transactions,
    update_table,
)
from singletable.wire.parameters import PlainRun, Run

_FAMILIES: Final = (
    *(items, pages, batches, transactions, create_table, update_table, tables),
    *(tags, backups, recovery, streams),
)
RUN: Final[dict[str, Run]] = {name: run for family in _FAMILIES for name, run in family.RUN.items()}
PLAIN: Final[dict[str, PlainRun]] = {**items.PLAIN, **pages.PLAIN}
