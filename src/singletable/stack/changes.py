"""What a new template changes, and what of it takes data away: a table that is replaced, an index that is dropped.

Both are data as `template_of` returns it: of CloudFormation, SAM or Terraform.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from singletable.errors import ReplacementError


@dataclass(frozen=True, slots=True)
class _TableKind:
    """How a format says what of a table cannot be changed in place."""

    replacing: tuple[str, ...]  # properties whose change replaces the table
    types: tuple[str, str, str]  # the property with the types of attributes, and in it a name and a type
    indexes: str  # the property with the global indexes
    index_name: str
    index_parts: tuple[str, ...]  # what cannot change of an index


# The reference of AWS::DynamoDB::Table says which updates replace it.
_CLOUDFORMATION: Final = _TableKind(
    ("TableName", "KeySchema", "LocalSecondaryIndexes", "ImportSourceSpecification"),
    ("AttributeDefinitions", "AttributeName", "AttributeType"),
    "GlobalSecondaryIndexes",
    "IndexName",
    ("KeySchema", "Projection"),
)
# The resource aws_dynamodb_table of the provider forces a new one for these.
_TERRAFORM: Final = _TableKind(
    ("name", "hash_key", "range_key", "local_secondary_index", "import_table"),
    ("attribute", "name", "type"),
    "global_secondary_index",
    "name",
    ("hash_key", "range_key", "key_schema", "projection_type", "non_key_attributes"),
)
_TABLES: Final = {
    "AWS::DynamoDB::Table": _CLOUDFORMATION,
    "AWS::DynamoDB::GlobalTable": _CLOUDFORMATION,
    "aws_dynamodb_table": _TERRAFORM,
}
_ABSENT: Final = object()
_BESIDE: Final = (
    "DeletionPolicy",
    "DependsOn",
    "UpdateReplacePolicy",
)  # of CloudFormation, beside properties

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


def indexes_made(changes: Iterable[TemplateChange]) -> tuple[str, ...]:
    """Return the global indexes of tables that are made or dropped."""
    kinds = {kind.indexes for kind in _TABLES.values()}
    found = []
    for each in changes:
        place, _, name = each.path.partition(".")
        if name and place in kinds and (each.loses or each.effect == "added"):
            found.append(name)
    return tuple(found)


def refuse_losses(changes: Iterable[TemplateChange], *, hint: str) -> None:
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
    table = _TABLES.get(str(was.get("Type")))
    if was.get("Type") != now.get("Type"):
        loses = "" if table is None else "the table is replaced by one of another kind"
        yield TemplateChange("changed", logical_id, "Type", was.get("Type"), now.get("Type"), loses)
        return
    for name in _BESIDE:
        if was.get(name) != now.get(name):
            yield TemplateChange(_effect(name, was, now), logical_id, name, was.get(name), now.get(name))
    before, after = was.get("Properties") or {}, now.get("Properties") or {}
    for name in sorted({*before, *after}):
        if before.get(name, _ABSENT) == after.get(name, _ABSENT):
            continue
        if table is not None and name == table.indexes:
            yield from _indexes(table, logical_id, before.get(name) or (), after.get(name) or ())
            continue
        loses = "" if table is None else _loss(table, name, before, after)
        yield TemplateChange(
            _effect(name, before, after), logical_id, name, before.get(name), after.get(name), loses
        )


def _loss(table: _TableKind, name: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    if name in table.replacing:
        return f"the table is replaced by an empty one, since its {name} changes"
    if name == table.types[0]:
        was, now = _types(table, before), _types(table, after)
        retyped = sorted(
            attribute for attribute in was if now.get(attribute, was[attribute]) != was[attribute]
        )
        keys = {each.get("AttributeName") for each in before.get("KeySchema") or ()}
        keys |= {before.get("hash_key"), before.get("range_key")}
        if keys.intersection(retyped):
            return f"the table is replaced by an empty one, since the type of {retyped[0]} changes"
    return ""


def _types(table: _TableKind, properties: Mapping[str, Any]) -> dict[str, str]:
    where, name, kind = table.types
    return {each[name]: each[kind] for each in properties.get(where) or ()}


def _indexes(
    table: _TableKind, logical_id: str, old: Iterable[Any], new: Iterable[Any]
) -> Iterator[TemplateChange]:
    was, now = ({each[table.index_name]: each for each in indexes} for indexes in (old, new))
    for name in sorted({*was, *now}):
        if was.get(name) == now.get(name):
            continue
        before, after = was.get(name), now.get(name)
        loses = ""
        if after is None:
            loses = f"the index {name} is dropped"
        elif before is not None and any(before.get(each) != after.get(each) for each in table.index_parts):
            loses = f"the index {name} is dropped, and made anew with other keys or another projection"
        path = f"{table.indexes}.{name}"
        yield TemplateChange(_effect(name, was, now), logical_id, path, before, after, loses)
