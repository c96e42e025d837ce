"""Reels of film: large items over several pages, filters, batches, transactions, and an expiry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from singletable.design import (
    BatchGet,
    Design,
    Entity,
    Get,
    Key,
    Keys,
    Query,
    SortKey,
    Table,
    Ttl,
    expires,
    pattern,
)


class ReelTable(Table):
    name = "reels"


class FilmPK(Key, template="FILM#{film_id}"):
    film_id: str


class ReelSK(SortKey, template="REEL#{number:04}"):
    number: int


class PassPK(Key, template="PASS#{pass_id}"):
    pass_id: str


class PassSK(SortKey, template="PASS"):
    pass


class Reel(Entity):
    key = Keys(FilmPK, ReelSK)

    film_id: str
    number: int
    is_cut: bool = False
    content: str


class Pass(Entity):
    key = Keys(PassPK, PassSK)

    pass_id: str
    text: str = ""
    ttl: Ttl = expires(days=1)


class Reels(Design):
    table = ReelTable
    entities = (Reel, Pass)

    @pattern("1 The reels of a film", consistent=True)
    def reels(self, film_id: str) -> Query[Reel]:
        return Reel.key.query(FilmPK(film_id=film_id))

    @pattern("2 The reels that are cut")
    def cut(self, film_id: str) -> Query[Reel]:
        return Reel.key.query(FilmPK(film_id=film_id)).where(is_cut=True)

    @pattern("3 Some reels")
    def some(self, film_id: str, numbers: Sequence[int]) -> BatchGet[Reel]:
        pk = FilmPK(film_id=film_id)
        return BatchGet(Reel, [(pk, ReelSK(number=number)) for number in numbers])

    @pattern("4 A pass")
    def pass_of(self, pass_id: str) -> Get[Pass]:
        return Pass.key.get(PassPK(pass_id=pass_id), PassSK())


def film(film_id: str = "f1", *, count: int, size: int) -> Iterator[Reel]:
    """Make up the reels of a film; every third one is cut."""
    for number in range(count):
        yield Reel(film_id=film_id, number=number, is_cut=number % 3 == 0, content="x" * size)
