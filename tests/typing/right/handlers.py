"""Handlers of changes, as they are written."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from designs.kefir import Batch, BatchEvent, EventId, Kefir, User, UserId
from singletable.design import Change, Create, Delete, Put, Update, on


class WatchedKefir(Kefir):
    @on(Batch, "status")
    def log_status(self, change: Change[Batch]) -> Iterator[Put[BatchEvent]]:
        if change.old and change.new and not change.is_expired:
            yield Put(
                BatchEvent(
                    batch_id=change.new.batch_id,
                    event_id=EventId(f"v{change.new.version}"),
                    type="status_change",
                    from_status=change.old.status,
                    to_status=change.new.status,
                    created_at=change.new.updated_at,
                )
            )

    @on(Batch)
    def follow(self, change: Change[Batch]) -> list[Update[User] | Delete[Batch]] | None:
        at: datetime = change.at
        if change.kind == "delete":
            return None
        return [Update(self.user(change.entity.user_id), name=at.isoformat()), Delete(change.entity)]

    @on(User, "email", "name")
    def greet(self, change: Change[User]) -> Create[User] | None:
        return None if change.new is None else Create(change.new)

    @on(User)
    def count(self, change: Change[User]) -> None:
        print(change.sequence_number, change.event_id, change.entity.email)


with WatchedKefir.open(":memory:") as db:
    with db.consume(background=False) as consumer:
        consumer.drain()
    counts: dict[str, int] = db.delete_plan(User(user_id=UserId("u1"), email="a@example.org")).counts
    handler = WatchedKefir.lambda_handler(target="dynamodb://eu-north-1", stage="prod")
    failures: list[dict[str, str]] = handler({"Records": []}, None)["batchItemFailures"]
