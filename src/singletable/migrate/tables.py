"""Steps that change the table itself: an index more, an index less, settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from singletable.client.calls import Call, Steps, Wait
from singletable.design.session.session import Session
from singletable.design.tables.definition import declared_table, describe_table, index_request
from singletable.errors import LimitExceededError, MigrationError, ResourceInUseError, TableInUseError

Said = Callable[[str], Steps[None]]  # says how far it is, and keeps the lease

_WAIT_S: Final = 0.05
_WAIT_S_MAX: Final = 10.0


def add_index(session: Session, name: str, said: Said) -> Steps[bool]:
    """Make an index and wait until it is ACTIVE; tell whether it was missing."""
    declared = declared_table(session.catalog, session.table)
    index = declared.index(name)
    if index is None:
        # It was added and dropped again since: a later migration of the folder does the dropping.
        return False
    description = (yield from describe_table(session.table)) or {}
    is_missing = name not in _indexes_of(description)
    if is_missing:
        new = {attribute: declared.attribute_types[attribute] for attribute in (*index.pk, *index.sk)}
        request: dict[str, Any] = {
            "TableName": session.table,
            "AttributeDefinitions": _definitions(description, new),
            "GlobalSecondaryIndexUpdates": [{"Create": index_request(index, session.client.capabilities)}],
        }
        yield from _update(request, said)
    yield from _settled(session, name, said)
    return is_missing


def drop_index(session: Session, name: str, said: Said) -> Steps[bool]:
    """Delete an index and wait until it is gone; tell whether it was there."""
    if any(index.name == name for index in session.catalog.table.indexes):
        raise MigrationError(
            f"the index {name} is to be dropped, and {session.catalog.table.__name__} still has it",
            hint="take it out of the code first",
        )
    if (yield from _is_missing(session, name)):
        return False
    request = {
        "TableName": session.table,
        "GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": name}}],
    }
    yield from _update(request, said)
    yield from _settled(session, name, said)
    return True


def has_index(session: Session, name: str) -> Steps[bool]:
    """Tell whether the table has an index."""
    return not (yield from _is_missing(session, name))


def item_count(session: Session) -> Steps[int]:
    """Return about how many items there are; DynamoDB counts every six hours."""
    description = yield from describe_table(session.table)
    return 0 if description is None else int(description.get("ItemCount", 0))


def _definitions(description: dict[str, Any], new: dict[str, str]) -> list[dict[str, str]]:
    """Return the attributes of all keys, those of a new index among them.

    DynamoDB asks for "attributes that describe the key schema for the table and indexes" (UpdateTable). It does
    with those of the new index, but ExtendDB takes the list for all there are, and then forgets its own keys.
    """
    there = {
        each["AttributeName"]: each["AttributeType"] for each in description.get("AttributeDefinitions", ())
    }
    return [{"AttributeName": name, "AttributeType": kind} for name, kind in {**there, **new}.items()]


def _is_missing(session: Session, name: str) -> Steps[bool]:
    return name not in _indexes_of((yield from describe_table(session.table)) or {})


def _indexes_of(description: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {index["IndexName"]: index for index in description.get("GlobalSecondaryIndexes") or ()}


def _update(request: dict[str, Any], said: Said) -> Steps[None]:
    """Ask for a change of the table, as soon as it takes one: DynamoDB makes one index at a time."""
    pause_s = _WAIT_S
    while True:
        try:
            yield Call("UpdateTable", request)
        except (ResourceInUseError, TableInUseError, LimitExceededError) as error:
            yield from said(f"waiting: {error.message}")
            yield Wait(pause_s)
            pause_s = min(pause_s * 2, _WAIT_S_MAX)
        else:
            return


def _settled(session: Session, name: str, said: Said) -> Steps[None]:
    """Wait until an index is ACTIVE or gone, and the table can be changed again."""
    pause_s = _WAIT_S
    while True:
        description = (yield from describe_table(session.table)) or {}
        status = _indexes_of(description).get(name, {}).get("IndexStatus", "ACTIVE")
        if status == "ACTIVE" and description.get("TableStatus") == "ACTIVE":
            return
        yield from said(f"{name} is {status}")
        yield Wait(pause_s)
        pause_s = min(pause_s * 2, _WAIT_S_MAX)
