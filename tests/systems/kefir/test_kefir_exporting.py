"""Exporting: what stands in the files is what is stored of a user, to the letter; all files are there, or none."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

import pytest

from singletable import Database, Entity, Put
from singletable.client import Call, open_client
from singletable.clock import ManualClock
from singletable_systems.kefir.errors import UserNotFoundError
from singletable_systems.kefir.model.entities import (
    Batch,
    BatchEvent,
    Device,
    DeviceInfo,
    Reminder,
    ReminderStatus,
    User,
)
from singletable_systems.kefir.model.keys import DeviceId, EventId, UserId
from singletable_systems.kefir.reactions.handlers import Kefir
from singletable_systems.kefir.services.batches import Brewing
from singletable_systems.kefir.services.devices import Devices
from singletable_systems.kefir.services.export import FILES, NOT_EXPORTED, columns, export_csv
from singletable_systems.kefir.services.shared_batches import Sharing
from support.design_clients import on_client
from support.failing_clients import FailingClient
from support.opened_designs import stored_items
from support.targets import TARGETS
from systems.kefir_users import (
    ADA,
    BO,
    fill_bottles,
    opened_kefir,
    remind,
    settle_in,
    sign_up,
    start,
    watched,
)

TEXTS = [
    "plain",
    "commas, and; semicolons",
    'he said "bubbles"',
    '"',
    "two\nlines",
    "\r\nWindows\r\n",
    "one\rtwo",
    "ÅÄÖ åäö ß 漢字 🫧",
    "  spaces and\ttabs  ",
    "=1+1",
    "null\0byte",
    "'",
    "\u2028line separator",
]


@pytest.fixture(params=TARGETS)
def db(request: pytest.FixtureRequest) -> Iterator[Kefir]:
    with opened_kefir(request.param, ManualClock()) as db:
        yield db


@pytest.fixture
def memory() -> Iterator[Kefir]:
    with opened_kefir("embedded", ManualClock()) as db:
        yield db


def read(path: Path) -> list[dict[str, str]]:
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def stored_rows(db: Kefir, user_id: UserId) -> dict[str, list[dict[str, str]]]:
    """Return what is stored of a user as the files should have it, straight from the table."""
    batch_ids = {batch.batch_id for batch in db.batches(user_id).all()}
    rows: dict[str, list[dict[str, str]]] = {entity.__name__: [] for entity in FILES}
    for item in sorted(stored_items(db), key=lambda item: (item["PK"]["S"], item["SK"]["S"])):
        values = flat(item)
        name = values["entityType"]
        if name in rows and (values.get("userId") == user_id or values.get("batchId") in batch_ids):
            entity = next(entity for entity in FILES if entity.__name__ == name)
            rows[name].append({column: values.get(column, "") for column in columns()[entity]})
    return rows


def flat(item: dict[str, Any], within: str = "") -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in item.items():
        if "M" in value:
            found |= flat(value["M"], f"{within}{name}.")
        else:
            [content] = value.values()
            found[within + name] = content if isinstance(content, str) else str(content).lower()
    return found


def assert_exported(db: Kefir, user_id: UserId, folder: Path) -> None:
    """Compare files with what is stored, whatever the order of batches."""
    expected = stored_rows(db, user_id)
    for entity, name in FILES.items():
        found = read(folder / name)
        by_key = lambda row: tuple(row.values())  # noqa: E731
        assert sorted(found, key=by_key) == sorted(expected[entity.__name__], key=by_key), name


# --- what is in the files -----------------------------------------------------------------------------------


def test_files_hold_what_is_stored_to_the_letter(db: Kefir, tmp_path: Path) -> None:
    sign_up(db, ADA)
    brewing = Brewing(db)
    batches = [start(db, ADA, name=text, fruits=text, note=text) for text in TEXTS]
    fill_bottles(brewing, ADA, batches[0].batch_id)
    Sharing(db).share(ADA, batches[0].batch_id, TEXTS[2])
    brewing.archive(ADA, batches[1].batch_id)
    for batch in batches[:2]:
        for status in get_args(ReminderStatus):
            remind(db, batch, status, status)
    brewing.photo(ADA, batches[0].batch_id, photo_key="a,b", photo_url='https://x/"', note="ö")
    info = DeviceInfo(model="Fairphone, 5", app_version="1.0")
    Devices(db).register(ADA, DeviceId("d1"), platform="web", push_token="t,1", device_info=info)
    Devices(db).register(ADA, DeviceId("d2"), platform="ios", push_token="t2")
    settle_in(db, BO)
    report = export_csv(db, ADA, tmp_path / "export")
    assert_exported(db, ADA, tmp_path / "export")
    expected = {"User": 1, "Batch": 13, "BatchEvent": 16, "Reminder": 6, "Device": 2}
    assert report.rows == expected
    assert report.files["BatchEvent"] == tmp_path / "export" / "batch_events.csv"
    assert sorted(report.files.values()) == sorted((tmp_path / "export").iterdir())
    assert report.units > 0


def test_values_read_as_they_are_documented(memory: Kefir, tmp_path: Path) -> None:
    sign_up(memory, ADA)
    batch = start(memory, ADA)
    Sharing(memory).share(ADA, batch.batch_id)
    export_csv(memory, ADA, tmp_path)
    [user] = read(tmp_path / "users.csv")
    assert (user["preferences.notificationsEnabled"], user["preferences.defaultTemperatureC"]) == (
        "true",
        "22.5",
    )
    [row] = read(tmp_path / "batches.csv")
    assert (row["sugarGrams"], row["waterVolumeMl"], row["stage"]) == ("37.5", "1000", "1")
    assert (row["startTime"], row["isPublic"], row["archivedAt"]) == ("2023-11-14T22:13:20.000Z", "true", "")
    assert (tmp_path / "reminders.csv").read_bytes().endswith(b",failure,version\r\n")


@pytest.mark.parametrize("entity", FILES, ids=lambda entity: entity.__name__)
def test_every_attribute_has_a_column(entity: type[Entity]) -> None:
    blueprint = Kefir.blueprint().entity(entity.__name__)
    assert blueprint is not None
    written = columns()[entity]
    names = [column.split(".")[0] for column in written]
    left_out = NOT_EXPORTED.get(entity, ())
    assert list(dict.fromkeys(names)) == [
        attribute.stored for attribute in blueprint.attributes if attribute.name not in left_out
    ]
    assert len(set(written)) == len(written)


# People build on these files: columns are added at the end, and none is taken away.
KNOWN_COLUMNS = {
    User: "userId email name createdAt updatedAt preferences.notificationsEnabled "
    "preferences.defaultTemperatureC version",
    Batch: "batchId userId name stage status waterVolumeMl sugarGrams fruits temperatureC startTime "
    "targetHoursStage1 bottleCount bottleVolumeMl temperatureCStage2 startTimeStage2 targetHoursStage2 "
    "createdAt updatedAt archivedAt isPublic publicNote version",
    BatchEvent: "eventId batchId type photoUrl photoKey note fromStage toStage fromStatus toStatus createdAt",
    Reminder: "reminderId batchId userId message dueAt status schedulerArn createdAt sentAt cancelledAt "
    "nextTryAt attempts failure version",
    Device: "deviceId userId platform pushToken deviceInfo.model deviceInfo.osVersion deviceInfo.appVersion "
    "createdAt lastSeenAt ttl",
}


@pytest.mark.parametrize("entity", FILES, ids=lambda entity: entity.__name__)
def test_columns_that_people_know_stay_where_they_are(entity: type[Entity]) -> None:
    known = tuple(KNOWN_COLUMNS[entity].split())
    assert columns()[entity][: len(known)] == known


def test_user_with_nothing_gets_headers(memory: Kefir, tmp_path: Path) -> None:
    sign_up(memory, ADA)
    assert set(export_csv(memory, ADA, str(tmp_path)).rows.values()) == {0, 1}
    for entity, name in FILES.items():
        header, *_ = (tmp_path / name).read_text().splitlines()
        assert tuple(header.split(",")) == columns()[entity]


# --- how it is read ----------------------------------------------------------------------------------------


def test_long_timeline_is_written_while_it_is_read(db: Kefir, tmp_path: Path) -> None:
    sign_up(db, ADA)
    batch = start(db, ADA)
    texts = 'å, "ä"\n' * 600
    events = [
        BatchEvent(
            event_id=EventId(f"e{number:04}"),
            batch_id=batch.batch_id,
            type="note",
            note=f"{number} {texts}",
            created_at=db.now() + timedelta(milliseconds=number // 3),
        )
        for number in range(600)
    ]
    assert sum(len((event.note or "").encode()) for event in events) > 3_000_000
    db.batch(*map(Put, events))
    asking, between = watched(db)
    written: list[int] = []

    def look(call: Call) -> None:
        written.extend(path.stat().st_size for path in tmp_path.glob(".export-*/batch_events.csv"))

    between.before = look
    report = export_csv(asking, ADA, tmp_path)
    assert report.rows["BatchEvent"] == 600
    # A megabyte at a time: what was read is in the file, but for its last few lines, before more is read.
    assert len(written) >= 5
    assert all(later - earlier > 900_000 for earlier, later in pairwise(written[1:]))
    assert_exported(db, ADA, tmp_path)
    assert [row["eventId"] for row in read(tmp_path / "batch_events.csv")] == [e.event_id for e in events]


def test_each_partition_is_one_consistent_query(memory: Kefir, tmp_path: Path) -> None:
    settle_in(memory, ADA, batches=3)
    asking, between = watched(memory)
    export_csv(asking, ADA, tmp_path)
    assert between.operations() == ["GetItem"] + ["Query"] * 4
    assert all(call.params["ConsistentRead"] for call in between.calls)


# --- all of it or nothing ------------------------------------------------------------------------------------


def test_user_who_is_not_there_gets_no_folder(memory: Kefir, tmp_path: Path) -> None:
    with pytest.raises(UserNotFoundError, match="there is no user ada"):
        export_csv(memory, ADA, tmp_path / "export")
    assert list(tmp_path.iterdir()) == []


def test_export_replaces_an_earlier_one(memory: Kefir, tmp_path: Path) -> None:
    settle_in(memory, ADA)
    (tmp_path / "mine.txt").write_text("stays")
    export_csv(memory, ADA, tmp_path)
    start(memory, ADA)
    export_csv(memory, ADA, tmp_path)
    assert_exported(memory, ADA, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"mine.txt", *FILES.values()}


@pytest.mark.parametrize("has_earlier", [False, True], ids=["new", "earlier"])
def test_export_that_fails_leaves_everything_as_it_was(tmp_path: Path, has_earlier: bool) -> None:
    folder = tmp_path / "export"
    with Database.open(":memory:", clock=ManualClock()) as database, open_client(database) as client:
        failing = FailingClient(client)
        db = on_client(Kefir, failing, stage="test")
        settle_in(db, ADA)
        if has_earlier:
            export_csv(db, ADA, folder)
        before = contents(tmp_path)
        start(db, ADA)
        for number in range(1, 6):
            failing.fail_at(number, RuntimeError, loses_answer=False)
            with pytest.raises(RuntimeError):
                export_csv(db, ADA, folder)
            assert contents(tmp_path) == before
        failing.stop_failing()
        export_csv(db, ADA, folder)
        assert_exported(db, ADA, folder)


def test_file_that_cannot_be_replaced_is_what_is_told(memory: Kefir, tmp_path: Path) -> None:
    settle_in(memory, ADA)
    db, between = watched(memory)

    def stand_in_the_way(call: Call) -> None:
        if call.operation == "Query":
            (tmp_path / "export" / FILES[BatchEvent]).mkdir(exist_ok=True)

    between.before = stand_in_the_way
    with pytest.raises(IsADirectoryError):
        export_csv(db, ADA, tmp_path / "export")
    assert [path.name for path in tmp_path.glob("export/.*")] == []


def contents(folder: Path) -> dict[str, bytes | None]:
    found = sorted(folder.rglob("*"))
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in found}
