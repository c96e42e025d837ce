"""Every operation by its name, and the one way in to all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from singletable.errors import SerializationError, SingleTableError, UnknownOperationError, ValidationError
from singletable.storage.failures import not_understood
from singletable.wire import account, batches, items, pages, tables, tags, transactions
from singletable.wire.arns import check_table_arns
from singletable.wire.constraints import check
from singletable.wire.coverage import UNSERVED_OPERATIONS, operation_refusal
from singletable.wire.forms import Form
from singletable.wire.parameters import Answer, Params, Session
from singletable.wire.refusals import refuse_types

Operation = Callable[[Session, Params, Form], Answer]

OPERATIONS: Final[Mapping[str, Operation]] = {
    "BatchGetItem": batches.batch_get_item,
    "BatchWriteItem": batches.batch_write_item,
    "CreateTable": tables.create_table,
    "DeleteItem": items.delete_item,
    "DeleteTable": tables.delete_table,
    "DescribeEndpoints": account.describe_endpoints,
    "DescribeLimits": account.describe_limits,
    "DescribeTable": tables.describe_table,
    "GetItem": items.get_item,
    "ListTables": tables.list_tables,
    "ListTagsOfResource": tags.list_tags_of_resource,
    "PutItem": items.put_item,
    "Query": pages.query,
    "Scan": pages.scan,
    "TagResource": tags.tag_resource,
    "TransactGetItems": transactions.transact_get_items,
    "TransactWriteItems": transactions.transact_write_items,
    "UntagResource": tags.untag_resource,
    "UpdateItem": items.update_item,
    "UpdateTable": tables.update_table,
}


def execute(session: Session, operation: str, params: Params, form: Form) -> Answer:
    """Carry out an operation: check the shape of its parameters, then do it."""
    run = OPERATIONS.get(operation)
    if run is None:
        raise unknown(operation)
    try:
        params = check(operation, params, native=form.is_native)
        check_table_arns(operation, params, session.region, session.account)
        return run(session, params, form)
    except ValidationError:
        # AWS reads the whole body before it validates any of it (dynalite's tests of every operation).
        refuse_types(operation, params, native=form.is_native)
        raise
    except SingleTableError:
        raise
    except UnicodeEncodeError as error:  # half of a surrogate pair, which Python can hold
        raise SerializationError(f"A value of the request cannot be sent: {error}") from None
    except Exception as error:
        raise not_understood(session.store.path) from error


def unknown(operation: str) -> UnknownOperationError:
    return UnknownOperationError(operation_refusal(operation) if operation in UNSERVED_OPERATIONS else "")
