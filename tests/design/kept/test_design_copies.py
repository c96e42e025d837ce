"""Copies of another entity's fields: filled in with the item, and fresh again when the source changes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import pytest

from designs.recipes import MetadataSK, Note, NoteSK, Recipe, RecipePK, Recipes
from designs.social import Post, PostPK, PostSK, ProfileSK, Social, User, UserPK
from singletable.design import CopyOf, Create, Delete, Design, Entity, Key, Keys, SortKey, Table, Update
from singletable.errors import DeclarationError, InvalidWriteError, VersionConflictError
from support.design_clients import ALL_TARGETS, Between, on_client
from support.kept_together import consume, opened_design, records, stored_item


@pytest.fixture(params=ALL_TARGETS)
def db(request: pytest.FixtureRequest) -> Iterator[Social]:
    with opened_design(Social, request.param) as db:
        db.create(User(user_id="u", full_name="Ann"))
        yield db
        consume(db)
        assert db.verify().is_clean


@pytest.fixture(params=ALL_TARGETS)
def recipes(request: pytest.FixtureRequest) -> Iterator[Recipes]:
    with opened_design(Recipes, request.param) as db:
        db.create(Recipe(recipe_id="r", title="Bread"))
        yield db
        consume(db)
        assert db.verify().is_clean


def the_post(db: Design, post_id: str) -> Post:
    found = db.plan(Post.key.get(PostPK(post_id=post_id), PostSK()).consistent()).one()
    assert found is not None
    return found


def user_key() -> Any:
    return User.key.get(UserPK(user_id="u"), ProfileSK())


def recipe_key() -> Any:
    return Recipe.key.get(RecipePK(recipe_id="r"), MetadataSK())


def note(db: Design, note_id: str) -> Note:
    found = db.plan(Note.key.get(RecipePK(recipe_id="r"), NoteSK(note_id=note_id)).consistent()).one()
    assert found is not None
    return found


# --- by stream -----------------------------------------------------------------------------------------------


def test_copy_is_filled_in_when_it_is_not_given(db: Social) -> None:
    made = db.create(Post(post_id="p", user_id="u")).entity
    assert (made.user_name, the_post(db, "p").user_name) == ("Ann", "Ann")


def test_copy_that_is_made_up_is_refused(db: Social) -> None:
    refused = r"Post\.user_name is a copy of User\.full_name, which is 'Ann', and 'Anna' is given for it"
    for write in (db.create, db.put):
        with pytest.raises(InvalidWriteError, match=refused):
            write(Post(post_id="p", user_id="u", user_name="Anna"))
    assert stored_item(db, "POST#p", "POST") is None
    db.create(Post(post_id="p", user_id="u", user_name="Ann"))  # it is what the source has
    with pytest.raises(InvalidWriteError, match=refused):
        db.put(the_post(db, "p").model_copy(update={"user_name": "Anna"}))
    with pytest.raises(InvalidWriteError, match=r"Post\.user_name is a copy of User\.full_name\n"):
        db.update(the_post(db, "p"), user_name="Anna")
    assert the_post(db, "p").user_name == "Ann"


def test_copy_that_is_loaded_is_taken_and_put_right_by_the_stream(db: Social) -> None:
    db.load([Post(post_id="p", user_id="u", user_name="Anna")])
    assert the_post(db, "p").user_name == "Anna"
    consume(db)
    assert the_post(db, "p").user_name == "Ann"


def test_rename_refreshes_the_copies_and_their_index_keys(db: Social) -> None:
    for number in range(7):
        db.create(Post(post_id=str(number), user_id="u"))
    db.update(user_key(), full_name="Bea")
    consume(db)
    assert {the_post(db, str(number)).user_name for number in range(7)} == {"Bea"}
    assert len(list(db.posts_of("Bea").all())) == 7
    assert list(db.posts_of("Ann").all()) == []


def test_refresh_counts_as_a_version_but_not_as_a_change_of_the_writers(db: Social) -> None:
    made = db.create(Post(post_id="p", user_id="u")).entity
    db.update(user_key(), full_name="Bea")
    consume(db)
    assert the_post(db, "p").updated_at == made.updated_at
    with pytest.raises(VersionConflictError):
        db.put(made)


def test_child_that_is_deleted_meanwhile_stays_deleted(db: Social) -> None:
    for number in range(3):
        db.create(Post(post_id=str(number), user_id="u"))
    db.update(user_key(), full_name="Bea")
    between = Between(db.session.client)
    slow = on_client(Social, between, makes_table=False)

    def interfere(call: Any) -> None:
        if call.operation == "UpdateItem" and call.params["Key"]["PK"] == {"S": "POST#1"}:
            db.delete(the_post(db, "1"))
            between.before = lambda call: None

    between.before = interfere
    consume(slow, records(db))
    assert stored_item(db, "POST#1", "POST") is None
    assert {the_post(db, number).user_name for number in "02"} == {"Bea"}


def test_copies_converge_whatever_order_the_records_come_in(db: Social) -> None:
    db.create(Post(post_id="p", user_id="u"))
    for name in ("Bea", "Cleo", "Dora"):
        db.update(user_key(), full_name=name)
    seen = records(db)
    consume(db, reversed(seen))
    assert the_post(db, "p").user_name == "Dora"
    consume(db, [record for record in seen for _ in range(2)])
    assert the_post(db, "p").user_name == "Dora"


def test_rename_while_copies_are_refreshed_is_not_lost(db: Social) -> None:
    for number in range(3):
        db.create(Post(post_id=str(number), user_id="u"))
    db.update(user_key(), full_name="Bea")
    between = Between(db.session.client)
    slow = on_client(Social, between, makes_table=False)

    def interfere(call: Any) -> None:
        if call.operation == "UpdateItem":
            between.before = lambda call: None
            db.update(user_key(), full_name="Cleo")
            consume(db)  # somebody else is faster

    between.before = interfere
    consume(slow, records(db))
    assert {the_post(db, str(number)).user_name for number in range(3)} == {"Cleo"}


def test_refresh_that_fails_halfway_goes_on_where_it_was(db: Social) -> None:
    for number in range(6):
        db.create(Post(post_id=str(number), user_id="u"))
    db.update(user_key(), full_name="Bea")
    between = Between(db.session.client)
    failing = on_client(Social, between, makes_table=False)
    updates: list[Any] = []

    def fail(call: Any) -> None:
        if call.operation == "UpdateItem":
            updates.append(call)
            if len(updates) == 4:
                raise ConnectionError("gone")

    between.before = fail
    seen = records(db)
    with pytest.raises(ConnectionError):
        consume(failing, seen)
    consume(failing, seen)
    assert len(updates) == 4 + 3
    assert {the_post(db, str(number)).user_name for number in range(6)} == {"Bea"}


def test_child_that_was_written_while_its_source_was_renamed_catches_up(db: Social) -> None:
    between = Between(db.session.client)
    slow = on_client(Social, between, makes_table=False)

    def interfere(call: Any) -> None:
        if call.operation in ("TransactWriteItems", "PutItem"):
            between.before = lambda call: None
            db.update(user_key(), full_name="Bea")
            consume(db)

    between.before = interfere
    slow.create(Post(post_id="p", user_id="u"))
    assert the_post(db, "p").user_name == "Ann"
    consume(db)
    assert the_post(db, "p").user_name == "Bea"


def test_copies_stay_when_the_source_is_gone(db: Social) -> None:
    db.create(Post(post_id="p", user_id="u"))
    db.delete(user_key())
    consume(db)
    assert the_post(db, "p").user_name == "Ann"


# --- by transaction --------------------------------------------------------------------------------------------


def test_copy_by_transaction_changes_with_its_source(recipes: Recipes) -> None:
    for number in range(3):
        recipes.create(Note(recipe_id="r", note_id=str(number)))
    recipes.update(recipe_key(), title="Rye bread")
    assert {note(recipes, str(number)).recipe_title for number in range(3)} == {"Rye bread"}


def test_copy_by_transaction_is_never_what_a_caller_says(recipes: Recipes) -> None:
    with pytest.raises(
        InvalidWriteError, match=r"Note\.recipe_title is a copy .* is 'Bread', and 'wrong' is given"
    ):
        recipes.create(Note(recipe_id="r", note_id="1", recipe_title="wrong"))
    made = recipes.create(Note(recipe_id="r", note_id="1")).entity
    assert (made.recipe_title, note(recipes, "1").recipe_title) == ("Bread", "Bread")
    with pytest.raises(InvalidWriteError, match=r"Note\.recipe_title is a copy of Recipe\.title"):
        recipes.update(made, recipe_title="wrong")


def test_put_of_a_child_that_was_read_takes_the_title_of_now(recipes: Recipes) -> None:
    made = recipes.create(Note(recipe_id="r", note_id="1")).entity
    recipes.update(recipe_key(), title="Rye bread")
    recipes.put(made)
    assert note(recipes, "1").recipe_title == "Rye bread"


@pytest.mark.parametrize("target", ["embedded", "http"])
def test_source_that_is_renamed_while_a_child_is_written_makes_it_be_filled_again(target: str) -> None:
    with opened_design(Recipes, target) as recipes:
        recipes.create(Recipe(recipe_id="r", title="Bread"))
        between = Between(recipes.session.client)
        slow = on_client(Recipes, between, makes_table=False)

        def interfere(call: Any) -> None:
            if call.operation == "TransactWriteItems":
                between.before = lambda call: None
                recipes.update(recipe_key(), title="Rye bread")

        between.before = interfere
        made = slow.create(Note(recipe_id="r", note_id="1")).entity
        assert (made.recipe_title, note(recipes, "1").recipe_title) == ("Rye bread", "Rye bread")


def test_slow_writer_without_transactions_leaves_the_title_of_now() -> None:
    with opened_design(Recipes, "no-transactions") as recipes:
        recipes.create(Recipe(recipe_id="r", title="Bread"))
        recipes.create(Note(recipe_id="r", note_id="1"))
        between = Between(recipes.session.client)
        slow = on_client(Recipes, between, makes_table=False)

        def interfere(call: Any) -> None:
            if call.operation == "UpdateItem" and call.params["Key"]["SK"] == {"S": "NOTE#1"}:
                between.before = lambda call: None
                recipes.update(recipe_key(), title="Rye bread")

        between.before = interfere
        slow.update(recipe_key(), title="White bread")
        assert note(recipes, "1").recipe_title == "Rye bread"


@pytest.mark.parametrize("target", ["embedded", "http"])
def test_children_of_one_source_can_be_written_in_one_transaction(target: str) -> None:
    with opened_design(Recipes, target) as recipes:
        recipes.create(Recipe(recipe_id="r", title="Bread"))
        recipes.transaction(*[Create(Note(recipe_id="r", note_id=str(number))) for number in range(5)])
        assert {note(recipes, str(number)).recipe_title for number in range(5)} == {"Bread"}
        recipes.transaction(
            Delete(note(recipes, "0")),
            Update(recipe_key(), slug="bread"),
            Create(Note(recipe_id="r", note_id="9")),
        )
        assert note(recipes, "9").recipe_title == "Bread"


@pytest.mark.parametrize("target", ["embedded", "http"])
def test_more_copies_than_a_transaction_holds_are_refused_with_a_hint(target: str) -> None:
    with opened_design(Recipes, target) as recipes:
        recipes.create(Recipe(recipe_id="r", title="Bread"))
        for number in range(100):
            recipes.create(Note(recipe_id="r", note_id=str(number)))
        with pytest.raises(InvalidWriteError, match="a transaction has 100 actions at most"):
            recipes.update(recipe_key(), title="Rye bread")
        assert note(recipes, "0").recipe_title == "Bread"


# --- declarations ------------------------------------------------------------------------------------------------


class ThingTable(Table):
    name = "things"


class ThingPK(Key, template="THING#{thing_id}"):
    thing_id: str


class PartPK(Key, template="PART#{part_id}"):
    part_id: str


class MainSK(SortKey, template="MAIN"):
    pass


class PartSK(SortKey, template="PART#{part_id}"):
    part_id: str


class Thing(Entity):
    key = Keys(ThingPK, MainSK)
    thing_id: str
    name: str = ""


def declare(pk: type[Key], marker: Any) -> None:
    class Part(Entity):
        key = Keys(pk, PartSK)
        part_id: str
        thing_id: str
        thing_name: Annotated[str | None, marker] = None

    class Things(Design):
        table = ThingTable
        entities = (Thing, Part)


@pytest.mark.parametrize(
    ("pk", "marker", "message"),
    [
        (ThingPK, CopyOf(Thing, "title"), "Part.thing_name copies Thing.title, which is not a field"),
        (PartPK, CopyOf(Thing, "name"), "Part.thing_name: the Part items of one Thing cannot be found"),
        (ThingPK, CopyOf(Thing, "name", via={"thing_id": "owner"}), "it belongs to: it has no field owner"),
    ],
)  # fmt: skip
def test_copy_that_cannot_be_kept_is_refused_when_the_design_is_made(
    pk: type[Key], marker: Any, message: str
) -> None:
    with pytest.raises(DeclarationError, match=message):
        declare(pk, marker)
