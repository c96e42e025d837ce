"""What cards are about: categories, and things that can be done perfectly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from singletable_systems.perfectit.model.entities import ROOT, Category
from singletable_systems.perfectit.model.keys import CategoryId

_TREE: Final = (
    ("crafts", "Crafts", ROOT),
    ("woodworking", "Woodworking", "crafts"),
    ("sewing", "Sewing", "crafts"),
    ("kitchen", "Kitchen", ROOT),
    ("baking", "Baking", "kitchen"),
    ("knives", "Knives", "kitchen"),
    ("outdoors", "Outdoors", ROOT),
    ("bicycles", "Bicycles", "outdoors"),
)


@dataclass(frozen=True, slots=True)
class Subject:
    """Something that can be done perfectly."""

    category: CategoryId
    title: str
    tags: tuple[str, ...]
    tools: tuple[str, ...]
    materials: tuple[str, ...]
    steps: tuple[str, ...]


def _subject(category: str, title: str, tags: str, tools: str, materials: str, *steps: str) -> Subject:
    return Subject(
        CategoryId(category),
        title,
        tuple(tags.split()),
        tuple(tools.split()),
        tuple(materials.split()),
        steps,
    )


# The category of every second card is that of the document's sample.
SUBJECTS: Final = (
    _subject(
        "woodworking",
        "Perfect Wood Finish",
        "furniture finishing oak",
        "sander brush cloth",
        "oil wax",
        "Sand along the grain, with finer paper each time.",
        "Wipe the dust off with a damp cloth and let it dry.",
        "Rub in a thin coat of oil, and wipe off what stands after ten minutes.",
        "Wait a night, polish, and do it once more.",
    ),
    _subject(
        "baking",
        "Perfect Sourdough Crust",
        "bread sourdough oven",
        "banneton blade pot",
        "flour water salt starter",
        "Heat the pot with the oven.",
        "Score the loaf with one cut, quick and shallow.",
        "Bake with the lid on for twenty minutes, then without.",
    ),
    _subject(
        "woodworking",
        "Perfect Dovetail Joint",
        "joinery oak chisel",
        "saw chisel gauge",
        "oak glue",
        "Mark the tails with a knife, not with a pencil.",
        "Saw on the waste side of the line.",
        "Pare to the line from both sides.",
        "Mark the pins from the tails, and saw them a hair too wide.",
    ),
    _subject(
        "knives",
        "Perfect Edge on a Kitchen Knife",
        "sharpening stone steel",
        "whetstone strop",
        "water",
        "Soak the stone until no bubbles rise.",
        "Hold fifteen degrees, and count the strokes.",
        "Turn the knife when a burr can be felt.",
        "Strop, edge last.",
    ),
    _subject(
        "woodworking",
        "Perfect Glue-up of a Table Top",
        "furniture table oak",
        "clamps plane scraper",
        "boards glue",
        "Plane the edges in pairs, so that errors cancel.",
        "Spread the glue thinly on one side.",
        "Clamp from the middle, above and below in turn.",
    ),
    _subject(
        "bicycles",
        "Perfect Gear Indexing",
        "derailleur cable bike",
        "screwdriver stand",
        "cable oil",
        "Set the limit screws with no cable tension.",
        "Take up the slack on the smallest cog.",
        "Turn the barrel by quarters until the chain climbs at once.",
    ),
    _subject(
        "woodworking",
        "Perfect Turned Bowl",
        "lathe bowl ash",
        "gouge scraper",
        "ash wax",
        "Mount the blank with the grain across.",
        "Cut from the rim to the foot, downhill.",
        "Leave the wall an even finger thick.",
    ),
    _subject(
        "sewing",
        "Perfect Hidden Hem",
        "hem needle trousers",
        "needle iron",
        "thread",
        "Press the hem before you sew it.",
        "Catch one thread of the cloth with each stitch.",
        "Leave the thread loose enough to move.",
    ),
)


def categories(created_at: datetime, cards: Mapping[CategoryId, int]) -> list[Category]:
    """Return the tree of categories, which know how many cards are in each of them."""
    below = Counter(parent for _, _, parent in _TREE)
    return [
        Category(
            category_id=CategoryId(slug),
            name=name,
            parent_id=parent,
            sort_order=10 * (place + 1),
            categories_count=below[slug],
            cards_count=cards.get(CategoryId(slug), 0),
            created_at=created_at,
            updated_at=created_at,
        )
        for place, (slug, name, parent) in enumerate(_TREE)
    ]
