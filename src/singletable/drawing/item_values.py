"""Values of items as texts, always short enough to be drawn."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from singletable.drawing.texts import shortened

_CHARACTERS_MAX: Final = 160

Value = Mapping[str, Any]


def key_value(value: Value) -> str:
    """Return a value of a key, whole."""
    ((kind, content),) = value.items()
    return _binary(content) if kind == "B" else str(content)


def value_text(value: Value) -> str:
    """Return a value, or the beginning of it."""
    ((kind, content),) = value.items()
    if kind == "S":
        return shortened(content, _CHARACTERS_MAX)
    return shortened(_text(kind, content), _CHARACTERS_MAX)


def _text(kind: str, content: Any) -> str:
    match kind:
        case "S" | "N":
            return str(content)
        case "BOOL":
            return "true" if content else "false"
        case "NULL":
            return "null"
        case "B":
            return _binary(content)
        case "BS":
            return f"{{{', '.join(sorted(map(_binary, content)))}}}"
        case "SS" | "NS":
            return f"{{{', '.join(sorted(map(str, content)))}}}"
        case "M":
            inner = ", ".join(f"{_quoted(name)}: {_nested(value)}" for name, value in content.items())
            return f"{{{inner}}}"
        case _:
            return f"[{', '.join(map(_nested, content))}]"


def _nested(value: Value) -> str:
    """Return a value inside another, as JSON has it: texts in quotes, numbers with all their digits."""
    ((kind, content),) = value.items()
    return _quoted(_text(kind, content)) if kind in ("S", "B") else _text(kind, content)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _binary(content: Any) -> str:
    return base64.b64encode(bytes(content)).decode() if not isinstance(content, str) else content


def moment(value: Value | None) -> str | None:
    """Return the time in a time-to-live value; None if the value is no time."""
    if value is None or "N" not in value:
        return None
    try:
        at = datetime.fromtimestamp(int(float(value["N"])), UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return f"{at:%Y-%m-%d %H:%M} UTC"
