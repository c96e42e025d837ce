"""Guards: items that remember what was done for a record of the stream, so that it is done once.

A guard is written in the transaction that it guards, and refuses to be written again. Without transactions it goes
first: whoever dies behind it leaves something undone, and never done twice.
"""

from __future__ import annotations

from typing import Final

from singletable.client.calls import Steps
from singletable.design.actions import Action
from singletable.design.deriving import delete_action
from singletable.design.expressions import Placeholders
from singletable.design.performing import perform
from singletable.design.session import Session
from singletable.design.stored_items import read_item
from singletable.design.stored_values import Item
from singletable.errors import DesignError

GUARD_NAME: Final = "$upkeep"  # the value of a guard's discriminator
GUARD_S: Final = 2 * 24 * 3600  # a record can be read for one day


class DoneAlreadyError(DesignError):
    """What a record asks for was done before. Nobody sees this error."""

    number = "ST208"


def guard_action(session: Session, name: str) -> Action:
    """Return the action that is refused, with a DoneAlreadyError, if what is named was done before."""
    catalog, table = session.catalog, session.catalog.table
    key: Item = {table.pk: {"S": f"UPKEEP#{name}"}}
    if table.sk is not None:
        key[table.sk] = {"S": "GUARD"}
    item = {**key, catalog.discriminator: {"S": GUARD_NAME}}
    if catalog.ttl is not None:
        item[catalog.ttl] = {"N": str(session.now_s() + GUARD_S)}
    into = Placeholders()
    params = {"Item": item, "ConditionExpression": f"attribute_not_exists({into.name(table.pk)})"}
    return Action("Put", key, into.add_to(params), _done_already)


def _done_already(stored: Item | None) -> DesignError:
    return DoneAlreadyError("this was done before")


def is_done(session: Session, guard: Action) -> Steps[bool]:
    """Tell whether what a guard is for was done."""
    return (yield from read_item(session, guard.key)) is not None


def one_behind(session: Session, guard: Action, steps: Steps[None]) -> Steps[None]:
    """Write a guard and go through steps, without a transaction; what refuses to be done is not remembered."""
    yield from perform(session, guard)
    try:
        yield from steps
    except DesignError:
        yield from perform(session, delete_action(guard.key))
        raise
