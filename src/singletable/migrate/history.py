"""The versions of a blueprint: the newest is stored whole, each older one as what has changed since.

    {"at": ["entities", "Order", "attributes", "status", "type"], "was": "str", "is": "int"}

Members of a list that have names of their own are found by them, and "#order" has their order. A change has no
"was" where something is new, and no "is" where it is gone. So it can be undone, and a blueprint that does not fit
to it is noticed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Final

from singletable.errors import MigrationError

Data = Mapping[str, Any]

_ORDER: Final = "#order"
_NAMES: Final = ("name", "method", "entity", "field")  # by one of which the members of a list are told apart


def digest(blueprint: Data) -> str:
    """Return what tells a blueprint from others, in whatever order its keys are."""
    return blake2b(_canonical(blueprint).encode(), digest_size=8).hexdigest()


def _canonical(value: Any) -> str:
    """Return a value as JSON: to Python 0, 0.0 and False are the same, in a file they are not."""
    return json.dumps(value, sort_keys=True)


def changes_between(before: Data, after: Data) -> list[dict[str, Any]]:
    """Return what has changed between two versions."""
    return list(_changes(_by_name(before), _by_name(after), ()))


def undone(after: Data, changes: Sequence[Data]) -> dict[str, Any]:
    """Return the version before some changes; refuse changes that do not lead to this one."""
    named = _by_name(after)
    for change in changes:
        *path, last = change["at"]
        inside = named
        for name in path:
            inside = inside.get(name) if isinstance(inside, dict) else None
        if not isinstance(inside, dict) or _canonical(inside.get(last)) != _canonical(change.get("is")):
            raise MigrationError(f"{'.'.join(map(str, change['at']))} is not as the migration says")
        if "was" in change:
            inside[last] = change["was"]
        else:
            del inside[last]
    before: dict[str, Any] = _as_lists(named)
    return before


def text(blueprint: Data) -> str:
    """Return a blueprint as a file: each entity and each pattern is a line, so that a diff shows what changed."""
    parts = (f"  {json.dumps(name)}: {_part(value)}" for name, value in blueprint.items())
    return "{\n" + ",\n".join(parts) + "\n}"


def _part(value: Any) -> str:
    if not isinstance(value, list) or not value:
        return json.dumps(value, ensure_ascii=False)
    members = (f"    {json.dumps(member, ensure_ascii=False)}" for member in value)
    return "[\n" + ",\n".join(members) + "\n  ]"


def _changes(before: dict[str, Any], after: dict[str, Any], at: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    for name in dict.fromkeys((*before, *after)):
        if name not in after:
            yield {"at": [*at, name], "was": before[name]}
        elif name not in before:
            yield {"at": [*at, name], "is": after[name]}
        elif isinstance(before[name], dict) and isinstance(after[name], dict):
            yield from _changes(before[name], after[name], (*at, name))
        elif _canonical(before[name]) != _canonical(after[name]):
            yield {"at": [*at, name], "was": before[name], "is": after[name]}


def _by_name(value: Any) -> Any:
    """Return data in which lists of members with names are objects of these members."""
    if isinstance(value, Mapping):
        return {name: _by_name(member) for name, member in value.items()}
    if isinstance(value, list):
        for key in _NAMES:
            names = [member.get(key) if isinstance(member, Mapping) else None for member in value]
            is_named = names and all(isinstance(name, str) for name in names) and _ORDER not in names
            if is_named and len({*names}) == len(names):
                return {_ORDER: names, **dict(zip(names, map(_by_name, value), strict=True))}
        return [_by_name(member) for member in value]
    return value


def _as_lists(value: Any) -> Any:
    if isinstance(value, dict):
        if _ORDER in value:
            return [_as_lists(value[name]) for name in value[_ORDER]]
        return {name: _as_lists(member) for name, member in value.items()}
    return [_as_lists(member) for member in value] if isinstance(value, list) else value
