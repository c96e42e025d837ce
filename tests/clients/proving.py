"""Says what a program has proven: one line of JSON for each thing, printed when it held.

Runs in the environment of a client, beside its program.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


def introduce(client: str, version: str) -> None:
    """Say which client this is."""
    print(json.dumps({"client": client, "version": version}), flush=True)


@contextmanager
def proof(sentence: str) -> Iterator[None]:
    """Print the sentence when the block ends well; an assertion in it ends the program."""
    yield
    print(json.dumps({"proved": sentence}), flush=True)


class Caught:
    """What a block raised."""

    error: Any = None


@contextmanager
def raises(kind: type[Exception]) -> Iterator[Caught]:
    """Hold a block to raising an error of this kind."""
    caught = Caught()
    try:
        yield caught
    except kind as error:
        caught.error = error
    else:
        raise AssertionError(f"{kind.__name__} was not raised")
