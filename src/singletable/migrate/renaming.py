"""Attributes that have another name in the next version of a design: by Stored("..."), or by another casing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, cast

from singletable.blueprint import AttributeBlueprint, EntityBlueprint
from singletable.design.casing import Casing, stored_name

_TYPE: Final = re.compile(r"[A-Z]\w*")
_QUOTED: Final = re.compile(r"'[^']*'|\"[^\"]*\"")
_PLAIN: Final = frozenset({"None", "Any", "Decimal", "Literal", "Optional", "UUID", "Union", "True", "False"})

Rename = tuple[str, str, str]  # the field, its attribute before, its attribute now


def clear_renames(was: EntityBlueprint, now: EntityBlueprint, casing_was: str, casing: str) -> dict[str, str]:
    """Return the attributes that can be copied to their new names."""
    unclear = set(unclear_renames(was, now))
    found = {old: new for name, old, new in _renames(was, now) if (name, old, new) not in unclear}
    for name in _unnamed(was, now):
        old, new = (stored_name(name, cast(Casing, each)) for each in (casing_was, casing))
        if old != new:
            found[old] = new
    return found


def unclear_renames(was: EntityBlueprint, now: EntityBlueprint) -> Iterator[Rename]:
    """Return those whose old or new name is that of another field too, so that nobody can tell what is in it."""
    before = {attribute.stored for attribute in was.attributes}
    after = {attribute.stored for attribute in now.attributes}
    return (each for each in _renames(was, now) if each[1] in after or each[2] in before)


def holds_models(attribute: AttributeBlueprint) -> bool:
    """Tell whether a field may hold models, by its type: they are of no type that a blueprint knows by name."""
    types = set(_TYPE.findall(_QUOTED.sub("", attribute.type)))
    return bool(types - _PLAIN - {attribute.alias})


def _renames(was: EntityBlueprint, now: EntityBlueprint) -> list[Rename]:
    stored = {attribute.name: attribute.stored for attribute in was.attributes}
    return [
        (attribute.name, stored[attribute.name], attribute.stored)
        for attribute in now.attributes
        if stored.get(attribute.name, attribute.stored) != attribute.stored
    ]


def _unnamed(was: EntityBlueprint, now: EntityBlueprint) -> Iterator[str]:
    """Name what is stored beside the fields, by the casing of the design."""
    if now.schema_version is not None:
        yield "schema_version"
    averages = {each.field for each in was.aggregates if each.kind == "average"}
    for each in now.aggregates:
        if each.field in averages:
            yield from (f"{each.field}_sum", f"{each.field}_count")
