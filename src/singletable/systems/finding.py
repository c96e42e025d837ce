"""The systems that are installed: packages name theirs as entry points of the group "singletable.systems"."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import Final

from singletable.errors import TargetError
from singletable.systems.system import System

GROUP: Final = "singletable.systems"


def installed_systems() -> dict[str, System]:
    """Return all systems by their names, in the order of the names."""
    found = _points()
    return {name: _loaded(found[name]) for name in sorted(found)}


def find_system(name: str) -> System:
    """Return a system by its name; in it, - and _ are the same."""
    return _loaded(_point(name))


def system_reference(name: str) -> str:
    """Return where a system is imported from, as "shop.system:SYSTEM"."""
    return _point(name).value


def _point(name: str) -> EntryPoint:
    found = _points()
    point = found.get(_plain(name))
    if point is None:
        known = ", ".join(sorted(found)) or "none is installed"
        raise TargetError(f"there is no system {name!r}", hint=f"systems: {known}")
    return point


def _points() -> dict[str, EntryPoint]:
    return {_plain(point.name): point for point in entry_points(group=GROUP)}


def _plain(name: str) -> str:
    return name.replace("-", "_")


def _loaded(point: EntryPoint) -> System:
    """Return the system of an entry point. Any error of the package is raised with its name."""
    try:
        system = point.load()
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
    else:
        if isinstance(system, System):
            return system
        why = f"it is no System, but {type(system).__name__}"
    package = point.dist.name if point.dist else "a package"
    raise TargetError(
        f"the system {point.name!r} ({point.value}) cannot be loaded: {why}",
        hint=f"repair {package}, which names it, or uninstall it",
    )
