"""Sources generate recipes from ingredients. A model behind an API is one; the one here needs nothing.

The answer of a source is not trusted: a recipe must have exactly the form below, or it is left out.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from typing import Annotated, Any, Final, NamedTuple, Protocol

from pydantic import ConfigDict, Field, ValidationError
from pydantic_core import PydanticSerializationError, to_json

from singletable_systems.smart_cooking.model.names import normalize
from singletable_systems.smart_cooking.rules.drafts import IngredientLine, RecipeDraft

logger = logging.getLogger("singletable_systems.smart_cooking")

# So that what is generated for one suggestion, with all its lines, is stored in one transaction.
GENERATED_INGREDIENTS_MAX: Final = 15


@dataclass(frozen=True, slots=True)
class SourceRequest:
    """What somebody wants to cook: with these ingredients, so many recipes, to this taste."""

    ingredients: tuple[str, ...]
    count: int
    prompt_text: str = ""
    besides: tuple[str, ...] = ()  # titles of recipes that there are already
    cuisines: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    dietary_restrictions: tuple[str, ...] = ()
    allergies: tuple[str, ...] = ()
    spice_level: str = "medium"


class RecipeSource(Protocol):
    """Makes up recipes. It may fail, and it may answer anything: neither does harm."""

    def generate(self, request: SourceRequest) -> Sequence[Mapping[str, Any]]:
        """Return recipes, each in the form of a `GeneratedRecipe` as JSON."""
        ...


class GeneratedRecipe(RecipeDraft):
    """A recipe of a source, every field of it in its form and nothing beside them."""

    model_config = ConfigDict(strict=True)

    ingredients: Annotated[list[IngredientLine], Field(min_length=1, max_length=GENERATED_INGREDIENTS_MAX)]


def generated(source: RecipeSource, request: SourceRequest) -> list[GeneratedRecipe]:
    """Ask a source; return the valid and new recipes of its answer, at most `count`. Nothing is raised."""
    try:
        answer = list(islice(source.generate(request), request.count))
    except Exception:
        logger.exception("the source of recipes failed")
        return []
    recipes = [recipe for recipe in map(_checked, answer) if recipe is not None]
    by_title = {normalize(recipe.title): recipe for recipe in recipes}
    known = {normalize(title) for title in request.besides}
    return [recipe for title, recipe in by_title.items() if title not in known]


def _checked(given: object) -> GeneratedRecipe | None:
    try:
        # Strict, as JSON: a number is a number, and a text that looks like one is none.
        return GeneratedRecipe.model_validate_json(to_json(given))
    except (ValidationError, PydanticSerializationError, ValueError) as error:
        logger.warning("the source of recipes has made up what is no recipe: %s", error)
        return None


# --- a source that needs nothing ---------------------------------------------------------------------------


class _Way(NamedTuple):
    """A way to cook: what it is called, what it takes, and what is done."""

    method: str
    title: str
    meal_type: str
    minutes: int
    steps: tuple[str, ...]


_WAYS: Final = (
    _Way(
        "stir-fry",
        "Stir-fried {all}",
        "main",
        12,
        ("Cut {all} into thin strips.", "Heat the oil in a wok.", "Fry {first} first, then all the rest."),
    ),
    _Way(
        "soup",
        "Soup of {all}",
        "starter",
        25,
        ("Cut {all} into pieces.", "Bring a litre of water to the boil.", "Simmer {all} until soft."),
    ),
    _Way(
        "roast",
        "{first} from the oven, with {rest}",
        "main",
        45,
        ("Heat the oven to 200 °C.", "Lay {all} on a tray with the oil.", "Roast until {first} is brown."),
    ),
    _Way(
        "stew",
        "Stew of {all}",
        "main",
        60,
        ("Brown {first} in the oil.", "Add {rest} and a glass of water.", "Cover, and stew gently."),
    ),
    _Way(
        "salad",
        "Salad of {all}",
        "side",
        5,
        ("Cook what is not eaten raw, and let it cool.", "Mix {all} with oil and salt."),
    ),
)
_IN_A_TITLE_MAX: Final = 3
_USED_MAX: Final = 6
_DEFAULT_CUISINE: Final = "Vietnamese"


class PantrySource:
    """Composes plain recipes from ingredients by rule: the same ones for the same request, without a network."""

    def generate(self, request: SourceRequest) -> Sequence[Mapping[str, Any]]:
        """Return a recipe for each way to cook, those that are liked first, as many as are asked for."""
        if not request.ingredients:
            return []
        ways = sorted(_WAYS, key=lambda way: (way.method not in request.methods, _draw(request, way.method)))
        recipes = (self._compose(request, way, number) for number, way in enumerate(ways))
        return list(islice((each for each in recipes if each["title"] not in request.besides), request.count))

    def _compose(self, request: SourceRequest, way: _Way, number: int) -> dict[str, Any]:
        ingredients = sorted(request.ingredients, key=lambda name: _draw(request, name))
        start = number % len(ingredients)
        used = (ingredients[start:] + ingredients[:start])[:_USED_MAX]
        words = {"first": used[0], "rest": _listed(used[1:]), "all": _listed(used)}
        cuisines = request.cuisines or (_DEFAULT_CUISINE,)
        title = way.title.format(**words)
        return {
            "title": title[:1].upper() + title[1:],
            "description": f"A simple way to use {words['all']}.",
            "cuisine_type": cuisines[number % len(cuisines)],
            "cooking_method": way.method,
            "meal_type": way.meal_type,
            "prep_time_minutes": 5 + 2 * len(used),
            "cook_time_minutes": way.minutes,
            "servings": 2,
            "instructions": [
                {"step_number": place, "description": step.format(**words)}
                for place, step in enumerate(way.steps, start=1)
            ],
            "ingredients": [{"ingredient_name": name, "quantity": 150, "unit": "g"} for name in used],
        }


def _listed(names: Sequence[str]) -> str:
    shown = names[:_IN_A_TITLE_MAX]
    if len(shown) < 2:
        return "".join(shown) or "herbs"
    return f"{', '.join(shown[:-1])} and {shown[-1]}"


def _draw(request: SourceRequest, name: str) -> str:
    """Return a sort key of names: another order for every request, and always the same order for one request."""
    return sha256("\n".join([*sorted(request.ingredients), name]).encode()).hexdigest()
