"""What a new version of a design keeps of items that are there: what is unique, worked out,
counted, copied and derived.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from singletable.blueprint import Blueprint, EntityBlueprint, UniqueBlueprint
from singletable.errors import MigrationError
from singletable.migrate.steps import MoveLocks, Recompute


def recomputes(before: Blueprint | None, after: Blueprint) -> Iterator[Recompute]:
    """Return the step that makes what was not kept before; without a version before, all that is kept."""
    known = {} if before is None else {entity.discriminator: entity for entity in before.entities}
    entities = {}
    for entity in after.entities:
        was = known.get(entity.discriminator)
        # There are no items yet of an entity that is new.
        kept = _kept(was, entity) if was is not None or before is None else ()
        if kept:
            entities[entity.discriminator] = kept
    derived = _derived(known, after)
    if entities or derived:
        yield Recompute(entities, derived)


def _kept(was: EntityBlueprint | None, now: EntityBlueprint) -> tuple[str, ...]:
    """Name the declarations of an entity that it did not have, or had otherwise."""
    uniques, aggregates, copies = ((), (), ()) if was is None else (was.uniques, was.aggregates, was.copies)
    locks = [_lock(unique) for unique in uniques]
    names = [
        unique.name for unique in now.uniques if _lock(unique) not in locks and not _moves(uniques, unique)
    ]
    computed = {} if was is None else dict(_computed(was))
    names += [name for name, marker in _computed(now) if computed.get(name) != marker]
    names += [each.field for each in now.aggregates if each not in aggregates]
    names += [each.field for each in now.copies if each not in copies]
    return tuple(names)


def lock_moves(before: Blueprint | None, after: Blueprint, *, every_item: bool) -> Iterator[MoveLocks]:
    """Return the step that moves locks to other sort keys; for every item, all that may have to."""
    known = {} if before is None else {entity.discriminator: entity for entity in before.entities}
    entities = {}
    for entity in after.entities:
        was = known.get(entity.discriminator)
        if was is not None:
            _refuse_lost_locks(was, entity)
        names = tuple(
            unique.name
            for unique in entity.uniques
            if (unique.was is not None if every_item else was is not None and _moves(was.uniques, unique))
        )
        if names:
            entities[entity.discriminator] = names
    if entities:
        yield MoveLocks(entities)


def _lock(unique: UniqueBlueprint) -> tuple[object, ...]:
    """Return what decides where locks are: not where they were."""
    return unique.name, unique.template, unique.sort, unique.fields


def _moves(before: tuple[UniqueBlueprint, ...], now: UniqueBlueprint) -> bool:
    """Tell whether the locks of a unique value have had the sort key that it still looks for."""
    return any(
        (was.name, was.template, was.sort) == (now.name, now.template, now.was) and was.sort != now.sort
        for was in before
    )


def _refuse_lost_locks(before: EntityBlueprint, now: EntityBlueprint) -> None:
    """Refuse that locks are looked for under the sort key that they had before: they have moved from there."""
    for was in before.uniques:
        for unique in now.uniques:
            is_lost = was.name == unique.name and was.was == unique.sort and unique.was is None
            if is_lost and was.template == unique.template:
                raise MigrationError(
                    f"{now.name}.{unique.name}: its locks have the sort key {was.sort}, and would have "
                    f"{unique.sort}, so that values could be taken twice",
                    hint=f'sort="{was.sort}" leaves them where they are; was="{was.sort}" moves them',
                )


def _computed(entity: EntityBlueprint) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Return the fields that are worked out from others, and how."""
    for attribute in entity.attributes:
        for marker in attribute.markers:
            if marker["kind"] == "Computed":
                yield attribute.name, marker


def _is_made_alike(was: EntityBlueprint, now: EntityBlueprint) -> bool:
    """Tell whether derived items of both versions are made of the same, with the same fields."""
    before, after = ({each.name: each.type for each in entity.attributes} for entity in (was, now))
    return was.derived == now.derived and before == after


def _derived(known: dict[str, EntityBlueprint], after: Blueprint) -> dict[str, tuple[str, ...]]:
    """Name the entities that are made from others now, by those that they are made from."""
    found: dict[str, tuple[str, ...]] = {}
    for entity in after.entities:
        was = known.get(entity.discriminator)
        if entity.derived is None or (was is not None and _is_made_alike(was, entity)):
            continue
        source = after.entity(entity.derived.of)
        if source is not None and (not known or source.discriminator in known):
            found[source.discriminator] = (*found.get(source.discriminator, ()), entity.discriminator)
    return found
