"""What differs between two blueprints, part by part, and why: by the fixes that the second one names.

Parts are found again by their names: an entity, an attribute by its stored name, a place by its index, a pattern
by its number. How a part was described does not count: where it was said, samples and remarks are no differences,
an attribute is what is stored of it, and `{userId}` and `{user_id}` are one placeholder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Final, Literal

from singletable.blueprint.contents import Contents, FixBlueprint
from singletable.blueprint.entities import AttributeBlueprint, EntityBlueprint, KeyBlueprint, PlaceBlueprint
from singletable.blueprint.markdown import condition_sentence
from singletable.blueprint.patterns import KeyCondition, PatternBlueprint, ReadBlueprint
from singletable.blueprint.surroundings import AlarmBlueprint, ConsumerBlueprint, RoleBlueprint
from singletable.blueprint.tables import IndexBlueprint, TableBlueprint

_PLACEHOLDER: Final = re.compile(r"\{(\w+)([^}]*)\}")
_COMPARED_WHERE_BOTH_HAVE: Final = ("consumers", "roles", "alarms")

Facts = dict[str, tuple[str, str]]  # a path: the title of a part, and what it is in a line


@dataclass(frozen=True, slots=True)
class BlueprintDifference:
    """A part that is new, gone or changed: its path and title, what it was and is, and the fixes that name it."""

    kind: Literal["added", "removed", "changed"]
    path: str
    title: str
    was: str
    now: str
    fixes: tuple[FixBlueprint, ...] = ()


@dataclass(frozen=True, slots=True)
class BlueprintDifferences:
    """All differences; the fixes that no difference shows; and what only one of the two says anything about."""

    parts: tuple[BlueprintDifference, ...]
    unseen: tuple[FixBlueprint, ...] = ()
    not_compared: tuple[str, ...] = ()


def differences(before: Contents, after: Contents) -> BlueprintDifferences:
    """Compare two blueprints."""
    skipped = [
        name
        for name in _COMPARED_WHERE_BOTH_HAVE
        if bool(getattr(before, name)) != bool(getattr(after, name))
    ]
    old, new = dict(_facts(before, skipped)), dict(_facts(after, skipped))
    names = _names(before), _names(after)
    parts = []
    for path in dict.fromkeys([*old, *new]):
        was, now = old.get(path, ("", "")), new.get(path, ("", ""))
        if _compared(path, was[1]) != _compared(path, now[1]) or (path in old) != (path in new):
            kind: Literal["added", "removed", "changed"] = (
                "changed" if path in old and path in new else "added" if path in new else "removed"
            )
            if not _is_inside_new(path, old if kind == "added" else new):
                known = {path, *(each[path] for each in names if path in each)}
                why = tuple(
                    fix
                    for fix in after.fixes
                    if any(_covers(part, each) for part in fix.parts for each in known)
                )
                parts.append(BlueprintDifference(kind, path, now[0] or was[0], was[1], now[1], why))
    seen = {fix.id for part in parts for fix in part.fixes}
    unseen = tuple(fix for fix in after.fixes if fix.id not in seen)
    return BlueprintDifferences(tuple(parts), unseen, tuple(skipped))


def _compared(path: str, text: str) -> str:
    """Return what counts of a line: in patterns, placeholders are named by their callers, as they like."""
    return _PLACEHOLDER.sub("{}", text) if path.startswith("patterns.") else text


def _is_inside_new(path: str, other: Facts) -> bool:
    """Tell whether a part is inside of an entity that is new or gone as a whole: that one says it."""
    section, name, *inside = path.split(".")
    return section == "entities" and bool(inside) and f"{section}.{name}" not in other


def _covers(part: str, path: str) -> bool:
    """Tell whether a fix of one part explains another: the same, one inside, or all of a kind in an entity."""
    is_wide = part.count(".") < 2 and path.count(".") >= 2 and part.startswith("entities.")
    return path == part or part.startswith(f"{path}.") or (path.startswith(f"{part}.") and not is_wide)


def _names(blueprint: Contents) -> dict[str, str]:
    """Return the other names of parts: a place by its own name, an attribute by that in the design."""
    found = {}
    for entity in blueprint.entities:
        for place in entity.places:
            found[_place_path(entity, place)] = f"entities.{entity.name}.places.{place.name}"
        for each in entity.attributes:
            path = f"entities.{entity.name}.attributes.{each.stored}"
            found[path] = f"entities.{entity.name}.attributes.{each.name}"
    return found


# --- facts: what is compared, a line for each part ------------------------------------------------------


def _facts(blueprint: Contents, skipped: Sequence[str]) -> Iterator[tuple[str, tuple[str, str]]]:
    yield from _table_facts(blueprint.table)
    for index in blueprint.indexes:
        yield f"indexes.{index.name}", (f"index {index.name}", _index_text(index))
    for entity in blueprint.entities:
        yield from _entity_facts(entity)
    for pattern in blueprint.patterns:
        title = f"pattern {pattern.number}, {pattern.title}"
        yield f"patterns.{pattern.number or pattern.title}", (title, _pattern_text(pattern, blueprint))
    for rule in blueprint.ttl_rules:
        text = _ttl_text(rule.rule.stored, rule.rule.seconds, rule.rule.purpose)
        yield f"ttl_rules.{rule.of}", (f"expiry of {rule.of}", text)
    if "consumers" not in skipped:
        for consumer in blueprint.consumers:
            yield f"consumers.{consumer.name}", (f"consumer {consumer.name}", _consumer_text(consumer))
    if "roles" not in skipped:
        for role in blueprint.roles:
            yield f"roles.{role.name}", (f"role {role.name}", _role_text(role))
    if "alarms" not in skipped:
        for alarm in blueprint.alarms:
            yield f"alarms.{alarm.name}", (f"alarm {alarm.name}", _alarm_text(alarm))


_SETTINGS: Final = tuple(
    each.name
    for each in fields(TableBlueprint)
    if each.name not in ("said", "about", "types", "environments")
)


def _table_facts(table: TableBlueprint) -> Iterator[tuple[str, tuple[str, str]]]:
    for name in _SETTINGS:
        match name:
            case "regions":
                text = ", ".join(region.code for region in table.regions)
            case "backups":
                text = ", ".join(backup.kind for backup in table.backups)
            case _:
                value = getattr(table, name)
                text = "" if value in (None, "", {}, ()) else str(value)
        yield f"table.{name}", (f"{name.replace('_', ' ')} of the table", text)


def _index_text(index: IndexBlueprint) -> str:
    keys = ", ".join([*index.pk, *index.sk])
    included = f" {', '.join(index.included)}" if index.included else ""
    return f"{'local, ' if index.is_local else ''}{keys}; {index.projection}{included}"


def _entity_facts(entity: EntityBlueprint) -> Iterator[tuple[str, tuple[str, str]]]:
    here = f"entities.{entity.name}"
    yield here, (f"entity {entity.name}", "")
    for place in entity.places:
        where = "the table" if place.index is None else place.index
        yield _place_path(entity, place), (f"{entity.name} in {where}", _place_text(place))
    for each in entity.attributes:
        if each.name == entity.version:
            continue  # told as the optimistic lock
        title = f"{each.stored} of {entity.name}"
        yield f"{here}.attributes.{each.stored}", (title, _attribute_text(each))
    for unique in entity.uniques:
        title = f"uniqueness of {', '.join(unique.fields)} of {entity.name}"
        yield f"{here}.uniques.{unique.name}", (title, f"a lock {_plain(unique.template)}")
    for aggregate in entity.aggregates:
        title = f"{aggregate.field} of {entity.name}"
        of = f"{aggregate.of}.{aggregate.of_field}" if aggregate.of_field else aggregate.of
        text = f"{aggregate.kind} of {of}, by {aggregate.by}"
        yield f"{here}.aggregates.{_squeezed(aggregate.field)}", (title, text)
    for copy in entity.copies:
        title, text = f"{copy.field} of {entity.name}", f"copy of {copy.of}.{copy.of_field}, by {copy.by}"
        yield f"{here}.copies.{_squeezed(copy.field)}", (title, text)
    if entity.derived is not None:
        text = f"from {entity.derived.of}, by {entity.derived.by}"
        yield f"{here}.derived", (f"{entity.name}, derived", text)
    if entity.ttl is not None:
        text = _ttl_text(entity.ttl.stored, entity.ttl.seconds, entity.ttl.purpose)
        yield f"{here}.ttl", (f"expiry of {entity.name}", text)
    if entity.version is not None:
        yield f"{here}.version", (f"optimistic lock of {entity.name}", entity.version)


def _place_path(entity: EntityBlueprint, place: PlaceBlueprint) -> str:
    return f"entities.{entity.name}.places.{place.index or 'key'}"


def _place_text(place: PlaceBlueprint) -> str:
    keys = ", ".join(_key_text(key) for key in (place.pk, place.sk) if key is not None)
    return keys if place.when is None else f"{keys}, while {condition_sentence(place.when)}"


def _key_text(key: KeyBlueprint) -> str:
    if key.template is None:
        return " + ".join(key.attributes)
    return f"{' + '.join(key.attributes)} = {_plain(key.template)}"


_STORED: Final = {
    "int": "N", "float": "N", "Decimal": "N", "bool": "BOOL", "bytes": "B", "list": "L", "tuple": "L", "dict": "M",
    "str": "S", "datetime": "S", "date": "S", "set[str]": "SS", "set[int]": "NS", "set[Decimal]": "NS",
}  # fmt: skip


def _attribute_text(attribute: AttributeBlueprint) -> str:
    """Return what is stored of an attribute, as far as its type tells."""
    kind = attribute.type.partition(" |")[0].removesuffix("?")
    if kind.startswith(('"', "'")):
        return "S"
    if kind.lstrip("-").isdigit():
        return "N"
    return attribute.dynamodb or _STORED.get(kind) or _STORED.get(kind.partition("[")[0]) or "M"


def _ttl_text(stored: str, seconds: float | None, purpose: str) -> str:
    after = f" after {seconds / 86_400:g} days" if seconds is not None else ""
    return f"{stored or 'no attribute'}{after}{f', to {purpose}' if purpose not in ('', 'delete') else ''}"


def _pattern_text(pattern: PatternBlueprint, blueprint: Contents) -> str:
    reads = [_read_text(read, blueprint) for read in pattern.reads]
    writes = [f"{write.operation} {write.entity}" for write in pattern.writes]
    return "; ".join([*reads, *writes])


def _read_text(read: ReadBlueprint, blueprint: Contents) -> str:
    index = blueprint.index(read.index) if read.index else None
    pk = index.pk[0] if index is not None else blueprint.table.pk
    sk = next(iter(index.sk), None) if index is not None else blueprint.table.sk
    conditions = " AND ".join(map(_condition_text, read.key_conditions(pk, sk)))
    parts = [read.operation, read.index or "", conditions]
    if read.filter is not None:
        parts.append(f"filter {condition_sentence(read.filter)}")
    if read.order != "forward":
        parts.append(read.order)
    if read.limit is not None:
        parts.append(f"limit {read.limit}")
    return " ".join(filter(None, parts))


def _condition_text(condition: KeyCondition) -> str:
    values = " AND ".join(map(_plain, condition.templates))
    return f"{condition.attribute} {condition.operator} {values}"


def _consumer_text(consumer: ConsumerBlueprint) -> str:
    return ", ".join(sorted(handler.name for handler in consumer.handlers))


def _role_text(role: RoleBlueprint) -> str:
    return "; ".join(
        f"{statement.effect} {', '.join(statement.actions)} on {', '.join(statement.resources)}"
        for statement in role.statements
    )


def _alarm_text(alarm: AlarmBlueprint) -> str:
    return f"{alarm.metric} {alarm.comparison} {alarm.threshold}"


def _plain(template: str) -> str:
    return _PLACEHOLDER.sub(lambda part: f"{{{_squeezed(part[1])}{part[2]}}}", template)


def _squeezed(name: str) -> str:
    return name.replace("_", "").lower()
