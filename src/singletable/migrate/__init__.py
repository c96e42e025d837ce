"""Migrations: the difference between two versions of a design, as steps that are read, rehearsed and run.

They run on any target, can be stopped and go on, and are recorded in the table. This package knows designs and the
client; it knows neither the engine nor boto3.
"""

from __future__ import annotations

from singletable.migrate.differences import Difference
from singletable.migrate.expiry import Expiring
from singletable.migrate.files import FOLDER, Folder, Migration
from singletable.migrate.pacing import Pace
from singletable.migrate.passes import Progress
from singletable.migrate.planning import Plan, WrittenMigration, new_migration, plan
from singletable.migrate.records import Record
from singletable.migrate.reports import MigrationReport, StepReport, Verification, VerificationError
from singletable.migrate.running import Runner
from singletable.migrate.steps import (
    AddIndex,
    Backfill,
    ChangeSetting,
    CheckItems,
    CreateTable,
    DropIndex,
    MigrationStep,
    MoveLocks,
    Note,
    Recompute,
    Rekey,
    RemoveAttributes,
    RenameAttributes,
    RenameEntities,
    RunFunction,
    Verify,
)

__all__ = [
    "FOLDER",
    "AddIndex",
    "Backfill",
    "ChangeSetting",
    "CheckItems",
    "CreateTable",
    "Difference",
    "DropIndex",
    "Expiring",
    "Folder",
    "Migration",
    "MigrationReport",
    "MigrationStep",
    "MoveLocks",
    "Note",
    "Pace",
    "Plan",
    "Progress",
    "Recompute",
    "Record",
    "Rekey",
    "RemoveAttributes",
    "RenameAttributes",
    "RenameEntities",
    "RunFunction",
    "Runner",
    "StepReport",
    "Verification",
    "VerificationError",
    "Verify",
    "WrittenMigration",
    "new_migration",
    "plan",
]
