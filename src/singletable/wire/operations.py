"""Every operation by its name, and the one way in to all of them.

A request is begun, and finished: between the two, a write waits for its transaction, which it may share.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Final

from singletable.engine.patience import OutOfPatienceError
from singletable.errors import (
    ConditionFailedError,
    SerializationError,
    SingleTableError,
    TransactionCanceledError,
    UnknownOperationError,
    ValidationError,
)
from singletable.metrics import failure_of
from singletable.storage.failures import not_understood
from singletable.wire import (
    account,
    backups,
    batches,
    continuous_backups,
    items,
    pages,
    streams,
    tables,
    tags,
    time_to_live,
    transactions,
)
from singletable.wire.arns import check_table_arns
from singletable.wire.constraints import check
from singletable.wire.coverage import UNSERVED_OPERATIONS, operation_refusal
from singletable.wire.forms import JSON, Form
from singletable.wire.outcomes import Outcome, PendingWrite
from singletable.wire.parameters import Answer, Params, Session, table_name
from singletable.wire.plain_requests import plain_get, plain_query
from singletable.wire.refusals import refuse_types

Operation = Callable[[Session, Params, Form], Answer | Outcome | PendingWrite]

OPERATIONS: Final[Mapping[str, Operation]] = {
    "BatchGetItem": batches.batch_get_item,
    "BatchWriteItem": batches.batch_write_item,
    "CreateBackup": backups.create_backup,
    "CreateTable": tables.create_table,
    "DeleteBackup": backups.delete_backup,
    "DeleteItem": items.delete_item,
    "DeleteTable": tables.delete_table,
    "DescribeBackup": backups.describe_backup,
    "DescribeContinuousBackups": continuous_backups.describe_continuous_backups,
    "DescribeEndpoints": account.describe_endpoints,
    "DescribeLimits": account.describe_limits,
    "DescribeStream": streams.describe_stream,
    "DescribeTable": tables.describe_table,
    "DescribeTimeToLive": time_to_live.describe_time_to_live,
    "GetItem": items.get_item,
    "GetRecords": streams.get_records,
    "GetShardIterator": streams.get_shard_iterator,
    "ListBackups": backups.list_backups,
    "ListStreams": streams.list_streams,
    "ListTables": tables.list_tables,
    "ListTagsOfResource": tags.list_tags_of_resource,
    "PutItem": items.put_item,
    "Query": pages.query,
    "RestoreTableFromBackup": backups.restore_table_from_backup,
    "RestoreTableToPointInTime": continuous_backups.restore_table_to_point_in_time,
    "Scan": pages.scan,
    "TagResource": tags.tag_resource,
    "TransactGetItems": transactions.transact_get_items,
    "TransactWriteItems": transactions.transact_write_items,
    "UntagResource": tags.untag_resource,
    "UpdateContinuousBackups": continuous_backups.update_continuous_backups,
    "UpdateItem": items.update_item,
    "UpdateTable": tables.update_table,
    "UpdateTimeToLive": time_to_live.update_time_to_live,
}

_PLAIN: Final = {"GetItem": plain_get, "Query": plain_query}


class Execution:
    """One request under way: begun, then finished with what came of it, or failed. It is counted at its end."""

    __slots__ = ("_form", "_operation", "_params", "_session", "_started_s")

    def __init__(self, session: Session, operation: str, params: Params, form: Form) -> None:
        self._session = session
        self._operation = operation
        self._params = params
        self._form = form
        self._started_s = perf_counter()

    def begin(self) -> Outcome | PendingWrite:
        """Check the shape of the parameters and carry out a read, or get a write ready."""
        operation = self._operation
        run = OPERATIONS.get(operation)
        if run is None:
            raise unknown(operation)
        session, form = self._session, self._form
        if form is JSON and operation in _PLAIN:
            plain = _PLAIN[operation](session, self._params)
            if plain is not None:
                return plain
        params = self._params = check(operation, self._params, native=form.is_native)
        check_table_arns(operation, params, session.region, session.account)
        begun = run(session, params, form)
        return Outcome(begun) if isinstance(begun, dict) else begun

    def finish(self, outcome: Outcome) -> Answer:
        """Return the answer of a request that succeeded."""
        consumed = outcome.consumed
        if consumed:
            table = consumed[0].table if len(consumed) == 1 else None
            latency_s = perf_counter() - self._started_s
            self._session.metrics.succeeded(
                self._operation, table, latency_s, consumed, outcome.returned, is_read=outcome.is_read
            )
        return outcome.answer

    def fail(self, error: Exception) -> Exception:
        """Return what is said of a request that failed."""
        failure = self._explained(error)
        if not isinstance(failure, OutOfPatienceError):
            self._session.metrics.failed(self._operation, self._named_table(), failure_of(failure))
            if isinstance(failure, ConditionFailedError | TransactionCanceledError):
                self._session.metrics.written(failure.units)
        return failure

    def _named_table(self) -> str | None:
        name = self._params.get("TableName")
        return table_name(name) if isinstance(name, str) else None

    def _explained(self, error: Exception) -> Exception:
        if isinstance(error, ValidationError):
            try:
                # AWS reads the whole body before it validates any of it (dynalite's tests of every operation).
                refuse_types(self._operation, self._params, native=self._form.is_native)
            except SingleTableError as worse:
                return worse
            return error
        if isinstance(error, SingleTableError | OutOfPatienceError):
            return error
        if isinstance(error, UnicodeEncodeError):  # half of a surrogate pair, which Python can hold
            return SerializationError(f"A value of the request cannot be sent: {error}")
        broken = not_understood(self._session.store.path)
        broken.__cause__ = error
        return broken


def execute(session: Session, operation: str, params: Params, form: Form) -> Answer:
    """Carry out an operation from its beginning to its end."""
    execution = Execution(session, operation, params, form)
    try:
        begun = execution.begin()
        if isinstance(begun, PendingWrite):
            begun = begun.render(session.store.write(begun.work))
        return execution.finish(begun)
    except Exception as error:
        failure = execution.fail(error)
        try:
            if failure is error:
                raise
            raise failure from failure.__cause__
        finally:
            del failure  # which knows this frame: so both go at once


def unknown(operation: str) -> UnknownOperationError:
    return UnknownOperationError(operation_refusal(operation) if operation in UNSERVED_OPERATIONS else "")
