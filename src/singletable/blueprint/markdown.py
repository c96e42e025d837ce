"""A blueprint for people: tables of keys and of access patterns, in Markdown, as design documents have them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from singletable.blueprint.contents import Contents
from singletable.blueprint.entities import (
    AggregateBlueprint,
    AttributeBlueprint,
    Condition,
    CopyBlueprint,
    DerivedBlueprint,
    EntityBlueprint,
    KeyBlueprint,
    ModelBlueprint,
    PlaceBlueprint,
    TtlBlueprint,
    UniqueBlueprint,
)
from singletable.blueprint.markdown_around import around, names_text, together, write_text
from singletable.blueprint.markdown_text import amount, bullets, cited, code, joined, table
from singletable.blueprint.patterns import PatternBlueprint, ReadBlueprint, SortBlueprint
from singletable.blueprint.tables import TableBlueprint


def markdown(blueprint: Contents) -> str:
    """Write a blueprint as Markdown."""
    sections = [
        f"# {blueprint.name}",
        blueprint.about,
        "\n".join(f"- **{name}**: {value}" for name, value in _whole(blueprint)),
        "## Table",
        blueprint.table.about,
        "\n".join(f"- **{name}**: {value}" for name, value in _settings(blueprint)),
        *_index_section(blueprint),
        "## Entities",
        table(_key_header(blueprint), _key_rows(blueprint)),
        *(_entity_section(entity) for entity in blueprint.entities),
        "## Access patterns",
        table(["#", "pattern", "method", "operation", "index", "keys", "filter"], _pattern_rows(blueprint)),
        bullets(_pattern_notes(blueprint)),
        *around(blueprint),
    ]
    return "\n\n".join(filter(None, sections)) + "\n"


def _whole(blueprint: Contents) -> Iterator[tuple[str, str]]:
    if blueprint.users is not None:
        yield "Users", amount(blueprint.users)
    if blueprint.targets:
        yield "Targets", ", ".join(blueprint.targets)
    if blueprint.discriminator is not None:
        yield "Names the entity of an item", code(blueprint.discriminator)
    if blueprint.said:
        yield "Said in", cited(blueprint.said)


# --- the table ------------------------------------------------------------------------------------------


def _settings(blueprint: Contents) -> Iterator[tuple[str, str]]:
    table = blueprint.table
    yield "Name", code(table.name)
    yield "Partition key", f"{code(table.pk)} ({table.types.get(table.pk, 'S')})"
    if table.sk is not None:
        yield "Sort key", f"{code(table.sk)} ({table.types.get(table.sk, 'S')})"
    yield "Billing", table.billing if table.capacity is None else f"{table.billing}, {_units(table.capacity)}"
    yield "Encryption", joined((table.encryption, code(table.key)))
    yield "Stream", table.stream or "none"
    yield "Time to live", code(table.ttl) or "none"
    yield "Point-in-time recovery", "none" if table.pitr_days is None else f"{table.pitr_days} days"
    yield "Deletion protection", "on" if table.deletion_protection else "off"
    if table.tags:
        yield "Tags", ", ".join(f"{key}={value}" for key, value in table.tags.items())
    yield from _more_settings(table)


def _more_settings(table: TableBlueprint) -> Iterator[tuple[str, str]]:
    if table.table_class != "STANDARD":
        yield "Class", table.table_class
    if table.contributor_insights:
        yield "Contributor insights", "on"
    for way, limits in table.scaling.items():
        yield f"Scaling of {way}s", " / ".join(map(amount, limits))
    for name, values in table.environments.items():
        yield f"Values of {code(f'{{{name}}}')}", ", ".join(values)
    for region in table.regions:
        facts = (region.place, "replica" if region.is_replica else "", cited(region.said))
        yield "Region", joined((region.code, *facts))
    for backup in table.backups:
        kept = "" if backup.keep_days is None else f"kept {amount(backup.keep_days)} days"
        every = "" if backup.every_days is None else f"every {amount(backup.every_days)} days"
        where = f"in {', '.join(backup.environments)}" if backup.environments else ""
        yield "Backup", joined((backup.kind, every, kept, where, backup.about, cited(backup.said)))
    if table.said:
        yield "Said in", cited(table.said)


def _units(capacity: Sequence[int]) -> str:
    return " / ".join(map(str, capacity))


def _index_section(blueprint: Contents) -> Iterator[str]:
    if not blueprint.indexes:
        return
    yield "## Indexes"
    rows = [
        [
            index.name,
            ", ".join(map(code, index.pk)),
            ", ".join(map(code, index.sk)),
            " ".join((index.projection, *index.included)),
            "local" if index.is_local else "",
            "" if index.capacity is None else _units(index.capacity),
            joined((index.about, *index.uses)),
            cited(index.said),
        ]
        for index in blueprint.indexes
    ]
    yield table(["index", "partition key", "sort key", "projection", "kind", "units", "for", "said in"], rows)
    held = [
        [index.name, place.name, _place(place), place.about, cited(place.said)]
        for index in blueprint.indexes
        for place in index.holds
    ]
    if held:
        yield table(["index", "holds", "keys", "about", "said in"], held)


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
    return code(key.template) if key.template is not None else ", ".join(map(code, key.attributes))


def _entity_section(entity: EntityBlueprint) -> str:
    parts = [
        f"### {entity.name}",
        entity.about,
        _attributes(entity.attributes),
        *(_model(model) for model in entity.models),
        bullets([*_standing(entity), *_kept(entity)]),
    ]
    return "\n\n".join(filter(None, parts))


def _attributes(attributes: Sequence[AttributeBlueprint]) -> str:
    rows = [
        [
            each.name,
            code(each.stored),
            f"{each.alias or each.type}{', optional' if each.is_optional else ''}",
            default_text(each),
            joined(_attribute_notes(each)),
            cited(each.said),
        ]
        for each in attributes
    ]
    return table(["attribute", "stored as", "type", "default", "notes", "said in"], rows) if rows else ""


def _attribute_notes(each: AttributeBlueprint) -> Iterator[str]:
    yield each.about
    yield each.format
    yield f"one of {_values(each.values)}" if each.values else ""
    for sign, bound in (("at least", each.minimum), ("at most", each.maximum)):
        yield "" if bound is None else f"{sign} {amount(bound)}"
    yield "" if each.max_length is None else f"at most {each.max_length} characters"
    yield "" if each.max_items is None else f"at most {each.max_items} members"
    yield "grows" if each.grows else ""
    yield "never changes" if each.is_immutable else ""
    yield "unique" if each.is_unique else ""
    yield "" if each.updates_per_month is None else f"{amount(each.updates_per_month)} updates a month"
    yield "" if each.size_bytes is None else f"about {amount(each.size_bytes)} bytes"
    yield f"as {_values(each.samples)}" if each.samples else ""


def _values(values: Sequence[object]) -> str:
    return ", ".join(code(json.dumps(value, ensure_ascii=False)) for value in values)


def _model(model: ModelBlueprint) -> str:
    values = f": one of {_values(model.values)}" if model.values else ""
    said = f" ({cited(model.said)})" if model.said else ""
    return "\n\n".join(filter(None, (f"**{model.name}**{values}{said}", _attributes(model.attributes))))


def default_text(attribute: AttributeBlueprint) -> str:
    """Write the default of a field: `0`, `list()`; an empty text for a required one."""
    match attribute.default:
        case {"value": value}:
            return code(json.dumps(value, ensure_ascii=False) if value is not None else "None")
        case {"factory": factory}:
            return code(f"{factory}()")
        case _:
            return ""


def _standing(entity: EntityBlueprint) -> Iterator[str]:
    if entity.said:
        yield f"said in {cited(entity.said)}"
    if entity.is_optional:
        yield "left open whether it is built"
    if entity.owner is not None:
        yield f"belongs to {entity.owner}"
    for place in entity.places:
        where = place.index or "the table"
        if found := joined((place.about, cited(place.said))):
            yield f"in {where}: {found}"


def _at(part: UniqueBlueprint | AggregateBlueprint | CopyBlueprint | DerivedBlueprint | TtlBlueprint) -> str:
    return f" ({cited(part.said)})" if part.said else ""


def _kept(entity: EntityBlueprint) -> Iterator[str]:
    for unique in entity.uniques:
        yield f"unique: {', '.join(unique.fields)} ({code(unique.template)}){_at(unique)}"
    for aggregate in entity.aggregates:
        of = f"{aggregate.of}.{aggregate.of_field}" if aggregate.of_field else aggregate.of
        yield f"{aggregate.field} is the {aggregate.kind} of {of}, kept by {aggregate.by}{_at(aggregate)}"
    for attribute in entity.attributes:
        for marker in attribute.markers:
            if marker["kind"] == "Computed":
                sources = " and ".join(marker["fields"])
                yield f"{attribute.name} is worked out from {sources}, by {code(marker['function'])}"
    for copy in entity.copies:
        yield f"{copy.field} repeats {copy.of}.{copy.of_field}, kept by {copy.by}{_at(copy)}"
    if entity.derived is not None:
        yield f"made from {entity.derived.of}, kept by {entity.derived.by}{_at(entity.derived)}"
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
    purpose = f", to {ttl.purpose}" if ttl.purpose else ""
    return f"expires by {code(ttl.stored)}{span}{purpose}{_at(ttl)}"


# --- patterns -------------------------------------------------------------------------------------------


def _pattern_rows(blueprint: Contents) -> Iterator[list[str]]:
    table = blueprint.table
    names = {index.name: (" + ".join(index.pk), " + ".join(index.sk)) for index in blueprint.indexes}
    for pattern in blueprint.patterns:
        for number, read in enumerate(pattern.reads):
            pk, sk = (table.pk, table.sk or "") if read.index is None else names.get(read.index, ("", ""))
            yield [
                *(_pattern_cells(pattern) if number == 0 else [""] * 4),
                read.index or "",
                _keys(read, pk, sk),
                "" if read.filter is None else code(condition_sentence(read.filter)),
            ]
        for number, write in enumerate(pattern.writes, start=len(pattern.reads)):
            said = " ".join([write.operation, write.entity, ", ".join(write.fields)]).strip()
            condition = "" if write.condition is None else code(condition_sentence(write.condition))
            cells = _pattern_cells(pattern) if number == 0 else [""] * 4
            yield [*cells, "", code(said), condition]


def _pattern_notes(blueprint: Contents) -> Iterator[str]:
    """Return what a row has no place for: the words of a document, what is meant and expected, expressions."""
    for pattern in blueprint.patterns:
        notes = [
            pattern.about,
            f"documented as {code(pattern.documented)}" if pattern.documented else "",
            *together(pattern),
            "" if pattern.cached_s is None else f"cached for {amount(pattern.cached_s)} s",
            *(note for read in pattern.reads for note in _read_notes(read)),
            *(
                write_text(write)
                for write in pattern.writes
                if write.key or write.update_expression or write.said
            ),
            cited(pattern.said),
        ]
        if found := joined(notes):
            yield f"**{pattern.number}**: {found}"


def _read_notes(read: ReadBlueprint) -> Iterator[str]:
    if read.means is not None:
        yield " ".join(filter(None, (read.means.first or "ordered", "first by", read.means.by)))
    yield f"projects {', '.join(read.projection)}" if read.projection else ""
    yield code(read.key_expression)
    yield f"filter {code(read.filter_expression)}" if read.filter_expression else ""
    yield f"projection {code(read.projection_expression)}" if read.projection_expression else ""
    yield names_text(read.names)
    if read.is_paged is not None:
        yield "reads every page" if read.is_paged else "reads one page"
    if read.returned is not None:
        of = "" if read.examined is None else f" of {amount(read.examined)} that are read"
        yield f"{amount(read.returned)} items{of}"
    yield cited((*read.said, *(read.means.said if read.means is not None else ())))


def _pattern_cells(pattern: PatternBlueprint) -> list[str]:
    parameters = ", ".join(
        f"{each.name}{'?' if each.is_optional else ''}: {each.alias or each.type}"
        for each in pattern.parameters
    )
    return [pattern.number, pattern.title, code(f"{pattern.method}({parameters})"), pattern.operation]


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
    return ", ".join([code(text), *more])


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
