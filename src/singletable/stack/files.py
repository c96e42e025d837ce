"""The files of stacks in each format: written all or none, and read again to be compared.

cloudformation, sam   <stack>.template.json, a template for each stack
terraform             <stack>/main.tf and its neighbours, a configuration for each stack
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from errno import EISDIR
from pathlib import Path
from typing import Any, Final, Literal, get_args

from singletable.blueprint.foreign.hcl_text import blocks, hcl_node
from singletable.blueprint.forms import BlueprintError
from singletable.errors import StackError
from singletable.stack.changes import TemplateChange, changes_between
from singletable.stack.cloudformation import Template, template_text, to_cloudformation, to_sam
from singletable.stack.resources import Stack
from singletable.stack.terraform import MAIN, is_of_cloudformation, to_terraform

Format = Literal["cloudformation", "sam", "terraform"]
FORMATS: Final[tuple[Format, ...]] = get_args(Format)
_ENDING: Final = ".template.json"
_BESIDE: Final = ("-deployer", "-billing")  # stacks that stand beside that of the table


def stack_files(stacks: Sequence[Stack], form: Format) -> dict[str, str]:
    """Return the texts of stacks, by the names of their files. Terraform has no use for CloudFormation's role."""
    if form != "terraform":
        return {file_of(stack, form): template_text(_template(stack, form)) for stack in stacks}
    return {
        f"{stack.name}/{name}": text
        for stack in _of_format(stacks, form)
        for name, text in to_terraform(stack).items()
    }


def _of_format(stacks: Sequence[Stack], form: Format) -> list[Stack]:
    return [each for each in stacks if form != "terraform" or not is_of_cloudformation(each)]


def file_of(stack: Stack, form: Format) -> str:
    """Return the name of the file that has the resources of a stack."""
    return f"{stack.name}/{MAIN}" if form == "terraform" else f"{stack.name}{_ENDING}"


def _template(stack: Stack, form: Format) -> Template:
    return to_sam(stack) if form == "sam" else to_cloudformation(stack)


def write_files(folder: Path, files: Mapping[str, str | bytes]) -> None:
    """Write files into a folder, which is made if it is not there: all of them, or none.

    Each waits beside its place until all are written: a folder may be on a disk of its own, or not be writable.
    """
    waiting: dict[Path, Path] = {}
    made: list[Path] = []
    try:
        for name, contents in files.items():
            target = folder / name
            made += _make_folder(target.parent)
            if target.is_dir():
                raise IsADirectoryError(EISDIR, os.strerror(EISDIR), str(target))
            beside = target.with_name(f".{target.name}.{os.getpid()}")
            waiting[beside] = target
            beside.write_bytes(contents if isinstance(contents, bytes) else contents.encode())
        for beside, target in waiting.items():
            os.replace(beside, target)
    except BaseException:
        for beside in waiting:
            beside.unlink(missing_ok=True)
        for each in reversed(made):
            with suppress(OSError):
                each.rmdir()
        raise


def _make_folder(folder: Path) -> list[Path]:
    """Make a folder with those that it is in; return those that were made, the outermost first."""
    missing = [each for each in (*reversed(folder.parents), folder) if not each.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    return missing


# --- as data, to be compared ------------------------------------------------------------------------------------


def template_of(stack: Stack, form: Format) -> Template:
    """Return the resources, parameters and outputs of a stack as data."""
    if form != "terraform":
        return _template(stack, form)
    return _of_terraform("\n".join(to_terraform(stack).values()), stack.name)


def changes_since(path: Path, stacks: Sequence[Stack], form: Format) -> dict[str, tuple[TemplateChange, ...]]:
    """Compare stacks with what was written before, by their names: a file is the table's, a folder has all."""
    name = stacks[0].name
    written = {each.name: each for each in _of_format(stacks, form)}
    found = {}
    for ending, old in _read_templates(path, form).items():
        stack = written.get(name + ending)
        found[name + ending] = changes_between(old, {} if stack is None else template_of(stack, form))
    return found


def _read_templates(path: Path, form: Format) -> dict[str, Template]:
    """Read what was written before, by what the names of stacks end in; what a folder does not have is empty."""
    read = _read_terraform if form == "terraform" else _read_json
    if not path.is_dir() or (form == "terraform" and (path / MAIN).is_file()):
        return {"": read(path)}
    found = {
        _name(each, form): each for each in path.glob(f"*/{MAIN}" if form == "terraform" else f"*{_ENDING}")
    }
    beside = {each + ending for each in found for ending in _BESIDE}  # a table too may be named so
    tables = [each for each in found if each not in beside]
    if len(tables) != 1:
        raise StackError(
            f"{path} has {len(tables) or 'no'} stacks of tables in the format {form}",
            hint="name the file of one of them",
        )
    (table,) = tables
    paths = {ending: found.get(table + ending) for ending in ("", *_BESIDE)}
    return {ending: {} if each is None else read(each) for ending, each in paths.items()}


def _name(path: Path, form: Format) -> str:
    return path.parent.name if form == "terraform" else path.name.removesuffix(_ENDING)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise StackError(
            f"{path} cannot be read: {error.strerror}", hint="name a template that is there"
        ) from error
    except UnicodeDecodeError:
        raise StackError(f"{path} is no text", hint="singletable deploy writes those") from None


def _read_json(path: Path) -> Template:
    try:
        template = json.loads(_read(path))
    except ValueError:
        raise StackError(f"{path} is no template in JSON", hint="singletable deploy writes those") from None
    if not isinstance(template, dict) or not isinstance(template.get("Resources"), dict):
        raise StackError(
            f"{path} is no template: it has no Resources", hint="singletable deploy writes those"
        )
    return template


def _read_terraform(path: Path) -> Template:
    """Read the configuration that a file is of: all of its folder."""
    folder = path if path.is_dir() else path.parent
    texts = [_read(each) for each in sorted(folder.glob("*.tf"))] or [_read(path)]
    return _of_terraform("\n".join(texts), str(folder))


def _of_terraform(text: str, where: str) -> Template:
    try:
        node = hcl_node(text, "Terraform")
        resources = {
            ".".join(labels): {"Type": labels[0], "Properties": _unquoted(block.value)}
            for labels, block in blocks(node, "resource")
        }
        variables = {labels[0]: _unquoted(block.value) for labels, block in blocks(node, "variable")}
        outputs = {
            name: _unquoted(each.value) for file in node.at("output").each() for name, each in file.members()
        }
    except BlueprintError as error:
        raise StackError(
            f"{where}: {error}", hint="singletable deploy --format terraform writes those"
        ) from None
    return {"Resources": resources, "Parameters": variables, "Outputs": outputs}


def _unquoted(value: Any) -> Any:
    """Return data of HCL without the quotes of its texts."""
    match value:
        case str():
            return value[1:-1] if len(value) > 1 and value[0] == value[-1] == '"' else value
        case dict():
            return {name: _unquoted(each) for name, each in value.items()}
        case list():
            return [_unquoted(each) for each in value]
        case _:
            return value
