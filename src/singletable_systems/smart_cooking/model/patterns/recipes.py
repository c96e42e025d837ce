"""Reading recipes: by id, by author, in lists by rating, by title, by what goes into them."""

from __future__ import annotations

from singletable import (
    BatchGet,
    Collect,
    Collection,
    Eq,
    Followed,
    Get,
    Merged,
    Query,
    collect,
    pattern,
    shards,
)
from singletable_systems.smart_cooking.model.entities import (
    ApprovedFacet,
    CuisineFacet,
    MealTypeFacet,
    Recipe,
    RecipeIngredient,
    RecipeRating,
    RecipeUse,
    TrendingRecipe,
)
from singletable_systems.smart_cooking.model.keys import (
    ApprovedPK,
    CuisinePK,
    MealTypePK,
    MetadataSK,
    MethodPK,
    Period,
    RatingSK,
    RecipeId,
    RecipePK,
    TitleSearchPK,
    TitleSK,
    TrendingPK,
    UserId,
    UserPK,
    UsesPK,
)


class RecipeView(Collection):
    """A recipe with what goes into it."""

    recipe: Recipe
    ingredients: list[RecipeIngredient]


class RecipePatterns:
    @pattern("10 Get recipe", documented="PK=RECIPE#<id>, SK=METADATA")
    def recipe(self, recipe_id: RecipeId) -> Get[Recipe]:
        return Recipe.key.get(RecipePK(recipe_id=recipe_id), MetadataSK())

    @pattern(
        "11 List user's recipes",
        documented="GSI1PK=USER#<user_id>, GSI1SK begins_with RECIPE#",
        fixes="SC-05",
    )
    def recipes_of(self, user_id: UserId) -> Query[Recipe]:
        return Recipe.by_user.query(UserPK(user_id=user_id))

    @pattern(
        "12 Search by cooking method, best rated first",
        documented="GSI2PK=METHOD#<method>, Sort by rating DESC",
        fixes="SC-07, SC-10, SC-12",
    )
    def recipes_by_method(self, cooking_method: str, approved_only: bool = False) -> Query[Recipe]:
        recipes = Recipe.by_method.query(MethodPK(cooking_method=cooking_method)).newest_first()
        return recipes.where(Eq("is_approved", True)) if approved_only else recipes

    @pattern(
        "13 Browse approved recipes, best rated first",
        documented="GSI2PK=APPROVED, GSI2SK begins_with RECIPE#",
        fixes="SC-08, SC-09, SC-12",
    )
    def approved_recipes(self) -> Merged[ApprovedFacet]:
        every = [ApprovedFacet.listed.query(ApprovedPK(shard=shard)) for shard in shards(ApprovedPK)]
        return Merged(every).newest_first()

    @pattern(
        "14 List recipes by cuisine, best rated first",
        documented="GSI2PK=CUISINE#<cuisine>",
        fixes="SC-08, SC-12",
    )
    def recipes_by_cuisine(self, cuisine_type: str, approved_only: bool = False) -> Query[CuisineFacet]:
        recipes = CuisineFacet.listed.query(CuisinePK(cuisine_type=cuisine_type)).newest_first()
        return recipes.where(Eq("is_approved", True)) if approved_only else recipes

    @pattern(
        "15 List recipes by meal type, best rated first",
        documented="GSI2PK=MEALTYPE#<meal_type>",
        fixes="SC-08, SC-12",
    )
    def recipes_by_meal_type(self, meal_type: str, approved_only: bool = False) -> Query[MealTypeFacet]:
        recipes = MealTypeFacet.listed.query(MealTypePK(meal_type=meal_type)).newest_first()
        return recipes.where(Eq("is_approved", True)) if approved_only else recipes

    @pattern("16 List recipe ingredients", documented="PK=RECIPE#<id>, SK begins_with INGREDIENT#")
    def recipe_ingredients(self, recipe_id: RecipeId) -> Query[RecipeIngredient]:
        return RecipeIngredient.key.query(RecipePK(recipe_id=recipe_id))

    @pattern("16b Get recipe with its ingredients", fixes="SC-43")
    def recipe_view(self, recipe_id: RecipeId) -> Collect[RecipeView]:
        """In one query, of which ratings and facets are no part: they sort after and before."""
        return collect(RecipeView, RecipePK(recipe_id=recipe_id))

    @pattern("20 Trending recipes", documented="GSI3PK=TRENDING#weekly", fixes="SC-20")
    def trending(self, period: Period = "weekly") -> Followed[Recipe]:
        ranking = TrendingRecipe.ranked.query(TrendingPK(period=period)).newest_first()
        recipes = ranking.follow(
            Recipe.key, lambda ranked: (RecipePK(recipe_id=ranked.recipe_id), MetadataSK())
        )
        return recipes.where(Eq("is_public", True))

    @pattern("20b The ranking of trending recipes", fixes="SC-20")
    def ranking(self, period: Period = "weekly") -> Query[TrendingRecipe]:
        return TrendingRecipe.ranked.query(TrendingPK(period=period)).newest_first()

    @pattern("21 Get all ratings for recipe", documented="PK=RECIPE#<id>, SK begins_with RATING#")
    def ratings(self, recipe_id: RecipeId) -> Query[RecipeRating]:
        return RecipeRating.key.query(RecipePK(recipe_id=recipe_id))

    @pattern("22 Get user's ratings", documented="GSI1PK=USER#<id>, SK begins_with RATING#", fixes="SC-17")
    def ratings_of(self, user_id: UserId) -> Query[RecipeRating]:
        return RecipeRating.by_user.query(UserPK(user_id=user_id))

    @pattern("23 Check if user rated", documented="PK=RECIPE#<id>, SK=RATING#<user_id>", consistent=True)
    def rating(self, recipe_id: RecipeId, user_id: UserId) -> Get[RecipeRating]:
        return RecipeRating.key.get(RecipePK(recipe_id=recipe_id), RatingSK(user_id=user_id))

    @pattern(
        "42 Get several recipes",
        documented="BatchGet RECIPE#101, RECIPE#102, RECIPE#103 with SK=METADATA",
        fixes="SC-54",
    )
    def recipes(self, recipe_ids: list[RecipeId]) -> BatchGet[Recipe]:
        return Recipe.key.batch_get([(RecipePK(recipe_id=each), MetadataSK()) for each in recipe_ids])

    @pattern("48 Search recipes by the beginning of a title", fixes="SC-58", cached_s=60)
    def search_recipes(self, term: str) -> Query[Recipe]:
        return Recipe.by_title.query(TitleSearchPK(initial=term), TitleSK.starting(normalized_title=term))

    @pattern("49 List approved recipes with an ingredient, best rated first")
    def recipes_using(self, name: str) -> Query[RecipeUse]:
        return RecipeUse.listed.query(UsesPK(normalized_name=name)).newest_first()
