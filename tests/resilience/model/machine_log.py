"""State machine, with the log: streams, time to live, recovery, restoring and backups beside all other operations.

Time passes with every step, and only then. The model keeps what each table was after each step; a stream, read
from its beginning, must lead from what the table was to what it is.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule

from resilience.model.endpoints import Endpoint
from resilience.model.machine_reads import ModelMachine
from resilience.model.machine_tables import table_exists
from resilience.model.refusals import RefusedError
from resilience.model.tables import Definition, Key, Table
from resilience.model.values import Item, Value, item_from_wire, item_to_wire
from singletable.clock import ManualClock

Items = dict[Key, Item]

# Early, so that the small numbers that items hold are times that come soon, and none is five years old.
START_US = 1_000_000
STEP_S = 0.001
EXPIRING = ("n1", "a1", "name")
VIEWS = ("NEW_AND_OLD_IMAGES", "NEW_IMAGE", "OLD_IMAGE", "KEYS_ONLY")
TTL_CHANGE_S = 3601
TABLES_MAX = 5


@dataclass
class Kept:
    """What the machine knows of one table beyond its items."""

    ttl: str | None = None
    moments: dict[int, Items] | None = None  # by the time after each step, while recovery is on
    view: str | None = None
    stream_from: Items = field(default_factory=dict)
    stream_arn: str = ""
    copy: Items = field(default_factory=dict)  # what a consumer has made of the stream
    consumer: str = ""


@dataclass
class Backup:
    """A copy that a table was backed up to."""

    arn: str
    definition: Definition
    items: Items


class LogMachine(ModelMachine):
    """All operations of the engine, with those that the log serves."""

    def __init__(self) -> None:
        self.clock = ManualClock(START_US)
        self.kept: dict[str, Kept] = {}
        self.backups: list[Backup] = []
        self.restored = 0
        self.consumers = 0
        super().__init__()

    # --- time ---------------------------------------------------------------------------

    def pass_time(self, seconds: float) -> None:
        self.clock.advance(seconds)
        if seconds >= 60:
            self.last_request = None  # its token may be forgotten by now
        for name, table in self.tables.items():
            attribute = self.kept_of(name).ttl
            if attribute is not None:
                self.expire(table, attribute)

    def expire(self, table: Table, attribute: str) -> None:
        now_s = self.clock.now_us() // 1_000_000
        for key, item in list(table.items.items()):
            if expires(item.get(attribute), now_s):
                del table.items[key]

    def kept_of(self, name: str) -> Kept:
        return self.kept.setdefault(name, Kept())

    @invariant()
    def remember(self) -> None:
        """Let a moment pass after each step, and keep what the tables are."""
        for gone in self.kept.keys() - self.tables.keys():
            del self.kept[gone]
        for name, table in self.tables.items():
            moments = self.kept_of(name).moments
            if moments is not None:
                moments[self.clock.now_us()] = dict(table.items)
        self.pass_time(STEP_S)

    @rule(seconds=st.sampled_from([0.5, 1, 3, 60]))
    def wait(self, seconds: float) -> None:
        self.pass_time(seconds)

    # --- time to live -----------------------------------------------------------------------

    @precondition(table_exists)
    @rule(data=st.data())
    def change_time_to_live(self, data: st.DataObject) -> None:
        name, _ = self.draw_table(data)
        kept = self.kept_of(name)
        self.pass_time(TTL_CHANGE_S)  # until then it cannot be changed again
        enabled = kept.ttl is None
        attribute = data.draw(st.sampled_from(EXPIRING)) if kept.ttl is None else kept.ttl
        specification = {"Enabled": enabled, "AttributeName": attribute}
        self.endpoint.call("update_time_to_live", TableName=name, TimeToLiveSpecification=specification)
        kept.ttl = attribute if enabled else None
        described = self.endpoint.call("describe_time_to_live", TableName=name)["TimeToLiveDescription"]
        assert described.get("AttributeName") == kept.ttl

    # --- streams ------------------------------------------------------------------------------

    @precondition(table_exists)
    @rule(data=st.data())
    def change_stream(self, data: st.DataObject) -> None:
        name, table = self.draw_table(data)
        kept = self.kept_of(name)
        if kept.view is not None:
            self.compare_stream(name)
            specification: dict[str, Any] = {"StreamEnabled": False}
            kept.view = None
        else:
            kept.view = data.draw(st.sampled_from(VIEWS))
            kept.stream_from = dict(table.items)
            specification = {"StreamEnabled": True, "StreamViewType": kept.view}
        self.endpoint.call("update_table", TableName=name, StreamSpecification=specification)
        kept.stream_arn = self.endpoint.call("describe_table", TableName=name)["Table"]["LatestStreamArn"]
        if kept.view == "NEW_AND_OLD_IMAGES":
            self.consumers += 1
            kept.consumer = f"copy-{self.consumers}"
            kept.copy = dict(table.items)
            self.consume(name, start="LATEST")

    @precondition(table_exists)
    @rule(data=st.data())
    def read_stream(self, data: st.DataObject) -> None:
        name, _ = self.draw_table(data)
        if self.kept_of(name).view is not None:
            self.compare_stream(name)

    @precondition(table_exists)
    @rule(data=st.data())
    def run_consumer(self, data: st.DataObject) -> None:
        """Let a consumer that keeps a copy of the table catch up, from where it stood."""
        name, table = self.draw_table(data)
        kept = self.kept_of(name)
        if kept.view != "NEW_AND_OLD_IMAGES":
            return
        self.consume(name)
        assert kept.copy.keys() == table.items.keys()
        for key, item in table.items.items():
            self.check_item(kept.copy[key], item)

    def consume(self, name: str, start: str = "TRIM_HORIZON") -> None:
        kept, names = self.kept[name], self.tables[name].definition.key_names()

        def handler(event: dict[str, Any]) -> None:
            for record in event["Records"]:
                change = record["dynamodb"]
                key_item = item_from_wire(decoded(change["Keys"]))
                key = tuple(key_item[part] for part in names)
                kept.copy.pop(key, None)
                if "NewImage" in change:
                    kept.copy[key] = item_from_wire(decoded(change["NewImage"]))

        database = self.endpoint.client
        with database.consume(
            name, handler, kept.consumer, start=start, batch_size=7, background=False
        ) as it:
            it.drain()

    def compare_stream(self, name: str) -> None:
        """Play the records of a stream; each must begin where the item stood, and all lead to what is there."""
        kept, table = self.kept[name], self.tables[name]
        played = dict(kept.stream_from)
        present = set(played)
        for record in self.records(kept.stream_arn):
            change = record["dynamodb"]
            key_item = item_from_wire(change["Keys"])
            key = tuple(key_item[part] for part in table.definition.key_names())
            assert (record["eventName"] == "INSERT") == (key not in present)
            assert ("OldImage" in change) == (
                kept.view in ("OLD_IMAGE", "NEW_AND_OLD_IMAGES") and key in present
            )
            assert ("NewImage" in change) == (
                kept.view in ("NEW_IMAGE", "NEW_AND_OLD_IMAGES") and record["eventName"] != "REMOVE"
            )
            if "OldImage" in change and kept.view == "NEW_AND_OLD_IMAGES":
                self.check_item(item_from_wire(change["OldImage"]), played[key])
            if record["eventName"] == "REMOVE":
                present.discard(key)
                played.pop(key, None)
            else:
                present.add(key)
                if "NewImage" in change:
                    played[key] = item_from_wire(change["NewImage"])
        assert present == set(table.items)
        if kept.view in ("NEW_IMAGE", "NEW_AND_OLD_IMAGES"):
            for key, item in table.items.items():
                self.check_item(played[key], item)

    def records(self, arn: str) -> Iterator[dict[str, Any]]:
        """Read a stream from its beginning, parents before their children."""
        shards = self.endpoint.call("describe_stream", StreamArn=arn)["StreamDescription"]["Shards"]
        for shard in shards:
            iterator = self.endpoint.call(
                "get_shard_iterator",
                StreamArn=arn,
                ShardId=shard["ShardId"],
                ShardIteratorType="TRIM_HORIZON",
            )["ShardIterator"]
            while iterator is not None:
                page = self.endpoint.call("get_records", ShardIterator=iterator, Limit=7)
                yield from page["Records"]
                iterator = page.get("NextShardIterator")
                if not page["Records"] and "EndingSequenceNumber" not in shard["SequenceNumberRange"]:
                    break

    # --- the past ------------------------------------------------------------------------------

    @precondition(table_exists)
    @rule(data=st.data())
    def change_recovery(self, data: st.DataObject) -> None:
        name, table = self.draw_table(data)
        kept = self.kept_of(name)
        enabled = kept.moments is None
        specification = {"PointInTimeRecoveryEnabled": enabled}
        self.endpoint.call(
            "update_continuous_backups", TableName=name, PointInTimeRecoverySpecification=specification
        )
        kept.moments = {self.clock.now_us(): dict(table.items)} if enabled else None

    def draw_moment(self, data: st.DataObject, name: str) -> tuple[float, Items] | None:
        """Draw a moment that a table can be brought back to, or one shortly behind it, with what it was."""
        moments = self.kept_of(name).moments
        if not moments:
            return None
        at_us = data.draw(st.sampled_from(sorted(moments)), label="moment")
        later_us = data.draw(st.sampled_from([0, 0, 1, 999]), label="later")
        return (at_us + later_us) / 1_000_000, moments[at_us]

    @precondition(table_exists)
    @rule(data=st.data())
    def read_the_past(self, data: st.DataObject) -> None:
        name, table = self.draw_table(data)
        drawn = self.draw_moment(data, name)
        if drawn is None:
            return
        at_s, items = drawn
        past = Table(table.definition, dict(items))
        with self.instead(Endpoint(self.endpoint.client.at(at_s))):
            for view in (None, *past.definition.indexes):
                self.compare_view(name, past, view)
            for key in {*past.items, *table.items}:
                answer = self.endpoint.call("get_item", TableName=name, Key=wire_key(past, key))
                self.check_item(self.endpoint.item(answer.get("Item")), past.items.get(key))

    @contextmanager
    def instead(self, endpoint: Endpoint) -> Iterator[None]:
        present, self.endpoint = self.endpoint, endpoint
        try:
            yield
        finally:
            self.endpoint = present

    @precondition(table_exists)
    @rule(data=st.data())
    def restore_the_past(self, data: st.DataObject) -> None:
        name, table = self.draw_table(data)
        drawn = self.draw_moment(data, name)
        if drawn is None or len(self.tables) >= TABLES_MAX:
            return
        at_s, items = drawn
        restored = self.next_name()
        self.endpoint.call(
            "restore_table_to_point_in_time",
            SourceTableName=name,
            TargetTableName=restored,
            RestoreDateTime=datetime.fromtimestamp(at_s, UTC),
        )
        self.add_restored(restored, table.definition, items)

    def next_name(self) -> str:
        self.restored += 1
        return f"restored-{self.restored}"

    def add_restored(self, name: str, definition: Definition, items: Items) -> None:
        self.tables[name] = Table(definition, dict(items))
        self.await_indexes(name)
        for view in (None, *definition.indexes):
            self.compare_view(name, self.tables[name], view)

    # --- backups ---------------------------------------------------------------------------------

    @precondition(table_exists)
    @rule(data=st.data())
    def back_up(self, data: st.DataObject) -> None:
        name, table = self.draw_table(data)
        details = self.endpoint.call("create_backup", TableName=name, BackupName=f"copy-of-{name}")
        self.backups.append(
            Backup(details["BackupDetails"]["BackupArn"], table.definition, dict(table.items))
        )
        listed = self.endpoint.call("list_backups")["BackupSummaries"]
        assert {backup["BackupArn"] for backup in listed} >= {backup.arn for backup in self.backups}

    @precondition(lambda machine: bool(machine.backups))
    @rule(data=st.data())
    def use_backup(self, data: st.DataObject) -> None:
        """Restore a backup, or delete it."""
        backup = data.draw(st.sampled_from(self.backups), label="backup")
        if data.draw(st.booleans(), label="delete") or len(self.tables) >= TABLES_MAX:
            self.endpoint.call("delete_backup", BackupArn=backup.arn)
            self.backups.remove(backup)
            gone = RefusedError("BackupNotFoundException")
            self.check_refused(gone, "describe_backup", {"BackupArn": backup.arn})
            return
        restored = self.next_name()
        self.endpoint.call("restore_table_from_backup", BackupArn=backup.arn, TargetTableName=restored)
        self.add_restored(restored, backup.definition, backup.items)

    def teardown(self) -> None:
        for name, kept in self.kept.items():
            if name in self.tables and kept.view is not None:
                self.compare_stream(name)
        super().teardown()


def expires(value: Value | None, now_s: int) -> bool:
    """Tell whether a time to live is over: a number of a second before this one."""
    return isinstance(value, Decimal) and int(value) < now_s


def decoded(image: dict[str, Any]) -> dict[str, Any]:
    """Return an image of an event, where binary values are base64, as a client has it."""
    return {name: decoded_value(value) for name, value in image.items()}


def decoded_value(value: dict[str, Any]) -> dict[str, Any]:
    ((kind, payload),) = value.items()
    match kind:
        case "B":
            return {kind: b64decode(payload)}
        case "BS":
            return {kind: [b64decode(member) for member in payload]}
        case "L":
            return {kind: [decoded_value(member) for member in payload]}
        case "M":
            return {kind: decoded(payload)}
    return value


def wire_key(table: Table, key: Key) -> dict[str, Any]:
    return item_to_wire(table.key_item(key))
