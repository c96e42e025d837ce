"""The command as tests run it: what it printed, where, and how it ended."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest

from singletable.cli import main


@dataclass(frozen=True, slots=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out, parse_float=Decimal)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line, parse_float=Decimal) for line in self.out.splitlines()]

    @property
    def next_page(self) -> list[str]:
        """The words of the command for the next page; none after the last."""
        shown = [line for line in self.err.splitlines() if line.startswith("next page: singletable ")]
        return shlex.split(shown[0].removeprefix("next page: singletable ")) if shown else []


Run = Callable[..., Ran]


def command(capsys: pytest.CaptureFixture[str]) -> Run:
    """Return what runs the command in this process."""

    def run(*words: str) -> Ran:
        capsys.readouterr()
        try:
            code = main(words)
        except SystemExit as left:
            code = int(left.code or 0)
        printed = capsys.readouterr()
        assert "Traceback" not in printed.err
        return Ran(code, printed.out, printed.err)

    return run
