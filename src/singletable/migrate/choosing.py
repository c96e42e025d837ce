"""Which migrations are run: up to one of them, and only as they were when they were begun."""

from __future__ import annotations

from collections.abc import Sequence

from singletable.errors import MigrationError
from singletable.migrate.files import Migration
from singletable.migrate.records import Record


def chosen_migrations(migrations: Sequence[Migration], to: str | None) -> list[Migration]:
    """Return the migrations up to one, by its id or its number; all without one."""
    if to is None:
        return list(migrations)
    for number, migration in enumerate(migrations):
        if to in (migration.id, migration.id.partition("_")[0]):
            return list(migrations[: number + 1])
    raise MigrationError(
        f"there is no migration {to}", hint=f"there are {', '.join(m.id for m in migrations) or 'none'}"
    )


def refuse_changed(migration: Migration, record: Record | None) -> None:
    """Refuse a migration whose steps are not those that a table has seen."""
    if record is not None and record.fingerprint != migration.fingerprint():
        done = "run" if record.is_done else "begun"
        raise MigrationError(
            f"the steps of {migration.id} are not those that were {done} on this table",
            hint="put the file back as it was, and write what is new into another migration",
        )
