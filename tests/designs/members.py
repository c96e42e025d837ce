"""Members of teams, in two versions: the second keeps unique emails, counts, copies and badges of them."""

from __future__ import annotations

from typing import Annotated

from singletable.design import (
    AverageOf,
    CopyOf,
    CountOf,
    Derived,
    Design,
    Entity,
    Get,
    Key,
    Keys,
    Query,
    SortKey,
    Table,
    Unique,
    pattern,
)


class MemberTable(Table):
    name = "members"
    pitr_days = None


class TeamPK(Key, template="TEAM#{team}"):
    team: str


class TeamSK(SortKey, template="TEAM"):
    pass


class MemberSK(SortKey, template="MEMBER#{member}"):
    member: str


class EmailPK(Key, template="EMAIL#{email}"):
    email: str


class BadgePK(Key, template="BADGE#{badge}"):
    badge: str


class HolderSK(SortKey, template="HOLDER#{team}#{member}"):
    team: str
    member: str


class OldTeam(Entity, name="Team"):
    key = Keys(TeamPK, TeamSK)

    team: str
    title: str


class OldMember(Entity, name="Member"):
    key = Keys(TeamPK, MemberSK)

    team: str
    member: str
    email: str | None = None
    age: int = 30
    badges: set[str] = set()


class Team(Entity):
    key = Keys(TeamPK, TeamSK)

    team: str
    title: str
    members: Annotated[int, CountOf("Member")] = 0
    age: Annotated[float | None, AverageOf("Member", "age", decimals=1)] = None


class Member(Entity):
    key = Keys(TeamPK, MemberSK)
    unique_email = Unique(EmailPK)

    team: str
    member: str
    email: str | None = None
    age: int = 30
    badges: set[str] = set()
    title: Annotated[str | None, CopyOf(Team, "title", by="transaction")] = None


def badges_of(member: Member) -> list[Badge]:
    return [Badge(badge=badge, team=member.team, member=member.member) for badge in sorted(member.badges)]


class Badge(Entity):
    key = Keys(BadgePK, HolderSK)
    made = Derived(Member, badges_of, reads=("badges",))

    badge: str
    team: str
    member: str


class OldMembers(Design):
    table = MemberTable
    entities = (OldTeam, OldMember)


class Members(Design):
    table = MemberTable
    entities = (Team, Member, Badge)

    @pattern("1 Get a team")
    def team(self, team: str) -> Get[Team]:
        return Team.key.get(TeamPK(team=team), TeamSK())

    @pattern("2 Get a member")
    def member(self, team: str, member: str) -> Get[Member]:
        return Member.key.get(TeamPK(team=team), MemberSK(member=member))

    @pattern("3 Get who has a badge")
    def holders(self, badge: str) -> Query[Badge]:
        return Badge.key.query(BadgePK(badge=badge))
