"""A DynamoDB in the process: methods named and shaped like those of a boto3 client."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from string import ascii_letters, digits
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, Unpack, cast

from singletable.clock import Clock, SystemClock
from singletable.engine.backup_schedule import BackupRate, BackupSchedule
from singletable.engine.backups import backup_all
from singletable.engine.deletions import watch_deletions
from singletable.engine.history import history
from singletable.engine.patience import OutOfPatienceError, Patience
from singletable.engine.throttling import Throttle
from singletable.errors import (
    ConditionFailedError,
    ConsumerError,
    DamagedDataError,
    DatabaseError,
    FileKeyError,
    TransactionCanceledError,
)
from singletable.limits import INDEX_DELAY_S_MAX, KIB, MIB, SCRUB_MIB_S_MAX, TTL_SWEEP_S_MAX, TTL_SWEEP_S_MIN
from singletable.metrics import Metrics, MetricsSnapshot
from singletable.past import PastView, Version, moment_us, version_of
from singletable.storage.check import check_connection, check_file
from singletable.storage.check_log import Problem
from singletable.storage.clock_doubt import ClockDoubt
from singletable.storage.file.connections import MEMORY, Durability, Location
from singletable.storage.file.failures import refuse_backups_in
from singletable.storage.file.given_keys import GivenKey, default_key, key_for
from singletable.storage.scrub import ScrubReport
from singletable.storage.store import Store
from singletable.storage.write_groups import OpenGroup
from singletable.wire.answers import WireAnswer, answer, answer_written, begin_answer
from singletable.wire.arns import DEFAULT_ACCOUNT, DEFAULT_REGION, check_account, check_region
from singletable.wire.execution import Execution, execute, execute_together
from singletable.wire.forms import NATIVE, take_key
from singletable.wire.operations.backups import backup_arn, new_suffix
from singletable.wire.parameters import OperationContext

if TYPE_CHECKING:
    from singletable.boto.patching import Patch
    from singletable.consumers import Consumer, ConsumerOptions, ConsumerStatus, DeadLetter, Redriven
    from singletable.consumers.following import TableChanges
    from singletable.consumers.options import ConsumerKeywords
    from singletable.wire import types

_NAME_CHARACTERS: Final = frozenset(ascii_letters + digits + "_.-")
# A millisecond or two: what one request may take of the time of all others.
_SHORT: Final = Patience(rows=1_000, read_bytes=2 * MIB, decoded_rows=100, decoded_bytes=128 * KIB)


class Database:
    """A database: one file, or memory. Open it with `Database.open`; share it between threads.

    Every method takes the parameters of the DynamoDB operation of its name, and returns its answer, as a boto3
    client does; binary values are `bytes`. What DynamoDB would refuse raises an `ApiError` with its code and
    message (`singletable.errors`); trouble with the file itself raises a `DatabaseError`.
    """

    def __init__(self, session: OperationContext) -> None:
        if not isinstance(session, OperationContext):
            raise TypeError("open a database with Database.open(path)")
        self._session = session
        self._hurried_session = replace(session, patience=_SHORT)
        self._consumers: list[Consumer] = []
        self._schedules: list[BackupSchedule] = []

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        durability: Durability = "full",
        region: str = DEFAULT_REGION,
        account: str = DEFAULT_ACCOUNT,
        throttling: bool = False,
        index_delay_s: float = 0,
        ttl_sweep_s: float | None = 1.0,
        scrub_mib_s: float | None = None,
        backups: str | os.PathLike[str] | None = None,
        clock: Clock | None = None,
        vfs: str | None = None,
        key: GivenKey | None = None,
    ) -> Self:
        """Open a database file, or make it; ":memory:" is a database that lives as long as this object.

        With durability "full", a write is on the disk before its method returns. With "relaxed", it survives
        the end of the process, also by SIGKILL, but a power cut may take the last moments.

        Region and account are those of the ARNs of tables; both are as good with any file.

        With throttling, requests that come faster than AWS would take them raise a `ThrottledError`.

        With an index delay, reads of global indexes see a change so many seconds after it was made: for trying
        code under the eventual consistency of AWS.

        Items whose time to live is over are deleted every `ttl_sweep_s` seconds; with None, only when
        `sweep_expired` is called.

        A clock that is more than a week ahead of what the file has seen takes nothing away until it is confirmed:
        see `clock_doubt`.

        With `scrub_mib_s`, a thread looks at so many MiB of the file a second, again and again, whether anybody
        reads them or not; damage is told in the log, in `metrics` and by `scrub_report`.

        Backups of tables are kept in the folder `backups`, by default in the one named as the file with
        `.backups` behind it; those of a database in memory in one that goes with it.

        With a `key`, the file and whatever belongs to it are encrypted: 32 bytes, a passphrase, or a `KeySource`,
        as `LocalKeys`, which keeps a wrapped key in the file named as the database with `.key` behind it.
        """
        if durability not in ("full", "relaxed"):
            raise ValueError(f"durability is 'full' or 'relaxed', not {durability!r}")
        check_region(region)
        check_account(account)
        if not 0 <= index_delay_s <= INDEX_DELAY_S_MAX:
            raise ValueError(
                f"index_delay_s is a number from 0 to {INDEX_DELAY_S_MAX}, not {index_delay_s!r}"
            )
        if ttl_sweep_s is not None and not TTL_SWEEP_S_MIN <= ttl_sweep_s <= TTL_SWEEP_S_MAX:
            raise ValueError(
                f"ttl_sweep_s is a number from {TTL_SWEEP_S_MIN} to {TTL_SWEEP_S_MAX}, or None: "
                f"not {ttl_sweep_s!r}"
            )
        if scrub_mib_s is not None and not 0 < scrub_mib_s <= SCRUB_MIB_S_MAX:
            raise ValueError(f"scrub_mib_s is a number up to {SCRUB_MIB_S_MAX}, or None: not {scrub_mib_s!r}")
        path = _absolute(os.fsdecode(path))
        if path == MEMORY and key is not None:
            raise FileKeyError(
                "a database in memory is not encrypted, and has no key", hint="leave the key out"
            )
        given = default_key() if key is None and path != MEMORY else key
        place = Location(
            path,
            durability,
            vfs,
            _backups_folder(path, backups),
            None if given is None else key_for(path, given, vfs),
        )
        clock = clock or SystemClock()
        metrics = Metrics()
        store = Store(
            place,
            clock,
            index_delay_us=round(index_delay_s * 1_000_000),
            sweep_s=ttl_sweep_s,
            on_expired=metrics.expired,
        )
        watch_deletions(store)
        if scrub_mib_s is not None:
            store.scrub.start(scrub_mib_s)
        session = OperationContext(store, region, account, metrics=metrics)
        if throttling:
            throttle = Throttle(clock, session.table_arn, on_event=session.metrics.throttled)
            session = replace(session, throttle=throttle)
        return cls(session)

    @property
    def path(self) -> str:
        return self._session.store.path

    @property
    def is_encrypted(self) -> bool:
        """Tell whether the file is encrypted: whether it was opened with a key."""
        return self._session.store.key is not None

    def close(self) -> None:
        """Stop consumers and schedules, wait for requests under way, close the file. Twice does nothing more.

        Nobody waits for a backup that is being made: it is given up.
        """
        for consumer in self._consumers:
            consumer.stop()
        self._session.store.give_up_long_work()
        for schedule in self._schedules:
            schedule.stop()
        self._session.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Database {self.path}>"

    def check(self) -> list[Problem]:
        """Verify the whole database, as `singletable check` does. An empty list means that it is sound."""
        try:
            return self._session.store.read(lambda execute, catalog: check_connection(execute))
        except DamagedDataError:
            return check_file(self.path, key=self._session.store.key)

    def metrics(self) -> MetricsSnapshot:
        """Return what was counted since this database was opened here, by CloudWatch's names."""
        store, snapshot = self._session.store, self._session.metrics.snapshot()
        scrubbed = store.scrub.report
        return replace(
            snapshot,
            is_clock_held=store.is_clock_held(),
            damaged_reads=store.damaged_reads,
            damaged_pages=len(scrubbed.damaged_pages),
            scrubbed_pages=scrubbed.pages,
        )

    def scrub_report(self) -> ScrubReport:
        """Return what the scrub has found; without `scrub_mib_s`, it does nothing."""
        return self._session.store.scrub.report

    def sweep_expired(self) -> int:
        """Delete the items whose time to live is over, now. Return how many there were."""
        return self._session.store.background.sweep()

    def clock_doubt(self) -> ClockDoubt | None:
        """Return what a clock that is more than a week ahead of this file would take away; None if it is believed.

        Such a clock is wrong, or the file was not open for so long. Until it is confirmed, nothing expires or is
        trimmed by it; where it would take away nothing, it is believed.
        """
        return self._session.store.clock_doubt()

    def confirm_clock(self) -> ClockDoubt | None:
        """Believe the clock as it is, and do what is due by it. Return what that took away, if it was in doubt."""
        return self._session.store.confirm_clock()

    # --- requests of the wire protocol, for servers ------------------------------------------

    @property
    def is_in_memory(self) -> bool:
        return self.path == MEMORY

    def trouble(self) -> DatabaseError | None:
        """Return why nothing is written any more: the file was removed, renamed or replaced. None: all is well."""
        return self._session.store.trouble()

    def answer(self, operation: str, body: bytes) -> WireAnswer:
        """Answer a JSON request of the DynamoDB protocol with an HTTP status and a JSON body."""
        return answer(self._session, operation, body)

    def begin(self, operation: str, body: bytes) -> WireAnswer | Execution | None:
        """Answer a request that is soon done, or read one that writes, for `answer_writes`; None: it is long."""
        try:
            return begin_answer(self._hurried_session, operation, body)
        except OutOfPatienceError:
            return None

    def answer_writes(self, waiting: Sequence[Execution]) -> list[WireAnswer]:
        """Carry out writes that were begun in one transaction, and answer them when it is committed."""
        works = [execution.work for execution in waiting]
        return answer_written(waiting, self._session.store.write_together(works))

    def refused(self, *, throttled: bool) -> None:
        """Count a request that a server has refused before it came to an operation."""
        self._session.metrics.refused(throttled=throttled)

    def apply_writes(self, waiting: Sequence[Execution]) -> OpenGroup[Any] | None:
        """Carry out writes that were begun in one transaction, and leave it open; None if others are writing."""
        return self._session.store.apply_together([execution.work for execution in waiting])

    def commit_writes(self, waiting: Sequence[Execution], group: OpenGroup[Any]) -> list[WireAnswer]:
        """Commit what `apply_writes` has left open, and answer it. From any thread; nobody else writes before."""
        return answer_written(waiting, self._session.store.commit_together(group))

    # --- every operation by its name ---------------------------------------------------------

    @property
    def clock(self) -> Clock:
        return self._session.store.clock

    def call(self, operation: str, params: Mapping[str, Any]) -> Any:
        """Carry out the operation of a name, "GetItem" for one: what the methods below do for one each."""
        try:
            return execute(self._session, operation, params, NATIVE)
        except (ConditionFailedError, TransactionCanceledError) as error:
            _show_native(error)
            raise

    def call_together(self, calls: Sequence[tuple[str, Mapping[str, Any]]]) -> list[Any]:
        """Carry out operations that do not depend on each other: what they write is committed together.

        Each succeeds or fails by itself, all of them are carried out, and the first error is raised.
        """
        answers = execute_together(self._session, calls, NATIVE)
        for failure in answers:
            if isinstance(failure, Exception):
                _show_native(failure)
                raise failure
        return answers

    # --- tables ------------------------------------------------------------------------

    def create_table(self, **request: Unpack[types.CreateTableInput]) -> types.CreateTableOutput:
        """Make a table, with its indexes."""
        return cast("types.CreateTableOutput", self.call("CreateTable", request))

    def describe_table(self, **request: Unpack[types.DescribeTableInput]) -> types.DescribeTableOutput:
        """Describe a table: its keys, indexes, settings, status and counts."""
        return cast("types.DescribeTableOutput", self.call("DescribeTable", request))

    def list_tables(self, **request: Unpack[types.ListTablesInput]) -> types.ListTablesOutput:
        """List the names of tables, sorted."""
        return cast("types.ListTablesOutput", self.call("ListTables", request))

    def update_table(self, **request: Unpack[types.UpdateTableInput]) -> types.UpdateTableOutput:
        """Change a table's settings, or add or remove a global index."""
        return cast("types.UpdateTableOutput", self.call("UpdateTable", request))

    def delete_table(self, **request: Unpack[types.DeleteTableInput]) -> types.DeleteTableOutput:
        """Delete a table with its items."""
        return cast("types.DeleteTableOutput", self.call("DeleteTable", request))

    def update_time_to_live(
        self, **request: Unpack[types.UpdateTimeToLiveInput]
    ) -> types.UpdateTimeToLiveOutput:
        """Let items of a table expire at the time that an attribute of theirs says, or no longer."""
        return cast("types.UpdateTimeToLiveOutput", self.call("UpdateTimeToLive", request))

    def describe_time_to_live(
        self, **request: Unpack[types.DescribeTimeToLiveInput]
    ) -> types.DescribeTimeToLiveOutput:
        """Tell whether items of a table expire, and by which attribute."""
        return cast("types.DescribeTimeToLiveOutput", self.call("DescribeTimeToLive", request))

    # --- tags, limits ----------------------------------------------------------------------

    def tag_resource(self, **request: Unpack[types.TagResourceInput]) -> dict[str, Any]:
        """Add tags to a table, named by its ARN; a key that is there gets the new value."""
        return cast("dict[str, Any]", self.call("TagResource", request))

    def untag_resource(self, **request: Unpack[types.UntagResourceInput]) -> dict[str, Any]:
        """Take tags away from a table."""
        return cast("dict[str, Any]", self.call("UntagResource", request))

    def list_tags_of_resource(
        self, **request: Unpack[types.ListTagsOfResourceInput]
    ) -> types.ListTagsOfResourceOutput:
        """List the tags of a table."""
        return cast("types.ListTagsOfResourceOutput", self.call("ListTagsOfResource", request))

    def describe_limits(self) -> types.DescribeLimitsOutput:
        """Tell how many units a table and an account may have."""
        return cast("types.DescribeLimitsOutput", self.call("DescribeLimits", {}))

    def describe_endpoints(self) -> types.DescribeEndpointsResponse:
        """Name AWS's endpoint of the region."""
        return cast("types.DescribeEndpointsResponse", self.call("DescribeEndpoints", {}))

    # --- the past --------------------------------------------------------------------------

    def update_continuous_backups(
        self, **request: Unpack[types.UpdateContinuousBackupsInput]
    ) -> types.UpdateContinuousBackupsOutput:
        """Keep the past of a table for 1 to 35 days, or no longer."""
        return cast("types.UpdateContinuousBackupsOutput", self.call("UpdateContinuousBackups", request))

    def describe_continuous_backups(
        self, **request: Unpack[types.DescribeContinuousBackupsInput]
    ) -> types.DescribeContinuousBackupsOutput:
        """Tell whether the past of a table is kept, and from when on."""
        return cast("types.DescribeContinuousBackupsOutput", self.call("DescribeContinuousBackups", request))

    def restore_table_to_point_in_time(
        self, **request: Unpack[types.RestoreTableToPointInTimeInput]
    ) -> types.RestoreTableToPointInTimeOutput:
        """Make a new table with the items that a table had at a moment."""
        return cast("types.RestoreTableToPointInTimeOutput", self.call("RestoreTableToPointInTime", request))

    def at(self, time: datetime | float) -> PastView:
        """Return the database as it was at a time: a datetime with a time zone, or seconds since 1970.

        Its tables can be read that have point-in-time recovery on, as far back as that goes.
        """
        return PastView(self._session, moment_us(time))

    def history(self, table: str, key: Mapping[str, Any]) -> Iterator[Version]:
        """Return the versions of an item, newest first, as far back as its table's recovery goes."""
        store = self._session.store
        now_us, kept_us = store.clock.now_us(), store.background.now_us()
        versions = history(store.read, table, take_key(key, NATIVE), now_us=now_us, kept_us=kept_us)
        return map(version_of, versions)

    # --- backups ---------------------------------------------------------------------------

    def create_backup(self, **request: Unpack[types.CreateBackupInput]) -> types.CreateBackupOutput:
        """Back up a table as it is now, while others write to it."""
        return cast("types.CreateBackupOutput", self.call("CreateBackup", request))

    def describe_backup(self, **request: Unpack[types.DescribeBackupInput]) -> types.DescribeBackupOutput:
        """Describe a backup, named by its ARN."""
        return cast("types.DescribeBackupOutput", self.call("DescribeBackup", request))

    def list_backups(self, **request: Unpack[types.ListBackupsInput]) -> types.ListBackupsOutput:
        """List backups, of one table or of all, the oldest first."""
        return cast("types.ListBackupsOutput", self.call("ListBackups", request))

    def delete_backup(self, **request: Unpack[types.DeleteBackupInput]) -> types.DeleteBackupOutput:
        """Delete a backup."""
        return cast("types.DeleteBackupOutput", self.call("DeleteBackup", request))

    def restore_table_from_backup(
        self, **request: Unpack[types.RestoreTableFromBackupInput]
    ) -> types.RestoreTableFromBackupOutput:
        """Make a new table from a backup."""
        return cast("types.RestoreTableFromBackupOutput", self.call("RestoreTableFromBackup", request))

    def backup_all(self, reason: str = "migration") -> list[str]:
        """Back up all tables as they are at one moment, and wait for that; return the ARNs of the backups.

        For programs that change data and may have to go back. They are named TABLE-reason, and pruned by a
        schedule, if there is one.
        """
        if not 1 <= len(reason) <= 100 or not set(reason) <= _NAME_CHARACTERS:
            raise ValueError(f"{reason!r} is no part of a name: letters, digits, and _ . -")
        store = self._session.store
        records = backup_all(
            store, label=reason, origin="migration", created_us=store.clock.now_us(), new_suffix=new_suffix
        )
        return [backup_arn(self._session, record.key) for record in records]

    def backup_schedule(
        self, *, every: str | timedelta = "weekly", keep: str | timedelta = "90d"
    ) -> BackupSchedule:
        """Back up all tables at a rate from now on, until this database is closed, and prune what is older.

        An interval is "weekly", "daily", hours as "12h" or days as "90d". They are kept for as long as the
        interval at least.
        """
        schedule = BackupSchedule(self._session.store, BackupRate.of(every=every, keep=keep), new_suffix)
        self._schedules.append(schedule)
        return schedule

    # --- items -----------------------------------------------------------------------------

    def put_item(self, **request: Unpack[types.PutItemInput]) -> types.PutItemOutput:
        """Write an item; an item with the same key is replaced."""
        return cast("types.PutItemOutput", self.call("PutItem", request))

    def get_item(self, **request: Unpack[types.GetItemInput]) -> types.GetItemOutput:
        """Read an item by its key."""
        return cast("types.GetItemOutput", self.call("GetItem", request))

    def update_item(self, **request: Unpack[types.UpdateItemInput]) -> types.UpdateItemOutput:
        """Change attributes of an item; it is made if it does not exist."""
        return cast("types.UpdateItemOutput", self.call("UpdateItem", request))

    def delete_item(self, **request: Unpack[types.DeleteItemInput]) -> types.DeleteItemOutput:
        """Delete an item by its key."""
        return cast("types.DeleteItemOutput", self.call("DeleteItem", request))

    # --- many items ------------------------------------------------------------------------

    def query(self, **request: Unpack[types.QueryInput]) -> types.QueryOutput:
        """Read a page of one partition of a table or index, in the order of its sort key."""
        return cast("types.QueryOutput", self.call("Query", request))

    def scan(self, **request: Unpack[types.ScanInput]) -> types.ScanOutput:
        """Read a page of a whole table or index."""
        return cast("types.ScanOutput", self.call("Scan", request))

    def batch_get_item(self, **request: Unpack[types.BatchGetItemInput]) -> types.BatchGetItemOutput:
        """Read up to 100 items by their keys."""
        return cast("types.BatchGetItemOutput", self.call("BatchGetItem", request))

    def batch_write_item(self, **request: Unpack[types.BatchWriteItemInput]) -> types.BatchWriteItemOutput:
        """Put or delete up to 25 items."""
        return cast("types.BatchWriteItemOutput", self.call("BatchWriteItem", request))

    def transact_get_items(
        self, **request: Unpack[types.TransactGetItemsInput]
    ) -> types.TransactGetItemsOutput:
        """Read up to 100 items as they were at one moment."""
        return cast("types.TransactGetItemsOutput", self.call("TransactGetItems", request))

    def transact_write_items(
        self, **request: Unpack[types.TransactWriteItemsInput]
    ) -> types.TransactWriteItemsOutput:
        """Carry out up to 100 actions, or none of them."""
        return cast("types.TransactWriteItemsOutput", self.call("TransactWriteItems", request))

    # --- streams ---------------------------------------------------------------------------

    def list_streams(self, **request: Unpack[types.ListStreamsInput]) -> types.ListStreamsOutput:
        """List the streams of all tables or of one, also those that ended within the last 24 hours."""
        return cast("types.ListStreamsOutput", self.call("ListStreams", request))

    def describe_stream(self, **request: Unpack[types.DescribeStreamInput]) -> types.DescribeStreamOutput:
        """Describe a stream: its status, and its shards."""
        return cast("types.DescribeStreamOutput", self.call("DescribeStream", request))

    def get_shard_iterator(
        self, **request: Unpack[types.GetShardIteratorInput]
    ) -> types.GetShardIteratorOutput:
        """Name a place in a shard, for `get_records` to read from."""
        return cast("types.GetShardIteratorOutput", self.call("GetShardIterator", request))

    def get_records(self, **request: Unpack[types.GetRecordsInput]) -> types.GetRecordsOutput:
        """Read a page of a shard's records, in their order."""
        return cast("types.GetRecordsOutput", self.call("GetRecords", request))

    # --- consumers -------------------------------------------------------------------------

    def consume(
        self,
        table: str,
        handler: Callable[..., Any],
        name: str,
        options: ConsumerOptions | None = None,
        **changes: Unpack[ConsumerKeywords],
    ) -> Consumer:
        """Run a handler over the changes of a table, in their order, from where the consumer of that name stands.

        The handler takes `(event, context)`, or only the event, which is the one that AWS Lambda passes for a
        stream. A batch counts as handled when it returns.

        `singletable.consumers.ConsumerOptions` lists what can be chosen; keywords of the same names change the
        options that are given, or the defaults. With `background=False` nothing runs by itself: `drain` and
        `run_once` do it in the caller's thread. docs/guides/consumers.md tells the rest.
        """
        from singletable.consumers import Consumer, ConsumerOptions

        if options is not None and not isinstance(options, ConsumerOptions):
            raise TypeError(f"options of a consumer are ConsumerOptions, or keywords, not {options!r}")
        chosen = replace(options or ConsumerOptions(), **changes)
        consumer = Consumer(self._session, self, table, handler, name, chosen)
        self._consumers = [known for known in self._consumers if known.is_running] + [consumer]
        return consumer

    def changes(self, table: str) -> TableChanges:
        """Return a reader of the changes of a table, which stores no position and holds nothing back."""
        from singletable.consumers.following import TableChanges

        session = self._session
        return TableChanges(session.store, table, region=session.region, table_arn=session.table_arn(table))

    def consumers(self, table: str | None = None) -> list[ConsumerStatus]:
        """Tell where the consumers of a table stand, or of all tables, whoever runs them."""
        from singletable.consumers.redriving import list_statuses

        return list_statuses(self._session, table)

    def dead_letters(self, table: str, name: str) -> list[DeadLetter]:
        """List the records that the handler of a consumer could not take."""
        from singletable.consumers.redriving import list_dead_letters

        return list_dead_letters(self._session, table, name)

    def redrive(self, table: str, name: str, handler: Callable[..., Any] | None = None) -> Redriven:
        """Run the handler once more over each dead letter, and remove those that it takes.

        Without a handler, it is that of the consumer of this name that was made here.
        """
        from singletable.consumers.redriving import redrive

        if handler is None:
            handlers = [
                known.handler for known in self._consumers if (known.table, known.name) == (table, name)
            ]
            if not handlers:
                raise ConsumerError(
                    f"consumer {name!r} of table {table!r} was not made here, so its handler is not known",
                    hint="give the handler: db.redrive(table, name, handler)",
                )
            handler = handlers[-1]
        return redrive(self._session, self, table, name, handler)

    def forget_consumer(self, table: str, name: str) -> None:
        """Forget a consumer with its position and its dead letters. It holds back the log no longer."""
        from singletable.consumers.redriving import forget_consumer

        forget_consumer(self._session, table, name)

    # --- boto3 -----------------------------------------------------------------------------

    def client(self, *, region_name: str | None = None, config: Any = None) -> Any:
        """Build a boto3 client for DynamoDB that this database answers, without a network."""
        from singletable.boto.clients import build_client

        return build_client(self._session, "dynamodb", region_name=region_name, config=config)

    def streams_client(self, *, region_name: str | None = None, config: Any = None) -> Any:
        """Build a boto3 client for DynamoDB Streams that this database answers, without a network."""
        from singletable.boto.clients import build_client

        return build_client(self._session, "dynamodbstreams", region_name=region_name, config=config)

    def resource(self, *, region_name: str | None = None, config: Any = None) -> Any:
        """Build a boto3 resource (tables, batch writers) that this database answers, without a network."""
        from singletable.boto.clients import build_resource

        return build_resource(self._session, region_name=region_name, config=config)


def patch(database: Database) -> Patch[Database]:
    """Answer, in a `with` block or a decorated function, the DynamoDB clients that any code builds inside it."""
    from singletable.boto.patching import Patch

    if not isinstance(database, Database):
        raise TypeError("patch takes an open Database: singletable.patch(db)")
    return Patch(database, database._session)


def _show_native(error: Exception) -> None:
    """Let the items that an error shows be as its caller writes them."""
    if isinstance(error, ConditionFailedError):
        error.item = _native(error.item)
    elif isinstance(error, TransactionCanceledError):
        error.reasons = tuple(reason.with_item(_native(reason.item)) for reason in error.reasons)


def _native(item: Any) -> Any:
    return None if item is None else NATIVE.item(item)


def _backups_folder(path: str, given: str | os.PathLike[str] | None) -> str | None:
    """Return where backups are kept; None for a temporary folder."""
    if given is not None:
        folder = os.path.abspath(os.fsdecode(given))
        refuse_backups_in(folder)
        return folder
    return None if path == MEMORY else f"{path}.backups"


def _absolute(path: str) -> str:
    """Return a path that stays right when the process changes its directory: connections are made later too."""
    if "\0" in path:
        raise ValueError("a path cannot hold a null character")
    return path if path == MEMORY else os.path.abspath(path)
