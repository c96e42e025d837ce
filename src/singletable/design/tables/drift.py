"""Drift: the differences between a target's table and the table that a design declares."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from singletable.client.calls import Steps
from singletable.client.capabilities import Capabilities
from singletable.client.targets import Target
from singletable.design.model.declarations import Projection
from singletable.design.model.table import Billing
from singletable.design.session.session import Session
from singletable.design.tables.definition import (
    Capacity,
    IndexDefinition,
    TableDefinition,
    declared_table,
    found_table,
)
from singletable.errors import DeclarationError, TableDiffersError


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference between a design and a table. None stands for a missing value.

    `create_table` changes a changeable one in place; any other needs a migration.
    """

    what: str
    declared: str | None
    found: str | None
    is_changeable: bool

    def __str__(self) -> str:
        if self.found is None:
            return f"{self.what}: the design says {self.declared}, and there is none"
        if self.declared is None:
            return f"{self.what}: {self.found} is there, and the design has none"
        return f"{self.what}: the design says {self.declared}, and there is {self.found}"

    @property
    def is_extra(self) -> bool:
        """Whether the table has something that the design does not declare, and that does no harm."""
        return self.declared is None and not self.is_changeable


class Drift(list[Difference]):
    """The differences of a table. `unsupported` names declared settings that the target does not support."""

    def __init__(self, differences: Iterable[Difference], unsupported: tuple[str, ...] = ()) -> None:
        super().__init__(differences)
        self.unsupported = unsupported


@dataclass(frozen=True, slots=True)
class StageBilling:
    """What a stage decides instead of the design: it is no drift, and an index has the units of the table."""

    billing: Billing | None = None
    capacity: Capacity | None = None

    def of(self, declared: TableDefinition) -> TableDefinition:
        """Return the table of a design as the stage has it."""
        billing = self.billing or declared.billing
        if billing != "PROVISIONED":
            if self.capacity is not None:
                raise DeclarationError(
                    "units are given for the table, which is billed by its requests",
                    hint="give the stage its billing too: --billing PROVISIONED",
                )
            indexes = tuple(replace(index, capacity=None) for index in declared.indexes)
            return replace(declared, billing=billing, capacity=None, indexes=indexes)
        units = self.capacity or declared.capacity
        if units is None:
            raise DeclarationError(
                "the stage is billed for provisioned capacity, and nothing says how much",
                hint="give the design its capacity, or the stage: --capacity READ,WRITE",
            )
        was = declared.capacity
        indexes = tuple(
            index if index.is_local or index.capacity not in (None, was) else replace(index, capacity=units)
            for index in declared.indexes
        )
        return replace(declared, billing=billing, capacity=units, indexes=indexes)


def drift_of(session: Session, stage: StageBilling | None = None) -> Steps[Drift]:
    """Compare the table of an open design with what the target describes; a stage may have its own billing."""
    capabilities = session.client.capabilities
    declared = (stage or StageBilling()).of(declared_table(session.catalog, session.table))
    found = yield from found_table(session.table, capabilities)
    if found is None:
        return missing(declared, capabilities)
    return Drift(differences(declared, found, capabilities), unsupported(declared, capabilities))


def missing(declared: TableDefinition, capabilities: Capabilities) -> Drift:
    """Return the one difference of a missing table."""
    difference = Difference("table", declared.name, None, is_changeable=True)
    return Drift([difference], unsupported(declared, capabilities))


def is_missing_file(target: Target) -> bool:
    """Tell whether a target is a missing file: opening it would create it."""
    if not isinstance(target, str | os.PathLike) or "://" in (path := os.fspath(target)):
        return False
    if path in ("", ":memory:"):
        return False
    try:
        os.lstat(path)
    except FileNotFoundError:
        return True
    except OSError:  # it cannot be reached; opening it raises the reason
        return False
    return False  # also for a broken link; opening it raises that


def refuse_differences(name: str, found: Iterable[Difference], *, hint: str) -> None:
    """Raise an error that lists the differences, if there are any."""
    wrong = list(found)
    if wrong:
        lines = "".join(f"\n  {difference}" for difference in wrong)
        raise TableDiffersError(f"the table {name} is not as the design says{lines}", wrong, hint=hint)


def unsupported(declared: TableDefinition, capabilities: Capabilities) -> tuple[str, ...]:
    """Name the settings of a definition that the target does not support."""
    wanted = {
        f"stream {declared.stream}": declared.stream is not None and not capabilities.streams,
        f"time to live {declared.ttl}": declared.ttl is not None and not capabilities.time_to_live,
        f"point-in-time recovery {_days(declared.pitr_days)}": declared.pitr_days is not None
        and not capabilities.point_in_time_recovery,
        f"encryption {declared.encryption}": declared.encryption != "AWS_OWNED"
        and not capabilities.encryption,
        "deletion protection": declared.deletion_protection and not capabilities.deletion_protection,
    }
    if not capabilities.tags:
        wanted.update({f"tag {key}": True for key in declared.tags})
    if not capabilities.projections:
        narrow = [index for index in declared.indexes if index.projection != "ALL"]
        wanted.update({f"projection of index {index.name}": True for index in narrow})
    return tuple(what for what, is_missing in wanted.items() if is_missing)


# --- comparing --------------------------------------------------------------------------------------------


def differences(
    declared: TableDefinition, found: TableDefinition, capabilities: Capabilities
) -> Iterator[Difference]:
    """Compare everything that the target knows."""
    yield from structure(declared, found, capabilities)
    yield from _of_capacity(declared, found)
    yield from _of_settings(declared, found, capabilities)
    if capabilities.tags:
        yield from _of_tags(declared, found)


def structure(
    declared: TableDefinition, found: TableDefinition, capabilities: Capabilities
) -> Iterator[Difference]:
    """Compare what cannot be changed in place: keys, their types, indexes."""
    yield from _unlike("key of the table", _keys(declared), _keys(found), is_changeable=False)
    for name, kind in declared.attribute_types.items():
        if name in found.attribute_types:
            yield from _unlike(f"type of {name}", kind, found.attribute_types[name], is_changeable=False)
    for index in declared.indexes:
        there = found.index(index.name)
        if there is None:
            yield Difference(f"index {index.name}", _index_text(index), None, is_changeable=False)
        else:
            yield from _of_index(index, there, capabilities)
    for index in found.indexes:
        if declared.index(index.name) is None:
            yield Difference(f"index {index.name}", None, _index_text(index), is_changeable=False)


def _of_index(
    declared: IndexDefinition, found: IndexDefinition, capabilities: Capabilities
) -> Iterator[Difference]:
    where = f"of index {declared.name}"
    yield from _unlike(f"keys {where}", _index_keys(declared), _index_keys(found), is_changeable=False)
    if capabilities.projections:
        said, there = _projection_text(declared.projection), _projection_text(found.projection)
        yield from _unlike(f"projection {where}", said, there, is_changeable=False)


def _of_capacity(declared: TableDefinition, found: TableDefinition) -> Iterator[Difference]:
    if declared.billing != found.billing:
        yield Difference("billing", declared.billing, found.billing, is_changeable=True)
        return
    yield from _unlike("capacity", _units(declared.capacity), _units(found.capacity))
    for index in declared.indexes:
        there = found.index(index.name)
        if there is not None:
            yield from _unlike(
                f"capacity of index {index.name}", _units(index.capacity), _units(there.capacity)
            )


def _of_settings(
    declared: TableDefinition, found: TableDefinition, capabilities: Capabilities
) -> Iterator[Difference]:
    if capabilities.streams:
        yield from _unlike("stream", declared.stream, found.stream)
    if capabilities.time_to_live:
        # A time to live that this design does not declare may be another program's, so it is left alone.
        yield from _unlike("time to live", declared.ttl, found.ttl, is_changeable=declared.ttl is not None)
    if capabilities.point_in_time_recovery:
        yield from _unlike("point-in-time recovery", _days(declared.pitr_days), _days(found.pitr_days))
    if capabilities.encryption and not _same_encryption(declared.encryption, found.encryption):
        yield Difference("encryption", declared.encryption, found.encryption, is_changeable=True)
    if capabilities.deletion_protection:
        said, there = ("on" if each.deletion_protection else "off" for each in (declared, found))
        yield from _unlike("deletion protection", said, there)


def _same_encryption(declared: str, found: str) -> bool:
    # DescribeTable gives the ARN of AWS's own key too, and does not say whose it is.
    return declared == found or (declared == "AWS_MANAGED" and found.startswith("arn:"))


def _of_tags(declared: TableDefinition, found: TableDefinition) -> Iterator[Difference]:
    for key, value in declared.tags.items():
        yield from _unlike(f"tag {key}", value, found.tags.get(key))
    for key, value in found.tags.items():
        if key not in declared.tags and not key.startswith("aws:"):
            yield Difference(f"tag {key}", None, value, is_changeable=False)


def _unlike(
    what: str, declared: str | None, found: str | None, *, is_changeable: bool = True
) -> Iterator[Difference]:
    if declared != found:
        yield Difference(what, declared, found, is_changeable)


# --- as texts ---------------------------------------------------------------------------------------------


def _keys(table: TableDefinition) -> str:
    return table.pk if table.sk is None else f"{table.pk}, {table.sk}"


def _index_keys(index: IndexDefinition) -> str:
    text = " + ".join(index.pk) + (f", {' + '.join(index.sk)}" if index.sk else "")
    return f"{text} (local)" if index.is_local else text


def _index_text(index: IndexDefinition) -> str:
    return f"{_index_keys(index)}, projecting {_projection_text(index.projection)}"


def _projection_text(projection: Projection) -> str:
    return projection if isinstance(projection, str) else " ".join(projection)


def _units(capacity: Capacity | None) -> str | None:
    return None if capacity is None else f"{capacity[0]} reads and {capacity[1]} writes a second"


def _days(days: int | None) -> str | None:
    return None if days is None else f"{days} day{'' if days == 1 else 's'}"
