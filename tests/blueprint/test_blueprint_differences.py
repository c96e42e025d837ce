"""What differs between two blueprints, and why; what is only described otherwise is no difference."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pytest

from singletable.blueprint import (
    AggregateBlueprint,
    AttributeBlueprint,
    BackupBlueprint,
    Blueprint,
    EntityBlueprint,
    FixBlueprint,
    KeyBlueprint,
    KeyCondition,
    KeyPart,
    PatternBlueprint,
    PlaceBlueprint,
    ReadBlueprint,
    RegionBlueprint,
    SortBlueprint,
    TableBlueprint,
    TtlBlueprint,
    TtlRuleBlueprint,
    VolumeBlueprint,
)
from singletable.blueprint.differences import differences

AT: Final = AttributeBlueprint("at", "at", "str", dynamodb="S")
KEY: Final = PlaceBlueprint(
    "key", KeyBlueprint(("PK",), "USER#{userId}"), KeyBlueprint(("SK",), "NOTE#{noteId}")
)
NOTE: Final = EntityBlueprint("Note", "", (AT,), (KEY,))


def design(*entities: EntityBlueprint, **members: Any) -> Blueprint:
    return Blueprint("Notes", TableBlueprint("notes", sk="SK"), entities=entities, **members)


def told(before: Blueprint, after: Blueprint) -> list[tuple[str, str, str, str]]:
    return [(each.kind, each.path, each.was, each.now) for each in differences(before, after).parts]


def placed(pk: KeyBlueprint, **members: Any) -> Blueprint:
    return design(replace(NOTE, places=(replace(KEY, pk=pk),), **members))


# --- what is no difference --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "after",
    [
        placed(KeyBlueprint(("PK",), "USER#{user_id}")),
        placed(KeyBlueprint(("PK",), "USER#{owner}", (KeyPart("owner", "str", "userId"),))),
        placed(
            KeyBlueprint(("PK",), "USER#{u}", (KeyPart("u", "str", "owner"),)),
            attributes=(AT, AttributeBlueprint("owner", "userId", "str")),
        ),
    ],
    ids=["other case", "part of another name", "stored under the name"],
)
def test_placeholder_is_the_attribute_that_fills_it(after: Blueprint) -> None:
    places = [each for each in told(design(NOTE), after) if ".places." in each[1]]
    assert places == []


def test_bucket_of_time_is_not_the_time() -> None:
    month = KeyBlueprint(("PK",), "IN#{month}", (KeyPart("month", "str", "at", bucket="month"),))
    day = KeyBlueprint(("PK",), "IN#{day}", (KeyPart("day", "str", "at", bucket="day"),))
    assert told(placed(month), placed(day)) == [
        (
            "changed",
            "entities.Note.places.key",
            "PK = IN#{at by month}, SK = NOTE#{noteId}",
            "PK = IN#{at by day}, SK = NOTE#{noteId}",
        )
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (AT, replace(AT, type="datetime", dynamodb=None)),
        (replace(AT, dynamodb="NULL"), AT),
        (replace(AT, type="int", dynamodb=None), replace(AT, type="Decimal", dynamodb=None)),
    ],
    ids=["a time is text", "a sample without a value", "numbers"],
)
def test_attribute_is_what_is_stored_of_it(before: AttributeBlueprint, after: AttributeBlueprint) -> None:
    assert told(design(replace(NOTE, attributes=(before,))), design(replace(NOTE, attributes=(after,)))) == []


def test_compressed_attribute_is_binary() -> None:
    packed = replace(AT, type="list[str]", dynamodb=None, markers=({"kind": "Compressed"},))
    assert told(design(NOTE), design(replace(NOTE, attributes=(packed,)))) == [
        ("changed", "entities.Note.attributes.at", "S", "B")
    ]


def test_attribute_of_expiry_is_a_number_whatever_its_type_in_the_design() -> None:
    number = AttributeBlueprint("ttl", "ttl", "int", dynamodb="N")
    before = replace(NOTE, attributes=(number,), ttl=TtlBlueprint("ttl", "ttl", 86_400, purpose="cache"))
    after = replace(
        NOTE,
        attributes=(replace(number, type="datetime", dynamodb=None),),
        ttl=TtlBlueprint("ttl", "ttl", 86_400),
    )
    assert told(design(before), design(after)) == []


def test_recovery_is_told_by_its_days_and_not_among_the_backups() -> None:
    listed = (BackupBlueprint("pitr", keep_days=35), BackupBlueprint("none"))
    before = replace(design(NOTE), table=TableBlueprint("notes", sk="SK", pitr_days=35, backups=listed))
    after = replace(design(NOTE), table=TableBlueprint("notes", sk="SK", pitr_days=35))
    assert told(before, after) == []
    weekly = BackupBlueprint("aws-backup", keep_days=90, every_days=7)
    assert told(after, replace(after, table=replace(after.table, backups=(weekly,)))) == [
        ("changed", "table.backups", "", "aws-backup every 7 days, kept 90 days")
    ]


# --- what is one ------------------------------------------------------------------------------------------


def test_region_is_told_with_the_place_that_it_is_taken_for() -> None:
    before, after = (
        replace(
            design(NOTE),
            table=TableBlueprint("notes", sk="SK", regions=(RegionBlueprint(code, "Stockholm"),)),
        )
        for code in ("eu-west-1", "eu-north-1")
    )
    assert told(before, after) == [
        ("changed", "table.regions", "eu-west-1 (Stockholm)", "eu-north-1 (Stockholm)")
    ]


def test_new_entity_is_told_once_with_its_key() -> None:
    after = design(NOTE, volumes=(VolumeBlueprint("Note", 10, 1),))
    key = "PK = USER#{userId}, SK = NOTE#{noteId}"
    assert told(design(), design(NOTE)) == [("added", "entities.Note", "", key)]
    assert told(design(volumes=(VolumeBlueprint("User", 1, 1),)), after)[-1] == (
        "added",
        "entities.Note",
        "",
        key,
    )


def test_entity_without_a_key_is_none_yet_and_its_rule_of_expiry_is_found_again() -> None:
    ttl = TtlBlueprint("ttl", "ttl", 86_400)
    before = design(EntityBlueprint("Note", ""), ttl_rules=(TtlRuleBlueprint("Note", ttl),))
    assert [each[:2] for each in told(before, design(replace(NOTE, ttl=ttl)))] == [("added", "entities.Note")]


def test_members_of_an_entity_are_told() -> None:
    after = replace(
        NOTE, version="version", schema_version=2, owns=("Line",), ttl=TtlBlueprint("t", "t", 86_400)
    )
    assert told(design(NOTE), design(after, discriminator="kind")) == [
        ("changed", "discriminator", "", "kind"),
        ("added", "entities.Note.ttl", "", "t after 1 day"),
        ("added", "entities.Note.version", "", "version"),
        ("added", "entities.Note.schema_version", "", "2"),
        ("added", "entities.Note.owns", "", "Line"),
    ]


def test_range_that_stays_inside_of_a_prefix_says_so() -> None:
    asked = ReadBlueprint("Query", conditions=(KeyCondition("SK", ">", ("NOTE#{since}",)),))
    bounded = ReadBlueprint("Query", pk="USER#{id}", sort=SortBlueprint(">", ("NOTE#{at}",), within="NOTE#"))
    before, after = (
        design(patterns=(PatternBlueprint("1", "Since", reads=(each,)),)) for each in (asked, bounded)
    )
    assert told(before, after) == [
        (
            "changed",
            "patterns.1",
            "Query SK > NOTE#{since}",
            "Query PK = USER#{id} AND SK > NOTE#{at} within NOTE#",
        )
    ]


def test_volumes_are_compared_where_both_have_some() -> None:
    few, many = (design(NOTE, volumes=(VolumeBlueprint("Note", each, 2, "year"),)) for each in (520, 7_800))
    assert told(many, few) == [
        ("changed", "volumes.Note", "7800 of 2 KB for each year", "520 of 2 KB for each year")
    ]
    found = differences(design(NOTE), few)
    assert (found.parts, found.not_compared) == ((), ("volumes",))


# --- why ----------------------------------------------------------------------------------------------


def reasons(before: Blueprint, after: Blueprint) -> dict[str, list[str]]:
    return {each.path: [fix.id for fix in each.fixes] for each in differences(before, after).parts}


def test_fix_explains_the_part_that_it_names_and_what_is_inside() -> None:
    after = replace(
        NOTE,
        attributes=(AT, AttributeBlueprint("text", "text", "str")),
        aggregates=(AggregateBlueprint("line_count", "count", "Line"),),
    )
    fixes = (
        FixBlueprint("A-01", ("entities.Note.attributes",)),
        FixBlueprint("A-02", ("entities.Note.aggregates.line_count",)),
        FixBlueprint("A-03", ("entities.Note",)),
        FixBlueprint("A-04", ("table.ttl",)),
    )
    found = differences(design(NOTE), design(after, fixes=fixes))
    assert reasons(design(NOTE), design(after, fixes=fixes)) == {
        "entities.Note.attributes.text": ["A-01"],
        "entities.Note.aggregates.linecount": ["A-02"],
    }
    assert [fix.id for fix in found.unseen] == ["A-03", "A-04"]


def test_pattern_names_the_fixes_that_it_stands_for() -> None:
    pattern = PatternBlueprint("1b", "Get a note", fixes="A-01, A-02")
    fixes = tuple(FixBlueprint(f"A-0{number}") for number in (1, 2, 3))
    assert reasons(design(), design(patterns=(pattern,), fixes=fixes)) == {"patterns.1b": ["A-01", "A-02"]}
