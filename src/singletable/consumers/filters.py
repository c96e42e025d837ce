"""The filter of a consumer: by the kind of change, and by the attributes that changed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

import orjson

from singletable.storage.log import EXPIRED, INSERTED, MODIFIED, REMOVED, Entry

_EVENTS: Final = {"INSERT": (INSERTED,), "MODIFY": (MODIFIED,), "REMOVE": (REMOVED, EXPIRED)}


class Filter(NamedTuple):
    """Changes that pass go to the handler; others are done at once."""

    events: frozenset[int] | None
    changed: frozenset[str] | None

    @property
    def is_open(self) -> bool:
        return self.events is None and self.changed is None

    def passes(self, entry: Entry) -> bool:
        if self.events is not None and entry.event not in self.events:
            return False
        return self.changed is None or self._touches(entry, self.changed)

    def _touches(self, entry: Entry, names: frozenset[str]) -> bool:
        before, after = _decoded(entry.before), _decoded(entry.after)
        return any(before.get(name) != after.get(name) for name in names)


def make_filter(events: Iterable[str] | None, changed: Iterable[str] | None) -> Filter:
    """Read the filters of a consumer; raise ValueError for a filter that no change could ever pass."""
    return Filter(
        None if events is None else _events(several("events", events)),
        None if changed is None else frozenset(several("changed", changed)),
    )


def several(parameter: str, given: Iterable[str]) -> list[str]:
    """Return names that are given one by one, or as one alone; refuse none at all."""
    names = [given] if isinstance(given, str) else list(given)
    if not names or not all(isinstance(name, str) for name in names):
        raise ValueError(f"{parameter} takes one or more names, or None for all")
    return names


def _events(names: Iterable[str]) -> frozenset[int]:
    unknown = sorted(set(names) - set(_EVENTS))
    if unknown:
        raise ValueError(f"{unknown[0]!r} is no event: INSERT, MODIFY and REMOVE are")
    return frozenset(event for name in names for event in _EVENTS[name])


def _decoded(image: bytes | None) -> dict[str, Any]:
    return {} if image is None else orjson.loads(image)
