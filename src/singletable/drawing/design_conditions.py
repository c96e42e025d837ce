"""The conditions of a blueprint as they are drawn: with the names and values that items hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from singletable.blueprint.markdown import condition_sentence
from singletable.drawing.design_keys import Names


def condition_said(condition: Mapping[str, Any], names: Names) -> str:
    """Write a condition; what a caller gives stands as it does in keys."""
    text = condition_sentence(_stored(condition, names))
    is_group = condition.get("operator") in ("and", "or")
    return text.removeprefix("(").removesuffix(")") if is_group else text


def _stored(condition: Mapping[str, Any], names: Names) -> dict[str, Any]:
    found = dict(condition)
    if "field" in found:
        found["field"] = names.get(found["field"], found["field"])
    if "parameter" in found:
        found["value"] = f"<{found.pop('parameter')}>"
    if isinstance(found.get("value"), bool):
        found["value"] = str(found["value"]).lower()
    if "condition" in found:
        found["condition"] = _stored(found["condition"], names)
    if "conditions" in found:
        found["conditions"] = [_stored(each, names) for each in found["conditions"]]
    return found
