"""The changes of an UpdateTable request, as values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from singletable.engine.tables import NewIndex
from singletable.storage.definitions import BillingMode, KeyAttribute, StreamView, Throughput


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexUpdate:
    """Changes of an index that is there. `settings` are OnDemandThroughput and WarmThroughput."""

    throughput: Throughput | None = None
    settings: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateTable:
    """Changes of a table. None leaves a setting as it is."""

    name: str
    attributes: tuple[KeyAttribute, ...] = ()
    billing: BillingMode | None = None
    throughput: Throughput | None = None
    creates: tuple[NewIndex, ...] = ()
    deletes: tuple[str, ...] = ()
    updates: dict[str, IndexUpdate] = field(default_factory=dict)
    stream_enabled: bool | None = None
    stream_view: StreamView | None = None
    deletion_protected: bool | None = None
    settings: dict[str, Any] = field(default_factory=dict)
