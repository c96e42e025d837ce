"""The queries of PerfectIt's design document beside ours, each with its line there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from singletable_systems.perfectit.reactions.handlers import PerfectIt
from systems.perfectit_document import filled
from systems.perfectit_examples import AT
from systems.request_costs import shown_condition

# Line, index and query in the document, pattern, arguments, what ours asks.
QUERIES: list[tuple[str, str, str, str, tuple[Any, ...], str]] = [
    ("001:52", "GSI1", "PK=USERNAME#<username>", "user_by_username", ("maker",),
     "GSI1PK = USERNAME#maker AND GSI1SK = PROFILE"),
    ("001:53", "GSI1", "PK=CAT#<category>, SK begins_with CREATED#", "cards_by_category", ("woodworking",),
     "GSI1PK = CAT#woodworking AND begins_with(GSI1SK, CREATED#)"),
    ("001:54", "GSI2", "PK=USER#<authorId>, SK begins_with CREATED#", "cards_by_author", ("user123",),
     "GSI2PK = USER#user123 AND begins_with(GSI2SK, CREATED#)"),
    ("001:56", "", "PK=CARD#<cardId>, SK begins_with COMMENT#", "comments", ("123",),
     "PK = CARD#123 AND begins_with(SK, COMMENT#)"),
    ("001:57", "", "PK=USER#<userId>, SK begins_with COLLECTION#", "collections", ("user123",),
     "PK = USER#user123 AND begins_with(SK, COLLECTION#)"),
    ("001:58", "", "PK=COLLECTION#<collectionId>, SK begins_with CARD#", "collection_cards", ("col1",),
     "PK = COLLECTION#col1 AND begins_with(SK, CARD#)"),
    ("001:60", "GSI3", "PK=DATE#<today>, limit 20", "trending", (),
     "GSI5PK = VOTETYPE#TRENDING AND begins_with(GSI5SK, SCORE#)"),
    ("001:61", "GSI5", "PK=VOTETYPE#CARD, SK begins_with SCORE#, ScanIndexForward=false", "top_voted", (),
     "GSI5PK = VOTETYPE#CARD AND begins_with(GSI5SK, SCORE#)"),
]  # fmt: skip
GETS = [
    ("001:51", "PK=USER#<userId>, SK=PROFILE", "user", ("user123",)),
    ("001:55", "PK=CARD#<cardId>, SK=METADATA", "card", ("123",)),
    ("001:59", "PK=VOTE#<userId>#<targetId>", "vote", ("user123", "123")),  # PI-10: and SK=VOTE, always
]
# Line, what an index is said to be good for, pattern, index and condition of ours, and the defect.
PROMISED: list[tuple[str, str, tuple[Any, ...], str, str, str]] = [
    ("001:33", "comments_by", ("user123",), "GSI1", "GSI1PK = USER#user123 AND begins_with(GSI1SK, COMMENT#)",
     "PI-01"),
    ("001:37", "recent", (AT, 1), "GSI3", "GSI3PK = DATE#2025-01-01 AND begins_with(GSI3SK, CREATED#)", "PI-08"),
    ("001:41", "cards_with_word", ("wood",), "GSI4", "GSI4PK = SEARCH#wood AND begins_with(GSI4SK, CARD#)",
     "PI-03"),
    ("001:45", "controversial", (), "GSI5",
     "GSI5PK = VOTETYPE#CONTROVERSIAL AND begins_with(GSI5SK, SCORE#)", "PI-07"),
]  # fmt: skip


@pytest.fixture(scope="module")
def db() -> Iterator[PerfectIt]:
    with PerfectIt.open(":memory:", environment="test") as design:
        yield design


def first_query(plan: Any) -> dict[str, Any]:
    request = plan.request()
    while isinstance(request, list):
        request = request[0]
    found: dict[str, Any] = request
    return found


@pytest.mark.parametrize(
    ("line", "index", "query", "name", "arguments", "ours"), QUERIES, ids=[row[0] for row in QUERIES]
)
def test_condition_is_the_documents_or_repairs_a_defect(
    db: PerfectIt, line: str, index: str, query: str, name: str, arguments: tuple[Any, ...], ours: str
) -> None:
    request = first_query(getattr(db, name)(*arguments))
    assert shown_condition(request) == ours
    assert PerfectIt.patterns()[name].documented == f"{index} {query}".strip()
    if line == "001:60":
        assert "PI-08" in PerfectIt.patterns()[name].fixes  # the oldest of today, and none after midnight
        return
    partition, _, sort = filled(query).partition(", SK begins_with ")
    assert request.get("IndexName", "") == index
    assert ours.startswith(f"{index}PK = {partition.removeprefix('PK=')}")
    if sort:
        assert f"begins_with({index}SK, {sort.partition(',')[0]})" in ours
    if "ScanIndexForward=false" in query:
        assert request["ScanIndexForward"] is False


@pytest.mark.parametrize(("line", "query", "name", "arguments"), GETS, ids=[row[0] for row in GETS])
def test_whole_key_is_the_documents(
    db: PerfectIt, line: str, query: str, name: str, arguments: tuple[str, ...]
) -> None:
    key = {
        attribute: value["S"] for attribute, value in getattr(db, name)(*arguments).request()["Key"].items()
    }
    said = dict(part.split("=") for part in filled(query).split(", "))
    assert key == {"SK": "VOTE", **said}, line
    assert PerfectIt.patterns()[name].documented == query


@pytest.mark.parametrize(
    ("line", "name", "arguments", "index", "ours", "defect"), PROMISED, ids=[row[0] for row in PROMISED]
)
def test_what_an_index_promises_is_asked_of_the_right_one(
    db: PerfectIt, line: str, name: str, arguments: tuple[Any, ...], index: str, ours: str, defect: str
) -> None:
    request = first_query(getattr(db, name)(*arguments))
    assert (request["IndexName"], shown_condition(request)) == (index, ours), line
    assert defect in PerfectIt.patterns()[name].fixes
