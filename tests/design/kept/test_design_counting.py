"""Counters, sums and averages are right whatever is written, by whomever, however often a record is seen."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Annotated, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from designs.members import Member, Members, Team
from designs.recipes import MetadataSK as RecipeSK
from designs.recipes import Rating, RatingSK, Recipe, RecipePK, Recipes
from designs.social import (
    Comment,
    CommentPK,
    CommentSK,
    Post,
    PostPK,
    PostSK,
    ProfileSK,
    Reaction,
    ReactionSK,
    Report,
    Social,
    User,
    UserPK,
)
from singletable import Database
from singletable.client import EmbeddedClient
from singletable.clock import ManualClock
from singletable.design import (
    AverageOf,
    Check,
    CountOf,
    Create,
    Delete,
    Design,
    Entity,
    Index,
    Key,
    Keys,
    Put,
    ShardOf,
    SortKey,
    SumOf,
    Table,
    Update,
)
from singletable.design.design import Writer
from singletable.errors import (
    InvalidWriteError,
    NotFoundError,
    VersionConflictError,
)
from support.design_clients import ALL_TARGETS, Between, on_client
from support.kept_together import consume, opened_design, records, stored_item, stored_items


@pytest.fixture(params=ALL_TARGETS)
def social(request: pytest.FixtureRequest) -> Iterator[Social]:
    with opened_design(Social, request.param) as db:
        db.create(User(user_id="u", full_name="Ann"))
        db.create(Post(post_id="p", user_id="u"))
        yield db
        consume(db)
        assert db.verify().is_clean


@pytest.fixture(params=ALL_TARGETS)
def recipes(request: pytest.FixtureRequest) -> Iterator[Recipes]:
    with opened_design(Recipes, request.param) as db:
        db.create(Recipe(recipe_id="r", title="Bread", cuisine="French"))
        yield db
        consume(db)
        assert db.verify().is_clean


def the_post(db: Design, post_id: str = "p") -> Post:
    found = db.plan(Post.key.get(PostPK(post_id=post_id), PostSK()).consistent()).one()
    assert found is not None
    return found


def the_user(db: Design) -> User:
    found = db.plan(User.key.get(UserPK(user_id="u"), ProfileSK()).consistent()).one()
    assert found is not None
    return found


def the_recipe(db: Design) -> Recipe:
    found = db.plan(Recipe.key.get(RecipePK(recipe_id="r"), RecipeSK()).consistent()).one()
    assert found is not None
    return found


def reaction(number: int, **values: Any) -> Reaction:
    return Reaction(post_id="p", user_id=str(number), **values)


def reaction_key(number: int) -> Any:
    return Reaction.key.get(PostPK(post_id="p"), ReactionSK(user_id=str(number)))


def rating(number: int, stars: str | None) -> Rating:
    return Rating(recipe_id="r", user_id=str(number), stars=None if stars is None else Decimal(stars))


def rating_key(number: int) -> Any:
    return Rating.key.get(RecipePK(recipe_id="r"), RatingSK(user_id=str(number)))


# --- counts, by transaction ------------------------------------------------------------------------------


def test_create_counts_one_and_delete_takes_it_back(social: Social) -> None:
    for number in range(3):
        social.create(reaction(number))
    assert the_post(social).likes_count == 3
    social.delete(reaction_key(1))
    assert the_post(social).likes_count == 2


def test_delete_of_what_is_not_there_counts_nothing(social: Social) -> None:
    social.create(reaction(1))
    social.delete(reaction_key(2))
    social.delete(reaction_key(2))
    assert the_post(social).likes_count == 1


def test_put_over_an_existing_child_counts_it_once(social: Social) -> None:
    for _ in range(3):
        social.put(reaction(1))
    assert the_post(social).likes_count == 1


def test_child_counts_only_while_the_condition_holds(social: Social) -> None:
    social.create(reaction(1, kind="angry"))
    assert the_post(social).likes_count == 0
    social.update(reaction_key(1), kind="like")
    assert the_post(social).likes_count == 1
    social.put(reaction(1, kind="angry"))
    assert the_post(social).likes_count == 0


def test_sum_of_a_counter_follows_it(social: Social) -> None:
    social.create(Post(post_id="q", user_id="u"))
    social.create(reaction(1))
    social.create(reaction(2))
    social.create(Reaction(post_id="q", user_id="1"))
    assert (the_user(social).likes_total, the_user(social).posts_count) == (3, 2)
    social.delete(the_post(social, "q"))
    assert (the_user(social).likes_total, the_user(social).posts_count) == (2, 1)


def test_child_of_nothing_is_refused_and_not_written(social: Social) -> None:
    with pytest.raises(NotFoundError, match="there is no Post POST#none / POST") as refused:
        social.create(Reaction(post_id="none", user_id="1"))
    assert refused.value.hint is not None
    assert stored_item(social, "POST#none", "REACTION#1") is None
    assert stored_item(social, "POST#none", "POST") is None


def test_child_whose_parent_is_gone_can_be_deleted_and_changed(social: Social) -> None:
    social.create(reaction(1))
    social.create(reaction(2))
    social.delete(the_post(social))
    social.update(reaction_key(1), kind="angry")
    social.delete(reaction_key(2))
    assert stored_item(social, "POST#p", "POST") is None


def test_counting_is_no_version_of_the_parent(social: Social) -> None:
    read = the_post(social)
    social.create(reaction(1))
    social.update(read, text="hello")
    assert (read.version, the_post(social).version) == (2, 2)
    assert the_post(social).likes_count == 1


def test_put_of_a_parent_keeps_what_was_counted_since_it_was_read(social: Social) -> None:
    read = the_post(social)
    for number in range(3):
        social.create(reaction(number))
    read.text = "hello"
    social.put(read)
    assert (read.likes_count, the_post(social).likes_count, the_post(social).text) == (3, 3, "hello")
    fresh = Post(post_id="p", user_id="u", version=2)
    social.put(fresh)
    assert (fresh.likes_count, the_post(social).likes_count) == (3, 3)


def test_put_of_an_old_version_is_still_a_conflict(social: Social) -> None:
    read, other = the_post(social), the_post(social)
    social.update(other, text="first")
    social.create(reaction(1))
    with pytest.raises(VersionConflictError):
        social.put(read)


def test_counter_is_not_for_callers_to_change(social: Social) -> None:
    with pytest.raises(InvalidWriteError, match="likes_count is counted by the layer"):
        social.update(the_post(social), likes_count=5)


MADE_UP: dict[str, Callable[[Social, Post], Any]] = {
    "create": lambda db, post: db.create(post),
    "put": lambda db, post: db.put(post),
    "load": lambda db, post: db.load([post]),
}


@pytest.mark.parametrize("way", MADE_UP)
def test_number_that_is_made_up_is_never_stored(social: Social, way: str) -> None:
    refused = r"Post\.likes_count is counted by the layer, and 7 is given for it\n\nhint: leave it out"
    with pytest.raises(InvalidWriteError, match=refused):
        MADE_UP[way](social, Post(post_id="q", user_id="u", likes_count=7))
    assert stored_item(social, "POST#q", "POST") is None
    MADE_UP[way](social, Post(post_id="q", user_id="u", likes_count=0))
    assert the_post(social, "q").likes_count == 0


def test_number_that_is_made_up_is_refused_in_a_transaction_too(together: Social) -> None:
    for write in (Create, Put):
        with pytest.raises(InvalidWriteError, match="likes_count is counted by the layer, and 7 is given"):
            together.transaction(write(Post(post_id="q", user_id="u", likes_count=7)))
    assert the_user(together).posts_count == 1


def test_put_of_what_was_read_leaves_the_stored_numbers(social: Social) -> None:
    social.create(reaction(1))
    read = the_post(social)
    social.create(reaction(2))
    social.put(read.model_copy(update={"text": "by old numbers"}))
    assert (the_post(social).likes_count, the_post(social).text) == (2, "by old numbers")


def test_put_of_a_number_that_was_changed_by_hand_is_refused(social: Social) -> None:
    social.create(reaction(1))
    read = the_post(social)
    read.likes_count = 100
    with pytest.raises(InvalidWriteError, match="likes_count is counted by the layer, and 100 is given"):
        social.put(read)
    with pytest.raises(InvalidWriteError, match="likes_count is counted by the layer, and 1 is given"):
        social.put(Post(post_id="p", user_id="u", likes_count=1))  # nobody has read it
    assert the_post(social).likes_count == 1


def test_create_of_a_copy_of_what_was_read_begins_with_no_numbers(social: Social) -> None:
    social.create(reaction(1))
    moved = the_post(social).model_copy(update={"post_id": "q"})
    with pytest.raises(InvalidWriteError, match="likes_count is counted by the layer, and 1 is given"):
        social.create(moved)
    social.create(moved.model_copy(update={"likes_count": 0}))
    assert the_post(social, "q").likes_count == 0


def test_create_of_a_child_is_one_write_and_reads_nothing_but_what_follows(together: Social) -> None:
    between = Between(together.session.client)
    db = on_client(Social, between, makes_table=False)
    between.calls.clear()
    db.create(Post(post_id="q", user_id="u"))
    assert between.operations() == ["GetItem", "TransactWriteItems"]  # the name is copied


# --- counts, in transactions of the caller -------------------------------------------------------------------


@pytest.fixture(params=["embedded", "http"])
def together(request: pytest.FixtureRequest) -> Iterator[Social]:
    with opened_design(Social, request.param) as db:
        db.create(User(user_id="u", full_name="Ann"))
        db.create(Post(post_id="p", user_id="u"))
        yield db
        consume(db)
        assert db.verify().is_clean


def test_children_of_one_parent_in_one_transaction_are_one_action(together: Social) -> None:
    together.transaction(*[Create(reaction(number)) for number in range(20)])
    assert (the_post(together).likes_count, the_user(together).likes_total) == (20, 20)
    changes = [Update(reaction_key(number), kind="angry") for number in range(5)]
    together.transaction(*changes, *[Delete(reaction_key(number)) for number in range(5, 10)])
    assert (the_post(together).likes_count, the_user(together).likes_total) == (10, 10)


def test_what_comes_and_goes_in_one_transaction_counts_nothing(together: Social) -> None:
    together.create(reaction(1))
    together.transaction(Delete(reaction_key(1)), Create(reaction(2)))
    assert the_post(together).likes_count == 1


def test_parent_and_children_can_be_made_in_one_transaction(together: Social) -> None:
    together.transaction(
        Create(User(user_id="v", full_name="Bea")),
        Create(Post(post_id="q", user_id="v")),
        Create(Post(post_id="r", user_id="v")),
    )
    found = together.plan(User.key.get(UserPK(user_id="v"), ProfileSK())).one()
    assert found is not None
    assert found.posts_count == 2


def test_parent_and_child_can_be_written_in_one_transaction(together: Social) -> None:
    user = the_user(together)
    together.transaction(Update(user, full_name="Bea"), Create(Post(post_id="q", user_id="u")))
    assert (the_user(together).posts_count, the_user(together).full_name) == (2, "Bea")
    together.transaction(Put(the_user(together)), Create(Post(post_id="r", user_id="u")))
    assert the_user(together).posts_count == 3
    together.transaction(Check(the_user(together)), Create(Post(post_id="s", user_id="u")))
    assert the_user(together).posts_count == 4


def test_parent_can_go_with_its_children_in_one_transaction(together: Social) -> None:
    together.create(reaction(1))
    together.transaction(Delete(the_post(together)), Delete(reaction_key(1)))
    assert stored_item(together, "POST#p", "POST") is None
    assert the_user(together).likes_total == 0


def test_transaction_that_is_refused_counts_nothing(together: Social) -> None:
    together.create(reaction(1))
    with pytest.raises(Exception, match="is there already"):
        together.transaction(Create(reaction(2)), Create(reaction(1)))
    assert the_post(together).likes_count == 1


# --- averages ------------------------------------------------------------------------------------------------


def test_average_is_rounded_from_the_exact_sum(recipes: Recipes) -> None:
    assert (the_recipe(recipes).average, the_recipe(recipes).rating_step) == (None, Decimal(0))
    recipes.create(rating(1, "4.5"))
    recipes.create(rating(2, "-1.25"))
    recipes.create(rating(3, "3.3333"))
    found = the_recipe(recipes)
    assert (found.average, found.rating_step, found.ratings) == (Decimal("2.194"), Decimal("2.2"), 3)
    item = stored_item(recipes, "RECIPE#r", "METADATA")
    assert item is not None
    assert (item["averageSum"], item["averageCount"]) == ({"N": "6.5833"}, {"N": "3"})


def test_average_that_is_made_up_is_never_stored(recipes: Recipes) -> None:
    with pytest.raises(InvalidWriteError, match=r"Recipe\.average is counted by the layer"):
        recipes.create(Recipe(recipe_id="q", title="Cake", average=Decimal("4.5")))


@pytest.mark.parametrize("target", ALL_TARGETS)
def test_put_of_what_was_read_and_is_gone_since_keeps_the_sum_of_its_average(target: str) -> None:
    with opened_design(Members, target) as db:
        team = Team(team="t", title="Team")
        db.create(team)
        db.create(Member(team="t", member="a", age=20))
        read = db.plan(Team.key.get(*team.key).consistent()).one()
        db.delete(Team.key.get(*team.key))
        db.put(read)
        db.create(Member(team="t", member="b", age=30))
        assert db.plan(Team.key.get(*team.key).consistent()).one().age == 25
        assert db.verify().is_clean


def test_average_of_nothing_is_nothing_again(recipes: Recipes) -> None:
    recipes.create(rating(1, "4.5"))
    recipes.delete(rating_key(1))
    assert (the_recipe(recipes).average, the_recipe(recipes).rating_step) == (None, Decimal(0))


def test_child_without_a_value_is_not_in_the_average(recipes: Recipes) -> None:
    recipes.create(rating(1, "4"))
    recipes.create(rating(2, None))
    assert (the_recipe(recipes).average, the_recipe(recipes).ratings) == (Decimal(4), 2)
    recipes.update(rating_key(2), stars=Decimal(1))
    assert the_recipe(recipes).average == Decimal("2.5")
    recipes.update(rating_key(2), stars=None)
    assert the_recipe(recipes).average == 4


def test_put_over_a_rating_replaces_it_in_the_average(recipes: Recipes) -> None:
    recipes.create(rating(1, "1"))
    recipes.create(rating(2, "2"))
    recipes.put(rating(1, "5"))
    assert the_recipe(recipes).average == Decimal("3.5")


def test_average_in_an_index_key_moves_the_item(recipes: Recipes) -> None:
    recipes.create(rating(1, "4"))
    (found,) = recipes.by_method("baked").all()
    assert found.rating_step == 4
    item = stored_item(recipes, "RECIPE#r", "METADATA")
    assert item is not None
    assert item["GSI2SK"] == {"S": "104.0#r"}
    (facet,) = recipes.by_facet("CUISINE", "French").all()
    assert facet.rating_step == 4


def test_index_keys_are_written_only_when_the_rounded_step_changes(recipes: Recipes) -> None:
    recipes.create(rating(1, "4"))
    recipes.create(rating(2, "4"))
    between = Between(recipes.session.client)
    db = on_client(Recipes, between, makes_table=False)
    between.calls.clear()
    db.create(rating(3, "4.01"))
    assert "GSI2SK" not in repr([call for call in between.calls if "UpdateExpression" in repr(call.params)])
    assert the_recipe(recipes).average == Decimal("4.003")
    between.calls.clear()
    db.create(rating(4, "1"))
    assert "GSI2SK" in repr(between.calls)


def test_update_of_an_index_key_uses_the_step_of_now(recipes: Recipes) -> None:
    read = the_recipe(recipes)
    recipes.create(rating(1, "4"))
    recipes.update(read, method="fried")
    item = stored_item(recipes, "RECIPE#r", "METADATA")
    assert item is not None
    assert (item["GSI2PK"], item["GSI2SK"]) == ({"S": "METHOD#fried"}, {"S": "104.0#r"})
    assert read.rating_step == 4


def test_put_of_a_parent_keeps_its_average(recipes: Recipes) -> None:
    read = the_recipe(recipes)
    recipes.create(rating(1, "4"))
    read.title = "Rye bread"
    recipes.put(read)
    recipes.create(rating(2, "2"))
    assert (the_recipe(recipes).average, the_recipe(recipes).title) == (Decimal(3), "Rye bread")


def test_somebody_faster_makes_the_average_be_worked_out_again(recipes: Recipes) -> None:
    between = Between(recipes.session.client)
    db = on_client(Recipes, between, makes_table=False)
    others = iter(range(10, 13))

    def interfere(call: Any) -> None:
        if "averageSum" in repr(call.params) and (number := next(others, None)) is not None:
            recipes.create(rating(number, "1"))

    between.before = interfere
    db.create(rating(1, "5"))
    assert (the_recipe(recipes).average, the_recipe(recipes).ratings) == (Decimal(2), 4)


# --- many at once --------------------------------------------------------------------------------------------


def at_once(*works: Callable[[], None]) -> None:
    errors: list[BaseException] = []

    def run(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_counts_of_concurrent_writers_are_exact(social: Social) -> None:
    def work(writer: int) -> None:
        for number in range(10):
            social.create(reaction(writer * 100 + number))
            if number % 2:
                social.delete(reaction_key(writer * 100 + number))
            else:
                social.put(reaction(writer * 100 + number, kind="like" if number % 4 else "angry"))

    at_once(*[lambda writer=writer: work(writer) for writer in range(4)])
    assert the_post(social).likes_count == 4 * 2


def test_averages_of_concurrent_writers_are_exact(recipes: Recipes) -> None:
    def work(writer: int) -> None:
        for number in range(6):
            recipes.create(rating(writer * 100 + number, str(number)))

    at_once(*[lambda writer=writer: work(writer) for writer in range(4)])
    found = the_recipe(recipes)
    assert (found.average, found.ratings) == (Decimal("2.5"), 24)


# --- by stream -----------------------------------------------------------------------------------------------


def comment(number: int, weight: str = "1", about: str = "p") -> Comment:
    return Comment(about=about, comment_id=str(number), weight=Decimal(weight))


def test_stream_counts_what_was_written(social: Social) -> None:
    for number in range(4):
        social.create(comment(number, f"{number}.5"))
    social.delete(Comment.key.get(CommentPK(about="p"), CommentSK(comment_id="0")))
    social.put(comment(1, "-3.25"))
    assert the_post(social).comments_count == 0
    consume(social)
    assert (the_post(social).comments_count, the_post(social).words) == (3, Decimal("2.75"))
    assert social.verify().is_clean


def test_records_that_are_seen_again_count_nothing(social: Social) -> None:
    for number in range(4):
        social.create(comment(number))
    social.delete(Comment.key.get(CommentPK(about="p"), CommentSK(comment_id="0")))
    seen = records(social)
    consume(social, [record for record in seen for _ in range(2)])
    consume(social, seen)
    consume(social, reversed(seen))
    assert (the_post(social).comments_count, the_post(social).words) == (3, Decimal(3))


def test_records_of_different_items_can_come_in_any_order(social: Social) -> None:
    social.create(Post(post_id="q", user_id="u"))
    for number in range(6):
        social.create(comment(number, "2", about="pq"[number % 2]))
    consume(social, reversed(records(social)))
    assert (the_post(social).words, the_post(social, "q").words) == (Decimal(6), Decimal(6))


def test_record_of_a_child_without_a_parent_is_passed_over(social: Social) -> None:
    social.create(comment(1, about="none"))
    consume(social)
    assert stored_item(social, "POST#none", "POST") is None


def test_guards_expire_and_are_nobodys_items(social: Social) -> None:
    social.create(comment(1))
    consume(social)
    answer = social.session.client.call("Scan", {"TableName": social.session.table})
    (guard,) = [item for item in answer["Items"] if item["PK"]["S"].startswith("UPKEEP#")]
    assert guard["SK"] == {"S": "GUARD"}
    assert int(guard["ttl"]["N"]) == social.session.now_s() + 2 * 24 * 3600
    assert social.session.catalog.schema_of(guard) is None


def test_expiry_counts_down_when_the_stream_tells_of_it() -> None:
    clock = ManualClock()
    with Database.open(":memory:", clock=clock, ttl_sweep_s=None) as database:
        db = on_client(Social, EmbeddedClient(database, owns=False))
        db.create(User(user_id="u", full_name="Ann"))
        db.create(Post(post_id="p", user_id="u"))
        until = datetime.fromtimestamp(clock.now_us() // 1_000_000, UTC) + timedelta(minutes=1)
        for number in range(3):
            db.create(Report(post_id="p", report_id=str(number), ttl=until if number else None))
        consume(db)
        assert the_post(db).reports_count == 3
        clock.advance(3600)
        assert db.verify().is_clean  # what is expired counts until it is removed
        database.sweep_expired()
        consume(db)
        assert the_post(db).reports_count == 1
        assert db.verify().is_clean


def test_consumers_that_share_the_work_count_each_record_once(social: Social) -> None:
    for number in range(12):
        social.create(comment(number))
    seen = records(social)
    at_once(lambda: consume(social, seen), lambda: consume(social, reversed(seen)))
    assert the_post(social).comments_count == 12


# --- children in an index ----------------------------------------------------------------------------------------


class TreeTable(Table):
    name = "tree"
    sk = None
    gsi1 = Index("GSI1", pk="GSI1PK", sk="GSI1SK", projection="KEYS_ONLY")


class NodePK(Key, template="NODE#{node_id}"):
    node_id: str


class ParentPK(Key, template="PARENT#{parent_id}#{shard}"):
    parent_id: str
    shard: Annotated[int, ShardOf(3, by="node_id")]


class NodeSK(SortKey, template="NODE#{node_id}"):
    node_id: str


class Node(Entity):
    key = Keys(NodePK)
    by_parent = TreeTable.gsi1.keys(ParentPK, NodeSK)

    node_id: str
    parent_id: str | None = None
    size: int = 1
    replies: Annotated[int, CountOf("Node", via={"node_id": "parent_id"})] = 0
    below: Annotated[int, SumOf("Node", "size", via={"node_id": "parent_id"}, by="stream")] = 0


class Tree(Design):
    table = TreeTable
    entities = (Node,)


def numbers_of(db: Design, node_id: str) -> tuple[int, int]:
    found = db.plan(Node.key.get(NodePK(node_id=node_id))).one()
    assert found is not None
    return found.replies, found.below


def test_items_of_one_entity_belong_to_each_other_over_a_sharded_index() -> None:
    with opened_design(Tree, "embedded") as db:
        db.create(Node(node_id="root"))
        for number in range(9):
            db.create(Node(node_id=str(number), parent_id="root" if number < 6 else "0", size=number))
        consume(db)
        assert db.verify().is_clean
        assert [numbers_of(db, node) for node in ("root", "0")] == [(6, 15), (3, 21)]
        db.update(Node.key.get(NodePK(node_id="8")), parent_id="root")
        consume(db)
        assert db.verify().is_clean
        assert [numbers_of(db, node) for node in ("root", "0")] == [(7, 23), (2, 13)]


# --- random writes against counting by hand -----------------------------------------------------------------

numbers = st.integers(0, 4)
stars = st.one_of(st.none(), st.decimals(-5, 5, places=3, allow_nan=False).map(str))
steps = st.lists(
    st.one_of(
        st.tuples(st.just("create"), numbers, stars),
        st.tuples(st.just("put"), numbers, stars),
        st.tuples(st.just("update"), numbers, stars),
        st.tuples(st.just("delete"), numbers, st.none()),
        st.tuples(st.just("title"), numbers, st.none()),
        st.tuples(st.just("both"), numbers, stars),
    ),
    max_size=12,
)


@pytest.mark.parametrize("target", ["embedded", "no-transactions"])
@settings(max_examples=40, deadline=None)
@given(wanted=steps)
def test_numbers_are_those_of_counting_by_hand(target: str, wanted: list[Any]) -> None:
    with opened_design(Recipes, target) as db:
        db.create(Recipe(recipe_id="r", title="Bread", cuisine="French"))
        known: dict[int, Decimal | None] = {}
        for kind, number, value in wanted:
            _step(db, known, kind, number, value)
        found = the_recipe(db)
        rated = [value for value in known.values() if value is not None]
        mean = sum(rated, Decimal(0)) / len(rated) if rated else None
        expected = None if mean is None else mean.quantize(Decimal("0.001"), ROUND_HALF_EVEN)
        step = Decimal(0) if mean is None else mean.quantize(Decimal("0.1"), ROUND_HALF_EVEN)
        assert (found.average, found.rating_step, found.ratings) == (expected, step, len(known))
        assert [each for each in db.verify().differences if each.entity != "Word"] == []


def _step(db: Recipes, known: dict[int, Decimal | None], kind: str, number: int, value: str | None) -> None:
    stars = None if value is None else Decimal(value)
    can_transact = db.session.client.capabilities.transactions
    if kind == "create" and number not in known:
        db.create(rating(number, value))
        known[number] = stars
    elif kind == "put":
        db.put(rating(number, value))
        known[number] = stars
    elif kind == "update" and number in known:
        db.update(rating_key(number), stars=stars)
        known[number] = stars
    elif kind == "delete":
        db.delete(rating_key(number))
        known.pop(number, None)
    elif kind == "title":
        db.update(the_recipe(db), title=f"Bread {number}", method=f"m{number}")
    elif kind == "both" and can_transact:
        db.transaction(Put(rating(number, value)), Put(rating(number + 1, value)))
        known.update({number: stars, number + 1: stars})


def test_only_entities_that_are_declared_so_are_counted(social: Social) -> None:
    social.create(reaction(1))
    kinds = {item["entityType"]["S"] for item in stored_items(social)}
    assert kinds == {"User", "Post", "Reaction"}


# --- requests --------------------------------------------------------------------------------------------------


class HotelTable(Table):
    name = "hotels"


class HotelPK(Key, template="HOTEL#{hotel_id}"):
    hotel_id: str


class HotelSK(SortKey, template="HOTEL"):
    pass


class StaySK(SortKey, template="STAY#{stay_id}"):
    stay_id: str


class Stay(Entity):
    key = Keys(HotelPK, StaySK)

    hotel_id: str
    stay_id: str
    food: int
    beds: int
    price: int


class Hotel(Entity):
    key = Keys(HotelPK, HotelSK)

    hotel_id: str
    price: Annotated[float, AverageOf(Stay, "price")] = 0
    food: Annotated[float, AverageOf(Stay, "food")] = 0
    beds: Annotated[float, AverageOf(Stay, "beds")] = 0


class Hotels(Design):
    table = HotelTable
    entities = (Hotel, Stay)


def test_averages_with_their_sums_and_counts_are_written_in_one_order() -> None:
    with Hotels.open(":memory:") as db:
        db.create(Hotel(hotel_id="h"))
        stay = Stay(hotel_id="h", stay_id="s", food=1, beds=2, price=3)
        request = Writer(db.session).request(Create(stay))
    (update,) = [each["Update"] for each in request["TransactItems"] if "Update" in each]
    names = update["ExpressionAttributeNames"]
    written = re.findall(r"(#\d+) =", update["UpdateExpression"])
    numbers = [f"{field}{what}" for field in ("price", "food", "beds") for what in ("Sum", "Count")]
    assert [names[each] for each in written] == [*numbers, "price", "food", "beds"]
