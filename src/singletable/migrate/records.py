"""What a table says of its migrations: one item for each, which also is the lease of whoever runs it.

The item is under the text `MIGRATIONS` with the migration's id as sort key; in a table without a sort key, under
`MIGRATIONS#id`. Its discriminator is one that no entity has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from singletable.client.calls import Call, Steps
from singletable.design.model.catalog import RESERVED
from singletable.design.session.expressions import Placeholders
from singletable.design.session.session import Session
from singletable.design.values.items import AttributeValue, Item, decode
from singletable.errors import ConditionFailedError, MigrationError
from singletable.migrate.files import Migration

State = Literal["running", "stopped", "done"]

PARTITION: Final = "MIGRATIONS"
DISCRIMINATOR: Final = f"{RESERVED}migration"
FAILURES_MAX: Final = 20
_ATTEMPTS: Final = 5


@dataclass(frozen=True, slots=True)
class Segment:
    """How far one part of a scan is: the key of the last item that was dealt with."""

    last: Item | None = None
    is_done: bool = False


@dataclass(frozen=True, slots=True)
class Counts:
    """How many items were looked at, and what became of them."""

    seen: int = 0
    changed: int = 0
    moved: int = 0
    unknown: int = 0  # of no entity of the design
    failed: int = 0

    def plus(self, other: Counts) -> Counts:
        return Counts(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))

    def data(self) -> dict[str, int]:
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Record:
    """What is known of one migration in a table."""

    id: str
    title: str = ""
    state: State = "running"
    step: int = 0  # the next one to do, or the one that is being done
    segments: tuple[Segment, ...] = ()  # of the step
    counts: Counts = Counts()
    is_verified: bool = False
    differing: int = 0  # items, found by the verify that is being done
    failures: tuple[str, ...] = ()
    owner: str = ""
    until_us: int = 0
    started_us: int = 0
    finished_us: int = 0
    elapsed_us: int = 0  # of all runs together
    revision: int = 0  # counts the writes of the record
    fingerprint: str = ""  # of the steps
    keeps_over_us: int = 0  # items that were over at this time get no time to live; 0: they do

    @property
    def is_done(self) -> bool:
        return self.state == "done"


class Records:
    """The records of the migrations of one table."""

    def __init__(self, session: Session) -> None:
        self._session = session
        types = session.catalog.attribute_types
        self._pk, self._sk = session.catalog.table.pk, session.catalog.table.sk
        if types[self._pk] != "S":
            raise MigrationError(
                f"the partition key {self._pk} of {session.table} is no text, and records are under one"
            )
        self._sk_is_text = self._sk is not None and types[self._sk] == "S"

    def key(self, migration: str) -> Item:
        """Return the key of a record."""
        if self._sk is not None and self._sk_is_text:
            return {self._pk: {"S": PARTITION}, self._sk: {"S": migration}}
        key: Item = {self._pk: {"S": f"{PARTITION}#{migration}"}}
        if self._sk is not None:
            key[self._sk] = {"N": "0"}
        return key

    def read(self, migration: str) -> Steps[Record | None]:
        """Read one record; None of a migration that was never begun."""
        params = {"TableName": self._session.table, "Key": self.key(migration), "ConsistentRead": True}
        answer = yield Call("GetItem", params)
        item = answer.get("Item")
        return None if item is None else _record(item)

    def read_all(self, migrations: Sequence[str]) -> Steps[dict[str, Record]]:
        """Read the records of these migrations and, where the table can list them, of all others."""
        found: dict[str, Record] = {}
        if self._sk_is_text:
            for item in (yield from self._listed()):
                record = _record(item)
                found[record.id] = record
            return found
        for migration in migrations:
            one = yield from self.read(migration)
            if one is not None:
                found[migration] = one
        return found

    def _listed(self) -> Steps[list[Item]]:
        into = Placeholders()
        condition = f"{into.name(self._pk)} = {into.value({'S': PARTITION})}"
        params: dict[str, Any] = {
            "TableName": self._session.table,
            "KeyConditionExpression": condition,
            "ConsistentRead": True,
        }
        items: list[Item] = []
        while True:
            answer = yield Call("Query", into.add_to(dict(params)))
            items += answer["Items"]
            if "LastEvaluatedKey" not in answer:
                return items
            params["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    def take(self, new: Record, owner: str, lease_s: float) -> Steps[Record]:
        """Take the lease of a migration, or say who has it; a migration that is done is only returned."""
        migration = new.id
        for _ in range(_ATTEMPTS):
            there = yield from self.read(migration)
            now_us = self._session.now_us()
            if there is not None and there.is_done:
                return there
            if there is not None and there.owner not in ("", owner) and there.until_us >= now_us:
                left_s = (there.until_us - now_us) / 1_000_000
                raise MigrationError(
                    f"{there.owner} is running {migration} on {self._session.table}",
                    hint=f"wait for it; if it has died, its lease is over in {left_s:.0f} s",
                )
            taken = replace(
                there or replace(new, started_us=now_us),
                state="running",
                owner=owner,
                until_us=now_us + int(lease_s * 1_000_000),
                revision=(there.revision if there is not None else 0) + 1,
            )
            try:
                yield self._put(taken, None if there is None else there.revision)
            except ConditionFailedError:
                continue  # somebody was faster
            return taken
        raise MigrationError(f"others keep changing the record of {migration}", hint="try again later")

    def save(self, record: Record) -> Steps[Record]:
        """Write how far a migration is, and return that; fail if somebody else has taken it over."""
        saved = replace(record, revision=record.revision + 1)
        try:
            yield self._put(saved, record.revision)
        except ConditionFailedError:
            there = yield from self.read(record.id)
            if there is not None and (there.owner, there.revision) == (saved.owner, saved.revision):
                return saved  # it was this very write, whose answer was lost
            raise MigrationError(
                f"{record.id} was taken over by somebody else while {record.owner} was held up",
                hint="run it again when the other one has ended: what was done is done",
            ) from None
        return saved

    def _put(self, record: Record, revision: int | None) -> Call:
        """Write a record in the place of the one that was read; None: there was none."""
        into = Placeholders()
        if revision is None:
            condition = f"attribute_not_exists({into.name(self._pk)})"
        else:
            condition = f"{into.name('revision')} = {into.value({'N': str(revision)})}"
        item = {
            **self.key(record.id),
            self._session.catalog.discriminator: {"S": DISCRIMINATOR},
            **_attributes(record),
        }
        params = {"TableName": self._session.table, "Item": item, "ConditionExpression": condition}
        return Call("PutItem", into.add_to(params))


# --- as an item -------------------------------------------------------------------------------------------


def _attributes(record: Record) -> Item:
    values: dict[str, Any] = {
        "id": record.id,
        "title": record.title,
        "state": record.state,
        "step": record.step,
        "counts": record.counts.data(),
        "verified": record.is_verified,
        "differing": record.differing,
        "failures": list(record.failures),
        "started": record.started_us,
        "elapsed": record.elapsed_us,
        "revision": record.revision,
        "fingerprint": record.fingerprint,
    }
    if record.keeps_over_us:
        values["keepsOver"] = record.keeps_over_us
    if record.finished_us:
        values["finished"] = record.finished_us
    if record.owner:
        values |= {"owner": record.owner, "until": record.until_us}
    item: Item = {name: _encoded(value) for name, value in values.items()}
    if record.segments:
        item["segments"] = {"L": [_segment_value(segment) for segment in record.segments]}
    return item


def _encoded(value: Any) -> AttributeValue:
    match value:
        case bool():
            return {"BOOL": value}
        case int():
            return {"N": str(value)}
        case str():
            return {"S": value}
        case list():
            return {"L": [_encoded(member) for member in value]}
        case _:
            return {"M": {name: _encoded(member) for name, member in value.items()}}


def _segment_value(segment: Segment) -> dict[str, Any]:
    value: dict[str, Any] = {"done": {"BOOL": segment.is_done}}
    if segment.last is not None:
        value["last"] = {"M": segment.last}
    return {"M": value}


def _record(item: Item) -> Record:
    values = {name: decode(value) for name, value in item.items() if name != "segments"}
    segments = [_segment(value["M"]) for value in item.get("segments", {"L": []})["L"]]
    return Record(
        id=values["id"],
        title=values["title"],
        state=values["state"],
        step=values["step"],
        segments=tuple(segments),
        counts=Counts(**values["counts"]),
        is_verified=values["verified"],
        differing=values["differing"],
        failures=tuple(values["failures"]),
        owner=values.get("owner", ""),
        until_us=values.get("until", 0),
        started_us=values["started"],
        finished_us=values.get("finished", 0),
        elapsed_us=values["elapsed"],
        revision=values["revision"],
        fingerprint=values["fingerprint"],
        keeps_over_us=values.get("keepsOver", 0),
    )


def _segment(value: Mapping[str, Any]) -> Segment:
    last = value.get("last")
    return Segment(None if last is None else last["M"], value["done"]["BOOL"])


def refuse_changed(migration: Migration, record: Record | None) -> None:
    """Refuse a migration whose steps are not those that a table has seen."""
    if record is not None and record.fingerprint != migration.fingerprint():
        done = "run" if record.is_done else "begun"
        raise MigrationError(
            f"the steps of {migration.id} are not those that were {done} on this table",
            hint="put the file back as it was, and write what is new into another migration",
        )
