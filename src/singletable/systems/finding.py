"""The systems that are installed: packages name theirs as entry points of the group "singletable.systems"."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Final

from singletable.errors import TargetError
from singletable.systems.system import System

GROUP: Final = "singletable.systems"


def installed_systems() -> dict[str, System]:
    """Return all systems by their names, in the order of the names."""
    found = {point.name: point for point in entry_points(group=GROUP)}
    return {name: found[name].load() for name in sorted(found)}


def find_system(name: str) -> System:
    """Return a system by its name; in it, - and _ are the same."""
    wanted = name.replace("-", "_")
    points = {point.name: point for point in entry_points(group=GROUP)}
    if wanted not in points:
        known = ", ".join(sorted(points)) or "none is installed"
        raise TargetError(f"there is no system {name!r}", hint=f"systems: {known}")
    system: System = points[wanted].load()
    return system
