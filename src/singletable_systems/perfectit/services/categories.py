"""Categories: a tree with roots, in which each branch has its place among its neighbours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from singletable import Check, Create, Eq, Update
from singletable.errors import (
    AlreadyExistsError,
    ConditionNotMetError,
    NotFoundError,
    VersionConflictError,
)
from singletable_systems.perfectit.errors import (
    CategoryExistsError,
    CategoryNotFoundError,
    CategoryRefusedError,
    InvalidInputError,
)
from singletable_systems.perfectit.model.entities import ROOT, Category
from singletable_systems.perfectit.model.keys import CategoryId
from singletable_systems.perfectit.reactions.handlers import PerfectIt
from singletable_systems.perfectit.services.calls import checked, decide
from singletable_systems.shared.rules import given

DEPTH_MAX: Final = 8
_RACES: Final = (VersionConflictError, ConditionNotMetError, NotFoundError)
_SLUG: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@dataclass(frozen=True, slots=True)
class Branch:
    """A category with the categories below it, in their order."""

    category: Category
    below: tuple[Branch, ...]


class Categories:
    """Editors change the tree. The id of a category is a slug, the same that cards name (PI-16)."""

    def __init__(self, db: PerfectIt) -> None:
        self._db = db

    @checked()
    def add(
        self,
        category_id: CategoryId,
        name: str,
        *,
        parent_id: CategoryId | None = None,
        sort_order: int = 0,
        description: str | None = None,
    ) -> Category:
        """Add a category below another one, or at the top."""
        if not _SLUG.fullmatch(category_id):
            raise InvalidInputError(
                f"{category_id!r} is no slug: lower-case words of a-z and 0-9, with hyphens, are"
            )
        category = Category(
            category_id=category_id,
            name=name,
            description=description,
            parent_id=parent_id or ROOT,
            sort_order=sort_order,
        )
        return decide(lambda: self._add(category), after=_RACES)

    @checked()
    def move(self, category_id: CategoryId, parent_id: CategoryId | None) -> Category:
        """Put a category, with all below it, below another one, or at the top. Never below itself."""
        return decide(lambda: self._move(category_id, parent_id or ROOT), after=_RACES)

    @checked()
    def describe(
        self,
        category_id: CategoryId,
        *,
        name: str | None = None,
        description: str | None = None,
        sort_order: int | None = None,
    ) -> Category:
        """Change fields of a category, or its place among its neighbours; those that are None stay as they are."""
        changes = given(name=name, description=description, sort_order=sort_order)
        if not changes:
            return self._category(category_id)
        try:
            return self._db.update(self._db.category(category_id), **changes).entity
        except NotFoundError as error:
            raise CategoryNotFoundError(category_id) from error

    @checked()
    def remove(self, category_id: CategoryId) -> None:
        """Remove a category that nothing is in: neither other categories nor published cards."""
        decide(lambda: self._remove(category_id), after=_RACES)

    def tree(self) -> tuple[Branch, ...]:
        """Return all categories: a query for each of them, so keep the answer."""
        return tuple(self._branch(category) for category in self._db.root_categories().all())

    @checked()
    def path(self, category_id: CategoryId) -> list[Category]:
        """Return the categories from the top down to one."""
        return [*reversed(self._chain(category_id))]

    def _branch(self, category: Category) -> Branch:
        below = self._db.categories_below(category.category_id).all()
        return Branch(category, tuple(self._branch(each) for each in below))

    # --- one try of each -------------------------------------------------------------------------

    def _add(self, category: Category) -> Category:
        above = self._chain(category.parent_id)
        if len(above) == DEPTH_MAX:
            raise CategoryRefusedError(
                f"below {category.parent_id}, {category.category_id} would be too deep: {DEPTH_MAX} levels may be"
            )
        try:
            self._db.transaction(Create(category), *map(_unmoved, above))
        except AlreadyExistsError as error:
            raise CategoryExistsError(category.category_id) from error
        return category

    def _remove(self, category_id: CategoryId) -> None:
        """Delete a category on the condition that its counts are unchanged: everything added to it is counted."""
        category = self._category(category_id)
        if category.categories_count:
            raise CategoryRefusedError(f"there are categories below {category_id}")
        if category.cards_count:
            raise CategoryRefusedError(f"there are cards in {category_id}")
        empty = Eq("categories_count", 0) & Eq("cards_count", 0)
        self._db.delete(self._db.category(category_id), when=empty)

    def _category(self, category_id: CategoryId) -> Category:
        category = self._db.category(category_id).consistent().maybe()
        if category is None:
            raise CategoryNotFoundError(category_id)
        return category

    def _move(self, category_id: CategoryId, parent_id: str) -> Category:
        category = self._category(category_id)
        above = self._chain(parent_id)
        if any(each.category_id == category_id for each in above):
            raise CategoryRefusedError(f"{parent_id} is below {category_id}, or the same")
        if len(above) + _depth(self._branch(category)) > DEPTH_MAX:
            raise CategoryRefusedError(
                f"below {parent_id}, {category_id} would be too deep: {DEPTH_MAX} levels may be"
            )
        moved = Update(category, parent_id=parent_id)
        updated: Category = self._db.transaction(moved, *map(_unmoved, above)).entity[0]
        return updated

    def _chain(self, category_id: str) -> list[Category]:
        """Return a category and those above it; none for the root."""
        found: list[Category] = []
        while category_id != ROOT:
            category = self._category(CategoryId(category_id))
            found.append(category)
            if len(found) > DEPTH_MAX:  # other code could have made a cycle
                raise CategoryRefusedError(f"{found[0].category_id} is more than {DEPTH_MAX} levels deep")
            category_id = category.parent_id
        return found


def _unmoved(category: Category) -> Check[Category]:
    """Demand that a category is still below the same one: so no two moves make a circle together."""
    return Check(category, when=Eq("parent_id", category.parent_id))


def _depth(branch: Branch) -> int:
    return 1 + max(map(_depth, branch.below), default=0)


def flat(branches: tuple[Branch, ...]) -> Iterator[Category]:
    """Go through a tree from the top down, in the order in which it is shown."""
    for branch in branches:
        yield branch.category
        yield from flat(branch.below)
