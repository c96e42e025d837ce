"""The design of Kefir as its document has it, and what the design that runs does otherwise."""

from __future__ import annotations

from typing import Final

import pytest

from singletable.blueprint import Blueprint, FixBlueprint, PatternBlueprint
from singletable_systems.kefir import Kefir
from systems.documented import (
    asked,
    attributes_of,
    cited_lines,
    citing_files,
    content_lines,
    covered_lines,
    documented_text,
    fixes_of,
    formula_value,
    has_part,
    has_test,
    keys_of,
    lines_of,
)

TEXT: Final = documented_text("kefir")
DOCUMENTED: Final = Blueprint.from_toml(TEXT)
FIXES: Final = fixes_of("kefir")


def test_file_is_as_it_is_written() -> None:
    assert DOCUMENTED.to_toml() == TEXT


# --- lines ----------------------------------------------------------------------------------------------


def test_every_line_of_the_document_is_covered() -> None:
    assert content_lines("003") <= covered_lines(DOCUMENTED)
    assert max(line for _, line in covered_lines(DOCUMENTED)) <= (DOCUMENTED.documents[0].lines or 0)


def test_every_citation_is_covered() -> None:
    cited = cited_lines(citing_files(), ["003"])
    assert len(cited) > 150
    assert cited.keys() & content_lines("003") <= covered_lines(DOCUMENTED)


# --- the table ------------------------------------------------------------------------------------------


def test_table_is_the_documents() -> None:
    table = DOCUMENTED.table
    assert (table.name, table.pk, table.sk) == ("kefir-app-{stage}-table", "PK", "SK")
    assert (table.billing, table.encryption) == ("PAY_PER_REQUEST", "AWS_MANAGED")
    assert "AWS managed (default)" in [said.words for said in table.said]
    assert (table.stream, table.ttl, table.pitr_days) == (None, None, None)
    assert [(index.name, index.pk, index.sk, index.projection) for index in DOCUMENTED.indexes] == [
        ("GSI1", ("GSI1PK",), ("GSI1SK",), "ALL")
    ]


# --- entities -------------------------------------------------------------------------------------------

KEYS = {
    ("User", "PK", "USER#{userId}"): "003:29",
    ("User", "SK", "METADATA"): "003:30",
    ("Batch", "PK", "USER#{userId}"): "003:59",
    ("Batch", "SK", "BATCH#{batchId}"): "003:60",
    ("Batch", "GSI1PK", "BATCH#{batchId}"): "003:61",
    ("Batch", "GSI1SK", "STATUS#{status}#{createdAt}"): "003:62",
    ("BatchEvent", "PK", "BATCH#{batchId}"): "003:113",
    ("BatchEvent", "SK", "EVENT#{timestamp}#{eventId}"): "003:114",
    ("Reminder", "PK", "BATCH#{batchId}"): "003:153",
    ("Reminder", "SK", "REMINDER#{reminderId}"): "003:154",
    ("Reminder", "GSI1PK", "USER#{userId}"): "003:155",
    ("Reminder", "GSI1SK", "DUE#{dueAt}"): "003:156",
    ("Device", "PK", "USER#{userId}"): "003:191",
    ("Device", "SK", "DEVICE#{deviceId}"): "003:192",
}

ATTRIBUTES = {
    "User": "userId email name? createdAt updatedAt preferences?",
    "Batch": "batchId userId name stage status waterVolumeMl sugarGrams fruits? temperatureC startTime "
    "targetHoursStage1 bottleCount? bottleVolumeMl? temperatureCStage2? startTimeStage2? targetHoursStage2? "
    "createdAt updatedAt archivedAt? isPublic? publicNote?",
    "BatchEvent": "eventId batchId type photoUrl? photoKey? note? fromStage? toStage? fromStatus? toStatus? "
    "createdAt",
    "Reminder": "reminderId batchId userId message dueAt status schedulerArn? createdAt sentAt? cancelledAt?",
    "Device": "deviceId userId platform pushToken deviceInfo? createdAt lastSeenAt",
    "Preferences": "notificationsEnabled defaultTemperatureC",
    "DeviceInfo": "model? osVersion? appVersion?",
}

VALUES = {
    ("Batch", "stage"): (1, 2),
    ("Batch", "status"): ("active", "in_fridge", "ready", "archived"),
    ("BatchEvent", "type"): ("photo", "note", "stage_transition", "status_change"),
    ("BatchEvent", "fromStage"): (1, 2),
    ("BatchEvent", "toStage"): (1, 2),
    ("Reminder", "status"): ("pending", "sent", "cancelled"),
    ("Device", "platform"): ("ios", "android", "web"),
}


def test_keys_are_the_documents() -> None:
    found = keys_of(DOCUMENTED)
    assert found.keys() == KEYS.keys()
    assert [key for key, at in KEYS.items() if not lines_of(at) <= found[key]] == []


def test_attributes_are_the_documents() -> None:
    assert attributes_of(DOCUMENTED) == ATTRIBUTES


def test_enumerations_are_the_documents() -> None:
    found = {
        (entity.name, each.name): each.values for entity in DOCUMENTED.entities for each in entity.attributes
    }
    assert {where: values for where, values in found.items() if values} == VALUES


def test_numbers_are_floats_but_for_those_that_are_listed() -> None:
    batch = DOCUMENTED.entity("Batch")
    assert batch is not None
    numbers = {each.name: each.type for each in batch.attributes if each.dynamodb == "N"}
    assert {name for name, kind in numbers.items() if kind != "float"} == {"stage"}
    assert len(numbers) == 9


def test_time_in_the_key_of_an_event_has_seconds_and_that_of_the_example_milliseconds() -> None:
    """003:346 and 003:286."""
    event = DOCUMENTED.entity("BatchEvent")
    assert event is not None
    assert event.places[0].sk is not None
    assert event.places[0].sk.samples == ("EVENT#2024-01-15T10:30:00Z#evt123",)
    _, example, *_ = pattern("8").said
    assert [each.get("format") for each in example.differs["parameters"]] == [
        None,
        "iso-8601-ms",
        "iso-8601-ms",
    ]


# --- patterns -------------------------------------------------------------------------------------------

PATTERNS = {
    "1": ("003:49", "GetItem PK = USER#{userId} AND SK = METADATA"),
    "2": ("003:101", "Query PK = USER#{userId} AND SK begins_with BATCH#"),
    "3": ("003:102", "Query GSI1 GSI1PK = BATCH#{batchId}"),
    "4": ("003:103", "Query GSI1 GSI1PK begins_with BATCH# AND GSI1SK begins_with STATUS#{status}"),
    "5": ("003:142", "Query PK = BATCH#{batchId} AND SK begins_with EVENT#"),
    "6": ("003:143", "Query PK = BATCH#{batchId} AND SK > EVENT#{timestamp}"),
    "7": ("003:179", "Query PK = BATCH#{batchId} AND SK begins_with REMINDER#"),
    "8": ("003:180", "Query GSI1 GSI1PK = USER#{userId} AND GSI1SK begins_with DUE# AND GSI1SK > DUE#{now}"),
    "9": ("003:181", "Query GSI1 GSI1SK < DUE#{now}"),
    "10": ("003:215", "Query PK = USER#{userId} AND SK begins_with DEVICE#"),
    "11": ("003:216", "GetItem PK = USER#{userId} AND SK = DEVICE#{deviceId}"),
    "12": ("003:220-239", "Query PK = USER#{userId} AND SK begins_with BATCH#"),
    "13": (
        "003:241-275",
        (
            "Query GSI1 GSI1PK = BATCH#{batchId}; Query PK = BATCH#{batchId} AND SK begins_with EVENT#; "
            "Query PK = BATCH#{batchId} AND SK begins_with REMINDER#"
        ),
    ),
    "14": ("003:292-310", "Query PK = USER#{userId}; Query PK = BATCH#{batchId}"),
}


def pattern(number: str) -> PatternBlueprint:
    return next(each for each in DOCUMENTED.patterns if each.number == number)


def test_patterns_ask_what_the_document_asks() -> None:
    assert {each.number: (each.said[0].at, asked(each)) for each in DOCUMENTED.patterns} == PATTERNS


def test_upcoming_reminders_are_asked_for_in_two_ways() -> None:
    """003:180 and 003:283."""
    first, second = pattern("8").reads[0].said
    assert (first.at, dict(first.differs)) == ("003:180", {})
    assert second.at == "003:281-283"
    assert second.differs["conditions"] == [
        {"attribute": "GSI1PK", "operator": "=", "templates": ["USER#{userId}"]},
        {"attribute": "GSI1SK", "operator": "BETWEEN", "templates": ["DUE#{start}", "DUE#{end}"]},
    ]


def test_expressions_of_examples_are_as_they_are_written() -> None:
    (active,) = pattern("12").reads
    assert active.key_expression == "PK = :pk AND begins_with(SK, :sk)"  # 003:228
    assert (active.filter_expression, active.names) == ("#status = :status", {"#status": "status"})
    events = pattern("13").reads[1]
    assert events.means is not None
    assert (events.order, events.limit, events.means.first) == ("backward", 20, "newest")  # 003:262-263


def test_batch_by_id_is_read_from_an_index_though_it_may_just_have_changed() -> None:
    """X-05, KF-07."""
    assert (pattern("3").requires, pattern("3").reads[0].index) == (("read-your-writes",), "GSI1")


# --- figures --------------------------------------------------------------------------------------------

# As it is stated, and as its terms make it.
FIGURES = {
    "user_storage": (1, 1),
    "batch_storage": (20, 20),
    "event_storage": (100, 100),
    "reminder_storage": (20, 20),
    "device_storage": (3, 3),
    "storage_per_user": (150, 144),
    "storage": (150, 150),
    "storage_cost": (0.04, 0.0375),
    "read_cost": (0.025, 0.025),
    "write_cost": (0.06, 0.0625),
    "cost": (0.125, 0.125),
    "upcoming_window": (604_800_000, 604_800_000),
}


def test_formulas_can_be_worked_out() -> None:
    worked_out = {
        figure.name: (figure.value, round(formula_value(DOCUMENTED, figure.name), 6))
        for figure in DOCUMENTED.figures
        if figure.formula
    }
    assert worked_out == FIGURES


def test_volumes_are_those_of_a_user() -> None:
    """003:316-330."""
    assert [(each.entity, each.count, each.kb, each.upto_kb, each.per) for each in DOCUMENTED.volumes] == [
        ("User", 1, 1, None, "user"),
        ("Batch", 10, 2, None, "user"),
        ("BatchEvent", 50, 2, 3, "user"),
        ("Reminder", 20, 1, None, "user"),
        ("Device", 3, 1, None, "user"),
    ]
    assert [(each.of, each.monthly) for each in DOCUMENTED.loads] == [("reads", 100_000), ("writes", 50_000)]


# --- fixes ----------------------------------------------------------------------------------------------

SEVERITIES = {
    "E": "KF-01 KF-02 KF-03 KF-04 KF-05 X-01 X-02 X-07",
    "W": "KF-06 KF-07 KF-08 KF-09 KF-10 KF-24 KF-25 KF-26 X-03 X-04 X-05 X-06 X-09 X-10 X-15",
    "D": "KF-11 KF-12 KF-13 KF-14 KF-15 KF-16 KF-27 X-08 X-12",
    "G": "KF-17 KF-18 KF-19 KF-20 KF-21 KF-22 KF-23 X-11 X-13 X-14",
}


def test_every_defect_has_its_fix() -> None:
    found = {
        severity: " ".join(fix.id for fix in FIXES if fix.severity == severity) for severity in SEVERITIES
    }
    assert found == SEVERITIES
    assert len(FIXES) == 27 + 15
    assert all(fix.defect and fix.repair and fix.parts for fix in FIXES)


@pytest.mark.parametrize("fix", FIXES, ids=lambda fix: fix.id)
def test_fix_names_parts_and_tests_that_there_are(fix: FixBlueprint) -> None:
    fixed = Kefir.blueprint()
    assert [part for part in fix.parts if not (has_part(DOCUMENTED, part) or has_part(fixed, part))] == []
    assert [name for name in fix.proof if not has_test(name)] == []
