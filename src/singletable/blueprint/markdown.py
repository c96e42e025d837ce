"""A blueprint for people: tables of keys and of access patterns, in Markdown, as design documents have them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from singletable.blueprint.contents import Contents
from singletable.blueprint.entities import (
    AttributeBlueprint,
    Condition,
    EntityBlueprint,
    KeyBlueprint,
    PlaceBlueprint,
)
from singletable.blueprint.patterns import PatternBlueprint, ReadBlueprint, SortBlueprint


def markdown(blueprint: Contents) -> str:
    """Write a blueprint as Markdown."""
    sections = [
        f"# {blueprint.name}",
        "## Table",
        "\n".join(f"- **{name}**: {value}" for name, value in _settings(blueprint)),
        *_index_section(blueprint),
        "## Entities",
        _table(_key_header(blueprint), _key_rows(blueprint)),
        *(_entity_section(entity) for entity in blueprint.entities),
        "## Access patterns",
        _table(["#", "pattern", "method", "operation", "index", "keys", "filter"], _pattern_rows(blueprint)),
        *_volume_section(blueprint),
    ]
    return "\n\n".join(sections) + "\n"


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in lines)


def _code(text: str | None) -> str:
    return f"`{text}`" if text else ""


# --- the table ------------------------------------------------------------------------------------------


def _settings(blueprint: Contents) -> Iterator[tuple[str, str]]:
    table = blueprint.table
    yield "Name", _code(table.name)
    yield "Partition key", f"{_code(table.pk)} ({table.types.get(table.pk, 'S')})"
    if table.sk is not None:
        yield "Sort key", f"{_code(table.sk)} ({table.types.get(table.sk, 'S')})"
    yield "Billing", table.billing if table.capacity is None else f"{table.billing}, {_units(table.capacity)}"
    yield "Encryption", table.encryption
    yield "Stream", table.stream or "none"
    yield "Time to live", _code(table.ttl) or "none"
    yield "Point-in-time recovery", "none" if table.pitr_days is None else f"{table.pitr_days} days"
    yield "Deletion protection", "on" if table.deletion_protection else "off"
    if table.tags:
        yield "Tags", ", ".join(f"{key}={value}" for key, value in table.tags.items())


def _units(capacity: Sequence[int]) -> str:
    return " / ".join(map(str, capacity))


def _index_section(blueprint: Contents) -> Iterator[str]:
    if not blueprint.indexes:
        return
    yield "## Indexes"
    rows = [
        [
            index.name,
            ", ".join(map(_code, index.pk)),
            ", ".join(map(_code, index.sk)),
            " ".join((index.projection, *index.included)),
        ]
        for index in blueprint.indexes
    ]
    yield _table(["index", "partition key", "sort key", "projection"], rows)


# --- entities -------------------------------------------------------------------------------------------


def _key_header(blueprint: Contents) -> list[str]:
    return ["entity", "table", *(index.name for index in blueprint.indexes)]


def _key_rows(blueprint: Contents) -> Iterator[list[str]]:
    places = [None, *(index.name for index in blueprint.indexes)]
    for entity in blueprint.entities:
        yield [entity.name, *(_place(entity.place(index)) for index in places)]


def _place(place: PlaceBlueprint | None) -> str:
    if place is None:
        return ""
    keys = " / ".join(_key(key) for key in (place.pk, place.sk) if key is not None)
    return f"{keys} while {condition_sentence(place.when)}" if place.when is not None else keys


def _key(key: KeyBlueprint) -> str:
    return _code(key.template) if key.template is not None else ", ".join(map(_code, key.attributes))


def _entity_section(entity: EntityBlueprint) -> str:
    attributes = _table(
        ["attribute", "stored as", "type", "default"],
        (
            [
                each.name,
                _code(each.stored),
                f"{each.alias or each.type}{', optional' if each.is_optional else ''}",
                default_text(each),
            ]
            for each in entity.attributes
        ),
    )
    notes = "\n".join(f"- {note}" for note in _notes(entity))
    return "\n\n".join(part for part in (f"### {entity.name}", attributes, notes) if part)


def default_text(attribute: AttributeBlueprint) -> str:
    """Write the default of a field: `0`, `list()`; an empty text for a required one."""
    match attribute.default:
        case {"value": value}:
            return _code(json.dumps(value, ensure_ascii=False) if value is not None else "None")
        case {"factory": factory}:
            return _code(f"{factory}()")
        case _:
            return ""


def _notes(entity: EntityBlueprint) -> Iterator[str]:
    for unique in entity.uniques:
        yield f"unique: {', '.join(unique.fields)} ({_code(unique.template)})"
    for aggregate in entity.aggregates:
        of = f"{aggregate.of}.{aggregate.of_field}" if aggregate.of_field else aggregate.of
        yield f"{aggregate.field} is the {aggregate.kind} of {of}, kept by {aggregate.by}"
    for attribute in entity.attributes:
        for marker in attribute.markers:
            if marker["kind"] == "Computed":
                sources = " and ".join(marker["fields"])
                yield f"{attribute.name} is worked out from {sources}, by {_code(marker['function'])}"
    for copy in entity.copies:
        yield f"{copy.field} repeats {copy.of}.{copy.of_field}, kept by {copy.by}"
    if entity.derived is not None:
        yield f"made from {entity.derived.of}, kept by {entity.derived.by}"
    if entity.was:
        yield f"may be stored as {', '.join(entity.was)} still"
    if entity.owns:
        yield f"owns {', '.join(entity.owns)}"
    if entity.ttl is not None:
        yield _expiry(entity)
    if entity.version is not None:
        yield f"{entity.version} counts the writes"


def _expiry(entity: EntityBlueprint) -> str:
    ttl = entity.ttl
    assert ttl is not None
    after = f" after {ttl.after}" if ttl.after else ""
    when = f" while {condition_sentence(ttl.when)}" if ttl.when is not None else ""
    span = "" if ttl.seconds is None else f", {ttl.seconds / 86400:g} days{after}{when}"
    return f"expires by {_code(ttl.stored)}{span}"


# --- patterns -------------------------------------------------------------------------------------------


def _pattern_rows(blueprint: Contents) -> Iterator[list[str]]:
    table = blueprint.table
    names = {index.name: (" + ".join(index.pk), " + ".join(index.sk)) for index in blueprint.indexes}
    for pattern in blueprint.patterns:
        for number, read in enumerate(pattern.reads):
            pk, sk = (table.pk, table.sk or "") if read.index is None else names.get(read.index, ("", ""))
            yield [
                *(_pattern_cells(pattern) if number == 0 else ["", "", "", ""]),
                read.index or "",
                _keys(read, pk, sk),
                "" if read.filter is None else _code(condition_sentence(read.filter)),
            ]
        for write in pattern.writes:
            said = " ".join([write.operation, write.entity, ", ".join(write.fields)]).strip()
            condition = "" if write.condition is None else _code(condition_sentence(write.condition))
            yield [*_pattern_cells(pattern), "", _code(said), condition]


def _pattern_cells(pattern: PatternBlueprint) -> list[str]:
    parameters = ", ".join(
        f"{each.name}{'?' if each.is_optional else ''}: {each.alias or each.type}"
        for each in pattern.parameters
    )
    return [pattern.number, pattern.title, _code(f"{pattern.method}({parameters})"), pattern.operation]


def keys_text(read: ReadBlueprint, pk: str, sk: str) -> str:
    """Write the conditions on keys of a read: those of a design that runs, or those that a document asks for."""
    if read.conditions or not read.pk:
        pairs = [(SortBlueprint(each.operator, each.templates), each.attribute) for each in read.conditions]
        return " AND ".join(sort_text(sort, attribute) for sort, attribute in pairs)
    text = f"{pk} = {read.pk}"
    return text if read.sort is None else f"{text} AND {sort_text(read.sort, sk)}"


def _keys(read: ReadBlueprint, pk: str, sk: str) -> str:
    text = keys_text(read, pk, sk)
    more = [f"x {read.count}"] if read.count > 1 else []
    more += ["newest first"] if read.order == "backward" else []
    more += [f"limit {read.limit}"] if read.limit is not None else []
    more += ["consistent"] if read.is_consistent else []
    more += [f"the lock of {read.lock}"] if read.lock is not None else []
    more += ["the item that the lock names"] if read.owner_of is not None else []
    more += [f"the items that {read.named_by} names"] if read.named_by is not None else []
    return ", ".join([_code(text), *more])


def sort_text(sort: SortBlueprint, name: str) -> str:
    """Write the condition on a sort key as documents do."""
    match sort.operator, sort.templates:
        case "begins_with", (template,):
            return f"begins_with({name}, {template})"
        case "BETWEEN", (first, last):
            return f"{name} BETWEEN {first} AND {last}"
        case operator, (template,):
            return f"{name} {operator} {template}"
        case operator, templates:
            signs = operator.split(" AND ")
            return " AND ".join(f"{name} {sign} {each}" for sign, each in zip(signs, templates, strict=False))


def condition_sentence(condition: Condition) -> str:
    """Write a condition as a reader of a design would."""
    operator, field = condition.get("operator"), condition.get("field")
    match operator:
        case "and" | "or":
            return "(" + f" {operator} ".join(map(condition_sentence, condition["conditions"])) + ")"
        case "not":
            return f"not {condition_sentence(condition['condition'])}"
        case "exists":
            return f"{field} exists"
        case _:
            return f"{field} {operator} {_value(condition)}"


def _value(condition: Condition) -> str:
    if "parameter" in condition:
        return f"{{{condition['parameter']}}}"
    if "values" in condition:
        return f"({', '.join(map(str, condition['values']))})"
    return str(condition.get("value"))


def _volume_section(blueprint: Contents) -> Iterator[str]:
    if blueprint.volumes:
        yield "## Volumes"
        rows = [[each.entity, f"{each.count:g}", f"{each.kb:g}"] for each in blueprint.volumes]
        yield _table(["entity", "items", "KB each"], rows)
    if blueprint.rates:
        yield "## Writes a second"
        rates = [
            [each.entity, f"{each.creates:g}", f"{each.updates:g}", f"{each.deletes:g}"]
            for each in blueprint.rates
        ]
        yield _table(["entity", "creates", "updates", "deletes"], rates)
