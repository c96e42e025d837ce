"""A design as it is deployed: its stacks, and the package of its functions.

    found = deployable(SYSTEM, StackOptions("eu-north-1", {"stage": "prod"}))
    write_files(Path("stack"), found.files("cloudformation"))

A blueprint alone has no code, and so no functions.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from singletable.blueprint import Blueprint
from singletable.design import Design
from singletable.stack.files import Format, stack_files
from singletable.stack.make import make_stacks
from singletable.stack.options import StackOptions
from singletable.stack.packaging import Architecture, Package, Progress, package
from singletable.stack.parts import CODE_FILE, needs_functions, package_of
from singletable.stack.resources import Stack, Text
from singletable.systems import System
from singletable.systems.finding import system_reference

UNPACKED: Final = Package(
    b"", f"python{sys.version_info.major}.{sys.version_info.minor}", "x86_64", (), "unpacked"
)
"""Stands for a package that nobody needs: where only roles or alarms are asked for."""


@dataclass(frozen=True, slots=True)
class Deployable:
    """The stacks of a design, that of its table first, and the package of its functions, if it has any."""

    stacks: tuple[Stack, ...]
    package: Package | None = None

    def files(self, form: Format) -> dict[str, str | bytes]:
        """Return the files of a format by their names: a template for each stack, and the package."""
        found: dict[str, str | bytes] = {**stack_files(self.stacks, form)}
        if self.package is not None:
            found[CODE_FILE] = self.package.content
        return found


def deployable(
    source: Blueprint | type[Design] | System,
    options: StackOptions,
    *,
    emails: tuple[Text, ...] = (),
    users: float | None = None,
    site: Path | None = None,
    runtime: str | None = None,
    architecture: Architecture = "x86_64",
    progress: Progress | None = None,
) -> Deployable:
    """Make everything that a system, a design or a blueprint is deployed with.

    Alarms tell the `emails`, and follow from a plan of so many `users`. The rest is as for `package`: where the
    dependencies are, what Lambda runs them with, and who is told how far it is.
    """
    blueprint = blueprint_of(source)
    system = source if isinstance(source, System) else None
    stacks = stacks_unpacked(source, options, emails=emails, users=users)  # refused before the long work
    made = None
    if not isinstance(source, Blueprint) and needs_functions(blueprint, system):
        if isinstance(source, System):
            reference = system_reference(source.name)
            made = package_of(
                source, reference, site=site, runtime=runtime, architecture=architecture, progress=progress
            )
        else:
            made = package(source, site=site, runtime=runtime, architecture=architecture, progress=progress)
        stacks = make_stacks(blueprint, options, package=made, system=system, emails=emails, users=users)
    return Deployable(stacks, made)


def stacks_unpacked(
    source: Blueprint | type[Design] | System,
    options: StackOptions,
    *,
    emails: tuple[Text, ...] = (),
    users: float | None = None,
) -> tuple[Stack, ...]:
    """Make the stacks with functions whose package is not made: for their roles, alarms and names."""
    code = None if isinstance(source, Blueprint) else UNPACKED
    system = source if isinstance(source, System) else None
    return make_stacks(blueprint_of(source), options, package=code, system=system, emails=emails, users=users)


def blueprint_of(source: Blueprint | type[Design] | System) -> Blueprint:
    """Return the blueprint of a system, a design or a blueprint."""
    return source if isinstance(source, Blueprint) else source.blueprint()
