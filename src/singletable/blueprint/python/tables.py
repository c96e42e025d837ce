"""The table of a blueprint as a class of Python, with its indexes and settings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from singletable.blueprint.contents import Contents
from singletable.blueprint.python.fields import class_docstring
from singletable.blueprint.python.names import (
    OF_OPEN,
    OF_TABLES,
    Names,
    call,
    indented,
    literal,
    lower,
    opened,
    quoted,
)
from singletable.blueprint.python.types import Types
from singletable.blueprint.tables import IndexBlueprint

_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{3,255}")
_PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")
_STREAMS: Final = ("KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES")
_INDEXES_MAX: Final = 20
_NAME_BYTES_MAX: Final = 255
_UNITS_MAX: Final = 40_000
_TAG: Final = re.compile(r"[\w\s.:/=+\-@]*")


@dataclass
class IndexPlan:
    """An index that a design can have."""

    name: str  # of the attribute of the table's class
    source: IndexBlueprint
    projection: str  # ALL, KEYS_ONLY, INCLUDE
    included: tuple[str, ...] = ()


@dataclass
class TablePlan:
    """The table, as far as a class can say it."""

    blueprint: Contents
    name: str  # of the class
    discriminator: str
    pk: str = "PK"
    sk: str | None = None
    stream: str | None = None
    indexes: list[IndexPlan] = field(default_factory=list)
    settings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def index(self, name: str) -> IndexPlan | None:
        """Find an index by its name."""
        return next((each for each in self.indexes if each.source.name == name), None)

    def attributes(self, index: str | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the attributes of the keys: those of the partition, and those of the sort key."""
        if index is None:
            return (self.pk,), () if self.sk is None else (self.sk,)
        found = self.index(index)
        return ((), ()) if found is None else (tuple(found.source.pk), tuple(found.source.sk))

    @property
    def is_inverted(self) -> bool:
        """Whether an index has the sort key of the table as its partition key."""
        return any(self.sk in each.source.pk for each in self.indexes)

    def lines(self, types: Types) -> Iterator[str]:
        """Return the class statement."""
        yield f"class {self.name}({types.imports.use('Table')}):"
        body = class_docstring(self.blueprint.table.about) + self.settings
        for index in self.indexes:
            body += self._index(index, types)
        yield from indented([*self.notes, *body])

    def _index(self, index: IndexPlan, types: Types) -> list[str]:
        source = index.source
        arguments = [quoted(source.name), f"pk={_names(source.pk)}"]
        arguments += [f"sk={_names(source.sk)}"] if source.sk else []
        if index.projection == "KEYS_ONLY":
            arguments.append('projection="KEYS_ONLY"')
        if index.projection == "INCLUDE":
            arguments.append(
                f"projection=({''.join(f'{quoted(each)}, ' for each in index.included).strip()})"
            )
        if _capacity(source.capacity) is not None and "billing = " in "".join(self.settings):
            arguments.append(f"capacity={_capacity(source.capacity)}")
        return call(f"{index.name} = {types.imports.use('Index')}", arguments, indent=1)


def _names(names: Sequence[str]) -> str:
    return quoted(names[0]) if len(names) == 1 else f"({', '.join(map(quoted, names))})"


def _capacity(capacity: Sequence[int] | None) -> str | None:
    if capacity is None or len(capacity) != 2 or not all(1 <= each <= _UNITS_MAX for each in capacity):
        return None
    return f"({capacity[0]}, {capacity[1]})"


def table_plan(blueprint: Contents, name: str, fields: Iterable[str]) -> TablePlan:
    """Return what a class can say of a table. `fields` are names that no index can be bound to."""
    table = blueprint.table
    plan = TablePlan(blueprint, name, blueprint.discriminator or "entityType")
    if blueprint.discriminator is None:
        plan.notes += opened("nothing says which attribute names the entity of an item: entityType is taken")
    plan.pk, plan.sk = table.pk or "PK", table.sk or None
    if not _is_key(plan.pk) or plan.sk == plan.pk or (plan.sk is not None and not _is_key(plan.sk)):
        plan.notes += opened(f"the keys are said to be {table.pk} and {table.sk}, which no table can have")
        plan.pk, plan.sk = "PK", "SK"
    if plan.discriminator in (plan.pk, plan.sk) or not _is_key(plan.discriminator):
        plan.notes += opened(f"{plan.discriminator} cannot name the entity of an item: entityType is taken")
        plan.discriminator = "entityType" if "entityType" not in (plan.pk, plan.sk) else "_entity"
    _add_indexes(plan, fields)
    plan.settings = list(_settings(plan))
    return plan


def _is_key(name: str) -> bool:
    # Half of a surrogate pair is no text.
    return (
        bool(name)
        and 0 < len(name.encode("utf-8", "surrogatepass")) <= _NAME_BYTES_MAX
        and name.isprintable()
    )


def _add_indexes(plan: TablePlan, fields: Iterable[str]) -> None:
    names = Names({*OF_TABLES, *fields})
    for index in plan.blueprint.indexes:
        why = _why_not(plan, index)
        if why is not None:
            keys = ", ".join((*index.pk, *index.sk))
            plan.notes += opened(f"the index {index.name} ({keys}) is left out: {why}")
            continue
        if index.projection not in ("ALL", "KEYS_ONLY", "INCLUDE"):
            plan.notes += opened(f"the index {index.name} projects {index.projection}: all is taken")
        projection = index.projection if index.projection in ("KEYS_ONLY", "INCLUDE") else "ALL"
        name = names.take(lower(index.name, "index"))
        plan.indexes.append(IndexPlan(name, index, projection, tuple(dict.fromkeys(index.included))))


def _why_not(plan: TablePlan, index: IndexBlueprint) -> str | None:
    attributes = (*index.pk, *index.sk)
    if index.is_local:
        return "a design has global indexes, and it is a local one"
    if not _NAME.fullmatch(index.name):
        return "a name has 3 to 255 characters: letters, digits, _, - and ."
    if plan.index(index.name) is not None:
        return "there is another of its name"
    if not 1 <= len(index.pk) <= 4 or len(index.sk) > 4:
        return "a key has 1 to 4 attributes"
    if len(set(attributes)) < len(attributes) or not all(map(_is_key, attributes)):
        return "each attribute of a key has a name of its own"
    if plan.discriminator in attributes:
        return None
    return "a table has 20 global indexes at most" if len(plan.indexes) >= _INDEXES_MAX else None


def _settings(plan: TablePlan) -> Iterator[str]:
    table = plan.blueprint.table
    yield f"name = {quoted(_table_name(plan))}"
    if plan.pk != "PK":
        yield f"pk = {quoted(plan.pk)}"
    if plan.sk != "SK":
        yield f"sk = {'None' if plan.sk is None else quoted(plan.sk)}"
    capacity = _capacity(table.capacity)
    if table.billing == "PROVISIONED" and capacity is not None:
        yield 'billing = "PROVISIONED"'
        yield f"capacity = {capacity}"
    elif table.billing != "PAY_PER_REQUEST" or table.capacity is not None:
        plan.notes += opened(f"billing is said to be {table.billing}, with a capacity of {table.capacity}")
    yield from _encryption(plan)
    if table.stream is None or table.stream in _STREAMS:
        plan.stream = table.stream
    else:
        plan.notes += opened(
            f"the stream is said to be {table.stream}, which is none of {', '.join(_STREAMS)}"
        )
    if plan.stream != "NEW_AND_OLD_IMAGES":
        yield f"stream = {'None' if plan.stream is None else quoted(plan.stream)}"
    is_possible = table.pitr_days is None or 1 <= table.pitr_days <= 35
    if not is_possible:
        plan.notes += opened(f"point-in-time recovery of {table.pitr_days} days is not possible: 1 to 35 are")
    if table.pitr_days != 35:
        yield f"pitr_days = {table.pitr_days if is_possible else None}"
    if table.deletion_protection:
        yield "deletion_protection = True"
    tags = {key: value for key, value in table.tags.items() if _is_tag(key, value)}
    if len(tags) < len(table.tags):
        plan.notes += opened("some tags have characters that no tag can have")
    if tags:
        yield f"tags = {literal(dict(list(tags.items())[:50]))}"
    _note_others(plan)


def _is_tag(key: str, value: str) -> bool:
    fits = 1 <= len(key) <= 128 and len(value) <= 256 and not key.lower().startswith("aws:")
    return fits and bool(_TAG.fullmatch(key) and _TAG.fullmatch(value)) and (key + value).isprintable()


def _table_name(plan: TablePlan) -> str:
    name = plan.blueprint.table.name
    known = [each for each in _PLACEHOLDER.findall(name) if not each.isidentifier() or each in OF_OPEN]
    if _NAME.fullmatch(_PLACEHOLDER.sub("any", name)) and not known:
        return name
    plan.notes += opened(f"the table is said to be called {name}, which no table can be")
    made = re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-")[:200]
    return made if _NAME.fullmatch(made) else f"table-{made}".strip("-")


def _encryption(plan: TablePlan) -> Iterator[str]:
    table = plan.blueprint.table
    if table.encryption == "AWS_OWNED":
        return
    if table.encryption == "AWS_MANAGED" or table.encryption.startswith("arn:"):
        yield f"encryption = {quoted(table.encryption)}"
    elif table.key is not None and table.key.startswith("arn:"):
        yield f"encryption = {quoted(table.key)}"
    else:
        plan.notes += opened(
            f"encryption is said to be {table.encryption} with the key {table.key}; an ARN is needed"
        )


def _note_others(plan: TablePlan) -> None:
    table = plan.blueprint.table
    if table.table_class != "STANDARD":
        plan.notes += opened(f"the class of the table is {table.table_class}, which a design does not say")
    if table.contributor_insights:
        plan.notes += opened("contributor insights are on, which a design does not say")
    for region in table.regions:
        replica = ", a replica" if region.is_replica else ""
        plan.notes += opened(f"it is in {region.code} {region.place}{replica}, which a design does not say")
    for backup in table.backups:
        plan.notes += opened(f"it is backed up by {backup.kind}, which a design does not say")
