"""DOC902: a part of the design names another part that is not there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View

if TYPE_CHECKING:
    from singletable.blueprint.entities import EntityBlueprint
    from singletable.blueprint.positions import Path


def check(view: View) -> Iterator[Finding]:
    """Look for names of entities, fields and patterns that nothing has."""
    for kind, name, path, by in (*_entities(view), *_fields(view), *_patterns(view)):
        yield finding(
            RULE,
            path,
            message=f"{by} names the {kind} {name}, and there is none",
            because=f"who builds the design does not know what {name} is: it has no keys and no attributes",
            repair=f"declare {name}, or name the {kind} that is meant",
        )


def _entities(view: View) -> Iterator[tuple[str, str, Path, str]]:
    for name, path, by in _asked_entities(view):
        if name.isidentifier() and name not in view.entities:
            yield "entity", name, path, by


def _asked_entities(view: View) -> Iterator[tuple[str, Path, str]]:
    blueprint = view.blueprint
    for read in view.reads:
        for name in read.read.entities:
            yield name, read.path[:2], "a read"
    for write in view.writes:
        yield write.write.entity, write.path[:2], "a write"
    for at, volume in enumerate(blueprint.volumes):
        yield volume.entity, ("volumes", at), "a volume"
    for at, load in enumerate(blueprint.loads):
        if load.kind in ("create", "update", "delete", "expire"):
            yield load.of, ("loads", at), "a load"
    for at, rule in enumerate(blueprint.ttl_rules):
        if rule.of[:1].isupper() and rule.of.isidentifier():
            yield rule.of, ("ttl_rules", at), "a rule of expiry"
    for at, consumer in enumerate(blueprint.consumers):
        for handler in consumer.handlers:
            for name in (*handler.entities, *handler.writes, *handler.reads):
                yield name, ("consumers", at), f"handler {handler.name}"
    for entity in blueprint.entities:
        path = view.entity_path(entity.name)
        others = [
            *entity.owns,
            *(each.of for each in entity.aggregates),
            *(each.of for each in entity.copies),
        ]
        for name in [*others, *([entity.derived.of] if entity.derived is not None else [])]:
            yield name, path, entity.name


def _fields(view: View) -> Iterator[tuple[str, str, Path, str]]:
    for entity in view.blueprint.entities:
        if not entity.attributes:
            continue  # nobody lists its fields
        for name, owner, by in _asked_fields(view, entity):
            if name and owner.attributes and name not in view.fields(owner.name):
                yield "field", f"{owner.name}.{name}", view.entity_path(entity.name), by


def _asked_fields(view: View, entity: EntityBlueprint) -> Iterator[tuple[str, EntityBlueprint, str]]:
    for copy in entity.copies:
        yield copy.field, entity, f"a copy of {copy.of}.{copy.of_field}"
        if (source := view.entities.get(copy.of)) is not None:
            yield copy.of_field, source, f"a copy in {entity.name}"
    for aggregate in entity.aggregates:
        yield aggregate.field, entity, f"the {aggregate.kind} of {aggregate.of}"
        if aggregate.of_field and (source := view.entities.get(aggregate.of)) is not None:
            yield aggregate.of_field, source, f"the {aggregate.kind} in {entity.name}"
    for unique in entity.uniques:
        for name in unique.fields:
            yield name, entity, f"the unique value {unique.name}"


def _patterns(view: View) -> Iterator[tuple[str, str, Path, str]]:
    blueprint = view.blueprint
    known = {name for each in blueprint.patterns for name in (each.number, each.method, each.title) if name}
    if not known:
        return
    for at, service in enumerate(blueprint.services):
        for name in service.patterns:
            if name not in known:
                yield "pattern", name, ("services", at), f"service {service.name}"
    for at, load in enumerate(blueprint.loads):
        if load.kind == "pattern" and load.of not in known:
            yield "pattern", load.of, ("loads", at), "a load"


RULE = Rule("DOC902", Severity.DISAGREEMENT, "A part names another part that is not there", check)
