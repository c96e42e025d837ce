"""Arguments of the commands that say what a design is on AWS: the design, the stage, the region."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from singletable.cli.arguments import file_name
from singletable.cli.blueprint import find_blueprint
from singletable.cli.patterns.finding import find_source, load_design
from singletable.cli.targets import add_environment
from singletable.errors import StackError
from singletable.systems import find_system

if TYPE_CHECKING:
    from singletable.blueprint import Blueprint
    from singletable.design import Design
    from singletable.systems import System


def add_stage(parser: argparse.ArgumentParser) -> None:
    """Describe the design, --env and --region."""
    parser.add_argument(
        "design",
        metavar="DESIGN",
        type=file_name,
        help="a system, MODULE:DESIGN, FILE.toml or FILE.json",
    )
    add_environment(parser)
    parser.add_argument("--region", required=True, help="the region of the table, as eu-north-1")


def add_billing(parser: argparse.ArgumentParser) -> None:
    """Describe --billing and --capacity, which a stage may have of its own."""
    parser.add_argument(
        "--billing", choices=("PAY_PER_REQUEST", "PROVISIONED"), help="of this stage (default: the design's)"
    )
    parser.add_argument(
        "--capacity", metavar="READ,WRITE", type=_capacity, help="provisioned units of this stage"
    )


def add_users(parser: argparse.ArgumentParser) -> None:
    """Describe --users, from which the thresholds of alarms follow."""
    parser.add_argument(
        "--users", metavar="N", type=_users, help="plan alarms for so many (default: the design's)"
    )


def _users(text: str) -> float:
    try:
        users = float(text)
    except ValueError:
        users = 0.0
    if not 0 < users < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of users, as 50000")
    return users


def _capacity(text: str) -> tuple[int, int]:
    read, comma, write = text.partition(",")
    if not (comma and read.isascii() and read.isdigit() and write.isascii() and write.isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r} is no READ,WRITE, as 10,5")
    if not (int(read) and int(write)):
        raise argparse.ArgumentTypeError(f"{text!r} has no units: each is at least 1")
    return int(read), int(write)


def find_deployed(text: str) -> Blueprint | type[Design] | System:
    """Return what is deployed under a name: a system, a design of a module, or a blueprint, which has no code."""
    if is_blueprint(text):
        return find_blueprint(text)
    return load_design(text) if ":" in text else find_system(text)


def is_blueprint(text: str) -> bool:
    """Tell whether a name is that of a blueprint: in a file, or of a document."""
    return Path(text).suffix.lower() in (".toml", ".json") or text.endswith(":documented")


def stage_environment(arguments: argparse.Namespace) -> dict[str, str]:
    """Return what the table's name needs: what is given, else what a system has by itself.

    A placeholder that the name does not have is refused: the files would be those of another stage.
    """
    given = dict(arguments.env)
    known: dict[str, str] = {}
    if is_blueprint(arguments.design):
        template = find_blueprint(arguments.design).table.name
    else:
        source = find_source(arguments.design)
        template, known = source.design.table.name, dict(source.environment)
    unknown = [name for name in given if f"{{{name}}}" not in template]
    if unknown:
        raise StackError(
            f"the name of the table is {template}: it has no {{{unknown[0]}}}",
            hint="give --env the names in braces" if "{" in template else "leave --env out",
        )
    return {**known, **given}
