"""When ratings approve a recipe, and what an approval writes. Pure: nothing is read or written here.

A public recipe is approved as soon as at least five people have rated it with an average of at least 4.0. Later
ratings do not take an approval back; an admin can. Ratings do not change the decision of an admin, for or
against (`approval_type` is "admin").
"""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from singletable_systems.smart_cooking.model.entities import Recipe

AVERAGE_RATING_MIN: Final = Decimal("4.0")
RATING_COUNT_MIN: Final = 5


def earns_approval(recipe: Recipe) -> bool:
    """Tell whether its ratings approve a recipe that is not approved yet."""
    return (
        recipe.is_public
        and not recipe.is_approved
        and recipe.approval_type != "admin"
        and recipe.rating_count >= RATING_COUNT_MIN
        and recipe.average_rating >= AVERAGE_RATING_MIN
    )


def approved_by_ratings(at: datetime) -> dict[str, Any]:
    """Return the changes of a recipe that ratings approve."""
    return {"is_approved": True, "approval_type": "auto_rating", "approved_at": at}


def approved_by_admin(at: datetime) -> dict[str, Any]:
    """Return the changes of a recipe that an admin approves."""
    return {"is_approved": True, "approval_type": "admin", "approved_at": at}


def refused_by_admin() -> dict[str, Any]:
    """Return the changes of a recipe when an admin takes the approval away: no rating gives it back."""
    return {"is_approved": False, "approval_type": "admin", "approved_at": None}
