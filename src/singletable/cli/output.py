"""What the command writes. Whatever it prints on stdout and stderr can be seen, and steers no terminal.

Names and values come from others. No command has to remember that: what it prints goes through here. Only the
command's own status line may move the cursor.
"""

from __future__ import annotations

import codecs
import io
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TextIO, cast

from singletable.cli.messages import WrongUseError
from singletable.visible import visible, visible_in_line

_ESCAPING = "singletable.escape"
_START, _WIPE_REST = "\r", "\x1b[K"  # of the line
_BAR_WIDTH: Final = 30
Show = Callable[[str, int, int], None]  # what is done, how much of it, of how much


class _VisibleStream:
    """A text stream that writes only what can be seen."""

    def __init__(self, stream: TextIO) -> None:
        self.unguarded = stream

    def write(self, text: str) -> int:
        self.unguarded.write(visible(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.unguarded, name)


@contextmanager
def visible_output() -> Iterator[None]:
    """Have stdout and stderr take every text, whatever it holds and whatever their encoding is."""
    before = sys.stdout, sys.stderr
    _escape_unencodable()
    sys.stdout, sys.stderr = _guarded(sys.stdout), _guarded(sys.stderr)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def _guarded(stream: TextIO | None) -> TextIO:
    # A process that was started without one (`2>&-`) has None.
    return cast("TextIO", stream if stream is None else _VisibleStream(stream))


# --- how far a long command is: one line on a terminal, wiped when it is over ---------------------------------


def show_status(text: str) -> None:
    """Write one line on stderr, which is a terminal, over the last one."""
    _steer(_START + visible_in_line(text) + _WIPE_REST)


def wipe_status() -> None:
    """Take the line away."""
    _steer(_START + _WIPE_REST)


def _steer(text: str) -> None:
    stream = getattr(sys.stderr, "unguarded", sys.stderr)
    print(text, end="", file=stream, flush=True)


# --- files ----------------------------------------------------------------------------------------------------


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


def write_file(path: str, text: str) -> None:
    """Write a file that a user has asked for. Its permissions are those that the user's umask gives."""
    try:
        Path(path).write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        leads = f", which is a link to {os.readlink(path)}," if os.path.islink(path) else ""
        raise WrongUseError(
            f"{path}{leads} cannot be written: {error.strerror}", hint="name a file in a folder that is there"
        ) from error


def _escape_unencodable() -> None:
    """Have stdout take every text, whatever its encoding is: a terminal without Unicode ends no command."""
    # Where it is not strict, the user or the locale has said what to do.
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        codecs.register_error(_ESCAPING, _escaped)
        sys.stdout.reconfigure(errors=_ESCAPING)


def _escaped(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end
