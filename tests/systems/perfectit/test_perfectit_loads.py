"""The loads of PerfectIt: the document has no figures, so all of them are assumptions that fit each other."""

from __future__ import annotations

import pytest

from singletable.blueprint import LoadBlueprint
from singletable.systems import find_system
from systems.described import cited

BLUEPRINT = find_system("perfectit").blueprint()
LOADS: dict[tuple[str, str], LoadBlueprint] = {(load.kind, load.of): load for load in BLUEPRINT.loads}


def per_user(kind: str, of: str) -> float:
    found = LOADS[kind, of].monthly_per_user
    assert found is not None
    return found


def test_nothing_but_the_expiry_of_notifications_rests_on_the_document() -> None:
    kinds = ("pattern", "create", "update", "delete", "expire", "service")
    assert [load for load in BLUEPRINT.loads if load.because[:3] == "001"] == cited(
        BLUEPRINT, "001:107", *kinds
    )
    assert [(load.kind, load.of) for load in cited(BLUEPRINT, "001:107", *kinds)] == [
        ("expire", "Notification")
    ]


def test_readers_of_cards_vote_and_comment_as_assumed() -> None:
    views = per_user("service", "Publishing.viewed")
    assert per_user("update", "CardStats") == views
    assert per_user("create", "Vote") == pytest.approx(views / 10)
    assert per_user("create", "Comment") == pytest.approx(views / 40)
    assert per_user("create", "PerfectionCard") == pytest.approx(views / 200)


def test_votes_of_services_are_the_votes_that_are_written() -> None:
    cast = per_user("service", "Voting.vote") + per_user("service", "Voting.vote_on_comment")
    assert cast == pytest.approx(per_user("create", "Vote") + per_user("update", "Vote"), rel=0.01)
    assert per_user("service", "Voting.undo") == per_user("delete", "Vote")


def test_lists_of_all_users_are_one_partition() -> None:
    assert {of for (kind, of), load in LOADS.items() if kind == "pattern" and load.hottest_share == 1} == {
        *("trending", "top_voted", "controversial", "ranking")
    }


def test_handlers_reach_search_and_subscribers() -> None:
    (consumer,) = BLUEPRINT.consumers
    sends = {handler.name: handler.sends for handler in consumer.handlers if handler.sends}
    assert sends == {"hand_on": ("subscribers",), "index_card": ("opensearch",)}
    kept = [handler.name for handler in consumer.handlers if handler.is_idempotent]
    assert kept == ["CardScore", "SearchToken"]
