"""Data models of NoSQL Workbench for Amazon DynamoDB, in and out: the JSON of its version 3.0.

A facet is an entity, and its rows are samples. Rows of no facet are entities by the prefixes of their keys, or one
that is called Item.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

from singletable.blueprint.blueprint import Blueprint
from singletable.blueprint.foreign.facets import Facet, Shape, entity_of, types_of, written_facet
from singletable.blueprint.foreign.items import TYPES, plain_item, stored_type
from singletable.blueprint.foreign.nodes import Node, chosen, json_node
from singletable.blueprint.foreign.revealed import (
    Row,
    by_prefix,
    discriminator,
)
from singletable.blueprint.tables import IndexBlueprint, TableBlueprint

_KIND: Final = "NoSQL Workbench model"
_SERVICE: Final = "Amazon DynamoDB"
_ISO: Final = ["date", "ISO 8601 date and time"]
_UNSAID: Final = (
    "access patterns, time to live, the stream and backups: a NoSQL Workbench model of version 3.0 has none"
)
_ROLE: Final = "AWSServiceRoleForApplicationAutoScaling_DynamoDBTable"


def from_workbench(text: str, table: str | None = None) -> Blueprint:
    """Read a model. `table` names the table, if the model has several."""
    model = json_node(text, _KIND)
    if not isinstance(model.value, dict) or "DataModel" not in model.value:
        raise model.error(f'this is no {_KIND}: it has no "DataModel" at its top')
    metadata = model.at("ModelMetadata")
    service = metadata.at("AWSService")
    if service.exists and service.text() != _SERVICE:
        raise service.error(f"this is a model for {service.text()[:60]}, and should be one for {_SERVICE}")
    tables: dict[str, Node] = {}
    for each in model.need("DataModel").each():
        name = each.need("TableName").text()
        if name in tables:
            raise each.error(f"{each.shown} is a second table {name!r}")
        tables[name] = each
    found = tables[chosen(tables, table, _KIND)]
    description = metadata.at("Description")
    model_name = model.at("ModelName")
    return _blueprint(
        found,
        name=model_name.text() if model_name.exists else found.need("TableName").text(),
        about=description.text() if description.exists else "",
    )


def _blueprint(node: Node, *, name: str, about: str) -> Blueprint:
    questions: list[str] = [_UNSAID]
    shape = _shape(node)
    facets = [_facet(each, shape, questions) for each in node.at("TableFacets").each()]
    loose = [_row(each, questions) for each in node.at("TableData").each()]
    listed = tuple(each.need("AttributeName").text() for each in node.at("NonKeyAttributes").each())
    facets = _with_loose_rows(facets, loose, shape, listed, questions)
    if node.at("AccessPatterns").exists or node.at("TableAccessPatterns").exists:
        questions.append("the access patterns of the model: they are not read")
    kinds = {str(number): facet.rows for number, facet in enumerate(facets)}
    named_by = discriminator(kinds, lambda each: each in shape.all_keys)
    entities = tuple(entity_of(facet, shape, named_by) for facet in facets)
    held = {each.stored for entity in entities for each in entity.attributes}
    if loose_names := [name for name in listed if name not in held and name not in shape.all_keys]:
        questions.append(f"{', '.join(loose_names)}: which items have these attributes? No facet or row does")
    return Blueprint(
        name=name,
        about=about,
        table=_table(node, shape),
        indexes=shape.indexes,
        entities=entities,
        discriminator=named_by,
        questions=tuple(dict.fromkeys(questions)),
    )


# --- the table ------------------------------------------------------------------------------------------


def _shape(node: Node) -> Shape:
    pk, sk, types = _keys(node.need("KeyAttributes"))
    indexes: list[IndexBlueprint] = []
    for member, is_local in (("GlobalSecondaryIndexes", False), ("LocalSecondaryIndexes", True)):
        for each in node.at(member).each():
            index, more = _index(each, is_local=is_local)
            indexes.append(index)
            types = {**more, **types}
    for each in node.at("NonKeyAttributes").each():
        types.setdefault(each.need("AttributeName").text(), _type(each))
    formats: dict[str, str] = {}
    for attribute, given in node.at("SampleDataFormats").members():
        words = " ".join(each.text() for each in given.each() if isinstance(each.value, str)).lower()
        known = "uuid" if "uuid" in words else "iso-8601" if "iso 8601" in words else ""
        formats.update({attribute: known} if known else {})
    return Shape(pk, sk, types, formats, tuple(indexes))


def _keys(node: Node) -> tuple[str, str | None, dict[str, str]]:
    partition, sort = node.need("PartitionKey"), node.at("SortKey")
    pk = partition.need("AttributeName").text()
    types = {pk: _type(partition)}
    sk = None
    if sort.exists and sort.mapping():
        sk = sort.need("AttributeName").text()
        types.setdefault(sk, _type(sort))
    return pk, sk, types


def _type(node: Node) -> str:
    found = node.at("AttributeType")
    if not found.exists:
        return "S"
    if found.text() not in TYPES:
        raise found.wrong(f"one of {', '.join(TYPES)}")
    return found.text()


def _index(node: Node, *, is_local: bool) -> tuple[IndexBlueprint, dict[str, str]]:
    pk, sk, types = _keys(node.need("KeyAttributes"))
    projection = node.at("Projection")
    kind = projection.at("ProjectionType")
    return IndexBlueprint(
        name=node.need("IndexName").text(),
        pk=(pk,),
        sk=() if sk is None else (sk,),
        projection=kind.text() if kind.exists else "ALL",
        included=projection.at("NonKeyAttributes").texts(),
        capacity=_capacity(node),
        is_local=is_local,
    ), types


def _capacity(node: Node) -> tuple[int, ...] | None:
    units = node.at("ProvisionedCapacitySettings").at("ProvisionedThroughput")
    if not units.exists:
        return None
    return units.need("ReadCapacityUnits").whole(), units.need("WriteCapacityUnits").whole()


def _table(node: Node, shape: Shape) -> TableBlueprint:
    billing = node.at("BillingMode")
    mode = billing.text() if billing.exists else "PAY_PER_REQUEST"
    scaling: dict[str, tuple[float, ...]] = {}
    for way in ("Read", "Write") if mode == "PROVISIONED" else ():
        policy = node.at("ProvisionedCapacitySettings").at(f"AutoScaling{way}")
        if policy.exists and policy.mapping():
            target = policy.need("ScalableTargetRequest")
            scaling[way.lower()] = (
                target.need("MinCapacity").number(),
                target.need("MaxCapacity").number(),
                policy.need("ScalingPolicyConfiguration").need("TargetValue").number(),
            )
    return TableBlueprint(
        name=node.need("TableName").text(),
        pk=shape.pk,
        sk=shape.sk,
        types={name: kind for name, kind in shape.types.items() if name in shape.all_keys},
        billing=mode,
        capacity=_capacity(node) if mode == "PROVISIONED" else None,
        scaling=scaling,
    )


# --- entities -------------------------------------------------------------------------------------------


def _facet(node: Node, shape: Shape, questions: list[str]) -> Facet:
    alias = node.at("KeyAttributeAlias")
    names = ("PartitionKeyAlias", "SortKeyAlias")[: len(shape.keys)]
    aliases = tuple(each.text() if (each := alias.at(name)).exists else None for name in names)
    rows = [_row(each, questions) for each in node.at("TableData").each()]
    return Facet(
        name=node.need("FacetName").text(),
        aliases=aliases,
        attributes=node.at("NonKeyAttributes").texts(),
        rows=tuple(plain for plain, _ in rows),
        types=types_of(kinds for _, kinds in rows),
    )


def _row(node: Node, questions: list[str]) -> tuple[Row, dict[str, str]]:
    item, kinds, lost = plain_item(node)
    questions += [f"{what}: samples are plain JSON, where it is {instead}" for what, instead in lost]
    return item, kinds


def _with_loose_rows(
    facets: list[Facet],
    loose: Sequence[tuple[Row, dict[str, str]]],
    shape: Shape,
    listed: tuple[str, ...],
    questions: list[str],
) -> list[Facet]:
    """Add the rows that stand in no facet: as entities by the prefixes of their keys, or as one Item."""
    types = types_of([kinds for _, kinds in loose])
    if not loose:
        own = tuple(each for each in listed if each not in shape.all_keys)
        return facets if facets or not own else [Facet("Item", shape.keys, listed, ())]
    groups = by_prefix([row for row, _ in loose], shape.pk, shape.sk)
    taken = {facet.name for facet in facets}
    made = []
    for name, rows in groups.items():
        present = [each for each in listed if any(each in row for row in rows)]
        attributes = listed if len(groups) == 1 and not facets else tuple(present)
        free = name if name not in taken else f"{name}Rows"
        made.append(Facet(free, shape.keys, attributes, tuple(rows), types))
    if len(groups) > 1 or facets:
        names = ", ".join(facet.name for facet in made)
        questions.append(
            f"{names}: the model says no facets for these rows; prefixes of their keys suggest them"
        )
    return [*facets, *made]


# --- out ------------------------------------------------------------------------------------------------


def to_workbench(
    blueprint: Blueprint, *, date: datetime = datetime(1970, 1, 1, tzinfo=UTC)
) -> tuple[str, tuple[str, ...]]:
    """Write a model of version 3.0, and say in a sentence each what of the blueprint it cannot hold."""
    notes: list[str] = []
    table = _written_table(blueprint, notes)
    stamp = date.strftime("%b %d, %Y, %I:%M %p")
    model = {
        "ModelName": blueprint.name,
        "ModelMetadata": {
            "Author": "",
            "DateCreated": stamp,
            "DateLastModified": stamp,
            "Description": blueprint.about,
            "AWSService": _SERVICE,
            "Version": "3.0",
        },
        "DataModel": [table],
    }
    notes += _unheld(blueprint)
    return json.dumps(model, indent=2, ensure_ascii=False) + "\n", tuple(dict.fromkeys(notes))


def _written_table(blueprint: Blueprint, notes: list[str]) -> dict[str, Any]:
    table = blueprint.table
    indexes = [index for index in blueprint.indexes if index.pk]
    notes += [
        f"The index {each.name!r} has no partition key and is left out."
        for each in blueprint.indexes
        if not each.pk
    ]
    keyed = [_with_single_keys(index, notes) for index in indexes]
    shape = Shape(
        table.pk, table.sk, _written_types(blueprint, keyed, notes), _formats(blueprint), tuple(keyed)
    )
    kinds = {str(number): entity.samples for number, entity in enumerate(blueprint.entities)}
    named_by = discriminator(kinds, lambda each: each in shape.all_keys)
    if blueprint.discriminator not in (None, named_by):
        notes.append(f"Rows alone name their entity, and they do not do so by {blueprint.discriminator!r}.")
    written: dict[str, Any] = {
        "TableName": table.name,
        "KeyAttributes": _written_keys((table.pk,), () if table.sk is None else (table.sk,), shape),
        "NonKeyAttributes": [
            {"AttributeName": name, "AttributeType": kind}
            for name, kind in shape.types.items()
            if name not in shape.keys
        ],
    }  # fmt: skip
    if blueprint.entities:
        written["TableFacets"] = [
            written_facet(entity, shape, named_by, notes) for entity in blueprint.entities
        ]
    for member, is_local in (("GlobalSecondaryIndexes", False), ("LocalSecondaryIndexes", True)):
        if found := [_written_index(each, shape) for each in keyed if each.is_local == is_local]:
            written[member] = found
    notes += [
        f"The local index {each.name!r} stands under LocalSecondaryIndexes: a model has global ones alone."
        for each in keyed
        if each.is_local
    ]
    written["DataAccess"] = {"MySql": {}}
    if shape.formats:
        written["SampleDataFormats"] = dict.fromkeys(shape.formats, _ISO)
    written["BillingMode"] = table.billing
    if table.billing == "PROVISIONED" and (table.capacity is not None or table.scaling):
        written["ProvisionedCapacitySettings"] = _written_capacity(table, notes)
    return written


def _with_single_keys(index: IndexBlueprint, notes: list[str]) -> IndexBlueprint:
    if len(index.pk) > 1 or len(index.sk) > 1:
        notes.append(
            f"The index {index.name!r} has keys of several attributes: a model has the first of each."
        )
    return replace(index, pk=index.pk[:1], sk=index.sk[:1])


def _written_types(
    blueprint: Blueprint, indexes: Sequence[IndexBlueprint], notes: list[str]
) -> dict[str, str]:
    table = blueprint.table
    names = [table.pk, *([table.sk] if table.sk is not None else [])]
    names += [each for index in indexes for each in (*index.pk, *index.sk)]
    types: dict[str, str] = {}
    for name in names:
        kind = table.types.get(name, "S")
        if kind not in TYPES:
            notes.append(f"The key {name!r} is of the type {kind!r}, which is none: S is written.")
        types[name] = kind if kind in TYPES else "S"
    for entity in blueprint.entities:
        for each in entity.attributes:
            types.setdefault(each.stored, stored_type(each, entity.models))
        for row in entity.samples:
            for name in row:
                types.setdefault(name, "S")
    return types


def _formats(blueprint: Blueprint) -> dict[str, str]:
    found = [each for entity in blueprint.entities for each in entity.attributes]
    return {each.stored: each.format for each in found if each.format == "iso-8601"}


def _written_keys(pk: tuple[str, ...], sk: tuple[str, ...], shape: Shape) -> dict[str, Any]:
    keys = zip(("PartitionKey", "SortKey"), (*pk, *sk), strict=False)
    return {role: {"AttributeName": name, "AttributeType": shape.types[name]} for role, name in keys}


def _written_index(index: IndexBlueprint, shape: Shape) -> dict[str, Any]:
    projection: dict[str, Any] = {"ProjectionType": index.projection}
    if index.included:
        projection["NonKeyAttributes"] = list(index.included)
    keys = _written_keys(index.pk, index.sk, shape)
    return {"IndexName": index.name, "KeyAttributes": keys, "Projection": projection}


def _written_capacity(table: TableBlueprint, notes: list[str]) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    if table.capacity is not None:
        if len(table.capacity) == 2:
            reads, writes = table.capacity
            settings["ProvisionedThroughput"] = {"ReadCapacityUnits": reads, "WriteCapacityUnits": writes}
        else:
            notes.append("The capacity of the table is not one number for reads and one for writes.")
    for way in ("read", "write"):
        limits = table.scaling.get(way, ())
        if len(limits) == 3:
            settings[f"AutoScaling{way.title()}"] = {
                "ScalableTargetRequest": {
                    "MinCapacity": limits[0],
                    "MaxCapacity": limits[1],
                    "ServiceRole": _ROLE,
                },
                "ScalingPolicyConfiguration": {"TargetValue": limits[2]},
            }
    return settings


def _unheld(blueprint: Blueprint) -> Iterator[str]:
    """Say what of a blueprint a model has no place for."""
    table = blueprint.table
    plain = TableBlueprint(table.name)
    settings = (
        "table_class", "stream", "encryption", "key", "pitr_days", "deletion_protection", "ttl", "tags", "regions",
        "backups", "contributor_insights", "environments", "about",
    )  # fmt: skip
    if told := [each for each in settings if getattr(table, each) != getattr(plain, each)]:
        yield f"A model says nothing of these settings of a table: {', '.join(told)}."
    if capacities := [each.name for each in blueprint.indexes if each.capacity is not None]:
        yield f"A model has no capacity for indexes: {', '.join(capacities)}."
    around = (
        "patterns", "volumes", "rates", "documents", "targets", "users", "rules", "ttl_rules", "consumers",
        "services", "loads", "roles", "metrics", "alarms", "changes", "figures", "remarks", "fixes",
    )  # fmt: skip
    if told := [each for each in around if getattr(blueprint, each)]:
        yield f"A model has no place for {', '.join(told)}."
    kept = ("uniques", "aggregates", "copies", "derived", "owns", "ttl", "version", "was", "models")
    for entity in blueprint.entities:
        if told := [each for each in kept if getattr(entity, each)]:
            yield f"A model does not say of {entity.name}: {', '.join(told)}."
        for place in entity.places:
            if place.when is not None:
                yield f"A model has no condition for {entity.name} in {place.index or 'the table'}."
            keys = (place.pk, *((place.sk,) if place.sk is not None else ()))
            for part in (part for key in keys for part in key.parts):
                if part.name != part.field or part.shards or part.bucket or part.letters:
                    yield f"A model does not say how {{{part.name}}} of {entity.name} is made from {part.field}."
        if renamed := [each.name for each in entity.attributes if each.name != each.stored]:
            yield f"Attributes of {entity.name} have the names that are stored alone: {', '.join(renamed)}."
