"""Databases and os.fork: connections are closed before a fork and opened again after it, on both sides.

SQLite's locks belong to a process, and a connection that a child inherits believes in locks that only its
parent holds ("How To Corrupt An SQLite Database File", 2.6). `subprocess` does not run these hooks and needs
none.
"""

from __future__ import annotations

import os
import threading
import weakref
from typing import Protocol


class Forkable(Protocol):
    def before_fork(self) -> None: ...
    def after_fork(self, *, in_child: bool) -> None: ...


_watched: weakref.WeakSet[Forkable] = weakref.WeakSet()
_paused: list[Forkable] = []
_inherited: list[object] = []
_forking = threading.Lock()  # held from before a fork until after it: two threads may fork


def watch(database: Forkable) -> None:
    """Tell a database of every fork from now on, for as long as it exists."""
    _watched.add(database)


def keep_from_closing(connection: object) -> None:
    """Hold on to an inherited connection for the rest of the process: closing it here is not ours to do."""
    _inherited.append(connection)


def _before() -> None:
    _forking.acquire()
    for database in sorted(_watched, key=id):
        database.before_fork()
        _paused.append(database)


def _after_in_parent() -> None:
    _resume(in_child=False)


def _after_in_child() -> None:
    _resume(in_child=True)


def _resume(*, in_child: bool) -> None:
    while _paused:
        _paused.pop().after_fork(in_child=in_child)
    _forking.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after_in_parent, after_in_child=_after_in_child)
