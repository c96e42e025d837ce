"""Typed requests: parsed, and checked as far as possible without a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from singletable.expressions.conditions import Condition
from singletable.expressions.key_conditions import KeyCondition
from singletable.expressions.projections import Projection
from singletable.expressions.updates import Update
from singletable.storage.images import Image
from singletable.values.types import Item

ReturnValues = Literal["NONE", "ALL_OLD", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW"]
Report = Literal["NONE", "TOTAL", "INDEXES"]
Select = Literal["ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES", "SPECIFIC_ATTRIBUTES", "COUNT"]


@dataclass(slots=True, kw_only=True)
class GetItem:
    table: str
    key: Item
    projection: Projection | None = None
    consistent: bool = False
    report: Report = "NONE"


@dataclass(slots=True, kw_only=True)
class _SingleWrite:
    """The common part of writes of one item."""

    table: str
    condition: Condition | None = None
    returns: ReturnValues = "NONE"
    returns_on_failure: bool = False
    report: Report = "NONE"
    reports_collections: bool = False


@dataclass(slots=True, kw_only=True)
class PutItem(_SingleWrite):
    item: Item
    item_bytes: int
    image: Image = field(init=False)  # made here, so that no transaction has to wait for it

    def __post_init__(self) -> None:
        self.image = Image.of(self.item, self.item_bytes)


@dataclass(slots=True, kw_only=True)
class DeleteItem(_SingleWrite):
    key: Item


@dataclass(slots=True, kw_only=True)
class UpdateItem(_SingleWrite):
    key: Item
    update: Update | None = None


@dataclass(slots=True, kw_only=True)
class ConditionCheck:
    table: str
    key: Item
    condition: Condition
    returns_on_failure: bool = False


Write = PutItem | DeleteItem | UpdateItem
Action = PutItem | DeleteItem | UpdateItem | ConditionCheck


@dataclass(slots=True, kw_only=True)
class Query:
    table: str
    key_condition: KeyCondition
    index: str | None = None
    filter: Condition | None = None
    projection: Projection | None = None
    select: Select | None = None
    limit: int | None = None
    start: Item | None = None
    forward: bool = True
    consistent: bool = False
    report: Report = "NONE"


@dataclass(slots=True, kw_only=True)
class Scan:
    table: str
    index: str | None = None
    filter: Condition | None = None
    projection: Projection | None = None
    select: Select | None = None
    limit: int | None = None
    start: Item | None = None
    segment: int = 0
    total_segments: int = 1
    consistent: bool = False
    report: Report = "NONE"


@dataclass(slots=True, kw_only=True)
class BatchGetTable:
    """The keys that a batch reads from one table."""

    table: str
    keys: Sequence[Item]
    projection: Projection | None = None
    consistent: bool = False


@dataclass(slots=True, kw_only=True)
class BatchGetItem:
    tables: Sequence[BatchGetTable]
    report: Report = "NONE"


@dataclass(slots=True, kw_only=True)
class BatchWriteItem:
    writes: Sequence[PutItem | DeleteItem]
    report: Report = "NONE"
    reports_collections: bool = False


@dataclass(slots=True, kw_only=True)
class TransactGetItems:
    gets: Sequence[GetItem]
    report: Report = "NONE"


@dataclass(slots=True, kw_only=True)
class TransactWriteItems:
    actions: Sequence[Action]
    token: str | None = None
    digest: bytes = b""
    report: Report = "NONE"
    reports_collections: bool = False
