"""How far a long command is: one line on a terminal's stderr, wiped when it is over."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from singletable.cli.output import show_status, wipe_status

_BAR_WIDTH: Final = 30

Show = Callable[[str, int, int], None]  # what is done, how much of it, of how much


@contextmanager
def progress_bar() -> Iterator[Show]:
    """Yield what shows progress; where stderr is no terminal, it shows nothing."""
    is_shown = sys.stderr is not None and sys.stderr.isatty()
    shown = ("", -1)

    def show(phase: str, done: int, total: int) -> None:
        nonlocal shown
        percent = 100 * done // total if total else 100
        if is_shown and (phase, percent) != shown:
            shown = (phase, percent)
            bar = "#" * (_BAR_WIDTH * percent // 100)
            show_status(f"{phase:<9} [{bar:<{_BAR_WIDTH}}] {percent:3} %")

    try:
        yield show
    finally:
        if is_shown:
            wipe_status()
