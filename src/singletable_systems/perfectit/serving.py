"""What all services do with a call: nonsense is refused by its name, and a lost race is decided again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from pydantic import ValidationError

from singletable.errors import InvalidWriteError, ItemTooLargeError, KeyValueError, SeparatorError
from singletable.systems import decide_again, problem_text
from singletable_systems.perfectit.errors import BusyError, InvalidInputError

T = TypeVar("T")


@contextmanager
def checked() -> Iterator[None]:
    """Refuse input that makes no sense, with the field and the reason, whoever notices: a model, a key, a write.

    It stands above a method as a decorator, or around some lines.
    """
    try:
        yield
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False)
        raise InvalidInputError(
            "; ".join(_problem(each["loc"], problem_text(each)) for each in problems)
        ) from error
    except (InvalidWriteError, ItemTooLargeError, KeyValueError, SeparatorError) as error:
        raise InvalidInputError(error.message) from error


def decide(work: Callable[[], T], *, after: tuple[type[Exception], ...]) -> T:
    """Do work again after these errors; give up with `BusyError` when others are faster all the time."""
    try:
        return decide_again(work, after=after)
    except after as error:
        raise BusyError(error) from error


def _problem(place: tuple[int | str, ...], reason: str) -> str:
    where, reason = ".".join(map(str, place)), reason.removeprefix("Value error, ")
    return f"{where}: {reason}" if where else reason
