"""Every kind of declaration, as a checker must accept it."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal, NewType, assert_type

from pydantic import BaseModel

from singletable.design import (
    BucketOf,
    Collect,
    Collection,
    Compressed,
    CountOf,
    CreatedAt,
    Design,
    Digits,
    Entity,
    Eq,
    Exists,
    Get,
    Index,
    InitialOf,
    Key,
    Keys,
    Normalize,
    Pad,
    Query,
    ShardOf,
    SortKey,
    Stored,
    Table,
    Ttl,
    Unique,
    UpdatedAt,
    Version,
    auto,
    collect,
    expires,
    pattern,
    upcast,
)

TeamId = NewType("TeamId", str)


def slug(text: str) -> str:
    return text.strip().lower().replace(" ", "-")


class TeamTable(Table):
    name = "teams-{stage}"
    scores = Index("Scores", pk="league", sk=("score", "playedAt"))
    by_league = Index("ByLeague", pk="GSI1PK", sk="GSI1SK", projection=("name",))


class NoSortTable(Table):
    name = "settings"
    pk = "id"
    sk = None


class TeamPK(Key, template="TEAM#{team_id}"):
    team_id: TeamId


class NamePK(Key, template="NAME#{name}"):
    name: Annotated[str, Normalize(slug)]


class MonthPK(Key, template="LEAGUE#{league}#{initial}#{day}#{month}#{shard:02}"):
    league: str
    initial: Annotated[str, Normalize(slug), InitialOf("name", letters=2)]
    day: Annotated[str, BucketOf("played_at", "never")]
    month: Annotated[str, BucketOf("played_at", "month")]
    shard: Annotated[int, ShardOf(12, by="team_id")]


class InfoSK(SortKey, template="INFO"):
    pass


class ScoreSK(SortKey, template="SCORE#{score}"):
    score: Annotated[int, Pad(6, offset=1000)]


class LeagueKey(Key):
    league: str


class ScoreKey(SortKey):
    score: int
    played_at: datetime


class Address(BaseModel):
    street: str
    zip_code: Annotated[str, Stored("zip")] = ""


class Team(Entity, name="TEAM", owns=("Player",), schema_version=2):
    key = Keys(TeamPK, InfoSK)
    by_score = TeamTable.scores.keys(LeagueKey, ScoreKey)
    by_month = TeamTable.by_league.keys(
        MonthPK, ScoreSK, when=Eq("active", True) & Exists("league"), fetch=True
    )
    names = Unique(NamePK)

    team_id: TeamId
    name: str
    league: str
    score: int = 0
    rating: Annotated[float, Digits(1, rounds=True)] = 0.0
    fee: Annotated[Decimal, Digits(2)] | None = None
    active: bool = True
    address: Address | None = None
    report: Annotated[dict[str, Any], Compressed()] = {}
    players: Annotated[int, CountOf("Player")] = 0
    played_at: datetime
    created_at: CreatedAt = auto()
    updated_at: UpdatedAt = auto()
    expires_at: Ttl = expires(days=90)
    version: Version = 0

    @upcast(1)
    @staticmethod
    def _first_form(values: dict[str, Any]) -> dict[str, Any]:
        return {**values, "league": "amateur"}


class PlayerSK(SortKey, template="PLAYER#{number:02}"):
    number: int


class Player(Entity):
    key = Keys(TeamPK, PlayerSK)

    team_id: TeamId
    number: int
    position: Literal["goal", "field"] = "field"


class SettingPK(Key, template="{setting}"):
    setting: str


class Setting(Entity):
    key = Keys(SettingPK)

    setting: str
    value: str


class Squad(Collection):
    team: Team
    players: list[Player]


class Teams(Design):
    table = TeamTable
    entities = (Team, Player)
    casing = "camel"
    discriminator = "kind"

    @pattern("1 Get a team", consistent=True, rps=10)
    def team(self, team_id: TeamId) -> Get[Team]:
        return Team.key.get(TeamPK(team_id=team_id), InfoSK())

    @pattern("2 Teams of a league from a score on", cached_s=60)
    def best(self, league: str, score: int) -> Query[Team]:
        return Team.by_score.query(LeagueKey(league=league), ge=ScoreKey.prefix(score=score))

    @pattern("3 A team with its players")
    def squad(self, team_id: TeamId) -> Collect[Squad]:
        return collect(Squad, TeamPK(team_id=team_id))


class Settings(Design):
    table = NoSortTable
    entities = (Setting,)

    @pattern("1 Get a setting")
    def find(self, setting: str) -> Get[Setting]:
        return Setting.key.get(SettingPK(setting=setting))


team = Team(team_id=TeamId("t1"), name="FC", league="first", played_at=datetime.now(UTC))
assert_type(team.version, int)
assert_type(team.created_at, datetime)
assert_type(team.expires_at, datetime | None)
assert_type(Teams.open(":memory:", stage="test").squad(TeamId("t1")).one().players, list[Player])
assert_type(Settings.open(":memory:").find("colour").maybe(), Setting | None)
assert_type(Setting.key.batch_get([SettingPK(setting="colour")]).all(), list[Setting])
