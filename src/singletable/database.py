"""A DynamoDB in the process: methods named and shaped like those of a boto3 client."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, Unpack, cast

from singletable.clock import Clock, SystemClock
from singletable.engine.patience import OutOfPatienceError, Patience
from singletable.engine.throttling import Throttle
from singletable.errors import ConditionFailedError, TransactionCanceledError
from singletable.limits import INDEX_DELAY_S_MAX, KIB, MIB
from singletable.metrics import MetricsSnapshot
from singletable.storage.check import check_connection
from singletable.storage.connections import MEMORY, Durability, Place
from singletable.storage.problems import Problem
from singletable.storage.store import OpenGroup, Store
from singletable.wire.answers import (
    WaitingWrite,
    WireAnswer,
    answer,
    answer_writes,
    answer_written,
    apply_writes,
    begin_answer,
)
from singletable.wire.arns import DEFAULT_ACCOUNT, DEFAULT_REGION, check_account, check_region
from singletable.wire.forms import NATIVE
from singletable.wire.operations import execute
from singletable.wire.parameters import Session

if TYPE_CHECKING:
    from singletable.boto.patching import Patch
    from singletable.wire import types

# A millisecond or two: what one request may take of the time of all others.
_SHORT: Final = Patience(rows=1_000, read_bytes=2 * MIB, decoded_rows=100, decoded_bytes=128 * KIB)


class Database:
    """A database: one file, or memory. Open it with `Database.open`; share it between threads.

    Every method takes the parameters of the DynamoDB operation of its name, and returns its answer, as a boto3
    client does; binary values are `bytes`. What DynamoDB would refuse raises an `ApiError` with its code and
    message (`singletable.errors`); trouble with the file itself raises a `DatabaseError`.
    """

    def __init__(self, session: Session) -> None:
        if not isinstance(session, Session):
            raise TypeError("open a database with Database.open(path)")
        self._session = session
        self._hurried_session = replace(session, patience=_SHORT)

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
        clock: Clock | None = None,
        vfs: str | None = None,
    ) -> Self:
        """Open a database file, or make it; ":memory:" is a database that lives as long as this object.

        With durability "full", a write is on the disk before its method returns. With "relaxed", it survives
        the end of the process, also by SIGKILL, but a power cut may take the last moments.

        Region and account are those of the ARNs of tables; both are as good with any file.

        With throttling, requests that come faster than AWS would take them raise a `ThrottledError`.

        With an index delay, reads of global indexes see a change so many seconds after it was made: for trying
        code under the eventual consistency of AWS.
        """
        if durability not in ("full", "relaxed"):
            raise ValueError(f"durability is 'full' or 'relaxed', not {durability!r}")
        check_region(region)
        check_account(account)
        if not 0 <= index_delay_s <= INDEX_DELAY_S_MAX:
            raise ValueError(
                f"index_delay_s is a number from 0 to {INDEX_DELAY_S_MAX}, not {index_delay_s!r}"
            )
        place = Place(_absolute(os.fsdecode(path)), durability, vfs)
        clock = clock or SystemClock()
        store = Store(place, clock, index_delay_us=round(index_delay_s * 1_000_000))
        session = Session(store, region, account)
        if throttling:
            throttle = Throttle(clock, session.table_arn, on_event=session.metrics.throttled)
            session = replace(session, throttle=throttle)
        return cls(session)

    @property
    def path(self) -> str:
        return self._session.store.path

    def close(self) -> None:
        """Wait for the requests under way, and close the file. Closing twice does nothing."""
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
        return self._session.store.read(lambda execute, catalog: check_connection(execute))

    def metrics(self) -> MetricsSnapshot:
        """Return what was counted since this database was opened here, by CloudWatch's names."""
        return self._session.metrics.snapshot()

    # --- requests of the wire protocol, for servers ------------------------------------------

    @property
    def is_in_memory(self) -> bool:
        return self.path == MEMORY

    def answer(self, operation: str, body: bytes) -> WireAnswer:
        """Answer a JSON request of the DynamoDB protocol with an HTTP status and a JSON body."""
        return answer(self._session, operation, body)

    def begin(self, operation: str, body: bytes) -> WireAnswer | WaitingWrite | None:
        """Answer a request that is soon done, or read one that writes, for `answer_writes`; None: it is long."""
        try:
            return begin_answer(self._hurried_session, operation, body)
        except OutOfPatienceError:
            return None

    def answer_writes(self, waiting: Sequence[WaitingWrite]) -> list[WireAnswer]:
        """Carry out writes that were begun in one transaction, and answer them when it is committed."""
        return answer_writes(self._session, waiting)

    def refused(self, *, throttled: bool) -> None:
        """Count a request that a server has refused before it came to an operation."""
        self._session.metrics.refused(throttled=throttled)

    def apply_writes(self, waiting: Sequence[WaitingWrite]) -> OpenGroup[Any] | None:
        """Carry out writes that were begun in one transaction, and leave it open; None if others are writing."""
        return apply_writes(self._session, waiting)

    def commit_writes(self, waiting: Sequence[WaitingWrite], group: OpenGroup[Any]) -> list[WireAnswer]:
        """Commit what `apply_writes` has left open, and answer it. From any thread; nobody else writes before."""
        return answer_written(self._session, waiting, self._session.store.commit_together(group))

    def _call(self, operation: str, params: Mapping[str, Any]) -> Any:
        try:
            return execute(self._session, operation, params, NATIVE)
        except ConditionFailedError as error:
            error.item = _native(error.item)
            raise
        except TransactionCanceledError as error:
            error.reasons = tuple(reason.with_item(_native(reason.item)) for reason in error.reasons)
            raise

    # --- tables ------------------------------------------------------------------------

    def create_table(self, **request: Unpack[types.CreateTableInput]) -> types.CreateTableOutput:
        """Make a table, with its indexes."""
        return cast("types.CreateTableOutput", self._call("CreateTable", request))

    def describe_table(self, **request: Unpack[types.DescribeTableInput]) -> types.DescribeTableOutput:
        """Describe a table: its keys, indexes, settings, status and counts."""
        return cast("types.DescribeTableOutput", self._call("DescribeTable", request))

    def list_tables(self, **request: Unpack[types.ListTablesInput]) -> types.ListTablesOutput:
        """List the names of tables, sorted."""
        return cast("types.ListTablesOutput", self._call("ListTables", request))

    def update_table(self, **request: Unpack[types.UpdateTableInput]) -> types.UpdateTableOutput:
        """Change a table's settings, or add or remove a global index."""
        return cast("types.UpdateTableOutput", self._call("UpdateTable", request))

    def delete_table(self, **request: Unpack[types.DeleteTableInput]) -> types.DeleteTableOutput:
        """Delete a table with its items."""
        return cast("types.DeleteTableOutput", self._call("DeleteTable", request))

    # --- tags, limits ----------------------------------------------------------------------

    def tag_resource(self, **request: Unpack[types.TagResourceInput]) -> dict[str, Any]:
        """Add tags to a table, named by its ARN; a key that is there gets the new value."""
        return cast("dict[str, Any]", self._call("TagResource", request))

    def untag_resource(self, **request: Unpack[types.UntagResourceInput]) -> dict[str, Any]:
        """Take tags away from a table."""
        return cast("dict[str, Any]", self._call("UntagResource", request))

    def list_tags_of_resource(
        self, **request: Unpack[types.ListTagsOfResourceInput]
    ) -> types.ListTagsOfResourceOutput:
        """List the tags of a table."""
        return cast("types.ListTagsOfResourceOutput", self._call("ListTagsOfResource", request))

    def describe_limits(self) -> types.DescribeLimitsOutput:
        """Tell how many units a table and an account may have."""
        return cast("types.DescribeLimitsOutput", self._call("DescribeLimits", {}))

    def describe_endpoints(self) -> types.DescribeEndpointsResponse:
        """Name AWS's endpoint of the region."""
        return cast("types.DescribeEndpointsResponse", self._call("DescribeEndpoints", {}))

    # --- items -----------------------------------------------------------------------------

    def put_item(self, **request: Unpack[types.PutItemInput]) -> types.PutItemOutput:
        """Write an item; an item with the same key is replaced."""
        return cast("types.PutItemOutput", self._call("PutItem", request))

    def get_item(self, **request: Unpack[types.GetItemInput]) -> types.GetItemOutput:
        """Read an item by its key."""
        return cast("types.GetItemOutput", self._call("GetItem", request))

    def update_item(self, **request: Unpack[types.UpdateItemInput]) -> types.UpdateItemOutput:
        """Change attributes of an item; it is made if it does not exist."""
        return cast("types.UpdateItemOutput", self._call("UpdateItem", request))

    def delete_item(self, **request: Unpack[types.DeleteItemInput]) -> types.DeleteItemOutput:
        """Delete an item by its key."""
        return cast("types.DeleteItemOutput", self._call("DeleteItem", request))

    # --- many items ------------------------------------------------------------------------

    def query(self, **request: Unpack[types.QueryInput]) -> types.QueryOutput:
        """Read a page of one partition of a table or index, in the order of its sort key."""
        return cast("types.QueryOutput", self._call("Query", request))

    def scan(self, **request: Unpack[types.ScanInput]) -> types.ScanOutput:
        """Read a page of a whole table or index."""
        return cast("types.ScanOutput", self._call("Scan", request))

    def batch_get_item(self, **request: Unpack[types.BatchGetItemInput]) -> types.BatchGetItemOutput:
        """Read up to 100 items by their keys."""
        return cast("types.BatchGetItemOutput", self._call("BatchGetItem", request))

    def batch_write_item(self, **request: Unpack[types.BatchWriteItemInput]) -> types.BatchWriteItemOutput:
        """Put or delete up to 25 items."""
        return cast("types.BatchWriteItemOutput", self._call("BatchWriteItem", request))

    def transact_get_items(
        self, **request: Unpack[types.TransactGetItemsInput]
    ) -> types.TransactGetItemsOutput:
        """Read up to 100 items as they were at one moment."""
        return cast("types.TransactGetItemsOutput", self._call("TransactGetItems", request))

    def transact_write_items(
        self, **request: Unpack[types.TransactWriteItemsInput]
    ) -> types.TransactWriteItemsOutput:
        """Carry out up to 100 actions, or none of them."""
        return cast("types.TransactWriteItemsOutput", self._call("TransactWriteItems", request))

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


def _native(item: Any) -> Any:
    return None if item is None else NATIVE.item(item)


def _absolute(path: str) -> str:
    """Return a path that stays right when the process changes its directory: connections are made later too."""
    if "\0" in path:
        raise ValueError("a path cannot hold a null character")
    return path if path == MEMORY else os.path.abspath(path)
