"""How far a migration is: one line on a terminal's stderr, wiped when it is over."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from singletable.cli.output import show_status, wipe_status

if TYPE_CHECKING:
    from singletable.migrate import Progress

_WIDTH_MAX: Final = 100


@contextmanager
def migration_progress() -> Iterator[Callable[[Progress], None]]:
    """Yield what shows progress; where stderr is no terminal, it shows nothing."""
    is_shown = sys.stderr is not None and sys.stderr.isatty()

    def show(progress: Progress) -> None:
        if is_shown:
            show_status(progress_text(progress)[:_WIDTH_MAX])

    try:
        yield show
    finally:
        if is_shown:
            wipe_status()


def progress_text(progress: Progress) -> str:
    """Say how far a step is."""
    text = f"{progress.migration} step {progress.step + 1}"
    if progress.detail:
        return f"{text}: {progress.detail}"
    if not progress.done:
        return f"{text}: {progress.says}"
    text += f": {progress.done:,} of about {progress.total:,} items, {progress.per_s:,.0f} a second"
    return text if progress.left_s is None else f"{text}, {_duration(progress.left_s)} left"


def _duration(seconds: float) -> str:
    minutes = int(seconds) // 60
    return f"{int(seconds)} s" if minutes < 2 else f"{minutes} min" if minutes < 120 else f"{minutes // 60} h"
