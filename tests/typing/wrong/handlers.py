"""Handlers of changes that cannot be right."""

from __future__ import annotations

from designs.kefir import Batch, BatchEvent, Kefir, User, UserId
from singletable.design import Change, Create, on


class WatchedKefir(Kefir):
    @on(Batch)  # error
    def another_entity(self, change: Change[User]) -> None: ...

    @on(Batch)  # error
    def no_writes(self, change: Change[Batch]) -> list[str]:
        return ["x"]

    @on(Batch, 1)  # error
    def no_field(self, change: Change[Batch]) -> None: ...

    @on("Batch")  # error
    def no_entity(self, change: Change[Batch]) -> None: ...

    @on(Batch)
    def misspelt(self, change: Change[Batch]) -> Create[BatchEvent] | None:
        print(change.entity.statsu)  # error
        print(change.old.status)  # error
        print(change.expired)  # error
        change.new = None  # error
        return Create(change.entity)  # error


WatchedKefir.open(":memory:").delete(UserId("u1"))  # error
WatchedKefir.open(":memory:").delete_plan("USER#u1")  # error
