"""Calls of every service of PerfectIt on its made-up data, in an order in which each can be made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from singletable_systems.perfectit import (
    Accounts,
    Categories,
    Collecting,
    Commenting,
    Finding,
    Fts5Index,
    IndexFiller,
    Notifications,
    Publishing,
    Voting,
)
from systems.service_calls import ServiceCall

ADA: Any = "ada"
BO: Any = "bo"
CARD: Any = "c000000"
OTHER: Any = "c000012"
DRAFT: Any = "d000000"
MINE: Any = "s000000"
SEWING: Any = "sewing"
WOOD: Any = "woodworking"


def calls(db: Any) -> Iterator[ServiceCall]:
    accounts, cards, categories = Accounts(db), Publishing(db), Categories(db)
    comments, votes, collecting, notices = Commenting(db), Voting(db), Collecting(db), Notifications(db)
    yield "Accounts.sign_up", lambda: accounts.sign_up("newcomer")
    yield "Accounts.change_username", lambda: accounts.change_username(ADA, "ada_l")
    yield "Accounts.describe", lambda: accounts.describe(ADA, bio="Makes tables")
    yield "Accounts.deletion_plan", lambda: accounts.deletion_plan(ADA)
    yield "Publishing.draft", lambda: cards.draft(ADA, title="A stool", category=WOOD, tags=["oak"])
    yield "Publishing.edit", lambda: cards.edit(ADA, DRAFT, title="Another title")
    yield "Publishing.edit", lambda: cards.edit(ADA, OTHER, category=SEWING)
    yield "Publishing.publish", lambda: cards.publish(ADA, DRAFT)
    yield "Publishing.archive", lambda: cards.archive(ADA, DRAFT)
    yield "Publishing.read", lambda: cards.read(CARD)
    yield "Publishing.viewed", lambda: cards.viewed(CARD)
    yield "Categories.tree", categories.tree
    yield "Categories.path", lambda: categories.path(WOOD)
    yield "Commenting.comment", lambda: comments.comment(ADA, CARD, "Nice")
    said = next(iter(db.comments_by(ADA).all()))
    of_it = (said.card_id, said.created_at, said.comment_id)
    yield "Commenting.edit", lambda: comments.edit(ADA, *of_it, "Very nice")
    yield "Voting.vote", lambda: votes.vote(ADA, CARD, 1)
    yield "Voting.vote", lambda: votes.vote(BO, CARD, -1)
    yield "Voting.vote", lambda: votes.vote(BO, CARD, -1)
    yield "Voting.vote_on_comment", lambda: votes.vote_on_comment(BO, *of_it, 1)
    yield "Voting.undo", lambda: votes.undo(BO, CARD)
    yield "Commenting.delete", lambda: comments.delete(ADA, *of_it)
    yield "Collecting.create", lambda: collecting.create(ADA, "Shelves")
    yield "Collecting.describe", lambda: collecting.describe(ADA, MINE, name="Chairs")
    yield "Collecting.add", lambda: collecting.add(ADA, MINE, CARD)
    yield "Collecting.remove", lambda: collecting.remove(ADA, MINE, CARD)
    yield "Collecting.read", lambda: collecting.read(MINE)
    yield "Collecting.of_user", lambda: list(collecting.of_user(ADA).all())
    yield "Finding.search", lambda: Finding(db).search("oak")
    yield "Finding.search", lambda: Finding(db).search("oak table")
    told = next(iter(db.unread(BO).all()))
    yield "Notifications.read", lambda: notices.read(BO, told.created_at, told.notification_id)
    yield "Notifications.read_all", lambda: notices.read_all(BO)
    yield (
        "Categories.add",
        lambda: categories.add(category("pottery"), "Pottery", parent_id=category("crafts")),
    )
    yield "Categories.move", lambda: categories.move(category("pottery"), category("kitchen"))
    yield "Categories.describe", lambda: categories.describe(category("pottery"), name="Clay")
    yield "Categories.remove", lambda: categories.remove(category("pottery"))
    filler = IndexFiller(db, Fts5Index(":memory:"))
    yield "IndexFiller.run", filler.run
    yield "Collecting.delete", lambda: collecting.delete(ADA, MINE)
    yield "Publishing.delete", lambda: cards.delete(ADA, OTHER)
    yield "Accounts.delete_all_data", lambda: accounts.delete_all_data(ADA)


def category(name: str) -> Any:
    return name
