"""Checks of what callers give. Pure: nothing is read or written here."""

from __future__ import annotations

from typing import Any


def given(**fields: Any) -> dict[str, Any]:
    """Return the fields that have a value: in calls, None means that a field stays as it is."""
    return {name: value for name, value in fields.items() if value is not None}


def email_address(email: str, refusal: type[Exception]) -> str:
    """Return an email address without the spaces around it; refuse a text that is none."""
    address = email.strip()
    name, _, host = address.rpartition("@")
    if not name or not host or any(map(str.isspace, address)):
        raise refusal(f"{email!r} is no email address")
    return address
