"""The command that goes on where a page has ended, to be pasted into a shell."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Mapping

from singletable.cli.patterns.finding import FoundPattern
from singletable.cli.patterns.parameters import Parameter

_FLAGS = ("newest_first", "oldest_first", "json", "all_fields", "explain")


def next_page(
    pattern: FoundPattern,
    parameters: list[Parameter],
    texts: Mapping[str, list[str]],
    arguments: argparse.Namespace,
    cursor: str,
) -> str:
    """Return the command for the next page. Times stand in it as moments: a cursor is of one question only."""
    words = ["singletable", "run", pattern.name]
    for parameter in parameters:
        given = texts.get(parameter.name, [])
        if any(text.startswith("-") for text in given):
            words += [f"{parameter.option}={text}" for text in given]
        elif given:
            words += [parameter.option, *given]
    if arguments.target is not None:
        words += ["--target", arguments.target]
    for name, value in arguments.env:
        words += ["--env", f"{name}={value}"]
    if arguments.without:
        words += ["--without", ",".join(arguments.without)]
    if arguments.capabilities is not None:
        words += ["--capabilities", arguments.capabilities]
    if arguments.limit is not None:
        words += ["--limit", str(arguments.limit)]
    words += [f"--{flag.replace('_', '-')}" for flag in _FLAGS if getattr(arguments, flag)]
    # With a sign of equality: a cursor may begin with a hyphen.
    return shlex.join([*words, f"--cursor={cursor}"])
