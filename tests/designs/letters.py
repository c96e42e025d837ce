"""Letters in boxes, in two versions: in the second, boxes belong to tenants, so every letter has another key."""

from __future__ import annotations

from singletable.design import Design, Entity, Get, Index, Key, Keys, Query, SortKey, Table, Unique, pattern


class LetterTable(Table):
    name = "letters"
    pitr_days = None
    by_day = Index("ByDay", pk="dayPK", sk="daySK")


class OldBoxPK(Key, template="BOX#{box}"):
    box: str


class OldLetterSK(SortKey, template="LETTER#{number}"):
    number: int


class BoxPK(Key, template="TENANT#{tenant}#BOX#{box}"):
    tenant: str
    box: str


class LetterSK(SortKey, template="LETTER#{day}#{number:04}"):
    day: str
    number: int


class DayPK(Key, template="DAY#{day}"):
    day: str


class DaySK(SortKey, template="{tenant}#{number:04}"):
    tenant: str
    number: int


class SealPK(Key, template="SEAL#{seal}"):
    seal: str


class OldLetter(Entity, name="Letter"):
    key = Keys(OldBoxPK, OldLetterSK)
    seals = Unique(SealPK)

    tenant: str
    box: str
    number: int
    day: str
    subject: str
    seal: str | None = None


class Letter(Entity):
    key = Keys(BoxPK, LetterSK)
    days = LetterTable.by_day.keys(DayPK, DaySK)
    seals = Unique(SealPK)

    tenant: str
    box: str
    number: int
    day: str
    subject: str
    seal: str | None = None


class OldLetters(Design):
    table = LetterTable
    entities = (OldLetter,)

    @pattern("1 Get a letter")
    def letter(self, box: str, number: int) -> Get[OldLetter]:
        return OldLetter.key.get(OldBoxPK(box=box), OldLetterSK(number=number))


class Letters(Design):
    table = LetterTable
    entities = (Letter,)

    @pattern("1 Get a letter")
    def letter(self, tenant: str, box: str, day: str, number: int) -> Get[Letter]:
        return Letter.key.get(BoxPK(tenant=tenant, box=box), LetterSK(day=day, number=number))

    @pattern("2 Get the letters of a box")
    def letters(self, tenant: str, box: str) -> Query[Letter]:
        return Letter.key.query(BoxPK(tenant=tenant, box=box))

    @pattern("3 Get the letters of a day")
    def of_day(self, day: str) -> Query[Letter]:
        return Letter.days.query(DayPK(day=day))
