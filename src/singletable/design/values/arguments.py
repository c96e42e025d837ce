"""Checks of arguments, for programs that no type checker has seen. The error says at once which kind is right;
otherwise a wrong argument would fail later, with another error.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any, Final

from pydantic import BaseModel

from singletable.errors import UnknownFieldError

_SHOWN_CHARACTERS_MAX: Final = 60


def shown_value(value: object) -> str:
    """Return a value as an error shows it: not too long."""
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARACTERS_MAX else f"{text[:_SHOWN_CHARACTERS_MAX]}..."


def require_kind(value: object, kind: Any, what: str) -> None:
    """Refuse a value of a wrong kind; `what` says which kind is wanted."""
    if not isinstance(value, kind):
        raise TypeError(f"{what}, not {shown_value(value)}")


def require_members(values: object, kind: object, what: str) -> None:
    """Refuse a value that is no list of members of one kind."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise TypeError(f"{what}, not {shown_value(values)}")
    for value in values:
        require_kind(value, kind, what)


def require_count(count: object, what: str) -> None:
    """Refuse a value that is no number of items."""
    if not isinstance(count, int) or isinstance(count, bool):
        raise TypeError(f"{what} is a whole number, not {shown_value(count)}")
    if count < 1:
        raise ValueError(f"{what} is at least one item, not {count}")


def require_seconds(seconds: object, what: str) -> None:
    """Refuse a value that is no length of time."""
    if not isinstance(seconds, int | float) or isinstance(seconds, bool):
        raise TypeError(f"{what} is a number of seconds, not {shown_value(seconds)}")
    if not 0 <= seconds < math.inf:
        raise ValueError(f"{what} is a number of seconds from 0 up, not {seconds}")


def require_rate(rate: object, what: str) -> None:
    """Refuse a value that is no rate per second."""
    if not isinstance(rate, int | float) or isinstance(rate, bool):
        raise TypeError(f"{what} is a number, not {shown_value(rate)}")
    if not 0 < rate < math.inf:
        raise ValueError(f"{what} is more than 0, not {rate}")


def require_callable(function: object, what: str) -> None:
    """Refuse a callback that cannot be called, before any work is done."""
    if function is not None and not callable(function):
        raise TypeError(f"{what} is a function, not {shown_value(function)}")


def require_field(entity: type[BaseModel], name: object) -> None:
    """Refuse a name that is no field of the entity; suggest the one that was meant."""
    fields = entity.model_fields
    if not isinstance(name, str) or name not in fields:
        meant = get_close_matches(str(name), fields, n=1)
        raise UnknownFieldError(
            f"{entity.__name__} has no field {name!r}",
            hint=(f"did you mean {meant[0]}? " if meant else "") + f"It has {', '.join(sorted(fields))}",
        )
