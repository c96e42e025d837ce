"""Who owns an item, told by its keys: the value of the owner's field behind constant text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from singletable.blueprint.entities import EntityBlueprint, KeyBlueprint, PlaceBlueprint

_PLACEHOLDER: Final = re.compile(r"(?<!\{)(?:\{\{)*\{(?P<name>\w+)(?P<spec>:[^{}]*)?\}")


@dataclass(frozen=True, slots=True)
class OwnerLead:
    """The partition key of a place that an owner leads: constant text, the owner's value, and the rest.

    The rest is a template, which begins with constant text; it is empty where the owner's value ends the key.
    """

    prefix: str
    follows: str = ""

    def leading(self, owner: str) -> str:
        """Return what every key of an owner begins with; a variable of a policy may stand for the owner.

        Where nothing follows, that is the whole key.
        """
        return f"{self.prefix}{owner}{_text(_PLACEHOLDER.split(self.follows, maxsplit=1)[0])}"


def owner_lead(entity: EntityBlueprint, place: PlaceBlueprint) -> OwnerLead | None:
    """Return how the owner of an entity leads the partition key of a place; None where no owner does."""
    if entity.owner is None:
        return None
    key = place.pk
    if key.template is None:
        is_led = len(key.parts) == 1 and _is_value(key, key.parts[0].name, entity.owner)
        return OwnerLead("") if is_led else None
    found = _PLACEHOLDER.search(key.template)
    if found is None or found["spec"] or not _is_value(key, found["name"], entity.owner):
        return None
    opening = key.template.index("{" + found["name"], found.start())
    follows = key.template[found.end() :]
    if _PLACEHOLDER.match(follows):
        return None  # where one value ends and the next begins, the key does not tell
    return OwnerLead(_text(key.template[:opening]), follows)


def led_by_owner(entity: EntityBlueprint, place: PlaceBlueprint) -> bool:
    """Tell whether the partition key of a place begins, after constant text, with the value of the owner."""
    return owner_lead(entity, place) is not None


def _is_value(key: KeyBlueprint, name: str, owner: str) -> bool:
    """Tell whether a placeholder is the owner's value itself, and nothing that is worked out from it."""
    part = next((part for part in key.parts if part.name == name), None)
    if part is None:
        return name == owner  # without a part, a placeholder is the field of its name
    return part.field == owner and part.shards is None and part.bucket is None and part.letters is None


def _text(template: str) -> str:
    return template.replace("{{", "{").replace("}}", "}")
