"""Time to live against a model: after any history, there is what has not expired, and the log says why."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from singletable import Database
from singletable.clock import ManualClock
from singletable.limits import TTL_AGE_S_MAX, TTL_CHANGE_S
from singletable.storage.log import EXPIRED
from support.expiring import ATTRIBUTE, NOW_S, disable, enable, log_of
from support.sample_tables import create_single, item, n, s

KEYS = [f"k{number}" for number in range(8)]

# Seconds from now, exact ones and fractions, or what is no time at all.
times = st.one_of(
    st.integers(-5, 20),
    st.integers(-TTL_AGE_S_MAX - 2, -TTL_AGE_S_MAX + 2),
    st.decimals(0, 10, places=2, allow_nan=False),
    st.sampled_from([s("soon"), {"L": [n(1)]}, None]),
)
steps = st.one_of(
    st.tuples(st.just("put"), st.sampled_from(KEYS), times),
    st.tuples(st.just("delete"), st.sampled_from(KEYS), st.none()),
    st.tuples(st.just("advance"), st.integers(0, 12), st.none()),
    st.tuples(st.just("toggle"), st.none(), st.none()),
)


class Model:
    """What a table must hold: the items, and which of them have expired."""

    def __init__(self) -> None:
        self.now_s = NOW_S
        self.items: dict[str, Any] = {}
        self.is_enabled = False
        self.expired = 0

    def sweep(self) -> None:
        if not self.is_enabled:
            return
        for name, found in list(self.items.items()):
            value = found.get(ATTRIBUTE, {}).get("N")
            if value is None:
                continue
            seconds = int(float(value))
            if self.now_s - TTL_AGE_S_MAX <= seconds < self.now_s:
                del self.items[name]
                self.expired += 1


@settings(max_examples=75)
@given(st.lists(steps, max_size=40), st.booleans())
def test_only_what_has_expired_is_gone(history: list[Any], starts_enabled: bool) -> None:
    clock, model = ManualClock(), Model()
    with Database.open(":memory:", clock=clock) as db:
        create_single(db, StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"})
        if starts_enabled:
            enable(db)
            model.is_enabled = True
        for operation, argument, time in history:
            match operation:
                case "put":
                    made = item(argument, "1", GSI1PK=s("g"), GSI1SK=s(argument))
                    if isinstance(time, dict):
                        made[ATTRIBUTE] = time
                    elif time is not None:
                        made[ATTRIBUTE] = n(str(model.now_s + time))
                    db.put_item(TableName="single", Item=made)
                    model.items[argument] = made
                case "delete":
                    db.delete_item(TableName="single", Key=item(argument, "1"))
                    model.items.pop(argument, None)
                case "advance":
                    clock.advance(argument)
                    model.now_s += argument
                    model.sweep()
                case "toggle":
                    clock.advance(TTL_CHANGE_S)
                    model.now_s += TTL_CHANGE_S
                    model.sweep()
                    (disable if model.is_enabled else enable)(db)
                    model.is_enabled = not model.is_enabled
            found = {found["PK"]["S"]: found for found in db.scan(TableName="single")["Items"]}
            assert found.keys() == model.items.keys()
            indexed = db.scan(TableName="single", IndexName="GSI1")["Items"]
            assert {entry["PK"]["S"] for entry in indexed} == found.keys()
        assert db.check() == []
        logged = [entry for entry in log_of(db) if entry.event == EXPIRED]
        assert len(logged) == model.expired == db.metrics().time_to_live_deleted_items("single")
