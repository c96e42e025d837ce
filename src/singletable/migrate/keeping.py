"""What a new version of a design keeps of items that are there: what is unique, worked out,
counted, copied and derived.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from singletable.blueprint import Blueprint, EntityBlueprint
from singletable.migrate.steps import Recompute


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
    names = [unique.name for unique in now.uniques if unique not in uniques]
    computed = {} if was is None else dict(_computed(was))
    names += [name for name, marker in _computed(now) if computed.get(name) != marker]
    names += [each.field for each in now.aggregates if each not in aggregates]
    names += [each.field for each in now.copies if each not in copies]
    return tuple(names)


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
