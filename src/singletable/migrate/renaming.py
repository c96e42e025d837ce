"""What has another name in the next version of a design: entities, fields, and the attributes of items."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast

from singletable.blueprint import (
    AttributeBlueprint,
    Blueprint,
    EntityBlueprint,
    KeyBlueprint,
    PlaceBlueprint,
    UniqueBlueprint,
)
from singletable.design.kept.aggregate import names_beside
from singletable.design.values.fields import Casing, stored_name
from singletable.errors import MigrationError

_TYPE: Final = re.compile(r"[A-Z]\w*")
_PLACEHOLDER: Final = re.compile(r"\{(\w+)")
_QUOTED: Final = re.compile(r"'[^']*'|\"[^\"]*\"")
_PLAIN: Final = frozenset({"None", "Any", "Decimal", "Literal", "Optional", "UUID", "Union", "True", "False"})

Rename = tuple[str, str, str]  # the field, its attribute before, its attribute now
Names = Mapping[str, str]  # before, and now

# --- entities and fields ----------------------------------------------------------------------------------


def entity_pairs(before: Blueprint, after: Blueprint) -> Iterator[tuple[EntityBlueprint, EntityBlueprint]]:
    """Return the entities of both versions: those whose items are stored alike, or were by what `was=` says."""
    known = {entity.discriminator: entity for entity in before.entities}
    taken = {entity.discriminator for entity in after.entities}
    for entity in after.entities:
        olds = [known[name] for name in entity.was if name in known and name not in taken]
        if entity.discriminator in known:
            yield known[entity.discriminator], entity
        elif olds:
            yield olds[0], entity


def renamed_entities(before: Blueprint, after: Blueprint) -> dict[str, str]:
    """Return the discriminators that items have and are to have, of entities with another name."""
    known = {entity.discriminator for entity in before.entities}
    taken = {entity.discriminator for entity in after.entities}
    return {
        name: entity.discriminator
        for entity in after.entities
        for name in entity.was
        if name in known and name not in taken
    }


def aligned(before: Blueprint, after: Blueprint, renamed: Names | None = None) -> Blueprint:
    """Return the version before, with the names that entities and fields have in the next.

    A field has another name if that is declared, as {"Order.state": "status"}, or if both are stored alike.
    """
    pairs = {was.name: (was, now) for was, now in entity_pairs(before, after)}
    declared = _declared(pairs, renamed or {})
    fields = {name: {**_same_stored(*pair), **declared.get(name, {})} for name, pair in pairs.items()}
    names = {name: now.name for name, (_, now) in pairs.items()}
    entities = [
        _named_as(entity, pairs[entity.name][1], fields, names) if entity.name in pairs else entity
        for entity in before.entities
    ]
    return replace(before, entities=tuple(entities))


def _declared(
    pairs: Mapping[str, tuple[EntityBlueprint, EntityBlueprint]], renamed: Names
) -> dict[str, dict[str, str]]:
    """Return declared names of fields by the class name that their entity had; refuse those that cannot be."""
    found: dict[str, dict[str, str]] = {}
    for where, new in renamed.items():
        entity, _, old = where.partition(".")
        pair = next((each for each in pairs.values() if entity in (each[0].name, each[1].name)), None)
        if pair is None:
            raise MigrationError(
                f"{where} cannot be renamed: {entity} is no entity of both versions",
                hint='an entity that has another name says so in the code: class New(Entity, was="Old")',
            )
        was, now = pair
        for names, field, when in ((_names(was), old, "was"), (_names(now), new, "is")):
            if field not in names:
                raise MigrationError(
                    f"{where} cannot be renamed to {new}: {field or where} {when} no field of {entity}",
                    hint=f"--rename {entity}.OLD=NEW; {entity} {when} {', '.join(names)}",
                )
        if old in _names(now) or new in _names(was):
            raise MigrationError(
                f"{where} cannot be renamed to {new}: both versions have one of these fields"
            )
        if was.schema_version != now.schema_version:
            raise MigrationError(
                f"{where} cannot be renamed to {new}: {entity} is of another schema_version now",
                hint="let its upcaster do it, which sees the old attribute by its stored name",
            )
        found.setdefault(was.name, {})[old] = new
    return found


def _names(entity: EntityBlueprint) -> list[str]:
    return [attribute.name for attribute in entity.attributes]


def _same_stored(was: EntityBlueprint, now: EntityBlueprint) -> dict[str, str]:
    """Return fields that have another name in the code, and the one that they had in items."""
    new = {each.stored: each.name for each in now.attributes if each.name not in _names(was)}
    old = [each for each in was.attributes if each.name not in _names(now) and each.stored in new]
    return {each.name: new[each.stored] for each in old}


def _named_as(
    was: EntityBlueprint, now: EntityBlueprint, fields: Mapping[str, Names], names: Names
) -> EntityBlueprint:
    own = fields[was.name]

    def of(entity: str) -> Names:
        return fields.get(entity, {})

    return replace(
        was,
        name=now.name,
        discriminator=now.discriminator,
        attributes=tuple(
            replace(each, name=own.get(each.name, each.name), markers=tuple(_markers(each.markers, own)))
            for each in was.attributes
        ),
        places=tuple(_place(place, own) for place in was.places),
        uniques=tuple(_unique(unique, own) for unique in was.uniques),
        aggregates=tuple(
            replace(
                each,
                field=own.get(each.field, each.field),
                of=names.get(each.of, each.of),
                of_field=each.of_field and of(each.of).get(each.of_field, each.of_field),
                when=_condition(each.when, of(each.of)),
                via=_via(each.via, own, of(each.of)),
            )
            for each in was.aggregates
        ),
        copies=tuple(
            replace(
                each,
                field=own.get(each.field, each.field),
                of=names.get(each.of, each.of),
                of_field=of(each.of).get(each.of_field, each.of_field),
                via=_via(each.via, of(each.of), own),
            )
            for each in was.copies
        ),
        derived=was.derived
        and replace(
            was.derived,
            of=names.get(was.derived.of, was.derived.of),
            reads=_all(was.derived.reads, of(was.derived.of)),
            via=_via(was.derived.via, of(was.derived.of), own),
        ),
        owns=_all(was.owns, names),
        ttl=was.ttl
        and replace(
            was.ttl,
            field=own.get(was.ttl.field, was.ttl.field),
            after=was.ttl.after and own.get(was.ttl.after, was.ttl.after),
            when=_condition(was.ttl.when, own),
        ),
        version=was.version and own.get(was.version, was.version),
    )


def _all(texts: Sequence[str] | None, names: Names) -> Any:
    return None if texts is None else tuple(names.get(each, each) for each in texts)


def _via(via: Names | None, keys: Names, values: Names) -> Names | None:
    return via and {keys.get(key, key): values.get(value, value) for key, value in via.items()}


def _condition(condition: Mapping[str, Any] | None, names: Names) -> Mapping[str, Any] | None:
    if condition is None:
        return None
    renamed = dict(condition)
    if "field" in renamed:
        renamed["field"] = names.get(renamed["field"], renamed["field"])
    if "condition" in renamed:
        renamed["condition"] = _condition(renamed["condition"], names)
    if "conditions" in renamed:
        renamed["conditions"] = [_condition(each, names) for each in renamed["conditions"]]
    return renamed


def _markers(markers: Sequence[Mapping[str, Any]], names: Names) -> Iterator[Mapping[str, Any]]:
    for marker in markers:
        renamed = dict(marker)
        if marker["kind"] == "Computed":
            renamed["fields"] = [names.get(each, each) for each in marker["fields"]]
        if marker["kind"] == "Expires" and "after" in marker:
            renamed["after"] = names.get(marker["after"], marker["after"])
        yield renamed


def _place(place: PlaceBlueprint, names: Names) -> PlaceBlueprint:
    sk = None if place.sk is None else _key(place.sk, names)
    return replace(place, pk=_key(place.pk, names), sk=sk, when=_condition(place.when, names))


def _key(key: KeyBlueprint, names: Names) -> KeyBlueprint:
    parts = [replace(part, field=names.get(part.field, part.field)) for part in key.parts]
    return replace(key, parts=tuple(parts))


def _unique(unique: UniqueBlueprint, names: Names) -> UniqueBlueprint:
    template = _PLACEHOLDER.sub(lambda found: f"{{{names.get(found[1], found[1])}", unique.template)
    return replace(unique, template=template, fields=_all(unique.fields, names))


def field_template(key: KeyBlueprint) -> str | None:
    """Return the template of a key with the names of fields, whatever its parts are called."""
    fields = {part.name: part.field for part in key.parts}
    return key.template and _PLACEHOLDER.sub(
        lambda found: f"{{{fields.get(found[1], found[1])}", key.template
    )


def place_content(place: PlaceBlueprint) -> tuple[object, ...]:
    """Return what decides the stored keys of a place: not the names of classes."""
    return (place.index, _key_content(place.pk), place.sk and _key_content(place.sk), place.when)


def _key_content(key: KeyBlueprint) -> tuple[object, ...]:
    parts = [(part.type, part.field, part.shards, part.bucket, part.letters) for part in key.parts]
    return (key.attributes, field_template(key), *parts)


# --- attributes -------------------------------------------------------------------------------------------


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
    beside = {each.field: names_beside(each.field, each.kind) for each in was.aggregates}
    for each in now.aggregates:
        yield from beside.get(each.field, ())
