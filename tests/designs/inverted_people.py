"""People in a table with an inverted index: as all their locks had one sort key, and as each has its own."""

from __future__ import annotations

from singletable.design import (
    Design,
    Entity,
    Get,
    Index,
    Key,
    Keys,
    Lookup,
    SortKey,
    Table,
    Ttl,
    Unique,
    pattern,
)


class PeopleTable(Table):
    name = "people"
    inverse = Index("Inverse", pk="SK", sk="PK", projection="KEYS_ONLY")


class PersonPK(Key, template="PERSON#{person_id}"):
    person_id: str


class ProfileSK(SortKey, template="PROFILE"):
    pass


class NamePK(Key, template="NAME#{name}"):
    name: str


class EmailPK(Key, template="EMAIL#{email}"):
    email: str


class OldPerson(Entity, name="Person"):
    """With the locks that there were before: all have one sort key."""

    key = Keys(PersonPK, ProfileSK)
    unique_name = Unique(NamePK, sort="UNIQUE")
    unique_email = Unique(EmailPK, sort="UNIQUE")

    person_id: str
    name: str | None = None
    email: str | None = None
    bio: str | None = None
    ttl: Ttl = None


class Person(Entity):
    key = Keys(PersonPK, ProfileSK)
    unique_name = Unique(NamePK)
    unique_email = Unique(EmailPK)

    person_id: str
    name: str | None = None
    email: str | None = None
    bio: str | None = None
    ttl: Ttl = None


class OldPeople(Design):
    table = PeopleTable
    entities = (OldPerson,)

    @pattern("1 Get person", consistent=True)
    def person(self, person_id: str) -> Get[OldPerson]:
        return OldPerson.key.get(PersonPK(person_id=person_id), ProfileSK())

    @pattern("2 Get person by name")
    def named(self, name: str) -> Lookup[OldPerson]:
        return OldPerson.unique_name.get(NamePK(name=name))


class People(Design):
    table = PeopleTable
    entities = (Person,)

    @pattern("1 Get person", consistent=True)
    def person(self, person_id: str) -> Get[Person]:
        return Person.key.get(PersonPK(person_id=person_id), ProfileSK())

    @pattern("2 Get person by name")
    def named(self, name: str) -> Lookup[Person]:
        return Person.unique_name.get(NamePK(name=name))
