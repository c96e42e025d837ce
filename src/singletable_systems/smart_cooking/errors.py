"""What Smart Cooking refuses, and why.

SmartCookingError
├── UserNotFoundError         there is no such user, or the user is hidden from the caller
├── UserExistsError           there is an account of this id already
├── EmailTakenError           somebody else has this address
├── UsernameTakenError        somebody else has this username
├── AccountInactiveError      the account was deactivated: nobody signs in to it
├── AdminRequiredError        only admins may do this
├── IngredientNotFoundError   the catalogue has no such ingredient; or the user has none of this name at home
├── IngredientExistsError     the catalogue has an ingredient of this name already
├── ReportNotFoundError       nobody has reported this name
├── RecipeNotFoundError       there is no such recipe, or the caller may not see it
├── RatingRefusedError        a rating of one's own recipe, or as a verified cook without having cooked it
├── CookingNotFoundError      the user has no such entry in the cooking history
├── SuggestionNotFoundError   the user has no such suggestion: it is too old, or there was none
├── ChangeRefusedError        something cannot go from where it is to where it should
├── ArchiveMissingError       history has expired, and there is no archive that it goes to
├── PostNotFoundError         there is no such post, or the caller may not see it
├── CommentNotFoundError      the post has no such comment
├── FriendshipNotFoundError   the two are no friends, and neither has asked the other
├── FriendshipRefusedError    a friendship cannot go from where it is to where it should
├── NotificationNotFoundError the user has no such notification: it is too old, or there was none
├── NotAuthorError            only the author may change it
└── InvalidInputError         the input is invalid, whatever is stored

Errors of the table, or on the way to it, are raised unchanged: they are those of `singletable.errors`.
"""

from __future__ import annotations

from singletable.errors import SingleTableError


class SmartCookingError(SingleTableError):
    """Something that Smart Cooking refuses to do."""


class UserNotFoundError(SmartCookingError):
    """There is no such user, or the user is hidden from the caller: the caller is not told which."""

    def __init__(self, user_id: str) -> None:
        super().__init__(f"there is no user {user_id}")


class UserExistsError(SmartCookingError):
    """There is an account of this id already."""

    def __init__(self, user_id: str) -> None:
        super().__init__(f"there is a user {user_id} already")


class EmailTakenError(SmartCookingError):
    """Somebody else has this address."""

    def __init__(self, email: str) -> None:
        super().__init__(f"there is an account with the email {email} already")


class UsernameTakenError(SmartCookingError):
    """Somebody else has this username."""

    def __init__(self, username: str) -> None:
        super().__init__(f"the username {username} is taken")


class AccountInactiveError(SmartCookingError):
    """The account was deactivated."""

    def __init__(self, user_id: str) -> None:
        super().__init__(f"the account of user {user_id} is not active")


class AdminRequiredError(SmartCookingError):
    """Only admins may do this."""

    def __init__(self, user_id: str) -> None:
        super().__init__(f"user {user_id} is no admin")


class IngredientNotFoundError(SmartCookingError):
    """There is no such ingredient: in the catalogue, or at a user's home."""

    def __init__(self, ingredient: str) -> None:
        super().__init__(f"there is no ingredient {ingredient}")


class IngredientExistsError(SmartCookingError):
    """The catalogue has an ingredient of this name already."""

    def __init__(self, name: str) -> None:
        super().__init__(f"there is an ingredient {name} already")


class ReportNotFoundError(SmartCookingError):
    """Nobody has reported this name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"nobody has reported the ingredient {name}")


class RecipeNotFoundError(SmartCookingError):
    """There is no such recipe, or the caller may not see it: the caller is not told which."""

    def __init__(self, recipe_id: str) -> None:
        super().__init__(f"there is no recipe {recipe_id}")


class RatingRefusedError(SmartCookingError):
    """A rating that its user cannot give: of his own recipe, or as the cook of what was not cooked."""


class CookingNotFoundError(SmartCookingError):
    """The user has no such entry in the history of what was cooked."""

    def __init__(self, history_id: str) -> None:
        super().__init__(f"there is no cooking {history_id}")


class SuggestionNotFoundError(SmartCookingError):
    """The user has no such suggestion: it is too old, or there was none."""

    def __init__(self, suggestion_id: str) -> None:
        super().__init__(f"there is no suggestion {suggestion_id}")


class ChangeRefusedError(SmartCookingError):
    """Something cannot go from where it is to where it should."""


class ArchiveMissingError(SmartCookingError):
    """History has expired, and there is no archive that it goes to."""

    def __init__(self, history_id: str) -> None:
        super().__init__(
            f"cooking {history_id} has expired, and the design that consumes has no archive for it"
        )


class PostNotFoundError(SmartCookingError):
    """There is no such post, or the caller may not see it: the caller is not told which."""

    def __init__(self, post_id: str) -> None:
        super().__init__(f"there is no post {post_id}")


class CommentNotFoundError(SmartCookingError):
    """The post has no such comment."""

    def __init__(self, comment_id: str) -> None:
        super().__init__(f"there is no comment {comment_id}")


class FriendshipNotFoundError(SmartCookingError):
    """The two are no friends, and neither has asked the other."""

    def __init__(self, user_id: str, friend_id: str) -> None:
        super().__init__(f"there is nothing between the users {user_id} and {friend_id}")


class FriendshipRefusedError(SmartCookingError):
    """A friendship cannot go from where it is to where it should."""


class NotificationNotFoundError(SmartCookingError):
    """The user has no such notification, or has it no more."""

    def __init__(self, notification_id: str) -> None:
        super().__init__(f"there is no notification {notification_id}")


class NotAuthorError(SmartCookingError):
    """Somebody else has written it."""

    def __init__(self, what: str, user_id: str) -> None:
        super().__init__(f"{what} is not of user {user_id}, who cannot change it")


class InvalidInputError(SmartCookingError, ValueError):
    """The input is invalid, whatever is stored."""
