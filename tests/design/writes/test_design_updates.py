"""Updates: index keys follow their parts, what is not known is read, and what was read must still hold."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from designs.kefir import Batch, BatchId, Kefir, Reminder, ReminderId, UserId
from designs.tasks import ProjectId, ProjectPK, Task, TaskId, Tasks, TaskSK
from singletable.client import Call
from singletable.client.calls import Steps
from singletable.clock import ManualClock
from singletable.design import (
    Add,
    Append,
    Delete,
    Design,
    Entity,
    Eq,
    Get,
    Index,
    Key,
    Keys,
    SortKey,
    Table,
    Update,
    pattern,
    upcast,
)
from singletable.design.writes.transaction import write
from singletable.errors import (
    ConditionNotMetError,
    InvalidWriteError,
    NotFoundError,
    UnknownFieldError,
    VersionConflictError,
)
from support.opened_designs import call, opened_design, stored_item
from support.targets import TARGETS

NOW = datetime(2025, 1, 20, 10, 30, tzinfo=UTC)
USER, BATCH = UserId("u1"), BatchId("b1")
PROJECT, TASK = ProjectId("p"), TaskId("t1")
INDEXES = ("GSI1PK", "GSI1SK", "GSI2PK", "GSI2SK", "GSI3PK", "GSI3SK", "GSI4PK", "GSI4SK")


@pytest.fixture(params=TARGETS)
def kefir(request: pytest.FixtureRequest, clock: ManualClock) -> Iterator[Kefir]:
    clock.time_us = int(NOW.timestamp()) * 1_000_000
    with opened_design(Kefir, request.param, clock, stage="test") as opened:
        yield opened


@pytest.fixture(params=TARGETS)
def tasks(request: pytest.FixtureRequest, clock: ManualClock) -> Iterator[Tasks]:
    clock.time_us = int(NOW.timestamp()) * 1_000_000
    with opened_design(Tasks, request.param, clock) as opened:
        yield opened


def task(**fields: Any) -> Task:
    return Task(**{"project_id": PROJECT, "task_id": TASK, "title": "Write", **fields})


def batch(**fields: Any) -> Batch:
    values = {
        "user_id": USER,
        "batch_id": BATCH,
        "name": "Winter",
        "water_volume_ml": Decimal(1000),
        "sugar_grams": Decimal("37.5"),
        "temperature_c": Decimal("22.25"),
        "start_time": NOW,
        "target_hours_stage1": Decimal(48),
    }
    return Batch(**{**values, **fields})


def by_key() -> Get[Task]:
    return Task.key.get(ProjectPK(project_id=PROJECT), TaskSK(task_id=TASK))


def index_keys(db: Design, pk: str = "PROJECT#p", sk: str = "TASK#t1") -> dict[str, str]:
    item = stored_item(db, pk, sk) or {}
    return {name: item[name]["S"] for name in INDEXES if name in item}


def assert_keys_follow_fields(db: Tasks) -> None:
    """Compare the stored item with the one that its own fields make."""
    item = stored_item(db, "PROJECT#p", "TASK#t1")
    assert item is not None
    schema = db.session.catalog.schema_for(Task)
    fields = {name: value for name, value in item.items() if name not in INDEXES}
    assert schema.to_item(schema.to_entity(fields)) == item


# --- index keys -------------------------------------------------------------------------------------------


def test_update_of_an_entity_rebuilds_the_index_keys_of_what_changes(
    kefir: Kefir, clock: ManualClock
) -> None:
    made = kefir.create(batch()).entity
    clock.jump(60)
    written = kefir.update(made, status="ready")
    assert written.entity is made
    assert index_keys(kefir, "USER#u1", "BATCH#b1") == {
        "GSI1PK": "BATCH#b1",
        "GSI1SK": "STATUS#ready#2025-01-20T10:30:00.000Z",
        "GSI2PK": "STATUS#ready#1",
        "GSI2SK": "BATCH#2025-01-20T10:30:00.000Z#b1",
    }
    assert (made.status, made.version, made.updated_at) == ("ready", 2, NOW + timedelta(seconds=60))
    assert made == kefir.batches(USER).one()
    assert list(kefir.batches_by_status("active").all()) == []
    assert list(kefir.batches_by_status("ready").all()) == [made]


@pytest.mark.parametrize("known", ["entity", "key"])
def test_keys_are_removed_while_the_condition_does_not_hold_and_restored_when_it_does(
    tasks: Tasks, known: str
) -> None:
    made = tasks.create(task(priority=7)).entity
    target: Any = made if known == "entity" else by_key()
    before = index_keys(tasks)
    tasks.update(target, state="done")
    assert "GSI3PK" not in index_keys(tasks)
    assert list(tasks.open_tasks().all()) == []
    assert_keys_follow_fields(tasks)
    tasks.update(target, state="open")
    assert index_keys(tasks) == before
    assert [row.task_id for row in tasks.open_tasks().all()] == [TASK]


@pytest.mark.parametrize("known", ["entity", "key"])
def test_index_with_a_part_that_is_none_does_not_hold_the_item(tasks: Tasks, known: str) -> None:
    made = tasks.create(task()).entity
    target: Any = made if known == "entity" else by_key()
    assert "GSI2PK" not in index_keys(tasks)
    tasks.update(target, owner="ada")
    assert index_keys(tasks)["GSI2PK"] == "OWNER#ada"
    assert [row.task_id for row in tasks.owned("ada").all()] == [TASK]
    tasks.update(target, owner=None)
    assert {"GSI2PK", "GSI2SK"}.isdisjoint(index_keys(tasks))
    assert "owner" not in (stored_item(tasks, "PROJECT#p", "TASK#t1") or {})
    assert_keys_follow_fields(tasks)


def test_update_by_key_reads_the_parts_that_it_was_not_given(tasks: Tasks) -> None:
    tasks.create(task(priority=7, owner="ada"))
    written = tasks.update(by_key(), priority=9)
    assert written.entity.priority == 9
    assert written.entity == tasks.task(PROJECT, TASK).one()
    assert (
        index_keys(tasks)["GSI1SK"] == index_keys(tasks)["GSI2SK"] == index_keys(tasks)["GSI3SK"] == "009#t1"
    )
    assert_keys_follow_fields(tasks)


def test_keys_from_a_property_follow_it(tasks: Tasks) -> None:
    made = tasks.create(task()).entity
    tasks.update(made, title="read")
    assert index_keys(tasks)["GSI4PK"] == "LETTER#r"
    tasks.update(by_key(), title="Eat")
    assert index_keys(tasks)["GSI4PK"] == "LETTER#e"
    assert [row.title for row in tasks.lettered("e").all()] == ["Eat"]


def test_change_that_was_not_stored_does_not_get_into_the_keys(kefir: Kefir, tasks: Tasks) -> None:
    made = kefir.create(batch()).entity
    made.status = "archived"
    kefir.update(made, created_at=NOW + timedelta(days=1))
    assert index_keys(kefir, "USER#u1", "BATCH#b1")["GSI1SK"] == "STATUS#active#2025-01-21T10:30:00.000Z"
    assert made == kefir.batches(USER).one()
    mine = tasks.create(task()).entity
    mine.state = "done"
    tasks.update(mine, priority=5)
    assert mine == tasks.task(PROJECT, TASK).one()
    assert_keys_follow_fields(tasks)


def test_update_that_needs_nothing_reads_nothing(kefir: Kefir) -> None:
    kefir.create(batch())
    calls = calls_of(kefir, write(kefir.session, Update(Batch.key.get(*batch().key), name="Summer")))
    assert calls == ["UpdateItem"]


# --- while others write -----------------------------------------------------------------------------------


def calls_of(db: Design, steps: Steps[Any], *, before: dict[int, Any] | None = None) -> list[str]:
    """Go through steps by hand, with something else done before some of them; return the operations."""
    calls: list[str] = []
    answer: Any = None
    try:
        step = next(steps)
        while True:
            if isinstance(step, Call):
                (before or {}).get(len(calls), lambda: None)()
                calls.append(step.operation)
                try:
                    answer = db.session.client.call(step.operation, step.params)
                except Exception as error:
                    step = steps.throw(error)
                    continue
            step = steps.send(answer)
    except StopIteration:
        return calls


def test_what_was_read_for_an_update_by_key_must_still_hold(tasks: Tasks) -> None:
    tasks.create(task(priority=1))
    other = tasks.task(PROJECT, TASK).one()
    steps = write(tasks.session, Update(by_key(), state="doing"))
    calls = calls_of(tasks, steps, before={1: lambda: tasks.update(other, priority=2)})
    assert calls == ["GetItem", "UpdateItem", "GetItem", "UpdateItem"]
    assert index_keys(tasks)["GSI1SK"] == "002#t1"
    assert_keys_follow_fields(tasks)


def test_old_entity_without_a_version_is_brought_up_to_date_by_its_update(tasks: Tasks) -> None:
    tasks.create(task(priority=1))
    mine, yours = tasks.task(PROJECT, TASK).one(), tasks.task(PROJECT, TASK).one()
    tasks.update(yours, priority=2, owner="ada")
    tasks.update(mine, state="doing")
    assert (mine.state, mine.priority, mine.owner) == ("doing", 2, "ada")
    assert mine == tasks.task(PROJECT, TASK).one()
    assert_keys_follow_fields(tasks)


def test_item_that_is_deleted_between_reading_and_writing_is_not_made_again(tasks: Tasks) -> None:
    tasks.create(task())
    steps = write(tasks.session, Update(by_key(), state="doing"))
    with pytest.raises(NotFoundError):
        calls_of(tasks, steps, before={1: lambda: tasks.delete(by_key())})
    assert stored_item(tasks, "PROJECT#p", "TASK#t1") is None


def test_property_is_guarded_by_all_fields(tasks: Tasks) -> None:
    tasks.create(task())
    other = tasks.task(PROJECT, TASK).one()
    steps = write(tasks.session, Update(by_key(), points=3))
    calls_of(tasks, steps, before={1: lambda: tasks.update(other, title="Zebra")})
    assert index_keys(tasks)["GSI4PK"] == "LETTER#z"
    assert_keys_follow_fields(tasks)


def test_older_forms_of_stored_values_are_no_change(kefir: Kefir) -> None:
    made = Reminder(batch_id=BATCH, reminder_id=ReminderId("r"), user_id=USER, message="m", due_at=NOW)
    kefir.create(made)
    key = {"PK": {"S": "BATCH#b1"}, "SK": {"S": "REMINDER#r"}}
    old = {":due": {"S": "2025-01-20T10:30:00Z"}}  # to the second, as it once was written
    call(kefir, "UpdateItem", Key=key, UpdateExpression="SET dueAt = :due", ExpressionAttributeValues=old)
    steps = write(kefir.session, Update(Reminder.key.get(*made.key), status="sent"))
    assert calls_of(kefir, steps) == ["GetItem", "UpdateItem"]
    kefir.update(kefir.reminders(BATCH).one(), status="pending")
    assert index_keys(kefir, "BATCH#b1", "REMINDER#r")["GSI1SK"] == "DUE#2025-01-20T10:30:00.000Z"


def test_version_guards_an_update_of_an_entity(kefir: Kefir) -> None:
    kefir.create(batch())
    mine, yours = kefir.batches(USER).one(), kefir.batches(USER).one()
    kefir.update(yours, name="Yours")
    with pytest.raises(VersionConflictError, match="read at version 1 and is at version 2 now"):
        kefir.update(mine, name="Mine")
    assert mine.name == "Winter"


def test_update_by_key_counts_the_version_without_demanding_one(kefir: Kefir) -> None:
    kefir.create(batch())
    kefir.update(Batch.key.get(*batch().key), name="Summer")
    written = kefir.update(Batch.key.get(*batch().key), status="ready")
    assert (written.entity.version, written.entity.name) == (3, "Summer")


# --- what can be changed ----------------------------------------------------------------------------------


def test_update_of_nothing_is_told(tasks: Tasks) -> None:
    for target in (by_key(), task()):
        for changes in ({"points": 3}, {"state": "done"}):
            with pytest.raises(NotFoundError, match="Task PROJECT#p / TASK#t1 is not there"):
                tasks.update(target, **changes)
    assert stored_item(tasks, "PROJECT#p", "TASK#t1") is None


def test_numbers_are_added_and_lists_appended_without_reading(tasks: Tasks) -> None:
    made = tasks.create(task(labels={"a"}, notes=["one"])).entity
    tasks.update(made, points=Add(3), labels=Add({"b"}), notes=Append(["two"]))
    assert (made.points, made.labels, made.notes) == (3, {"a", "b"}, ["one", "two"])
    assert made == tasks.task(PROJECT, TASK).one()
    tasks.update(by_key(), points=Add(-1), notes=Append(["three"]))
    assert tasks.task(PROJECT, TASK).one().points == 2
    assert tasks.task(PROJECT, TASK).one().notes == ["one", "two", "three"]


def test_number_that_is_in_a_key_is_added_to_what_is_stored(tasks: Tasks) -> None:
    made = tasks.create(task(priority=7)).entity
    tasks.update(made, priority=Add(3))
    assert (made.priority, index_keys(tasks)["GSI1SK"]) == (10, "010#t1")
    steps = write(tasks.session, Update(by_key(), priority=Add(5)))
    calls_of(tasks, steps, before={1: lambda: tasks.update(by_key(), priority=Add(1))})
    assert index_keys(tasks)["GSI1SK"] == "016#t1"
    assert_keys_follow_fields(tasks)


def test_additions_in_a_transaction_are_in_the_entity_too(tasks: Tasks) -> None:
    made = tasks.create(task(points=1)).entity
    tasks.transaction(Update(made, points=Add(4), notes=Append(["x"]), title="Yes"))
    assert (made.points, made.notes, made.title) == (5, ["x"], "Yes")
    assert made == tasks.task(PROJECT, TASK).one()


@pytest.mark.parametrize("value", ["x", None, True, ["x"]])
def test_only_numbers_and_sets_can_be_added(tasks: Tasks, value: Any) -> None:
    with pytest.raises(InvalidWriteError, match=r"Task.points: .* is neither a number nor a set to be added"):
        tasks.update(by_key(), points=Add(value))


def test_unknown_field_is_refused_with_what_was_meant(tasks: Tasks) -> None:
    with pytest.raises(UnknownFieldError, match="Task has no field 'titel'") as caught:
        tasks.update(by_key(), titel="x")
    assert caught.value.number == "ST201"
    assert str(caught.value.hint).startswith("did you mean title?")


def test_field_of_the_key_cannot_be_changed(tasks: Tasks, kefir: Kefir) -> None:
    with pytest.raises(InvalidWriteError, match=r"Task\.task_id is part of the key, which never changes"):
        tasks.update(by_key(), task_id=TaskId("t2"))
    with pytest.raises(InvalidWriteError, match=r"Batch\.version is counted by the layer"):
        kefir.update(batch(), version=7)
    with pytest.raises(InvalidWriteError, match="changes nothing"):
        tasks.update(by_key())


@pytest.mark.parametrize(
    "changes",
    [{"state": "lost"}, {"title": None}, {"priority": "high"}, {"notes": Append("no list")}],  # type: ignore[arg-type]
)
def test_invalid_value_is_refused(tasks: Tasks, changes: dict[str, Any]) -> None:
    tasks.create(task())
    (name,) = changes
    with pytest.raises(InvalidWriteError, match=f"Task.{name} cannot be"):
        tasks.update(by_key(), **changes)


def test_update_with_a_condition(tasks: Tasks) -> None:
    made = tasks.create(task()).entity
    for target in (made, by_key()):
        with pytest.raises(ConditionNotMetError, match="does not meet state = done"):
            tasks.update(target, title="x", when=Eq("state", "done"))
    tasks.update(made, title="x", when=Eq("state", "open"))
    assert made.title == "x"


def test_none_and_an_empty_set_remove_the_attribute(tasks: Tasks) -> None:
    made = tasks.create(task(labels={"a"}, due_at=NOW)).entity
    tasks.update(made, labels=set(), due_at=None)
    item = stored_item(tasks, "PROJECT#p", "TASK#t1") or {}
    assert {"labels", "dueAt"}.isdisjoint(item)
    assert made == tasks.task(PROJECT, TASK).one()


def test_attributes_that_the_entity_does_not_know_survive_an_update(tasks: Tasks) -> None:
    made = tasks.create(task()).entity
    item = {**(stored_item(tasks, "PROJECT#p", "TASK#t1") or {}), "legacy": {"S": "kept"}}
    call(tasks, "PutItem", Item=item)
    tasks.update(made, state="done")
    tasks.update(by_key(), title="x")
    assert (stored_item(tasks, "PROJECT#p", "TASK#t1") or {})["legacy"] == {"S": "kept"}


# --- older schema versions --------------------------------------------------------------------------------


class PeopleTable(Table):
    name = "people"
    gsi1 = Index("GSI1", pk="GSI1PK", sk="GSI1SK")


class PersonPK(Key, template="PERSON#{person_id}"):
    person_id: str


class PersonSK(SortKey, template="PROFILE"):
    pass


class NamePK(Key, template="NAME#{last}"):
    last: str


class FirstSK(SortKey, template="FIRST#{first}"):
    first: str


class Person(Entity, schema_version=2):
    key = Keys(PersonPK, PersonSK)
    by_name = PeopleTable.gsi1.keys(NamePK, FirstSK)

    person_id: str
    first: str
    last: str
    age: int = 0

    @upcast(1)
    def split_name(values: dict[str, Any]) -> dict[str, Any]:  # noqa: N805  # no method: it is given values
        first, _, last = values.pop("fullName").partition(" ")
        return {**values, "first": first, "last": last}


class People(Design):
    table = PeopleTable
    entities = (Person,)

    @pattern("1 A person")
    def person(self, person_id: str) -> Get[Person]:
        return Person.key.get(PersonPK(person_id=person_id), PersonSK())


@pytest.fixture(params=TARGETS)
def people(request: pytest.FixtureRequest) -> Iterator[People]:
    with opened_design(People, request.param) as opened:
        old = {
            "PK": {"S": "PERSON#1"},
            "SK": {"S": "PROFILE"},
            "entityType": {"S": "Person"},
            "personId": {"S": "1"},
            "fullName": {"S": "Ada Byron"},
        }
        call(opened, "PutItem", Item=old)
        yield opened


@pytest.mark.parametrize("known", ["entity", "key"])
def test_update_of_an_older_item_brings_it_to_this_schema_version(people: People, known: str) -> None:
    target: Any = people.person("1").one() if known == "entity" else people.person("1")
    written = people.update(target, last="Lovelace")
    assert (written.entity.first, written.entity.last) == ("Ada", "Lovelace")
    assert people.person("1").one() == written.entity
    item = stored_item(people, "PERSON#1", "PROFILE") or {}
    assert item["schemaVersion"] == {"N": "2"}
    assert index_keys(people, "PERSON#1", "PROFILE") == {"GSI1PK": "NAME#Lovelace", "GSI1SK": "FIRST#Ada"}
    people.update(target, age=36)
    assert people.person("1").one().age == 36


# --- fields that are named like what an update takes ----------------------------------------------------


class EventSK(SortKey, template="EVENT#{event_id}"):
    event_id: str


class Event(Entity):
    key = Keys(ProjectPK, EventSK)

    project_id: ProjectId
    event_id: str
    target: str
    when: datetime
    changes: int = 0
    more: str = ""


class EventTable(Table):
    name = "events"


class Events(Design):
    table = EventTable
    entities = (Event,)


@pytest.mark.parametrize("target", TARGETS)
def test_fields_that_are_named_like_parameters_are_changed(target: str) -> None:
    with opened_design(Events, target) as db:
        event = Event(project_id=PROJECT, event_id="e1", target="a", when=NOW)
        db.create(event)
        later = NOW + timedelta(days=1)
        db.update(event, target="b", changes=1, more="text")
        changed = db.update(event, {"when": later, "changes": 2}, when=Eq("target", "b")).entity
        assert (changed.target, changed.when, changed.changes, changed.more) == ("b", later, 2, "text")
        db.transaction(Update(event, {"when": NOW}, target="c"))
        stored = db.plan(Event.key.get(*event.key)).consistent().one()
        assert (stored.target, stored.when) == ("c", NOW)


def test_update_says_how_a_field_is_changed_that_is_named_like_the_condition() -> None:
    event = Event(project_id=PROJECT, event_id="e1", target="a", when=NOW)
    with pytest.raises(TypeError, match=r"give the field in a mapping, update\(\.\.\., {\"when\": \.\.\.}\)"):
        Update(event, when=NOW)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="target is given twice"):
        Update(event, {"target": "b"}, target="c")
    with pytest.raises(TypeError, match="changes are a mapping of fields to values"):
        Update(event, "b")  # type: ignore[arg-type]


# --- an optimistic lock without a version --------------------------------------------------------------------


def test_write_if_unchanged_is_refused_when_any_field_has_changed(tasks: Tasks) -> None:
    first = tasks.create(task()).entity
    tasks.update(task(), labels={"home"})
    for wanted in (Update(first, title="Write twice"), Delete(first)):
        with pytest.raises(ConditionNotMetError, match="has changed meanwhile"):
            tasks.transaction(wanted.if_unchanged())
    current = tasks.task(PROJECT, TASK).one()
    changed = tasks.transaction(Update(current, title="Write twice").if_unchanged()).entity[0]
    assert (changed.title, changed.labels) == ("Write twice", {"home"})
    tasks.transaction(Delete(changed).if_unchanged())
    assert tasks.task(PROJECT, TASK).maybe() is None


def test_if_unchanged_needs_an_item_that_was_read() -> None:
    with pytest.raises(InvalidWriteError, match="was not read"):
        Update(task(), title="Write").if_unchanged()
