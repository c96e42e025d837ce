"""The loads of Smart Cooking add up, area by area, to the daily operations that its document states."""

from __future__ import annotations

import pytest

from singletable.systems import find_system
from systems.described import cited, monthly

BLUEPRINT = find_system("smart_cooking").blueprint()
WRITES = ("create", "update", "delete")

READS_A_DAY = {
    "002:532": 500,  # login
    "002:536": 1_000,  # list ingredients
    "002:541": 4_000,  # queries of AI suggestions
    "002:545": 3_000,  # view details
    "002:550": 500,  # view history
    "002:554": 300,  # query ratings
    "002:560": 2_000,  # feeds
}
WRITES_A_DAY = {
    "002:533": 100 + 500,  # profiles; and each login of 002:532, which the document takes for a read (SC-46)
    "002:537": 200,  # add or remove ingredients
    "002:542": 1_000,  # save suggestions
    "002:546": 200,  # create recipes
    "002:549": 300,  # start or complete cooking
    "002:553": 150,  # submit ratings
    "002:557": 200,  # posts
    "002:558": 500,  # comments
    "002:559": 1_000,  # reactions
}


def test_it_is_for_a_thousand_users() -> None:
    assert BLUEPRINT.users == 1_000


@pytest.mark.parametrize("line", READS_A_DAY)
def test_reads_of_an_area_are_those_of_the_document(line: str) -> None:
    assert monthly(cited(BLUEPRINT, line, "pattern")) == pytest.approx(READS_A_DAY[line] * 30)


@pytest.mark.parametrize("line", WRITES_A_DAY)
def test_writes_of_an_area_are_those_of_the_document(line: str) -> None:
    found = [load for load in BLUEPRINT.loads if load.kind in WRITES and load.because.startswith(line)]
    assert monthly(found) == pytest.approx(WRITES_A_DAY[line] * 30)


def test_no_other_line_of_the_daily_operations_is_cited() -> None:
    cited_lines = {load.because[:7] for load in BLUEPRINT.loads if load.because.startswith("002:")}
    assert cited_lines == {*READS_A_DAY, *WRITES_A_DAY, "002:540"}


def test_suggestions_are_asked_for_a_thousand_times_a_day() -> None:
    (load,) = [load for load in BLUEPRINT.loads if load.of == "Suggestions.suggest"]
    assert load.because.startswith("002:540 ")
    assert load.monthly == pytest.approx(30_000)


def test_copies_and_derived_items_that_the_stream_keeps_are_handlers() -> None:
    (consumer,) = BLUEPRINT.consumers
    kept = {handler.name: handler for handler in consumer.handlers if handler.is_idempotent}
    assert {*kept} == {"RecipeUse", "CookingHistory.visibility", "Post.user_name", "Post.user_avatar"}
    assert kept["Post.user_name"].entities == ("UserProfile", "Post")
    assert kept["Post.user_name"].writes == ("Post",)
    assert kept["RecipeUse"].entities == ("Recipe",)
