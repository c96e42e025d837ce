"""Every attribute of Kefir's design document, with its line, beside ours; and the items entities are stored as."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel

from singletable.clock import ManualClock
from singletable_systems.kefir.model import entities
from singletable_systems.kefir.model.entities import (
    BatchEvent,
    DeviceInfo,
    Preferences,
)
from singletable_systems.kefir.model.keys import BatchId, DeviceId, UserId
from singletable_systems.kefir.reactions.handlers import Kefir
from support.opened_designs import opened_design, store, stored_items
from support.targets import TARGETS
from systems.kefir_examples import AT, BATCH, DEVICE, EVENT, EXAMPLES, ITEMS, LOCKS, REMINDER, STORED_AT, USER

STATUS = '"active" | "in_fridge" | "ready" | "archived"'
TYPE = '"photo" | "note" | "stage_transition" | "status_change"'
REMINDER_STATUS = '"pending" | "sent" | "cancelled"'
PLATFORM = '"ios" | "android" | "web"'

# Line, entity, the attribute with ? where it is optional, its type in the document, and its type in ours.
# KF-27: what the document calls a number may have a fraction, and free text of a status is one of the statuses.
ATTRIBUTES = [
    ("003:36", "User", "userId", "string", "str"),
    ("003:37", "User", "email", "string", "str"),
    ("003:38", "User", "name?", "string", "str"),
    ("003:39", "User", "createdAt", "string", "datetime"),
    ("003:40", "User", "updatedAt", "string", "datetime"),
    ("003:41", "User", "preferences?", "{...}", "Preferences"),
    ("003:68", "Batch", "batchId", "string", "str"),
    ("003:69", "Batch", "userId", "string", "str"),
    ("003:70", "Batch", "name", "string", "str"),
    ("003:71", "Batch", "stage", "1 | 2", "1 | 2"),
    ("003:72", "Batch", "status", STATUS, STATUS),
    ("003:75", "Batch", "waterVolumeMl", "number", "Decimal"),
    ("003:76", "Batch", "sugarGrams", "number", "Decimal"),
    ("003:77", "Batch", "fruits?", "string", "str"),
    ("003:78", "Batch", "temperatureC", "number", "Decimal"),
    ("003:79", "Batch", "startTime", "string", "datetime"),
    ("003:80", "Batch", "targetHoursStage1", "number", "Decimal"),
    ("003:83", "Batch", "bottleCount?", "number", "int"),
    ("003:84", "Batch", "bottleVolumeMl?", "number", "Decimal"),
    ("003:85", "Batch", "temperatureCStage2?", "number", "Decimal"),
    ("003:86", "Batch", "startTimeStage2?", "string", "datetime"),
    ("003:87", "Batch", "targetHoursStage2?", "number", "Decimal"),
    ("003:90", "Batch", "createdAt", "string", "datetime"),
    ("003:91", "Batch", "updatedAt", "string", "datetime"),
    ("003:92", "Batch", "archivedAt?", "string", "datetime"),
    ("003:95", "Batch", "isPublic?", "boolean", "bool"),
    ("003:96", "Batch", "publicNote?", "string", "str"),
    ("003:120", "BatchEvent", "eventId", "string", "str"),
    ("003:121", "BatchEvent", "batchId", "string", "str"),
    ("003:122", "BatchEvent", "type", TYPE, TYPE),
    ("003:125", "BatchEvent", "photoUrl?", "string", "str"),
    ("003:126", "BatchEvent", "photoKey?", "string", "str"),
    ("003:129", "BatchEvent", "note?", "string", "str"),
    ("003:132", "BatchEvent", "fromStage?", "1 | 2", "1 | 2"),
    ("003:133", "BatchEvent", "toStage?", "1 | 2", "1 | 2"),
    ("003:134", "BatchEvent", "fromStatus?", "string", STATUS),
    ("003:135", "BatchEvent", "toStatus?", "string", STATUS),
    ("003:137", "BatchEvent", "createdAt", "string", "datetime"),
    ("003:162", "Reminder", "reminderId", "string", "str"),
    ("003:163", "Reminder", "batchId", "string", "str"),
    ("003:164", "Reminder", "userId", "string", "str"),
    ("003:165", "Reminder", "message", "string", "str"),
    ("003:166", "Reminder", "dueAt", "string", "datetime"),
    ("003:167", "Reminder", "status", REMINDER_STATUS, REMINDER_STATUS),
    ("003:170", "Reminder", "schedulerArn?", "string", "str"),
    ("003:172", "Reminder", "createdAt", "string", "datetime"),
    ("003:173", "Reminder", "sentAt?", "string", "datetime"),
    ("003:174", "Reminder", "cancelledAt?", "string", "datetime"),
    ("003:198", "Device", "deviceId", "string", "str"),
    ("003:199", "Device", "userId", "string", "str"),
    ("003:200", "Device", "platform", PLATFORM, PLATFORM),
    ("003:201", "Device", "pushToken", "string", "str"),
    ("003:203", "Device", "deviceInfo?", "{...}", "DeviceInfo"),
    ("003:209", "Device", "createdAt", "string", "datetime"),
    ("003:210", "Device", "lastSeenAt", "string", "datetime"),
]
# Entity, attribute, its type, and the defect that it repairs.
ADDED = [
    ("User", "version", "int", "X-04"),
    ("Batch", "version", "int", "X-04"),
    ("Reminder", "nextTryAt", "datetime", "KF-02"),
    ("Reminder", "attempts", "int", "KF-02"),
    ("Reminder", "failure?", "str", "KF-02"),
    ("Reminder", "version", "int", "X-04"),
    ("Device", "ttl?", "datetime", "KF-20"),
]
# What a type of the document may be in ours.
ALLOWED = {
    "string": {"str", "datetime", STATUS},
    "number": {"Decimal", "int"},
    "boolean": {"bool"},
    "{...}": {"Preferences", "DeviceInfo"},
}
# Attributes inside of attributes: line, class, field, attribute, and whether it is optional.
NESTED: list[tuple[str, type[BaseModel], str, str, bool]] = [
    ("003:42", Preferences, "notifications_enabled", "notificationsEnabled", False),
    ("003:43", Preferences, "default_temperature_c", "defaultTemperatureC", False),
    ("003:204", DeviceInfo, "model", "model", True),
    ("003:205", DeviceInfo, "os_version", "osVersion", True),
    ("003:206", DeviceInfo, "app_version", "appVersion", True),
]


def attributes() -> dict[str, dict[str, str]]:
    """Return the types of ours, by entity and by attribute as it is stored, with ? where it is optional."""
    return {
        entity.name: {
            f"{each.stored}{'?' if each.is_optional else ''}": each.type for each in entity.attributes
        }
        for entity in Kefir.blueprint().entities
    }


@pytest.mark.parametrize(
    ("line", "entity", "attribute", "document", "ours"), ATTRIBUTES, ids=[row[0] for row in ATTRIBUTES]
)
def test_attribute_is_the_documents(line: str, entity: str, attribute: str, document: str, ours: str) -> None:
    assert attributes()[entity].get(attribute) == ours, line
    assert ours in ALLOWED.get(document, {document}), line


def test_every_attribute_is_documented_or_added() -> None:
    documented = [(entity, attribute) for _, entity, attribute, _, _ in ATTRIBUTES]
    added = [(entity, attribute) for entity, attribute, _, _ in ADDED]
    found = [(entity, attribute) for entity, types in attributes().items() for attribute in types]
    assert sorted(found) == sorted([*documented, *added])


@pytest.mark.parametrize(("entity", "attribute", "kind", "defect"), ADDED)
def test_added_attribute_names_the_defect_that_it_repairs(
    entity: str, attribute: str, kind: str, defect: str
) -> None:
    assert attributes()[entity][attribute] == kind
    blueprint = next(each for each in Kefir.blueprint().entities if each.name == entity)
    name = next(each.name for each in blueprint.attributes if each.stored == attribute.rstrip("?"))
    lines = inspect.getsource(getattr(entities, entity)).splitlines()
    at = next(number for number, line in enumerate(lines) if line.strip().startswith(f"{name}:"))
    first = max(number for number in range(at) if not lines[number].strip())
    remarks = [line for line in (lines[at], *reversed(lines[first:at])) if "#" in line]
    assert "dded" in remarks[0]
    assert defect in remarks[0]


@pytest.mark.parametrize(
    ("line", "kind", "field", "attribute", "is_optional"), NESTED, ids=[row[0] for row in NESTED]
)
def test_nested_attribute_is_the_documents(
    line: str, kind: type[BaseModel], field: str, attribute: str, is_optional: bool
) -> None:
    stored = ITEMS["User"]["preferences"] if kind is Preferences else ITEMS["Device"]["deviceInfo"]
    assert attribute in stored["M"], line
    assert kind.model_fields[field].is_required() is not is_optional
    assert len(kind.model_fields) == len([row for row in NESTED if row[1] is kind])


# --- items ------------------------------------------------------------------------------------------------


@pytest.fixture(params=TARGETS)
def db(request: pytest.FixtureRequest) -> Iterator[Kefir]:
    clock = ManualClock(int(STORED_AT.timestamp() * 1000) * 1000)
    with opened_design(Kefir, request.param, clock, stage="test") as design:
        yield design


def sorted_items(items: Any) -> list[dict[str, Any]]:
    return sorted(items, key=lambda item: (item["PK"]["S"], item["SK"]["S"]))


def test_full_examples_are_stored_literally_so(db: Kefir) -> None:
    for entity in EXAMPLES:
        db.create(entity)
    assert sorted_items(stored_items(db)) == sorted_items([*ITEMS.values(), *LOCKS.values()])


def test_example_holds_every_attribute() -> None:
    for entity, types in attributes().items():
        missing = {attribute.rstrip("?") for attribute in types} - set(ITEMS[entity])
        assert missing == set()


@pytest.mark.parametrize("status", ["sent", "cancelled"])
def test_reminder_that_is_not_pending_has_no_keys_of_indexes(db: Kefir, status: str) -> None:
    db.create(REMINDER.model_copy(update={"status": status}))
    (item,) = stored_items(db)
    without = {name: value for name, value in ITEMS["Reminder"].items() if not name.startswith("GSI")}
    assert item == {**without, "status": {"S": status}}


def test_absent_optional_attributes_are_not_stored(db: Kefir) -> None:
    db.create(BatchEvent(event_id=EVENT.event_id, batch_id=EVENT.batch_id, type="note", created_at=AT))
    (item,) = stored_items(db)
    assert set(item) == {"PK", "SK", "entityType", "schemaVersion", "eventId", "batchId", "type", "createdAt"}


ADDED_TO_ITEMS = {"entityType", "schemaVersion", "version", "ttl", "GSI2PK", "GSI2SK", "attempts"}


def as_documented(item: dict[str, Any]) -> dict[str, Any]:
    """Return an item without all that was added to those of the document."""
    return {name: value for name, value in item.items() if name not in ADDED_TO_ITEMS}


def test_items_of_the_document_are_read_without_what_was_added(db: Kefir) -> None:
    for item in ITEMS.values():
        store(db, as_documented(item))
    user_id, batch_id = UserId("123"), BatchId("abc")
    unversioned = {"version": 0, "updated_at": STORED_AT}
    user, batch = USER.model_copy(update=unversioned), BATCH.model_copy(update=unversioned)
    reminder = REMINDER.model_copy(update={"version": 0, "attempts": 0})
    device = DEVICE.model_copy(update={"ttl": None})
    assert db.user(user_id).one() == user
    assert list(db.batches(user_id).all()) == [batch]
    assert db.batch_by_id(batch_id).one() == batch
    assert list(db.events(batch_id).all()) == [EVENT]
    assert list(db.reminders(batch_id).all()) == [reminder]
    assert list(db.upcoming(user_id, AT).all()) == [reminder]
    assert db.device(user_id, DeviceId("dev123")).one() == device
    assert [db.user_data(user_id).one().user, db.batch_view(batch_id).one().events] == [user, [EVENT]]


@pytest.mark.parametrize(
    ("text", "status", "note"),
    [
        ("active", "active", "bubbles"),
        ("In Fridge", "in_fridge", "bubbles"),
        ("in-fridge", "in_fridge", "bubbles"),
        ("drunk", None, "bubbles, to drunk"),
    ],
)
def test_status_of_an_old_event_is_read_from_free_text(
    db: Kefir, text: str, status: str | None, note: str
) -> None:
    """003:134-135 has a status as free text (KF-27)."""
    store(db, {**as_documented(ITEMS["BatchEvent"]), "toStatus": {"S": text}})
    (event,) = db.events(BatchId("abc")).all()
    assert (event.from_status, event.to_status, event.note) == ("active", status, note)
