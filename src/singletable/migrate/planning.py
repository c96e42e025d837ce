"""The next migration of a project: what the code says, compared with what the newest file leads to."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from singletable.blueprint import Blueprint
from singletable.design.design import Design
from singletable.migrate.comparing import compare
from singletable.migrate.files import FOLDER, Folder
from singletable.migrate.steps import MigrationStep

FolderPath = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class WrittenMigration:
    """A migration that was written: its file, and its steps."""

    path: Path
    steps: tuple[MigrationStep, ...]


def plan(
    design: type[Design], folder: FolderPath = FOLDER, *, every_item: bool = False
) -> tuple[MigrationStep, ...]:
    """Return the steps from the newest migration to the design as it is in the code."""
    return compare(_newest(folder), design.blueprint(), every_item=every_item)


def new_migration(
    design: type[Design], title: str, folder: FolderPath = FOLDER, *, every_item: bool = False
) -> WrittenMigration | None:
    """Write the next migration; None if nothing has changed."""
    steps = plan(design, folder, every_item=every_item)
    if not steps:
        return None
    blueprint = json.loads(design.blueprint().to_json())
    return WrittenMigration(Folder(folder).write(title, steps, blueprint), steps)


def _newest(folder: FolderPath) -> Blueprint | None:
    known = [each.blueprint for each in Folder(folder).migrations() if each.blueprint is not None]
    return Blueprint.from_json(json.dumps(known[-1])) if known else None
