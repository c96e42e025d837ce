"""Identity: which slots of a key say what an item is, and what an item is about beside itself."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from singletable.blueprint.entities import AttributeBlueprint, EntityBlueprint
    from singletable.lint.keys import Slot
    from singletable.lint.view import Place, View

_ENDINGS: Final = ("identifier", "number", "code", "uuid", "ulid", "guid", "ref", "key", "id", "no", "nr")
_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def words(name: str) -> tuple[str, ...]:
    """Return the words of a name, in lower case: user_id, userId and UserID are user, id."""
    return tuple(word.lower() for word in _WORD.findall(name))


def stem(name: str) -> str:
    """Return what an identifier identifies: order of order_id; empty for a name that is no identifier."""
    found = words(name)
    return "".join(found[:-1]) if len(found) > 1 and found[-1] in _ENDINGS else ""


def is_own(entity: EntityBlueprint, name: str) -> bool:
    """Tell whether a name is that of the entity's own identifier: suggestion_id of AiSuggestion, id."""
    whole = "".join(words(entity.name))
    return words(name) in (("id",), ("uuid",), ("ulid",)) or (stem(name) != "" and whole.endswith(stem(name)))


def own_identifiers(entity: EntityBlueprint) -> tuple[AttributeBlueprint, ...]:
    """Return the attributes that identify items of an entity by themselves."""
    return tuple(each for each in entity.attributes if is_own(entity, each.name))


def key_fields(place: Place) -> frozenset[str]:
    """Return the names of the fields that a place's keys are made of."""
    return frozenset(slot.part.field if slot.part is not None else slot.name for slot in place.slots)


def is_of(view: View, slot: Slot) -> bool:
    """Tell whether a slot holds the identifier of some entity of the design."""
    about = stem(slot.name)
    return about != "" and any("".join(words(name)) == about for name in view.entities)
