"""Every key, template and literal of PerfectIt's design document beside ours, each with its line there.

Ours are rendered from entities. They differ from the document only where a defect is named: X-02, the precision of
times; PI-06, scores that sort as numbers; PI-18, orders that do.
"""

from __future__ import annotations

from typing import Any

import pytest

from singletable import Entity
from singletable.errors import SeparatorError
from singletable_systems.perfectit.model.keys import (
    CardId,
    CommentSK,
    CreatedSK,
    PerfectItTable,
    ScoreSK,
    SortOrderSK,
    UserId,
    UsernamePK,
    UserPK,
    VotePK,
)
from singletable_systems.perfectit.reactions.handlers import PerfectIt
from systems.perfectit_document import PRECISE, TEXT, filled
from systems.perfectit_examples import (
    ANALYTICS,
    AT,
    CARD,
    CATEGORY,
    COLLECTION,
    COMMENT,
    DRAFT,
    LINK,
    NOTIFICATION,
    SCORE,
    STATS,
    TOKEN,
    USER,
    VOTE,
)

KEYS = [*("PK", "SK"), *(f"GSI{number}{part}" for number in range(1, 6) for part in ("PK", "SK"))]


def keys_of(entity: Entity) -> dict[str, str]:
    """Render the keys of an entity, by attribute."""
    item = PerfectIt.stored_item(entity)
    return {name: item[name]["S"] for name in KEYS if name in item}


# --- the table --------------------------------------------------------------------------------------------

# Line, what the document says, what ours says.
TABLE = [
    ("001:7", "perfectit-main", PerfectItTable.name_in({"environment": "main"})),
    ("001:10", "PK", PerfectItTable.pk),
    ("001:11", "SK", PerfectItTable.sk),
    ("001:15", "GSI1PK", PerfectItTable.gsi1.pk),
    ("001:15", "GSI1SK", PerfectItTable.gsi1.sk),
    ("001:15", "GSI2PK", PerfectItTable.gsi2.pk),
    ("001:15", "GSI2SK", PerfectItTable.gsi2.sk),
    ("001:27", "GSI1", PerfectItTable.gsi1.name),
    ("001:31", "GSI2", PerfectItTable.gsi2.name),
    ("001:35", "GSI3", PerfectItTable.gsi3.name),
    ("001:39", "GSI4", PerfectItTable.gsi4.name),
    ("001:43", "GSI5", PerfectItTable.gsi5.name),
    ("001:65", "NEW_AND_OLD_IMAGES", PerfectItTable.stream),
    ("001:106", "PAY_PER_REQUEST", PerfectItTable.billing),
]


@pytest.mark.parametrize(("line", "document", "ours"), TABLE)
def test_table_is_the_documents(line: str, document: str, ours: Any) -> None:
    assert ours in (document, (document,)), line


def test_table_of_the_document_is_the_default() -> None:
    with PerfectIt.open(":memory:") as db:
        assert db.session.table == "perfectit-main"


def test_indexes_hold_all_and_every_key_is_a_string() -> None:
    blueprint = PerfectIt.blueprint()
    assert {index.projection for index in blueprint.indexes} == {"ALL"}  # PI-30: the document leaves none out
    assert blueprint.table.types == dict.fromkeys(KEYS, "S")


# --- keys -------------------------------------------------------------------------------------------------

PRIMARY = ("PK", "SK", "GSI1PK", "GSI1SK", "GSI2PK", "GSI2SK")  # the columns of 001:15
# Line, entity, and its cells in the document's table.
ENTITIES: list[tuple[str, Entity, tuple[str, ...]]] = [
    ("001:17", USER, ("USER#<userId>", "PROFILE", "USERNAME#<username>", "PROFILE", "-", "-")),
    ("001:18", CARD, ("CARD#<cardId>", "METADATA", "CAT#<category>", "CREATED#<timestamp>",
                      "USER#<authorId>", "CREATED#<timestamp>")),
    ("001:19", COMMENT, ("CARD#<cardId>", "COMMENT#<timestamp>#<commentId>",
                         "USER#<authorId>", "COMMENT#<timestamp>", "-", "-")),
    ("001:20", VOTE, ("VOTE#<userId>#<targetId>", "VOTE", "TARGET#<targetId>", "VOTE#<timestamp>", "-", "-")),
    ("001:21", COLLECTION, ("USER#<userId>", "COLLECTION#<collectionId>",
                            "COLLECTION#<collectionId>", "METADATA", "-", "-")),
    ("001:22", LINK, ("COLLECTION#<collectionId>", "CARD#<cardId>", "-", "-", "-", "-")),
    ("001:23", CATEGORY, ("CAT#<categoryId>", "METADATA", "PARENT#<parentId>", "SORT#<sortOrder>", "-", "-")),
]  # fmt: skip
CELLS = [
    *(
        (line, entity, name, cell)
        for line, entity, cells in ENTITIES
        for name, cell in zip(PRIMARY, cells, strict=True)
    ),
    ("001:36", CARD, "GSI3PK", "DATE#<YYYY-MM-DD>"),
    ("001:36", CARD, "GSI3SK", "CREATED#<timestamp>#<entityId>"),
    ("001:40", TOKEN, "GSI4PK", "SEARCH#<searchableField>"),
    ("001:40", TOKEN, "GSI4SK", "CARD#<cardId>"),
    ("001:44", SCORE, "GSI5PK", "VOTETYPE#<type>"),
    ("001:44", SCORE, "GSI5SK", "SCORE#<score>#<targetId>"),
]
# Line and attribute: what ours has by more than the precision of times, and why.
DIFFERENT = {
    ("001:23", "GSI1SK"): ("SORT#000007", "PI-18"),
    ("001:44", "GSI5SK"): ("SCORE#5000000042#123", "PI-06"),
}
# What ours has where the document has nothing.
ADDED = {
    ("001:20", "GSI2PK"): ("USER#user123", "PI-13"),
    ("001:20", "GSI2SK"): (f"VOTE#{PRECISE}", "PI-13"),
    ("001:22", "GSI1PK"): ("CARD#123", "PI-20"),
    ("001:22", "GSI1SK"): ("COLLECTION#col1", "PI-20"),
}


@pytest.mark.parametrize(
    ("line", "entity", "name", "cell"), CELLS, ids=[f"{row[0]} {row[2]}" for row in CELLS]
)
def test_template_renders_as_the_document_has_it(line: str, entity: Entity, name: str, cell: str) -> None:
    ours = keys_of(entity).get(name)
    if cell == "-":
        assert ours == ADDED.get((line, name), (None, ""))[0]
        return
    documented = filled(cell)
    if (line, name) in DIFFERENT:
        assert ours == DIFFERENT[line, name][0] != documented
    else:
        assert ours == documented.replace(TEXT, PRECISE)
        assert ours == documented or "<timestamp>" in cell


def test_entities_of_the_document_have_no_other_keys() -> None:
    rendered = {(type(entity).__name__, name) for _, entity, _ in ENTITIES for name in keys_of(entity)}
    documented = {(type(entity).__name__, name) for _, entity, name, cell in CELLS if cell != "-"}
    added = {
        (type(entity).__name__, name) for line, entity, _ in ENTITIES for each, name in ADDED if each == line
    }
    derived = {
        ("SearchToken", "GSI4PK"),
        ("SearchToken", "GSI4SK"),
        ("CardScore", "GSI5PK"),
        ("CardScore", "GSI5SK"),
    }
    assert rendered == (documented | added) - derived


# Line, attribute, the literal of the document's sample.
SAMPLE = [
    ("001:76", "PK", "CARD#123"),
    ("001:77", "SK", "METADATA"),
    ("001:97", "GSI1PK", "CAT#woodworking"),
    ("001:98", "GSI1SK", "CREATED#2025-01-01T00:00:00Z"),
    ("001:99", "GSI2PK", "USER#user123"),
    ("001:100", "GSI2SK", "CREATED#2025-01-01T00:00:00Z"),
]


@pytest.mark.parametrize(("line", "name", "literal"), SAMPLE, ids=[row[0] for row in SAMPLE])
def test_key_of_the_sample_is_the_documents(line: str, name: str, literal: str) -> None:
    ours = keys_of(CARD)[name]
    if line in ("001:98", "001:100"):
        assert ours == "CREATED#2025-01-01T00:00:00.000Z"
        assert ours.replace(".000Z", "Z") == literal
    else:
        assert ours == literal


# Entity, its keys, and the defect that asks for it: what the document has no entity for.
ADDED_ENTITIES: list[tuple[Entity, dict[str, str], str]] = [
    (STATS, {"PK": "CARD#123", "SK": "STATS"}, "PI-14"),
    (SCORE, {"PK": "CARD#123", "SK": "SCORE#CARD", "GSI5PK": "VOTETYPE#CARD", "GSI5SK": "SCORE#5000000042#123"},
     "PI-04"),
    (TOKEN, {"PK": "CARD#123", "SK": "SEARCH#wood", "GSI4PK": "SEARCH#wood", "GSI4SK": "CARD#123"}, "PI-03"),
    (NOTIFICATION, {"PK": "USER#user123", "SK": f"NOTIFICATION#{PRECISE}#not1",
                    "GSI1PK": "USER#user123#UNREAD", "GSI1SK": f"NOTIFICATION#{PRECISE}"}, "PI-23"),
    (ANALYTICS, {"PK": "ANALYTICS#2025-01-01", "SK": "TOTALS"}, "PI-23"),
]  # fmt: skip


@pytest.mark.parametrize(("entity", "keys", "defect"), ADDED_ENTITIES)
def test_key_of_an_added_entity_names_the_defect_that_it_repairs(
    entity: Entity, keys: dict[str, str], defect: str
) -> None:
    assert keys_of(entity) == keys
    assert f"Added, {defect}" in str(type(entity).__doc__)


def test_every_entity_is_documented_or_added() -> None:
    kinds = {type(entity) for _, entity, _ in ENTITIES} | {type(entity) for entity, _, _ in ADDED_ENTITIES}
    assert kinds == set(PerfectIt.entities)


# --- what the keys are good for -------------------------------------------------------------------------------


def test_scores_sort_as_numbers() -> None:
    """PI-06: as texts, 10 is below 9, and -5 is below -40."""
    scores = [-4_999_999_999, -1000, -40, -5, -1, 0, 1, 9, 10, 99, 4_999_999_999]
    texts = [ScoreSK(score=score, card_id=CardId("1")).render() for score in scores]
    assert texts == sorted(texts)
    assert texts[5] == "SCORE#5000000000#1"


def test_orders_sort_as_numbers() -> None:
    texts = [SortOrderSK(sort_order=order).render() for order in (0, 9, 10, 999_999)]  # PI-18
    assert texts == sorted(texts) == ["SORT#000000", "SORT#000009", "SORT#000010", "SORT#999999"]


def test_times_in_keys_are_the_documents_with_milliseconds() -> None:
    assert CreatedSK(created_at=AT).render() == f"CREATED#{PRECISE}"
    assert CommentSK(created_at=AT, comment_id=COMMENT.comment_id).render() == f"COMMENT#{PRECISE}#com1"


@pytest.mark.parametrize("status", ["DRAFT", "ARCHIVED"])
def test_only_published_cards_are_in_shared_lists(status: str) -> None:
    """PI-17: the author finds his own whatever their state."""
    keys = keys_of(CARD.model_copy(update={"status": status}))
    assert keys.keys() == {"PK", "SK", "GSI2PK", "GSI2SK"}
    assert keys_of(DRAFT).keys() == {"PK", "SK", "GSI2PK", "GSI2SK"}


def test_read_notification_has_no_keys_of_indexes() -> None:
    assert keys_of(NOTIFICATION.model_copy(update={"is_read": True})).keys() == {"PK", "SK"}


def test_username_is_one_in_either_case() -> None:
    assert {UsernamePK(username=name).render() for name in ("Maker", "MAKER", "maker")} == {"USERNAME#maker"}


def test_key_that_is_given_as_an_id_is_refused() -> None:
    """PI-11, X-01: `VOTE#a#b#c` would be the vote of two users."""
    for refused in (
        lambda: UserPK(user_id=UserId("USER#user123")),
        lambda: VotePK(user_id=UserId("a#b"), target_id="c"),
        lambda: VotePK(user_id=UserId("a"), target_id="b#c"),
    ):
        with pytest.raises(SeparatorError):
            refused()
