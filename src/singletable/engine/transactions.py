"""TransactGetItems and TransactWriteItems: all or nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from struct import iter_unpack, pack
from typing import TypeVar

from singletable import limits
from singletable.capacity.consumed import Consumed, by_table
from singletable.capacity.units import transaction_read_units, transaction_write_units
from singletable.engine.charges import Charge, failed_charge, write_charges
from singletable.engine.collections import collection_sizes
from singletable.engine.items import key_of_write
from singletable.engine.keys import EmptyKeyError, check_key_paths, key_of_request, require_table
from singletable.engine.patience import Patience
from singletable.engine.plans import check_condition, consumed_by_check, consumed_by_write, plan
from singletable.engine.requests import Action, ConditionCheck, GetItem, TransactGetItems, TransactWriteItems
from singletable.engine.results import StoredItem, TransactGetResult, WritesResult
from singletable.engine.throttling import Throttle
from singletable.errors import (
    ApiError,
    CancellationReason,
    ConditionFailedError,
    IdempotentParameterMismatchError,
    ThrottledError,
    ThroughputExceededError,
    TransactionCanceledError,
    ValidationError,
)
from singletable.storage.catalog import Catalog, Execute
from singletable.storage.changes import Change
from singletable.storage.images import PrimaryKey, StoredImage
from singletable.storage.reading import select_image, snapshot
from singletable.storage.store import Store
from singletable.storage.tables import Table
from singletable.storage.transaction import Transaction
from singletable.values.sizes import item_bytes

R = TypeVar("R", bound=Action | GetItem)

_NO_REASON = CancellationReason("None")


@dataclass(slots=True)
class _Step:
    """One action, with its item and its change (None for a condition check)."""

    action: Action
    table: Table
    key: PrimaryKey
    stored: StoredImage | None
    change: Change | None


def transact_write(
    request: TransactWriteItems, throttle: Throttle | None = None
) -> Callable[[Transaction], WritesResult]:
    """Return the work of a TransactWriteItems: all actions, or none of them."""

    def work(transaction: Transaction) -> WritesResult:
        tables = [require_table(transaction.catalog, action.table) for action in request.actions]
        if request.token is not None:
            sizes = _sizes_of_first(transaction, request.token, request.digest)
            if sizes is not None:
                if throttle is not None:
                    throttle.charge("Read", _repeated_charges(tables, sizes))
                return _repeated_result(tables, sizes)
        steps = _plan(transaction, tables, request.actions, throttle)
        if throttle is not None:
            _check_refusals(throttle.take_all("Write", [_charges(step) for step in steps]))
        for step in steps:
            if step.change is not None:
                transaction.apply(step.change)
        if request.token is not None:
            transaction.save_token(request.token, request.digest + _packed_sizes(steps))
        return _result(transaction, steps, request)

    return work


def _sizes_of_first(transaction: Transaction, token: str, digest: bytes) -> list[int] | None:
    """Return the sizes that a request with this token was charged for in the last ten minutes, if there is one."""
    known = transaction.token_digest(token)
    if known is None:
        return None
    if not known.startswith(digest):
        raise IdempotentParameterMismatchError(
            "Request parameters are not the same as the ones used in the previous request with the same token"
        )
    return [size for (size,) in iter_unpack("<I", known[len(digest) :])]


def _packed_sizes(steps: Sequence[_Step]) -> bytes:
    """Return the bytes behind the digest of a request: for each action, the size that it was charged for."""
    return pack(f"<{len(steps)}I", *[_paid_bytes(step) for step in steps])


def _paid_bytes(step: _Step) -> int:
    before = step.stored.item_bytes if step.stored else 0
    after = step.change.after if step.change else None
    return max(before, after.item_bytes) if after else before


def _plan(
    transaction: Transaction, tables: Sequence[Table], actions: Sequence[Action], throttle: Throttle | None
) -> list[_Step]:
    """Decide every action. If any cannot be done, none is, and each gets its reason."""
    keys = _keys(tables, actions, _key)
    _check_distinct(tables, keys)
    steps: list[_Step] = []
    reasons = [_NO_REASON] * len(actions)
    for number, (table, action, key) in enumerate(zip(tables, actions, keys, strict=True)):
        try:
            steps.append(_step(transaction, table, action, key))
        except EmptyKeyError:
            raise
        except (ValidationError, ConditionFailedError) as error:
            reasons[number] = _reason(error)
    if len(steps) < len(actions):
        raise _cancelled(reasons, _cancelled_charges(transaction, tables, actions, keys), throttle)
    return steps


def _cancelled(
    reasons: Sequence[CancellationReason], charges: Sequence[Charge], throttle: Throttle | None
) -> TransactionCanceledError:
    if throttle is not None:
        throttle.charge("Write", charges)
    error = TransactionCanceledError(reasons)
    units: dict[str, float] = {}
    for charge in charges:
        units[charge.table.name] = units.get(charge.table.name, 0.0) + charge.units
    error.units = units
    return error


def _keys(
    tables: Sequence[Table], requests: Sequence[R], key_of: Callable[[Table, R], PrimaryKey]
) -> list[PrimaryKey]:
    """Return the key of each request.

    Of the wrong ones AWS names the first alone, and it looks at no condition then (ScyllaDB's
    test_transact_write_cancellation_reasons_validationerror, run against the service). An empty key is refused
    outright: AWS sees it before the transaction begins.
    """
    keys: list[PrimaryKey] = []
    for number, (table, request) in enumerate(zip(tables, requests, strict=True)):
        try:
            keys.append(key_of(table, request))
        except EmptyKeyError:
            raise
        except ValidationError as error:
            reasons = [_NO_REASON] * len(requests)
            reasons[number] = _reason(error)
            raise TransactionCanceledError(reasons) from None
    return keys


def _key(table: Table, action: Action) -> PrimaryKey:
    if not isinstance(action, ConditionCheck):
        return key_of_write(table, action)
    key = key_of_request(table, action.key)
    check_key_paths(table, action.condition)
    return key


def _check_distinct(tables: Sequence[Table], keys: Sequence[PrimaryKey]) -> None:
    places = [(table.id, key) for table, key in zip(tables, keys, strict=True)]
    if len(set(places)) != len(places):
        raise ValidationError("Transaction request cannot include multiple operations on one item")


def _step(transaction: Transaction, table: Table, action: Action, key: PrimaryKey) -> _Step:
    stored = transaction.get(table, key)
    if isinstance(action, ConditionCheck):
        check_condition(action, stored)
        return _Step(action, table, key, stored, None)
    return _Step(action, table, key, stored, plan(action, table, key, stored, transaction.now_us))


def _reason(error: ApiError) -> CancellationReason:
    match error:
        case ConditionFailedError():
            return CancellationReason("ConditionalCheckFailed", error.message, error.item)
        case ThroughputExceededError():
            return CancellationReason("ProvisionedThroughputExceeded", error.message)
        case ThrottledError():
            return CancellationReason("ThrottlingError", error.message)
        case _:
            return CancellationReason("ValidationError", error.message)


# --- throttling --------------------------------------------------------------------------------


def _check_refusals(refusals: Sequence[ThrottledError | None]) -> None:
    """Cancel a transaction of which any part is throttled: nothing of it has been charged."""
    if any(refusals):
        raise TransactionCanceledError([_reason(refusal) if refusal else _NO_REASON for refusal in refusals])


def _charges(step: _Step) -> list[Charge]:
    consumed = _doubled(_consumed(step))
    if step.change is not None:
        return write_charges(step.change, consumed)
    return [Charge(step.table, None, step.key.partition, consumed.table_units)]


def _cancelled_charges(
    transaction: Transaction,
    tables: Sequence[Table],
    actions: Sequence[Action],
    keys: Sequence[PrimaryKey],
) -> list[Charge]:
    """Return the cost of a cancelled transaction.

    It "consumes two write units. This capacity is consumed even when the transaction is canceled (for example,
    because a condition check fails)" (developer guide, "DynamoDB read and write operations").
    """
    charges = [
        failed_charge(action, table, key, transaction.get(table, key))
        for table, action, key in zip(tables, actions, keys, strict=True)
    ]
    return [replace(charge, units=transaction_write_units(charge.units)) for charge in charges]


def _repeated_charges(tables: Sequence[Table], sizes: Sequence[int]) -> list[Charge]:
    return [
        Charge(table, None, None, transaction_read_units(size))
        for table, size in zip(tables, sizes, strict=True)
    ]


# --- results -----------------------------------------------------------------------------------


def _result(transaction: Transaction, steps: Sequence[_Step], request: TransactWriteItems) -> WritesResult:
    result = WritesResult(by_table(_doubled(_consumed(step)) for step in steps))
    if request.reports_collections:
        changes = (step.change for step in steps if step.change is not None)
        result.collections = collection_sizes(transaction, changes)
    return result


def _consumed(step: _Step) -> Consumed:
    if step.change is not None:
        return consumed_by_write(step.change)
    assert isinstance(step.action, ConditionCheck)
    return consumed_by_check(step.action, step.stored)


def _doubled(consumed: Consumed) -> Consumed:
    consumed.table_units = transaction_write_units(consumed.table_units)
    return consumed


def _repeated_result(tables: Sequence[Table], sizes: Sequence[int]) -> WritesResult:
    """Return the result of a repeated (idempotent) request: it changes nothing, and costs a read (API reference).

    The items are those of the first time: the repetition of a transaction that deleted or shrank 9 KB costs 6,
    and so does that of one that grew an item to them (measured by dynoxide's authors in eu-west-2, August 2026).
    """
    return WritesResult(_read_units(tables, sizes), is_repeated=True)


def _read_units(tables: Sequence[Table], sizes: Sequence[int]) -> list[Consumed]:
    return by_table(
        Consumed(table.name, transaction_read_units(size)) for table, size in zip(tables, sizes, strict=True)
    )


# --- reading -----------------------------------------------------------------------------------


def transact_get_items(
    store: Store,
    request: TransactGetItems,
    patience: Patience | None = None,
    throttle: Throttle | None = None,
) -> TransactGetResult:
    """Read several items as they were at one moment."""

    def work(execute: Execute, catalog: Catalog) -> TransactGetResult:
        tables = [require_table(catalog, get.table) for get in request.gets]
        keys = _keys(tables, request.gets, _get_key)
        _check_distinct(tables, keys)
        with snapshot(execute):
            images = [select_image(execute, table, key) for table, key in zip(tables, keys, strict=True)]
        if patience is not None:
            read_bytes = sum(image.item_bytes for image in images if image is not None)
            patience.check(read_bytes, decodes=any(get.projection is not None for get in request.gets))
        items = [_returned(get, image) for get, image in zip(request.gets, images, strict=True)]
        _check_returned_bytes(images, items)
        sizes = [image.item_bytes if image else 0 for image in images]
        if throttle is not None:
            charges = [
                [Charge(table, None, key.partition, transaction_read_units(size))]
                for table, key, size in zip(tables, keys, sizes, strict=True)
            ]
            _check_refusals(throttle.take_all("Read", charges))
        return TransactGetResult(items, _read_units(tables, sizes))

    return store.read(work)


def _get_key(table: Table, get: GetItem) -> PrimaryKey:
    key = key_of_request(table, get.key)
    check_key_paths(table, get.projection)
    return key


def _check_returned_bytes(images: Sequence[StoredImage | None], items: Sequence[StoredItem | None]) -> None:
    """Refuse an answer of more than 4 MB (API reference); the words are DynamoDB Local's."""
    returned = 0
    for image, item in zip(images, items, strict=True):
        if image is not None and item is not None:
            returned += image.item_bytes if isinstance(item, bytes) else item_bytes(item)
    if returned > limits.TRANSACTION_BYTES_MAX:
        raise ValidationError(f"Payload in response is too large.{returned}")


def _returned(get: GetItem, image: StoredImage | None) -> StoredItem | None:
    """Return an item as the answer holds it; None where the projection finds nothing in it."""
    if image is None:
        return None
    return image.raw if get.projection is None else get.projection.apply(image.item) or None
