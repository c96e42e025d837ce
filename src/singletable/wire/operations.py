"""Every operation by its name, and the one way in to all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import orjson

from singletable.errors import SerializationError, SingleTableError, UnknownOperationError
from singletable.storage.failures import not_understood
from singletable.wire import batches, items, pages, tables, transactions
from singletable.wire.constraints import check
from singletable.wire.forms import Form
from singletable.wire.parameters import Answer, Params, Session
from singletable.wire.shapes import OPERATION_NAMES

Operation = Callable[[Session, Params, Form], Answer]

OPERATIONS: Final[Mapping[str, Operation]] = {
    "BatchGetItem": batches.batch_get_item,
    "BatchWriteItem": batches.batch_write_item,
    "CreateTable": tables.create_table,
    "DeleteItem": items.delete_item,
    "DeleteTable": tables.delete_table,
    "DescribeTable": tables.describe_table,
    "GetItem": items.get_item,
    "ListTables": tables.list_tables,
    "PutItem": items.put_item,
    "Query": pages.query,
    "Scan": pages.scan,
    "TransactGetItems": transactions.transact_get_items,
    "TransactWriteItems": transactions.transact_write_items,
    "UpdateItem": items.update_item,
    "UpdateTable": tables.update_table,
}


def execute(session: Session, operation: str, params: Params, form: Form) -> Answer:
    """Carry out an operation: check the shape of its parameters, then do it."""
    run = OPERATIONS.get(operation)
    if run is None:
        raise unknown(operation)
    try:
        check(operation, params, native=form.is_native)
        return run(session, params, form)
    except SingleTableError:
        raise
    except (UnicodeEncodeError, orjson.JSONEncodeError) as error:
        raise SerializationError(f"A value of the request cannot be sent: {error}") from None
    except Exception as error:
        raise not_understood(session.store.path) from error


def unknown(operation: str) -> UnknownOperationError:
    if operation in OPERATION_NAMES:
        return UnknownOperationError(f"{operation} is not supported in this release of singletable")
    return UnknownOperationError("")
