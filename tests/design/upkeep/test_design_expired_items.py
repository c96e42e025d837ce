"""`delete_expired`: what the table's TTL would delete, and nothing else, on every target."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from singletable import Database, Design, Entity, Key, Keys, SortKey, Table, Ttl, Unique, expires
from singletable.clock import ManualClock
from singletable.errors import DeclarationError
from support.opened_designs import call, opened_design, stored_items
from support.targets import TARGETS

DAY_S = 86_400
YEAR_S = 365 * DAY_S
# Nothing has expired yet for a target with a clock of its own, and the engine sweeps when the clock is advanced,
# which these tests do not do.
YEAR_2099_US = 4_080_000_000_000_000


class Sessions(Table):
    name = "sessions"


class SessionPK(Key, template="SESSION#{session_id}"):
    session_id: str


class TokenPK(Key, template="TOKEN#{token}"):
    token: str


class DataSK(SortKey, template="DATA"):
    pass


class Session(Entity):
    key = Keys(SessionPK, DataSK)
    unique_token = Unique(TokenPK)

    session_id: str
    token: str
    text: str = ""
    ttl: Ttl = expires(days=1)


class Logins(Design):
    table = Sessions
    entities = (Session,)


def fill(db: Design, clock: ManualClock) -> None:
    """Store ten sessions of which five have expired, and what only looks as if it had."""
    for number in range(10):
        if number == 5:
            clock.time_us += 2 * DAY_S * 1_000_000
        db.create(Session(session_id=f"s{number}", token=f"t{number}"))
    now_s = clock.now_us() // 1_000_000
    for name, ttl in {
        "text": {"S": str(now_s - 10)},
        "ancient": {"N": str(now_s - 6 * YEAR_S)},
        "future": {"N": str(now_s + 10)},
    }.items():
        call(db, "PutItem", Item={"PK": {"S": name}, "SK": {"S": "DATA"}, "ttl": ttl})


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("segments", [1, 4])
def test_only_what_has_expired_is_deleted_with_its_locks(target: str, segments: int) -> None:
    clock = ManualClock(YEAR_2099_US)
    with opened_design(Logins, target, clock) as db:
        fill(db, clock)
        cleared = db.delete_expired(segments=segments)
        left = {item["PK"]["S"] for item in stored_items(db)}
    kept = {f"SESSION#s{number}" for number in range(5, 10)} | {f"TOKEN#t{number}" for number in range(5, 10)}
    assert left == kept | {"text", "ancient", "future"}
    assert (cleared.read, cleared.deleted) == (23, 10)
    assert cleared.units >= 10


def test_asyncio_does_the_same() -> None:
    clock = ManualClock(YEAR_2099_US)
    with opened_design(Logins, "embedded", clock) as db:
        fill(db, clock)
        assert asyncio.run(db.adelete_expired()).deleted == 10


def test_item_that_is_given_more_time_meanwhile_stays() -> None:
    clock = ManualClock(YEAR_2099_US)
    with opened_design(Logins, "embedded", clock) as db:
        fill(db, clock)
        client = db.session.client
        answer = client.call

        def renew_after_scan(operation: str, params: Any) -> Any:
            found = answer(operation, params)
            if operation == "Scan":
                for item in found["Items"]:
                    answer(
                        "PutItem", {"TableName": "sessions", "Item": {**item, "ttl": {"N": "99999999999"}}}
                    )
            return found

        client.call = renew_after_scan  # type: ignore[method-assign]
        assert db.delete_expired().deleted == 0
        del client.call
        assert len(stored_items(db)) == 23


class PacedClock(ManualClock):
    """A clock that a client's waits move."""

    def __init__(self) -> None:
        super().__init__(YEAR_2099_US)
        self.waited_s: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.waited_s.append(seconds)


def test_no_more_units_are_spent_than_it_may() -> None:
    clock = PacedClock()
    with Database.open(":memory:", clock=clock) as database:
        db = Logins.open(database, clock=clock, sleep=clock.sleep)
        for number in range(30):  # pages of 1 MB
            db.create(Session(session_id=f"s{number}", token=f"t{number}", text="x" * 100_000))
        cleared = db.delete_expired(segments=1, units_per_s=10)
    # No time passes by this clock but for the waits, so those of all pages but the last are the units of these.
    assert len(clock.waited_s) == cleared.units // 128
    assert sum(clock.waited_s) * 10 <= cleared.units
    assert sum(clock.waited_s) * 10 > cleared.units / 2


def test_progress_is_told_after_every_page() -> None:
    clock = ManualClock(YEAR_2099_US)
    told: list[int] = []
    with opened_design(Logins, "embedded", clock) as db:
        fill(db, clock)
        cleared = db.delete_expired(progress=lambda so_far: told.append(so_far.read))
    assert told[-1] == cleared.read


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"segments": 0}, ValueError),
        ({"segments": "4"}, TypeError),
        ({"units_per_s": 0}, ValueError),
        ({"units_per_s": "fast"}, TypeError),
        ({"progress": 1}, TypeError),
    ],
)
def test_wrong_use_is_refused(options: dict[str, Any], error: type[Exception]) -> None:
    with opened_design(Logins, "embedded") as db, pytest.raises(error):
        db.delete_expired(**options)


def test_design_in_which_nothing_expires_is_told_so() -> None:
    class Note(Entity):
        key = Keys(SessionPK, DataSK)
        session_id: str

    class Notes(Design):
        table = Sessions
        entities = (Note,)

    with opened_design(Notes, "embedded") as db, pytest.raises(DeclarationError, match="no entity of Notes"):
        db.delete_expired()
