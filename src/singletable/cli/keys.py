"""The key that a command is given for the files that it opens. Imports nothing heavy."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from singletable.errors import FileKeyError

if TYPE_CHECKING:
    import argparse

    from singletable.storage.file.given_keys import GivenKey

VARIABLE: Final = "SINGLETABLE_KEY_FILE"
_KEY_BYTES_MAX: Final = 4096
_NOT_DUMPABLE: Final = (4, 0, 0, 0, 0)  # PR_SET_DUMPABLE of prctl(2)


@contextmanager
def given_key(arguments: argparse.Namespace) -> Iterator[None]:
    """Let the files that are opened have the key that the command was given, if it takes one and has one."""
    text = _read_given(arguments, os.environ) if hasattr(arguments, "key_file") else None
    if text is None:
        yield
        return
    from singletable.storage.file.given_keys import default_key, read_key, use_key

    forbid_core_dumps()
    before = default_key()
    use_key(read_key(text))
    try:
        yield
    finally:
        use_key(before)


def required_key() -> GivenKey:
    """Return the key that the command was given; it needs one."""
    from singletable.storage.file.given_keys import default_key

    found = default_key()
    if found is None:
        raise FileKeyError(
            "no key was given", hint="make one: openssl rand -hex 32 >key; then add --key-file key"
        )
    return found


def read_key_file(path: str) -> bytes | str:
    """Return the key in a file."""
    from singletable.storage.file.given_keys import read_key

    return read_key(_read_file(path))


def _read_given(arguments: argparse.Namespace, variables: Mapping[str, str]) -> str | None:
    if arguments.key_env is not None:
        if arguments.key_file is not None:
            raise FileKeyError("--key-file and --key-env both name a key", hint="leave one of them out")
        found = variables.get(arguments.key_env)
        if not found:
            raise FileKeyError(
                f"the environment has no {arguments.key_env}", hint="set and export it; or use --key-file"
            )
        return found
    path = arguments.key_file or variables.get(VARIABLE)
    return None if not path else _read_file(path)


def _read_file(path: str) -> str:
    try:
        with open(path, "rb") as file:
            text = file.read(_KEY_BYTES_MAX).decode().rstrip("\r\n")
    except OSError as error:
        raise FileKeyError(
            f"the key in {path} cannot be read: {error.strerror}", hint="check the path and its permissions"
        ) from None
    except UnicodeDecodeError:
        text = ""
    if not text:
        raise FileKeyError(
            f"{path} has no key: it is neither 64 hexadecimal digits nor a passphrase",
            hint=f"make a key: openssl rand -hex 32 >{path}",
        )
    return text


def forbid_core_dumps() -> None:
    """Keep keys and items of this process out of files that are written when it crashes, where the system can."""
    import ctypes

    with contextlib.suppress(ImportError, OSError, ValueError, AttributeError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        ctypes.CDLL(None, use_errno=True).prctl(
            *_NOT_DUMPABLE
        )  # a core that is piped to a program has no limit
