"""PerfectIt on any client, with people who write cards, and all that is stored of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from singletable.client import EmbeddedClient
from singletable.clock import Clock
from singletable_systems.perfectit.model.entities import PerfectionCard, User
from singletable_systems.perfectit.model.keys import CategoryId, UserId
from singletable_systems.perfectit.reactions.handlers import PerfectIt
from singletable_systems.perfectit.services.accounts import Accounts
from singletable_systems.perfectit.services.cards import Publishing
from singletable_systems.perfectit.services.categories import Categories
from support.design_clients import Between, on_client
from support.opened_designs import call, opened_design
from systems.perfectit_cards import drain

ADA, BO, CY = UserId("ada"), UserId("bo"), UserId("cy")
WOOD = CategoryId("woodworking")


@contextmanager
def opened_perfectit(target: str, clock: Clock) -> Iterator[PerfectIt]:
    """Open PerfectIt on a fresh target, one of `TARGETS`, with a category and three users."""
    with opened_design(PerfectIt, target, clock, environment="test") as db:
        Categories(db).add(WOOD, "Woodworking")
        for user_id in (ADA, BO, CY):
            sign_up(db, user_id)
        yield db


def watched(db: PerfectIt) -> tuple[PerfectIt, Between]:
    """Return the same PerfectIt once more, through a client that writes down its calls and can be interrupted."""
    between = Between(db.session.client)
    return on_client(PerfectIt, between, makes_table=False, **db.session.environment), between


def sign_up(db: PerfectIt, user_id: UserId) -> User:
    return Accounts(db).sign_up(f"{user_id}.name", user_id=user_id, display_name="Åsa")


def draft(db: PerfectIt, user_id: UserId = ADA, **others: Any) -> PerfectionCard:
    """Write the draft of a usual card."""
    values: dict[str, Any] = {
        "title": "Perfect Wood Finish",
        "category": WOOD,
        "instructions": ["Sand", "Oil"],
        "tags": ["furniture", "finishing"],
        **others,
    }
    return Publishing(db).draft(user_id, **values)


def publish(db: PerfectIt, user_id: UserId = ADA, **others: Any) -> PerfectionCard:
    """Write and publish a usual card."""
    return Publishing(db).publish(user_id, draft(db, user_id, **others).card_id)


def follow(db: PerfectIt) -> None:
    """Keep what the stream keeps: in the process by the consumer, elsewhere by working it out again."""
    if isinstance(db.session.client, EmbeddedClient):
        with db.consume(background=False) as consumer:
            drain(consumer)
    else:
        db.verify(repair=True)


def everything(db: PerfectIt) -> dict[str, list[str]]:
    """Return all that is stored, in the table and as each index shows it: by a scan, which only tests may do."""
    found: dict[str, list[str]] = {}
    for place in ("table", "GSI1", "GSI2", "GSI3", "GSI4", "GSI5"):
        index = {} if place == "table" else {"IndexName": place}
        items: list[dict[str, Any]] = []
        start: dict[str, Any] = {}
        while True:
            answer = call(db, "Scan", **index, **start)
            items += answer["Items"]
            if "LastEvaluatedKey" not in answer:
                break
            start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}
        found[place] = sorted(repr(sorted(item.items())) for item in items)
    return found
