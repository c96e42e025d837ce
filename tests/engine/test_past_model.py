"""The past of a table, against copies of it.

Whatever was written, and however the clock went: what a view of a moment answers is what a database answers that
holds a copy of the items of that moment, every member of every page, cursors and units too.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    multiple,
    precondition,
    rule,
    run_state_machine_as_test,
)

from singletable import Database
from singletable.clock import ManualClock
from singletable.errors import InvalidRestoreTimeError
from singletable.past import PastView, to_datetime
from singletable.storage.check import check_file
from support.expiring import log_of
from support.past_tables import DAY_S, end_of_log, turn_on
from support.sample_tables import all_items, background, index, n
from support.things import ATTRIBUTES, INDEX_KEYS, KEYS, OTHERS, Item, create_things, key_of, queries, scans

TABLE_CONDITIONS = [
    *("pk = :p", "pk = :p AND sk = :m", "pk = :p AND sk < :m", "pk = :p AND sk >= :m"),
    "pk = :p AND sk BETWEEN :l AND :m",
]
NOW_S = 1_700_000_000  # of a new ManualClock
EXPIRING = st.integers(NOW_S, NOW_S + 20).map(lambda second: {"expires": n(second)})


@st.composite
def table_queries(draw: st.DrawFn) -> dict[str, Any]:
    condition = draw(st.sampled_from(TABLE_CONDITIONS))
    request = draw(queries())
    values = {
        ":p": draw(KEYS)["pk"],
        ":m": draw(KEYS)["sk"],
        ":l": n(draw(st.integers(-2, -1))),
    }
    for name in ("IndexName", "FilterExpression"):
        request.pop(name, None)
    return {
        **request,
        "KeyConditionExpression": condition,
        "ExpressionAttributeValues": {key: value for key, value in values.items() if key in condition},
    }


class Past(RuleBasedStateMachine):
    """Writes, passing and jumping time, settings that come and go; and reads of any moment so far."""

    read = Bundle("read")
    in_memory = True

    def __init__(self) -> None:
        super().__init__()
        self.clock = ManualClock()
        self.folder = tempfile.TemporaryDirectory()
        self.path = ":memory:" if self.in_memory else str(Path(self.folder.name) / "past.db")
        self.db = self.open()
        create_things(self.db)
        self.copies: list[tuple[int, list[Item]]] = []
        self.views: dict[int, PastView] = {}
        self.answers: dict[int, Database] = {}
        self.has_late_index = self.has_stream = False
        self.db.update_time_to_live(
            TableName="things", TimeToLiveSpecification={"AttributeName": "expires", "Enabled": True}
        )
        turn_on(self.db, "things", days=1)
        self.copy()

    def open(self) -> Database:
        return Database.open(self.path, durability="relaxed", clock=self.clock)

    def teardown(self) -> None:
        assert self.db.check() == []
        self.db.close()
        if not self.in_memory:
            assert check_file(self.path) == []
        for database in self.answers.values():
            database.close()
        self.folder.cleanup()

    def copy(self) -> None:
        """Keep what the table holds, with the time of its last change."""
        at_us = max(end_of_log(self.db, "things"), self.window()[0])
        items = all_items(self.db, "scan", TableName="things")
        if self.copies and self.copies[-1][0] == at_us:
            self.copies.pop()
            self.forget(at_us)
        self.copies.append((at_us, items))

    def forget(self, at_us: int) -> None:
        if at_us in self.answers:
            self.answers.pop(at_us).close()

    def window(self) -> tuple[int, int]:
        described = self.db.describe_continuous_backups(TableName="things")
        window: Any = described["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
        earliest, latest = window["EarliestRestorableDateTime"], window["LatestRestorableDateTime"]
        return round(earliest.timestamp() * 1e6), round(latest.timestamp() * 1e6)

    # --- writing

    @rule(key=KEYS, more=ATTRIBUTES, expiring=st.just({}) | EXPIRING)
    def put(self, key: Item, more: Item, expiring: Item) -> None:
        self.db.put_item(TableName="things", Item={**key, **more, **expiring})
        self.copy()

    @rule(key=KEYS)
    def delete(self, key: Item) -> None:
        self.db.delete_item(TableName="things", Key=key)
        self.copy()

    @rule(key=KEYS, name=st.sampled_from(["g", "h", "u", "x"]), data=st.data())
    def update(self, key: Item, name: str, data: st.DataObject) -> None:
        value = data.draw(st.none() | {**INDEX_KEYS, **OTHERS}[name])
        update: dict[str, Any] = {"UpdateExpression": f"REMOVE {name}"}
        if value is not None:
            update = {"UpdateExpression": f"SET {name} = :v", "ExpressionAttributeValues": {":v": value}}
        self.db.update_item(TableName="things", Key=key, **update)
        self.copy()

    @rule(writes=st.lists(st.tuples(KEYS, st.none() | ATTRIBUTES), min_size=2, max_size=8, unique_by=key_of))
    def transact(self, writes: list[tuple[Item, Item | None]]) -> None:
        actions: list[Any] = [
            {"Delete": {"TableName": "things", "Key": key}}
            if more is None
            else {"Put": {"TableName": "things", "Item": {**key, **more}}}
            for key, more in writes
        ]
        self.db.transact_write_items(TransactItems=actions)
        self.copy()

    # --- time and settings

    @rule(seconds=st.sampled_from([0.000001, 0.5, 5, 3600]))
    def time_passes(self, seconds: float) -> None:
        self.clock.advance(seconds)  # and what has expired is swept away
        self.copy()

    @rule(seconds=st.sampled_from([-7200, -1, 1, 7200, 90 * DAY_S]))
    def clock_is_put(self, seconds: float) -> None:
        self.clock.jump(seconds)

    @rule()
    def stream_comes_or_goes(self) -> None:
        self.has_stream = not self.has_stream
        specification: Any = {"StreamEnabled": self.has_stream}
        if self.has_stream:
            specification["StreamViewType"] = "NEW_AND_OLD_IMAGES"
        self.db.update_table(TableName="things", StreamSpecification=specification)

    @precondition(lambda self: not self.has_late_index)
    @rule()
    def index_is_added(self) -> None:
        add_late_index(self.db)
        self.has_late_index = True
        for database in self.answers.values():
            add_late_index(database)

    @rule()
    def database_is_opened_again(self) -> None:
        if not self.in_memory:
            self.db.close()
            self.db = self.open()
            self.views.clear()

    # --- reading

    def moment(self, data: st.DataObject) -> tuple[int, list[Item]]:
        """Draw a moment of the window, and the copy of what was there."""
        earliest_us, latest_us = self.window()
        known = [at_us for at_us, _ in self.copies]
        times = {time for at_us in known for time in (at_us, at_us + 1, at_us - 1)} | {earliest_us, latest_us}
        kept = sorted(time for time in times if earliest_us <= time <= latest_us)
        at_us = data.draw(st.sampled_from([time for time in kept if not self.is_hidden(time)]))
        return self.copy_at(at_us)

    def is_hidden(self, at_us: int) -> bool:
        """Tell whether a moment lies between the last change that the clock has come to and the next one.

        Of such a moment the log cannot tell what was there: the clock was ahead when the next one was made.
        """
        now_us, earliest_us = self.clock.time_us, self.window()[0]
        times_us = [entry.at_us for entry in log_of(self.db, "things")]
        exact_us = max([earliest_us, *(time for time in times_us if time <= now_us)])
        return any(exact_us < at_us < time for time in times_us if time > now_us) and not any(
            now_us < time <= at_us for time in times_us
        )

    def copy_at(self, at_us: int) -> tuple[int, list[Item]]:
        copied_us, items = max((copy for copy in self.copies if copy[0] <= at_us), key=lambda copy: copy[0])
        if copied_us not in self.answers:
            answers = Database.open(":memory:", clock=self.clock)
            create_things(answers)
            if self.has_late_index:
                add_late_index(answers)
            for item in items:
                answers.put_item(TableName="things", Item=item)
            self.answers[copied_us] = answers
        return at_us, items

    def compare(self, at_us: int, operation: str, request: dict[str, Any]) -> Any:
        self.copy_at(at_us)
        copied_us = max(copy[0] for copy in self.copies if copy[0] <= at_us)
        view = self.views.setdefault(at_us, self.db.at(to_datetime(at_us)))
        answer = getattr(view, operation)(TableName="things", **request)
        assert answer == getattr(self.answers[copied_us], operation)(TableName="things", **request)
        if "LastEvaluatedKey" not in answer:
            return multiple()
        return at_us, operation, {**request, "ExclusiveStartKey": answer["LastEvaluatedKey"]}

    @rule(target=read, request=queries() | table_queries(), data=st.data())
    def query(self, request: dict[str, Any], data: st.DataObject) -> Any:
        return self.compare(self.moment(data)[0], "query", request)

    @rule(target=read, request=scans(), data=st.data())
    def scan(self, request: dict[str, Any], data: st.DataObject) -> Any:
        return self.compare(self.moment(data)[0], "scan", request)

    @precondition(lambda self: self.has_late_index)
    @rule(data=st.data(), limit=st.integers(1, 3))
    def scan_late_index(self, data: st.DataObject, limit: int) -> None:
        self.compare(self.moment(data)[0], "scan", {"IndexName": "late", "Limit": limit})

    @rule()
    def read_now(self) -> None:
        """Whatever the clock did: what is said of now is what there is, or why it cannot be told."""
        view = self.db.at(to_datetime(self.clock.time_us))
        if self.clock.time_us < self.window()[0] or self.is_hidden(self.clock.time_us):
            with pytest.raises(InvalidRestoreTimeError):
                view.scan(TableName="things")
        elif end_of_log(self.db, "things") <= self.clock.time_us:  # else it is the very moment of a change
            assert view.scan(TableName="things")["Count"] == len(
                all_items(self.db, "scan", TableName="things")
            )

    @rule(target=read, page=read)
    def read_on(self, page: tuple[int, str, dict[str, Any]]) -> Any:
        if not self.window()[0] <= page[0] <= self.window()[1] or self.is_hidden(page[0]):
            return multiple()  # it has left the window meanwhile, or the clock was put back
        return self.compare(*page)

    @rule(key=KEYS, other=KEYS, data=st.data())
    def get(self, key: Item, other: Item, data: st.DataObject) -> None:
        at_us, items = self.moment(data)
        view = self.db.at(to_datetime(at_us))
        expected = [item for item in items if key.items() <= item.items()]
        assert view.get_item(TableName="things", Key=key).get("Item") == next(iter(expected), None)
        keys = [key] if key == other else [key, other]
        answer = view.batch_get_item(RequestItems={"things": {"Keys": keys}})["Responses"]["things"]
        assert answer == [item for wanted in keys for item in items if wanted.items() <= item.items()]

    @rule(data=st.data())
    def restore(self, data: st.DataObject) -> None:
        at_us, items = self.moment(data)
        self.db.restore_table_to_point_in_time(
            SourceTableName="things", TargetTableName="restored", RestoreDateTime=to_datetime(at_us)
        )
        assert all_items(self.db, "scan", TableName="restored") == items
        copied_us = max(copy[0] for copy in self.copies if copy[0] <= at_us)
        for name in ("flat", "sorted", "turned", "wide", "local"):
            expected = all_items(self.answers[copied_us], "scan", TableName="things", IndexName=name)
            assert all_items(self.db, "scan", TableName="restored", IndexName=name) == expected
        self.db.delete_table(TableName="restored")

    @rule()
    def a_day_passes(self) -> None:
        """Let the window move on behind what is known so far."""
        self.clock.advance(DAY_S)
        self.copy()
        assert self.window()[0] >= background(self.db).now_us() - DAY_S * 1_000_000


def add_late_index(db: Database) -> None:
    db.update_table(
        TableName="things",
        AttributeDefinitions=[{"AttributeName": "u", "AttributeType": "S"}],
        GlobalSecondaryIndexUpdates=[{"Create": index("late", "u")}],
    )


class PastOfFile(Past):
    in_memory = False


TestPastInMemory = Past.TestCase
TestPastInMemory.settings = settings(max_examples=12, stateful_step_count=50)
TestPastOfFile = PastOfFile.TestCase
TestPastOfFile.settings = settings(max_examples=12, stateful_step_count=50)


@pytest.mark.soak
@pytest.mark.parametrize("machine", [Past, PastOfFile], ids=["memory", "file"])
def test_many_random_pasts_are_read_as_they_were(machine: type[Past]) -> None:
    long = settings(max_examples=500, stateful_step_count=50, derandomize=False)
    run_state_machine_as_test(machine, settings=long)
