"""Workshops and their bookings: a unique value, counters, copies and derived items, at once and by stream."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from singletable.design import (
    CopyOf,
    CountOf,
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
    Unique,
    Version,
    pattern,
)


class WorkshopTable(Table):
    name = "workshops"
    stream = "NEW_AND_OLD_IMAGES"
    by_guest = Index("ByGuest", pk="GSI1PK", sk="GSI1SK")


class WorkshopPK(Key, template="WORKSHOP#{workshop_id}"):
    workshop_id: str


class HeadSK(SortKey, template="HEAD"):
    pass


class BookingSK(SortKey, template="BOOKING#{booking_id}"):
    booking_id: str


class SlotSK(SortKey, template="SLOT#{hour}"):
    hour: int


class WordSK(SortKey, template="WORD#{word}"):
    word: str


class SlugPK(Key, template="SLUG#{slug}"):
    slug: str


class GuestPK(Key, template="GUEST#{guest}"):
    guest: str


class Workshop(Entity, owns=("Booking",)):
    key = Keys(WorkshopPK, HeadSK)
    unique_slug = Unique(SlugPK)

    workshop_id: str
    title: str
    slug: str
    price: int = 100
    hours: int = 2
    paid: Annotated[int, CountOf("Booking", when=Eq("is_paid", True))] = 0
    bookings: Annotated[int, CountOf("Booking")] = 0
    seats: Annotated[int, SumOf("Booking", "seats", by="stream")] = 0
    version: Version = 0


class Booking(Entity):
    key = Keys(WorkshopPK, BookingSK)
    by_guest = WorkshopTable.by_guest.keys(GuestPK, BookingSK)

    workshop_id: str
    booking_id: str
    guest: str
    seats: int = 1
    is_paid: bool = False
    note: str = ""
    title: Annotated[str | None, CopyOf(Workshop, "title", by="stream")] = None


def slots(workshop: Workshop) -> Iterator[Slot]:
    """Make an item for each hour of a workshop."""
    for hour in range(workshop.hours):
        yield Slot(workshop_id=workshop.workshop_id, hour=hour, price=workshop.price)


class Slot(Entity):
    key = Keys(WorkshopPK, SlotSK)
    made = Derived(Workshop, slots, reads=("hours", "price"))

    workshop_id: str
    hour: int
    price: int


def words(workshop: Workshop) -> Iterator[Word]:
    """Make an item for each word of a title."""
    for word in sorted(set(workshop.title.split())):
        yield Word(workshop_id=workshop.workshop_id, word=word)


class Word(Entity):
    key = Keys(WorkshopPK, WordSK)
    made = Derived(Workshop, words, by="stream", reads=("title",))

    workshop_id: str
    word: str


class Workshops(Design):
    table = WorkshopTable
    entities = (Workshop, Booking, Slot, Word)

    @pattern("1 A workshop", consistent=True)
    def workshop(self, workshop_id: str) -> Get[Workshop]:
        return Workshop.key.get(WorkshopPK(workshop_id=workshop_id), HeadSK())

    @pattern("2 The bookings of a guest")
    def booked_by(self, guest: str) -> Query[Booking]:
        return Booking.by_guest.query(GuestPK(guest=guest))


def workshops(count: int = 6) -> Iterator[Entity]:
    """Make up workshops, with up to three bookings each."""
    for number in range(count):
        name = f"w{number:03}"
        yield Workshop(workshop_id=name, title=f"Glass of {name}", slug=f"glass-{number}")
        for booking in range(number % 4):
            yield Booking(workshop_id=name, booking_id=f"b{booking}", guest=f"g{booking}", note="x" * 700)
