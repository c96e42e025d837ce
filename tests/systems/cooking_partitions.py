"""Prints the partitions that all users share, as the options of the environment spread them: run by a test."""

from __future__ import annotations

import json
from datetime import timedelta

from singletable_systems.smart_cooking.model.entities import ApprovedFacet, RecipeCard
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking
from systems.cooking_examples import HISTORY, INGREDIENT, POST, RECIPE


def partitions() -> dict[str, list[str]]:
    """Return the partition keys of many entities, by the index attribute and the entity."""
    card = {name: getattr(RECIPE, name) for name in RecipeCard.model_fields}
    found: dict[str, set[str]] = {}
    for number in range(40):
        later = timedelta(days=number)
        entities = {
            "approved GSI2PK": ApprovedFacet(**{**card, "recipe_id": f"r{number}"}),
            "recent GSI3PK": HISTORY.model_copy(
                update={"history_id": f"h{number}", "cook_date": HISTORY.cook_date}
            ),
            "feed GSI3PK": POST.model_copy(
                update={"post_id": f"p{number}", "created_at": POST.created_at + later}
            ),
            "search GSI2PK": INGREDIENT.model_copy(update={"normalized_name": f"{'abc'[number % 3]} x"}),
            "title GSI3PK": RECIPE.model_copy(update={"normalized_title": f"{'abc'[number % 3]} x"}),
        }
        for name, entity in entities.items():
            item = SmartCooking.stored_item(entity)
            found.setdefault(name, set()).add(item[name.split()[1]]["S"])
    return {name: sorted(keys) for name, keys in found.items()}


if __name__ == "__main__":
    print(json.dumps(partitions()))
