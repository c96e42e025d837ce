"""Settings of a deployment: environment variables, read when the system is imported."""

from __future__ import annotations

import os
from collections.abc import Sequence

from singletable.errors import DeclarationError


def number_from_environment(name: str, otherwise: int, *, least: int = 1) -> int:
    """Return the whole number that an environment variable holds, or another one where it is not set."""
    given = os.environ.get(name)
    if given is None:
        return otherwise
    if not (given.isascii() and given.isdigit() and int(given) >= least):
        raise DeclarationError(f"the environment variable {name} is {given!r}", hint=f"{least}, or more")
    return int(given)


def choice_from_environment(name: str, otherwise: str, choices: Sequence[str]) -> str:
    """Return which of some texts an environment variable holds, or another one where it is not set."""
    given = os.environ.get(name, otherwise)
    if given not in choices:
        raise DeclarationError(
            f"the environment variable {name} is {given!r}", hint=f"one of {', '.join(choices)}"
        )
    return given
