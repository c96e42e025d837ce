"""The catalogue: the ingredients that the app knows, each by one name of its own and any number of others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field

from singletable.errors import AlreadyExistsError, DuplicateError, NotFoundError, VersionConflictError
from singletable.systems import decide_again
from singletable_systems.shared.services import Service
from singletable_systems.smart_cooking.errors import (
    IngredientExistsError,
    IngredientNotFoundError,
    InvalidInputError,
)
from singletable_systems.smart_cooking.model.entities import IngredientAlias, MasterIngredient
from singletable_systems.smart_cooking.model.keys import IngredientId
from singletable_systems.smart_cooking.model.names import (
    NAME_LETTERS_MAX,
    has_normal_form,
    normalize,
    require_name,
)
from singletable_systems.smart_cooking.model.patterns import NamesFound
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking
from singletable_systems.smart_cooking.services.inputs import checked

ALIASES_MAX: Final = 40


class KnownIngredient(BaseModel):
    """An ingredient that was found, under whichever of its names. The names here are its own."""

    model_config = ConfigDict(frozen=True)

    ingredient_id: IngredientId
    name: str
    normalized_name: str
    category: str


@dataclass(frozen=True, slots=True)
class Resolved:
    """The ingredients of names, by the names as they were given, and the names that nobody knows."""

    valid: dict[str, KnownIngredient]
    invalid: list[str]

    @property
    def ingredients(self) -> list[KnownIngredient]:
        """Return the ingredients, each once, in the order of the names."""
        return list({each.ingredient_id: each for each in self.valid.values()}.values())


@checked
class Catalogue(Service[SmartCooking]):
    """What admins do with ingredients, and how everybody finds them."""

    # --- what admins do --------------------------------------------------------------------------

    def add(
        self,
        name: str,
        category: str,
        *,
        aliases: Sequence[str] = (),
        ingredient_id: IngredientId | None = None,
    ) -> MasterIngredient:
        """Add an ingredient. Its name is of no other one, however it is written (SC-16)."""
        ingredient = MasterIngredient(
            ingredient_id=IngredientId(self._new_id()) if ingredient_id is None else ingredient_id,
            name=require_name(name),
            category=_category(category),
            aliases=_different([require_name(alias) for alias in aliases]),
        )
        try:
            return self._db.create(ingredient).entity
        except (AlreadyExistsError, DuplicateError) as error:
            raise IngredientExistsError(ingredient.name) from error

    def rename(self, ingredient_id: IngredientId, name: str) -> MasterIngredient:
        """Give an ingredient another name of its own. Under the old one it is found no more."""
        wanted = require_name(name)
        try:
            return self._change(ingredient_id, name=wanted)
        except DuplicateError as error:
            raise IngredientExistsError(wanted) from error

    def add_alias(self, ingredient_id: IngredientId, alias: str) -> MasterIngredient:
        """Let an ingredient be found by one more name. One that it has already, however written, is no error."""
        wanted = require_name(alias)
        return self._change_aliases(ingredient_id, lambda aliases: [*aliases, wanted])

    def remove_alias(self, ingredient_id: IngredientId, alias: str) -> MasterIngredient:
        """Let an ingredient no longer be found by one of its other names."""
        gone = normalize(alias)
        return self._change_aliases(
            ingredient_id, lambda aliases: [each for each in aliases if normalize(each) != gone]
        )

    def deactivate(self, ingredient_id: IngredientId) -> MasterIngredient:
        """Take an ingredient out of all lists and searches. It keeps its name."""
        return self._change(ingredient_id, is_active=False)

    def activate(self, ingredient_id: IngredientId) -> MasterIngredient:
        """Put an ingredient back into all lists and searches."""
        return self._change(ingredient_id, is_active=True)

    # --- what everybody does ---------------------------------------------------------------------

    def search(self, term: Annotated[str, Field(max_length=NAME_LETTERS_MAX)]) -> list[KnownIngredient]:
        """Find ingredients of which a name begins so, each once, in the order of the names that were found."""
        return _each_once(self._db.search_ingredients(term).one()) if has_normal_form(term) else []

    def resolve(self, names: Sequence[str]) -> Resolved:
        """Find the ingredients that names stand for: by their own names, or else by their other ones.

        A name without letters, or with too many, finds nothing, and cannot be reported.
        """
        valid: dict[str, KnownIngredient] = {}
        invalid: list[str] = []
        for name in dict.fromkeys(names):
            found = self._named(name)
            if found is None:
                invalid.append(name)
            else:
                valid[name] = found
        return Resolved(valid, invalid)

    def _named(self, name: str) -> KnownIngredient | None:
        if not has_normal_form(name):
            return None
        return next(iter(_each_once(self._db.ingredients_named(name).one())), None)

    def _change_aliases(self, ingredient_id: IngredientId, change: Any) -> MasterIngredient:
        def write() -> MasterIngredient:
            ingredient = self._db.ingredient(ingredient_id).consistent().maybe()
            if ingredient is None:
                raise IngredientNotFoundError(ingredient_id)
            aliases = _different(change(ingredient.aliases))
            if aliases == ingredient.aliases:
                return ingredient
            return self._db.update(ingredient, aliases=aliases).entity

        return decide_again(write, after=(VersionConflictError,))

    def _change(self, ingredient_id: IngredientId, **changes: Any) -> MasterIngredient:
        try:
            return self._db.update(self._db.ingredient(ingredient_id), **changes).entity
        except NotFoundError as error:
            raise IngredientNotFoundError(ingredient_id) from error


def _category(category: str) -> str:
    if not category.strip() or "#" in category:
        raise InvalidInputError(f"{category!r} is no category")
    return category.strip()


def _different(aliases: list[str]) -> list[str]:
    """Leave out names that are written differently, and are the same."""
    different: dict[str, str] = {}
    for alias in aliases:
        different.setdefault(normalize(alias), alias)
    if len(different) > ALIASES_MAX:
        raise InvalidInputError(f"an ingredient may have {ALIASES_MAX} other names")
    return list(different.values())


def _each_once(found: NamesFound) -> list[KnownIngredient]:
    """Bring names back into their order, own ones before the same of others; keep the first of each ingredient."""
    own = [(each.normalized_name, 0, _known(each)) for each in found.ingredients]
    others = [(each.normalized_name, 1, _known(each)) for each in found.aliases]
    in_order = sorted([*own, *others], key=lambda each: (each[0], each[1], each[2].ingredient_id))
    first: dict[IngredientId, KnownIngredient] = {}
    for *_, known in in_order:
        first.setdefault(known.ingredient_id, known)
    return list(first.values())


def _known(found: MasterIngredient | IngredientAlias) -> KnownIngredient:
    name = found.name if isinstance(found, MasterIngredient) else found.ingredient_name
    return KnownIngredient(
        ingredient_id=found.ingredient_id, name=name, normalized_name=normalize(name), category=found.category
    )
