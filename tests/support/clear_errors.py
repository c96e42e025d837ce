"""Errors about files are sentences that people understand."""

from __future__ import annotations

from pathlib import Path

from singletable.errors import DatabaseError


def assert_clear(error: DatabaseError, path: Path) -> None:
    """Assert that the error is one sentence about the file, with a hint, free of SQLite's own words."""
    assert_clear_words(error.message, error.hint, path)


def assert_clear_words(message: str, hint: str | None, path: Path) -> None:
    assert str(path) in message
    assert "\n" not in message
    assert len(message) < 120 + len(str(path))
    assert hint
    for word in ("Error", "apsw", "SQLITE_", "Traceback"):
        assert word not in message.replace(str(path), "")
