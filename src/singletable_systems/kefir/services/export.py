"""Exporting: all data of a user as CSV, one file for each entity.

Files are UTF-8 with CRLF (RFC 4180). A column is an attribute as it is stored and documented; what lies inside
another has both names: `preferences.notificationsEnabled`. Values are the stored ones: times are written as
`2026-01-20T12:00:00.000Z`, truth as `true` and `false`. An empty text looks like no value, as CSV has it. A text
that begins with = is written as it is, and a spreadsheet may take it for a formula.
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from singletable import Collect, Entity
from singletable_systems.kefir.errors import UserNotFoundError
from singletable_systems.kefir.model.entities import Batch, BatchEvent, Device, Reminder, User
from singletable_systems.kefir.model.keys import UserId
from singletable_systems.kefir.reactions.handlers import Kefir

FILES: Final[Mapping[type[Entity], str]] = {
    User: "users.csv",
    Batch: "batches.csv",
    BatchEvent: "batch_events.csv",
    Reminder: "reminders.csv",
    Device: "devices.csv",
}

# Fields that are not exported, by entity. There are none: a user gets all data.
NOT_EXPORTED: Final[Mapping[type[Entity], frozenset[str]]] = {}


@cache
def columns() -> Mapping[type[Entity], tuple[str, ...]]:
    """Return the columns of each file: the stored attributes, in the order of the fields of the entity.

    People build on these files. So a new field is declared behind the others, and none is taken away.
    """
    found = {each.name: each for each in Kefir.blueprint().entities}
    return {entity: tuple(_columns(found[entity.__name__], NOT_EXPORTED.get(entity, ()))) for entity in FILES}


def _columns(entity: Any, left_out: Collection[str]) -> Iterator[str]:
    models = {model.name: model.attributes for model in entity.models}
    for attribute in entity.attributes:
        if attribute.name not in left_out:
            inside = [f"{attribute.stored}.{each.stored}" for each in models.get(attribute.type, ())]
            yield from inside or [attribute.stored]


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What was exported: the files by their entities' names, the rows of each, and the units that reading took."""

    files: Mapping[str, Path]
    rows: Mapping[str, int]
    units: float


def export_csv(db: Kefir, user_id: UserId, folder: Path | str) -> ExportReport:
    """Write all data of a user into a folder, a page at a time; there are all files of it in the end, or none.

    Files of an earlier export are replaced, one after the other, when all new ones are whole: where one cannot be
    replaced, there are some of each. Items that are written during the export may be in it, or not.
    """
    if db.user(user_id).maybe() is None:
        raise UserNotFoundError(user_id)
    with _scratch(Path(folder)) as scratch, ExitStack() as stack:
        tables = {entity: stack.enter_context(_table(scratch, entity)) for entity in FILES}
        reading = _Reading(db, user_id)
        for entity in reading:
            tables[type(entity)].write(entity)
        stack.close()
        for name in FILES.values():
            (scratch / name).replace(Path(folder) / name)
    files = {entity.__name__: Path(folder) / name for entity, name in FILES.items()}
    return ExportReport(files, {each.__name__: tables[each].rows for each in FILES}, reading.units)


class _Reading:
    """Goes through all items of a user: the user's own partition, and after each batch the batch's."""

    def __init__(self, db: Kefir, user_id: UserId) -> None:
        self._db = db
        self._user_id = user_id
        self.units = 0.0

    def __iter__(self) -> Iterator[Entity]:
        for entity in self._all(self._db.user_data(self._user_id)):
            yield entity
            if isinstance(entity, Batch):
                yield from self._all(self._db.batch_activity(entity.batch_id))

    def _all(self, partition: Collect[Any]) -> Iterator[Entity]:
        rows = partition.consistent().all()
        yield from rows
        self.units += rows.usage.units


class _Table:
    """A CSV file that is being written."""

    def __init__(self, file: Any, columns: Iterable[str]) -> None:
        self._writer = csv.DictWriter(file, list(columns), extrasaction="ignore")
        self._writer.writeheader()
        self.rows = 0

    def write(self, entity: Entity) -> None:
        self._writer.writerow(dict(_cells(Kefir.stored_item(entity))))
        self.rows += 1


@contextmanager
def _table(folder: Path, entity: type[Entity]) -> Iterator[_Table]:
    with open(folder / FILES[entity], "w", encoding="utf-8", newline="") as file:
        yield _Table(file, columns()[entity])


@contextmanager
def _scratch(folder: Path) -> Iterator[Path]:
    """Make a folder to write in, beside where the files are to be; it goes away, whatever happens."""
    is_new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with TemporaryDirectory(dir=folder, prefix=".export-") as scratch:
            yield Path(scratch)
    except BaseException:
        if is_new:
            with suppress(OSError):  # it is not empty: somebody has put files there
                folder.rmdir()
        raise


def _cells(attributes: Mapping[str, Mapping[str, Any]], within: str = "") -> Iterator[tuple[str, str]]:
    """Return the texts of stored attributes, by their columns."""
    for name, value in attributes.items():
        [(kind, content)] = value.items()
        match kind:
            case "M":
                yield from _cells(content, f"{within}{name}.")
            case "BOOL":
                yield within + name, "true" if content else "false"
            case "N":
                yield within + name, f"{Decimal(content).normalize():f}"
            case _:
                yield within + name, content
