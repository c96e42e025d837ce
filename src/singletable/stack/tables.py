"""The table of a stack, from a blueprint: with all its settings, or a refusal in one sentence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from singletable.blueprint import Blueprint, IndexBlueprint, TableBlueprint
from singletable.errors import StackError
from singletable.stack.options import StackOptions, is_tag, table_name
from singletable.stack.resources import Capacity, Index, Parameter, Ref, Scaling, Table, Text

TABLE: Final = "Table"
KEY_PARAMETER: Final = "TableKeyArn"
GLOBAL_INDEXES_MAX: Final = 20
LOCAL_INDEXES_MAX: Final = 5
_KEY_ATTRIBUTES_MAX: Final = 4  # of each key of an index with multi-attribute keys
_PROJECTED_MAX: Final = 100  # attributes that are included, over all indexes
_TAGS_MAX: Final = 50  # developer guide, "Tagging restrictions"
_STREAMS: Final = ("KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES")
_ENCRYPTIONS: Final = ("AWS_OWNED", "AWS_MANAGED", "CUSTOMER_MANAGED")
_PROJECTIONS: Final = ("ALL", "KEYS_ONLY", "INCLUDE")
_CLASSES: Final = ("STANDARD", "STANDARD_INFREQUENT_ACCESS")
_BILLINGS: Final = ("PAY_PER_REQUEST", "PROVISIONED")
_INDEX_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{3,255}")


def table_of(blueprint: Blueprint, options: StackOptions) -> Table:
    """Return the table that a design declares, as a stage has it."""
    table = blueprint.table
    _refuse_other_words(table)
    billing = options.billing or table.billing
    if options.capacity is not None and billing != "PROVISIONED":
        raise StackError(
            "units are given for the table, which is billed by its requests",
            hint="give the stage its billing too: --billing PROVISIONED",
        )
    capacity = _capacity(table, options) if billing == "PROVISIONED" else None
    indexes = tuple(
        _index(index, capacity, table.scaling)
        for index in sorted(blueprint.indexes, key=lambda index: index.name)
    )
    _refuse_indexes(blueprint, indexes)
    encryption, key = _encryption(table)
    replicas = tuple(sorted({*options.replicas, *_replicas(table)} - {options.region}))
    is_global = options.is_global or bool(options.replicas)
    if is_global and table.stream not in (None, "NEW_AND_OLD_IMAGES"):
        raise StackError(
            f"a global table has a stream of new and old images, and the design asks for {table.stream}",
            hint="let the design have the stream NEW_AND_OLD_IMAGES",
        )
    tags = {**table.tags, **options.tags}
    if len(tags) > _TAGS_MAX:
        raise StackError(f"the table has {len(tags)} tags, and AWS takes {_TAGS_MAX}", hint="leave some out")
    for name, value in tags.items():
        if not is_tag(name, value):
            raise StackError(f"{name}={value} is no tag that AWS takes", hint="as team=kitchen")
    _refuse_same_key("the table", (table.pk,), (table.sk,) if table.sk else ())
    return Table(
        TABLE,
        name=table_name(blueprint, options.environment),
        pk=table.pk,
        sk=table.sk,
        types=_types(table, indexes),
        indexes=indexes,
        capacity=capacity,
        table_class=table.table_class,
        stream=table.stream,
        ttl=table.ttl,
        encryption=encryption,
        key=key,
        pitr_days=table.pitr_days,
        deletion_protection=table.deletion_protection,
        contributor_insights=table.contributor_insights,
        tags=dict(sorted(tags.items())),
        policy=options.table_policy,
        replicas=replicas if is_global else (),
        is_global=is_global,
    )


def key_parameter(table: Table) -> tuple[Parameter, ...]:
    """Return the parameters for the keys of a customer: an ARN holds an account, which no template does."""
    keys = [(table.key, "")] + [(table.key_in(region), f" in {region}") for region in table.replicas]
    return tuple(
        Parameter(
            key.logical_id,
            f"The ARN of the KMS key that encrypts the table{where}",
            pattern="^arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key/.+$",
        )
        for key, where in keys
        if isinstance(key, Ref)
    )


def _refuse_other_words(table: TableBlueprint) -> None:
    """Refuse settings that no table has: a blueprint may hold any word, as a document says it."""
    known: tuple[tuple[str, str | None, tuple[str, ...]], ...] = (
        ("stream", table.stream, _STREAMS),
        ("table class", table.table_class, _CLASSES),
        ("billing", table.billing, _BILLINGS),
    )
    for what, value, words in known:
        if value is not None and value not in words:
            raise StackError(
                f"the {what} of the table is {value!r}, which no table can have",
                hint=f"one of {', '.join(words)}",
            )
    if table.pitr_days is not None and not 1 <= table.pitr_days <= 35:
        raise StackError(
            f"point-in-time recovery of {table.pitr_days} days is asked for",
            hint="DynamoDB keeps 1 to 35 days",
        )


def _encryption(table: TableBlueprint) -> tuple[str, Text | None]:
    key = table.encryption if table.encryption not in _ENCRYPTIONS else table.key
    if table.encryption in ("AWS_OWNED", "AWS_MANAGED"):
        return table.encryption, None
    if key is not None and key.startswith("alias/"):
        return "CUSTOMER_MANAGED", key
    if key is None or key.startswith("arn:"):
        return "CUSTOMER_MANAGED", Ref(KEY_PARAMETER)
    raise StackError(
        f"the encryption of the table is {key!r}, which is no key of KMS",
        hint="AWS_OWNED, AWS_MANAGED, the ARN of a key, or alias/NAME",
    )


def _replicas(table: TableBlueprint) -> Iterable[str]:
    return (region.code for region in table.regions if region.is_replica)


# --- capacity ---------------------------------------------------------------------------------------------------


def _capacity(table: TableBlueprint, options: StackOptions) -> Capacity:
    units = options.capacity or table.capacity
    if units is None or len(units) != 2:
        raise StackError(
            "the table is billed for provisioned capacity, and nothing says how much",
            hint="give the design its capacity, or the stage: --capacity READ,WRITE",
        )
    return _scaled(units, table.scaling)


def _scaled(units: tuple[int, ...], scaling: Mapping[str, tuple[float, ...]]) -> Capacity:
    if len(units) != 2 or min(units) < 1:
        raise StackError(
            f"the provisioned capacity of {list(units)} is asked for",
            hint="units of reading and units of writing, at least 1 of each",
        )
    read, write = units
    return Capacity(read, write, _scaling(scaling.get("read")), _scaling(scaling.get("write")))


def _scaling(given: tuple[float, ...] | None) -> Scaling | None:
    if given is None:
        return None
    if len(given) != 3 or not 20 <= given[2] <= 90 or not 1 <= given[0] <= given[1]:
        raise StackError(
            f"auto scaling of {list(given)} is asked for, which is no range with a target",
            hint="units at least, units at most, and a target of 20 to 90 percent",
        )
    return Scaling(int(given[0]), int(given[1]), given[2])


# --- indexes ----------------------------------------------------------------------------------------------------


def _index(index: IndexBlueprint, table: Capacity | None, scaling: Mapping[str, tuple[float, ...]]) -> Index:
    if not _INDEX_NAME.fullmatch(index.name):
        raise StackError(
            f"{index.name!r} is no name of an index",
            hint="DynamoDB takes 3 to 255 letters, digits, dots, dashes and underscores",
        )
    if index.projection not in _PROJECTIONS:
        raise StackError(
            f"the index {index.name} projects {index.projection!r}, which no index can",
            hint=f"one of {', '.join(_PROJECTIONS)}",
        )
    keys_max = 1 if index.is_local else _KEY_ATTRIBUTES_MAX
    if not 1 <= len(index.pk) <= keys_max or len(index.sk) > keys_max:
        raise StackError(
            f"the index {index.name} has {len(index.pk)} and {len(index.sk)} attributes in its keys",
            hint=f"an index of this kind has up to {keys_max} in each",
        )
    _refuse_same_key(f"the index {index.name}", index.pk, index.sk)
    capacity = None
    if table is not None and not index.is_local:
        capacity = table if index.capacity is None else _scaled(index.capacity, scaling)
    return Index(
        index.name,
        index.pk,
        index.sk,
        index.projection,
        tuple(sorted(index.included)) if index.projection == "INCLUDE" else (),
        capacity,
        index.is_local,
    )


def _refuse_same_key(what: str, pk: tuple[str, ...], sk: tuple[str, ...]) -> None:
    names = (*pk, *sk)
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise StackError(f"{what} has the attribute {twice} twice in its keys", hint="give each key its own")


def _refuse_indexes(blueprint: Blueprint, indexes: tuple[Index, ...]) -> None:
    for is_local, most, kind in ((False, GLOBAL_INDEXES_MAX, "global"), (True, LOCAL_INDEXES_MAX, "local")):
        count = sum(index.is_local == is_local for index in indexes)
        if count > most:
            raise StackError(
                f"{blueprint.name} has {count} {kind} secondary indexes, and a table takes {most}",
                hint="let several patterns share an index",
            )
    names = [index.name for index in indexes]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise StackError(
            f"{blueprint.name} has two indexes of the name {twice}", hint="give one another name"
        )
    included = sum(len(index.included) for index in indexes)
    if included > _PROJECTED_MAX:
        raise StackError(
            f"the indexes of {blueprint.name} include {included} attributes, and a table takes {_PROJECTED_MAX}",
            hint="project ALL",
        )


def _types(table: TableBlueprint, indexes: tuple[Index, ...]) -> dict[str, str]:
    """Return the types of the attributes in keys: of those alone, or CloudFormation refuses the table."""
    names = {table.pk, *((table.sk,) if table.sk else ())}
    names |= {name for index in indexes for name in (*index.pk, *index.sk)}
    for name in sorted(names):
        if table.types.get(name, "S") not in ("S", "N", "B"):
            raise StackError(
                f"the key attribute {name} is of the type {table.types[name]!r}", hint="a key is S, N or B"
            )
    return {name: table.types.get(name, "S") for name in sorted(names)}
