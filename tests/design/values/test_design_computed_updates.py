"""Updates of what computed fields are made of: what is read for them, what follows, and who is faster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import pytest
from pydantic import Field

from designs.larder import normalize
from designs.sized_notes import Note, NotePK, Notes, NoteTable
from singletable.client import open_client
from singletable.clock import ManualClock
from singletable.design import (
    Add,
    Append,
    Computed,
    CountOf,
    Derived,
    Design,
    Entity,
    Eq,
    Index,
    Key,
    Keys,
    SortKey,
    Table,
    Unique,
)
from singletable.errors import DuplicateError, InvalidWriteError
from support.design_clients import Between, on_client
from support.kept_together import damage, opened_design, stored_item

NOTE = Note.key.get(NotePK(note_id="1"))


def note_item(db: Notes, note_id: str = "1") -> dict[str, Any]:
    params = {"TableName": "notes", "Key": {"PK": {"S": f"NOTE#{note_id}"}}}
    item: dict[str, Any] = db.session.client.call("GetItem", params)["Item"]
    return item


def stored(db: Design, pk: str, sk: str) -> dict[str, Any]:
    """Return an item in plain values."""
    item = stored_item(db, pk, sk)
    assert item is not None
    return {name: next(iter(value.values())) for name, value in item.items()}


# --- what is read -----------------------------------------------------------------------------------------


@pytest.fixture
def watched() -> Iterator[tuple[Notes, Between]]:
    with open_client(":memory:", clock=ManualClock()) as client:
        between = Between(client)
        db = on_client(Notes, between)
        db.create(Note(note_id="1", text="one", title="T"))
        between.calls.clear()
        yield db, between


def test_update_of_other_fields_reads_nothing_and_leaves_the_value(watched: tuple[Notes, Between]) -> None:
    db, client = watched
    db.update(NOTE, when=Eq("size", 3), title="T")
    assert client.operations() == ["GetItem", "UpdateItem"]  # the head needs the text
    client.calls.clear()
    db.update(NOTE, stars=2)
    assert client.operations() == ["UpdateItem"]
    assert note_item(db)["label"] == {"S": "**"}


def test_fields_that_are_not_among_the_changes_are_read_and_must_stay(watched: tuple[Notes, Between]) -> None:
    db, client = watched
    others = iter(["two"])

    def meanwhile(call: Any) -> None:
        if call.operation == "UpdateItem" and (text := next(others, None)) is not None:
            client.inner.call(
                "UpdateItem",
                {
                    "TableName": "notes",
                    "Key": {"PK": {"S": "NOTE#1"}},
                    "UpdateExpression": "SET #text = :text",
                    "ExpressionAttributeNames": {"#text": "text"},
                    "ExpressionAttributeValues": {":text": {"S": text}},
                },
            )

    client.before = meanwhile
    db.update(NOTE, title="New")
    assert note_item(db)["head"] == {"S": "New: two"}


def test_all_fields_among_the_changes_need_no_reading(watched: tuple[Notes, Between]) -> None:
    db, client = watched
    db.update(NOTE, title="New", text="three")
    assert client.operations() == ["UpdateItem"]
    assert note_item(db)["head"] == {"S": "New: three"}


def test_what_is_added_is_known_before_the_value_is_worked_out(watched: tuple[Notes, Between]) -> None:
    db, _ = watched
    db.update(NOTE, pages=Append(["a", "b"]), stars=Add(3))
    assert (note_item(db)["pages_n"], note_item(db)["label"]) == ({"N": "2"}, {"S": "***"})


def test_value_that_becomes_none_is_removed(watched: tuple[Notes, Between]) -> None:
    db, _ = watched
    db.update(NOTE, stars=1)
    db.update(NOTE, stars=0)
    assert "label" not in note_item(db)


def test_value_that_is_not_valid_is_not_stored() -> None:
    class Short(Entity):
        key = Keys(NotePK)
        note_id: str
        text: str = ""
        size: Annotated[int, Computed(len, "text"), Field(le=3)] = 0

    class Shorts(Design):
        table = NoteTable
        entities = (Short,)

    with Shorts.open(":memory:", create=True) as db:
        made = db.create(Short(note_id="1", text="one")).entity
        with pytest.raises(InvalidWriteError, match=r"Short\.size cannot be stored: Input should be less"):
            db.update(made, text="four")


# --- one thing that follows, and nothing else -------------------------------------------------------------


class PressTable(Table):
    name = "press"
    pitr_days = None
    kinds = Index("GSI1", pk="GSI1PK", sk="GSI1SK")


class ArticlePK(Key, template="ARTICLE#{article_id}"):
    article_id: str


class ArticleSK(SortKey, template="ARTICLE"):
    pass


class KindPK(Key, template="KIND#{kind}"):
    kind: str


class TitleSK(SortKey, template="{search_title}#{short_id}"):
    search_title: str
    short_id: str


class TermPK(Key, template="TERM#{search_title}"):
    search_title: str


class TermSK(SortKey, template="OF#{article_id}"):
    article_id: str


class HandlePK(Key, template="HANDLE#{handle}"):
    handle: str


class PersonPK(Key, template="PERSON#{person_id}"):
    person_id: str


class ShelfSK(SortKey, template="SHELF#{shelf_id}"):
    shelf_id: str


class JarSK(SortKey, template="JAR#{shelf_id}#{number}"):
    shelf_id: str
    number: int


class Article(Entity):
    key = Keys(ArticlePK, ArticleSK)
    by_kind = PressTable.kinds.keys(KindPK, TitleSK)

    article_id: str
    kind: str
    title: str
    search_title: Annotated[str, Computed(normalize, "title")] = ""
    short_id: Annotated[str, Computed(lambda article_id: article_id[-1:], "article_id")] = ""


class Term(Entity):
    key = Keys(TermPK, TermSK)
    made = Derived(
        Article,
        lambda article: [Term(search_title=article.search_title, article_id=article.article_id)],
        reads=("search_title",),
    )

    search_title: str
    article_id: str


class Person(Entity):
    key = Keys(PersonPK, ArticleSK)
    unique_handle = Unique(HandlePK)

    person_id: str
    name: str
    handle: Annotated[str, Computed(normalize, "name")] = ""


class Shelf(Entity):
    key = Keys(PersonPK, ShelfSK)

    person_id: str
    shelf_id: str
    name: str = "shelf"
    jars: Annotated[int, CountOf("Jar")] = 0
    label: Annotated[str, Computed("{} ({})".format, "name", "jars")] = ""


class Jar(Entity):
    key = Keys(PersonPK, JarSK)

    person_id: str
    shelf_id: str
    number: int


class Press(Design):
    table = PressTable
    entities = (Article, Term, Person, Shelf, Jar)


class Bare(Design):
    table = PressTable
    entities = (Article,)


ARTICLE = Article.key.get(ArticlePK(article_id="a1"), ArticleSK())


@pytest.mark.parametrize("design", [Press, Bare])
def test_index_key_that_follows_is_whole(design: type[Design]) -> None:
    with opened_design(design, "embedded") as db:
        db.create(Article(article_id="a1", kind="news", title="One"))
        db.update(ARTICLE, title="Two")
        assert stored(db, "ARTICLE#a1", "ARTICLE")["GSI1SK"] == "two#1"
        db.update(ARTICLE, kind="essay", title="Three")
        item = stored(db, "ARTICLE#a1", "ARTICLE")
        assert (item["GSI1PK"], item["GSI1SK"]) == ("KIND#essay", "three#1")


def test_what_can_be_worked_out_from_the_key_is_not_read() -> None:
    with open_client(":memory:", clock=ManualClock()) as client:
        between = Between(client)
        db = on_client(Bare, between)
        db.create(Article(article_id="a1", kind="news", title="One"))
        between.calls.clear()
        db.update(ARTICLE, kind="essay", title="Two")
        assert between.operations() == ["UpdateItem"]
        assert stored(db, "ARTICLE#a1", "ARTICLE")["GSI1SK"] == "two#1"


def test_derived_item_follows_by_key() -> None:
    with opened_design(Press, "embedded") as db:
        db.create(Article(article_id="a1", kind="news", title="One"))
        db.update(ARTICLE, title="Two")
        assert (stored_item(db, "TERM#one", "OF#a1"), stored(db, "TERM#two", "OF#a1")["searchTitle"]) == (
            None,
            "two",
        )


def test_lock_follows_by_key() -> None:
    with opened_design(Press, "embedded") as db:
        db.create(Person(person_id="p", name="Ann Lee"))
        db.update(Person.key.get(PersonPK(person_id="p"), ArticleSK()), name="Ann Ray")
        db.create(Person(person_id="q", name="ann lee"))
        with pytest.raises(DuplicateError):
            db.create(Person(person_id="r", name="ANN RAY"))
        assert db.verify().is_clean


def test_value_made_of_a_number_and_a_field_agrees_with_both_whoever_is_faster() -> None:
    with open_client(":memory:", clock=ManualClock(), sleep=lambda seconds: None) as client:
        between, other = Between(client), on_client(Press, client)
        db = on_client(Press, between, makes_table=False)
        shelf = Shelf.key.get(PersonPK(person_id="p"), ShelfSK(shelf_id="s"))
        db.create(Shelf(person_id="p", shelf_id="s"))
        names = iter(["upper shelf"])

        def meanwhile(call: Any) -> None:
            if call.operation == "TransactWriteItems" and (name := next(names, None)) is not None:
                # By a program that does not know the label.
                damage(other, "PERSON#p", "SHELF#s", name={"S": name})

        between.before = meanwhile
        db.create(Jar(person_id="p", shelf_id="s", number=1))
        assert stored(db, "PERSON#p", "SHELF#s")["label"] == "upper shelf (1)"
        assert db.plan(shelf).one().label == "upper shelf (1)"
