"""The design of PerfectIt as its document has it, and what the design that runs does otherwise."""

from __future__ import annotations

from typing import Final

import pytest

from singletable.blueprint import Blueprint, FixBlueprint
from singletable_systems.perfectit import PerfectIt
from systems.documented import (
    asked,
    attributes_of,
    cited_lines,
    citing_files,
    content_lines,
    covered_lines,
    documented_text,
    fixes_of,
    has_part,
    has_test,
    keys_of,
    lines_of,
)

TEXT: Final = documented_text("perfectit")
DOCUMENTED: Final = Blueprint.from_toml(TEXT)
FIXES: Final = fixes_of("perfectit")


def test_file_is_as_it_is_written() -> None:
    assert DOCUMENTED.to_toml() == TEXT


# --- lines ----------------------------------------------------------------------------------------------


def test_every_line_of_the_document_is_covered() -> None:
    assert content_lines("001") <= covered_lines(DOCUMENTED)
    assert max(line for _, line in covered_lines(DOCUMENTED)) <= (DOCUMENTED.documents[0].lines or 0)


def test_every_citation_is_covered() -> None:
    cited = cited_lines(citing_files(), ["001"])
    assert len(cited) > 80
    assert cited.keys() & content_lines("001") <= covered_lines(DOCUMENTED)


# --- the table ------------------------------------------------------------------------------------------


def test_table_is_the_documents() -> None:
    table = DOCUMENTED.table
    assert (table.name, table.pk, table.sk) == ("perfectit-main", "PK", "SK")  # 001:7
    assert (table.billing, table.stream) == ("PAY_PER_REQUEST", "NEW_AND_OLD_IMAGES")  # 001:65, 106
    assert (table.ttl, table.pitr_days) == (None, None)
    assert DOCUMENTED.discriminator == "entityType"  # 001:78


# Keys that the document gives for an index, and for no entity.
HELD = {
    "GSI3": ("001:36", "DATE#{date}", "CREATED#{timestamp}#{entityId}"),
    "GSI4": ("001:40", "SEARCH#{searchableField}", "CARD#{cardId}"),
    "GSI5": ("001:44", "VOTETYPE#{type}", "SCORE#{score}#{targetId}"),
}


def test_indexes_are_the_documents() -> None:
    assert [index.name for index in DOCUMENTED.indexes] == ["GSI1", "GSI2", "GSI3", "GSI4", "GSI5"]
    held = {index.name: place for index in DOCUMENTED.indexes for place in index.holds}
    found = {
        name: (place.said[0].at, place.pk.template, place.sk.template)
        for name, place in held.items()
        if place.sk is not None
    }
    assert found == HELD
    used = {place.index for entity in DOCUMENTED.entities for place in entity.places}
    assert used == {None, "GSI1", "GSI2"}


def test_score_in_a_key_is_a_number() -> None:
    """001:44: nothing says how it is written, nor that it is not below zero."""
    (place,) = DOCUMENTED.indexes[4].holds
    assert place.sk is not None
    assert [(part.name, part.type) for part in place.sk.parts] == [("score", "int"), ("targetId", "str")]


# --- entities -------------------------------------------------------------------------------------------

KEYS = {
    ("User", "PK", "USER#{userId}"): "001:17",
    ("User", "SK", "PROFILE"): "001:17",
    ("User", "GSI1PK", "USERNAME#{username}"): "001:17",
    ("User", "GSI1SK", "PROFILE"): "001:17",
    ("PerfectionCard", "PK", "CARD#{cardId}"): "001:18",
    ("PerfectionCard", "SK", "METADATA"): "001:18",
    ("PerfectionCard", "GSI1PK", "CAT#{category}"): "001:18",
    ("PerfectionCard", "GSI1SK", "CREATED#{timestamp}"): "001:18",
    ("PerfectionCard", "GSI2PK", "USER#{authorId}"): "001:18",
    ("PerfectionCard", "GSI2SK", "CREATED#{timestamp}"): "001:18",
    ("Comment", "PK", "CARD#{cardId}"): "001:19",
    ("Comment", "SK", "COMMENT#{timestamp}#{commentId}"): "001:19",
    ("Comment", "GSI1PK", "USER#{authorId}"): "001:19",
    ("Comment", "GSI1SK", "COMMENT#{timestamp}"): "001:19",
    ("Vote", "PK", "VOTE#{userId}#{targetId}"): "001:20",
    ("Vote", "SK", "VOTE"): "001:20",
    ("Vote", "GSI1PK", "TARGET#{targetId}"): "001:20",
    ("Vote", "GSI1SK", "VOTE#{timestamp}"): "001:20",
    ("Collection", "PK", "USER#{userId}"): "001:21",
    ("Collection", "SK", "COLLECTION#{collectionId}"): "001:21",
    ("Collection", "GSI1PK", "COLLECTION#{collectionId}"): "001:21",
    ("Collection", "GSI1SK", "METADATA"): "001:21",
    ("CardInCollection", "PK", "COLLECTION#{collectionId}"): "001:22",
    ("CardInCollection", "SK", "CARD#{cardId}"): "001:22",
    ("Category", "PK", "CAT#{categoryId}"): "001:23",
    ("Category", "SK", "METADATA"): "001:23",
    ("Category", "GSI1PK", "PARENT#{parentId}"): "001:23",
    ("Category", "GSI1SK", "SORT#{sortOrder}"): "001:23",
}

# Of all but cards, the keys alone tell some.
ATTRIBUTES = {
    "User": "userId username",
    "PerfectionCard": "id title description imageUrls instructions materials tools category tags difficulty "
    "estimatedTime estimatedCost viewCount voteScore authorId status createdAt updatedAt",
    "Comment": "cardId timestamp commentId authorId",
    "Vote": "userId targetId timestamp",
    "Collection": "userId collectionId",
    "CardInCollection": "collectionId cardId",
    "Category": "categoryId parentId sortOrder",
}


def test_keys_are_the_documents() -> None:
    found = keys_of(DOCUMENTED)
    assert found.keys() == KEYS.keys()
    assert [key for key, at in KEYS.items() if not lines_of(at) <= found[key]] == []


def test_attributes_are_the_documents() -> None:
    assert attributes_of(DOCUMENTED) == ATTRIBUTES


# 001:75-101; what the document leaves out with dots is left out here.
CARD = {
    "PK": "CARD#123",
    "SK": "METADATA",
    "entityType": "PerfectionCard",
    "id": "123",
    "title": "Perfect Wood Finish",
    "category": "woodworking",
    "tags": ["furniture", "finishing"],
    "difficulty": "INTERMEDIATE",
    "estimatedTime": 120,
    "estimatedCost": 50,
    "viewCount": 0,
    "voteScore": 0,
    "authorId": "user123",
    "status": "PUBLISHED",
    "createdAt": "2025-01-01T00:00:00Z",
    "updatedAt": "2025-01-01T00:00:00Z",
    "GSI1PK": "CAT#woodworking",
    "GSI1SK": "CREATED#2025-01-01T00:00:00Z",
    "GSI2PK": "USER#user123",
    "GSI2SK": "CREATED#2025-01-01T00:00:00Z",
}


def test_example_is_the_documents() -> None:
    card = DOCUMENTED.entity("PerfectionCard")
    assert card is not None
    (item,) = card.samples
    assert {name: item[name] for name in CARD} == CARD
    assert item.keys() - CARD.keys() == {"description", "imageUrls", "instructions", "materials", "tools"}


def test_instructions_are_a_list_and_compressed() -> None:
    """001:83 and 001:108."""
    card = DOCUMENTED.entity("PerfectionCard")
    assert card is not None
    instructions = next(each for each in card.attributes if each.name == "instructions")
    assert instructions.type == "list"
    assert [(said.at, said.differs.get("format")) for said in instructions.said] == [
        ("001:83", None),
        ("001:108", "compressed-json"),
    ]


def test_counts_are_kept_by_nobody_who_is_named() -> None:
    card = DOCUMENTED.entity("PerfectionCard")
    assert card is not None
    assert [(each.field, each.by) for each in card.aggregates] == [
        ("viewCount", "unsaid"),
        ("voteScore", "unsaid"),
    ]


def test_changes_are_planned_for_pricing_and_for_search() -> None:
    """001:106 and 001:41."""
    assert [(each.name, len(each.steps)) for each in DOCUMENTED.changes] == [
        ("Provision capacity", 2),
        ("Integrate OpenSearch", 2),
    ]


# --- patterns -------------------------------------------------------------------------------------------

# 12 to 16 are named as uses of an index; of 17 to 19 there are keys alone.
PATTERNS = {
    "1": ("001:51", "GetItem PK = USER#{userId} AND SK = PROFILE"),
    "2": ("001:52", "Query GSI1 GSI1PK = USERNAME#{username}"),
    "3": ("001:53", "Query GSI1 GSI1PK = CAT#{category} AND GSI1SK begins_with CREATED#"),
    "4": ("001:54", "Query GSI2 GSI2PK = USER#{authorId} AND GSI2SK begins_with CREATED#"),
    "5": ("001:55", "GetItem PK = CARD#{cardId} AND SK = METADATA"),
    "6": ("001:56", "Query PK = CARD#{cardId} AND SK begins_with COMMENT#"),
    "7": ("001:57", "Query PK = USER#{userId} AND SK begins_with COLLECTION#"),
    "8": ("001:58", "Query PK = COLLECTION#{collectionId} AND SK begins_with CARD#"),
    "9": ("001:59", "Query PK = VOTE#{userId}#{targetId}"),
    "10": ("001:60", "Query GSI3 GSI3PK = DATE#{today}"),
    "11": ("001:61", "Query GSI5 GSI5PK = VOTETYPE#CARD AND GSI5SK begins_with SCORE#"),
    "12": ("001:33", "Query GSI2"),
    "13": ("001:37", "Query GSI3"),
    "14": ("001:37", "Query GSI3"),
    "15": ("001:41", "Query GSI4"),
    "16": ("001:45", "Query GSI5"),
    "17": ("001:20", ""),
    "18": ("001:21", ""),
    "19": ("001:23", ""),
}


def test_patterns_ask_what_the_document_asks() -> None:
    assert {each.number: (each.said[0].at, asked(each)) for each in DOCUMENTED.patterns} == PATTERNS


def test_orders_and_limits_are_the_documents() -> None:
    trending, top = (DOCUMENTED.patterns[number].reads[0] for number in (9, 10))
    assert (trending.order, trending.limit) == ("forward", 20)  # 001:60
    assert (top.order, top.limit) == ("backward", None)  # 001:61


# --- around it ------------------------------------------------------------------------------------------


def test_three_functions_read_the_stream() -> None:
    """001:66-69."""
    assert [(each.name, each.kind) for each in DOCUMENTED.consumers] == [
        ("Search indexer", "lambda"),
        ("Analytics aggregator", "lambda"),
        ("Notification processor", "lambda"),
    ]


def test_what_expires_has_neither_time_nor_attribute() -> None:
    """001:107."""
    card = DOCUMENTED.entity("PerfectionCard")
    assert card is not None
    assert card.ttl is not None
    rules = [card.ttl, *(each.rule for each in DOCUMENTED.ttl_rules)]
    assert [(rule.stored, rule.seconds, rule.removed_by) for rule in rules] == [("", None, None)] * 2
    assert [each.of for each in DOCUMENTED.ttl_rules] == ["old notifications"]


def test_figures_have_no_formula() -> None:
    assert [(each.name, each.value, each.formula) for each in DOCUMENTED.figures] == [
        ("trending_limit", 20, "")
    ]


# --- fixes ----------------------------------------------------------------------------------------------

SEVERITIES = {
    "E": "PI-01 PI-02 PI-03 PI-04 PI-06 PI-08 PI-13 PI-15 PI-17 PI-18 PI-22 PI-24 X-01 X-02 X-07",
    "W": "PI-05 PI-09 PI-10 PI-11 PI-12 PI-14 PI-21 PI-25 PI-30 PI-31 X-03 X-04 X-05 X-06 X-09 X-10 X-15",
    "D": "PI-16 PI-26 PI-27 PI-29 PI-32 X-08",
    "G": "PI-07 PI-19 PI-20 PI-23 PI-28 PI-33 X-11 X-13 X-14",
}


def test_every_defect_has_its_fix() -> None:
    found = {
        severity: " ".join(fix.id for fix in FIXES if fix.severity == severity) for severity in SEVERITIES
    }
    assert found == SEVERITIES
    assert len(FIXES) == 33 + 14
    assert all(fix.defect and fix.repair and fix.parts for fix in FIXES)


@pytest.mark.parametrize("fix", FIXES, ids=lambda fix: fix.id)
def test_fix_names_parts_and_tests_that_there_are(fix: FixBlueprint) -> None:
    fixed = PerfectIt.blueprint()
    assert [part for part in fix.parts if not (has_part(DOCUMENTED, part) or has_part(fixed, part))] == []
    assert [name for name in fix.proof if not has_test(name)] == []
