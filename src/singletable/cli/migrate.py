"""`singletable migrate`: the difference between two versions of a design, written, rehearsed and run."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from singletable.cli.messages import error_data, say, say_error, say_failure
from singletable.cli.output import show_status, wipe_status
from singletable.cli.parser import add_command
from singletable.cli.patterns.finding import PatternSource, find_source
from singletable.cli.targets import add_design, add_opening, given_capabilities
from singletable.design.tables.drift import is_missing_file
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
    from pathlib import Path

    from singletable.cli.parser import Commands, Parser
    from singletable.design import Design
    from singletable.migrate import Expiring, MigrationReport, MigrationStep, Progress, Record

EXAMPLES = """\
examples:
  singletable migrate plan app.kefir:Kefir                          what has changed since the newest migration
  singletable migrate new app.kefir:Kefir "Add status index"        write that as the next one
  singletable migrate run app.kefir:Kefir kefir.db --dry-run        read everything, count, write nothing
  singletable migrate run app.kefir:Kefir dynamodb://eu-north-1 --env stage=prod --rate 200
  singletable migrate status app.kefir:Kefir kefir.db
  singletable migrate verify app.kefir:Kefir kefir.db
  singletable migrate run kefir old.db                              those that come with a system that is installed

MODULE:DESIGN is a class in a module that Python finds from here. TARGET is a file, an URL, or dynamodb://REGION.
"""

_NEW_EXAMPLES = """\
examples:
  singletable migrate new app.kefir:Kefir "First version"
  singletable migrate new app.kefir:Kefir "Adopt the old table" --every-item
  singletable migrate new app.shop:Shop "Call it status" --rename Order.state=status
  singletable migrate new app.kefir:Kefir "Fill in receipts" --function app.receipts:fill_in

Nothing is written when nothing has changed that concerns items. --every-item is for items that other code has
written: without discriminator, or with times to the second in their keys. --function is for what no comparison can
know: it is handed the open design and an entity, and returns the writes that are missing.

exit codes: 0, 1 the plan is blocked: somebody has to say what is meant, 2 for wrong use or a failure
"""

_PLAN_EXAMPLES = """\
examples:
  singletable migrate plan app.kefir:Kefir
  singletable migrate plan app.kefir:Kefir --json | jq '.steps[].says'
  singletable migrate plan app.shop:Shop --rename Order.state=status --remove Order.note

Steps are numbered; below them stands what has changed and needs none.

exit codes: 0, 1 the plan is blocked: somebody has to say what is meant, 2 for wrong use or a failure
"""

_STATUS_EXAMPLES = """\
examples:
  singletable migrate status app.kefir:Kefir kefir.db
  singletable migrate status app.kefir:Kefir dynamodb://eu-north-1 --env stage=prod --json

exit codes: 0 all are done, 1 some are not, 2 for wrong use or a failure
"""

_RUN_EXAMPLES = """\
examples:
  singletable migrate run app.kefir:Kefir kefir.db --dry-run
  singletable migrate run app.kefir:Kefir http://127.0.0.1:8000 --env stage=dev --rate 50items
  singletable migrate run app.kefir:Kefir dynamodb://eu-north-1 --env stage=prod --rate 200 --to 0002

It can be stopped at any time, and goes on where it stood. Steps that destroy something are asked about, or need
--yes. So is a migration by which items would expire at once, before it writes anything; --keep-expired keeps them.

exit codes: 0 all is done, 1 it stopped before something is destroyed or expires, or items differ, cannot be
changed or are of no entity, 2 a failure
"""

_VERIFY_EXAMPLES = """\
examples:
  singletable migrate verify app.kefir:Kefir kefir.db
  singletable migrate verify app.kefir:Kefir http://127.0.0.1:8000 --env stage=dev --json | jq .differing

exit codes: 0 every item is as the design says, 1 some are not, or of no entity, 2 for wrong use or a failure
"""

DONE = 0
NOT_DONE = 1
_INDENT = "  "
_WIDTH_MAX: Final = 100


def add_arguments(parser: Parser) -> None:
    """Describe `migrate`."""
    below = parser.add_subparsers(dest="migrate_command", metavar="COMMAND", required=True)
    _add_new(below)
    _add_plan(below)
    _add_run(below)
    status = add_command(
        below, "status", "list migrations, and what the table says of them", _STATUS_EXAMPLES
    )
    _add_design(status)
    _add_target(status)
    _add_folder(status)
    verify = add_command(below, "verify", "look at every item: is it as the design says?", _VERIFY_EXAMPLES)
    _add_design(verify)
    _add_target(verify)
    _add_rate(verify)
    _add_shared_table(verify)


def _add_new(below: Commands) -> None:
    new = add_command(
        below, "new", "write what has changed since the newest migration as the next one", _NEW_EXAMPLES
    )
    _add_design(new)
    new.add_argument("title", metavar="TITLE", help="what it is for, in a few words")
    _add_folder(new)
    _add_every_item(new)
    _add_choices(new)


def _add_plan(below: Commands) -> None:
    plan = add_command(below, "plan", "print what `new` would write", _PLAN_EXAMPLES)
    _add_design(plan)
    _add_folder(plan)
    _add_every_item(plan)
    _add_choices(plan)


def _add_run(below: Commands) -> None:
    run = add_command(below, "run", "run the migrations that a table has not seen", _RUN_EXAMPLES)
    _add_design(run)
    _add_target(run)
    _add_folder(run)
    _add_rate(run)
    run.add_argument("--dry-run", action="store_true", help="read everything, count, write nothing")
    run.add_argument("--to", metavar="ID", help="stop after this one; its number is enough")
    run.add_argument("--segments", metavar="COUNT", type=_count, default=1, help="read so many parts at once")
    run.add_argument(
        "--keep-expired",
        action="store_true",
        help="keep items that would expire at once: they get no time to live",
    )
    run.add_argument(
        "--yes", action="store_true", help="do not ask before something is destroyed, or expires at once"
    )
    _add_shared_table(run)


def _add_design(parser: argparse.ArgumentParser) -> None:
    add_design(parser)
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def _add_target(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("target", metavar="TARGET", help="a file, an URL, or dynamodb://REGION")
    add_opening(parser)


def _add_folder(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--folder", help="where the migrations are (default: those of the system, or scripts/migrations)"
    )


def _add_every_item(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--every-item",
        action="store_true",
        help="bring a table that other code has made, and the items of all entities, to the form of the design",
    )
    parser.add_argument(
        "--function",
        metavar="MODULE:FUNCTION",
        action="append",
        default=[],
        help="call a function for the items that are there, and write what it returns; may be given again",
    )


def _add_choices(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--rename",
        metavar="ENTITY.OLD=NEW",
        type=_rename,
        action="append",
        default=[],
        help="a field that has another name now: its values are copied; may be given several times",
    )
    parser.add_argument(
        "--remove",
        metavar="ENTITY.FIELD",
        action="append",
        default=[],
        help="a field that is gone, whose attribute is to be removed from the items; may be given several times",
    )
    parser.add_argument(
        "--accept",
        metavar="WHERE",
        action="append",
        default=[],
        help="what blocks the plan, and is meant; the run checks it before it writes; may be given several times",
    )


def _add_shared_table(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--shared-table",
        action="store_true",
        help="items of no entity are those of other programs, and are left alone (default: they are a failure)",
    )


def _rename(text: str) -> tuple[str, str]:
    old, _, new = text.partition("=")
    if not (old.count(".") == 1 and all(map(str.isidentifier, (*old.split("."), new)))):
        raise argparse.ArgumentTypeError(f"{text!r} is no rename, as Order.state=status")
    return old, new


def _add_rate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--rate",
        metavar="RATE",
        help="at most so many units a second, or items, as 50items (default: no limit)",
    )


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= 1000):
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 to 1000")
    return int(text)


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
    migrations = Folder(folder).to_run()
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
    migrations = Folder(folder).to_run()
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


def _folder(arguments: argparse.Namespace, source: PatternSource) -> str | Path:
    """Return where the migrations are: as it is said, those of a system, or those of the project here."""
    return arguments.folder or source.migrations or FOLDER


@contextmanager
def _opened(arguments: argparse.Namespace, source: PatternSource, *, makes: bool = False) -> Iterator[Design]:
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


# --- how far it is: one line on a terminal's stderr, wiped when it is over ------------------------------


@contextmanager
def migration_progress() -> Iterator[Callable[[Progress], None]]:
    """Yield what shows progress; where stderr is no terminal, it shows nothing."""
    is_shown = sys.stderr is not None and sys.stderr.isatty()

    def show(progress: Progress) -> None:
        if is_shown:
            show_status(progress_text(progress)[:_WIDTH_MAX])

    try:
        yield show
    finally:
        if is_shown:
            wipe_status()


def progress_text(progress: Progress) -> str:
    """Say how far a step is."""
    text = f"{progress.migration} step {progress.step + 1}"
    if progress.detail:
        return f"{text}: {progress.detail}"
    if not progress.done:
        return f"{text}: {progress.says}"
    text += f": {progress.done:,} of about {progress.total:,} items, {progress.per_s:,.0f} a second"
    return text if progress.left_s is None else f"{text}, {_duration(progress.left_s)} left"


def _duration(seconds: float) -> str:
    minutes = int(seconds) // 60
    return f"{int(seconds)} s" if minutes < 2 else f"{minutes} min" if minutes < 120 else f"{minutes // 60} h"
