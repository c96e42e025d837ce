"""What a new template changes, and what of it takes data away: a table that is replaced, an index that is dropped.

Both templates are data as `to_cloudformation` and `to_sam` return it, or as somebody has written it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from singletable.errors import ReplacementError

_TABLES: Final = ("AWS::DynamoDB::Table", "AWS::DynamoDB::GlobalTable")
# The reference of AWS::DynamoDB::Table: an update of these replaces it.
_REPLACING: Final = ("TableName", "KeySchema", "LocalSecondaryIndexes", "ImportSourceSpecification")
_INDEX_PARTS: Final = ("KeySchema", "Projection")
_ABSENT: Final = object()

Effect = Literal["added", "removed", "changed"]


@dataclass(frozen=True, slots=True)
class TemplateChange:
    """One change: of a resource, or of a property of it. `loses` says what it takes away, if it does."""

    effect: Effect
    logical_id: str
    path: str = ""  # of the property
    was: Any = None
    now: Any = None
    loses: str = ""

    def __str__(self) -> str:
        """Say the change in a line."""
        where = f"{self.logical_id}.{self.path}" if self.path else self.logical_id
        return f"{self.effect:8} {where}" + (f": {self.loses}" if self.loses else "")


def changes_between(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[TemplateChange, ...]:
    """Compare two templates: every resource, parameter and output that differs."""
    before, after = old.get("Resources") or {}, new.get("Resources") or {}
    found: list[TemplateChange] = []
    for logical_id in sorted({*before, *after}):
        found += _resource(logical_id, before.get(logical_id), after.get(logical_id))
    for section in ("Parameters", "Outputs"):
        was, now = old.get(section) or {}, new.get(section) or {}
        found += [
            TemplateChange(_effect(name, was, now), f"{section}.{name}", was=was.get(name), now=now.get(name))
            for name in sorted({*was, *now})
            if was.get(name) != now.get(name)
        ]
    return tuple(found)


def refuse_losses(changes: tuple[TemplateChange, ...], *, hint: str) -> None:
    """Refuse changes that replace a table or drop an index."""
    losses = [each for each in changes if each.loses]
    if losses:
        more = f", and {len(losses) - 1} more" if len(losses) > 1 else ""
        raise ReplacementError(
            f"{losses[0].logical_id}: {losses[0].loses}{more}",
            changes=[str(each) for each in losses],
            hint=hint,
        )


def _effect(name: str, was: Mapping[str, Any], now: Mapping[str, Any]) -> Effect:
    return "added" if name not in was else "removed" if name not in now else "changed"


def _resource(
    logical_id: str, was: Mapping[str, Any] | None, now: Mapping[str, Any] | None
) -> Iterator[TemplateChange]:
    if was is None or now is None:
        kind = str((was or now or {}).get("Type", ""))
        loses = "the table leaves the stack, and is kept beside it" if now is None and kind in _TABLES else ""
        yield TemplateChange("added" if was is None else "removed", logical_id, loses=loses)
        return
    is_table = was.get("Type") in _TABLES
    if was.get("Type") != now.get("Type"):
        loses = "the table is replaced by one of another kind" if is_table else ""
        yield TemplateChange("changed", logical_id, "Type", was.get("Type"), now.get("Type"), loses)
        return
    before, after = was.get("Properties") or {}, now.get("Properties") or {}
    for name in sorted({*before, *after}):
        old, new = before.get(name, _ABSENT), after.get(name, _ABSENT)
        if old == new:
            continue
        if is_table and name == "GlobalSecondaryIndexes":
            yield from _indexes(logical_id, old, new)
            continue
        effect: Effect = "added" if old is _ABSENT else "removed" if new is _ABSENT else "changed"
        yield TemplateChange(
            effect,
            logical_id,
            name,
            None if old is _ABSENT else old,
            None if new is _ABSENT else new,
            _loss(name, before, after) if is_table else "",
        )


def _loss(name: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    if name in _REPLACING:
        return f"the table is replaced by an empty one, since its {name} changes"
    if name == "AttributeDefinitions":
        was, now = _types(before), _types(after)
        retyped = sorted(
            attribute for attribute in was if now.get(attribute, was[attribute]) != was[attribute]
        )
        keys = {each.get("AttributeName") for each in before.get("KeySchema") or ()}
        if keys.intersection(retyped):
            return f"the table is replaced by an empty one, since the type of {retyped[0]} changes"
    return ""


def _types(properties: Mapping[str, Any]) -> dict[str, str]:
    return {
        each["AttributeName"]: each["AttributeType"] for each in properties.get("AttributeDefinitions") or ()
    }


def _indexes(logical_id: str, old: Any, new: Any) -> Iterator[TemplateChange]:
    was = {each["IndexName"]: each for each in (() if old is _ABSENT else old)}
    now = {each["IndexName"]: each for each in (() if new is _ABSENT else new)}
    for name in sorted({*was, *now}):
        if was.get(name) == now.get(name):
            continue
        before, after = was.get(name), now.get(name)
        loses = ""
        if after is None:
            loses = f"the index {name} is dropped"
        elif before is not None and any(before.get(each) != after.get(each) for each in _INDEX_PARTS):
            loses = f"the index {name} is dropped, and made anew with other keys or another projection"
        path = f"GlobalSecondaryIndexes.{name}"
        yield TemplateChange(_effect(name, was, now), logical_id, path, before, after, loses)
