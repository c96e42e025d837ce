"""Arguments of the commands that say what a design is on AWS: the design, the stage, the region."""

from __future__ import annotations

import argparse
from pathlib import Path

from singletable.cli.arguments import file_name
from singletable.cli.patterns.finding import find_source
from singletable.cli.targets import add_environment


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


def stage_environment(arguments: argparse.Namespace) -> dict[str, str]:
    """Return what the table's name needs: what is given, else what a system has by itself."""
    given = dict(arguments.env)
    if Path(arguments.design).suffix.lower() in (".toml", ".json") or arguments.design.endswith(
        ":documented"
    ):
        return given
    return {**find_source(arguments.design).environment, **given}
