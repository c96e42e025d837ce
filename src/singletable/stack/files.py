"""The files of stacks: a template for each, written all or none."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, get_args

from singletable.errors import StackError
from singletable.stack.cloudformation import template_text, to_cloudformation, to_sam
from singletable.stack.resources import Stack

Format = Literal["cloudformation", "sam"]
FORMATS: Final[tuple[Format, ...]] = get_args(Format)
_ENDING: Final = ".template.json"
_BESIDE: Final = ("-deployer", "-billing")  # stacks that stand beside that of the table
_WRITERS: Final = {"cloudformation": to_cloudformation, "sam": to_sam}


def template_of(stack: Stack, form: Format) -> dict[str, Any]:
    """Return the template of a stack in a format."""
    return _WRITERS[form](stack)


def template_file(stack: Stack) -> str:
    """Return the name of the file with the template of a stack."""
    return f"{stack.name}{_ENDING}"


def stack_files(stacks: Sequence[Stack], form: Format) -> dict[str, str]:
    """Return the text of each template, by the name of its file."""
    return {template_file(stack): template_text(template_of(stack, form)) for stack in stacks}


def write_files(folder: Path, files: Mapping[str, str | bytes]) -> None:
    """Write files into a folder, which is made if it is not there: all of them, or none."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    waiting = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        for name, contents in files.items():
            data = contents if isinstance(contents, bytes) else contents.encode()
            (waiting / name).write_bytes(data)
        folder.mkdir(exist_ok=True)
        for name in files:
            os.replace(waiting / name, folder / name)
    finally:
        shutil.rmtree(waiting, ignore_errors=True)


def read_template(path: Path) -> dict[str, Any]:
    """Read a template in JSON, or that of the table in a folder of them."""
    if path.is_dir():
        found = sorted(each for each in path.glob(f"*{_ENDING}") if not _is_beside(each.name))
        if len(found) != 1:
            raise StackError(
                f"{path} has {len(found) or 'no'} templates of tables", hint="name the file of one template"
            )
        path = found[0]
    try:
        template = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise StackError(
            f"{path} cannot be read: {error.strerror}", hint="name a template that is there"
        ) from error
    except ValueError:
        raise StackError(f"{path} is no template in JSON", hint="singletable deploy writes those") from None
    if not isinstance(template, dict) or not isinstance(template.get("Resources"), dict):
        raise StackError(
            f"{path} is no template: it has no Resources", hint="singletable deploy writes those"
        )
    return template


def _is_beside(name: str) -> bool:
    return name.removesuffix(_ENDING).endswith(_BESIDE)
