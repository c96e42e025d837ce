"""What goes into a jar of water kefir, and what people write about it."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from random import Random
from typing import Final

_FRUITS: Final = (
    "2 dried figs, half a lemon",
    "4 dates, a slice of ginger",
    "a handful of raisins, half a lemon",
    "3 dried apricots",
    "half an orange, a slice of ginger",
    "2 prunes, half a lime",
    "rose hips, half a lemon",
)
_FLAVOURS: Final = (
    "ginger and lemon",
    "raspberry",
    "elderflower",
    "blueberry and mint",
    "lingonberry",
    "pineapple",
    "hibiscus",
    "rhubarb",
    "mango and chili",
    "apple and cinnamon",
)
_NAMES: Final = ("{} No. {}", "Batch {1}: {0}", "{} ({})")
_BOTTLES_ML: Final = (330, 500, 750)

FIRST_NOTES: Final = (
    "Grains look healthy: plump and clear.",
    "Rinsed the grains, used cane sugar and a pinch of salt.",
    "Tap water that stood overnight. Grains sink nicely.",
    "Half white, half brown sugar this time.",
)
JAR_NOTES: Final = (
    "First bubbles rise along the glass.",
    "Bubbles everywhere, the fruit swims on top.",
    "Tastes sweet still, only a little sour.",
    "Smells of yeast and lemon. Clearly less sweet than yesterday.",
    "Cloudy, with a fine line of bubbles at the surface.",
    "Sour taste is coming. Half a day more.",
)
BOTTLE_NOTES: Final = (
    "Opened one over the sink: a good hiss.",
    "Bottles are hard already, let some gas out.",
    "Tiny bubbles, pleasantly sour.",
    "A bit flat. Moved the bottles to a warmer shelf.",
    "Fizzes like champagne. One day in the cold is enough.",
)
SPOILED_NOTES: Final = (
    "Fuzzy white spots on the fruit: mould. Everything goes, the jar gets boiled.",
    "Slimy, and smells of sulphur. Not drinking that.",
    "Fruit flies got in under the cloth. Starting over.",
)
PUBLIC_NOTES: Final = (
    "My best one so far. Warm kitchen, 36 hours, then the fridge.",
    "Less sugar than usual, and nobody has noticed.",
    "Ask me for grains: they grow faster than I can brew.",
)


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a batch is made. It is warm or it takes long."""

    name: str
    flavour: str
    water_volume_ml: int
    sugar_grams: Decimal
    fruits: str
    temperature_c: Decimal
    hours_stage1: int
    bottle_count: int
    bottle_volume_ml: int
    temperature_c_stage2: Decimal
    hours_stage2: int


def recipe(number: int, chance: Random) -> Recipe:
    """Make up the recipe of somebody's batch of a number."""
    flavour = chance.choice(_FLAVOURS)
    water_volume_ml = chance.randrange(1000, 4001, 250)
    sugar_grams_per_litre = chance.randrange(30, 81, 5)
    temperature_c = Decimal(chance.randint(36, 56)) / 2
    bottle_volume_ml = chance.choice(_BOTTLES_ML)
    return Recipe(
        name=chance.choice(_NAMES).format(flavour.capitalize(), number),
        flavour=flavour,
        water_volume_ml=water_volume_ml,
        sugar_grams=Decimal(sugar_grams_per_litre * water_volume_ml) / 1000,
        fruits=chance.choice(_FRUITS),
        temperature_c=temperature_c,
        hours_stage1=_hours(temperature_c),
        # Fruit and grains take their share of the jar.
        bottle_count=water_volume_ml * 9 // 10 // bottle_volume_ml,
        bottle_volume_ml=bottle_volume_ml,
        temperature_c_stage2=max(Decimal(18), temperature_c - Decimal(chance.randint(0, 3)) / 2),
        hours_stage2=chance.choice((24, 36, 48)),
    )


def _hours(temperature_c: Decimal) -> int:
    """Return how long a jar takes: 72 hours at 18 degrees, 24 hours at 28, in steps of six."""
    return int(72 - (temperature_c - 18) * 48 / 10) // 6 * 6
