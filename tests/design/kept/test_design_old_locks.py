"""Locks with a sort key of their own, beside those that all had one: a value is taken once, whichever has it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from designs.inverted_people import (
    NamePK,
    OldPeople,
    OldPerson,
    People,
    PeopleTable,
    Person,
    PersonPK,
    ProfileSK,
)
from singletable import Database
from singletable.client import Call, EmbeddedClient
from singletable.client.calls import Answer
from singletable.clock import ManualClock
from singletable.design import Design, Entity, Index, Key, Keys, SortKey, Table, Unique
from singletable.design.kept.unique import GRACE_S, KNOWN_S, SURE_S, mark_moved
from singletable.design.upkeep.verify import move_lock
from singletable.errors import (
    AlreadyExistsError,
    DeclarationError,
    DuplicateError,
    NotFoundError,
    ValidationError,
)
from support.design_clients import ALL_TARGETS, WRITES, Between, on_client, opened_anyhow
from support.faulty_targets import Ask, Faulty
from support.limited_targets import LimitedClient
from support.unique_locks import items_of

THREADS = 8


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(params=ALL_TARGETS)
def between(request: pytest.FixtureRequest, clock: ManualClock) -> Iterator[Between]:
    with opened_anyhow(request.param, clock=clock, sleep=clock.advance) as client:
        yield Between(client)


@pytest.fixture
def old(between: Between) -> OldPeople:
    """The version before: with Ada, whose lock has the sort key of all."""
    design = on_client(OldPeople, between)
    design.create(OldPerson(person_id="1", name="ada"))
    return design


@pytest.fixture
def db(old: OldPeople, between: Between) -> People:
    design = on_client(People, between, makes_table=False)
    between.calls.clear()
    return design


def locks(db: Design) -> set[tuple[str, str, str]]:
    """Return the keys of all locks, with what is a hash left out, and the keys of their owners."""
    found = [item for item in items_of(db) if item["entityType"] == {"S": "$unique"}]
    return {(each["PK"]["S"], each["SK"]["S"].split("#")[0], each["$owner"]["S"]) for each in found}


def sorts(db: Design) -> list[str]:
    return sorted(item["SK"]["S"] for item in items_of(db) if item["entityType"] == {"S": "$unique"})


def named(db: Any, name: str) -> str | None:
    found = db.named(name).maybe()
    return None if found is None else found.person_id


# --- a table without old locks -----------------------------------------------------------------------------


def test_locks_of_a_table_with_an_inverted_index_share_no_partition_of_it(between: Between) -> None:
    db = on_client(People, between)
    for number in range(5):
        db.create(Person(person_id=str(number), name=f"n{number}", email=f"{number}@x"))
    partitions = sorts(db)
    assert len(set(partitions)) == 10
    assert all(len(sort) == len("UNIQUE#") + 16 for sort in partitions)
    assert named(db, "n3") == "3"
    assert db.verify().is_clean


def test_table_without_old_locks_is_asked_once_for_a_while_and_writes_what_it_did(between: Between) -> None:
    db = on_client(People, between)
    between.calls.clear()
    db.create(Person(person_id="1", name="ada"))
    assert between.operations().count("Query") == 1
    written = [
        len(call.params.get("TransactItems", "1")) for call in between.calls if call.operation in WRITES
    ]
    assert sum(written) == 2  # the person, and one lock
    between.calls.clear()
    db.create(Person(person_id="2", name="bob"))
    db.update(db.person("2"), name="eve")
    assert named(db, "nobody") is None
    asked = [call for call in between.calls if call.operation in ("Query", "DescribeTable")]
    assert asked == []
    assert "UNIQUE" not in sorts(db)


def test_table_without_old_locks_is_asked_for_a_minute_and_no_more(
    between: Between, clock: ManualClock
) -> None:
    db = on_client(People, between)
    between.calls.clear()
    for number in range(100):
        db.create(Person(person_id=str(number), name=f"n{number}"))
        clock.advance(KNOWN_S / 2)
    asked = [call.params for call in between.calls if call.operation == "Query"]
    assert len(asked) == SURE_S / KNOWN_S + 1
    assert {params["Limit"] for params in asked} == {1}


def test_table_that_says_that_locks_have_moved_is_asked_once(between: Between, clock: ManualClock) -> None:
    db = on_client(People, between)
    between.before = lambda call: _forbidden() if call.operation == "Query" else None
    db.session.run(mark_moved(db.session, db.catalog.old_locks))
    db.create(Person(person_id="1", name="ada"))
    between.calls.clear()
    clock.advance(KNOWN_S)
    db.create(Person(person_id="2", name="bob"))
    assert set(between.operations()) <= WRITES
    assert "UNIQUE" not in sorts(db)


def _forbidden() -> Answer:
    raise ValidationError("the index is forbidden")


def test_locks_of_other_tables_stay_where_they_are() -> None:
    class Plain(Table):
        name = "plain"
        by_name = Index("ByName", pk="SK", sk="nameSK")  # which no lock has

    class Someone(Entity):
        key = Keys(NamePK, Kind)
        unique_name = Unique(NamePK)
        name: str

    class Someones(Design):
        table = Plain
        entities = (Someone,)

    (lock,) = Someones.catalog.schema_for(Someone).locks.values()
    assert (lock.sort, lock.was) == ("UNIQUE", None)


class Kind(SortKey, template="KIND"):
    pass


class HashSK(SortKey, template="UNIQUE#{digits}"):
    digits: str


def test_item_of_an_entity_never_replaces_a_lock_with_a_hash(between: Between) -> None:
    class Digits(Entity):
        key = Keys(NamePK, HashSK)
        name: str
        digits: str

    class Both(Design):
        table = PeopleTable
        entities = (Person, Digits)

    db = on_client(Both, between)
    db.create(Person(person_id="1", name="ada"))
    (sort,) = sorts(db)
    with pytest.raises(AlreadyExistsError):
        db.create(Digits(name="ada", digits=sort.split("#")[1]))
    assert db.catalog.schema_for(Digits) in db.catalog.overlapping


def test_value_that_is_longer_than_a_sort_key_may_be_has_a_lock(between: Between) -> None:
    class BySort(Table):
        name = "bySort"
        inverse = Index("Inverse", pk="SK", projection="KEYS_ONLY")

    class LongPeople(Design):
        table = BySort
        entities = (Person,)

    db = on_client(LongPeople, between)
    name = "n" * 1_900
    db.create(Person(person_id="1", name=name))
    with pytest.raises(DuplicateError):
        db.create(Person(person_id="2", name=name))
    assert [len(sort) for sort in sorts(db)] == [23]


def test_sort_key_that_is_given_stays_and_may_have_a_hash() -> None:
    class Given(Entity):
        key = Keys(NamePK, Kind)
        plain = Unique(NamePK, sort="UNIQUE")
        own = Unique(NamePK, sort="LOCK#{hash}", was="LOCK")
        name: str

    class Givens(Design):
        table = PeopleTable
        entities = (Given,)

    locks = Givens.catalog.schema_for(Given).locks
    assert (locks["plain"].sort, locks["plain"].was) == ("UNIQUE", None)
    assert (locks["own"].sort, locks["own"].was) == ("LOCK#{hash}", "LOCK")
    with pytest.raises(DeclarationError, match="has an empty sort key"):
        Unique(NamePK, sort="")


# --- a table with old locks ---------------------------------------------------------------------------------


def test_value_of_an_old_lock_is_refused(db: People) -> None:
    with pytest.raises(DuplicateError, match="name 'ada' is taken by PERSON#1 / PROFILE"):
        db.create(Person(person_id="2", name="ada"))
    db.create(Person(person_id="2", name="bob"))
    with pytest.raises(DuplicateError):
        db.update(db.person("2"), name="ada")
    assert locks(db) == {
        ("NAME#ada", "UNIQUE", "PERSON#1"),
        ("NAME#bob", "UNIQUE", "PERSON#2"),
    }
    assert db.verify().is_clean


def test_older_version_sees_what_a_newer_one_has_taken(db: People, old: OldPeople) -> None:
    db.create(Person(person_id="2", name="bob"))
    with pytest.raises(DuplicateError):
        old.create(OldPerson(person_id="3", name="bob"))
    assert named(old, "bob") == "2"


def test_value_of_an_old_lock_is_given_back(db: People) -> None:
    db.update(db.person("1"), name="eve")
    assert {text for text, _, _ in locks(db)} == {"NAME#eve"}
    db.create(Person(person_id="2", name="ada"))
    db.delete(db.person("1"))
    assert {text for text, _, _ in locks(db)} == {"NAME#ada"}


def test_value_that_stays_asks_for_nothing(db: People, between: Between) -> None:
    person = db.person("1").one()
    between.calls.clear()
    db.update(person, bio="hello")
    assert between.operations() == ["UpdateItem"]


def test_item_is_found_by_an_old_lock(db: People) -> None:
    assert named(db, "ada") == "1"
    assert named(db, "nobody") is None
    db.update(db.person("1"), name="eve")
    assert (named(db, "ada"), named(db, "eve")) == (None, "1")


def test_item_is_found_though_its_lock_moves_between_two_reads(db: People, between: Between) -> None:
    (lock,) = [item for item in items_of(db) if item["PK"] == {"S": "NAME#ada"}]
    reads = 0

    def move(call: Call) -> None:
        nonlocal reads
        reads += call.operation == "GetItem" and call.params["Key"]["PK"] == {"S": "NAME#ada"}
        if reads == 2:
            between.before = lambda call: None
            assert db.session.run(move_lock(db.session, db.session.catalog.key_in(lock)))

    between.before = move
    assert named(db, "ada") == "1"
    assert lock["SK"] == {"S": "UNIQUE"}
    assert "UNIQUE" not in sorts(db)


def test_item_is_found_by_its_old_lock_though_somebody_died_before_taking_the_value(
    db: People, between: Between, clock: ManualClock
) -> None:
    (lock,) = [item for item in items_of(db) if item["PK"] == {"S": "NAME#ada"}]
    db.create(Person(person_id="2", name="bob"))
    (own,) = [each for each in items_of(db) if each["PK"] == {"S": "NAME#bob"} and "#" in each["SK"]["S"]]
    stray = {**own, "PK": {"S": "NAME#ada"}, "SK": {"S": _own_sort(db, "ada")}}
    between.call("PutItem", {"TableName": "people", "Item": stray})
    assert named(db, "ada") == "1"
    clock.advance(GRACE_S + 1)
    with pytest.raises(DuplicateError, match="PERSON#1"):
        db.create(Person(person_id="3", name="ada"))
    assert lock in items_of(db)


def _own_sort(db: People, name: str) -> str:
    sort: str = db.named(name).request()["Key"]["SK"]["S"]
    return sort


def test_lock_goes_with_the_expiry_of_its_owner_under_both_keys(db: People, clock: ManualClock) -> None:
    soon = datetime.fromtimestamp(clock.now_us() // 1_000_000, UTC) + timedelta(seconds=100)
    db.update(db.person("1"), ttl=soon)
    assert {item["ttl"]["N"] for item in items_of(db)} == {str(int(soon.timestamp()))}
    with pytest.raises(DuplicateError):
        db.create(Person(person_id="2", name="ada"))
    clock.advance(101)
    db.create(Person(person_id="2", name="ada"))
    assert named(db, "ada") == "2"


def test_old_lock_whose_owner_is_gone_is_taken_over_after_the_grace(
    db: People, between: Between, clock: ManualClock
) -> None:
    owner = {"PK": {"S": "PERSON#1"}, "SK": {"S": "PROFILE"}}
    between.call("DeleteItem", {"TableName": "people", "Key": owner})
    with pytest.raises(DuplicateError):
        db.create(Person(person_id="2", name="ada"))
    clock.advance(GRACE_S + 1)
    db.create(Person(person_id="2", name="ada"))
    assert named(db, "ada") == "2"
    assert db.verify().is_clean


@pytest.mark.parametrize("settled", [False, True], ids=["careful", "settled"])
def test_loaded_items_have_locks_under_both_keys(db: People, old: OldPeople, *, settled: bool) -> None:
    loaded = db.load([Person(person_id="2", name="bob")], settled=settled)
    assert loaded.items == 3
    with pytest.raises(DuplicateError):
        old.create(OldPerson(person_id="3", name="bob"))
    with pytest.raises(DuplicateError):
        db.create(Person(person_id="3", name="bob"))


@pytest.mark.parametrize("index", ["missing", "being filled", "forbidden"])
def test_old_locks_count_while_the_index_cannot_be_read(db: People, between: Between, index: str) -> None:
    def refuse(call: Call) -> None:
        if call.operation == "Query":
            raise ValidationError(f"the index is {index}")

    between.before = refuse
    with pytest.raises(DuplicateError):
        db.create(Person(person_id="2", name="ada"))
    assert named(db, "ada") == "1"


def test_first_old_lock_is_seen_though_the_table_had_none_before(
    between: Between, clock: ManualClock
) -> None:
    db, old = on_client(People, between), on_client(OldPeople, between, makes_table=False)
    db.create(Person(person_id="1", name="ada"))
    old.create(OldPerson(person_id="2", name="bob"))
    clock.advance(KNOWN_S)
    with pytest.raises(DuplicateError, match="PERSON#2"):
        db.create(Person(person_id="3", name="bob"))
    db.create(Person(person_id="3", name="eve"))
    with pytest.raises(DuplicateError):
        old.create(OldPerson(person_id="4", name="eve"))


def test_old_locks_count_while_another_engine_fills_the_index_and_shows_it_empty(
    old: OldPeople, between: Between
) -> None:
    def being_filled(operation: str, params: dict[str, Any], ask: Ask) -> Answer:
        answer = ask(operation, params)
        if operation == "DescribeTable":
            (index,) = answer["Table"]["GlobalSecondaryIndexes"]
            index["IndexStatus"] = "CREATING"
        return {**answer, "Items": [], "Count": 0} if params.get("IndexName") == "Inverse" else answer

    db = on_client(People, Faulty(between, being_filled), makes_table=False)
    with pytest.raises(DuplicateError, match="PERSON#1"):
        db.create(Person(person_id="2", name="ada"))


class HomePK(Key, template="HOME#{home}#PERSON#{person_id}"):
    home: str
    person_id: str


class HomePerson(Entity, name="Person"):
    key = Keys(HomePK, ProfileSK, was=(PersonPK, ProfileSK))
    unique_name = Unique(NamePK)

    person_id: str
    home: str = "here"
    name: str | None = None
    bio: str | None = None


class HomePeople(Design):
    table = PeopleTable
    entities = (HomePerson,)


def test_old_lock_goes_with_an_item_that_moves_to_another_key(old: OldPeople, between: Between) -> None:
    db = on_client(HomePeople, between, makes_table=False)
    ada = HomePerson.key.get(HomePK(home="here", person_id="1"), ProfileSK())
    db.update(ada, bio="moved")
    assert locks(db) == {("NAME#ada", "UNIQUE", "HOME#here#PERSON#1")}
    assert db.verify().is_clean
    with pytest.raises(DuplicateError):
        db.create(HomePerson(person_id="2", name="ada"))


# --- moving them ----------------------------------------------------------------------------------------------


def test_verify_counts_old_locks_apart_and_moves_them_when_nobody_looks_there(
    db: People, clock: ManualClock
) -> None:
    db.create(Person(person_id="2", name="bob"))
    for repair in (False, True, False):  # an older program may still be running
        report = db.verify(repair=repair)
        assert (report.is_clean, report.under_old_keys) == (True, 2)
    db.session.run(mark_moved(db.session, db.catalog.old_locks))
    clock.advance(KNOWN_S)
    assert db.verify(repair=True).is_clean
    after = db.verify()
    assert (after.is_clean, after.under_old_keys) == (True, 0)
    assert "UNIQUE" not in sorts(db)
    assert (named(db, "ada"), named(db, "bob")) == ("1", "2")
    with pytest.raises(DuplicateError):
        db.create(Person(person_id="3", name="ada"))


def test_verify_names_a_value_that_two_items_have_by_two_locks(db: People, between: Between) -> None:
    table = {"TableName": "people"}
    (item,) = [each for each in items_of(db) if each["PK"] == {"S": "PERSON#1"}]
    between.call("PutItem", {**table, "Item": {**item, "PK": {"S": "PERSON#2"}, "personId": {"S": "2"}}})
    assert [
        (each.expected["PK"]["S"], each.is_repairable) for each in db.verify(repair=True).differences
    ] == [("PERSON#2", False)]
    assert named(db, "ada") == "1"


def test_old_locks_are_looked_for_no_more_once_the_table_says_that_they_have_moved(
    db: People, between: Between, clock: ManualClock
) -> None:
    db.create(Person(person_id="2", name="bob"))
    other = on_client(People, between, makes_table=False)
    other.session.run(mark_moved(other.session, other.catalog.old_locks))
    clock.advance(KNOWN_S)
    assert db.verify(repair=True).is_clean
    db.create(Person(person_id="3", name="eve"))
    assert "UNIQUE" not in sorts(db)
    assert db.verify().is_clean


def test_lock_that_is_only_where_nobody_looks_any_more_differs_and_is_put_right(
    db: People, between: Between
) -> None:
    db.session.run(mark_moved(db.session, db.catalog.old_locks))
    (found,) = db.verify().differences
    assert (found.expected["PK"]["S"], found.field, found.is_repairable) == ("PERSON#1", "name", True)
    assert db.verify(repair=True).is_clean
    after = db.verify()
    assert (after.differences, after.under_old_keys) == ((), 0)
    with pytest.raises(DuplicateError, match="PERSON#1"):
        db.create(Person(person_id="2", name="ada"))


# --- several at once ------------------------------------------------------------------------------------------


def at_once(count: int, work: Callable[[int], object]) -> None:
    """Run work in threads that begin together; raise what any of them raises."""
    together = threading.Barrier(count)

    def begin(number: int) -> None:
        together.wait()
        work(number)

    with ThreadPoolExecutor(count) as pool:
        list(pool.map(begin, range(count)))


@pytest.mark.parametrize(
    "kind", [partial(EmbeddedClient, owns=False), LimitedClient], ids=["transactions", "no-transactions"]
)
def test_one_of_many_gets_a_value_though_half_of_them_are_of_the_version_before(kind: Any) -> None:
    with Database.open(":memory:") as database:
        first = on_client(OldPeople, kind(database))
        first.create(OldPerson(person_id="first", name="first"))
        won: dict[str, list[int]] = {}

        def work(number: int) -> None:
            version, person = ((People, Person), (OldPeople, OldPerson))[number % 2]
            db: Any = on_client(version, kind(database, sleep=lambda seconds: None), makes_table=False)
            for name in (f"n{each}" for each in range(6)):
                try:
                    db.create(person(person_id=f"{name}-{number}", name=name))
                except DuplicateError:
                    continue
                won.setdefault(name, []).append(number)

        at_once(THREADS, work)
        assert {name: len(winners) for name, winners in won.items()} == {f"n{each}": 1 for each in range(6)}
        assert on_client(People, kind(database), makes_table=False).verify().is_clean


NAMES = st.sampled_from([None, "x", "y"])
ANY_WRITE = st.tuples(
    st.sampled_from(["old", "new", "other"]),
    st.sampled_from(["create", "update", "delete"]),
    st.sampled_from(["1", "2", "3"]),
    NAMES,
)


@pytest.mark.parametrize("target", ["embedded", "no-transactions"])
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(before=st.lists(ANY_WRITE, max_size=8), after=st.lists(ANY_WRITE, max_size=8))
def test_no_value_is_taken_twice_by_any_versions_before_and_after_the_move(
    target: str, before: list[Any], after: list[Any]
) -> None:
    clock = ManualClock()
    with opened_anyhow(target, clock=clock, sleep=clock.advance) as client:
        old: Any = on_client(OldPeople, client)
        old.create(OldPerson(person_id="0", name="z"))
        versions = {"old": old, "new": on_client(People, client), "other": on_client(People, client)}
        people: dict[str, str | None] = {"0": "z"}
        for version, *write in before:
            people = _written(versions[version], clock, people, *write)
            _check(versions["new"], people)
        versions["new"].verify(repair=True)
        for version, *write in after:
            people = _written(versions["other" if version == "old" else version], clock, people, *write)
            _check(versions["new"], people)


def _written(
    db: Any, clock: ManualClock, people: dict[str, str | None], what: str, person_id: str, name: str | None
) -> dict[str, str | None]:
    """Write, and compare with what should come of it; return who is there afterwards."""
    wanted = {each: has for each, has in people.items() if each != person_id}
    is_taken = name is not None and what != "delete" and name in wanted.values()
    try:
        try:
            _write(db, what, person_id, name)
        except DuplicateError:
            # The version before gives back only the locks that it knows: others last for the grace.
            clock.advance(GRACE_S + 1)
            _write(db, what, person_id, name)
    except DuplicateError:
        assert is_taken
        return people
    except (AlreadyExistsError, NotFoundError):
        assert (person_id in people) == (what == "create")
        return people
    assert not is_taken
    return wanted if what == "delete" else {**wanted, person_id: name}


def _write(db: Any, what: str, person_id: str, name: str | None) -> None:
    person = OldPerson if isinstance(db, OldPeople) else Person
    match what:
        case "create":
            db.create(person(person_id=person_id, name=name))
        case "update":
            db.update(db.person(person_id), name=name)
        case _:
            db.delete(db.person(person_id))


def _check(db: Any, people: dict[str, str | None]) -> None:
    found = {
        item["personId"]["S"]: item.get("name", {}).get("S") for item in items_of(db) if "personId" in item
    }
    assert found == people
    assert [each for each in db.verify().differences if each.entity != "$unique"] == []
    assert {name: named(db, name) for name in ("x", "y", "z")} == {
        name: next((each for each, has in people.items() if has == name), None) for name in ("x", "y", "z")
    }
