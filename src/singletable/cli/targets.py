"""Designs and targets as arguments; and where a table is, unless a command is told."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from singletable.cli.arguments import add_key
from singletable.errors import TargetError

if TYPE_CHECKING:
    from singletable.client import Capabilities

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
    from singletable.design.tables.drift import is_missing_file

    if is_missing_file(target):
        raise TargetError(f"there is no file {target}", hint=hint)


def add_design(parser: argparse.ArgumentParser) -> None:
    """Describe the argument that names a design."""
    parser.add_argument(
        "design",
        metavar="SYSTEM|MODULE:DESIGN",
        type=_design,
        help="a system that is installed, or the class of a design",
    )


def add_design_and_target(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments of a command that looks at one table of a design."""
    add_design(parser)
    parser.add_argument("target", metavar="TARGET", help="a file, an URL, or dynamodb://REGION")
    add_opening(parser)
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def add_target_and_opening(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """Describe --target, and how the design is opened there."""
    parser.add_argument("--target", metavar="TARGET", help=TARGET_HELP)
    add_opening(parser)


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


def add_opening(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """Describe how a design is opened: --env, --key-file, --without and --capabilities."""
    add_environment(parser)
    add_key(parser)
    parser.add_argument(
        "--without",
        metavar="FEATURES",
        type=_features,
        action="extend",
        default=[],
        help="what the target is not to be asked for, as encryption,transactions",
    )
    parser.add_argument(
        "--capabilities",
        metavar="FILE",
        help="what the target can do, as singletable probe TARGET --out FILE has found it "
        "(default: it is asked)",
    )


def given_capabilities(arguments: argparse.Namespace, target: str | None) -> Capabilities | None:
    """Return what a target can do, if the command is told: from a file, or what it says less some features.

    Without a target, nobody is asked: it is taken for Amazon DynamoDB.
    """
    if arguments.capabilities is None and not arguments.without:
        return None
    from singletable.client import DYNAMODB, Capabilities, capabilities_of

    if arguments.capabilities is not None:
        found = Capabilities.load(arguments.capabilities)
    else:
        found = DYNAMODB if target is None else capabilities_of(target)
    return found.without(*arguments.without)


def _design(text: str) -> str:
    module, colon, name = text.partition(":")
    if not (module and name.isidentifier() if colon else text.replace("-", "_").isidentifier()):
        raise argparse.ArgumentTypeError(f"{text!r} is no MODULE:DESIGN, as app.kefir:Kefir")
    return text


def _features(text: str) -> list[str]:
    from singletable.client import Capabilities

    features = [each.strip().replace("-", "_") for each in text.split(",") if each.strip()]
    try:
        Capabilities().without(*features)
    except TargetError as error:
        raise argparse.ArgumentTypeError(f"{error.message}: {error.hint}") from None
    return features


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name.isidentifier() and equals and value):
        raise argparse.ArgumentTypeError(f"{text!r} is no NAME=VALUE, as stage=prod")
    return name, value
