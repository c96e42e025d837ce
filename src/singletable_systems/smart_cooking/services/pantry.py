"""Pantries: the ingredients that users have at home, under the catalogue's names where it has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from singletable import Check, Create, Page
from singletable.errors import AlreadyExistsError, NotFoundError
from singletable.systems import decide_again
from singletable_systems.smart_cooking.errors import (
    IngredientNotFoundError,
    InvalidInputError,
    UserNotFoundError,
)
from singletable_systems.smart_cooking.model.entities import UserIngredient
from singletable_systems.smart_cooking.model.keys import IngredientNameSK, UserId, UserPK
from singletable_systems.smart_cooking.model.names import has_normal_form, normalize, require_name
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking
from singletable_systems.smart_cooking.services.catalogue import Catalogue, KnownIngredient
from singletable_systems.smart_cooking.services.inputs import Limit, checked

NAMES_AT_ONCE_MAX: Final = 50


@checked
class Pantry:
    """The ingredients that users have at home. `chicken` and `Thịt gà` are one, if the catalogue says so."""

    def __init__(self, db: SmartCooking) -> None:
        self._db = db
        self._catalogue = Catalogue(db)

    def add(self, user_id: UserId, names: Sequence[str]) -> list[UserIngredient]:
        """Add ingredients, all or none; those that are there already stay as they are.

        An ingredient that the catalogue does not know is kept under the given name.
        """
        wanted = self._entries(user_id, names)
        return decide_again(lambda: self._add(user_id, wanted), after=(AlreadyExistsError,))

    def _add(self, user_id: UserId, wanted: list[UserIngredient]) -> list[UserIngredient]:
        """Add the ingredients that are missing; refused if another call adds one of them meanwhile."""
        keys = [
            (UserPK(user_id=user_id), IngredientNameSK(normalized_name=each.normalized_name))
            for each in wanted
        ]
        stored = self._db.plan(UserIngredient.key.batch_get(keys)).consistent().found().item
        new = [Create(entry) for entry, known in zip(wanted, stored, strict=True) if known is None]
        try:
            self._db.transaction(Check(self._db.user(user_id)), *new)
        except NotFoundError as error:
            raise UserNotFoundError(user_id) from error
        return [entry if known is None else known for entry, known in zip(wanted, stored, strict=True)]

    def remove(self, user_id: UserId, name: str) -> None:
        """Remove an ingredient, by any of its names. It is idempotent."""
        for each in self._names(name):
            self._db.delete(self._db.user_ingredient(user_id, each))

    def get(self, user_id: UserId, name: str) -> UserIngredient:
        """Return an ingredient of a user, by any of its names."""
        for each in self._names(name):
            found = self._db.user_ingredient(user_id, each).consistent().maybe()
            if found is not None:
                return found
        raise IngredientNotFoundError(name)

    def page(self, user_id: UserId, *, limit: Limit = 50, cursor: str | None = None) -> Page[UserIngredient]:
        """Return a page of the ingredients of a user, in the order of the names."""
        return self._db.user_ingredients(user_id).page(limit, cursor)

    def _names(self, name: str) -> list[str]:
        """Return the normal names under which something may be there: as it was given, and the catalogue's own."""
        own = [each.normalized_name for each in self._catalogue.resolve([name]).ingredients]
        return list(dict.fromkeys([normalize(name), *own])) if has_normal_form(name) else []

    def _entries(self, user_id: UserId, names: Sequence[str]) -> list[UserIngredient]:
        given = [require_name(name) for name in names]
        if len(given) > NAMES_AT_ONCE_MAX:
            raise InvalidInputError(f"{NAMES_AT_ONCE_MAX} ingredients can be added at once")
        known = self._catalogue.resolve(given).valid
        entries = [_entry(user_id, name, known.get(name)) for name in given]
        return list({entry.normalized_name: entry for entry in entries}.values())


def _entry(user_id: UserId, name: str, known: KnownIngredient | None) -> UserIngredient:
    if known is None:
        return UserIngredient(user_id=user_id, ingredient_name=name)
    return UserIngredient(user_id=user_id, ingredient_id=known.ingredient_id, ingredient_name=known.name)
