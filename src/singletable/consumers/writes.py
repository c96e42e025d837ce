"""Writes of a handler that are committed together with the position of its consumer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Unpack

from singletable.errors import ConsumerError
from singletable.storage.transaction import Transaction
from singletable.wire.execution import Execution
from singletable.wire.forms import NATIVE
from singletable.wire.parameters import OperationContext

if TYPE_CHECKING:
    from singletable.wire import types


class Writes:
    """Writes that are carried out when the handler has returned, in the transaction that stores the position.

    So they happen exactly once for each record, even if the handler is called again. An invalid request raises at
    once; a failed condition fails the batch, as if the handler had raised it. The writes are carried out in their
    order, each sees those before it, and all happen or none.
    """

    def __init__(self, session: OperationContext) -> None:
        self._session = session
        self._pending: list[Execution] = []
        self._running: Execution | None = None
        self._is_open = True

    def put_item(self, **request: Unpack[types.PutItemInput]) -> None:
        """Write an item; an item with the same key is replaced."""
        self._add("PutItem", request)

    def update_item(self, **request: Unpack[types.UpdateItemInput]) -> None:
        """Change attributes of an item; it is made if it does not exist."""
        self._add("UpdateItem", request)

    def delete_item(self, **request: Unpack[types.DeleteItemInput]) -> None:
        """Delete an item by its key."""
        self._add("DeleteItem", request)

    def transact_write_items(self, **request: Unpack[types.TransactWriteItemsInput]) -> None:
        """Carry out up to 100 actions, or none of them."""
        self._add("TransactWriteItems", request)

    def __len__(self) -> int:
        return len(self._pending)

    def _add(self, operation: str, request: Mapping[str, Any]) -> None:
        if not self._is_open:
            raise ConsumerError(
                "the handler has returned: nothing can be added to its writes",
                hint="write with context.database what does not belong to the batch",
            )
        execution = Execution(self._session, operation, request, NATIVE)
        try:
            outcome = execution.begin()
        except Exception as error:
            failure = execution.fail(error)
            if failure is error:
                raise
            raise failure from error
        assert outcome is None
        self._pending.append(execution)

    # --- for the consumer ------------------------------------------------------------------------

    def close(self) -> None:
        self._is_open = False

    def apply(self, transaction: Transaction) -> list[Any]:
        """Carry out the writes; return their results."""
        results: list[Any] = []
        for execution in self._pending:
            self._running = execution
            results.append(execution.work(transaction))
        return results

    def finish(self, results: list[Any]) -> None:
        """Count the writes, when they are committed."""
        for execution, result in zip(self._pending, results, strict=True):
            execution.finish(execution.render(result))

    def fail(self, error: Exception) -> Exception:
        """Count the write that failed; return what is said of it."""
        return error if self._running is None else self._running.fail(error)
