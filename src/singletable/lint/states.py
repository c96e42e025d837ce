"""States: attributes that say how it stands with an item, and the words that people use for their values."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from singletable.lint.identity import words
from singletable.lint.keys import Slot

if TYPE_CHECKING:
    from singletable.blueprint.entities import AttributeBlueprint, EntityBlueprint

_STATES: Final = frozenset({"status", "state", "stage", "phase", "progress", "visibility"})
_HIDDEN: Final = frozenset({"draft", "private", "hidden", "deleted", "unlisted", "unpublished"})
_SHOWN: Final = frozenset({"public", "published", "visible", "listed"})
_GOES_ON: Final = frozenset(
    [
        "id",
        "ids",
        "key",
        "code",
        "no",
        "number",
        "name",
        "count",
        "at",
        "on",
        "date",
        "day",
        "time",
        "by",
        "in",
        "since",
        "before",
        "after",
        "between",
        "from",
        "to",
        "until",
    ]
)
_EITHER: Final = re.compile(r"\bwhether\b|\bor not\b|\bany (?:status|state)\b", re.IGNORECASE)
_WORD: Final = re.compile(r"[a-z]+")


@dataclass(frozen=True)
class State:
    """A value that an attribute can have beside others: open, of status; true, of is_open."""

    field: AttributeBlueprint
    value: Any
    word: tuple[str, ...]  # in_progress is in, progress

    @property
    def is_hidden(self) -> bool:
        """Tell whether an item of this state is not for everybody."""
        flag = self.word[-1]
        return flag in _HIDDEN or (flag.startswith("un") and flag[2:] in _SHOWN)


def states(entity: EntityBlueprint) -> tuple[State, ...]:
    """Return the states that items of an entity can be in, beside others."""
    return tuple(each for field in entity.attributes for each in _states(entity, field))


def _states(entity: EntityBlueprint, field: AttributeBlueprint) -> list[State]:
    name = words(field.name)
    if field.dynamodb == "BOOL" or field.type.lower() in ("bool", "boolean"):
        flag = name[1:] if len(name) > 1 and name[0] in ("is", "has", "was") else name
        return [State(field, True, flag), State(field, False, (*flag[:-1], f"un{flag[-1]}"))] if flag else []
    if not _STATES & set(name):
        return []
    values = Slot(field.name, source=field).values or ()
    known = list(dict.fromkeys([*values, *field.samples, *_compared(entity, field.name)]))
    made = [State(field, value, words(str(value))) for value in known if words(str(value))]
    is_changing = len(known) > 1 or field.is_immutable is False
    return made if is_changing else []


def _compared(entity: EntityBlueprint, name: str) -> list[Any]:
    """Return the values that conditions of an entity compare a field with."""
    conditions = [place.when for place in entity.places] + (
        [entity.ttl.when] if entity.ttl is not None else []
    )
    return [
        condition["value"]
        for condition in conditions
        if condition is not None
        and condition.get("field") == name
        and isinstance(condition.get("value"), str)
    ]


def says(text: str, state: State) -> bool:
    """Tell whether a text speaks of a state: "Open jobs of a region" of open.

    A word that goes on, as in published_at and "published in May", names a moment or a key, and not the state.
    """
    if _EITHER.search(text):
        return False
    said = _WORD.findall(_split(text))
    length = len(state.word)
    return any(
        tuple(said[at : at + length]) == state.word and (said[at + length :] or [""])[0] not in _GOES_ON
        for at in range(len(said) - length + 1)
    )


def _split(text: str) -> str:
    """Write the words of names apart: OpenJobs is open jobs."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text).lower()
