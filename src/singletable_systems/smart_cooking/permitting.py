"""Who may do what: the conditions that services ask for in their transactions, and what is refused by them."""

from __future__ import annotations

from singletable import Check, Condition, Eq
from singletable_systems.smart_cooking.design import SmartCooking
from singletable_systems.smart_cooking.entities import Post, UserProfile
from singletable_systems.smart_cooking.errors import PostNotFoundError, UserNotFoundError
from singletable_systems.smart_cooking.keys import PostId, UserId


def is_for(user_id: UserId) -> Condition:
    """Return what a post or a recipe is that a user may see: public, or one's own."""
    return Eq("is_public", True) | Eq("user_id", user_id)


def may_be_cooked_by(user_id: UserId) -> Condition:
    """Return what a recipe is that a user may cook: public, one's own, or generated and so nobody's own."""
    return is_for(user_id) | Eq("is_ai_generated", True)


def is_admin(db: SmartCooking, user_id: UserId) -> Check[UserProfile]:
    """Return what is asked in every transaction that is for admins only."""
    return Check(db.user(user_id), when=Eq("role", "admin") & Eq("is_active", True))


def may_answer(db: SmartCooking, user_id: UserId, post_id: PostId) -> tuple[Check[UserProfile], Check[Post]]:
    """Return what is asked in every transaction that says something to a post."""
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
