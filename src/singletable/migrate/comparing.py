"""The difference between two versions of a design, as the steps that lead from one to the other. Pure.

Order: what is added, then what is written into items, then what is verified, and what is dropped last.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from singletable.blueprint import Blueprint, EntityBlueprint, IndexBlueprint, TableBlueprint
from singletable.errors import MigrationError
from singletable.migrate.differences import Difference, differences, gone_names
from singletable.migrate.keeping import lock_moves, recomputes
from singletable.migrate.renaming import (
    aligned,
    clear_renames,
    entity_pairs,
    holds_models,
    place_content,
    renamed_entities,
    unclear_renames,
)
from singletable.migrate.steps import (
    AddIndex,
    Backfill,
    ChangeSetting,
    CheckItems,
    CreateTable,
    DropIndex,
    MigrationStep,
    Note,
    Places,
    Rekey,
    RemoveAttributes,
    RenameAttributes,
    RenameEntities,
    Verify,
)

_SETTINGS: Final = {
    "billing": "billing",
    "capacity": "capacity",
    "stream": "stream",
    "encryption": "encryption",
    "pitr_days": "point-in-time recovery",
    "deletion_protection": "deletion protection",
    "ttl": "time to live",
    "tags": "tags",
}
_SWITCH: Final = "Deploy the code that reads only what is verified now: what follows destroys the rest."


def compare(
    before: Blueprint | None,
    after: Blueprint,
    *,
    every_item: bool = False,
    renamed: Mapping[str, str] | None = None,
    removed: Collection[str] = (),
) -> tuple[MigrationStep, ...]:
    """Return the steps from one version of a design to the next; none before the first.

    With `every_item` all items are brought to the form of the design, also those of entities that have not
    changed: they were written by something else. `renamed` has fields that have another name, as
    {"Order.state": "status"}; `removed` fields that are gone, as Order.note, whose attributes are to go too.
    """
    if before is None:
        return (CreateTable(), *(_adopting(after) if every_item else ()))
    _refuse_other_table(before.table, after.table)
    names = renamed_entities(before, after)
    gone = gone_names(before, after)
    attributes = _removed(before, after, removed)
    named = aligned(before, after, renamed)
    differing = differences(before, after, named)
    drops = [*_drops(named, after, attributes), *lock_moves(named, after, every_item=every_item)]
    if every_item:
        writes = _rewriting(named, after)
    else:
        writes = _writing(
            named, after, _fields(differing, "rewrite"), set(names.values()), has_drops=bool(drops)
        )
    return (
        *_checks({} if every_item else _fields(differing, "check", "rewrite", "stop"), gone),
        *_added(before, after),
        *([RenameEntities(names)] if names else []),
        *writes,
        *_notes(named, after),
        *([Note(_SWITCH)] if drops else []),
        *drops,
    )


def compared(
    before: Blueprint | None, after: Blueprint, renamed: Mapping[str, str] | None = None
) -> tuple[Difference, ...]:
    """Return all that differs between two versions of a design; nothing before the first."""
    return () if before is None else differences(before, after, aligned(before, after, renamed))


def _checks(fields: dict[str, tuple[str, ...]], gone: list[str]) -> Iterator[CheckItems]:
    if fields or gone:
        yield CheckItems(fields, tuple(gone))


def _fields(differing: Sequence[Difference], *effects: str) -> dict[str, tuple[str, ...]]:
    """Return the fields of entities that some differences are about."""
    found: dict[str, dict[str, None]] = {}
    for each in differing:
        if each.effect in effects and each.entity:
            found.setdefault(each.entity, {}).update({each.field: None} if each.field else {})
    return {name: tuple(fields) for name, fields in found.items()}


def _removed(before: Blueprint, after: Blueprint, removed: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Return the attributes of fields that are gone, by the entity that their items are of now."""
    found: dict[str, tuple[str, ...]] = {}
    pairs = list(entity_pairs(before, after))
    for where in removed:
        entity, _, field = where.partition(".")
        pair = next((each for each in pairs if entity in (each[0].name, each[1].name)), None)
        stored = (
            [each.stored for each in pair[0].attributes if each.name == field] if pair is not None else []
        )
        if pair is None or not stored or any(each.name == field for each in pair[1].attributes):
            raise MigrationError(
                f"{where} cannot be removed: it is no field that was there and is gone",
                hint="singletable migrate plan names those that are",
            )
        found[pair[1].discriminator] = (*found.get(pair[1].discriminator, ()), *stored)
    return found


# --- the table ---------------------------------------------------------------------------------------------


def _refuse_other_table(before: TableBlueprint, after: TableBlueprint) -> None:
    for what, was, now in (
        ("name", before.name, after.name),
        ("key", (before.pk, before.sk), (after.pk, after.sk)),
        ("type of the key", _key_types(before), _key_types(after)),
    ):
        if was != now:
            raise MigrationError(
                f"the table's {what} was {_shown(was)} and is {_shown(now)}, which no table can be changed to",
                hint="export the items, make the new table, and import them there",
            )


def _key_types(table: TableBlueprint) -> tuple[str, ...]:
    return tuple(table.types.get(name, "S") for name in (table.pk, table.sk) if name is not None)


def _shown(value: object) -> str:
    return " / ".join(str(part) for part in value) if isinstance(value, tuple) else str(value)


def _added(before: Blueprint, after: Blueprint) -> Iterator[MigrationStep]:
    known = {index.name: index for index in before.indexes}
    for index in after.indexes:
        if index.name not in known:
            yield AddIndex(index.name)
        else:
            _refuse_other_index(before, after, known[index.name], index)
    settings = [text for name, text in _SETTINGS.items() if _differ(before.table, after.table, name)]
    settings += [
        f"capacity of {index.name}"
        for index in after.indexes
        if index.name in known and known[index.name].capacity != index.capacity
    ]
    if settings:
        yield ChangeSetting(tuple(settings))


def _differ(before: TableBlueprint, after: TableBlueprint, name: str) -> bool:
    return bool(getattr(before, name) != getattr(after, name))


def _refuse_other_index(
    before: Blueprint, after: Blueprint, was: IndexBlueprint, now: IndexBlueprint
) -> None:
    attributes = (*now.pk, *now.sk)
    same_types = all(before.table.types.get(name) == after.table.types.get(name) for name in attributes)
    same = (was.pk, was.sk, was.projection, sorted(was.included)) == (
        now.pk,
        now.sk,
        now.projection,
        sorted(now.included),
    )
    if not same or not same_types:
        raise MigrationError(
            f"the index {now.name} has other keys or another projection than before: no index can be changed so",
            hint=f"declare another one beside it, {now.name}B, bind it too, and drop {now.name} when it is read",
        )


# --- items -------------------------------------------------------------------------------------------------


def _moved(before: Blueprint, after: Blueprint) -> dict[str, tuple[str, ...]]:
    """Return the entities whose key in the table has changed, with the templates that it had."""
    moved = {}
    for was, now in entity_pairs(before, after):
        old, new = was.place(None), now.place(None)
        if old is not None and new is not None and place_content(old) != place_content(new):
            moved[now.discriminator] = tuple(
                key.template or "" for key in (old.pk, old.sk) if key is not None
            )
    return moved


def _writing(
    before: Blueprint, after: Blueprint, fields: Places, renamed_entities: set[str], *, has_drops: bool
) -> Iterator[MigrationStep]:
    moved = _moved(before, after)
    renamed = _renamed(before, after)
    places = {now.discriminator: _changed_places(was, now) for was, now in entity_pairs(before, after)}
    is_other = before.discriminator != after.discriminator
    versions = {
        n.discriminator for w, n in entity_pairs(before, after) if w.schema_version != n.schema_version
    }
    filled = {name: found for name, found in places.items() if found or is_other or name in versions}
    if renamed:
        yield RenameAttributes(renamed)
    if moved:
        yield Rekey(tuple(moved), moved)
    if filled or fields:
        yield Backfill(filled, before.discriminator if is_other else None, fields=fields)
    yield from recomputes(before, after)
    checked = {name: places.get(name, ()) for name in (*moved, *filled, *fields, *sorted(renamed_entities))}
    if has_drops and not checked:
        checked = {entity.discriminator: _index_places(entity) for entity in after.entities}
    if checked:
        yield Verify(_with_keys(after, checked, set(moved)), moved, renamed, fields=fields)


def _renamed(before: Blueprint, after: Blueprint) -> dict[str, dict[str, str]]:
    """Return the attributes of entities that have other names now. Those of another version have an upcaster."""
    found = {
        now.discriminator: clear_renames(was, now, before.casing, after.casing)
        for was, now in entity_pairs(before, after)
        if was.schema_version == now.schema_version
    }
    return {name: names for name, names in found.items() if names}


def _changed_places(was: EntityBlueprint, now: EntityBlueprint) -> tuple[str, ...]:
    known = [place_content(place) for place in was.places]
    changed = [place for place in now.places if place.index is not None and place_content(place) not in known]
    return tuple(place.name for place in changed)


def _index_places(entity: EntityBlueprint) -> tuple[str, ...]:
    return tuple(place.name for place in entity.places if place.index is not None)


def _with_keys(
    after: Blueprint, places: dict[str, tuple[str, ...]], moved: set[str]
) -> dict[str, tuple[str, ...]]:
    """Add the place in the table of those entities whose items move."""
    keys = {
        entity.discriminator: place.name
        for entity in after.entities
        if (place := entity.place(None)) is not None
    }
    return {name: (keys[name], *found) if name in moved else found for name, found in places.items()}


def _adopting(after: Blueprint) -> Iterator[MigrationStep]:
    """Bring a table that may be there, and that nothing is known of, to the design."""
    yield from (AddIndex(index.name) for index in after.indexes)
    yield ChangeSetting(tuple(text for name, text in _SETTINGS.items() if getattr(after.table, name)))
    yield from _rewriting(None, after)
    for move in lock_moves(None, after, every_item=True):
        yield Note(_SWITCH)
        yield move


def _rewriting(before: Blueprint | None, after: Blueprint) -> Iterator[MigrationStep]:
    moved = {} if before is None else _moved(before, after)
    renamed = {} if before is None else _renamed(before, after)
    if renamed:
        yield RenameAttributes(renamed)
    names = tuple(entity.discriminator for entity in after.entities)
    places = {entity.discriminator: _index_places(entity) for entity in after.entities}
    yield Rekey(names, moved, only_moves=True)
    yield Backfill(places, every_attribute=True)
    yield from recomputes(None, after)
    yield Verify(_with_keys(after, places, set(names)), moved, renamed, every_attribute=True)


# --- for people --------------------------------------------------------------------------------------------


def _notes(before: Blueprint, after: Blueprint) -> Iterator[MigrationStep]:
    for was, now in entity_pairs(before, after):
        yield from _renamed_fields(was, now)
        if before.casing != after.casing and was.schema_version == now.schema_version:
            yield from _renamed_inside(now)


def _renamed_fields(was: EntityBlueprint, now: EntityBlueprint) -> Iterator[Note]:
    if was.schema_version != now.schema_version:
        return  # an upcaster knows
    for name, old, new in unclear_renames(was, now):
        yield Note(
            f"{now.name}.{name} was stored as {old} and is stored as {new}, and one of these names is that of "
            "another field: items that are there need a schema_version and an upcaster."
        )


def _renamed_inside(now: EntityBlueprint) -> Iterator[Note]:
    for attribute in now.attributes:
        if holds_models(attribute):
            yield Note(
                f"{now.name}.{attribute.name} is {attribute.type}: names inside a model follow the casing too, "
                "and nothing here changes them. Items that are there need a schema_version and an upcaster."
            )


# --- what goes ---------------------------------------------------------------------------------------------


def _drops(
    before: Blueprint, after: Blueprint, removed: dict[str, tuple[str, ...]]
) -> Iterator[MigrationStep]:
    names = {index.name for index in after.indexes}
    for index in before.indexes:
        if index.name not in names:
            yield DropIndex(index.name)
    attributes = {}
    for was, now in entity_pairs(before, after):
        gone = tuple(dict.fromkeys(_written(was) - _written(now) - {each.stored for each in now.attributes}))
        if gone:
            attributes[now.discriminator] = tuple(sorted(gone))
    for name, more in removed.items():
        attributes[name] = (*attributes.get(name, ()), *more)
    if before.discriminator is not None and before.discriminator != after.discriminator:
        for entity in after.entities:
            known = attributes.get(entity.discriminator, ())
            attributes[entity.discriminator] = (*known, before.discriminator)
    renamed = _renamed(before, after)
    for name, old in renamed.items():
        attributes[name] = tuple(sorted({*attributes.get(name, ()), *old}))
    if attributes:
        yield RemoveAttributes(attributes, renamed)


def _written(entity: EntityBlueprint) -> set[str]:
    """Name the attributes that are stored for the places of an entity in indexes."""
    fields = {attribute.stored for attribute in entity.attributes}
    found: set[str] = set()
    for place in entity.places:
        for key in (place.pk, place.sk):
            if place.index is not None and key is not None:
                found.update(key.attributes)
    return found - fields
