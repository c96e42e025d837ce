"""Access patterns by their names: SYSTEM.PATTERN of an installed system, MODULE:DESIGN.PATTERN of any design."""

from __future__ import annotations

import importlib
import os
import re
import shlex
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from singletable.cli.messages import WrongUseError
from singletable.cli.targets import file_name_of
from singletable.errors import TargetError
from singletable.systems import find_system, installed_systems

if TYPE_CHECKING:
    from types import ModuleType

    from singletable.blueprint import Blueprint
    from singletable.design import Design, PatternInfo
    from singletable.systems import System

_NUMBER: Final = re.compile(r"(\d*)(.*)")
_ALL: Final = "names them all"


@dataclass(frozen=True, slots=True)
class PatternSource:
    """A design with patterns: what it is called, its file, and what the name of its table needs."""

    name: str
    design: type[Design]
    file_name: str
    environment: Mapping[str, str] = field(default_factory=dict)
    is_system: bool = False
    migrations: Path | None = None  # the folder of those that come with a system

    def blueprint(self) -> Blueprint:
        """Return the design as data; of a system, with what stands around it."""
        return find_system(self.name).blueprint() if self.is_system else self.design.blueprint()

    def environment_with(self, given: Iterable[tuple[str, str]]) -> dict[str, Any]:
        """Return what the table's name needs, where values are given those."""
        return {**self.environment, **dict(given)}

    def patterns(self) -> list[FoundPattern]:
        """Return its patterns, in the order of their numbers."""
        found = [FoundPattern(self, method, info) for method, info in self.design.patterns().items()]
        return sorted(found, key=lambda pattern: _order(pattern.info))

    def makes_table(self, target: str, environment: Mapping[str, str]) -> str:
        """Return the command that makes its table on a target."""
        words = ["singletable", "seed" if self.is_system else "create-table", self.name]
        if not self.is_system:
            words.append(target)
        elif target != f"{self.file_name}.db":
            words += ["--target", target]
        for name, value in environment.items():
            words += ["--env", f"{name}={value}"]
        return shlex.join(words)


@dataclass(frozen=True, slots=True)
class FoundPattern:
    """A pattern, by the name of its method."""

    source: PatternSource
    method: str
    info: PatternInfo

    @property
    def name(self) -> str:
        return f"{self.source.name}.{self.method}"


def find_pattern(text: str) -> FoundPattern:
    """Return a pattern by its name; in it, - and _ are the same."""
    module, colon, rest = text.rpartition(":")
    name, dot, wanted = rest.partition(".")
    source = find_source(f"{module}{colon}{name}")
    method = wanted.replace("-", "_")
    known = {pattern.method: pattern for pattern in source.patterns()}
    if method in known:
        return known[method]
    listed = f"singletable run --list {source.name} {_ALL}"
    if not dot:
        raise WrongUseError(f"{text} has several patterns: name one of them", hint=listed)
    near = [f"{source.name}.{each}" for each in _near(method, list(known))]
    raise WrongUseError(
        f"{source.name} has no pattern {wanted!r}",
        hint=f"did you mean {' or '.join(near)}? {listed}" if near else listed,
    )


def find_source(text: str) -> PatternSource:
    """Return a system by its name, or a design by MODULE:DESIGN."""
    module, colon, name = text.partition(":")
    if not colon:
        return _of_system(find_system(text))
    if not (module and name.isidentifier()):
        raise WrongUseError(
            f"{text!r} is no MODULE:DESIGN, as app.kefir:Kefir", hint=f"singletable run --list {_ALL}"
        )
    return PatternSource(text, load_design(text), file_name_of(name))


def all_sources() -> list[PatternSource]:
    """Return all systems that are installed."""
    return [_of_system(system) for system in installed_systems().values()]


def _of_system(system: System) -> PatternSource:
    return PatternSource(
        system.name,
        system.design,
        system.name,
        dict(system.environment),
        is_system=True,
        migrations=system.migrations,
    )


def _near(wanted: str, known: list[str]) -> list[str]:
    """Return names like one: those that hold it first, as `status` is held by `batches_by_status`."""
    holding = [name for name in known if wanted and (wanted in name or name in wanted)]
    return list(dict.fromkeys([*get_close_matches(wanted, known, n=3, cutoff=0.5), *holding]))[:3]


def _order(info: PatternInfo) -> tuple[bool, int, str]:
    digits, letter = _NUMBER.fullmatch(info.number).groups()  # type: ignore[union-attr]
    return not digits, int(digits or 0), letter


# --- designs in modules ---------------------------------------------------------------------------------------


def load_design(text: str) -> type[Design]:
    """Import the design that MODULE:DESIGN names."""
    from singletable.design import Design

    where, _, name = text.partition(":")
    module = _load(where)
    found = getattr(module, name, None)
    if not (isinstance(found, type) and issubclass(found, Design)):
        designs = sorted(_designs(module))
        known = f"its designs: {', '.join(designs)}" if designs else "it has no designs at all"
        raise TargetError(f"{where} has no design {name!r}", hint=known)
    return found


def load_named(text: str) -> Any:
    """Import what MODULE:NAME names."""
    where, colon, name = text.partition(":")
    found = getattr(_load(where), name, None) if colon and name.isidentifier() else None
    if found is None:
        raise TargetError(f"{text!r} names nothing", hint="MODULE:NAME, as app.api:API")
    return found


def _designs(module: ModuleType) -> list[str]:
    from singletable.design import Design

    return [
        name
        for name, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, Design) and value is not Design
    ]


def _load(where: str) -> ModuleType:
    # As `python -m` does: what is beside the user can be imported.
    sys.path.insert(0, os.getcwd())
    try:
        return importlib.import_module(where)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{where}.".startswith(f"{error.name}."):
            raise
        raise TargetError(
            f"there is no module {where!r}", hint="name it as it is imported, from where the command is run"
        ) from error
    finally:
        sys.path.pop(0)
