"""HOT404: a list in an item that grows without end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from singletable.lint.conditions import spelled_out
from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View

if TYPE_CHECKING:
    from singletable.blueprint.entities import AttributeBlueprint, EntityBlueprint
    from singletable.blueprint.positions import Path

_APPENDED: Final = re.compile(r"(?P<to>#?\w+)\s*=\s*list_append\s*\(", re.IGNORECASE)
_ADDED: Final = re.compile(r"\bADD\b(?P<rest>.*?)(?=\b(?:SET|REMOVE|DELETE)\b|$)", re.DOTALL)
_CUT: Final = re.compile(r"\b(?:REMOVE|DELETE)\b(?P<rest>.*?)(?=\b(?:SET|ADD)\b|$)", re.DOTALL)
_SETS: Final = ("SS", "NS", "BS")


def check(view: View) -> Iterator[Finding]:
    """Look for attributes that are added to and never cut, without a number that they stop at."""
    for entity in view.blueprint.entities:
        for attribute in entity.attributes:
            if attribute.max_items is not None or attribute.maximum is not None or attribute.grows is False:
                continue
            added = _additions(view, entity, attribute)
            if attribute.grows or added:
                yield finding(
                    RULE,
                    view.attribute_path(entity.name, attribute.name),
                    view.entity_path(entity.name),
                    *(path for path, _ in added),
                    message=f"{attribute.name} of {entity.name} grows without end"
                    + (f": {added[0][1]} adds to it, and nothing takes away" if added else ""),
                    because="each addition writes the whole item, a unit for every KB, and at 400 KB it is "
                    "refused",
                    repair="make each element an item of its own, under the same partition key; or cut the list",
                )


def _additions(view: View, entity: EntityBlueprint, attribute: AttributeBlueprint) -> list[tuple[Path, str]]:
    """Return the expressions that add elements; none if another write takes elements away."""
    found: list[tuple[Path, str]] = []
    for each in view.writes:
        if each.entity is not entity:
            continue
        text = spelled_out(each.write.update_expression, each.write.names)
        names = rf"\b(?:{re.escape(attribute.name)}|{re.escape(attribute.stored)})\b"
        if any(re.search(names, cut["rest"]) for cut in _CUT.finditer(text)):
            return []
        if _adds(text, names, is_set=attribute.dynamodb in _SETS or attribute.type.startswith("set")):
            found.append((each.path[:2], text))
    return found


def _adds(text: str, names: str, *, is_set: bool) -> bool:
    if any(re.fullmatch(names, appended["to"]) for appended in _APPENDED.finditer(text)):
        return True
    return is_set and any(re.search(names, added["rest"]) for added in _ADDED.finditer(text))


RULE = Rule("HOT404", Severity.WARNING, "A list in an item grows without end", check)
