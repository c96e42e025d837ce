"""What differs between two blueprints, part by part, and why: by the fixes that the second one names.

Parts are found again by their names: an entity, an attribute by its stored name, a place by its index, a pattern
by its number. How a part was described does not count: where it was said, samples and remarks are no differences,
an attribute is what is stored of it, a placeholder is the attribute that fills it, `{userId}` and
`{user_id}` are the same, and an entity that a document names and gives no key is none yet.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Final, Literal

from singletable.blueprint.contents import Contents, FixBlueprint, VolumeBlueprint
from singletable.blueprint.entities import (
    AttributeBlueprint,
    EntityBlueprint,
    KeyBlueprint,
    KeyPart,
    PlaceBlueprint,
    TtlBlueprint,
)
from singletable.blueprint.markdown import condition_sentence
from singletable.blueprint.patterns import KeyCondition, PatternBlueprint, ReadBlueprint
from singletable.blueprint.surroundings import AlarmBlueprint, ConsumerBlueprint, RoleBlueprint
from singletable.blueprint.tables import BackupBlueprint, IndexBlueprint, RegionBlueprint, TableBlueprint

_PLACEHOLDER: Final = re.compile(r"\{(\w+)([^}]*)\}")
_FIX: Final = re.compile(r"[A-Z]+-\d+")
_COMPARED_WHERE_BOTH_HAVE: Final = ("volumes", "consumers", "roles", "alarms")

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
    """All differences; new fixes that no difference shows; and what only one of the two says anything about."""

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
                why = tuple(_reasons(after, known))
                parts.append(BlueprintDifference(kind, path, now[0] or was[0], was[1], now[1], why))
    seen = {fix.id for part in parts for fix in part.fixes} | {fix.id for fix in before.fixes}
    unseen = tuple(fix for fix in after.fixes if fix.id not in seen)
    return BlueprintDifferences(tuple(parts), unseen, tuple(skipped))


def _reasons(after: Contents, paths: set[str]) -> Iterator[FixBlueprint]:
    """Return the fixes that name a part by one of its paths, and those that a pattern names itself."""
    named = {
        found
        for pattern in after.patterns
        if _pattern_path(pattern) in paths
        for found in _FIX.findall(pattern.fixes)
    }
    for fix in after.fixes:
        if fix.id in named or any(_covers(part, path) for part in fix.parts for path in paths):
            yield fix


def _compared(path: str, text: str) -> str:
    """Return what counts of a line: in patterns, placeholders are named by their callers, as they like."""
    if path.startswith("patterns."):
        return _PLACEHOLDER.sub("{}", text)
    if path.startswith("entities.") and path.count(".") == 1:
        return ""  # an entity that both have: its parts tell
    return _PLACEHOLDER.sub(lambda part: f"{{{_squeezed(part[1])}{part[2]}}}", text)


def _is_inside_new(path: str, other: Facts) -> bool:
    """Tell whether a part is inside of an entity that is new or gone as a whole: that one says it."""
    section, _, inside = path.partition(".")
    name, _, inner = inside.partition(".")
    return (
        section == "volumes" or (section == "entities" and inner != "")
    ) and f"entities.{name}" not in other


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
        for aggregate in entity.aggregates:
            path = f"entities.{entity.name}.aggregates."
            found[path + _squeezed(aggregate.field)] = path + aggregate.field
        for copy in entity.copies:
            path = f"entities.{entity.name}.copies."
            found[path + _squeezed(copy.field)] = path + copy.field
    return found


# --- facts: what is compared, a line for each part ------------------------------------------------------


def _facts(blueprint: Contents, skipped: Sequence[str]) -> Iterator[tuple[str, tuple[str, str]]]:
    yield from _table_facts(blueprint.table)
    yield "discriminator", ("attribute that tells what an item is", blueprint.discriminator or "")
    for index in blueprint.indexes:
        yield f"indexes.{index.name}", (f"index {index.name}", _index_text(index))
    for entity in blueprint.entities:
        if entity.places:
            yield from _entity_facts(entity)
    for pattern in blueprint.patterns:
        title = f"pattern {pattern.number}, {pattern.title}"
        yield _pattern_path(pattern), (title, _pattern_text(pattern, blueprint))
    for rule in blueprint.ttl_rules:
        path = f"entities.{rule.of}.ttl" if blueprint.entity(rule.of) else f"ttl_rules.{rule.of}"
        yield path, (f"expiry of {rule.of}", _ttl_text(rule.rule))
    if "volumes" not in skipped:
        for volume in blueprint.volumes:
            yield f"volumes.{volume.entity}", (f"items of {volume.entity}", _volume_text(volume))
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
                text = ", ".join(map(_region_text, table.regions))
            case "backups":
                text = ", ".join(filter(None, map(_backup_text, table.backups)))
            case _:
                value = getattr(table, name)
                text = "" if value in (None, "", {}, ()) else str(value)
        yield f"table.{name}", (f"{name.replace('_', ' ')} of the table", text)


def _region_text(region: RegionBlueprint) -> str:
    return f"{region.code} ({region.place})" if region.place else region.code


def _backup_text(backup: BackupBlueprint) -> str:
    """Return what is backed up beside recovery to a point in time, which the days of it tell."""
    if backup.kind in ("none", "pitr"):
        return ""
    every = f" every {_days_text(backup.every_days)}" if backup.every_days else ""
    return f"{backup.kind}{every}{f', kept {_days_text(backup.keep_days)}' if backup.keep_days else ''}"


def _days_text(days: float) -> str:
    return "1 day" if days == 1 else f"{days:g} days"


def _volume_text(volume: VolumeBlueprint) -> str:
    return f"{volume.count:g} of {volume.kb:g} KB{f' for each {volume.per}' if volume.per else ''}"


def _index_text(index: IndexBlueprint) -> str:
    keys = ", ".join([*index.pk, *index.sk])
    included = f" {', '.join(index.included)}" if index.included else ""
    return f"{'local, ' if index.is_local else ''}{keys}; {index.projection}{included}"


def _entity_facts(entity: EntityBlueprint) -> Iterator[tuple[str, tuple[str, str]]]:
    here = f"entities.{entity.name}"
    yield here, (f"entity {entity.name}", _place_text(entity, entity.places[0]))
    for place in entity.places:
        where = "the table" if place.index is None else place.index
        yield _place_path(entity, place), (f"{entity.name} in {where}", _place_text(entity, place))
    for each in entity.attributes:
        if each.name == entity.version:
            continue  # told as the optimistic lock
        title = f"{each.stored} of {entity.name}"
        is_ttl = entity.ttl is not None and entity.ttl.stored == each.stored
        yield f"{here}.attributes.{each.stored}", (title, "N" if is_ttl else _attribute_text(each))
    for unique in entity.uniques:
        title = f"uniqueness of {', '.join(unique.fields)} of {entity.name}"
        yield f"{here}.uniques.{unique.name}", (title, f"a lock {unique.template}")
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
        yield f"{here}.ttl", (f"expiry of {entity.name}", _ttl_text(entity.ttl))
    if entity.version is not None:
        yield f"{here}.version", (f"optimistic lock of {entity.name}", entity.version)
    if entity.schema_version is not None:
        yield f"{here}.schema_version", (f"schema version of {entity.name}", str(entity.schema_version))
    if entity.owns:
        yield f"{here}.owns", (f"what is deleted with a {entity.name}", ", ".join(entity.owns))


def _place_path(entity: EntityBlueprint, place: PlaceBlueprint) -> str:
    return f"entities.{entity.name}.places.{place.index or 'key'}"


def _place_text(entity: EntityBlueprint, place: PlaceBlueprint) -> str:
    stored = {each.name: each.stored for each in entity.attributes}
    keys = ", ".join(_key_text(key, stored) for key in (place.pk, place.sk) if key is not None)
    return keys if place.when is None else f"{keys}, while {condition_sentence(place.when)}"


def _key_text(key: KeyBlueprint, stored: Mapping[str, str]) -> str:
    if key.template is None:
        return " + ".join(key.attributes)
    parts = {part.name: part for part in key.parts}
    text = _PLACEHOLDER.sub(lambda found: _filled(found, parts.get(found[1]), stored), key.template)
    return f"{' + '.join(key.attributes)} = {text}"


def _filled(placeholder: re.Match[str], part: KeyPart | None, stored: Mapping[str, str]) -> str:
    """Return a placeholder by the attribute that fills it, or what is worked out of that."""
    if part is None or part.shards is not None or part.letters is not None:
        return placeholder[0]
    bucket = f" by {part.bucket}" if part.bucket else ""
    return f"{{{stored.get(part.field, part.field)}{bucket}{placeholder[2]}}}"


_STORED: Final = {
    "int": "N", "float": "N", "Decimal": "N", "bool": "BOOL", "bytes": "B", "list": "L", "tuple": "L", "dict": "M",
    "str": "S", "datetime": "S", "date": "S", "set[str]": "SS", "set[int]": "NS", "set[Decimal]": "NS",
}  # fmt: skip


def _attribute_text(attribute: AttributeBlueprint) -> str:
    """Return what is stored of an attribute, as far as its type tells."""
    if any(marker["kind"] == "Compressed" for marker in attribute.markers):
        return "B"
    kind = attribute.type.partition(" |")[0].removesuffix("?")
    if kind.startswith(('"', "'")):
        return "S"
    if kind.lstrip("-").isdigit():
        return "N"
    said = attribute.dynamodb if attribute.dynamodb != "NULL" else None  # of a sample without a value
    return said or _STORED.get(kind) or _STORED.get(kind.partition("[")[0]) or "M"


def _ttl_text(ttl: TtlBlueprint) -> str:
    after = f" after {_days_text(ttl.seconds / 86_400)}" if ttl.seconds is not None else ""
    purpose = "" if ttl.purpose in ("", "delete", "cache") else f", to {ttl.purpose}"
    return f"{ttl.stored or 'no attribute'}{after}{purpose}"


def _pattern_path(pattern: PatternBlueprint) -> str:
    return f"patterns.{pattern.number or pattern.title}"


def _pattern_text(pattern: PatternBlueprint, blueprint: Contents) -> str:
    reads = [_read_text(read, blueprint) for read in pattern.reads]
    writes = [f"{write.operation} {write.entity}" for write in pattern.writes]
    return "; ".join([*reads, *writes])


def _read_text(read: ReadBlueprint, blueprint: Contents) -> str:
    index = blueprint.index(read.index) if read.index else None
    pk = index.pk[0] if index is not None else blueprint.table.pk
    sk = next(iter(index.sk), None) if index is not None else blueprint.table.sk
    conditions = " AND ".join(map(_condition_text, read.key_conditions(pk, sk)))
    parts = [read.operation, read.index or "", conditions, _within_text(read)]
    if read.filter is not None:
        parts.append(f"filter {condition_sentence(read.filter)}")
    if read.order != "forward":
        parts.append(read.order)
    if read.limit is not None:
        parts.append(f"limit {read.limit}")
    return " ".join(filter(None, parts))


def _within_text(read: ReadBlueprint) -> str:
    """Return the prefix that a range does not leave, where its own condition does not say so."""
    is_open = read.sort is not None and read.sort.operator in ("<", "<=", ">", ">=")
    return f"within {read.sort.within}" if is_open and read.sort is not None and read.sort.within else ""


def _condition_text(condition: KeyCondition) -> str:
    return f"{condition.attribute} {condition.operator} {' AND '.join(condition.templates)}"


def _consumer_text(consumer: ConsumerBlueprint) -> str:
    return ", ".join(sorted(handler.name for handler in consumer.handlers))


def _role_text(role: RoleBlueprint) -> str:
    return "; ".join(
        f"{statement.effect} {', '.join(statement.actions)} on {', '.join(statement.resources)}"
        for statement in role.statements
    )


def _alarm_text(alarm: AlarmBlueprint) -> str:
    if alarm.threshold is None:
        return alarm.metric
    unit = {"Percent": "%", "Milliseconds": " ms"}.get(alarm.unit, f" {alarm.unit}" if alarm.unit else "")
    statistic = f"{alarm.statistic} of " if alarm.statistic else ""
    return f"{statistic}{alarm.metric} {alarm.comparison} {alarm.threshold:g}{unit}"


def _squeezed(name: str) -> str:
    return name.replace("_", "").lower()
