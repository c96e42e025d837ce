"""Letters on their way from one key to another, in the table and in an index that gets shards."""

from __future__ import annotations

from typing import Annotated

from designs.letters import BoxPK, DaySK, LetterSK, OldBoxPK, OldLetterSK, SealPK
from singletable.design import (
    Collect,
    Collection,
    Design,
    Entity,
    Get,
    Index,
    Key,
    Keys,
    Merged,
    Query,
    ShardOf,
    SortKey,
    Table,
    Unique,
    Version,
    collect,
    pattern,
    shards,
)


class LetterTable(Table):
    name = "letters"
    pitr_days = None
    by_day = Index("ByDay", pk="dayPK", sk="daySK")


class OldDayPK(Key, template="DAY#{day}"):
    day: str


class OldDaySK(SortKey, template="{number}"):
    number: int


class DayPK(Key, template="DAYS#{day}#{shard}"):
    day: str
    shard: Annotated[int, ShardOf(3, by="subject")]


class OldLetter(Entity, name="Letter"):
    key = Keys(OldBoxPK, OldLetterSK)
    days = LetterTable.by_day.keys(OldDayPK, OldDaySK)
    seals = Unique(SealPK)

    tenant: str
    box: str
    number: int
    day: str
    subject: str
    seal: str | None = None
    version: Version = 0


class Letter(Entity):
    key = Keys(BoxPK, LetterSK, was=(OldBoxPK, OldLetterSK))
    days = LetterTable.by_day.keys(DayPK, DaySK, was=(OldDayPK, OldDaySK))
    seals = Unique(SealPK)

    tenant: str
    box: str
    number: int
    day: str
    subject: str
    seal: str | None = None
    version: Version = 0


class Box(Collection):
    letters: list[Letter]


class OldLetters(Design):
    table = LetterTable
    entities = (OldLetter,)


class Letters(Design):
    table = LetterTable
    entities = (Letter,)

    @pattern("1 Get a letter")
    def letter(self, tenant: str, box: str, day: str, number: int) -> Get[Letter]:
        return Letter.key.get(BoxPK(tenant=tenant, box=box), LetterSK(day=day, number=number))

    @pattern("2 Get the letters of a box")
    def letters(self, tenant: str, box: str) -> Query[Letter]:
        return Letter.key.query(BoxPK(tenant=tenant, box=box))

    @pattern("3 Get the letters of a box since a day")
    def since(self, tenant: str, box: str, day: str) -> Query[Letter]:
        return Letter.key.query(BoxPK(tenant=tenant, box=box), ge=LetterSK.prefix(day=day))

    @pattern("4 Get the letters of a day")
    def of_day(self, day: str) -> Merged[Letter]:
        return Merged([Letter.days.query(DayPK(day=day, shard=shard)) for shard in shards(DayPK)])

    @pattern("5 Get a box")
    def whole(self, tenant: str, box: str) -> Collect[Box]:
        return collect(Box, BoxPK(tenant=tenant, box=box))
