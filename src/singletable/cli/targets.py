"""Designs and targets as arguments; and where a table is, unless a command is told."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Mapping
from typing import Final

from singletable.errors import TargetError

TARGET_HELP: Final = (
    "a file, an URL, or dynamodb://REGION (default: $SINGLETABLE_TARGET, else $AWS_ENDPOINT_URL_DYNAMODB, "
    "else the file NAME.db here)"
)
_VARIABLES: Final = ("SINGLETABLE_TARGET", "AWS_ENDPOINT_URL_DYNAMODB")
_HUMPS: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def choose_target(given: str | None, name: str, variables: Mapping[str, str] = os.environ) -> str:
    """Return the target that was given, or that the environment names, or the file of a system's name."""
    named = (variables.get(variable) for variable in _VARIABLES)
    return given or next(filter(None, named), f"{name}.db")


def file_name_of(design: str) -> str:
    """Return what the file of a design is called, without its ending: lunch_cache for LunchCache."""
    return _HUMPS.sub("_", design).lower()


def is_remote(target: str) -> bool:
    """Tell whether a target is reached over a network."""
    return "://" in target


def refuse_missing_file(target: str, *, hint: str) -> None:
    """Refuse a file that is not there: opening it would make it."""
    if not is_remote(target) and target != ":memory:" and not os.path.exists(target):
        raise TargetError(f"there is no file {target}", hint=hint)


def add_design(parser: argparse.ArgumentParser) -> None:
    """Describe the argument that names a design."""
    parser.add_argument(
        "design",
        metavar="SYSTEM|MODULE:DESIGN",
        type=_design,
        help="a system that is installed, or the class of a design",
    )


def add_target_and_environment(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """Describe --target and --env."""
    parser.add_argument("--target", metavar="TARGET", help=TARGET_HELP)
    add_environment(parser)


def add_environment(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """Describe --env."""
    parser.add_argument(
        "--env",
        metavar="NAME=VALUE",
        type=_setting,
        action="append",
        default=[],
        help="what the table's name needs, as stage=prod; may be given several times",
    )


def _design(text: str) -> str:
    module, colon, name = text.partition(":")
    if not (module and name.isidentifier() if colon else text.replace("-", "_").isidentifier()):
        raise argparse.ArgumentTypeError(f"{text!r} is no MODULE:DESIGN, as app.kefir:Kefir")
    return text


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name.isidentifier() and equals and value):
        raise argparse.ArgumentTypeError(f"{text!r} is no NAME=VALUE, as stage=prod")
    return name, value
