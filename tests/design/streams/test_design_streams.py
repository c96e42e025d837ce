"""Handlers of a design get typed changes, embedded and on AWS Lambda, and what they write is carried out."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, ClassVar

import pytest

from designs.bands import Band, BandPK, Bands, BandSK, Gig
from designs.brewing import Brew, Brewing, BrewPK, BrewSK, BrewTable, LogEntry, Summary
from designs.kefir import Batch, BatchEvent, BatchId, EventId, Kefir, UserId
from singletable import Database
from singletable.client import EmbeddedClient
from singletable.clock import ManualClock
from singletable.design import (
    Change,
    Create,
    Delete,
    Design,
    Entity,
    Get,
    Key,
    Keys,
    Put,
    SortKey,
    Stored,
    Table,
    Update,
    Version,
    on,
    pattern,
    upcast,
)
from singletable.design.streams.dispatch import StreamDispatcher
from singletable.errors import (
    CapabilityError,
    ConsumerError,
    DeclarationError,
    NotLoggedError,
    SingleTableError,
    TableDiffersError,
)
from support.paths import FIXTURES
from support.targets import EVERY_TARGET, opened

Event = dict[str, Any]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def db(clock: ManualClock) -> Iterator[Brewing]:
    with Brewing.open(":memory:", clock=clock, engine={"ttl_sweep_s": None}) as db:
        yield db


def drain(db: Design, **options: Any) -> None:
    """Run the handlers over everything that was written, and over what they write."""
    consumer = db.consume(background=False, wait=lambda seconds: None, **options)
    for _ in range(10):
        consumer.drain()
    consumer.stop()


def database(db: Design) -> Database:
    client = db.session.client
    assert isinstance(client, EmbeddedClient)
    return client.database


def brew(db: Design, brew_id: str) -> Get[Brew]:
    return db.plan(Brew.key.get(BrewPK(brew_id=brew_id), BrewSK()))


def entries(db: Design, brew_id: str) -> list[str]:
    return [entry.text for entry in db.plan(LogEntry.key.query(BrewPK(brew_id=brew_id))).all()]


def kinds(db: Brewing) -> list[str]:
    return [change.kind for change in db.seen]


# --- what handlers get ----------------------------------------------------------------------------


def test_handler_gets_the_entity_as_it_was_and_as_it_is(db: Brewing, clock: ManualClock) -> None:
    made = db.create(Brew(brew_id="1", label=b"\x00\xff", tags={"a", "b"}, recipe={"milk": 2})).entity
    before = made.model_copy()
    db.update(made, status="ready")
    db.delete(made)
    db.consume(background=False).run_once()
    create, update, delete = db.seen
    assert (create.kind, create.old, create.new) == ("create", None, before)
    assert (update.kind, update.old, update.new) == ("update", before, made)
    assert (delete.kind, delete.old, delete.new) == ("delete", made, None)
    assert not any(change.is_expired for change in db.seen)
    assert create.new is not None
    assert create.new.label == b"\x00\xff"
    assert create.at == datetime.fromtimestamp(clock.now_us() // 1_000_000, UTC)
    assert [change.entity.status for change in db.seen] == ["active", "ready", "ready"]


def test_handler_gets_the_same_changes_from_a_consumer_as_from_events_of_aws_lambda(
    db: Brewing, clock: ManualClock
) -> None:
    expiring = db.create(Brew(brew_id="1", label=b"\x00\xff", tags={"a", "b"}, recipe={"milk": 2})).entity
    db.update(expiring, until=db.now() + timedelta(seconds=60))
    clock.advance(61)
    assert database(db).sweep_expired() == 1
    events: list[Event] = []
    database(db).consume(db.session.table, events.append, "lambda", background=False).drain()
    db.consume(background=False).run_once()
    direct, db.seen = db.seen, []
    assert StreamDispatcher(db, db.session, db.handlers).dispatch(events[0]["Records"]) is None
    assert direct == db.seen
    assert [change.is_expired for change in direct] == [False, False, True]


def test_changes_are_named_and_in_order(db: Brewing) -> None:
    for number in range(5):
        db.put(Summary(brew_id="s", status=str(number)))
        db.create(Brew(brew_id=str(number)))
    db.consume(background=False).run_once()
    numbers = [int(change.sequence_number) for change in db.seen]
    assert numbers == sorted(set(numbers))
    assert len({change.event_id for change in db.seen}) == 5


def test_handler_knows_expiry_from_deletion(db: Brewing, clock: ManualClock) -> None:
    until = datetime.fromtimestamp(clock.now_us() // 1_000_000, UTC) + timedelta(minutes=1)
    db.create(Brew(brew_id="left", until=until))
    db.create(Brew(brew_id="deleted", until=until))
    db.delete(Brew.key.get(BrewPK(brew_id="deleted"), BrewSK()))
    clock.advance(3600)
    database(db).sweep_expired()
    drain(db)
    gone = {change.entity.brew_id: change.is_expired for change in db.seen if change.kind == "delete"}
    assert gone == {"left": True, "deleted": False}


def test_handler_of_a_field_runs_when_it_changes(db: Brewing) -> None:
    made = db.create(Brew(brew_id="1")).entity
    db.update(made, note="smells good")
    db.update(made, status="in_fridge")
    db.update(made, note=None)
    db.update(made, status="archived")
    drain(db)
    assert kinds(db) == ["create", "update", "update", "update", "update"]
    assert entries(db, "1") == ["active to in_fridge", "in_fridge to archived"]


def test_creation_deletion_and_expiry_are_changes_of_every_field(db: Brewing, clock: ManualClock) -> None:
    summaries = db.plan(Summary.key.query(Summary(brew_id="1", status="").key[0]))
    until = datetime.fromtimestamp(clock.now_us() // 1_000_000, UTC) + timedelta(minutes=1)
    db.create(Brew(brew_id="1", until=until))
    drain(db)
    assert [summary.status for summary in summaries.all()] == ["active"]
    clock.advance(3600)
    database(db).sweep_expired()
    drain(db)
    assert list(summaries.all()) == []


def test_default_that_no_item_holds_is_no_change(db: Brewing) -> None:
    class Times(Brewing):
        times: ClassVar[list[str]] = []

        @on(Brew, "created_at")
        def note_time(self, change: Change[Brew]) -> None:
            self.times.append(change.kind)

    times = Times.open(database(db))
    client = db.session.client
    item = {"PK": {"S": "BREW#1"}, "SK": {"S": "BREW"}, "brewId": {"S": "1"}}
    client.call("PutItem", {"TableName": db.session.table, "Item": item})
    client.call("PutItem", {"TableName": db.session.table, "Item": {**item, "status": {"S": "ready"}}})
    times.consume(background=False).run_once()
    assert Times.times == ["create"]


def test_entity_of_an_old_item_is_inferred_from_its_keys(db: Brewing) -> None:
    item = {"PK": {"S": "BREW#1"}, "SK": {"S": "BREW"}, "brewId": {"S": "1"}, "status": {"S": "old"}}
    db.session.client.call("PutItem", {"TableName": db.session.table, "Item": item})
    drain(db)
    assert [change.new.status for change in db.seen if change.new] == ["old"]


def test_strangers_are_ignored(db: Brewing) -> None:
    for item in (
        {"PK": {"S": "X"}, "SK": {"S": "Y"}},
        {"PK": {"S": "BREW#1"}, "SK": {"S": "BREW"}, "entityType": {"S": "Somebody"}},
    ):
        db.session.client.call("PutItem", {"TableName": db.session.table, "Item": item})
    drain(db)
    assert db.seen == []
    assert database(db).dead_letters(db.session.table, "Brewing") == []


def test_entity_that_takes_the_place_of_another_is_a_deletion_and_a_creation(db: Brewing) -> None:
    db.create(Brew(brew_id="1"))
    item = {"PK": {"S": "BREW#1"}, "SK": {"S": "BREW"}, "entityType": {"S": "Somebody"}}
    db.session.client.call("PutItem", {"TableName": db.session.table, "Item": item})
    drain(db)
    assert kinds(db) == ["create", "delete"]


def test_old_images_are_upcast() -> None:
    class Jar(Entity, schema_version=2):
        key = Keys(BrewPK, BrewSK)
        brew_id: str
        litres: int

        @upcast(1)
        def to_litres(values: dict[str, Any]) -> dict[str, Any]:  # noqa: N805
            return {**values, "litres": values.pop("millilitres") // 1000}

    class Jars(Design):
        table = BrewTable
        entities = (Jar,)
        seen: ClassVar[list[Change[Jar]]] = []
        fields: ClassVar[list[str]] = []

        @on(Jar)
        def note(self, change: Change[Jar]) -> None:
            self.seen.append(change)

        @on(Jar, "litres")
        def note_litres(self, change: Change[Jar]) -> None:
            self.fields.append(change.kind)

    with Jars.open(":memory:") as db:
        old = {"PK": {"S": "BREW#1"}, "SK": {"S": "BREW"}, "brewId": {"S": "1"}, "millilitres": {"N": "3000"}}
        db.session.client.call(
            "PutItem", {"TableName": db.session.table, "Item": {**old, "entityType": {"S": "Jar"}}}
        )
        db.put(Jar(brew_id="1", litres=3))
        drain(db)
    assert [change.entity.litres for change in Jars.seen] == [3, 3]
    assert Jars.fields == ["create"]


# --- what handlers write --------------------------------------------------------------------------


def test_writes_are_carried_out_through_the_design(db: Brewing) -> None:
    made = db.create(Brew(brew_id="1")).entity
    db.update(made, status="ready")
    drain(db)
    assert entries(db, "1") == ["active to ready"]
    stored = brew(db, "1").one()
    assert (stored.note, stored.version) == ("drink it", 3)


def test_writes_of_handlers_come_back_and_come_to_an_end(db: Brewing) -> None:
    made = db.create(Brew(brew_id="1")).entity
    db.update(made, status="ready")
    drain(db)
    assert kinds(db) == ["create", "update", "update"]
    assert [change.kind for change in db.logged] == ["create"]


def test_update_of_the_changed_item_that_was_deleted_since_counts_as_done(db: Brewing) -> None:
    made = db.create(Brew(brew_id="1")).entity
    db.update(made, status="ready")
    db.delete(made)
    drain(db)
    assert kinds(db) == ["create", "update", "delete"]
    assert database(db).dead_letters(db.session.table, "Brewing") == []


def test_replay_of_all_changes_changes_nothing(db: Brewing) -> None:
    made = db.create(Brew(brew_id="1")).entity
    db.update(made, status="ready")
    db.update(brew(db, "1"), status="archived")
    drain(db)

    def items() -> list[Any]:
        found = db.session.client.call("Scan", {"TableName": db.session.table})["Items"]
        return sorted((item for item in found if item["entityType"]["S"] != "Brew"), key=str)

    before = items()
    drain(db, name="replay")
    assert items() == before
    assert database(db).dead_letters(db.session.table, "replay") == []


def test_create_of_something_else_under_the_key_fails() -> None:
    class Careless(Design):
        table = BrewTable
        entities = (Brew, LogEntry)

        @on(Brew)
        def log(self, change: Change[Brew]) -> Create[LogEntry]:
            return Create(LogEntry(brew_id="log", number=1, text=change.entity.brew_id))

    with Careless.open(":memory:") as db:
        db.create(Brew(brew_id="1"))
        db.create(Brew(brew_id="2"))
        drain(db)
        (dead,) = database(db).dead_letters(db.session.table, "Careless")
        assert "AlreadyExistsError" in dead.error
        assert entries(db, "log") == ["1"]


def test_versioned_writes_that_were_done_before_count_as_done() -> None:
    class CounterSK(SortKey, template="COUNTER#{number}"):
        number: int

    class Counter(Entity):
        key = Keys(BrewPK, CounterSK)
        brew_id: str
        number: int
        text: str = ""
        version: Version = 0

    class Replayed(Design):
        table = BrewTable
        entities = (Brew, LogEntry, Counter)

        @on(Brew, "status")
        def write_all(self, change: Change[Brew]) -> Iterator[Create[Counter] | Put[Counter] | Update[Any]]:
            yield Create(Counter(brew_id="c", number=1, text="created"))
            yield Put(Counter(brew_id="c", number=2, text="put"))
            if change.new is not None:
                yield Update(change.new, note="noted")
            yield Delete(Counter(brew_id="c", number=3, version=7))  # type: ignore[misc]

    with Replayed.open(":memory:") as db:
        db.create(Brew(brew_id="1"))
        for name in ("first", "second"):
            drain(db, name=name)
            assert database(db).dead_letters(db.session.table, name) == []
        assert brew(db, "1").one().version == 2


def test_deletes_of_handlers_take_along_what_is_owned() -> None:
    class Cleaning(Design):
        table = BrewTable
        entities = (Brew, LogEntry, Summary)

        @on(Summary)
        def clean(self, change: Change[Summary]) -> Delete[Brew] | None:
            if change.new is not None:
                return None
            return Delete(Brew.key.get(BrewPK(brew_id=change.entity.brew_id), BrewSK()))

    with Cleaning.open(":memory:") as db:
        db.create(Brew(brew_id="1"))
        db.create(LogEntry(brew_id="1", number=1, text="x"))
        summary = db.put(Summary(brew_id="1", status="x")).entity
        db.delete(summary)
        drain(db)
        assert db.session.client.call("Scan", {"TableName": db.session.table})["Items"] == []


def test_what_is_no_write_is_refused() -> None:
    class Wrong(Design):
        table = BrewTable
        entities = (Brew, LogEntry)

        @on(Brew)
        def answer(self, change: Change[Brew]) -> list[Any]:
            return [change.entity]

    with Wrong.open(":memory:") as db:
        db.create(Brew(brew_id="1"))
        drain(db)
        (dead,) = database(db).dead_letters(db.session.table, "Wrong")
        assert "the handler answer yields" in dead.error


def test_what_is_kept_by_the_stream_is_kept_before_handlers_run() -> None:
    seen: list[int] = []

    class WatchedBands(Bands):
        @on(Gig)
        def look(self, change: Change[Gig]) -> None:
            band = self.plan(Band.key.get(BandPK(band_id=change.entity.band_id), BandSK())).one()
            seen.append(band.gigs)

    with WatchedBands.open(":memory:") as db:
        db.create(Band(band_id="b"))
        for n in range(3):
            db.create(Gig(band_id="b", gig_id=f"g{n}"))
        drain(db)
        drain(db, name="again")
        assert seen == [1, 2, 3, 3, 3, 3]
        assert database(db).dead_letters(db.session.table, "again") == []


def test_design_without_handlers_keeps_what_is_kept_by_the_stream() -> None:
    with Bands.open(":memory:") as db:
        db.create(Band(band_id="b"))
        db.create(Gig(band_id="b", gig_id="g"))
        drain(db)
        assert db.plan(Band.key.get(BandPK(band_id="b"), BandSK())).one().gigs == 1


def test_design_with_nothing_to_run_says_so() -> None:
    class Idle(Design):
        table = BrewTable
        entities = (Brew, LogEntry)

    with Idle.open(":memory:") as db, pytest.raises(DeclarationError, match="Idle has no handlers"):
        db.consume()
    with pytest.raises(DeclarationError, match="Idle has no handlers"):
        Idle.lambda_handler(":memory:")


def test_log_of_a_batch_is_kept_as_the_document_of_kefir_has_it() -> None:
    class LoggedKefir(Kefir):
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

    with LoggedKefir.open(":memory:") as db:
        batch = db.create(
            Batch(
                user_id=UserId("u"),
                batch_id=BatchId("b"),
                name="milk",
                water_volume_ml=Decimal(1000),
                sugar_grams=Decimal(50),
                temperature_c=Decimal(22),
                start_time=datetime(2025, 3, 1, tzinfo=UTC),
                target_hours_stage1=Decimal(24),
            )
        ).entity
        db.update(batch, status="in_fridge")
        db.update(batch, name="oats")
        db.update(batch, status="ready")
        drain(db)
        events = [(event.from_status, event.to_status) for event in db.events(BatchId("b")).all()]
        assert sorted(events) == [("active", "in_fridge"), ("in_fridge", "ready")]


# --- records that fail ----------------------------------------------------------------------------


def test_bad_record_is_put_aside_with_its_error_and_the_others_are_handled(db: Brewing) -> None:
    for number in range(5):
        db.create(Brew(brew_id=str(number), note="poison" if number == 2 else None))
    drain(db, retries=1)
    (dead,) = database(db).dead_letters(db.session.table, "Brewing")
    assert dead.error == "ValueError: this brew is poisoned"
    assert dead.record["dynamodb"]["Keys"]["PK"] == {"S": "BREW#2"}
    assert [change.entity.brew_id for change in db.seen] == ["0", "1", "2", "2", "3", "4"]


def test_item_that_no_longer_validates_is_put_aside_and_the_others_are_handled(db: Brewing) -> None:
    db.create(Brew(brew_id="1"))
    bad = {"PK": {"S": "BREW#2"}, "SK": {"S": "BREW"}, "entityType": {"S": "Brew"}, "status": {"N": "7"}}
    db.session.client.call("PutItem", {"TableName": db.session.table, "Item": bad})
    db.create(Brew(brew_id="3"))
    drain(db, retries=0)
    assert [change.entity.brew_id for change in db.seen] == ["1", "3"]
    (dead,) = database(db).dead_letters(db.session.table, "Brewing")
    assert dead.error.startswith("InvalidItemError")


def test_what_was_put_aside_is_listed_and_handled_once_its_reason_is_gone(tmp_path: Path) -> None:
    class Patient(Brewing):
        is_repaired = False

        @on(Brew)
        def pour(self, change: Change[Brew]) -> Create[LogEntry] | None:
            if change.entity.status == "broken" and not self.is_repaired:
                raise ValueError("the tap is broken")
            return Create(LogEntry(brew_id=change.entity.brew_id, number=1, text="poured"))

    path = tmp_path / "brew.db"
    with Patient.open(path) as db:
        for number in range(3):
            db.create(Brew(brew_id=str(number), status="broken" if number else "active"))
        drain(db, retries=0)
        assert [letter.error for letter in db.dead_letters()] == ["ValueError: the tap is broken"] * 2
        assert db.dead_letters() == database(db).dead_letters(db.session.table, "Patient")
        assert db.redrive() == (0, 2)
    with Patient.open(path) as db:  # another process, which has made no consumer
        db.is_repaired = True
        assert db.redrive() == (2, 0)
        assert db.dead_letters() == []
        assert entries(db, "2") == ["poured"]
        assert db.redrive() == (0, 0)


def test_what_was_put_aside_is_that_of_the_consumer_of_the_name(db: Brewing) -> None:
    db.create(Brew(brew_id="1", note="poison"))
    drain(db, retries=0, name="second")
    assert len(db.dead_letters(name="second")) == 1
    assert db.redrive(name="second") == (0, 1)
    for ask in (db.dead_letters, db.redrive):
        with pytest.raises(ConsumerError, match="has no consumer 'Brewing'"):
            ask()


def test_entity_that_nobody_watches_is_not_read(db: Brewing) -> None:
    bad = {"PK": {"S": "SUMMARY#2"}, "SK": {"S": "SUMMARY"}, "entityType": {"S": "Summary"}}
    db.session.client.call("PutItem", {"TableName": db.session.table, "Item": bad})
    drain(db)
    assert database(db).dead_letters(db.session.table, "Brewing") == []


# --- where it runs --------------------------------------------------------------------------------


def test_consumer_runs_in_the_background_and_goes_on_where_it_stopped(tmp_path: Path) -> None:
    path = tmp_path / "brewing.db"
    with Brewing.open(path) as db:
        with db.consume() as consumer:
            db.create(Brew(brew_id="1"))
            consumer.drain(timeout_s=30)
            assert consumer.name == "Brewing"
        assert kinds(db) == ["create"]
        db.create(Brew(brew_id="2"))
    with Brewing.open(path) as db, db.consume() as consumer:
        consumer.drain(timeout_s=30)
        assert [change.entity.brew_id for change in db.seen] == ["2"]


def test_consumers_are_of_the_embedded_engine() -> None:
    with opened("http") as client:
        db = Brewing.open(client.endpoint, stage="test", create=True)  # type: ignore[attr-defined]
        with db:
            with pytest.raises(CapabilityError, match="lambda_handler"):
                db.consume()
            for ask in (db.dead_letters, db.redrive):
                with pytest.raises(CapabilityError, match="OnFailure"):
                    ask()


def test_stream_without_both_images_is_refused_where_it_is_consumed(db: Brewing) -> None:
    for specification in (
        {"StreamEnabled": False},
        {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
    ):
        params = {"TableName": db.session.table, "StreamSpecification": specification}
        db.session.client.call("UpdateTable", params)
    with pytest.raises(TableDiffersError, match="shows NEW_IMAGE"):
        db.consume(background=False)


def test_table_that_logs_nothing_is_refused() -> None:
    with Database.open(":memory:") as database:
        db = Brewing.open(database)
        table = db.session.table
        database.update_table(TableName=table, StreamSpecification={"StreamEnabled": False})
        database.update_continuous_backups(
            TableName=table, PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": False}
        )
        with pytest.raises(NotLoggedError):
            db.consume(background=False)


# --- AWS Lambda -----------------------------------------------------------------------------------


def lambda_event(client: Any, table: str) -> Event:
    """Read a table's stream to its end, and return its records as AWS Lambda passes them."""
    records = [
        as_lambda_passes_it(record, stream_arn(client, table)) for record in stream_records(client, table)
    ]
    event: Event = json.loads(json.dumps({"Records": records}))
    return event


def stream_arn(client: Any, table: str) -> str:
    arn: str = client.call("DescribeTable", {"TableName": table})["Table"]["LatestStreamArn"]
    return arn


def stream_records(client: Any, table: str) -> list[Event]:
    """Read a table's stream to its end."""
    arn = stream_arn(client, table)
    description = client.call("DescribeStream", {"StreamArn": arn})["StreamDescription"]
    records: list[Event] = []
    for shard in description["Shards"]:
        asked = {
            "StreamArn": arn,
            "ShardId": shard["ShardId"],
            "ShardIteratorType": "TRIM_HORIZON",
        }
        iterator = client.call("GetShardIterator", asked)["ShardIterator"]
        while iterator:
            answer = client.call("GetRecords", {"ShardIterator": iterator})
            records += answer["Records"]
            iterator = answer.get("NextShardIterator") if answer["Records"] else None
    return records


def as_lambda_passes_it(record: Event, arn: str) -> Event:
    change = {**record["dynamodb"]}
    change["ApproximateCreationDateTime"] = change["ApproximateCreationDateTime"].timestamp()
    for image in ("Keys", "NewImage", "OldImage"):
        if image in change:
            change[image] = {name: json_value(value) for name, value in change[image].items()}
    shown = {**record, "dynamodb": change, "eventSourceARN": arn}
    if "userIdentity" in record:
        identity = record["userIdentity"]
        shown["userIdentity"] = {"type": identity["Type"], "principalId": identity["PrincipalId"]}
    return shown


def json_value(value: Any) -> Any:
    if isinstance(value, bytes):
        return b64encode(value).decode()
    if isinstance(value, dict):
        return {name: json_value(member) for name, member in value.items()}
    return [json_value(member) for member in value] if isinstance(value, list) else value


@pytest.fixture(params=EVERY_TARGET)
def served(request: pytest.FixtureRequest) -> Iterator[tuple[Any, Brewing]]:
    """A target, and the design open on it."""
    with opened(request.param) as client:
        target = client.database if isinstance(client, EmbeddedClient) else client.endpoint  # type: ignore[attr-defined]
        with Brewing.open(target, stage="test", create=True) as db:
            yield target, db


def test_one_function_handles_the_whole_design(served: tuple[Any, Brewing]) -> None:
    target, db = served
    made = db.create(Brew(brew_id="1", label=b"\x00\xff", recipe={"milk": 2})).entity
    db.update(made, status="ready")
    handler = Brewing.lambda_handler(target=target, stage="test")
    event = lambda_event(db.session.client, db.session.table)
    assert handler(event, None) == {"batchItemFailures": []}
    assert entries(db, "1") == ["active to ready"]
    assert brew(db, "1").one().note == "drink it"
    assert handler(event, None) == {"batchItemFailures": []}, "a second delivery does no harm"
    assert entries(db, "1") == ["active to ready"]


def test_function_names_the_first_record_that_fails_and_leaves_those_behind_it(
    served: tuple[Any, Brewing],
) -> None:
    target, db = served
    for number in range(4):
        db.create(Brew(brew_id=str(number), note="poison" if number in (1, 2) else None))
    handler = Brewing.lambda_handler(target=target, stage="test")
    event = lambda_event(db.session.client, db.session.table)
    bad = event["Records"][1]["dynamodb"]["SequenceNumber"]
    assert handler(event, None) == {"batchItemFailures": [{"itemIdentifier": bad}]}
    assert [summary.brew_id for summary in summaries(db)] == ["0"]


def summaries(db: Design) -> list[Summary]:
    items = db.session.client.call("Scan", {"TableName": db.session.table})["Items"]
    found = [item for item in items if item["entityType"]["S"] == "Summary"]
    read: Any = db.session.catalog.schema_for(Summary).to_entity
    return [read(item) for item in found]


def test_failure_of_a_function_is_logged(db: Brewing, caplog: pytest.LogCaptureFixture) -> None:
    db.create(Brew(brew_id="1", note="poison"))
    Brewing.lambda_handler(database(db))(lambda_event(db.session.client, db.session.table), None)
    (record,) = [record for record in caplog.records if record.name == "singletable.streams"]
    assert record.exc_info is not None
    assert str(record.exc_info[1]) == "this brew is poisoned"


def test_records_are_read_as_get_records_returns_them_too(served: tuple[Any, Brewing]) -> None:
    target, db = served
    made = db.create(Brew(brew_id="1", label=b"\x00\xff")).entity
    db.update(made, status="ready")
    records = stream_records(db.session.client, db.session.table)
    assert Brewing.lambda_handler(target, stage="test")({"Records": records}, None) == {
        "batchItemFailures": []
    }
    assert entries(db, "1") == ["active to ready"]


def test_function_opens_the_design_once_and_only_when_it_is_called(db: Brewing) -> None:
    opened_times: list[str] = []

    class Counted(Brewing):
        @classmethod
        def open(cls, *args: Any, **options: Any) -> Any:
            opened_times.append(options["stage"])
            return super().open(*args, **options)

    handler = Counted.lambda_handler(database(db), stage="dev")
    assert opened_times == []
    for _ in range(3):
        assert handler({"Records": []}, None) == {"batchItemFailures": []}
    assert opened_times == ["dev"]


def test_function_prepares_its_design_once_before_any_handler(served: tuple[Any, Brewing]) -> None:
    target, db = served
    prepared: list[Brewing] = []

    def prepare(opened: Brewing) -> None:
        assert opened.session.table == db.session.table
        assert entries(opened, "1") == []
        prepared.append(opened)

    made = db.create(Brew(brew_id="1")).entity
    db.update(made, status="ready")
    handler = Brewing.lambda_handler(target, prepare=prepare, stage="test")
    assert prepared == [], "nothing is open yet"
    event = lambda_event(db.session.client, db.session.table)
    for _ in range(2):
        assert handler(event, None) == {"batchItemFailures": []}
    assert entries(db, "1") == ["active to ready"]
    assert [type(each) for each in prepared] == [Brewing]


def test_function_whose_preparing_fails_prepares_anew_with_the_next_event() -> None:
    prepared: list[Brewing] = []

    def prepare(opened: Brewing) -> None:
        prepared.append(opened)
        if len(prepared) == 1:
            raise ConnectionError("no scheduler")

    handler = Brewing.lambda_handler(":memory:", prepare=prepare, stage="test")
    with pytest.raises(ConnectionError):
        handler({"Records": []}, None)
    with pytest.raises(SingleTableError, match="closed"):
        prepared[0].create(Brew(brew_id="1"))
    assert handler({"Records": []}, None) == {"batchItemFailures": []}
    assert handler({"Records": []}, None) == {"batchItemFailures": []}
    assert len(prepared) == 2


def test_function_knows_expiry_as_aws_tells_it(db: Brewing, clock: ManualClock) -> None:
    until = datetime.fromtimestamp(clock.now_us() // 1_000_000, UTC) + timedelta(minutes=1)
    db.create(Brew(brew_id="1", until=until))
    clock.advance(3600)
    database(db).sweep_expired()
    event = lambda_event(db.session.client, db.session.table)
    seen: list[bool] = []

    class Watching(Brewing):
        @on(Brew)
        def watch(self, change: Change[Brew]) -> None:
            seen.append(change.is_expired)

    Watching.lambda_handler(database(db))(event, None)
    assert seen == [False, True]


SAMPLE: Event = json.loads((FIXTURES / "lambda_dynamodb_event.json").read_text(encoding="utf-8"))


def test_sample_event_of_aws_is_read() -> None:
    class SampleTable(Table):
        name = "ExampleTableWithStream"
        pk = "Id"
        sk = None

    class MessagePK(Key, template="{message_id}"):
        message_id: int

    class Message(Entity):
        key = Keys(MessagePK)
        message_id: Annotated[int, Stored("Id")]
        message: str

    seen: list[str] = []

    class Messages(Design):
        table = SampleTable
        entities = (Message,)
        casing = "pascal"

        @on(Message, "message")
        def note(self, change: Change[Message]) -> None:
            said = [each and each.message for each in (change.old, change.new)]
            seen.append(f"{change.kind} at {change.at:%Y}: {said[0]} -> {said[1]}")

    assert Messages.lambda_handler(":memory:")(SAMPLE, None) == {"batchItemFailures": []}
    assert seen == [
        "create at 2015: None -> New item!",
        "update at 2015: New item! -> This item has changed",
        "delete at 2015: This item has changed -> None",
    ]


def test_function_refuses_the_stream_of_another_table(db: Brewing) -> None:
    db.create(Brew(brew_id="1"))
    event = lambda_event(db.session.client, db.session.table)
    handler = Brewing.lambda_handler(":memory:", stage="prod")
    (failure,) = handler(event, None)["batchItemFailures"]
    assert failure["itemIdentifier"] == event["Records"][0]["dynamodb"]["SequenceNumber"]


@pytest.mark.parametrize(("view", "said"), [(None, "no stream"), ("KEYS_ONLY", "a stream of KEYS_ONLY")])
def test_design_with_handlers_and_without_both_images_is_refused(view: Any, said: str) -> None:
    class KeysTable(Table):
        name = "keys"
        stream = view

    with pytest.raises(DeclarationError, match=f"its table has {said}"):

        class Keyed(Design):
            table = KeysTable
            entities = (Brew, LogEntry)

            @on(Brew)
            def note(self, change: Change[Brew]) -> None:
                """Do nothing."""


def test_target_of_a_function_is_its_region(monkeypatch: pytest.MonkeyPatch) -> None:
    handler = Brewing.lambda_handler(stage="prod")
    monkeypatch.delenv("AWS_REGION", raising=False)
    with pytest.raises(DeclarationError, match="AWS_REGION"):
        handler({"Records": []}, None)


# --- declarations ---------------------------------------------------------------------------------


def test_handlers_can_be_read_as_data() -> None:
    assert [(h.name, h.watch.entity.__name__, h.watch.fields) for h in Brewing.handlers] == [
        ("note_change", "Brew", ()),
        ("log_status", "Brew", ("status",)),
        ("keep_summary", "Brew", ("status",)),
        ("mark_ready", "Brew", ("status",)),
        ("note_entry", "LogEntry", ()),
    ]


def test_handler_of_an_unknown_field_is_refused_with_the_fields_there_are() -> None:
    with pytest.raises(
        DeclarationError, match=r"Wrong\.note watches 'statsu', which Brew does not have; it has brew_id"
    ):

        class Wrong(Design):
            table = BrewTable
            entities = (Brew, LogEntry)

            @on(Brew, "status", "statsu")
            def note(self, change: Change[Brew]) -> None:
                """Do nothing."""


def test_handler_of_an_entity_that_the_design_does_not_have_is_refused() -> None:
    with pytest.raises(
        DeclarationError, match="watches Summary, which is not an entity of Wrong; it has Brew"
    ):

        class Wrong(Design):
            table = BrewTable
            entities = (Brew, LogEntry)

            @on(Summary)
            def note(self, change: Change[Summary]) -> None:
                """Do nothing."""


def test_handlers_of_one_name_are_refused() -> None:
    with pytest.raises(DeclarationError, match="note is declared twice"):

        class Wrong(Design):
            table = BrewTable
            entities = (Brew, LogEntry)

            @on(Brew)
            def note(self, change: Change[Brew]) -> None:
                """Do nothing."""

            @on(LogEntry)  # type: ignore[no-redef]
            def note(self, change: Change[LogEntry]) -> None:  # noqa: F811
                """Do nothing."""


def test_handler_named_as_a_method_of_every_design_is_refused() -> None:
    with pytest.raises(DeclarationError, match="Design has a put of its own"):

        class Wrong(Design):
            table = BrewTable
            entities = (Brew, LogEntry)

            @on(Brew)
            def put(self, change: Change[Brew]) -> None:  # type: ignore[override]
                """Do nothing."""


def test_handler_named_as_a_pattern_of_a_base_is_refused() -> None:
    class Base(Design):
        table = BrewTable
        entities = (Brew, LogEntry)

        @pattern("1 Get a brew")
        def brew(self, brew_id: str) -> Get[Brew]:
            return Brew.key.get(BrewPK(brew_id=brew_id), BrewSK())

    with pytest.raises(DeclarationError, match="both a pattern and a handler"):

        class Wrong(Base):
            @on(Brew)
            def brew(self, change: Change[Brew]) -> None:  # type: ignore[override]
                """Do nothing."""


def test_handler_without_parentheses_or_awaited_by_nobody_is_refused() -> None:
    with pytest.raises(DeclarationError, match="is not an entity"):

        class Bare(Design):
            table = BrewTable
            entities = (Brew, LogEntry)

            @on  # type: ignore[arg-type, type-var]
            def note(self, change: Change[Brew]) -> None:  # type: ignore[misc]
                """Do nothing."""

    with pytest.raises(DeclarationError, match="is async"):

        class Awaited(Design):
            table = BrewTable
            entities = (Brew, LogEntry)

            @on(Brew)  # type: ignore[type-var]
            async def note(self, change: Change[Brew]) -> None:
                """Do nothing."""
