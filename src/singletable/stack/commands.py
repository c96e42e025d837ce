"""What to run after the files of a stack are written: the commands of AWS's tools, in their order."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from singletable.stack.deployable import Deployable
from singletable.stack.files import Format, template_file
from singletable.stack.parts import CODE_BUCKET, CODE_FILE
from singletable.stack.resources import Function, Parameter, Stack

BUCKET: Final = "BUCKET"  # stands for one of the user's
# "--template-body: ... a maximum size of 51,200 bytes" (CloudFormation, CreateStack); a larger one is in a bucket.
_INLINE_BYTES_MAX: Final = 51_200


@dataclass(frozen=True, slots=True)
class NextCommand:
    """A command, and why it is run."""

    why: str
    line: str


def next_commands(
    made: Deployable, files: Mapping[str, str | bytes], *, form: Format, folder: Path
) -> tuple[NextCommand, ...]:
    """Return the commands that deploy what was written into a folder; none of a format without such commands."""
    if form not in ("cloudformation", "sam"):
        return ()
    stack, deployer, *beside = made.stacks
    found = [NextCommand("once, by who may make roles", _deploy(deployer, files, folder))]
    if made.package is not None and form == "cloudformation":
        found.append(NextCommand("the code of the functions", _upload(stack, folder)))
    found.append(NextCommand("the table and what stands around it", _deploy(stack, files, folder, form)))
    found += [NextCommand("the alarms on the bill", _deploy(each, files, folder)) for each in beside]
    return tuple(found)


def _upload(stack: Stack, folder: Path) -> str:
    function = next(each for each in stack.resources if isinstance(each, Function))
    source, target = str(folder / CODE_FILE), f"s3://{BUCKET}/{function.code.key}"
    return shlex.join(["aws", "s3", "cp", source, target, "--region", stack.region])


def _deploy(
    stack: Stack, files: Mapping[str, str | bytes], folder: Path, form: Format = "cloudformation"
) -> str:
    name = template_file(stack)
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
