"""A process that consumes the changes of a table, as told, and reports what its handler was given.

usage: python -m resilience.crash.consuming FILE HOW LEASE_S [BATCH_SIZE]

HOW is `together` (the handler counts each record in its consumer's transaction), `apart` (it only reports),
`stuck` (it reports, and never returns), or the name of a scenario with forks, which ends by itself.
"""

from __future__ import annotations

import os
import sys
import threading
from typing import Any

from resilience.crash.forking import in_child
from singletable import Database
from singletable.errors import ConsumerEndedError
from support.consuming import TABLE, add_one, create_logged, keys_of, put

_WAIT_S = 60.0


def report(keys: list[str]) -> None:
    """Print keys, one a line, in one small write, so that lines of several processes stay whole."""
    os.write(1, "".join(f"{key}\n" for key in keys).encode())


def count_together(event: dict[str, Any], context: Any) -> None:
    for key in keys_of(event):
        context.transaction.update_item(**add_one(key))
    report(keys_of(event))


def only_report(event: dict[str, Any], context: Any) -> None:
    report(keys_of(event))


def stick(event: dict[str, Any], context: Any) -> None:
    report(keys_of(event))
    threading.Event().wait()


def consume(path: str, how: str, lease_s: float, batch_size: int) -> None:
    """Consume until the process is killed."""
    handler = {"together": count_together, "apart": only_report, "stuck": stick}[how]
    db = Database.open(path, durability="relaxed")
    db.consume(TABLE, handler, "follower", lease_s=lease_s, batch_size=batch_size, poll_s=0.02)
    threading.Event().wait()


# --- forks ----------------------------------------------------------------------------------------------


def parent_goes_on(path: str) -> None:
    """A consumer belongs to the process that made it; its child can write, and close, and consume by itself."""
    seen: list[str] = []
    db = Database.open(path, durability="relaxed")
    create_logged(db)
    consumer = db.consume(TABLE, lambda event: seen.extend(keys_of(event)), "follower", poll_s=0.01)
    put(db, "before")
    consumer.drain(_WAIT_S)

    def child() -> None:
        put(db, "in the child")
        try:
            consumer.drain()
        except ConsumerEndedError:
            pass
        else:
            raise AssertionError("it runs in the child")
        consumer.stop()
        own: list[str] = []
        with db.consume(TABLE, lambda event: own.extend(keys_of(event)), "another") as other:
            other.drain(_WAIT_S)
        assert own == ["before", "in the child"], own
        db.close()

    in_child(child)
    put(db, "after")
    consumer.drain(_WAIT_S)
    assert seen == ["before", "in the child", "after"], seen
    db.close()


def forks_beside_a_busy_consumer(path: str) -> None:
    """Forks at any moment: the consumer of the parent goes on, and loses nothing."""
    seen: list[str] = []
    db = Database.open(path, durability="relaxed")
    create_logged(db)
    consumer = db.consume(TABLE, lambda event: seen.extend(keys_of(event)), "follower", batch_size=2)
    for number in range(20):
        put(db, *[f"{number}-{part}" for part in range(5)])
        in_child(lambda number=number: put(db, f"{number}-child"))  # type: ignore[misc]
    consumer.drain(_WAIT_S)
    assert len(seen) == len(set(seen)) == 120
    db.close()


SCENARIOS = {scenario.__name__: scenario for scenario in (parent_goes_on, forks_beside_a_busy_consumer)}


def main(path: str, how: str, lease_s: str = "10", batch_size: str = "10") -> None:
    if how in SCENARIOS:
        SCENARIOS[how](path)
    else:
        consume(path, how, float(lease_s), int(batch_size))


if __name__ == "__main__":
    main(*sys.argv[1:])
