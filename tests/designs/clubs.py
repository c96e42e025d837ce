"""Clubs: what is owned, in every place that owned items can be in.

The tenant's partition holds the members of all its clubs; rounds are spread over shards; badges are found through
an index only.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, NewType

from singletable.design import (
    CreatedAt,
    Design,
    Entity,
    Index,
    Key,
    Keys,
    ShardOf,
    SortKey,
    Table,
    Ttl,
    Unique,
    Version,
    auto,
)

TenantId = NewType("TenantId", str)
ClubId = NewType("ClubId", str)
MemberId = NewType("MemberId", str)


class ClubTable(Table):
    name = "clubs"
    by_club = Index("byClub", pk="GSI1PK", sk="GSI1SK", projection="KEYS_ONLY")


class TenantPK(Key, template="TENANT#{tenant_id}"):
    tenant_id: TenantId


class ClubSK(SortKey, template="CLUB#{club_id}"):
    club_id: ClubId


class MemberSK(SortKey, template="MEMBER#{club_id}#{member_id}"):
    club_id: ClubId
    member_id: MemberId


class RoundPK(Key, template="ROUND#{club_id}#{shard}"):
    club_id: ClubId
    shard: Annotated[int, ShardOf(3, by="number")]


class RoundSK(SortKey, template="ROUND#{number}"):
    number: int


class BadgePK(Key, template="BADGE#{badge_id}"):
    badge_id: str


class BadgeSK(SortKey, template="BADGE"):
    pass


class ClubPK(Key, template="CLUB#{club_id}"):
    club_id: ClubId


class BadgeIndexSK(SortKey, template="BADGE#{badge_id}"):
    badge_id: str


class CodePK(Key, template="CODE#{code}"):
    code: str


class Club(Entity, owns=("Member", "Round", "Badge")):
    key = Keys(TenantPK, ClubSK)

    tenant_id: TenantId
    club_id: ClubId
    created_at: CreatedAt = auto()
    version: Version = 0


class Member(Entity):
    key = Keys(TenantPK, MemberSK)

    tenant_id: TenantId
    club_id: ClubId
    member_id: MemberId
    until: Ttl = None


class Round(Entity):
    key = Keys(RoundPK, RoundSK)

    club_id: ClubId
    number: int
    created_at: datetime


class Badge(Entity):
    key = Keys(BadgePK, BadgeSK)
    by_club = ClubTable.by_club.keys(ClubPK, BadgeIndexSK)
    one_of_a_code = Unique(CodePK)

    badge_id: str
    club_id: ClubId
    code: str


class Clubs(Design):
    table = ClubTable
    entities = (Club, Member, Round, Badge)
