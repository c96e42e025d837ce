"""Items that do not fit their entity are repaired by an update: with their keys, locks, counters and copies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from designs.chess import Club, ClubPK, Clubs, ClubSK, ClubTable, Member, MemberSK, Note, NotePK, Span, SpanSK
from singletable.design import Add, Create, Design, Entity, Keys, Update, upcast
from singletable.errors import DuplicateError, InvalidItemError, InvalidWriteError, VersionConflictError
from support.design_clients import ALL_TARGETS
from support.kept_together import damage, opened_design
from support.opened_designs import call, store, stored_item, stored_items

ADA = ("CLUB#c", "MEMBER#ada")


@pytest.fixture(params=ALL_TARGETS)
def db(request: pytest.FixtureRequest) -> Iterator[Clubs]:
    with opened_design(Clubs, request.param) as db:
        fill(db)
        yield db


def fill(db: Clubs) -> None:
    db.create(Club(club_id="c", club_name="Chess"))
    db.create(ada())
    db.create(Member(club_id="c", member_id="bob", age=30, city="Bonn", email="bob@x"))
    assert db.verify().is_clean


def ada(**values: Any) -> Member:
    given = {"age": 36, "city": "London", "email": "ada@x", "badges": {"gold"}, **values}
    return Member(club_id="c", member_id="ada", **given)


def found(db: Clubs) -> Member:
    return db.member("c", "ada").one()


# What is wrong, and what is changed. What the club adds up is what is stored, where that can be added.
DAMAGE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "a field is missing": ({"city": None}, {"city": "London"}),
    "a field that is counted is of another type": ({"age": {"S": "old"}}, {"age": 36}),
    "a field that is counted is out of bounds": ({"age": {"N": "999"}}, {"age": 41}),
    "two fields are wrong": ({"age": {"S": "old"}, "city": {"L": []}}, {"age": 36, "city": "Bonn"}),
    "a unique value is of another type": ({"email": {"L": []}}, {"email": "ada@x"}),
    "a unique value is too long": ({"email": {"S": "ada@" + "x" * 30}}, {"email": "new@x"}),
    "the version is no number": ({"version": {"S": "x"}}, {"city": "Bonn"}),
    "a computed field is of another type": ({"label": {"L": []}, "city": None}, {"city": "Bonn"}),
    "a copy is of another type": ({"clubName": {"L": []}}, {"city": "Bonn"}),
    "a field of the key is of another type": ({"memberId": {"L": []}}, {"city": "Bonn"}),
    "what is derived cannot be": ({"badges": {"N": "7"}}, {"badges": {"gold", "silver"}}),
    "its condition cannot be told": ({"isHidden": {"S": "perhaps"}}, {"is_hidden": True}),
}


def hurt(db: Clubs, name: str) -> dict[str, Any]:
    """Damage an item, and what is kept of it where that follows from the damage; return what repairs it."""
    wrong, changes = DAMAGE[name]
    damage(db, *ADA, **wrong, mood={"S": "good"})
    if wrong.get("age") == {"N": "999"}:
        damage(db, "CLUB#c", "CLUB", ages={"N": "1029"})
    if "S" in wrong.get("email", {}):
        lock = stored_item(db, "EMAIL#ada@x", "UNIQUE")
        assert lock is not None
        store(db, {**lock, "PK": {"S": f"EMAIL#{wrong['email']['S']}"}})
        call(db, "DeleteItem", Key={"PK": lock["PK"], "SK": lock["SK"]})
    with pytest.raises(InvalidItemError):
        found(db)
    return changes


@pytest.mark.parametrize("name", DAMAGE)
def test_update_repairs_an_item_and_what_is_kept_of_it(db: Clubs, name: str) -> None:
    changes = hurt(db, name)
    entity = db.update(db.member("c", "ada"), **changes).entity
    assert entity == found(db)
    assert {field: getattr(entity, field) for field in changes} == changes
    assert db.verify().differences == ()
    item = stored_item(db, *ADA)
    assert item is not None
    assert item["mood"] == {"S": "good"}
    if not entity.is_hidden:
        assert "ada" in {member.member_id for member in db.of_city(entity.city).all()}
        assert "ttl" not in item
    with pytest.raises(DuplicateError):
        db.update(db.member("c", "bob"), email=entity.email)


@pytest.mark.parametrize("name", DAMAGE)
def test_update_in_a_transaction_repairs_it_too(name: str) -> None:
    with opened_design(Clubs, "embedded") as db:
        fill(db)
        changes = hurt(db, name)
        other = Span(club_id="c", first=1, last=2)
        entity, _ = db.transaction(Update(db.member("c", "ada"), **changes), Create(other)).entity
        assert entity == found(db)
        assert db.verify().differences == ()


def test_update_of_an_entity_that_was_read_before_repairs_it(db: Clubs) -> None:
    span = db.create(Span(club_id="c", first=1, last=2)).entity
    damage(db, "CLUB#c", "SPAN", first={"S": "x"})
    assert db.update(span, first=2).entity == Span(club_id="c", first=2, last=2)
    club = db.plan(Club.key.get(ClubPK(club_id="c"), ClubSK())).one()
    damage(db, "CLUB#c", "CLUB", clubName={"L": []})
    assert db.update(club, club_name="Go").entity.club_name == "Go"
    assert found(db).club_name == "Go"
    assert db.verify().differences == ()


def test_version_still_guards_an_item_that_does_not_fit(db: Clubs) -> None:
    read = found(db)
    db.update(db.member("c", "ada"), is_hidden=True)
    damage(db, *ADA, city=None)
    with pytest.raises(VersionConflictError):
        db.update(read, city="Rome")


def test_what_is_still_wrong_is_named_with_what_to_set(db: Clubs) -> None:
    damage(db, *ADA, age={"S": "old"}, city=None, email={"L": []})
    before = stored_items(db)
    with pytest.raises(InvalidItemError) as caught:
        db.update(db.member("c", "ada"), email="new@x")
    assert caught.value.message.startswith("the item CLUB#c / MEMBER#ada is no Member: age: Input should")
    assert caught.value.message.endswith("(and 1 more)")
    assert caught.value.hint == "set age and city too"
    assert caught.value.key == {"PK": {"S": "CLUB#c"}, "SK": {"S": "MEMBER#ada"}}
    assert stored_items(db) == before


def test_update_that_reads_nothing_says_what_is_still_wrong_of_what_it_has_stored(db: Clubs) -> None:
    item = {"PK": {"S": "NOTE#1"}, "SK": {"S": "CLUB"}, "entityType": {"S": "Note"}, "text": {"L": []}}
    store(db, item)
    note = Note.key.get(NotePK(note_id="1"), ClubSK())
    with pytest.raises(InvalidItemError) as caught:
        db.update(note, mood="good")
    assert caught.value.message == (
        "the update is stored, but the item NOTE#1 / CLUB is no Note: text: Input should be a valid string"
    )
    assert caught.value.hint == "set text too"
    entity = db.update(note, text="x").entity
    assert (entity.mood, entity.text) == ("good", "x")


def test_number_that_is_none_is_counted_before_the_rest_is_repaired(db: Clubs) -> None:
    damage(db, "CLUB#c", "CLUB", clubName={"L": []}, members={"S": "many"})
    club = Club.key.get(ClubPK(club_id="c"), ClubSK())
    with pytest.raises(InvalidItemError) as caught:
        db.update(club, club_name="Go")
    assert "is no Club: members: " in caught.value.message
    assert caught.value.hint == "db.verify(repair=True) counts members again"
    assert [each.field for each in db.verify(repair=True).differences if each.is_repaired] == ["members"]
    assert db.update(club, club_name="Go").entity.club_name == "Go"
    assert db.verify(repair=True).is_clean
    assert db.plan(club).one().members == 2


def test_additions_are_to_what_can_be_read(db: Clubs) -> None:
    damage(db, *ADA, city=None, age={"N": "10"})
    damage(db, "CLUB#c", "CLUB", ages={"N": "40"})
    assert db.update(db.member("c", "ada"), age=Add(5), city="Rome").entity.age == 15
    assert db.verify().differences == ()
    damage(db, *ADA, age={"S": "old"})
    with pytest.raises(InvalidWriteError, match="cannot be added to it"):
        db.update(db.member("c", "ada"), age=Add(5))


def test_item_that_is_valid_as_a_whole_is_repaired_as_a_whole(db: Clubs) -> None:
    db.create(Span(club_id="c", first=1, last=2))
    damage(db, "CLUB#c", "SPAN", last={"N": "0"})
    span = Span.key.get(ClubPK(club_id="c"), SpanSK())
    with pytest.raises(InvalidItemError, match="is no Span: Value error, it ends before it begins"):
        db.update(span, first=5)
    assert db.update(span, last=7).entity == Span(club_id="c", first=1, last=7)


def test_value_that_somebody_else_has_is_not_taken_by_a_repair(db: Clubs) -> None:
    damage(db, *ADA, city=None)
    with pytest.raises(DuplicateError):
        db.update(db.member("c", "ada"), city="Rome", email="bob@x")


def test_lock_of_a_value_that_is_no_longer_stored_is_left_to_verify(db: Clubs) -> None:
    damage(db, *ADA, email=None)
    db.update(db.member("c", "ada"), email="new@x")
    lock = stored_item(db, "EMAIL#ada@x", "UNIQUE")
    assert lock is not None
    store(db, {**lock, "$takenAt": {"S": "2001-01-01T00:00:00.000Z"}})
    (left,) = db.verify(repair=True).differences
    assert (left.entity, left.is_repaired) == ("$unique", True)
    assert db.verify().differences == ()


def test_put_and_delete_of_an_item_that_does_not_fit_take_back_what_is_kept_of_it(db: Clubs) -> None:
    damage(db, *ADA, isHidden={"S": "perhaps"})
    db.put(ada(version=1, email="new@x", badges={"silver"}))
    assert db.verify().differences == ()
    damage(db, *ADA, isHidden={"S": "perhaps"})
    db.delete(db.member("c", "ada"))
    assert db.verify().differences == ()
    assert {item["PK"]["S"] for item in stored_items(db)} == {"CLUB#c", "EMAIL#bob@x"}


def test_error_leads_to_the_repair(db: Clubs) -> None:
    damage(db, *ADA, age={"S": "old"})
    errors: list[InvalidItemError] = []
    assert list(db.of_city("London").setting_aside(errors.append).all()) == []
    (error,) = errors
    assert error.key is not None
    pk, sk = error.key["PK"]["S"], error.key["SK"]["S"]
    assert db.update(Member.key.get(ClubPK.parse(pk), MemberSK.parse(sk)), age=36).entity == found(db)


def test_item_that_its_upcaster_cannot_take_is_reported_and_not_repaired() -> None:
    class Reading(Entity, schema_version=2):
        key = Keys(NotePK, ClubSK)

        note_id: str
        celsius: int

        @upcast(1)
        @staticmethod
        def _from_fahrenheit(values: dict[str, Any]) -> dict[str, Any]:
            return {**values, "celsius": (values["fahrenheit"] - 32) * 5 // 9}

    class Readings(Design):
        table = ClubTable
        entities = (Reading,)

    with Readings.open(":memory:") as db:
        item = {
            "PK": {"S": "NOTE#1"},
            "SK": {"S": "CLUB"},
            "entityType": {"S": "Reading"},
            "noteId": {"S": "1"},
        }
        store(db, item)
        one = Reading.key.get(NotePK(note_id="1"), ClubSK())
        wanted = r"is no Reading: the upcaster of version 1: KeyError: 'fahrenheit'"
        with pytest.raises(InvalidItemError, match=wanted):
            db.plan(one).one()
        with pytest.raises(InvalidItemError, match=wanted):
            db.update(one, celsius=20)
        (difference,) = db.verify(repair=True).differences
        assert (difference.entity, difference.is_repairable) == ("Reading", False)
        assert stored_items(db) == [item]
        db.put(Reading(note_id="1", celsius=20))
        assert db.verify().is_clean
