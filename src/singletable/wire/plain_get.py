"""The commonest request, answered in one go: a GetItem of nothing but a table and a key of texts.

It does what `items.get_item` does, without the steps that such a request does not need. What is not so plain, or
wrong, is left to those steps. It is worth a path of its own: an item costs half as much.
"""

from __future__ import annotations

from typing import Any, Final

import orjson

from singletable.capacity.consumed import Consumed
from singletable.capacity.units import read_units
from singletable.limits import PARTITION_KEY_BYTES_MAX, SORT_KEY_BYTES_MAX
from singletable.storage.catalog import Catalog, Execute
from singletable.storage.images import PrimaryKey
from singletable.storage.reading import select_item
from singletable.storage.tables import Table
from singletable.values.keys import partition_bytes
from singletable.wire.outcomes import Outcome
from singletable.wire.parameters import Params, Session

_PLAIN_MEMBERS: Final = {"TableName", "Key"}


def plain_get(session: Session, params: Params) -> Outcome | None:
    """Answer a plain GetItem of the JSON protocol; None if it is not that plain."""
    if params.keys() != _PLAIN_MEMBERS or session.throttle is not None:
        return None
    name = params["TableName"]
    raw_key = params["Key"]
    if type(name) is not str or type(raw_key) is not dict:
        return None

    def work(execute: Execute, catalog: Catalog) -> Outcome | None:
        table = catalog.get(name)
        key = None if table is None else _plain_key(table, raw_key)
        if table is None or key is None:
            return None
        row = select_item(execute, table, key)
        if row is None:
            return Outcome({}, (Consumed(name, read_units(0, consistent=False)),))
        item_bytes, raw = row
        consumed = Consumed(name, read_units(item_bytes, consistent=False))
        return Outcome({"Item": orjson.Fragment(raw)}, (consumed,))

    return session.store.read(work)


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
