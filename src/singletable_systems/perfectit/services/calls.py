"""What all services do with a call: nonsense is refused by its name, and a lost race is decided again."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from pydantic import ValidationError

from singletable.errors import ItemTooLargeError
from singletable.systems import decide_again, problem_text
from singletable_systems.perfectit.errors import BusyError, InvalidInputError
from singletable_systems.shared.services import refusing

T = TypeVar("T")


def _reasons(error: ValidationError) -> str:
    problems = error.errors(include_url=False, include_input=False)
    return "; ".join(_problem(each["loc"], problem_text(each)) for each in problems)


def _problem(place: tuple[int | str, ...], reason: str) -> str:
    where, reason = ".".join(map(str, place)), reason.removeprefix("Value error, ")
    return f"{where}: {reason}" if where else reason


checked = partial(refusing, InvalidInputError, _reasons, ItemTooLargeError)
"""Refuse invalid input, with the field and the reason: a decorator of a method, or around some lines."""


def decide(work: Callable[[], T], *, after: tuple[type[Exception], ...]) -> T:
    """Do work again after these errors; give up with `BusyError` when others are faster all the time."""
    try:
        return decide_again(work, after=after)
    except after as error:
        raise BusyError(error) from error
