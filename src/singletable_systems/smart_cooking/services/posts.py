"""Posts: what users tell of their cooking, what others say to it, and what they feel about it.

A post that is private is its author's alone: nobody else comments on it or reacts to it. That is asked in the
transaction that writes the comment, so nothing slips in behind a post that is just made private. Likes are
counted in the transaction that makes, changes or takes back a reaction (SC-37).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final, TypeVar

from pydantic import Field

from singletable import Cascade, Check, Create, Eq, Update
from singletable.errors import AlreadyExistsError, ConditionNotMetError, NotFoundError
from singletable.systems import Deletion, DeletionProgress, decide_again
from singletable_systems.shared.services import Service
from singletable_systems.smart_cooking.errors import (
    CommentNotFoundError,
    InvalidInputError,
    NotAuthorError,
    PostNotFoundError,
    RecipeNotFoundError,
)
from singletable_systems.smart_cooking.model.entities import (
    Comment,
    CommentReaction,
    Post,
    Reaction,
    ReactionType,
)
from singletable_systems.smart_cooking.model.entities.sizes import Text
from singletable_systems.smart_cooking.model.keys import CommentId, PostId, RecipeId, UserId
from singletable_systems.smart_cooking.reactions.handlers import SmartCooking
from singletable_systems.smart_cooking.services.inputs import checked
from singletable_systems.smart_cooking.services.permissions import (
    is_for,
    may_answer,
    require_post,
    require_user,
)

IMAGES_MAX: Final = 10
_RACES: Final = (AlreadyExistsError, ConditionNotMetError, NotFoundError)

R = TypeVar("R", Reaction, CommentReaction)

Said = Annotated[Text, Field(pattern=r"\S", description="a text with something in it")]
Pictures = Annotated[Sequence[Annotated[str, Field(min_length=1)]], Field(max_length=IMAGES_MAX)]


@checked
class Posts(Service[SmartCooking]):
    """What users do with posts and comments. Counts follow in the same transaction."""

    # --- posts -----------------------------------------------------------------------------------

    def write(
        self,
        user_id: UserId,
        content: Said,
        *,
        images: Pictures = (),
        recipe_id: RecipeId | None = None,
        is_public: bool = True,
    ) -> Post:
        """Write a post, for everybody or for oneself; about a recipe that is public or one's own.

        The name and the picture of its author are copied into it.
        """
        post = Post(
            post_id=PostId(self._new_id()),
            user_id=user_id,
            recipe_id=recipe_id,
            content=content,
            images=[*images],
            is_public=is_public,
            created_at=self._db.now(),
        )
        recipe = [] if recipe_id is None else [Check(self._db.recipe(recipe_id), when=is_for(user_id))]
        try:
            self._db.transaction(Check(self._db.user(user_id)), *recipe, Create(post))
        except (ConditionNotMetError, NotFoundError) as error:
            require_user(self._db, user_id)
            raise RecipeNotFoundError(recipe_id or "") from error
        return post

    def edit(
        self,
        user_id: UserId,
        post_id: PostId,
        *,
        content: Said | None = None,
        images: Pictures | None = None,
    ) -> Post:
        """Change the text or the pictures of a post. Fields that are not given stay."""
        changes: dict[str, Any] = {} if content is None else {"content": content}
        if images is not None:
            changes["images"] = [*images]
        if not changes:
            raise InvalidInputError("there is nothing to change")
        return self._change(user_id, post_id, **changes)

    def make_public(self, user_id: UserId, post_id: PostId) -> Post:
        """Show a post to everybody. Feeds follow."""
        return self._change(user_id, post_id, is_public=True)

    def make_private(self, user_id: UserId, post_id: PostId) -> Post:
        """Keep a post for oneself. It is in no list of others from now on; feeds follow."""
        return self._change(user_id, post_id, is_public=False)

    def delete(
        self, user_id: UserId, post_id: PostId, *, progress: DeletionProgress | None = None
    ) -> Cascade:
        """Delete a post with comments and reactions; tell how much that was. It is idempotent."""
        post = self._db.post(post_id).consistent().maybe()
        if post is not None and post.user_id != user_id:
            raise _not_author(post, user_id)
        deletion = Deletion(self._db, progress)
        deletion.delete(self._db.post(post_id))
        return deletion.done

    # --- comments --------------------------------------------------------------------------------

    def comment(self, user_id: UserId, post_id: PostId, content: Said) -> Comment:
        """Comment on a post."""
        return self._say(user_id, post_id, content)

    def reply(self, user_id: UserId, to: Comment, content: Said) -> Comment:
        """Answer a comment, on the same post."""
        return self._say(user_id, to.post_id, content, to)

    def edit_comment(self, user_id: UserId, comment: Comment, content: Said) -> Comment:
        """Change what one's own comment says."""
        stored = self._db.comment(comment.post_id, comment.created_at, comment.comment_id)
        try:
            return self._db.update(stored, when=Eq("user_id", user_id), content=content).entity
        except NotFoundError as error:
            raise CommentNotFoundError(comment.comment_id) from error
        except ConditionNotMetError as error:
            raise NotAuthorError(f"comment {comment.comment_id}", user_id) from error

    def delete_comment(self, user_id: UserId, comment: Comment) -> Cascade:
        """Delete one's own comment, or one on one's own post, with the reactions to it. Replies to it stay."""
        target = self._db.comment(comment.post_id, comment.created_at, comment.comment_id)
        stored = target.maybe()
        if stored is not None and stored.user_id != user_id:
            post = self._db.post(comment.post_id).consistent().maybe()
            if post is None or post.user_id != user_id:
                raise NotAuthorError(f"comment {comment.comment_id}", user_id)
        deletion = Deletion(self._db)
        deletion.delete(target)
        return deletion.done

    def _say(self, user_id: UserId, post_id: PostId, content: str, to: Comment | None = None) -> Comment:
        comment = Comment(
            comment_id=CommentId(self._new_id()),
            post_id=post_id,
            user_id=user_id,
            parent_comment_id=None if to is None else to.comment_id,
            parent_user_id=None if to is None else to.user_id,
            content=content,
            created_at=self._db.now(),
        )
        answered = [] if to is None else [self._is_as_given(to)]
        try:
            self._db.transaction(*may_answer(self._db, user_id, post_id), *answered, Create(comment))
        except (ConditionNotMetError, NotFoundError) as error:
            require_user(self._db, user_id)
            require_post(self._db, user_id, post_id)
            raise CommentNotFoundError("" if to is None else to.comment_id) from error
        return comment

    def _is_as_given(self, comment: Comment) -> Check[Comment]:
        stored = self._db.comment(comment.post_id, comment.created_at, comment.comment_id)
        return Check(stored, when=Eq("user_id", comment.user_id))  # the user to notify of the answer

    def _change(self, user_id: UserId, post_id: PostId, **changes: Any) -> Post:
        try:
            return self._db.update(self._db.post(post_id), when=Eq("user_id", user_id), **changes).entity
        except NotFoundError as error:
            raise PostNotFoundError(post_id) from error
        except ConditionNotMetError as error:
            raise _not_author(require_post(self._db, user_id, post_id), user_id) from error


def _not_author(post: Post, user_id: UserId) -> NotAuthorError | PostNotFoundError:
    if not post.is_public:
        return PostNotFoundError(post.post_id)
    return NotAuthorError(f"post {post.post_id}", user_id)


@checked
class Reactions(Service[SmartCooking]):
    """What users do with reactions. To react in the same way again, or to take back nothing, changes nothing."""

    def react(self, user_id: UserId, post_id: PostId, reaction_type: ReactionType = "like") -> Reaction:
        """React to a post, or react differently."""
        reaction = Reaction(
            reaction_id=self._new_id(),
            user_id=user_id,
            post_id=post_id,
            reaction_type=reaction_type,
            created_at=self._db.now(),
        )
        stored = self._db.reaction(post_id, user_id)
        return decide_again(lambda: self._write(reaction, stored.maybe()), after=_RACES)

    def unreact(self, user_id: UserId, post_id: PostId) -> None:
        """Take back a reaction to a post."""
        self._db.delete(self._db.reaction(post_id, user_id))

    def react_to_comment(
        self, user_id: UserId, comment: Comment, reaction_type: ReactionType = "like"
    ) -> CommentReaction:
        """React to a comment, or react differently."""
        reaction = CommentReaction(
            reaction_id=self._new_id(),
            user_id=user_id,
            post_id=comment.post_id,
            comment_id=comment.comment_id,
            commented_at=comment.created_at,
            comment_user_id=comment.user_id,
            reaction_type=reaction_type,
            created_at=self._db.now(),
        )
        stored = self._db.comment_reaction(comment.post_id, comment.comment_id, user_id)
        target = self._db.comment(comment.post_id, comment.created_at, comment.comment_id)

        def write() -> CommentReaction:
            if target.maybe() is None:
                raise CommentNotFoundError(comment.comment_id)
            return self._write(reaction, stored.maybe(), Check(target, when=Eq("user_id", comment.user_id)))

        return decide_again(write, after=_RACES)

    def unreact_to_comment(self, user_id: UserId, comment: Comment) -> None:
        """Take back a reaction to a comment."""
        self._db.delete(self._db.comment_reaction(comment.post_id, comment.comment_id, user_id))

    def _write(self, reaction: R, stored: R | None, *checks: Check[Comment]) -> R:
        """Make a reaction, or change the one that is stored; refused, if that is made or taken back meanwhile."""
        if stored is not None and stored.reaction_type == reaction.reaction_type:
            return stored
        try:
            self._db.transaction(
                *may_answer(self._db, reaction.user_id, reaction.post_id),
                *checks,
                Create(reaction) if stored is None else Update(stored, reaction_type=reaction.reaction_type),
            )
        except (ConditionNotMetError, NotFoundError):
            require_user(self._db, reaction.user_id)
            require_post(self._db, reaction.user_id, reaction.post_id)
            raise
        return stored or reaction
