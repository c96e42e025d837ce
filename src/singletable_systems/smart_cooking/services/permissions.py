"""Permissions: the conditions of the services' transactions, and the errors when they do not hold."""

from __future__ import annotations

from singletable import Check, Condition, Eq
from singletable_systems.smart_cooking.errors import PostNotFoundError, UserNotFoundError
from singletable_systems.smart_cooking.model.entities import Post, UserProfile
from singletable_systems.smart_cooking.model.keys import PostId, UserId
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking


def is_for(user_id: UserId) -> Condition:
    """Return the condition that a user may see a post or a recipe: it is public, or the user's own."""
    return Eq("is_public", True) | Eq("user_id", user_id)


def may_be_cooked_by(user_id: UserId) -> Condition:
    """Return the condition that a user may cook a recipe: it is public, the user's own, or generated."""
    return is_for(user_id) | Eq("is_ai_generated", True)


def is_admin(db: SmartCooking, user_id: UserId) -> Check[UserProfile]:
    """Return the check of every transaction that is for admins only."""
    return Check(db.user(user_id), when=Eq("role", "admin") & Eq("is_active", True))


def may_answer(db: SmartCooking, user_id: UserId, post_id: PostId) -> tuple[Check[UserProfile], Check[Post]]:
    """Return the checks of every transaction that adds something to a post."""
    return Check(db.user(user_id)), Check(db.post(post_id), when=is_for(user_id))


def require_user(db: SmartCooking, user_id: UserId) -> None:
    """Refuse somebody who is not there."""
    if db.user(user_id).maybe() is None:
        raise UserNotFoundError(user_id)


def require_post(db: SmartCooking, user_id: UserId, post_id: PostId) -> Post:
    """Return a post that a user may see; refuse every other one."""
    post = db.post(post_id).consistent().maybe()
    if post is None or not (post.is_public or post.user_id == user_id):
        raise PostNotFoundError(post_id)
    return post
