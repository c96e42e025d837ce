"""Runs migrations on a table: in their order, each once, from where the last run has stopped."""

from __future__ import annotations

import socket
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Final, assert_never

from singletable.client.calls import Steps
from singletable.design.design import Design
from singletable.design.model.schema import EntitySchema
from singletable.design.tables.create import change_settings, create_table
from singletable.design.tables.definition import describe_table
from singletable.design.values.items import Item
from singletable.errors import MigrationError, SingleTableError, StrangeItemsError
from singletable.migrate.deciding import decide, summary
from singletable.migrate.expiry import Expiring, expiring_items
from singletable.migrate.files import Migration, chosen_migrations
from singletable.migrate.forms import Forms, ItemRewrite
from singletable.migrate.functions import FunctionPass, find_function
from singletable.migrate.leases import LEASE_S, MigrationLease
from singletable.migrate.locks import LockPass, end_move
from singletable.migrate.pacing import Pace, Pacer
from singletable.migrate.passes import PAGE_ITEMS, Pass, PassOutcome, Progress, Watch
from singletable.migrate.recomputing import RecomputePass, counted_by_step, waits_for
from singletable.migrate.records import Record, Records, refuse_changed
from singletable.migrate.reports import MigrationReport, StepReport, Verification, VerificationError
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
    Renames,
    RunFunction,
    Verify,
    entity_names_of,
    renames_of,
    with_names,
)
from singletable.migrate.tables import add_index, drop_index, has_index, item_count

_WRITING = RenameEntities | RenameAttributes | Rekey | Backfill | Recompute | RunFunction
SHOWN_MAX: Final = 5  # items, in an error
STRANGERS_HINT: Final = (
    'class New(Entity, was="Old") if an entity has another name now; otherwise delete them; or say that the table '
    "is shared with other programs, whose items they are: --shared-table"
)
Confirm = Callable[[Migration, MigrationStep | Expiring], bool]


class Runner:
    """Runs migrations where a design is open.

    `rate` limits how fast the table is read and written. `watch` is told how far it is. `confirm` is asked before
    a step that destroys something, and before items expire at once by a migration; without it, a run stops there.
    With `keep_expired` such items are kept: they get no time to live. Items of no entity are a failure, unless
    `shared_table` says that they are those of other programs.
    """

    def __init__(
        self,
        design: Design,
        *,
        rate: Pace | float | None = None,
        segments: int = 1,
        watch: Watch | None = None,
        confirm: Confirm | None = None,
        keep_expired: bool = False,
        owner: str | None = None,
        lease_s: float = LEASE_S,
        page_items: int = PAGE_ITEMS,
        shared_table: bool = False,
    ) -> None:
        self._design = design
        self._session = design.session
        self._pacer = Pacer(self._session.client, Pace(rate) if isinstance(rate, int | float) else rate)
        self._segments = segments
        self._watch = watch
        self._confirm = confirm
        self._keep_expired = keep_expired
        self.owner = owner or f"{socket.gethostname()}-{uuid.uuid4().hex[:8]}"
        self._lease_s = lease_s
        self._page_items = page_items
        self._shared_table = shared_table
        self._records = Records(self._session)
        self._lease: MigrationLease | None = None
        self._rehearsed: list[tuple[Forms, MigrationStep]] = []  # earlier steps of a dry run
        self._awaited: MigrationStep | None = None  # the first of them that would change something
        self._renamed: Renames = {}
        self._entity_names: dict[str, str] = {}

    def run(
        self, migrations: Sequence[Migration], *, to: str | None = None, dry_run: bool = False
    ) -> list[MigrationReport]:
        """Run what was not run yet; a dry run reads everything, counts, and writes nothing."""
        try:
            return self._session.run(self.steps(migrations, to=to, dry_run=dry_run))
        except KeyboardInterrupt:
            if self._lease is not None:
                self._session.run(_released(self._lease))
            raise

    async def arun(
        self, migrations: Sequence[Migration], *, to: str | None = None, dry_run: bool = False
    ) -> list[MigrationReport]:
        """Run what was not run yet, without holding up the event loop."""
        return await self._session.arun(self.steps(migrations, to=to, dry_run=dry_run))

    def status(self, migrations: Sequence[Migration]) -> dict[str, Record]:
        """Return what the table says of migrations, by their ids. One that was never begun is not there."""
        return self._session.run(self._status(migrations))

    def verify(self) -> Verification:
        """Look at every item of the table: is it as the design says?"""
        return self._session.run(self.verify_steps())

    # --- one after the other --------------------------------------------------------------------------

    def steps(
        self, migrations: Sequence[Migration], *, to: str | None = None, dry_run: bool = False
    ) -> Steps[list[MigrationReport]]:
        """Run migrations, as steps."""
        chosen = chosen_migrations(migrations, to)
        self._rehearsed, self._awaited = [], None
        named = _with_names_of_now(migrations)
        every_step = [step for migration in named.values() for step in migration.steps]
        self._renamed, self._entity_names = renames_of(every_step), entity_names_of(every_step)
        is_there = yield from self._is_there(chosen)
        records = (yield from self._status(chosen)) if is_there else {}
        self._refuse_missing_functions(chosen, records)
        if not is_there and not dry_run:
            yield from create_table(self._session)
            is_there = True
        reports = []
        for migration in chosen:
            record = records.get(migration.id)
            refuse_changed(migration, record)
            if record is not None and record.is_done:
                reports.append(MigrationReport(migration.id, migration.title, "was done"))
                continue
            if dry_run:
                report = yield from self._rehearse(named[migration.id], record, is_there=is_there)
            else:
                report = yield from self._carry_out(named[migration.id], migration.fingerprint())
            reports.append(report)
            if report.state == "waiting":
                break
        return reports

    def _is_there(self, chosen: Sequence[Migration]) -> Steps[bool]:
        """Tell whether the table is there; refuse one that is not, unless the first migration makes it."""
        if (yield from describe_table(self._session.table)) is not None:
            return True
        if not any(isinstance(step, CreateTable) for migration in chosen[:1] for step in migration.steps):
            raise MigrationError(
                f"the table {self._session.table} is not there, and the first migration does not make it",
                hint='singletable migrate new MODULE:DESIGN "first version" writes one that does',
            )
        return False

    def _refuse_missing_functions(self, chosen: Sequence[Migration], records: Mapping[str, Record]) -> None:
        """Find the functions of all steps that are due, before anything is done to an item."""
        for migration in chosen:
            record = records.get(migration.id) or Record(migration.id)
            for step in () if record.is_done else migration.steps[record.step :]:
                match step:
                    case RunFunction(name):
                        find_function(name, type(self._design))
                    case Verify():
                        for name in step.functions:
                            find_function(name, type(self._design))

    def _status(self, migrations: Sequence[Migration]) -> Steps[dict[str, Record]]:
        return self._records.read_all([migration.id for migration in migrations])

    def _rehearse(
        self, migration: Migration, record: Record | None, *, is_there: bool
    ) -> Steps[MigrationReport]:
        record = replace(record or Record(migration.id), segments=(), differing=0)
        report = MigrationReport(migration.id, migration.title, "dry run")
        if is_there and not record.step:
            lease = MigrationLease(self._session, record, is_dry=True)
            report.expiring = yield from self._expiring(migration, lease)
            report.keeps_expired = self._keep_expired
            if self._keep_expired:
                record = replace(record, keeps_over_us=self._session.now_us())
        for number, step in list(enumerate(migration.steps))[record.step :]:
            if is_there:
                lease = MigrationLease(self._session, record, is_dry=True)
                report.steps.append((yield from self._step(migration, number, step, lease)))
                if self._awaited is None and report.steps[-1].would_change:
                    self._awaited = step
            else:
                report.steps.append(StepReport(number, step.kind, step.says(), "the table is not there yet"))
        return report

    def _carry_out(self, migration: Migration, fingerprint: str) -> Steps[MigrationReport]:
        new = Record(migration.id, migration.title, fingerprint=fingerprint)
        record = yield from self._records.take(new, self.owner, self._lease_s)
        if record.is_done:
            return MigrationReport(migration.id, migration.title, "was done")
        lease = self._lease = MigrationLease(self._session, record, lease_s=self._lease_s)
        try:
            report = yield from self._go_on(migration, lease)
        except Exception:
            self._lease = None
            yield from _released(lease)
            raise
        self._lease = None
        return report

    def _go_on(self, migration: Migration, lease: MigrationLease) -> Steps[MigrationReport]:
        report = MigrationReport(migration.id, migration.title, "done")
        if not lease.record.step and not (yield from self._let_expire(migration, lease, report)):
            yield from lease.release(state="stopped")
            report.state = "waiting"
            return report
        if lease.record.is_verified and not lease.record.segments:
            # Others may have written since the run that stopped before something is destroyed.
            begin = _verified_before(migration, lease.record.step)
            yield from lease.save(step=begin, is_verified=begin == lease.record.step)
        for number, step in list(enumerate(migration.steps))[lease.record.step :]:
            if step.is_destructive and not self._may(migration, step, lease):
                yield from lease.release(state="stopped")
                report.state = "waiting"
                break
            report.steps.append((yield from self._step(migration, number, step, lease)))
            verified = lease.record.is_verified or isinstance(step, Verify)
            yield from lease.save(step=number + 1, segments=(), differing=0, is_verified=verified)
        else:
            yield from lease.release(state="done", finished_us=self._session.now_us())
        report.seconds = lease.record.elapsed_us / 1_000_000
        return report

    # --- what would expire at once --------------------------------------------------------------------

    def _let_expire(
        self, migration: Migration, lease: MigrationLease, report: MigrationReport
    ) -> Steps[bool]:
        """Tell whether a migration may begin: nothing expires by it, or is kept from it, or it may expire."""
        report.expiring = yield from self._expiring(migration, lease)
        report.keeps_expired = self._keep_expired
        if not report.expiring.count:
            return True
        if self._keep_expired:
            yield from lease.save(keeps_over_us=self._session.now_us())
            yield from self._expiring(migration, lease, keeps=True)
            return True
        return self._confirm is not None and self._confirm(migration, report.expiring)

    def _expiring(
        self, migration: Migration, lease: MigrationLease, *, keeps: bool = False
    ) -> Steps[Expiring]:
        steps = [(self._forms(migration, step, lease), step) for step in migration.steps]
        options = {"segments": self._segments, "page_items": self._page_items}
        return expiring_items(self._session, lease, self._pacer, steps, keeps=keeps, **options)

    def _may(self, migration: Migration, step: MigrationStep, lease: MigrationLease) -> bool:
        if not lease.record.is_verified:
            raise MigrationError(
                f"{migration.id}: {step.says()} This destroys something, and nothing was verified before it",
                hint='put a step "verify" before it',
            )
        return self._confirm is not None and self._confirm(migration, step)

    # --- one step -------------------------------------------------------------------------------------

    def _step(
        self, migration: Migration, number: int, step: MigrationStep, lease: MigrationLease
    ) -> Steps[StepReport]:
        report = StepReport(number, step.kind, step.says())
        self._tell(migration, number, step, "")
        match step:
            case Note():
                report.did = "for you to do"
            case CreateTable() | AddIndex() | ChangeSetting() | DropIndex():
                said = partial(self._said, migration, number, step, lease)
                report.did = yield from self._change_table(step, said, is_dry=lease.is_dry)
            case Verify() if lease.is_dry:
                report.did = "would be verified"
                report.failures = (yield from self._look(migration, number, step, lease)).strangers
            case CheckItems():
                outcome = yield from self._pass(migration, number, step, lease)
                report.counts, report.failures = outcome.counts, [*outcome.failures, *outcome.strangers]
                report.did = "every item can be read" if not report.failures else "some items cannot be read"
                if not lease.is_dry:
                    yield from self._judge(migration, lease, lease.record.differing, outcome, begin=number)
            case Verify():
                outcome = yield from self._pass(migration, number, step, lease)
                yield from self._judge(migration, lease, lease.record.differing, outcome)
                report.did, report.counts = "every item is as it should be", outcome.counts
            case Recompute():
                yield from self._recompute(migration, number, step, lease, report)
            case RunFunction():
                yield from self._run_function(migration, number, step, lease, report)
            case MoveLocks():
                yield from self._move_locks(migration, number, step, lease, report)
            case RenameEntities() | RenameAttributes() | Backfill() | Rekey() | RemoveAttributes():
                outcome = yield from self._pass(migration, number, step, lease)
                if isinstance(step, Rekey) and lease.is_resumed and not self._has_transactions():
                    # Who died after a move may have left its mark on an item that the pass had gone by.
                    yield from lease.save(segments=())
                    yield from self._pass(migration, number, step, lease)
                report.counts, report.samples = outcome.counts, outcome.samples
                report.failures = outcome.failures
                if isinstance(step, RemoveAttributes) and not lease.is_dry:
                    yield from self._judge(migration, lease, outcome.counts.failed, outcome)
                report.did = summary(outcome, is_dry=lease.is_dry)
            case _:
                assert_never(step)
        return report

    def _recompute(
        self, migration: Migration, number: int, step: Recompute, lease: MigrationLease, report: StepReport
    ) -> Steps[None]:
        needed = waits_for(self._session, step, [earlier for _, earlier in self._rehearsed])
        if needed is not None:
            report.did = f"is counted when this is done: {needed.says()}"
            return
        obstacles = yield from self._look(migration, number, step, lease)
        if obstacles.wrong and lease.is_dry:
            report.did = "would be refused: nothing is recomputed while items cannot be read"
            report.failures = [*obstacles.strangers, *obstacles.failures]
            return
        # Who puts an item right may write it as it was before: the next run begins where items are written.
        first = _first_writing(migration)
        yield from self._judge(migration, lease, obstacles.wrong, obstacles, begin=first)
        outcome = yield from self._whole_pass(migration, number, step, lease, report)
        failed = lease.record.differing
        if failed and not lease.is_dry:
            what = f"{failed} item{'' if failed == 1 else 's'} of {self._session.table} cannot be recomputed"
            hint = "of two items that share a unique value, change or delete one; then run it again"
            yield from self._stop(migration, lease, what, outcome, hint)

    def _run_function(
        self, migration: Migration, number: int, step: RunFunction, lease: MigrationLease, report: StepReport
    ) -> Steps[None]:
        if lease.is_dry and self._awaited is not None:
            # It reads the table itself, which is not what it will be then.
            report.did = f"is counted when this is done: {self._awaited.says()}"
            return
        outcome = yield from self._whole_pass(migration, number, step, lease, report)
        failed = lease.record.differing
        if failed and not lease.is_dry:
            what = f"{step.function} failed for {failed} item{'' if failed == 1 else 's'} of {self._session.table}"
            yield from self._stop(
                migration, lease, what, outcome, "correct or delete them; then run it again"
            )

    def _whole_pass(
        self,
        migration: Migration,
        number: int,
        step: Recompute | RunFunction | MoveLocks,
        lease: MigrationLease,
        report: StepReport,
    ) -> Steps[PassOutcome]:
        if not lease.record.segments:
            # Of a run before, which people may have dealt with.
            yield from lease.save(failures=(), differing=0)
        outcome = yield from self._pass(migration, number, step, lease)
        report.counts, report.samples, report.failures = outcome.counts, outcome.samples, outcome.failures
        report.did = summary(outcome, is_dry=lease.is_dry)
        return outcome

    def _stop(
        self, migration: Migration, lease: MigrationLease, what: str, outcome: PassOutcome, hint: str
    ) -> Steps[None]:
        failures = list(lease.record.failures)
        # Who puts an item right may write it as it was before: the next run begins where items are written.
        yield from lease.save(step=_first_writing(migration), segments=(), differing=0, state="stopped")
        raise VerificationError(
            f"{migration.id}: {what}: {'; '.join(failures[:SHOWN_MAX])}", outcome, hint=hint
        )

    def _move_locks(
        self, migration: Migration, number: int, step: MoveLocks, lease: MigrationLease, report: StepReport
    ) -> Steps[None]:
        outcome = yield from self._whole_pass(migration, number, step, lease, report)
        if lease.is_dry:
            return
        failed, failures = lease.record.differing, list(lease.record.failures)
        yield from lease.save(segments=(), differing=0)
        if failed:
            raise VerificationError(
                f"{migration.id}: {failed} lock{'' if failed == 1 else 's'} of {self._session.table} cannot be "
                f"moved: {'; '.join(failures[:SHOWN_MAX])}",
                outcome,
                hint="of two items that share a unique value, change or delete one; then run it again",
            )
        # Those who wrote meanwhile have put locks under both keys, also behind the pass.
        if (yield from end_move(self._session, step)):
            yield from self._pass(migration, number, step, lease)

    def _has_transactions(self) -> bool:
        return self._session.client.capabilities.transactions

    def _change_table(
        self,
        step: CreateTable | AddIndex | ChangeSetting | DropIndex,
        said: Callable[[str], Steps[None]],
        *,
        is_dry: bool,
    ) -> Steps[str]:
        session = self._session
        match step:
            case CreateTable():
                return "the table is there"  # made before anything was recorded in it
            case AddIndex(index) if is_dry and (yield from has_index(session, index)):
                return "it is there"
            case _ if is_dry:
                return "would be done"
            case AddIndex(index):
                is_new = yield from add_index(session, index, said)
                return "added" if is_new else "it was there"
            case ChangeSetting():
                report = yield from change_settings(session)
                return "; ".join((*report.applied, *report.skipped)) or "they were so"
            case DropIndex(index):
                was_there = yield from drop_index(session, index, said)
                return "dropped" if was_there else "it was gone"
            case _:
                assert_never(step)

    def _forms(self, migration: Migration, step: MigrationStep, lease: MigrationLease) -> Forms:
        """Return what knows the items that a step finds, by all that the steps of its migration say of them."""
        was = {
            entity: texts for each in migration.steps for entity, texts in getattr(each, "was", {}).items()
        }
        others = [getattr(each, "discriminator_was", None) for each in migration.steps]
        over_us = lease.record.keeps_over_us
        return Forms(
            self._session,
            was=was if isinstance(step, CheckItems) else getattr(step, "was", None),
            discriminator_was=next((name for name in others if name is not None), None),
            renamed=self._renamed,
            entity_names=self._entity_names,
            keeps_over_at=datetime.fromtimestamp(over_us / 1_000_000, UTC) if over_us else None,
        )

    def _look(
        self, migration: Migration, number: int, step: MigrationStep, lease: MigrationLease
    ) -> Steps[PassOutcome]:
        """Look at every item before a step: is it of an entity, and can it be read, if the step counts it?"""
        catalog = self._session.catalog
        counted = counted_by_step(self._session, step) if isinstance(step, Recompute) else set()

        def schema_of(item: Item) -> EntitySchema | None:
            return catalog.schema_of(self._imagined(step, item))

        def read(item: Item) -> None:
            schema = schema_of(item)
            if schema is not None and schema.name in counted:
                schema.to_entity(self._imagined(step, item))

        one = Pass(
            self._session,
            lease.beside(),
            self._pacer,
            read,
            forms=self._forms(migration, step, lease),
            knows=schema_of,
            writes=False,
            minds_strangers=not self._shared_table,
            segments=self._segments,
            page_items=self._page_items,
        )
        return (yield from one.run())

    def _pass(
        self, migration: Migration, number: int, step: MigrationStep, lease: MigrationLease
    ) -> Steps[PassOutcome]:
        forms = self._forms(migration, step, lease)
        if lease.is_dry:
            self._rehearsed.append((forms, step))
        total = yield from item_count(self._session)
        start_us = self._session.client.clock.elapsed_us()

        def watch(seen: int) -> None:
            passed_s = (self._session.client.clock.elapsed_us() - start_us) / 1_000_000
            self._tell(migration, number, step, "", seen, total, passed_s)

        one = self._kind(step)(
            self._session,
            lease,
            self._pacer,
            partial(self._decide, forms, step),
            forms=forms,
            knows=forms.schema_of,
            writes=not lease.is_dry and not isinstance(step, Verify | CheckItems),
            minds_strangers=isinstance(step, Verify | CheckItems) and not self._shared_table,
            gone=step.gone if isinstance(step, CheckItems) else (),
            looks_again=isinstance(step, Verify),
            imagined=partial(self._imagined, step),
            segments=self._segments,
            page_items=self._page_items,
            watch=watch,
        )
        return (yield from one.run())

    def _kind(self, step: MigrationStep) -> Callable[..., Pass]:
        """Return the class of the pass that a step is."""
        design = type(self._design)
        match step:
            case Recompute():
                return partial(RecomputePass, step)
            case MoveLocks():
                return partial(LockPass, step)
            case RunFunction(name):
                return partial(FunctionPass, self._design, [find_function(name, design)], is_check=False)
            case Verify() if step.functions:
                functions = [find_function(name, design) for name in step.functions]
                return partial(FunctionPass, self._design, functions, is_check=True)
            case _:
                return Pass

    def _decide(self, forms: Forms, step: MigrationStep, item: Item) -> ItemRewrite | None:
        """Say what a step does to an item; in a dry run, to what earlier steps would have made of it."""
        return decide(forms, step, self._imagined(step, item))

    def _imagined(self, step: MigrationStep, item: Item) -> Item:
        """Return an item as it is when a step comes to it: in a dry run, as earlier ones would have made it."""
        for forms, earlier in self._rehearsed:
            if earlier is step:
                break
            change = decide(forms, earlier, item)
            item = item if change is None else change.applied_to(item)
        return item

    def _judge(
        self,
        migration: Migration,
        lease: MigrationLease,
        differing: int,
        outcome: PassOutcome,
        *,
        begin: int | None = None,
    ) -> Steps[None]:
        """Stop where items differ; the next run writes them again before it verifies, or begins at a step."""
        if not differing:
            return
        step = _first_writing(migration) if begin is None else begin
        yield from lease.save(step=step, segments=(), differing=0, is_verified=False, state="stopped")
        strangers = outcome.strangers
        if strangers:
            count = outcome.counts.unknown
            raise StrangeItemsError(
                f"{migration.id}: {count} item{'' if count == 1 else 's'} of {self._session.table} "
                f"{'is' if count == 1 else 'are'} of no entity of {self._session.catalog.name}: "
                f"{'; '.join([*strangers, *outcome.failures][:SHOWN_MAX])}",
                strangers,
                hint=STRANGERS_HINT,
            )
        shown = outcome.failures[:3] or [str(sample) for sample in outcome.samples]
        raise VerificationError(
            f"{migration.id}: {differing} item{'' if differing == 1 else 's'} "
            f"of {self._session.table} {'differ from the design' if begin is None else 'cannot be read'}: "
            f"{'; '.join(shown)}",
            outcome,
            hint="correct or delete the items that are named, and run it again"
            if outcome.failures
            else "an older version of the code may still be writing; run it again when it does not",
        )

    def verify_steps(self) -> Steps[Verification]:
        """Look at every item, as steps."""
        everything = {
            schema.name: tuple(schema.bindings) for schema in self._session.catalog.schemas.values()
        }
        step = Verify(everything)
        self._rehearsed = []
        lease = MigrationLease(self._session, Record("verify"), is_dry=True)
        outcome = yield from self._pass(Migration("verify", "Verify", (step,), None), 0, step, lease)
        return Verification(outcome)

    # --- telling --------------------------------------------------------------------------------------

    def _said(
        self, migration: Migration, number: int, step: MigrationStep, lease: MigrationLease, detail: str
    ) -> Steps[None]:
        self._tell(migration, number, step, detail)
        return lease.keep()

    def _tell(
        self,
        migration: Migration,
        number: int,
        step: MigrationStep,
        detail: str,
        seen: int = 0,
        total: int = 0,
        passed_s: float = 0.0,
    ) -> None:
        if self._watch is None:
            return
        per_s = seen / passed_s if passed_s > 0 else 0.0
        left_s = max(total - seen, 0) / per_s if per_s else None
        self._watch(
            Progress(migration.id, number, step.says(), seen, max(total, seen), per_s, left_s, detail)
        )


def _with_names_of_now(migrations: Sequence[Migration]) -> dict[str, Migration]:
    """Return migrations by their ids, with the names that later ones give to entities: those of the code."""
    found = {}
    for number, migration in enumerate(migrations):
        names = entity_names_of([step for later in migrations[number + 1 :] for step in later.steps])
        found[migration.id] = replace(
            migration, steps=tuple(with_names(step, names) for step in migration.steps)
        )
    return found


def _verified_before(migration: Migration, begin: int) -> int:
    """Return where a run begins again: at the last verify, if nothing but notes is left before what destroys."""
    left = [step for step in migration.steps[begin:] if not isinstance(step, Note)]
    if not left or not left[0].is_destructive:
        return begin
    verified = [number for number, step in enumerate(migration.steps[:begin]) if isinstance(step, Verify)]
    return verified[-1] if verified else begin


def _first_writing(migration: Migration) -> int:
    """Return the number of the first step that writes items."""
    return next((n for n, step in enumerate(migration.steps) if isinstance(step, _WRITING)), 0)


def _released(lease: MigrationLease) -> Steps[None]:
    """Give a lease back after an error; one that was lost stays so."""
    try:
        yield from lease.release(state="stopped")
    except SingleTableError:
        return
