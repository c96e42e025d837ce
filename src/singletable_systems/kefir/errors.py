"""What Kefir refuses, and why.

KefirError
├── UserNotFoundError       there is no such user
├── BatchNotFoundError      the user has no such batch; or, where anybody asks, none is shared under this id
├── ReminderNotFoundError   the batch has no such reminder
├── DeviceNotFoundError     the user has no such device: it was forgotten, or was silent for too long
├── ChangeRefusedError      a batch cannot go from where it is to where it should
├── ReminderRefusedError    a batch that is archived has no new reminders, and one that was sent does not change
├── UserExistsError         there is an account of this id, with another email
├── EmailTakenError         somebody else has this address
└── InvalidInputError       what was given makes no sense, whatever is stored

Errors of the table, or on the way to it, are raised unchanged: they are those of `singletable.errors`.
"""

from __future__ import annotations

from singletable.errors import SingleTableError


class KefirError(SingleTableError):
    """Something that Kefir refuses to do."""


class UserNotFoundError(KefirError):
    """There is no such user."""

    def __init__(self, user_id: str) -> None:
        super().__init__(f"there is no user {user_id}")


class BatchNotFoundError(KefirError):
    """There is no such batch, or it belongs to another user: the caller is not told which."""

    def __init__(self, batch_id: str) -> None:
        super().__init__(f"there is no batch {batch_id}")


class ReminderNotFoundError(KefirError):
    """The batch has no such reminder."""

    def __init__(self, reminder_id: str) -> None:
        super().__init__(f"there is no reminder {reminder_id}")


class DeviceNotFoundError(KefirError):
    """There is no such device; the app registers it anew."""

    def __init__(self, device_id: str) -> None:
        super().__init__(f"there is no device {device_id}")


class ChangeRefusedError(KefirError):
    """A batch cannot go from where it is to where it should."""


class ReminderRefusedError(KefirError):
    """A reminder cannot be made or changed: its batch is archived, or it was sent or cancelled before."""


class UserExistsError(KefirError):
    """There is an account of this id already, with another email."""

    def __init__(self, user_id: str) -> None:
        super().__init__(f"there is a user {user_id} already")


class EmailTakenError(KefirError):
    """Somebody else has this address."""

    def __init__(self, email: str) -> None:
        super().__init__(f"there is an account with the email {email} already")


class InvalidInputError(KefirError, ValueError):
    """The input is invalid, whatever is stored."""
