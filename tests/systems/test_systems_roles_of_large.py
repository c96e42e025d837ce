"""The roles of PerfectIt and Smart Cooking, held against the calls of their patterns, services and handlers."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, time
from typing import Any

import pytest

from singletable import Database
from singletable.cli.seed import fill
from singletable.client import open_client
from singletable.clock import ManualClock
from singletable.design.streams.dispatch import StreamDispatcher
from singletable.stack import Deployment, Roles
from singletable.systems import System, installed_systems
from singletable_systems import perfectit, smart_cooking
from singletable_systems.perfectit.operating import roles_and_alarms as perfectit_operations
from singletable_systems.smart_cooking.operating import roles_and_alarms as cooking_operations
from support.design_clients import Between, on_client
from systems.iam_calls import Iam, Need, refused, unused

DAY = date(2026, 11, 16)
NOW = datetime.combine(DAY, time(), UTC)
DEPLOYMENT = Deployment("eu-north-1", "123456789012", {"environment": "prod"})
ROLES: dict[str, Roles] = {
    "perfectit": perfectit_operations.roles(DEPLOYMENT),
    "smart_cooking": cooking_operations.roles(DEPLOYMENT),
}
TABLES = {"perfectit": "perfectit-prod", "smart_cooking": "smart-cooking-data-prod"}
SYSTEMS = {name: installed_systems()[name] for name in ROLES}

each_system = pytest.mark.parametrize("system", SYSTEMS.values(), ids=SYSTEMS)


def recorded(system: System, deed: Callable[[Any], object]) -> set[Need]:
    """Do something in a seeded table; return what IAM would ask about."""
    clock = ManualClock(int(NOW.timestamp()) * 1_000_000)
    with Database.open(":memory:", clock=clock) as database, open_client(database) as client:
        between = Between(client)
        environment: dict[str, Any] = dict(DEPLOYMENT.environment)
        db: Any = on_client(system.design, between, **environment)
        fill(db, system, system.seed("small", DAY))
        between.calls.clear()
        deed(db)
        return Iam(DEPLOYMENT).needs(between.calls)


def read_everything(system: System, db: Any) -> None:
    for name, arguments in system.samples(DAY).items():
        plan = getattr(db, name)(**arguments)
        for way in ("page", "maybe", "all"):
            if hasattr(plan, way):
                getattr(plan, way)()
                break


def use_perfectit(db: perfectit.PerfectIt) -> None:
    accounts, publishing = perfectit.Accounts(db), perfectit.Publishing(db)
    voting, commenting = perfectit.Voting(db), perfectit.Commenting(db)
    mia = accounts.sign_up("mia").user_id
    accounts.change_username(mia, "mia2")
    card = publishing.draft(mia, title="Perfect Knot", category=perfectit.CategoryId("crafts"))
    publishing.edit(mia, card.card_id, category=perfectit.CategoryId("sewing"))
    publishing.publish(mia, card.card_id)
    publishing.viewed(card.card_id)
    ada = perfectit.UserId("ada")
    voting.vote(ada, card.card_id, 1)
    voting.vote(ada, card.card_id, -1)
    comment = commenting.comment(ada, card.card_id, "Which rope?")
    voting.vote_on_comment(mia, card.card_id, comment.created_at, comment.comment_id, 1)
    voting.undo(ada, card.card_id)
    collecting = perfectit.Collecting(db)
    collection = collecting.create(mia, "Knots")
    collecting.add(mia, collection.collection_id, card.card_id)
    collecting.remove(mia, collection.collection_id, card.card_id)
    perfectit.Categories(db).move(perfectit.CategoryId("sewing"), None)
    perfectit.Finding(db).search("knot")
    publishing.archive(mia, card.card_id)
    accounts.delete_all_data(mia)


def use_cooking(db: smart_cooking.SmartCooking) -> None:
    accounts = smart_cooking.Accounts(db)
    mia = accounts.sign_up("mia@example.com", username="mia", full_name="Mia").user_id
    tom = accounts.sign_up("tom@example.com", username="tom", full_name="Tom").user_id
    smart_cooking.Pantry(db).add(mia, ["Thịt gà"])
    suggestions = smart_cooking.Suggestions(db, smart_cooking.PantrySource())
    given = suggestions.suggest(mia, ["Thịt gà", "moon dust"], count=5)
    stored = given.suggestion
    entry = suggestions.accept(mia, stored.created_at, stored.suggestion_id, given.recipes[0].recipe_id)
    cooking = smart_cooking.Cooking(db)
    cooking.complete(mia, entry.created_at, entry.history_id, personal_rating=5)
    recipe = db.approved_recipes().first()
    assert recipe is not None
    smart_cooking.Ratings(db).rate(mia, recipe.recipe_id, 1)
    smart_cooking.Ratings(db).unrate(mia, recipe.recipe_id)
    friends = smart_cooking.Friends(db)
    friends.ask(mia, tom)
    friends.accept(tom, mia)
    post = smart_cooking.Posts(db).write(mia, "Ngon!")
    comment = smart_cooking.Posts(db).comment(tom, post.post_id, "Ngon!")
    smart_cooking.Reactions(db).react(tom, post.post_id)
    smart_cooking.Reactions(db).react_to_comment(mia, comment)
    smart_cooking.Feeds(db).personal(tom)
    smart_cooking.Feeds(db).public(viewer=tom)
    smart_cooking.Viewing(db).profile(mia, viewer=tom)
    smart_cooking.Trending(db).refresh()
    accounts.delete_all_data(mia)


USES: dict[str, Callable[[Any], object]] = {"perfectit": use_perfectit, "smart_cooking": use_cooking}


@each_system
def test_reader_may_ask_all_patterns_and_makes_use_of_all_it_may(system: System) -> None:
    needs = recorded(system, lambda db: read_everything(system, db))
    assert needs
    assert refused(ROLES[system.name].reader, needs) == []
    assert {action for action, _ in unused(ROLES[system.name].reader, needs)} == {"DescribeTable"}


@each_system
def test_writer_may_do_what_the_app_does_and_a_reader_may_not(system: System) -> None:
    needs = recorded(system, USES[system.name])
    assert refused(ROLES[system.name].writer, needs) == []
    assert refused(ROLES[system.name].reader, needs) != []
    assert not any(action.endswith(":Scan") for action, _ in needs)


def follow(system: System, db: Any) -> None:
    """Do all that the app does, then hand every change to the handlers, as Lambda would."""
    USES[system.name](db)
    between = db.session.client
    events: list[Any] = []
    between.inner.database.consume(db.session.table, events.append, "recorder", background=False).drain()
    between.calls.clear()
    dispatcher = StreamDispatcher(db, db.session, system.design.handlers)
    for event in events:
        assert dispatcher.dispatch(event["Records"]) is None


@each_system
def test_consumer_may_do_what_the_handlers_do(system: System) -> None:
    consumer = ROLES[system.name].consumer
    assert consumer is not None
    needs = recorded(system, lambda db: follow(system, db))
    assert {"dynamodb:PutItem", "dynamodb:UpdateItem"} <= {action for action, _ in needs}
    assert refused(consumer, needs) == []


@each_system
def test_no_role_of_the_app_reaches_another_table_or_scans(system: System) -> None:
    arn = DEPLOYMENT.table_arn(TABLES[system.name])
    for role in (ROLES[system.name].reader, ROLES[system.name].writer):
        assert not role.allows("dynamodb:Scan", arn)
        assert not role.allows("dynamodb:GetItem", DEPLOYMENT.table_arn("kefir-app-prod-table"))
        assert not role.allows("dynamodb:DeleteTable", arn)
