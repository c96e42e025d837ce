"""Services of a system, as data: functions over its design, what they ask and write, and how often."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from singletable.blueprint import ServiceBlueprint
from singletable.design import Design, Entity, Load
from singletable.errors import DeclarationError
from singletable.systems.steps import read_steps


@dataclass(frozen=True, slots=True)
class Service:
    """Something that users or workers of a system do: the functions that carry it out, and its load.

    Its load counts its own calls. Those of patterns and entities count all of theirs, whoever makes them.
    """

    name: str
    calls: tuple[Callable[..., Any], ...]
    load: Load
    patterns: tuple[str, ...] = ()
    """The patterns that it asks, by the names of their methods."""
    writes: tuple[type[Entity], ...] = ()
    about: str = ""
    steps: str = ""
    """What one call does, as `singletable.systems.steps` reads it."""

    def blueprint(self, design: type[Design]) -> ServiceBlueprint:
        """Describe it; refuse patterns and entities that the design does not have."""
        unknown = [each for each in self.patterns if each not in design.patterns()]
        unknown += [each.__name__ for each in self.writes if each not in design.catalog.schemas]
        if unknown:
            raise DeclarationError(
                f"the service {self.name} names {', '.join(unknown)}, which {design.__name__} does not have",
                hint="patterns are named by their methods, and entities are classes",
            )
        about = self.about or _first_line(self.calls)
        written = tuple(each.__name__ for each in self.writes)
        try:
            steps = read_steps(self.steps, design)
        except DeclarationError as error:
            raise DeclarationError(f"the service {self.name}: {error.message}", hint=error.hint) from None
        return ServiceBlueprint(self.name, self.patterns, written, about, steps)


def _first_line(calls: tuple[Callable[..., Any], ...]) -> str:
    return next((call.__doc__.strip().partition("\n")[0] for call in calls if call.__doc__), "")
