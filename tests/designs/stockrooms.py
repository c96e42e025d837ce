"""Parts in stock: indexes over several attributes, of keys only, and with a few attributes; keys that move."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.design import Design, Entity, Eq, Get, Index, Key, Keys, Query, SortKey, Table, pattern


class StockTable(Table):
    name = "stock"
    by_shelf = Index("ByShelf", pk=("hall", "shelf"), sk=("grade",))
    by_state = Index("ByState", pk="GSI1PK", sk="GSI1SK", projection="KEYS_ONLY")
    by_maker = Index("ByMaker", pk="GSI2PK", projection=("label", "entityType"))


class PartPK(Key, template="PART#{part_id}"):
    part_id: str


class PartSK(SortKey, template="PART"):
    pass


class ShelfPK(Key):
    hall: str
    shelf: str


class GradeSK(SortKey):
    grade: int


class StatePK(Key, template="STATE#{state}"):
    state: str


class PlacedSK(SortKey, template="{part_id}"):
    part_id: str


class MakerPK(Key, template="MAKER#{maker}"):
    maker: str


class Part(Entity):
    key = Keys(PartPK, PartSK)
    by_shelf = StockTable.by_shelf.keys(ShelfPK, GradeSK)
    by_state = StockTable.by_state.keys(StatePK, PlacedSK, when=Eq("is_open", True), fetch=True)
    by_maker = StockTable.by_maker.keys(MakerPK)

    part_id: str
    hall: str
    shelf: str
    grade: int
    state: str
    is_open: bool
    maker: str
    label: str
    manual: str


class Stockrooms(Design):
    table = StockTable
    entities = (Part,)

    @pattern("1 A part")
    def part(self, part_id: str) -> Get[Part]:
        return Part.key.get(PartPK(part_id=part_id), PartSK())

    @pattern("2 The parts of a shelf")
    def on_shelf(self, hall: str, shelf: str) -> Query[Part]:
        return Part.by_shelf.query(ShelfPK(hall=hall, shelf=shelf))

    @pattern("3 Open parts in a state")
    def in_state(self, state: str) -> Query[Part]:
        return Part.by_state.query(StatePK(state=state))


def parts(count: int = 8) -> Iterator[Part]:
    """Make up parts with manuals of 3,000 bytes: they cost three units in what holds all of them, else one."""
    for number in range(count):
        yield Part(
            part_id=f"p{number:03}",
            hall="north",
            shelf=f"s{number % 2}",
            grade=number,
            state="new",
            is_open=number % 4 != 3,
            maker=f"m{number % 3}",
            label=f"Part {number}",
            manual="x" * 2_700,
        )
