"""The access patterns of Smart Cooking, by the numbers of the documents; from 43 on, those that were missing.

Where a document asks for something that DynamoDB cannot answer, `documented=` holds its words and `fixes=` the
defect. Nothing here scans.
"""

from __future__ import annotations

from singletable_systems.smart_cooking.model.patterns.cooking import CookingPatterns
from singletable_systems.smart_cooking.model.patterns.ingredients import IngredientPatterns, NamesFound
from singletable_systems.smart_cooking.model.patterns.people import PeoplePatterns
from singletable_systems.smart_cooking.model.patterns.recipes import RecipePatterns, RecipeView
from singletable_systems.smart_cooking.model.patterns.social import SocialPatterns

__all__ = [
    "CookingPatterns",
    "IngredientPatterns",
    "NamesFound",
    "PeoplePatterns",
    "RecipePatterns",
    "RecipeView",
    "SocialPatterns",
]
