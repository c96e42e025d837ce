"""`singletable deploy`: the stack of a design as templates; what a new version of it changes."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from singletable.blueprint import Blueprint
from singletable.cli.arguments import file_name
from singletable.cli.diff import verdict
from singletable.cli.messages import WrongUseError, say, say_failure
from singletable.cli.output import progress_bar
from singletable.cli.stages import add_billing, add_stage, add_users, find_deployed, stage_environment
from singletable.errors import ReplacementError
from singletable.stack.changes import TemplateChange, indexes_made, refuse_losses
from singletable.stack.check import check
from singletable.stack.deployable import Deployable, NextCommand, deployable, next_commands
from singletable.stack.files import FORMATS, changes_since, file_of, template_of, write_files
from singletable.stack.options import StackOptions, is_tag, read_policy
from singletable.stack.parts import needs_functions

Files: TypeAlias = Mapping[str, str | bytes]
Changes: TypeAlias = Mapping[str, Sequence[TemplateChange]]  # by the names of stacks

EXAMPLES = """\
examples:
  singletable deploy kefir --env stage=prod --region eu-north-1 --out stack
  singletable deploy app.shop:Shop --format sam --env stage=dev --region eu-north-1 --out stack
  singletable deploy kefir --format terraform --env stage=prod --region eu-north-1 --out stack
  singletable deploy kefir --env stage=prod --region eu-north-1 --diff stack      what a new version changes
  singletable deploy kefir --env stage=prod --region eu-north-1 --check eu-north-1    what is deployed, compared
  singletable deploy kefir --env stage=prod --region eu-north-1 --global --replica eu-west-1 --out stack
  singletable deploy kefir --env stage=dev --region eu-north-1 --billing PROVISIONED --capacity 5,5 --out stack

Nothing is sent to AWS: the files are for `aws cloudformation deploy`, `sam deploy` or `terraform apply`, and the
command says how. A design with handlers or scheduled workers gets functions, with their code in function.zip.
Without --out the template of the table's stack is printed. The table is kept when its stack is deleted.

exit codes: 0, 1 if a table would be replaced or an index dropped, or if what is deployed differs (--check),
2 for wrong use or a failure
"""

DONE, LOSES, DIFFERS = 0, 1, 1
_HOW_TO_LOSE = "nothing is written; singletable migrate moves the items first, then --allow-replacement"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe `deploy`."""
    add_stage(parser)
    parser.add_argument("--format", choices=FORMATS, default=FORMATS[0], help="(default: %(default)s)")
    parser.add_argument("--out", metavar="DIR", type=file_name, help="the folder that the templates go to")
    add_billing(parser)
    parser.add_argument("--global", dest="is_global", action="store_true", help="make it a global table")
    parser.add_argument(
        "--replica", metavar="REGION", action="append", default=[], help="a further region of a global table"
    )
    parser.add_argument(
        "--compute",
        metavar="SERVICE",
        action="append",
        default=[],
        help="what the application runs on, as ecs-tasks.amazonaws.com (default: lambda.amazonaws.com)",
    )
    parser.add_argument(
        "--tag", metavar="NAME=VALUE", type=_tag, action="append", default=[], help="a tag of all resources"
    )
    parser.add_argument(
        "--table-policy", metavar="FILE", type=file_name, help="the resource policy of the table, in JSON"
    )
    parser.add_argument(
        "--email", metavar="ADDRESS", type=_email, action="append", default=[], help="whom alarms tell"
    )
    add_users(parser)
    parser.add_argument(
        "--site", metavar="DIR", type=file_name, help="the dependencies of functions, as pip --target made it"
    )
    parser.add_argument("--runtime", metavar="NAME", help="of functions (default: that of this Python)")
    parser.add_argument(
        "--architecture", choices=("x86_64", "arm64"), default="x86_64", help="(default: %(default)s)"
    )
    parser.add_argument(
        "--diff", metavar="OLD", type=file_name, help="tell what changes: a template, or a folder of them"
    )
    parser.add_argument(
        "--check", metavar="URL|REGION", type=_place, help="compare with what is deployed there"
    )
    parser.add_argument(
        "--allow-replacement", action="store_true", help="even if a table is replaced, or an index dropped"
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Write the templates of a design, or tell what they change."""
    source = find_deployed(arguments.design)
    options = StackOptions(
        arguments.region,
        stage_environment(arguments),
        billing=arguments.billing,
        capacity=arguments.capacity,
        is_global=arguments.is_global,
        replicas=tuple(arguments.replica),
        compute=tuple(arguments.compute) or ("lambda.amazonaws.com",),
        table_policy=None if arguments.table_policy is None else read_policy(Path(arguments.table_policy)),
        tags=dict(arguments.tag),
    )
    with progress_bar() as show:
        made = deployable(
            source,
            options,
            emails=tuple(arguments.email),
            users=arguments.users,
            site=None if arguments.site is None else Path(arguments.site),
            runtime=arguments.runtime,
            architecture=arguments.architecture,
            progress=show,
        )
    if arguments.check is not None:
        return _check(arguments, made)
    files = made.files(arguments.format)  # all that is refused is refused before anything is written
    changes = (
        None if arguments.diff is None else changes_since(Path(arguments.diff), made.stacks, arguments.format)
    )
    losses = [each for found in (changes or {}).values() for each in found if each.loses]
    is_refused = bool(losses) and not arguments.allow_replacement
    if arguments.out is not None and not is_refused:
        _write(arguments.out, files)
        if isinstance(source, Blueprint) and needs_functions(source, None):
            say("a blueprint has no code: its handlers are left out; a design that is imported has them")
    _show(arguments, made, files, changes, losses if is_refused else [])
    return LOSES if is_refused else DONE


def _check(arguments: argparse.Namespace, made: Deployable) -> int:
    found = check(made.stacks, arguments.check, arguments.format)
    if arguments.json:
        told = [{"where": each.where, "says": each.says} for each in found.differences]
        same = not found.differences
        print(json.dumps({"same": same, "differences": told, "not_compared": found.not_compared}))
        return DIFFERS if told else DONE
    for difference in found.differences:
        print(difference)
    for what in found.not_compared:
        say(f"not compared: {what}")
    say(f"{arguments.check} {verdict(len(found.differences))}")
    return DIFFERS if found.differences else DONE


def _write(out: str, files: Files) -> None:
    try:
        write_files(Path(out), files)
    except OSError as error:
        raise WrongUseError(
            f"{out} cannot be written: {error.strerror}", hint="name a folder that can be made here"
        ) from error


def _show(
    arguments: argparse.Namespace,
    made: Deployable,
    files: Files,
    changes: Changes | None,
    refused: Sequence[TemplateChange],
) -> None:
    is_written = arguments.out is not None and not refused
    if arguments.json:
        data = _data(arguments, made, files, changes, is_refused=bool(refused))
        print(json.dumps(data, ensure_ascii=False))
    elif changes is not None:
        table = made.stacks[0].name
        for name, found in changes.items():
            for change in found:
                print(change if name == table else f"{change} (in {name})")
        if not any(changes.values()):
            say("nothing changes")
        if arguments.format != "terraform" and len(indexes := indexes_made(changes[table])) > 1:
            say(
                f"CloudFormation makes or drops one index in an update: deploy {', '.join(indexes)} one by one"
            )
    elif arguments.out is None:
        print(files[file_of(made.stacks[0], arguments.format)], end="")
    if refused:
        try:
            refuse_losses(refused, hint=_HOW_TO_LOSE)
        except ReplacementError as error:
            say_failure(error)
    elif is_written and not arguments.json:
        _say_how(arguments, made, files)


def _data(
    arguments: argparse.Namespace,
    made: Deployable,
    files: Files,
    changes: Changes | None,
    *,
    is_refused: bool,
) -> dict[str, Any]:
    is_written = arguments.out is not None and not is_refused
    found: dict[str, Any] = {
        "format": arguments.format,
        "stacks": [{"name": stack.name, "region": stack.region} for stack in made.stacks],
        "files": sorted(files) if is_written else [],
        "refused": is_refused,
    }
    if is_written:
        found["next"] = [{"why": each.why, "command": each.line} for each in _next(arguments, made, files)]
    if changes is not None:
        found["changes"] = [
            {
                "stack": name,
                "effect": each.effect,
                "resource": each.logical_id,
                "property": each.path,
                "was": each.was,
                "now": each.now,
                "loses": each.loses,
            }
            for name, found_in in changes.items()
            for each in found_in
        ]
    elif arguments.out is None:
        found["templates"] = {
            name: json.loads(text) if name.endswith(".json") else text
            for name, text in files.items()
            if isinstance(text, str)
        }
    return found


def _say_how(arguments: argparse.Namespace, made: Deployable, files: Files) -> None:
    for name in sorted(files):
        say(f"{Path(arguments.out) / name} is written")
    count = len(template_of(made.stacks[0], arguments.format)["Resources"])
    bucket = "" if arguments.format == "terraform" else ", with a bucket of yours for BUCKET"
    say(f"{count} resources; to deploy them{bucket}:")
    for each in _next(arguments, made, files):
        say(f"  # {each.why}")
        say(f"  {each.line}")


def _next(arguments: argparse.Namespace, made: Deployable, files: Files) -> tuple[NextCommand, ...]:
    return next_commands(made, files, form=arguments.format, folder=Path(arguments.out))


def _place(text: str) -> str:
    if not re.fullmatch(r"https?://\S+|[a-z]{2}(-[a-z]+)+-\d", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no URL and no region, as eu-north-1")
    return text


def _email(text: str) -> str:
    if not re.fullmatch(r"[^@\s$]+@[^@\s$]+", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no address, as ops@example.com")
    return text


def _tag(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (equals and is_tag(name, value)):
        raise argparse.ArgumentTypeError(f"{text!r} is no tag, as team=kitchen")
    return name, value
