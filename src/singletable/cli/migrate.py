"""`singletable migrate`: the difference between two versions of a design, written, rehearsed and run."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from singletable.cli.messages import error_data, say, say_error, say_failure
from singletable.cli.migrate_progress import migration_progress
from singletable.cli.patterns.finding import Source, find_source
from singletable.cli.targets import given_capabilities
from singletable.design.drift import is_missing_file
from singletable.errors import MigrationError, PlanBlockedError, StrangeItemsError, TableMissingError
from singletable.migrate import (
    FOLDER,
    Folder,
    Migration,
    Pace,
    Runner,
    VerificationError,
    plan,
)
from singletable.migrate.planning import write_migration
from singletable.migrate.running import STRANGERS_HINT
from singletable.migrate.steps import step_data

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from singletable.design import Design
    from singletable.migrate import Expiring, MigrationReport, MigrationStep, Record

DONE = 0
NOT_DONE = 1
_INDENT = "  "


def run(arguments: argparse.Namespace) -> int:
    """Run one of the commands below `migrate`."""
    commands: dict[str, Callable[[argparse.Namespace], int]] = {
        "new": _new,
        "plan": _plan,
        "run": _run,
        "status": _status,
        "verify": _verify,
    }
    return commands[arguments.migrate_command](arguments)


# --- what has changed -------------------------------------------------------------------------------------


def _plan(arguments: argparse.Namespace) -> int:
    source = find_source(arguments.design)
    found = plan(source.design, _folder(arguments, source), **_choices(arguments))
    if arguments.json:
        steps, differences = map(step_data, found.steps), (each.data() for each in found.differences)
        blocked = [each.where for each in found.blocking]
        print(json.dumps({"steps": list(steps), "differences": list(differences), "blocked": blocked}))
    else:
        for line in _lines(found.steps):
            print(line)
        for each in found.differences:
            if each.effect == "nothing":
                print(each.says)
        for each in found.blocking:
            say_error(f"{PlanBlockedError.number}: {each.says}", hint=each.hint)
    if found.is_empty:
        say(_nothing_changed(is_exact=found.is_exact))
    return NOT_DONE if found.blocking else DONE


def _nothing_changed(*, is_exact: bool) -> str:
    text = "nothing has changed since the newest migration"
    if is_exact:
        return text
    return f"{text}, as far as that says: an older release wrote it, without defaults and what is required"


def _new(arguments: argparse.Namespace) -> int:
    source = find_source(arguments.design)
    folder = _folder(arguments, source)
    found = plan(source.design, folder, **_choices(arguments))
    try:
        written = write_migration(source.design, arguments.title, found, folder)
    except PlanBlockedError as error:
        for each in error.differences:
            say_error(f"{error.number}: {each.says}", hint=each.hint)
        if arguments.json:
            differences = [each.data() for each in error.differences]
            print(json.dumps({"error": {**error_data(error), "differences": differences}}))
        return NOT_DONE
    if arguments.json:
        steps = [] if written is None else [step_data(step) for step in written.steps]
        print(json.dumps({"file": None if written is None else str(written.path), "steps": steps}))
    elif written is not None:
        print(written.path)
        for line in _lines(written.steps):
            say(line)
    for each in found.differences:
        if each.effect == "nothing":
            say(each.says)
    if found.is_empty:
        say(_nothing_changed(is_exact=found.is_exact))
    elif written is None:
        say("no migration is written: nothing of this concerns items")
    return DONE


def _choices(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return what was said of the plan: every item, fields that are renamed or removed, what is accepted."""
    return {
        "every_item": arguments.every_item,
        "renamed": dict(arguments.rename),
        "removed": arguments.remove,
        "accepted": arguments.accept,
        "functions": arguments.function,
    }


def _lines(steps: tuple[MigrationStep, ...]) -> Iterator[str]:
    for number, step in enumerate(steps, 1):
        yield f"{number:>2}. {step.says()}{' (destroys something)' if step.is_destructive else ''}"


# --- on a table -------------------------------------------------------------------------------------------


def _run(arguments: argparse.Namespace) -> int:
    source = find_source(arguments.design)
    folder = _folder(arguments, source)
    migrations = Folder(folder).migrations()
    if not migrations:
        raise MigrationError(
            f"there are no migrations in {folder}",
            hint=f"{_pasted(arguments, 'new', 'First version')} writes the first",
        )
    with _opened(arguments, source, makes=not arguments.dry_run) as db, migration_progress() as show:
        runner = Runner(
            db,
            rate=_rate(arguments),
            segments=arguments.segments,
            watch=show,
            confirm=_confirm(arguments),
            shared_table=arguments.shared_table,
            keep_expired=arguments.keep_expired,
        )
        try:
            reports = runner.run(migrations, to=arguments.to, dry_run=arguments.dry_run)
        except (VerificationError, StrangeItemsError) as error:
            say_failure(error, as_json=arguments.json)
            return NOT_DONE
    if arguments.json:
        print(json.dumps([report.data() for report in reports]))
    else:
        _print_reports(reports)
    is_stopped = any(report.state == "waiting" for report in reports)
    # What a rehearsal cannot do stops the run.
    has_failures = any(step.failures for report in reports for step in report.steps)
    has_failures |= arguments.dry_run and not arguments.yes and any(map(_is_asked, reports))
    return NOT_DONE if is_stopped or has_failures else DONE


def _is_asked(report: MigrationReport) -> bool:
    """Tell whether a run asks before it lets items expire at once."""
    return report.expiring is not None and report.expiring.count > 0 and not report.keeps_expired


def _print_reports(reports: list[MigrationReport]) -> None:
    for report in reports:
        print(f"{report.id}: {report.state}")
        if report.expiring is not None and report.expiring.count:
            they = "It is" if report.expiring.count == 1 else "They are"
            kept = f" {they} kept, without a time to live." if report.keeps_expired else ""
            print(f"{_INDENT}{report.expiring.says()}{kept}")
        for step in report.steps:
            print(f"{_INDENT}{step.number + 1}. {step.says} {step.did}")
            for sample in step.samples:
                print(f"{_INDENT * 3}{json.dumps(sample, default=str, ensure_ascii=False)}")
            for failure in step.failures:
                print(f"{_INDENT * 3}failed: {failure}")
        if report.state == "waiting" and _is_asked(report) and not report.steps:
            say(
                f"{report.id} has written nothing: run it again with --keep-expired to keep these items, "
                "or with --yes to let them expire"
            )
        elif report.state == "waiting":
            say(f"{report.id} stopped before a step that destroys something: run it again with --yes")


def _status(arguments: argparse.Namespace) -> int:
    source = find_source(arguments.design)
    folder = _folder(arguments, source)
    migrations = Folder(folder).migrations()
    with _opened(arguments, source) as db:
        records = Runner(db).status(migrations)
    if not migrations:
        say(f"there are no migrations in {folder}")
    rows = [_row(migration, records.get(migration.id)) for migration in migrations]
    known = {migration.id for migration in migrations}
    rows += [
        {"id": record.id, "title": record.title, "state": f"{record.state}, and not in the folder"}
        for record in records.values()
        if record.id not in known
    ]
    for row in rows:
        print(json.dumps(row) if arguments.json else f"{row['id']}: {row['state']}")
    return DONE if all(row["state"].startswith("done") for row in rows) else NOT_DONE


def _row(migration: Migration, record: Record | None) -> dict[str, Any]:
    row: dict[str, Any] = {"id": migration.id, "title": migration.title, "state": "not begun"}
    if record is not None:
        row |= {
            "state": record.state,
            "step": record.step,
            "steps": len(migration.steps),
            "counts": record.counts.data(),
            "seconds": record.elapsed_us / 1_000_000,
            "finished_us": record.finished_us or None,
            "failures": list(record.failures),
        }
    return row


def _verify(arguments: argparse.Namespace) -> int:
    with _opened(arguments, find_source(arguments.design)) as db, migration_progress() as show:
        runner = Runner(db, rate=_rate(arguments), watch=show, shared_table=arguments.shared_table)
        verdict = runner.verify()
    if arguments.json:
        print(json.dumps(verdict.data(), default=str))
    else:
        for sample in verdict.outcome.samples:
            print(json.dumps(sample, default=str, ensure_ascii=False))
        for failure in (*verdict.outcome.failures, *verdict.outcome.strangers):
            print(f"failed: {failure}")
        counts = verdict.outcome.counts
        say(f"{counts.seen} items, {verdict.outcome.differing} differ, {counts.unknown} are of no entity")
        if verdict.outcome.strangers:
            say(f"hint: {STRANGERS_HINT}")
    return DONE if verdict.is_right else NOT_DONE


# --- what is given ----------------------------------------------------------------------------------------


def _folder(arguments: argparse.Namespace, source: Source) -> str | Path:
    """Return where the migrations are: as it is said, those of a system, or those of the project here."""
    return arguments.folder or source.migrations or FOLDER


@contextmanager
def _opened(arguments: argparse.Namespace, source: Source, *, makes: bool = False) -> Iterator[Design]:
    if not makes and is_missing_file(arguments.target):
        # Opening it would make it.
        raise MigrationError(f"there is no file {arguments.target}", hint=_makes_it(arguments))
    environment = source.environment_with(arguments.env)
    capabilities = given_capabilities(arguments, arguments.target)
    with source.design.open(arguments.target, create=False, capabilities=capabilities, **environment) as db:
        try:
            yield db
        except TableMissingError as error:
            # Not by create_table(), which would record nothing.
            raise MigrationError(
                f"the table {db.session.table} is not there", hint=_makes_it(arguments)
            ) from error


def _makes_it(arguments: argparse.Namespace) -> str:
    words = [arguments.target]
    for name, value in arguments.env:
        words += ["--env", f"{name}={value}"]
    return f"{_pasted(arguments, 'run', *words)} makes it"


def _pasted(arguments: argparse.Namespace, command: str, *words: str) -> str:
    """Return one of the commands below `migrate`, for the same design and folder."""
    folder: str | None = getattr(arguments, "folder", None)
    words = (arguments.design, *words, *(() if folder is None else ("--folder", folder)))
    return shlex.join(["singletable", "migrate", command, *words])


def _rate(arguments: argparse.Namespace) -> Pace | None:
    return None if arguments.rate is None else Pace.parse(arguments.rate)


def _confirm(arguments: argparse.Namespace) -> Callable[[Migration, MigrationStep | Expiring], bool]:
    def confirm(migration: Migration, step: MigrationStep | Expiring) -> bool:
        if arguments.yes:
            return True
        if sys.stdin is None or not sys.stdin.isatty():
            return False
        say(f"{migration.id}: {step.says()} This cannot be undone.")
        print("Go on? [y/N] ", end="", file=sys.stderr, flush=True)
        return sys.stdin.readline().strip().lower() in ("y", "yes")

    return confirm
