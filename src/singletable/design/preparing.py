"""How a write is planned: the exact actions, from what is known and, where that is little, from what is stored.

Index keys follow their parts: they are rebuilt when a part changes and removed when the index's condition stops
holding. A part that is not known is read; never is half a key written. What was read, and not by a version, is
demanded to be unchanged.
"""

from __future__ import annotations

from typing import assert_never

from singletable.client.calls import Steps
from singletable.design.actions import Prepared
from singletable.design.bringing_home import bring_home, bring_parents_home
from singletable.design.delete_planning import plan_check, plan_delete
from singletable.design.put_planning import plan_create, plan_put
from singletable.design.session import Session
from singletable.design.update_planning import plan_update
from singletable.design.write_planning import key_of, schema_for
from singletable.design.writes import AnyWrite, Check, Create, Delete, Load, Put, Update

__all__ = ["key_of", "prepare", "schema_for"]


def prepare(session: Session, write: AnyWrite, *, fresh: bool = False) -> Steps[Prepared]:
    """Plan a write; with `fresh`, from what is stored now instead of what the caller has read."""
    target = write.entity if isinstance(write, Create | Put | Load) else write.target
    schema = schema_for(session, target)
    if session.catalog.has_old_keys:
        yield from bring_home(session, schema, target)
        yield from bring_parents_home(session, schema, target)
    match write:
        case Create(entity):
            return (yield from plan_create(session, entity))
        case Put(entity, when):
            return (yield from plan_put(session, entity, when))
        case Load(entity):
            return (yield from plan_put(session, entity, None, loads=True))
        case Update():
            return (yield from plan_update(session, write, fresh=fresh))
        case Delete(target, when):
            return (yield from plan_delete(session, target, when, fresh=fresh))
        case Check(target, when):
            return plan_check(session, target, when)
        case _:
            assert_never(write)
