"""What two versions of a design differ in, as sentences, each with what follows for stored items. Pure.

A blueprint of an older release has no defaults, no markers of key parts and no parts of unique values, and does
not say what is required: that is no difference.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Final, Literal

from singletable.blueprint import (
    AttributeBlueprint,
    Blueprint,
    EntityBlueprint,
    KeyPart,
    PatternBlueprint,
    TtlBlueprint,
    UniqueBlueprint,
)
from singletable.design.kept.aggregate import AGGREGATES
from singletable.migrate.renaming import entity_pairs, field_template, place_content, renamed_entities

# What follows: steps that write; a check that stops before anything is written; the attribute is written anew,
# after such a check; nothing; or the plan itself stops, since only the author of the design can know.
Effect = Literal["steps", "check", "rewrite", "nothing", "stop"]

_FORMS: Final = frozenset(
    {"Digits", "Compressed", "TimeToLive"}
)  # markers by which a value is stored otherwise
# Markers that are told by what they do, and not by what a value may be.
_OTHERS: Final = frozenset(
    {"Stored", "Computed", "CopyOf", "Auto", "Lock", "Expires", "Was"}
    | {marker.__name__ for marker in AGGREGATES.values()}
)
# Members of a blueprint that are compared one by one. The others say how much, how often, by whom and why: no item
# is written otherwise for that.
_COMPARED: Final = frozenset({"name", "table", "indexes", "entities", "patterns", "casing", "discriminator"})
_NOT_SETTINGS: Final = frozenset({"types", "about", "said", "environments"})  # of a table
_NUMBERS: Final = frozenset({"int", "float", "Decimal"})
_LATER: Final = {"Auto": "the time that is filled in", "Lock": "the number of writes"}


@dataclass(frozen=True, slots=True)
class Difference:
    """Something that two versions of a design differ in."""

    where: str  # Order.status, Order, or what else it is about
    says: str
    effect: Effect
    hint: str | None = None
    entity: str = ""  # the discriminator of the items that it is about
    field: str = ""

    def data(self) -> dict[str, Any]:
        """Return the difference as JSON has it."""
        data: dict[str, Any] = {"where": self.where, "says": self.says, "effect": self.effect}
        return data if self.hint is None else {**data, "hint": self.hint}


def differences(before: Blueprint, after: Blueprint, named: Blueprint) -> tuple[Difference, ...]:
    """Return all that differs between two versions; `named` is the first one with the names of the second.

    What is said around the items, such as loads, is told beside other differences, and is none by itself: the
    items are as they were.
    """
    known = _as_far_as_known(before, after)
    found = [
        *_entities(before, after),
        *(each for was, now in entity_pairs(named, after) for each in _entity(was, now)),
        *_table(before, after),
        *_patterns(before, known),
    ]
    if not found and _without_said(before) != _without_said(known):
        found.append(
            Difference(
                after.name, "Only names in the code, or their order, differ. Nothing to do.", "nothing"
            )
        )
    return (*found, *_said(named, after)) if found else ()


def says_defaults(blueprint: Blueprint) -> bool:
    """Tell whether a blueprint has defaults and what is required; one of an older release has not."""
    attributes = [attribute for entity in blueprint.entities for attribute in entity.attributes]
    return not attributes or any(attribute.is_required is not None for attribute in attributes)


def _as_far_as_known(before: Blueprint, after: Blueprint) -> Blueprint:
    """Return the next version without what one of an older release does not say."""
    entities: Iterable[EntityBlueprint] = after.entities
    if not says_defaults(before):
        entities = [
            replace(
                entity,
                attributes=tuple(replace(each, is_required=None, default=None) for each in entity.attributes),
                models=(),
                upcasts=(),
            )
            for entity in entities
        ]
    if not any(part.markers for entity in before.entities for part in _parts(entity)):
        entities = [_without_part_markers(entity) for entity in entities]
    if not any(unique.parts for entity in before.entities for unique in entity.uniques):
        entities = [
            replace(entity, uniques=tuple(replace(unique, parts=()) for unique in entity.uniques))
            for entity in entities
        ]
    patterns: Iterable[PatternBlueprint] = after.patterns
    if all(each.default is None for pattern in before.patterns for each in pattern.parameters):
        patterns = [
            replace(
                pattern,
                parameters=tuple(replace(parameter, default=None) for parameter in pattern.parameters),
            )
            for pattern in patterns
        ]
    return replace(after, entities=tuple(entities), patterns=tuple(patterns))


def _parts(entity: EntityBlueprint) -> Iterator[KeyPart]:
    for place in entity.places:
        for key in (place.pk, place.sk):
            yield from key.parts if key is not None else ()


def _without_part_markers(entity: EntityBlueprint) -> EntityBlueprint:
    def bare(parts: Iterable[KeyPart]) -> tuple[KeyPart, ...]:
        return tuple(replace(part, markers=()) for part in parts)

    places = [
        replace(
            place,
            pk=replace(place.pk, parts=bare(place.pk.parts)),
            sk=None if place.sk is None else replace(place.sk, parts=bare(place.sk.parts)),
        )
        for place in entity.places
    ]
    uniques = [replace(unique, parts=bare(unique.parts)) for unique in entity.uniques]
    return replace(entity, places=tuple(places), uniques=tuple(uniques))


# --- entities ---------------------------------------------------------------------------------------------


def _entities(before: Blueprint, after: Blueprint) -> Iterator[Difference]:
    pairs = list(entity_pairs(before, after))
    for old, new in renamed_entities(before, after).items():
        yield Difference(new, f"{old} is stored as {new} now: its items get the new name.", "steps")
    for was, now in pairs:
        if was.name != now.name and was.discriminator == now.discriminator:
            yield _nothing(
                now.name, f"{was.name} is called {now.name}, and stored as {now.discriminator} as before."
            )
        yield from _no_longer_read(was, now)
    added = [each for each in after.entities if not any(each is now for _, now in pairs)]
    gone = [each for each in before.entities if each.discriminator in gone_names(before, after)]
    for entity in gone:
        yield _gone(entity, next((each for each in added if _keys(each) == _keys(entity)), None))
    for entity in added:
        yield _nothing(entity.name, f"{entity.name} is a new entity: there are no items of it.")


def gone_names(before: Blueprint, after: Blueprint) -> list[str]:
    """Return the discriminators that no entity of the next version reads."""
    read = {name for entity in after.entities for name in (entity.discriminator, *entity.was)}
    stored = [name for entity in before.entities for name in (entity.discriminator, *entity.was)]
    return [name for name in dict.fromkeys(stored) if name not in read]


def _no_longer_read(was: EntityBlueprint, now: EntityBlueprint) -> Iterator[Difference]:
    for name in was.was:
        if name not in (*now.was, now.discriminator):
            yield Difference(
                now.name, f"{now.name} is not read as {name} any more: no item may be stored so.", "check"
            )


def _gone(entity: EntityBlueprint, like: EntityBlueprint | None) -> Difference:
    stays = f"class X(Entity, name={entity.discriminator!r}) keeps an entity that is only called otherwise"
    accepts = f"or delete its items with the code that knows them, and --accept {entity.name}"
    if like is None:
        says = f"{entity.name} is gone: its items would be of no entity, and nothing would read them."
        return Difference(entity.name, says, "stop", f"{stays}; {accepts}")
    says = f"{entity.name} is gone and {like.name} is new, with the same keys: nothing would read its items."
    hint = (
        f'class {like.name}(Entity, was="{entity.discriminator}") if it is the same one, '
        f'or name="{entity.discriminator}", which leaves the items as they are; {accepts}'
    )
    return Difference(entity.name, says, "stop", hint)


def _keys(entity: EntityBlueprint) -> tuple[str | None, ...]:
    place = entity.place(None)
    return (
        () if place is None else tuple(field_template(key) for key in (place.pk, place.sk) if key is not None)
    )


def _entity(was: EntityBlueprint, now: EntityBlueprint) -> Iterator[Difference]:
    yield from _version(was, now)
    yield from _places(was, now)
    yield from _kept(was, now)
    yield from _fields(_Fields(now, now.name, is_upcast=_is_upcast(was, now)), was.attributes, now.attributes)
    models = {model.name: model for model in was.models}
    for model in now.models:
        if model.name in models:
            inside = _Fields(now, f"{now.name}/{model.name}", _is_upcast(was, now), model.name)
            yield from _fields(inside, models[model.name].attributes, model.attributes)
            yield from _values(inside, models[model.name].values, model.values)
    yield from _expiry(now, was.ttl, now.ttl)
    if was.owns != now.owns:
        yield _nothing(
            now.name, f"{now.name} owns {_listed(now.owns)}, which its next deletion takes with it."
        )


def _values(of: _Fields, before: Sequence[Any], after: Sequence[Any]) -> Iterator[Difference]:
    less = [each for each in before if each not in after]
    if less:
        says = f"{of.shown} has no {_listed(list(map(str, less)))} any more: every item is checked."
        yield Difference(of.shown, says, "check", None, of.entity.discriminator, of.model)
    elif len(before) != len(after):
        yield _nothing(of.shown, f"{of.shown} has more values.")


def _is_upcast(was: EntityBlueprint, now: EntityBlueprint) -> bool:
    """Tell whether items of the version before are upcast when they are read."""
    before, after = was.schema_version or 1, now.schema_version or 1
    return any(before <= version < after for version in now.upcasts)


def _version(was: EntityBlueprint, now: EntityBlueprint) -> Iterator[Difference]:
    before, after = was.schema_version or 1, now.schema_version or 1
    if after < before:
        says = f"{now.name} was of version {before} and is of {after}: items of a newer version are not read."
        hint = f"class {now.name}(Entity, schema_version={before + 1})"
        yield Difference(now.name, says, "stop", hint, now.discriminator)
    elif was.schema_version != now.schema_version:
        says = f"{now.name} is of version {after}: its items are written as the upcasters read them."
        yield Difference(now.name, says, "steps")
    if was.upcasts != now.upcasts and was.schema_version == now.schema_version and says_of(was):
        yield _nothing(now.name, f"{now.name} has other upcasters: items of older versions are read by them.")


def says_of(entity: EntityBlueprint) -> bool:
    """Tell whether this version of an entity says what is required."""
    return any(attribute.is_required is not None for attribute in entity.attributes)


def _places(was: EntityBlueprint, now: EntityBlueprint) -> Iterator[Difference]:
    old, new = ({place.name: place for place in entity.places} for entity in (was, now))
    for name, place in new.items():
        if name not in old:
            yield Difference(
                f"{now.name}.{name}", f"{now.name}.{name} is a new place: items get its keys.", "steps"
            )
        elif place_content(place) != place_content(old[name]):
            says = f"{now.name}.{name} has other keys: items get them."
            yield Difference(f"{now.name}.{name}", says, "steps")
    for name in old.keys() - new.keys():
        yield Difference(f"{now.name}.{name}", f"{now.name}.{name} is gone: nothing reads its keys.", "steps")


def _kept(was: EntityBlueprint, now: EntityBlueprint) -> Iterator[Difference]:
    kept: tuple[tuple[str, Sequence[Any], Sequence[Any]], ...] = (
        ("name", _locks(was), _locks(now)),
        ("field", was.aggregates, now.aggregates),
        ("field", was.copies, now.copies),
    )
    for name_of, before, after in kept:
        old = {getattr(each, name_of): each for each in before}
        new = {getattr(each, name_of): each for each in after}
        for name in new:
            if old.get(name) != new[name]:
                how = "otherwise" if name in old else "from now on"
                says = f"{now.name}.{name} is kept {how}: it is recomputed."
                yield Difference(f"{now.name}.{name}", says, "steps")
        for name in old.keys() - new.keys():
            yield _nothing(
                f"{now.name}.{name}", f"{now.name}.{name} is not kept any more: {_left_behind(name_of)}."
            )
    if was.derived != now.derived:
        made = "made from others otherwise" if now.derived is not None else "not made from others any more"
        yield Difference(
            now.name, f"{now.name} is {made}.", "steps" if now.derived is not None else "nothing"
        )


def _locks(entity: EntityBlueprint) -> list[UniqueBlueprint]:
    """Return what decides the locks of an entity; a blueprint of an older release has no parts."""
    return [replace(unique, parts=()) for unique in entity.uniques]


def _left_behind(name_of: str) -> str:
    if name_of == "name":
        return "its locks stay until verify(repair=True) removes them"
    return "what is stored stays as it is"


def _expiry(now: EntityBlueprint, was: TtlBlueprint | None, ttl: TtlBlueprint | None) -> Iterator[Difference]:
    if was is not None and ttl is not None and was != ttl and was.stored == ttl.stored:
        says = f"{now.name} expires otherwise: items that have a time keep it until they are written."
        yield _nothing(f"{now.name}.{ttl.field}", says)


# --- fields -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Fields:
    """Whose fields are compared: those of an entity, or of a model inside of it."""

    entity: EntityBlueprint
    shown: str
    is_upcast: bool
    model: str = ""

    @property
    def is_inside(self) -> bool:
        return bool(self.model)

    def difference(self, name: str, says: str, effect: Effect, hint: str | None = None) -> Difference:
        where = f"{self.shown}.{name}"
        field = f"{self.model}.{name}" if self.model else name
        return Difference(where, f"{where} {says}", effect, hint, self.entity.discriminator, field)


def _fields(
    of: _Fields, before: Sequence[AttributeBlueprint], after: Sequence[AttributeBlueprint]
) -> Iterator[Difference]:
    old, new = ({attribute.name: attribute for attribute in each} for each in (before, after))
    gone = [attribute for attribute in before if attribute.name not in new]
    for attribute in gone:
        yield of.difference(attribute.name, _removed(of, attribute), "nothing")
    for attribute in after:
        if attribute.name not in old:
            yield _new_field(of, attribute, [each for each in gone if _is_like(each, attribute)])
        else:
            yield from _changed_field(of, old[attribute.name], attribute)


def _removed(of: _Fields, attribute: AttributeBlueprint) -> str:
    text = f"was removed: its attribute {attribute.stored} stays in the items, and nothing reads it."
    return text if of.is_inside else f"{text} --remove {of.shown}.{attribute.name} removes it."


def _is_like(one: AttributeBlueprint, other: AttributeBlueprint) -> bool:
    return (one.type, one.is_optional) == (other.type, other.is_optional)


def _new_field(of: _Fields, attribute: AttributeBlueprint, like: list[AttributeBlueprint]) -> Difference:
    name = attribute.name
    same = (
        f"--rename {of.shown}.{like[0].name}={name} if it is {like[0].name}"
        if like and not of.is_inside
        else ""
    )
    if attribute.has_source or of.is_upcast:
        text = "is new: " + ("the upcaster makes it" if of.is_upcast else _read_as(attribute))
        return of.difference(
            name, f"{text}.{f' {same}.' if same else ''}", "check" if of.is_upcast else "nothing"
        )
    hint = (
        "give it a default, an upcaster with a schema_version, or Computed; or let it be optional, fill it, and "
        f"require it then; --accept {of.shown}.{name} if every item has {attribute.stored} already"
    )
    says = "is new and required: items that are there have no value for it, and could not be read."
    return of.difference(name, says, "stop", f"{same}; {hint}" if same else hint)


def _read_as(attribute: AttributeBlueprint) -> str:
    if any(marker["kind"] == "Computed" for marker in attribute.markers):
        return "items without it get it worked out"
    return f"items without it are read with {_default(attribute)}"


def _default(attribute: AttributeBlueprint) -> str:
    match attribute.default:
        case {"value": value}:
            return "None" if value is None else json.dumps(value, ensure_ascii=False)
        case {"factory": factory}:
            return f"{factory}()"
        case _:
            return "None" if attribute.is_optional else "nothing in it"


def _changed_field(of: _Fields, was: AttributeBlueprint, now: AttributeBlueprint) -> Iterator[Difference]:
    name = now.name
    if was.stored != now.stored:
        is_lost = of.is_inside and not of.is_upcast
        hint = (
            f"an upcaster with a schema_version, or Stored({was.stored!r}) in the model" if is_lost else None
        )
        more = ", and no step renames inside of a model" if is_lost else ""
        says = f"was stored as {was.stored} and is stored as {now.stored}{more}."
        yield of.difference(name, says, "stop" if is_lost else "steps", hint)
    yield from _retyped(of, was, now)
    if was.is_optional and not now.is_optional:
        yield of.difference(name, "may not be None any more: every item is checked.", "check")
    elif now.is_optional and not was.is_optional:
        yield of.difference(name, "may be None. Nothing to do.", "nothing")
    if was.is_required is False and now.is_required:
        yield of.difference(name, "is required: every item is checked for it.", "check")
    elif was.is_required is not None and was.default != now.default:
        says = (
            f"has another default: items without it are read with {_default(now)}, not with {_default(was)}."
        )
        yield of.difference(name, says, "nothing")
    yield from _marked(of, was, now)


def _retyped(of: _Fields, was: AttributeBlueprint, now: AttributeBlueprint) -> Iterator[Difference]:
    if was.type == now.type:
        if was.alias != now.alias:
            yield of.difference(
                now.name, f"is {now.alias or now.type} now, {now.type} as before. Nothing to do.", "nothing"
            )
        return
    old, new = (set(each.type.split(" | ")) for each in (was, now))
    says = f"was {was.type} and is {now.type}:"
    if _are_within(old, new):
        yield of.difference(now.name, f"{says} it takes more. Nothing to do.", "nothing")
    elif not of.is_inside and not of.is_upcast and old & _NUMBERS and not new & _NUMBERS and "str" in new:
        yield of.difference(
            now.name,
            f"{says} no number is read as a text.",
            "stop",
            "a schema_version and an upcaster, which makes a text of it; or let it be a new field",
        )
    elif _are_within(new, old) or of.is_inside or of.is_upcast:
        yield of.difference(now.name, f"{says} every item is checked.", "check")
    else:
        yield of.difference(
            now.name, f"{says} every item is checked, and written by the new type.", "rewrite"
        )


def _are_within(types: set[str], others: set[str]) -> bool:
    """Tell whether values of types are of others too; a quoted one is a text of a Literal."""
    return all(each in others or (each.startswith('"') and "str" in others) for each in types)


def _marked(of: _Fields, was: AttributeBlueprint, now: AttributeBlueprint) -> Iterator[Difference]:
    old, new = ([dict(marker) for marker in each.markers] for each in (was, now))
    added, gone = [each for each in new if each not in old], [each for each in old if each not in new]
    kinds = {each["kind"] for each in (*added, *gone)}
    if "TimeToLive" in {each["kind"] for each in added}:
        says = "is a time to live now, which is a number: a time that is stored as text would be lost."
        hint = f"leave {now.name} as it was, and declare a Ttl of another name"
        yield of.difference(now.name, says, "stop", hint)
    elif kinds & _FORMS:
        effect: Effect = "check" if of.is_inside or of.is_upcast else "rewrite"
        yield of.difference(now.name, f"is stored otherwise ({_listed(sorted(kinds & _FORMS))}).", effect)
    constraints = [each for each in added if each["kind"] not in _FORMS | _OTHERS]
    if constraints:
        yield of.difference(now.name, f"takes less ({_shown(constraints)}): every item is checked.", "check")
    elif kinds - _FORMS - _OTHERS:
        yield of.difference(now.name, "takes more than before. Nothing to do.", "nothing")
    for kind in sorted(kinds & _LATER.keys()):
        yield of.difference(
            now.name, f"is {_LATER[kind]}, from the next write on, or is no longer. Nothing to do.", "nothing"
        )
    if "Computed" in kinds:
        is_made = any(each["kind"] == "Computed" for each in added)
        says = (
            "is worked out from other fields: it is recomputed."
            if is_made
            else "is not worked out any more. Nothing to do."
        )
        yield of.difference(now.name, says, "steps" if is_made else "nothing")


def _shown(markers: Sequence[Mapping[str, Any]]) -> str:
    texts = []
    for marker in markers:
        values = {name: value for name, value in marker.items() if name != "kind"}
        texts += [
            f"{name if name != 'value' else marker['kind']}={value!r}" for name, value in values.items()
        ]
    return ", ".join(texts) or _listed([marker["kind"] for marker in markers])


# --- the rest ---------------------------------------------------------------------------------------------


def _table(before: Blueprint, after: Blueprint) -> Iterator[Difference]:
    old, new = {index.name for index in before.indexes}, {index.name for index in after.indexes}
    for name in sorted(old ^ new):
        yield Difference(name, f"The index {name} is {'new' if name in new else 'gone'}.", "steps")
    names = [each.name for each in fields(before.table) if each.name not in _NOT_SETTINGS]
    changed = [name for name in names if getattr(before.table, name) != getattr(after.table, name)]
    changed += [f"capacity of {index.name}" for index in after.indexes if _has_other_capacity(before, index)]
    if changed:
        yield Difference("table", f"The table has other settings: {_listed(changed)}.", "steps")
    if before.casing != after.casing:
        yield Difference("casing", f"The casing was {before.casing} and is {after.casing}.", "steps")
    if before.discriminator != after.discriminator:
        says = f"Entities are told by {after.discriminator}, and were by {before.discriminator}."
        yield Difference("discriminator", says, "steps")


def _has_other_capacity(before: Blueprint, index: Any) -> bool:
    return any(each.name == index.name and each.capacity != index.capacity for each in before.indexes)


def _patterns(before: Blueprint, after: Blueprint) -> Iterator[Difference]:
    old, new = ({pattern.method: pattern for pattern in each.patterns} for each in (before, after))
    changes = {
        "new": [name for name in new if name not in old],
        "changed": [name for name in new if name in old and old[name] != new[name]],
        "gone": [name for name in old if name not in new],
    }
    for what, names in changes.items():
        if names:
            yield _nothing("patterns", f"Patterns that are {what}: {_listed(names)}.")


def _said(before: Blueprint, after: Blueprint) -> Iterator[Difference]:
    """Yield what is said otherwise around the items: how much, how often, by whom and why."""
    for was, now in entity_pairs(before, after):
        if was.owner != now.owner:
            yield _nothing(now.name, f"The owner of a {now.name} is said to be {now.owner or 'nobody'}.")
    for member in fields(before):
        if member.name not in _COMPARED and getattr(before, member.name) != getattr(after, member.name):
            yield _nothing(member.name, f"The {member.name} are other ones.")


def _without_said(blueprint: Blueprint) -> Blueprint:
    """Return a blueprint without what is said around the items."""
    said: dict[str, Any] = {
        each.name: each.default for each in fields(blueprint) if each.name not in _COMPARED
    }
    entities = tuple(replace(entity, owner=None, about="", said=()) for entity in blueprint.entities)
    table = replace(blueprint.table, about="", said=(), environments={})
    return replace(blueprint, table=table, entities=entities, **said)


def _nothing(where: str, says: str) -> Difference:
    return Difference(where, f"{says} Nothing to do.", "nothing")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "nothing"
