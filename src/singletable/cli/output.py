"""What stdout cannot encode, as the escapes of JSON: a terminal without Unicode ends no command.

The lines that are JSON stay JSON by that, and those for people say what they say of control characters.
"""

from __future__ import annotations

import codecs
import io
import json
import sys

_ESCAPING = "singletable.escape"


def escape_unencodable() -> None:
    """Have stdout take every text, whatever its encoding is."""
    # Where it is not strict, the user or the locale has said what to do.
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        codecs.register_error(_ESCAPING, _escaped)
        sys.stdout.reconfigure(errors=_ESCAPING)


def _escaped(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end
