"""Expiry as rules look at it: the entities that have a TTL attribute, and what is known of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from singletable.blueprint.entities import AttributeBlueprint, EntityBlueprint, TtlBlueprint
    from singletable.blueprint.positions import Path
    from singletable.lint.bench import Bench
    from singletable.lint.finding import Finding
    from singletable.lint.view import View

_DAY_S: Final = 86_400
_LATER_DAYS: Final = 10


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


# --- proofs: an item that is to expire after a day, and what has become of it ten days later --------------


def prove_kept(found: Finding, bench: Bench) -> str | None:
    """Show that an item stays: the facts have the attribute that is enabled, that of the item, and its form."""
    if not _is_there_later(found.facts, bench):
        return None
    return f"an item that was to expire after a day is still there {_LATER_DAYS} days later"


def prove_deleted(found: Finding, bench: Bench) -> str | None:
    """Show that an item is gone."""
    if _is_there_later(found.facts, bench):
        return None
    return f"{_LATER_DAYS} days later GetItem finds nothing: the item is deleted"


def _is_there_later(facts: Mapping[str, Any], bench: Bench) -> bool:
    expires_s = bench.clock.now_us() // 1_000_000 + _DAY_S
    form = facts.get("form", "seconds")
    value = {"S": str(expires_s)} if form == "text" else {"N": str(expires_s * (1000 if form == "ms" else 1))}
    if (enabled := facts.get("enabled")) is not None:
        bench.send("update_time_to_live", TimeToLiveSpecification={"Enabled": True, "AttributeName": enabled})
    bench.send("put_item", Item={**bench.key(), facts["stored"]: value})
    bench.clock.advance(_LATER_DAYS * _DAY_S)
    return "Item" in bench.send("get_item", Key=bench.key())
