"""What a write of one entity does to other items: all of it is a function of the entity before and after.

Locks of unique values, counters in parents, copies in children and derived items are kept by the transaction that
writes the entity. What is kept by a stream consumer instead is in `singletable.design.upkeep`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from singletable.client.calls import Steps
from singletable.design.actions import Action
from singletable.design.batch_reading import hashable
from singletable.design.belonging import Copied
from singletable.design.bringing_home import bring_key_home
from singletable.design.checking import Checking, with_check
from singletable.design.children import START, Position, children_page
from singletable.design.copying import copy_revision, copy_touches, is_stale
from singletable.design.counting import (
    Touch,
    additions,
    count_touches,
    merged_touches,
    needs_reading,
    no_parent,
    stored_changes,
    touch_action,
    touch_revision,
    touched_numbers,
    without_zeros,
)
from singletable.design.deriving import derived_actions
from singletable.design.entity import Entity
from singletable.design.expressions import Placeholders
from singletable.design.revising import Planned, changed_meanwhile, read_stored
from singletable.design.schema import EntitySchema
from singletable.design.session import Session
from singletable.design.stored_values import Item, shown_key
from singletable.design.uniqueness import lock_actions
from singletable.errors import InvalidWriteError, NotFoundError


def effect_reads(session: Session, schema: EntitySchema[Any]) -> frozenset[str]:
    """Name the fields of an entity that its effects depend on."""
    return schema.lock_reads | session.catalog.belonging.reads(schema)


def effects(
    session: Session, schema: EntitySchema[Any], before: Entity | None, after: Entity | None
) -> Steps[list[Action]]:
    """Return the actions on other items that belong to a write."""
    actions: list[Action] = yield from lock_actions(session, schema, before, after)
    actions += count_touches(session, schema, before, after, "transaction")
    if session.client.capabilities.transactions:
        actions += copy_touches(session, schema, after)
    actions += derived_actions(session, schema, before, after)
    if before is not None and after is not None:
        for copied in session.catalog.belonging.repeated(schema, "transaction"):
            if getattr(before, copied.marker.field) != getattr(after, copied.marker.field):
                actions += yield from _refreshes(session, copied, after)
    return actions


# --- copies in children ---------------------------------------------------------------------------------------


def _refreshes(session: Session, copied: Copied, source: Entity) -> Steps[list[Action]]:
    actions: list[Action] = []
    position: Position | None = START
    while position is not None:
        children, position = yield from children_page(
            session, copied.link, copied.place, source, position, exact=True
        )
        for child in children:
            if is_stale(copied, child, source):
                actions += yield from _refresh(session, copied, child, source)
    return actions


def _refresh(session: Session, copied: Copied, child: Entity, source: Entity) -> Steps[list[Action]]:
    if session.client.capabilities.transactions:
        return (yield from refresh_actions(session, copied, child, source))
    key = copied.link.child.primary_key(child)
    return [
        Planned(
            "Update",
            key,
            {},
            changed_meanwhile(key),
            order="after",
            plan=lambda: refresh_plan(session, copied, key, source),
        )
    ]


def refresh_plan(session: Session, copied: Copied, key: Item, source: Entity) -> Steps[list[Action]]:
    """Plan the refresh of a copy from what is stored now. A child that is gone stays so."""
    child = yield from read_stored(session, copied.link.child, key)
    if child is None or not is_stale(copied, child, source):
        return []
    return (yield from refresh_actions(session, copied, child, source))


def refresh_actions(session: Session, copied: Copied, child: Entity, source: Entity) -> Steps[list[Action]]:
    """Plan the refresh of the copy in a child that was read, and what follows from it."""
    schema = copied.link.child
    follows = copied.field in effect_reads(session, schema)
    reads = effect_reads(session, schema) if follows else frozenset()
    planned = copy_revision(session, copied, child, source, reads=reads)
    if not follows:
        return [planned.action]
    return [planned.action, *(yield from effects(session, schema, planned.before, planned.after))]


# --- what is asked of parents -----------------------------------------------------------------------------------


def resolved(session: Session, actions: list[Action]) -> Steps[list[Action]]:
    """Plan at the last moment what depends on other items: numbers of parents, and what follows from them.

    Without transactions that is done one by one, after the item; here it is only seen that parents are there.
    """
    touches = [action for action in actions if isinstance(action, Touch)]
    if not touches:
        return actions
    if session.client.capabilities.transactions:
        return (yield from _resolved_together(session, actions))
    for touch in touches:
        if touch.needs_parent and (yield from read_stored(session, touch.schema, touch.key)) is None:
            raise no_parent(touch)
    return actions


def later_plan(session: Session, action: Action) -> Steps[list[Action]]:
    """Plan one action by itself, where there are no transactions."""
    if isinstance(action, Touch):
        return (yield from _planned(session, action))
    if isinstance(action, Planned) and action.plan is not None:
        return (yield from action.plan())
    return [action]


def _resolved_together(session: Session, actions: list[Action]) -> Steps[list[Action]]:
    result: dict[tuple[Any, ...], list[Action]] = {}
    waiting: dict[tuple[Any, ...], Touch] = {}
    _sort_in(actions, result, waiting)
    while waiting:
        key = _next(session, waiting)
        touch = without_zeros(waiting.pop(key))
        match result.get(key):
            case [Checking() as check]:
                checked, *others = yield from _checked(session, check, touch)
                result[key] = [checked]
            case None:
                others = yield from _planned(session, touch)
            case written:
                result[key] = [_folded(session, action, touch) for action in written]
                others = []
        _sort_in(others, result, waiting)
    return [action for same in result.values() for action in same]


def _sort_in(
    actions: list[Action],
    result: dict[tuple[Any, ...], list[Action]],
    waiting: dict[tuple[Any, ...], Touch],
) -> None:
    for action in actions:
        key = hashable(action.key)
        if not isinstance(action, Touch):
            result.setdefault(key, []).append(action)
        else:
            waiting[key] = merged_touches(waiting[key], action) if key in waiting else action


def _next(session: Session, waiting: dict[tuple[Any, ...], Touch]) -> tuple[Any, ...]:
    """Choose a parent whose numbers no other one that waits can still change."""
    for key, touch in waiting.items():
        others = [other.schema for other in waiting.values() if other is not touch]
        if not any(touch.schema in _ancestors(session, other) for other in others):
            return key
    return next(iter(waiting))


def _ancestors(session: Session, schema: EntitySchema[Any]) -> set[EntitySchema[Any]]:
    found: set[EntitySchema[Any]] = set()
    waiting = [schema]
    while waiting:
        for each in session.catalog.belonging.counted(waiting.pop(), "transaction"):
            if each.link.parent not in found:
                found.add(each.link.parent)
                waiting.append(each.link.parent)
    return found


def _planned(session: Session, touch: Touch) -> Steps[list[Action]]:
    """Plan what is asked of one parent: by ADD if nothing follows from it, otherwise from what is stored."""
    if not touch.deltas and not touch.expects:
        return []
    reads = effect_reads(session, touch.schema)
    follows = bool(touch.fields(session.catalog) & reads)
    is_read = follows or needs_reading(session, touch)
    yield from bring_key_home(session, touch.schema, touch.key)
    if not is_read and (touch.needs_parent or not touch.deltas):
        return [touch_action(session, touch, is_known=False)]
    parent = yield from read_stored(session, touch.schema, touch.key)
    if parent is None:
        if touch.needs_parent:
            raise no_parent(touch)
        return []
    if not is_read:
        return [touch_action(session, touch, is_known=True)]
    planned = touch_revision(session, touch, parent, reads=reads if follows else frozenset())
    if not follows:
        return [planned.action]
    return [planned.action, *(yield from effects(session, touch.schema, parent, planned.after))]


# --- parents that are written in the same transaction --------------------------------------------------------


def _checked(session: Session, check: Checking, touch: Touch) -> Steps[list[Action]]:
    """Plan what is asked of a parent that the transaction checks as well. The first action is of the parent."""
    try:
        planned = yield from _planned(session, replace(touch, needs_parent=True))
    except NotFoundError as error:
        raise check.refused(None) from error
    if not planned:
        return [check]
    return [with_check(session, planned[0], check), *planned[1:]]


def _folded(session: Session, action: Action, touch: Touch) -> Action:
    """Return the write of a parent with what its children ask of it."""
    if action.kind == "Delete" or isinstance(action, Checking) or not touch.deltas:
        return action
    follows = touch.fields(session.catalog) & effect_reads(session, touch.schema)
    if action.kind == "Put" and not follows:
        return replace(action, params={**action.params, "Item": _counted_item(session, action, touch)})
    if action.kind in ("Update", "ConditionCheck") and not follows and not needs_reading(session, touch):
        return _with_additions(action, touch)
    raise InvalidWriteError(
        f"a transaction writes {touch.schema.entity.__name__} {shown_key(touch.key)} and what it counts, and more "
        "follows from the numbers than one write can say",
        hint="make two transactions of it",
    )


def _counted_item(session: Session, action: Action, touch: Touch) -> Item:
    item: Item = action.params["Item"]
    numbers = touched_numbers(session.catalog, touch, item)
    changes = stored_changes(session.catalog, touch.schema, numbers)
    counted = {**item, **{name: value for name, value in changes.items() if value is not None}}
    entity = touch.schema.to_entity(counted)
    follow = touch.schema.followers(touch.fields(session.catalog))
    for name, value in touch.schema.stored_fields(entity, follow).items():
        counted.pop(name, None)
        counted |= {} if value is None else {name: value}
    return {**counted, **touch.schema.key_attributes(entity)}


def _with_additions(action: Action, touch: Touch) -> Action:
    into = Placeholders.of(action.params)
    params = dict(action.params)
    text = params.get("UpdateExpression", "")
    join = ", " if " ADD " in f" {text}" else " ADD "
    params["UpdateExpression"] = f"{text}{join}{additions(touch, into)}".strip()
    return replace(action, kind="Update", params=into.add_to(params))
