"""Brewing: a design whose handlers keep a log of its batches, and note what happens to everything else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import Field

from singletable.design import (
    Change,
    Compressed,
    Create,
    CreatedAt,
    Delete,
    Design,
    Entity,
    Key,
    Keys,
    Put,
    SortKey,
    Table,
    Ttl,
    Update,
    UpdatedAt,
    Version,
    auto,
    on,
)


class BrewTable(Table):
    name = "brewing-{stage}"


class BrewPK(Key, template="BREW#{brew_id}"):
    brew_id: str


class BrewSK(SortKey, template="BREW"):
    pass


class LogSK(SortKey, template="LOG#{number:04}"):
    number: int


class SummaryPK(Key, template="SUMMARY#{brew_id}"):
    brew_id: str


class SummarySK(SortKey, template="SUMMARY"):
    pass


class Brew(Entity, owns=("LogEntry",)):
    key = Keys(BrewPK, BrewSK)

    brew_id: str
    status: str = "active"
    note: str | None = None
    label: bytes = b""
    tags: set[str] = Field(default_factory=set)
    recipe: Annotated[dict[str, Any] | None, Compressed()] = None
    until: Ttl = None
    created_at: CreatedAt = auto()
    updated_at: UpdatedAt = auto()
    version: Version = 0


class LogEntry(Entity):
    key = Keys(BrewPK, LogSK)

    brew_id: str
    number: int
    text: str
    created_at: CreatedAt = auto()


class Summary(Entity):
    key = Keys(SummaryPK, SummarySK)

    brew_id: str
    status: str
    changes: int = 0


class Brewing(Design):
    table = BrewTable
    entities = (Brew, LogEntry, Summary)

    def __init__(self) -> None:
        self.seen: list[Change[Brew]] = []
        self.logged: list[Change[LogEntry]] = []

    @on(Brew)
    def note_change(self, change: Change[Brew]) -> None:
        self.seen.append(change)
        if change.new is not None and change.new.note == "poison":
            raise ValueError("this brew is poisoned")

    @on(Brew, "status")
    def log_status(self, change: Change[Brew]) -> Iterator[Create[LogEntry]]:
        if change.old is not None and change.new is not None:
            text = f"{change.old.status} to {change.new.status}"
            yield Create(LogEntry(brew_id=change.new.brew_id, number=change.new.version, text=text))

    @on(Brew, "status")
    def keep_summary(self, change: Change[Brew]) -> Put[Summary] | Delete[Summary]:
        key = SummaryPK(brew_id=change.entity.brew_id)
        if change.new is None:
            return Delete(Summary.key.get(key, SummarySK()))
        return Put(Summary(brew_id=change.new.brew_id, status=change.new.status))

    @on(Brew, "status")
    def mark_ready(self, change: Change[Brew]) -> list[Update[Brew]]:
        if change.new is None or change.new.status != "ready":
            return []
        return [Update(Brew.key.get(BrewPK(brew_id=change.new.brew_id), BrewSK()), note="drink it")]

    @on(LogEntry)
    def note_entry(self, change: Change[LogEntry]) -> None:
        self.logged.append(change)
