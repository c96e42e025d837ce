"""Tests whose files are encrypted, here and in the processes that they start."""

from __future__ import annotations

import os

from singletable.storage.file.given_keys import use_key

KEY = bytes(range(32))
_VARIABLE = "SINGLETABLE_TESTS_ENCRYPTED"


def are_encrypted() -> bool:
    return _VARIABLE in os.environ


def encrypt_files(*, on: bool) -> None:
    """Give every file that is opened without a key one, from now on."""
    use_key(KEY if on else None)
    if on:
        os.environ[_VARIABLE] = "1"
    else:
        os.environ.pop(_VARIABLE, None)


if are_encrypted():
    use_key(KEY)
