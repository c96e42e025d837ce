"""Clubs: members with everything that is kept of an item, and little else."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, Field, model_validator

from singletable.design import (
    Computed,
    CopyOf,
    CountOf,
    CreatedAt,
    Derived,
    Design,
    Entity,
    Eq,
    Get,
    Index,
    Key,
    Keys,
    Query,
    SortKey,
    SumOf,
    Table,
    Ttl,
    Unique,
    UpdatedAt,
    Version,
    auto,
    expires,
    pattern,
)


class ClubTable(Table):
    name = "clubs"
    gsi1 = Index("GSI1", pk="GSI1PK", sk="GSI1SK")


class ClubPK(Key, template="CLUB#{club_id}"):
    club_id: str


class ClubSK(SortKey, template="CLUB"):
    pass


class MemberSK(SortKey, template="MEMBER#{member_id}"):
    member_id: str


class CityPK(Key, template="CITY#{city}"):
    city: str


class AgeSK(SortKey, template="{age:03}#{member_id}"):
    age: int
    member_id: str


class EmailPK(Key, template="EMAIL#{email}"):
    email: str


class BadgeSK(SortKey, template="BADGE#{member_id}#{badge}"):
    member_id: str
    badge: str


class Club(Entity):
    key = Keys(ClubPK, ClubSK)

    club_id: str
    club_name: str
    motto: str = ""
    members: Annotated[int, CountOf("Member")] = 0
    ages: Annotated[int, SumOf("Member", "age")] = 0


class Member(Entity):
    key = Keys(ClubPK, MemberSK)
    of_city = ClubTable.gsi1.keys(CityPK, AgeSK, when=Eq("is_hidden", False))
    unique_email = Unique(EmailPK)

    club_id: str
    member_id: str
    age: Annotated[int, Field(ge=0, le=150)]
    city: str
    email: Annotated[str, Field(max_length=20)]
    is_hidden: bool = False
    badges: set[str] = Field(default_factory=set)
    label: Annotated[str, Computed(lambda age, city: f"{city} {age}", "age", "city")] = ""
    club_name: Annotated[str, CopyOf("Club", "club_name", by="transaction")] = ""
    version: Version = 0
    ttl: Ttl = expires(days=30, when=Eq("is_hidden", True))


def badges(member: Member) -> Iterator[Badge]:
    """Make an item for each badge."""
    for badge in sorted(member.badges):
        yield Badge(club_id=member.club_id, member_id=member.member_id, badge=badge, city=member.city)


class Badge(Entity):
    key = Keys(ClubPK, BadgeSK)
    made = Derived(Member, badges)

    club_id: str
    member_id: str
    badge: str
    city: str


class NotePK(Key, template="NOTE#{note_id}"):
    note_id: str


class Remark(BaseModel):
    at: datetime


class Note(Entity):
    """Nothing follows from it."""

    key = Keys(NotePK, ClubSK)

    note_id: str
    text: str
    mood: str = ""
    likes: int = 0
    remarks: list[Remark] = Field(default_factory=list)
    readers: frozenset[str] | None = None
    created_at: CreatedAt = auto()
    updated_at: UpdatedAt = auto()


class SpanSK(SortKey, template="SPAN"):
    pass


class Span(Entity):
    """Valid as a whole, or not."""

    key = Keys(ClubPK, SpanSK)

    club_id: str
    first: int
    last: int

    @model_validator(mode="after")
    def _in_order(self) -> Span:
        if self.first > self.last:
            raise ValueError("it ends before it begins")
        return self


class Clubs(Design):
    table = ClubTable
    entities = (Club, Member, Badge, Note, Span)

    @pattern("1 Members of a city, by age")
    def of_city(self, city: str) -> Query[Member]:
        return Member.of_city.query(CityPK(city=city))

    @pattern("2 Member by id", consistent=True)
    def member(self, club_id: str, member_id: str) -> Get[Member]:
        return Member.key.get(ClubPK(club_id=club_id), MemberSK(member_id=member_id))
