"""Deleting everything of a user, by keys: what they have made and said, and what friends have of them."""

from __future__ import annotations

from collections.abc import Iterator

from singletable import Cascade
from singletable.systems import Deletion, DeletionProgress
from singletable_systems.smart_cooking.design import SmartCooking
from singletable_systems.smart_cooking.entities import Friendship
from singletable_systems.smart_cooking.keys import UserId


class UserDeletion:
    """Deletes one user. Whatever interrupts it, running another one goes on with it."""

    def __init__(self, db: SmartCooking, user_id: UserId, progress: DeletionProgress | None = None) -> None:
        self._db = db
        self._user_id = user_id
        self._deletion = Deletion(db, progress)

    def run(self) -> Cascade:
        """Delete everything, the account last; return how much that was.

        Recipes, posts and comments go one by one, each with what others have added to it meanwhile. When the
        account is gone nobody can become its friend any more; who has until then is found behind it.
        """
        self._leave_friends()
        for recipe in self._db.recipes_of(self._user_id).all():
            self._deletion.delete(self._db.recipe(recipe.recipe_id))
        for post in self._db.posts_of(self._user_id).all():
            self._deletion.delete(self._db.post(post.post_id))
        for comment in self._db.comments_of(self._user_id).all():
            self._deletion.delete(self._db.comment(comment.post_id, comment.created_at, comment.comment_id))
        self._deletion.delete(self._db.user(self._user_id))
        self._leave_friends()
        return self._deletion.done

    def plan(self) -> Cascade:
        """Count what `run` would delete. A comment on a post of one's own, found in two ways, counts twice."""
        planned = self._db.delete_plan(self._db.user(self._user_id))
        for rows in self._friendships():
            name = Friendship.__name__
            planned.counts[name] = planned.counts.get(name, 0) + len(rows)
        return planned

    def _leave_friends(self) -> None:
        """Delete friendships from both sides (SC-31). Feeds of friends follow as changes are consumed."""
        for rows in self._friendships():
            self._deletion.delete_together(*rows)

    def _friendships(self) -> Iterator[list[Friendship]]:
        """Return the rows of each friendship, the user's own one first. From an old table there may be but one."""
        for row in self._db.friendships(self._user_id).consistent().all():
            mirrored = self._db.friendship(row.friend_id, self._user_id).maybe()
            yield [row] if mirrored is None else [row, mirrored]
