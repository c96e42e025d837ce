"""The next migration of a project: what the code says, compared with what the newest file leads to."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from singletable.blueprint import Blueprint
from singletable.design.design import Design
from singletable.errors import MigrationError, PlanBlockedError
from singletable.migrate.comparing import compare, compared
from singletable.migrate.differences import Difference, says_defaults
from singletable.migrate.files import FOLDER, Folder
from singletable.migrate.functions import find_function
from singletable.migrate.steps import MigrationStep, RunFunction, Verify

FolderPath = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class Plan:
    """What has changed since the newest migration, and the steps that it takes.

    `blocking` are the differences that no step can decide and nobody has accepted. `is_exact` is False where the
    newest migration is of an older release, and does not say which fields were required.
    """

    steps: tuple[MigrationStep, ...]
    differences: tuple[Difference, ...] = ()
    blocking: tuple[Difference, ...] = ()
    is_exact: bool = True

    @property
    def is_empty(self) -> bool:
        """Tell whether nothing has changed."""
        return not self.steps and not self.differences

    @property
    def is_of_items(self) -> bool:
        """Tell whether a migration is due: for its steps, or since items differ from what the newest one says."""
        return bool(self.steps) or any(each.entity for each in self.differences)


@dataclass(frozen=True, slots=True)
class WrittenMigration:
    """A migration that was written: its file, and its steps."""

    path: Path
    steps: tuple[MigrationStep, ...]
    differences: tuple[Difference, ...] = ()


def plan(
    design: type[Design],
    folder: FolderPath = FOLDER,
    *,
    every_item: bool = False,
    renamed: Mapping[str, str] | None = None,
    removed: Collection[str] = (),
    accepted: Collection[str] = (),
    functions: Sequence[str] = (),
) -> Plan:
    """Compare the newest migration with the design as it is in the code.

    `renamed` has fields with another name, {"Order.state": "status"}; `removed` fields that are gone, Order.note,
    whose attributes are to be removed too; `accepted` what was read and is meant, of that which blocks the plan;
    `functions` are called for the items that are there.
    """
    before, after = _newest(folder), design.blueprint()
    steps = compare(before, after, every_item=every_item, renamed=renamed, removed=removed)
    for name in functions:
        find_function(name, design)
    if functions:
        steps = _with_functions(steps, tuple(functions))
    differences = compared(before, after, renamed)
    stops = [each for each in differences if each.effect == "stop"]
    unknown = [where for where in accepted if where not in {each.where for each in stops}]
    if unknown:
        raise MigrationError(
            f"{unknown[0]} cannot be accepted: it does not stop this plan",
            hint=f"what does: {', '.join(each.where for each in stops) or 'nothing'}",
        )
    blocking = tuple(each for each in stops if each.where not in accepted)
    return Plan(steps, differences, blocking, before is None or says_defaults(before))


def new_migration(
    design: type[Design],
    title: str,
    folder: FolderPath = FOLDER,
    *,
    every_item: bool = False,
    renamed: Mapping[str, str] | None = None,
    removed: Collection[str] = (),
    accepted: Collection[str] = (),
    functions: Sequence[str] = (),
) -> WrittenMigration | None:
    """Write the next migration; None if nothing has changed that concerns items, and no function is to be called.

    A blocked plan is refused.
    """
    found = plan(
        design,
        folder,
        every_item=every_item,
        renamed=renamed,
        removed=removed,
        accepted=accepted,
        functions=functions,
    )
    return write_migration(design, title, found, folder)


def write_migration(
    design: type[Design], title: str, found: Plan, folder: FolderPath = FOLDER
) -> WrittenMigration | None:
    """Write a plan as the next migration; None if there is none to write. A blocked plan is refused."""
    if found.blocking:
        first = found.blocking[0]
        raise PlanBlockedError(
            " ".join(each.says for each in found.blocking), found.blocking, hint=first.hint
        )
    if not found.is_of_items:
        return None
    calls_alone = not found.differences and all(
        isinstance(step, RunFunction | Verify) for step in found.steps
    )
    is_same = calls_alone and _newest(folder) is not None
    blueprint = None if is_same else json.loads(design.blueprint().to_json())
    says = [each.says for each in found.differences]
    path = Folder(folder).write(title, found.steps, blueprint, says)
    return WrittenMigration(path, found.steps, found.differences)


def _with_functions(
    steps: tuple[MigrationStep, ...], functions: tuple[str, ...]
) -> tuple[MigrationStep, ...]:
    """Return steps that call functions when all else is written, and verify before anything is destroyed."""
    at = next((number for number, step in enumerate(steps) if isinstance(step, Verify)), len(steps))
    verify = steps[at] if at < len(steps) else Verify()
    assert isinstance(verify, Verify)
    calls = (RunFunction(name) for name in functions)
    return (*steps[:at], *calls, replace(verify, functions=functions), *steps[at + 1 :])


def _newest(folder: FolderPath) -> Blueprint | None:
    known = [each.blueprint for each in Folder(folder).migrations() if each.blueprint is not None]
    return Blueprint.from_json(json.dumps(known[-1])) if known else None
