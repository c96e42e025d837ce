"""One item as it is stored now: what writes, locks and checks look at. Expired items are still there for them."""

from __future__ import annotations

from singletable.client.calls import Call, Steps
from singletable.design.answers import read_units
from singletable.design.requests import get_params
from singletable.design.session import Session
from singletable.design.stored_values import Item


def read_item(session: Session, key: Item) -> Steps[Item | None]:
    """Read an item consistently, by its key in the table."""
    item, _ = yield from read_charged(session, key)
    return item


def read_charged(session: Session, key: Item) -> Steps[tuple[Item | None, float]]:
    """Read an item consistently, by its key in the table, with the units that it took."""
    answer = yield Call("GetItem", get_params(session.table, key, consistent=True))
    return answer.get("Item"), read_units(answer)
