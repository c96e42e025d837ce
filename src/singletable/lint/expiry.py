"""Expiry as rules look at it: the entities that have a TTL attribute, and what is known of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from singletable.blueprint.entities import AttributeBlueprint, EntityBlueprint, TtlBlueprint
    from singletable.blueprint.positions import Path
    from singletable.lint.view import View


@dataclass(frozen=True)
class Expiry:
    """The expiry of an entity."""

    entity: EntityBlueprint
    rule: TtlBlueprint
    attribute: AttributeBlueprint | None  # None where the entity does not list it
    paths: tuple[Path, ...]  # of the attribute and of the entity

    @property
    def name(self) -> str:
        """Return the attribute's name as it is stored; empty where nobody says it."""
        return self.rule.stored or self.rule.field

    @property
    def samples(self) -> tuple[Any, ...]:
        """Return samples of the attribute: of the rule, of the attribute, of whole items."""
        items = (item[self.rule.stored] for item in self.entity.samples if self.rule.stored in item)
        own = self.attribute.samples if self.attribute is not None else ()
        return (*self.rule.samples, *own, *items)

    @property
    def is_kept_by_library(self) -> bool:
        """Tell whether a typed design writes it, takes it away, and hides items that have expired."""
        made = self.attribute
        return made is not None and made.type == "datetime" and made.dynamodb is None


def expiries(view: View) -> Iterator[Expiry]:
    """Yield the expiry of every entity that has one."""
    for entity in view.blueprint.entities:
        if (rule := entity.ttl) is not None:
            fields = view.fields(entity.name)
            attribute = fields.get(rule.field) or fields.get(rule.stored)
            path = view.attribute_path(entity.name, attribute.name if attribute is not None else rule.field)
            paths = tuple(dict.fromkeys((path, view.entity_path(entity.name))))
            yield Expiry(entity, rule, attribute, paths)
