"""The commonest reads in their plainest form, read in one go: keys and values of text, and nothing unusual.

It does what the general way does, without the steps that such a request does not need. What is not so plain, or
wrong, is left to those steps: what comes out is the same. An item costs half as much in this way.
"""

from __future__ import annotations

from typing import Any, Final

import orjson

from singletable.capacity.consumed import Consumed
from singletable.capacity.units import read_units
from singletable.engine.query import query
from singletable.engine.requests import Query
from singletable.expressions.key_conditions import plain_key_condition
from singletable.limits import EXPRESSION_BYTES_MAX, PARTITION_KEY_BYTES_MAX, SORT_KEY_BYTES_MAX
from singletable.storage.catalog import Catalog, Execute
from singletable.storage.images import PrimaryKey
from singletable.storage.reading import select_item
from singletable.storage.tables import Table
from singletable.values.keys import partition_bytes
from singletable.wire.forms import JSON
from singletable.wire.outcomes import Outcome
from singletable.wire.pages import page_outcome
from singletable.wire.parameters import Params, Session

_GET_MEMBERS: Final = {"TableName", "Key"}
_QUERY_MEMBERS: Final = {
    *("TableName", "IndexName", "KeyConditionExpression", "ExpressionAttributeValues"),
    *("Limit", "ScanIndexForward"),
}
_LIMIT_MAX: Final = 10_000


def plain_get(session: Session, params: Params) -> Outcome | None:
    """Answer a plain GetItem of the JSON protocol; None if it is not that plain."""
    if params.keys() != _GET_MEMBERS or session.throttle is not None:
        return None
    name = params["TableName"]
    raw_key = params["Key"]
    if type(name) is not str or type(raw_key) is not dict:
        return None

    table = session.store.catalog.get(name)
    key = None if table is None else _plain_key(table, raw_key)
    if table is None or key is None:
        return None

    def work(execute: Execute, catalog: Catalog) -> Outcome | None:
        if catalog.get(name) is not table:
            return None  # it has been changed, or made anew
        row = select_item(execute, table, key)
        if row is None:
            return Outcome({}, (Consumed(name, read_units(0, consistent=False)),))
        item_bytes, raw = row
        consumed = Consumed(name, read_units(item_bytes, consistent=False))
        return Outcome({"Item": orjson.Fragment(raw)}, (consumed,))

    return session.store.read(work)


def plain_query(session: Session, params: Params) -> Outcome | None:
    """Answer a plain Query of the JSON protocol; None if it is not that plain."""
    request = parse_plain_query(session.store.catalog, params)
    if request is None:
        return None
    page = query(session.store, request, session.patience, session.throttle)
    return page_outcome(page, "NONE", params, JSON)


def parse_plain_query(catalog: Catalog, params: Params) -> Query | None:
    """Read a plain Query; None if it is not that plain."""
    if not params.keys() <= _QUERY_MEMBERS:
        return None
    text = params.get("KeyConditionExpression")
    values = params.get("ExpressionAttributeValues")
    limit = params.get("Limit")
    forward = params.get("ScanIndexForward", True)
    if type(text) is not str or "#" in text or not 0 < len(text) <= EXPRESSION_BYTES_MAX // 4:
        return None
    if type(values) is not dict or not values or type(forward) is not bool:
        return None
    if limit is not None and (type(limit) is not int or not 0 < limit <= _LIMIT_MAX):
        return None
    if not _names_something(catalog, params.get("TableName"), params.get("IndexName")):
        return None
    for value in values.values():
        if _text(value, "S", PARTITION_KEY_BYTES_MAX) is None:
            return None
    condition = plain_key_condition(text, values)
    if condition is None:
        return None
    return Query(
        table=params["TableName"],
        key_condition=condition,
        index=params.get("IndexName"),
        limit=limit,
        forward=forward,
    )


def _names_something(catalog: Catalog, table_name: Any, index_name: Any) -> bool:
    if type(table_name) is not str:
        return False
    table = catalog.get(table_name)
    return table is not None and (index_name is None or table.has_index(index_name))


def _plain_key(table: Table, raw: dict[str, Any]) -> PrimaryKey | None:
    if len(raw) != len(table.key_names):
        return None
    partition = _text(raw.get(table.partition_name), table.partition_type, PARTITION_KEY_BYTES_MAX)
    if partition is None:
        return None
    if table.sort_name is None:
        return PrimaryKey(partition_bytes(partition), b"")
    sort = _text(raw.get(table.sort_name), table.sort_type, SORT_KEY_BYTES_MAX)
    return None if sort is None else PrimaryKey(partition_bytes(partition), sort)


def _text(value: Any, key_type: str | None, bytes_max: int) -> bytes | None:
    if key_type != "S" or type(value) is not dict or len(value) != 1:
        return None
    text = value.get("S")
    if type(text) is not str or not text.isascii() or not 0 < len(text) <= bytes_max:
        return None
    return text.encode()
