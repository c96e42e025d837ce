"""Every attribute of PerfectIt's design document, with its line, beside ours; and the items as stored."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from singletable.clock import ManualClock
from singletable_systems.perfectit.model import entities
from singletable_systems.perfectit.model.entities import Instruction, PerfectionCard
from singletable_systems.perfectit.reactions.handlers import PerfectIt
from support.opened_designs import opened_design, store, stored_items
from support.targets import TARGETS
from systems.perfectit_examples import (
    AT,
    AUTHOR,
    CARD,
    CARD_ID,
    EXAMPLES,
    STORED_AT,
    WOODWORKING,
)
from systems.perfectit_items import DERIVED, ITEMS
from systems.plain_items import plain, plain_item, typed_item

LINES = ["Sand it", "Oil it"]
# Line, attribute, the document's value. Where it has dots, there is what its brackets say.
DOCUMENTED: list[tuple[str, str, Any]] = [
    ("001:76", "PK", "CARD#123"),
    ("001:77", "SK", "METADATA"),
    ("001:78", "entityType", "PerfectionCard"),
    ("001:79", "id", "123"),
    ("001:80", "title", "Perfect Wood Finish"),
    ("001:81", "description", "How it shines"),
    ("001:82", "imageUrls", ["https://example.com/123.jpg"]),
    ("001:83", "instructions", LINES),
    ("001:84", "materials", {"oil": {"ml": 200}, "cloths": ["cotton"]}),
    ("001:85", "tools", ["brush"]),
    ("001:86", "category", "woodworking"),
    ("001:87", "tags", ["furniture", "finishing"]),
    ("001:88", "difficulty", "INTERMEDIATE"),
    ("001:89", "estimatedTime", 120),
    ("001:90", "estimatedCost", 50),
    ("001:91", "viewCount", 0),
    ("001:92", "voteScore", 0),
    ("001:93", "authorId", "user123"),
    ("001:94", "status", "PUBLISHED"),
    ("001:95", "createdAt", "2025-01-01T00:00:00Z"),
    ("001:96", "updatedAt", "2025-01-01T00:00:00Z"),
    ("001:97", "GSI1PK", "CAT#woodworking"),
    ("001:98", "GSI1SK", "CREATED#2025-01-01T00:00:00Z"),
    ("001:99", "GSI2PK", "USER#user123"),
    ("001:100", "GSI2SK", "CREATED#2025-01-01T00:00:00Z"),
]
SAMPLE = {name: value for _, name, value in DOCUMENTED}
# Line: what ours stores instead, and why.
DIFFERENT: dict[str, tuple[Any, str]] = {
    "001:83": (
        [
            {"text": "Sand it", "imageUrl": "https://example.com/sand.jpg", "minutes": 20},
            {"text": "Oil it"},
        ],
        "PI-26",  # compressed, as 001:108 asks for
    ),
    "001:95": ("2025-01-01T00:00:00.000Z", "X-02"),
    "001:96": ("2025-01-01T00:00:00.000Z", "X-02"),
    "001:98": ("CREATED#2025-01-01T00:00:00.000Z", "X-02"),
    "001:100": ("CREATED#2025-01-01T00:00:00.000Z", "X-02"),
}
# What ours adds to the attributes of cards, and the defect that it repairs.
ADDED = {"publishedAt": "PI-02", "ttl": "PI-22", "version": "X-04"}
# The types of ours by attribute, with ? where it is optional.
CARD_TYPES = {
    "id": "str",
    "title": "str",
    "description": "str",
    "imageUrls": "list[str]",
    "instructions": "list[Instruction]",
    "materials": "dict[str, Any]",
    "tools": "list[str]",
    "category": "str",
    "tags": "list[str]",
    "difficulty": '"BEGINNER" | "INTERMEDIATE" | "ADVANCED" | "EXPERT"',
    "estimatedTime?": "int",
    "estimatedCost?": "Decimal",
    "viewCount": "int",
    "voteScore": "int",
    "authorId": "str",
    "status": '"DRAFT" | "PUBLISHED" | "ARCHIVED"',
    "createdAt": "datetime",
    "updatedAt": "datetime",
    "publishedAt?": "datetime",
    "ttl?": "datetime",
    "version": "int",
}


def attributes() -> dict[str, dict[str, str]]:
    """Return the types of ours, by entity and by attribute as it is stored, with ? where it is optional."""
    return {
        entity.name: {
            f"{each.stored}{'?' if each.is_optional else ''}": each.type for each in entity.attributes
        }
        for entity in PerfectIt.blueprint().entities
    }


# --- documented and added -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("line", "name", "document"), DOCUMENTED, ids=[row[0] for row in DOCUMENTED])
def test_attribute_of_the_sample_is_the_documents(line: str, name: str, document: Any) -> None:
    ours = plain(PerfectIt.stored_item(CARD)[name])
    assert ours == (DIFFERENT[line][0] if line in DIFFERENT else document), line
    assert line not in DIFFERENT or ours != document


def test_instructions_are_compressed_and_costs_are_numbers() -> None:
    item = PerfectIt.stored_item(CARD)
    assert [*item["instructions"]] == ["B"]  # 001:108, PI-26
    assert item["estimatedCost"] == {"N": "50"}
    assert item["estimatedTime"] == {"N": "120"}


def test_every_attribute_of_a_card_is_documented_or_added() -> None:
    assert attributes()["PerfectionCard"] == CARD_TYPES
    keys = {"PK", "SK", "GSI1PK", "GSI1SK", "GSI2PK", "GSI2SK", "entityType"}
    assert {name.rstrip("?") for name in CARD_TYPES} == (SAMPLE.keys() - keys) | ADDED.keys()


@pytest.mark.parametrize(("name", "defect"), ADDED.items())
def test_added_attribute_names_the_defect_that_it_repairs(name: str, defect: str) -> None:
    field = re.sub("[A-Z]", lambda found: f"_{found[0].lower()}", name)
    lines = inspect.getsource(PerfectionCard).splitlines()
    (declared,) = [line for line in lines if line.startswith(f"    {field}:")]
    assert defect in declared.partition("#")[2]


def test_attributes_of_other_entities_are_added_together() -> None:
    """PI-33: the document has attributes of cards alone; they are those of the literal items below."""
    assert "PI-33" in str(entities.__doc__)
    stored: dict[str, set[str]] = {}
    for item in (*ITEMS, *DERIVED):
        stored.setdefault(item["entityType"], set()).update(item)
    ours = {
        entity: {name.rstrip("?") for name in types} - stored[entity]
        for entity, types in attributes().items()
    }
    assert ours == {entity: set() for entity in attributes()}


# --- items --------------------------------------------------------------------------------------------------


@pytest.fixture(params=TARGETS)
def db(request: pytest.FixtureRequest) -> Iterator[PerfectIt]:
    clock = ManualClock(int(STORED_AT.timestamp() * 1000) * 1000)
    with opened_design(PerfectIt, request.param, clock, environment="test") as design:
        yield design


def by_place(items: list[dict[str, Any]]) -> dict[tuple[str, str], dict[str, Any]]:
    return {(item["PK"], item["SK"]): item for item in items}


def test_full_examples_are_stored_literally_so(db: PerfectIt) -> None:
    db.load(EXAMPLES, settled=True)
    found = by_place([plain_item(item) for item in stored_items(db)])
    assert found == by_place([*ITEMS, *DERIVED])


def test_item_of_the_document_is_read_without_what_was_added(db: PerfectIt) -> None:
    store(db, typed_item(SAMPLE))
    expected = CARD.model_copy(
        update={"instructions": [Instruction(text=line) for line in LINES], "version": 0}
    )
    assert expected.published_at == AT  # it is published, so it was when it was created
    assert db.card(CARD_ID).one() == expected
    assert list(db.cards_by_category(WOODWORKING).all()) == [expected]
    assert list(db.cards_by_author(AUTHOR).all()) == [expected]
    assert list(db.own_cards(AUTHOR).all()) == [expected]
    assert db.cards([CARD_ID]).all() == [expected]
    assert db.card_view(CARD_ID).one().card == expected


@pytest.mark.parametrize(
    ("stored", "read"),
    [
        ([], []),
        (["Sand it"], [Instruction(text="Sand it")]),
        ([{"text": "Sand it", "minutes": 20}], [Instruction(text="Sand it", minutes=20)]),
        ([{"text": "Oil it"}, "Wait"], [Instruction(text="Oil it"), Instruction(text="Wait")]),
    ],
)
def test_instructions_of_any_form_are_read(db: PerfectIt, stored: Any, read: list[Instruction]) -> None:
    """PI-26: a native list, of texts or of maps, as well as what is compressed."""
    store(db, typed_item({**SAMPLE, "instructions": stored}))
    assert db.card(CARD_ID).one().instructions == read


def test_old_item_is_stored_as_the_design_does_when_it_is_changed(db: PerfectIt) -> None:
    store(db, typed_item(SAMPLE))
    db.update(db.card(CARD_ID).one(), tags=["oak"], estimated_cost=Decimal("49.50"))
    (item,) = [plain_item(each) for each in stored_items(db) if each["SK"]["S"] == "METADATA"]
    assert item["GSI1SK"] == "CREATED#2025-01-01T00:00:00.000Z"
    assert item["GSI3SK"] == "CREATED#2025-01-01T00:00:00.000Z#123"
    assert (item["version"], item["estimatedCost"], item["tags"]) == (1, Decimal("49.5"), ["oak"])


def test_end_of_a_draft_is_taken_off_by_the_write_that_publishes_it(db: PerfectIt) -> None:
    """PI-22: or published cards would vanish."""
    draft = db.create(CARD.model_copy(update={"status": "DRAFT", "published_at": None})).entity
    assert [plain(item["ttl"]) for item in stored_items(db)] == [int(STORED_AT.timestamp()) + 30 * 86_400]
    db.update(draft, status="PUBLISHED", published_at=AT)
    (item,) = stored_items(db)
    assert "ttl" not in item
    assert {"GSI1PK", "GSI2PK", "GSI3PK"} <= item.keys()
