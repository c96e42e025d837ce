"""A design as it is deployed: its stacks, the package of its functions, and the commands that deploy them.

    found = deployable(SYSTEM, StackOptions("eu-north-1", {"stage": "prod"}))
    write_files(Path("stack"), found.files("cloudformation"))

A blueprint alone has no code, and so no functions.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from singletable.blueprint import Blueprint
from singletable.design import Design
from singletable.stack.files import Format, file_of, stack_files
from singletable.stack.make import make_stacks
from singletable.stack.options import StackOptions
from singletable.stack.packaging import Architecture, Package, Progress, package
from singletable.stack.parts import CODE_BUCKET, CODE_FILE, needs_functions, package_of
from singletable.stack.resources import Function, Parameter, Stack, Text
from singletable.stack.terraform_values import snake_case
from singletable.systems import System
from singletable.systems.finding import system_reference

BUCKET: Final = "BUCKET"  # stands for one of the user's
# "--template-body: ... a maximum size of 51,200 bytes" (CloudFormation, CreateStack); a larger one is in a bucket.
_INLINE_BYTES_MAX: Final = 51_200
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
            found[self.code_file(form)] = self.package.content
        return found

    def code_file(self, form: Format) -> str:
        """Return where the package is: Terraform takes it from the folder of its configuration."""
        return f"{self.stacks[0].name}/{CODE_FILE}" if form == "terraform" else CODE_FILE


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


# --- what to run next -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NextCommand:
    """A command, and why it is run."""

    why: str
    line: str


def next_commands(
    made: Deployable, files: Mapping[str, str | bytes], *, form: Format, folder: Path
) -> tuple[NextCommand, ...]:
    """Return the commands that deploy what was written into a folder."""
    stack, deployer, *beside = made.stacks
    bill = "the alarms on the bill"
    if form == "terraform":
        found = [*_terraform("the table and what stands around it", stack, folder)]
        return (*found, *(each for billing in beside for each in _terraform(bill, billing, folder)))
    found = [NextCommand("once, by who may make roles", _deploy(deployer, files, folder))]
    if made.package is not None and form == "cloudformation":
        found.append(NextCommand("the code of the functions", _upload(stack, folder)))
    found.append(NextCommand("the table and what stands around it", _deploy(stack, files, folder, form)))
    found += [NextCommand(bill, _deploy(each, files, folder)) for each in beside]
    return tuple(found)


def _terraform(why: str, stack: Stack, folder: Path) -> Iterator[NextCommand]:
    words = ["terraform", f"-chdir={folder / stack.name}"]
    yield NextCommand("the provider", shlex.join([*words, "init"]))
    given = [
        f"-var={snake_case(each.logical_id)}=VALUE"
        for each in stack.parameters
        if each.default is None and each.logical_id != CODE_BUCKET
    ]
    yield NextCommand(why, shlex.join([*words, "apply", *given]))


def _upload(stack: Stack, folder: Path) -> str:
    function = next(each for each in stack.resources if isinstance(each, Function))
    source, target = str(folder / CODE_FILE), f"s3://{BUCKET}/{function.code.key}"
    return shlex.join(["aws", "s3", "cp", source, target, "--region", stack.region])


def _deploy(
    stack: Stack, files: Mapping[str, str | bytes], folder: Path, form: Format = "cloudformation"
) -> str:
    name = file_of(stack, form)
    is_sam = form == "sam"
    words = ["sam", "deploy"] if is_sam else ["aws", "cloudformation", "deploy"]
    words += ["--stack-name", stack.name, "--template-file", str(folder / name), "--region", stack.region]
    words += ["--capabilities", "CAPABILITY_NAMED_IAM"]
    if is_sam:
        words.append("--resolve-s3")
    elif len(files[name]) > _INLINE_BYTES_MAX:
        words += ["--s3-bucket", BUCKET]
    given = [*_overrides(stack.parameters, is_sam=is_sam)]
    return shlex.join([*words, "--parameter-overrides", *given] if given else words)


def _overrides(parameters: Sequence[Parameter], *, is_sam: bool) -> list[str]:
    """Return the parameters without a default; SAM brings the code to a bucket of its own."""
    found = []
    for each in parameters:
        if each.logical_id == CODE_BUCKET:
            found += [] if is_sam else [f"{CODE_BUCKET}={BUCKET}"]
        elif each.default is None:
            found.append(f"{each.logical_id}=VALUE")
    return found
