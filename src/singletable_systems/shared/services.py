"""The base of services; how they refuse input, and mark notifications as read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final, Generic, TypeVar

from pydantic import ValidationError

from singletable import Design, Entity, Get, Query
from singletable.errors import (
    DesignError,
    InvalidWriteError,
    KeyValueError,
    NotFoundError,
    SeparatorError,
)
from singletable.systems import NewId, OrderedIds

_NOTIFICATIONS_AT_ONCE: Final = 100

D = TypeVar("D", bound=Design)
E = TypeVar("E", bound=Entity)


class Service(Generic[D]):
    """What users do with some things of an open design. New things get ids that sort by their time."""

    def __init__(self, db: D, *, new_id: NewId | None = None) -> None:
        self._db = db
        self._new_id = OrderedIds(db.now) if new_id is None else new_id


@contextmanager
def refusing(
    refusal: type[Exception],
    reason: Callable[[ValidationError], str],
    *more: type[DesignError],
    letters_max: int | None = None,
) -> Iterator[None]:
    """Refuse invalid input by the error of a system, whether a model, a key or a write finds it.

    Hints are left out: they are for authors of designs. A long message, which has a value of the caller, is cut.
    """
    refused: tuple[type[DesignError], ...] = (InvalidWriteError, KeyValueError, SeparatorError, *more)
    try:
        yield
    except ValidationError as error:
        raise refusal(reason(error)) from error
    except refused as error:
        message = error.message
        is_short = letters_max is None or len(message) <= letters_max
        raise refusal(message if is_short else f"{message[:letters_max]}…") from error


# --- notifications --------------------------------------------------------------------------------------


def mark_read(db: Design, stored: Get[E], refusal: Exception) -> E:
    """Mark a notification as read, which takes it out of the sparse index of unread ones. It is idempotent."""
    try:
        return db.update(stored, is_read=True).entity
    except NotFoundError as error:
        raise refusal from error


def mark_all_read(db: Design, unread: Query[E], stored: Callable[[E], Get[E]]) -> int:
    """Mark notifications as read; return how many that were.

    It goes page by page from the newest down: notifications that come meanwhile stay unread, and it ends.
    """
    done, cursor = 0, None
    while True:
        page = unread.page(_NOTIFICATIONS_AT_ONCE, cursor)
        for notification in page:
            with suppress(NotFoundError):  # its time was over meanwhile
                db.update(stored(notification), is_read=True)
                done += 1
        cursor = page.cursor
        if cursor is None:
            return done
