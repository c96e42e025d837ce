"""What PerfectIt refuses, and why.

PerfectItError
├── UserNotFoundError           there is no such user
├── CardNotFoundError           there is no such card, or the caller may not see it
├── CommentNotFoundError        there is no such comment, or it belongs to another user
├── CollectionNotFoundError     there is no such collection, or the caller may not see it
├── CategoryNotFoundError       there is no such category
├── NotificationNotFoundError   the user has no such notification
├── UserExistsError             there is an account of this id, with another username
├── UsernameTakenError          somebody else has this username
├── CategoryExistsError         there is a category of this slug
├── CategoryRefusedError        a category cannot be where it should, or cannot go
├── VoteRefusedError            a vote of this user for this id is about something else
├── BusyError                   others were faster, again and again: try it later
└── InvalidInputError           the input is invalid, whatever is stored

Errors of the table, or on the way to it, are raised unchanged: they are those of `singletable.errors`.
"""

from __future__ import annotations

from singletable.errors import SingleTableError


class PerfectItError(SingleTableError):
    """Something that PerfectIt refuses to do."""


class UserNotFoundError(PerfectItError):
    """There is no such user."""

    def __init__(self, user_id: str) -> None:
        super().__init__(f"there is no user {user_id}")


class CardNotFoundError(PerfectItError):
    """There is no such card, or the caller may not see or change it: the caller is not told which."""

    def __init__(self, card_id: str) -> None:
        super().__init__(f"there is no card {card_id}")


class CommentNotFoundError(PerfectItError):
    """There is no such comment, or it belongs to another user."""

    def __init__(self, comment_id: str) -> None:
        super().__init__(f"there is no comment {comment_id}")


class CollectionNotFoundError(PerfectItError):
    """There is no such collection, or the caller may not see or change it."""

    def __init__(self, collection_id: str) -> None:
        super().__init__(f"there is no collection {collection_id}")


class CategoryNotFoundError(PerfectItError):
    """There is no such category."""

    def __init__(self, category_id: str) -> None:
        super().__init__(f"there is no category {category_id}")


class NotificationNotFoundError(PerfectItError):
    """The user has no such notification."""

    def __init__(self, notification_id: str) -> None:
        super().__init__(f"there is no notification {notification_id}")


class UserExistsError(PerfectItError):
    """There is an account of this id already, with another username."""

    def __init__(self, user_id: str) -> None:
        super().__init__(f"there is a user {user_id} already")


class UsernameTakenError(PerfectItError):
    """Somebody else has this username, in one case or the other."""

    def __init__(self, username: str) -> None:
        super().__init__(f"the username {username} is taken")


class CategoryExistsError(PerfectItError):
    """There is a category of this slug already."""

    def __init__(self, category_id: str) -> None:
        super().__init__(f"there is a category {category_id} already")


class CategoryRefusedError(PerfectItError):
    """A category cannot be below itself, too deep in the tree, or go while something is in it."""


class VoteRefusedError(PerfectItError):
    """A user has voted for this id as that of something else: ids of cards and comments must differ."""


class BusyError(PerfectItError):
    """Others have changed the same all the time: the call has done nothing, and can be made again."""

    def __init__(self, last: object) -> None:
        super().__init__(f"others were faster, again and again; nothing was done: {last}")


class InvalidInputError(PerfectItError, ValueError):
    """The input is invalid, whatever is stored."""
