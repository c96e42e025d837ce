"""Facets of NoSQL Workbench as entities, and entities as facets.

The aliases of a facet are templates, if they have placeholders (USER#<userId>); otherwise its rows reveal them. A
key of an index has no alias: rows reveal it; where they cannot, a row that holds the templates themselves does.
Two spellings are for what would be read otherwise: "PROFILE" in quotes is constant, and [email] in brackets is the
attribute as it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from singletable.blueprint.entities import (
    AttributeBlueprint,
    EntityBlueprint,
    KeyBlueprint,
    PlaceBlueprint,
)
from singletable.blueprint.foreign.items import plain_item, python_type, stored_type, typed_item
from singletable.blueprint.foreign.nodes import Node
from singletable.blueprint.foreign.revealed import (
    SEPARATOR,
    Row,
    Used,
    has_placeholder,
    is_key_name,
    revealed,
    spelled,
    template_of,
    words_as_template,
)
from singletable.blueprint.tables import IndexBlueprint


@dataclass(frozen=True, slots=True)
class Shape:
    """What a facet is read with: the keys of table and indexes, types, formats."""

    pk: str
    sk: str | None
    types: Mapping[str, str] = field(default_factory=dict)
    formats: Mapping[str, str] = field(default_factory=dict)
    indexes: tuple[IndexBlueprint, ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        return (self.pk,) if self.sk is None else (self.pk, self.sk)

    @property
    def all_keys(self) -> frozenset[str]:
        return frozenset((*self.keys, *(each for index in self.indexes for each in (*index.pk, *index.sk))))


@dataclass(frozen=True, slots=True)
class Facet:
    """A facet: its name, the spelling of its keys, its attributes, and rows in plain JSON with their types."""

    name: str
    aliases: tuple[str | None, ...]
    attributes: tuple[str, ...]
    rows: tuple[Row, ...]
    types: Mapping[str, str] = field(default_factory=dict)


def entity_of(facet: Facet, shape: Shape, named_by: str | None = None) -> EntityBlueprint:
    shown = [row for row in facet.rows if _is_template(row, shape)]
    samples = [row for row in facet.rows if not _is_template(row, shape)]
    keys: dict[str, str | None] = {}
    used: Used = {}
    for attribute, alias in zip(shape.keys, facet.aliases, strict=False):
        keys[attribute], used = _table_key(attribute, alias, shown, samples, used)
    known = {*facet.attributes, *shape.keys, *(name for row in facet.rows for name in row)}
    places = [_place("table", None, (shape.pk,), (shape.sk,) if shape.sk is not None else (), keys)]
    for index in shape.indexes:
        attributes = (*index.pk, *index.sk)
        if known.issuperset(attributes):
            for each in attributes:
                if each not in keys:
                    keys[each], used = _index_key(each, shown, samples, used)
            places.append(_place(index.name, index.name, index.pk, index.sk, keys))
    # What holds a template is no field; what is a key as it is, is one.
    fields = [
        *(name for name, template in keys.items() if template is None),
        *facet.attributes,
        *(name for row in facet.rows for name in row),
    ]
    # Rows tell more than what is said of the whole table, but for keys and for what is null in all rows.
    rows_say = {name: kind for name, kind in facet.types.items() if kind != "NULL" and name not in shape.keys}
    types = {**facet.types, **shape.types, **rows_say}
    value = samples[0].get(named_by) if samples and named_by is not None else None
    return EntityBlueprint(
        name=facet.name,
        discriminator=value if isinstance(value, str) else facet.name,
        attributes=tuple(
            AttributeBlueprint(
                name, name, python_type(types.get(name, "S"), [row.get(name) for row in samples]),
                dynamodb=types.get(name, "S"), format=shape.formats.get(name, ""),
            )
            for name in dict.fromkeys(fields)
            if keys.get(name) is None
        ),
        places=tuple(places),
        samples=tuple(samples),
    )  # fmt: skip


def _place(
    name: str,
    index: str | None,
    pk: tuple[str, ...],
    sk: tuple[str, ...],
    keys: Mapping[str, str | None],
) -> PlaceBlueprint:
    return PlaceBlueprint(
        name,
        KeyBlueprint(pk, keys[pk[0]]),
        KeyBlueprint(sk, keys[sk[0]]) if sk else None,
        index,
    )


def _is_template(row: Row, shape: Shape) -> bool:
    """Tell whether a row shows the templates of keys, and is no sample."""
    values = ((name, row.get(name)) for name in shape.all_keys)
    return any(
        isinstance(value, str) and (value == _itself(name) or ("<" in value and has_placeholder(value)))
        for name, value in values
    )


def _itself(attribute: str) -> str:
    """Return how an alias says that the key is the attribute as it is."""
    return f"[{attribute}]"


def _table_key(
    attribute: str, alias: str | None, shown: Sequence[Row], samples: Sequence[Row], used: Used
) -> tuple[str | None, Used]:
    if alias == _itself(attribute):
        return None, used
    if alias is not None and len(alias) > 1 and alias[0] == alias[-1] == '"':
        return alias[1:-1], used
    if alias is not None and has_placeholder(alias):
        return template_of(alias), used
    if shown and isinstance(shown[0].get(attribute), str):
        return _shown_key(attribute, shown[0]), used
    word = None if alias == attribute else alias
    found, used = revealed(attribute, samples, used, names=() if word is None else word.split(SEPARATOR))
    return words_as_template(word) if found is None and word is not None else found, used


def _index_key(
    attribute: str, shown: Sequence[Row], samples: Sequence[Row], used: Used
) -> tuple[str | None, Used]:
    if shown and isinstance(shown[0].get(attribute), str):
        return _shown_key(attribute, shown[0]), used
    found, more = revealed(attribute, samples, used)
    is_template = found is not None and (SEPARATOR in found or is_key_name(attribute))
    return (found, more) if is_template else (None, used)


def _shown_key(attribute: str, row: Row) -> str | None:
    value = row[attribute]
    return None if value == _itself(attribute) else template_of(value)


def types_of(rows: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """Return the type that each attribute has in the first row where it is not null."""
    found: dict[str, str] = {}
    for kinds in rows:
        for name, kind in kinds.items():
            if found.get(name, "NULL") == "NULL":
                found[name] = kind
    return found


# --- out ------------------------------------------------------------------------------------------------


def written_facet(
    entity: EntityBlueprint, shape: Shape, named_by: str | None, notes: list[str]
) -> dict[str, Any]:
    """Write a facet in the spelling that is read as the same keys, with a row of templates if it needs one."""
    types = {each.stored: stored_type(each, entity.models) for each in entity.attributes}
    types.update({name: shape.types[name] for name in shape.keys})
    rows: list[dict[str, Any]] = []
    for sample in entity.samples:
        typed, refused = typed_item(sample, types)
        notes += [
            f"A sample of {entity.name} has a value in {each!r} that DynamoDB cannot hold."
            for each in refused
        ]
        rows.append(typed)
    wanted = dict(_wanted_keys(entity, shape, notes))
    keys = dict.fromkeys(name for name, _ in wanted.values())
    attributes = dict.fromkeys([*keys, *(each.stored for each in entity.attributes)])
    listed = tuple(name for name in attributes if name not in shape.keys)
    read = [plain_item(Node(row, (), lambda _: None)) for row in rows]
    plain = tuple(item for item, _, _ in read)
    kinds = types_of(kinds for _, kinds, _ in read)
    shown = _template_row(wanted, shape)
    choices = [(spelling, row) for spelling in _spellings(wanted, shape) for row in ((), (shown,))]

    def read_back(spelling: tuple[str, ...], row: tuple[Row, ...]) -> EntityBlueprint:
        return entity_of(Facet(entity.name, spelling, listed, (*row, *plain), kinds), shape, named_by)

    # The first that is read as what it is to say; if none is, the plainest.
    said = (choice for choice in choices if _has_keys(read_back(*choice), wanted))
    spelling, row = next(said, choices[0])
    back = read_back(spelling, row)
    notes += _differences(entity, back, wanted)
    return {
        "FacetName": entity.name,
        "KeyAttributeAlias": dict(zip(("PartitionKeyAlias", "SortKeyAlias"), spelling, strict=False)),
        "TableData": [
            *({name: {shape.types[name]: value} for name, value in each.items()} for each in row),
            *rows,
        ],
        "NonKeyAttributes": list(listed),
        "DataAccess": {"MySql": {}},
    }


# The key of a place: the index, and which of its keys; and what it is to be: an attribute and its template.
_Wanted = Mapping[tuple[str | None, str], tuple[str, str | None]]


def _wanted_keys(
    entity: EntityBlueprint, shape: Shape, notes: list[str]
) -> Iterator[tuple[tuple[str | None, str], tuple[str, str | None]]]:
    indexes: dict[str | None, tuple[str, ...]] = {each.name: (*each.pk, *each.sk) for each in shape.indexes}
    indexes[None] = shape.keys
    seen: set[str | None] = set()
    for place in entity.places:
        where = "the table" if place.index is None else f"the index {place.index!r}"
        if place.index not in indexes or place.index in seen:
            notes.append(f"{entity.name} is in {where} as {place.name!r}, which a model does not hold.")
            continue
        seen.add(place.index)
        given = (place.pk, *((place.sk,) if place.sk is not None else ()))
        attributes = indexes[place.index]
        if len(given) != len(attributes):
            notes.append(
                f"{entity.name} has {len(given)} keys in {where}, and {where} has {len(attributes)}."
            )
        for role, key, attribute in zip(("pk", "sk"), given, attributes, strict=False):
            yield (place.index, role), (attribute, key.template)


def _spellings(wanted: _Wanted, shape: Shape) -> Iterator[tuple[str, ...]]:
    """Yield ways to write the keys in the table, the plainest first."""
    choices: list[list[str]] = []
    for role, attribute in zip(("pk", "sk"), shape.keys, strict=False):
        template = wanted.get((None, role), (attribute, None))[1]
        if template is None:
            choices.append([attribute, _itself(attribute)])
        else:
            text = spelled(template)
            choices.append(list(dict.fromkeys([text, template, f'"{template}"'])))
    yield from product(*choices)


def _template_row(wanted: _Wanted, shape: Shape) -> dict[str, str]:
    """Return the row that shows the templates of all keys; keys of numbers are as they are."""
    row: dict[str, str] = {}
    for attribute, template in wanted.values():
        if shape.types.get(attribute, "S") == "S":
            row.setdefault(attribute, _itself(attribute) if template is None else spelled(template))
    for attribute in shape.keys:
        if shape.types[attribute] == "N":
            row[attribute] = "0"
        else:
            row.setdefault(attribute, _itself(attribute))
    return row


def _has_keys(entity: EntityBlueprint, wanted: _Wanted) -> bool:
    return not any(True for _ in _lost_keys(entity, wanted))


def _lost_keys(entity: EntityBlueprint, wanted: _Wanted) -> Iterator[tuple[str | None, str]]:
    for (index, role), (_, template) in wanted.items():
        place = entity.place(index)
        key = None if place is None else place.pk if role == "pk" else place.sk
        if key is None or key.template != template:
            yield index, role


def _differences(entity: EntityBlueprint, back: EntityBlueprint, wanted: _Wanted) -> Iterator[str]:
    for index, role in _lost_keys(back, wanted):
        _, template = wanted[index, role]
        where = "the table" if index is None else f"the index {index!r}"
        yield f"The key {template!r} of {entity.name} in {where} has no spelling in a model."
    if json.dumps(entity.samples, default=str) != json.dumps(back.samples, default=str):
        yield f"The samples of {entity.name} have values, or names in brackets, that a model has otherwise."
    types = {each.stored: each.dynamodb for each in back.attributes}
    for each in entity.attributes:
        kind = stored_type(each, entity.models)
        if each.stored not in types:
            yield f"{entity.name}.{each.name} is stored in {each.stored!r}, which is a key with a template."
        elif types[each.stored] != kind:
            other = types[each.stored]
            yield f"{entity.name}.{each.name} is {kind}, and {each.stored!r} has one type in a model: {other}."
    if entity.discriminator != back.discriminator:
        yield f"The value {entity.discriminator!r} that names items of {entity.name} is in no row."
