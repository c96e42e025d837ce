"""What each kind of step does to an item, and what it says of that afterwards. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from singletable.design.rekeying import MARK
from singletable.design.values.items import Item
from singletable.migrate.forms import Forms, ItemRewrite
from singletable.migrate.passes import PassOutcome
from singletable.migrate.steps import (
    Backfill,
    CheckItems,
    MigrationStep,
    Rekey,
    RemoveAttributes,
    RenameAttributes,
    RenameEntities,
    Verify,
)


def decide(forms: Forms, step: MigrationStep, item: Item) -> ItemRewrite | None:
    """Say what a step does to an item."""
    schema = forms.schema_of(item)
    if schema is None:
        return None
    match step:
        case CheckItems(checked) if schema.name in checked:
            forms.check(schema, item)
            return None
        case RenameEntities(renamed):
            return forms.entity_renaming(schema, item, renamed)
        case Backfill(entities) if schema.name in entities or schema.name in step.fields:
            places = _places(schema, entities.get(schema.name, ()))
            fields = step.fields.get(schema.name, ())
            return forms.change(schema, item, places, every_attribute=step.every_attribute, fields=fields)
        case Rekey(entities) if schema.name in entities:
            change = forms.change(schema, item, (), moves=True)
            stays = change is not None and change.move is None and MARK not in item
            return None if step.only_moves and stays else change
        case RenameAttributes(renamed) if schema.name in renamed:
            return forms.renaming(schema, item, renamed[schema.name])
        case Verify(entities, _, renamed) if schema.name in entities or schema.name in renamed:
            copied = forms.renaming(schema, item, renamed.get(schema.name, {}))
            places = _places(schema, entities.get(schema.name, ()))
            moves = schema.key.name in places
            every, fields = step.every_attribute, step.fields.get(schema.name, ())
            return copied or forms.change(
                schema, item, places, moves=moves, every_attribute=every, fields=fields
            )
        case RemoveAttributes(entities, renamed) if schema.name in entities:
            return forms.removal(schema, item, entities[schema.name], renamed.get(schema.name))
        case _:
            return None


def _places(schema: Any, named: Sequence[str]) -> list[str]:
    """Return those places that the entity still has: a later version may have dropped one."""
    return [place for place in named if place in schema.bindings]


def summary(outcome: PassOutcome, *, is_dry: bool) -> str:
    """Say in a few words what a pass has done, or would do."""
    counts = outcome.counts
    texts = [f"{counts.changed} changed"] if counts.changed or not counts.moved else []
    if counts.moved:
        texts.append(f"{counts.moved} moved")
    if counts.failed:
        texts.append(f"{counts.failed} failed")
    if counts.unknown:
        texts.append(f"{counts.unknown} of no entity")
    return f"{'would be: ' if is_dry else ''}{', '.join(texts)} of {counts.seen} items"
