"""Validators in updates: those that look at several fields see them, and nothing unreadable is stored."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated, Any
from uuid import UUID

import pytest
from pydantic import ConfigDict, Field, ValidationInfo, field_validator, model_validator

from singletable.clock import ManualClock
from singletable.design import (
    Add,
    Append,
    Compressed,
    Create,
    CreatedAt,
    Design,
    Entity,
    Get,
    Key,
    Keys,
    SortKey,
    Table,
    Update,
    auto,
    pattern,
)
from singletable.errors import InvalidItemError, InvalidWriteError
from support.opened_designs import opened_design
from support.targets import TARGETS


class Hall(Table):
    name = "hall"


class RoomPK(Key, template="ROOM#{room_id}"):
    room_id: str


class MetadataSK(SortKey, template="METADATA"):
    pass


class SeatsSK(SortKey, template="SEATS"):
    pass


class StockSK(SortKey, template="STOCK"):
    pass


class GateSK(SortKey, template="GATE"):
    pass


class Room(Entity):
    key = Keys(RoomPK, MetadataSK)

    room_id: str
    opens: int
    closes: int
    hours: int = 0
    note: str | None = "none yet"
    created_at: CreatedAt = auto()

    @model_validator(mode="after")
    def opens_first(self) -> Room:
        if self.opens > self.closes:
            raise ValueError("it closes before it opens")
        self.hours = self.closes - self.opens
        return self


class Seats(Entity):
    key = Keys(RoomPK, SeatsSK)

    room_id: str
    total: int
    taken: int = 0

    @field_validator("taken")
    @classmethod
    def at_most_all(cls, taken: int, info: ValidationInfo) -> int:
        if taken > info.data["total"]:
            raise ValueError("more than there are")
        return taken


class Stock(Entity):
    model_config = ConfigDict(strict=True)
    key = Keys(RoomPK, StockSK)

    room_id: str
    lamps: int = Field(default=0, ge=0)
    chairs: int = 0
    codes: set[str] = Field(default_factory=set)
    log: Annotated[list[str], Compressed()] = Field(default_factory=list)
    counted_at: datetime | None = None
    label: UUID | None = None


class Rooms(Design):
    table = Hall
    entities = (Room, Seats, Stock)

    @pattern("1 Room")
    def room(self, room_id: str) -> Get[Room]:
        return Room.key.get(RoomPK(room_id=room_id), MetadataSK())

    @pattern("2 Seats")
    def seats(self, room_id: str) -> Get[Seats]:
        return Seats.key.get(RoomPK(room_id=room_id), SeatsSK())

    @pattern("3 Stock")
    def stock(self, room_id: str) -> Get[Stock]:
        return Stock.key.get(RoomPK(room_id=room_id), StockSK())


@pytest.fixture(params=TARGETS)
def rooms(request: pytest.FixtureRequest, clock: ManualClock) -> Iterator[Rooms]:
    with opened_design(Rooms, request.param, clock) as opened:
        opened.transaction(
            Create(Room(room_id="1", opens=8, closes=20, note=None)),
            Create(Seats(room_id="1", total=10)),
            Create(Stock(room_id="1", lamps=2)),
        )
        yield opened


def test_model_validator_sees_the_fields_that_do_not_change(rooms: Rooms) -> None:
    rooms.update(rooms.room("1"), opens=15)
    rooms.update(rooms.room("1").one(), closes=21)
    room = rooms.room("1").one()
    assert (room.opens, room.closes) == (15, 21)


def test_what_a_model_validator_sets_is_stored_with_the_change(rooms: Rooms) -> None:
    assert rooms.update(rooms.room("1"), opens=9).entity.hours == 11
    assert rooms.room("1").one().hours == 11
    assert rooms.room("1").one().note is None


@pytest.mark.parametrize(
    "changes", [{"opens": 21}, {"closes": 2}, {"opens": 5, "closes": 4}, {"closes": "x"}]
)
def test_update_that_a_model_validator_refuses_is_not_stored(rooms: Rooms, changes: dict[str, Any]) -> None:
    for target in (rooms.room("1"), rooms.room("1").one()):
        with pytest.raises(InvalidWriteError, match=r"ST208: Room.* cannot be stored"):
            rooms.update(target, **changes)
        with pytest.raises(InvalidWriteError):
            rooms.transaction(Update(target, **changes))
    assert (rooms.room("1").one().opens, rooms.room("1").one().closes) == (8, 20)


def test_validator_of_a_field_sees_the_fields_before_it(rooms: Rooms) -> None:
    rooms.update(rooms.seats("1"), taken=Add(10))
    with pytest.raises(InvalidWriteError, match="more than there are"):
        rooms.update(rooms.seats("1"), taken=Add(1))
    with pytest.raises(InvalidWriteError, match="more than there are"):
        rooms.update(rooms.seats("1"), total=9)
    assert rooms.update(rooms.seats("1"), total=12, taken=11).entity.taken == 11


def test_sum_that_breaks_the_bounds_of_a_field_is_refused(rooms: Rooms) -> None:
    rooms.update(rooms.stock("1"), lamps=Add(-2))
    with pytest.raises(InvalidWriteError, match=r"Stock.lamps cannot be -1: .* greater than or equal to 0"):
        rooms.update(rooms.stock("1"), lamps=Add(-1))
    assert rooms.stock("1").one().lamps == 0


@pytest.mark.parametrize(
    "changes",
    [
        {"chairs": Add(1.5)},
        {"chairs": Add({"a"})},
        {"codes": Add({1})},
        {"codes": Add(1)},
        {"lamps": Add({1})},
    ],
)
def test_addition_of_another_kind_than_the_field_is_refused(rooms: Rooms, changes: dict[str, Any]) -> None:
    with pytest.raises(InvalidWriteError, match="ST208: Stock"):
        rooms.update(rooms.stock("1"), **changes)
    assert rooms.stock("1").one().chairs == 0


def test_compressed_list_is_appended_to(rooms: Rooms) -> None:
    rooms.update(rooms.stock("1"), log=Append(["lamp broken"]))
    rooms.update(rooms.stock("1"), log=Append(["lamp mended"]))
    assert rooms.stock("1").one().log == ["lamp broken", "lamp mended"]


def test_strict_entity_reads_what_it_has_stored(rooms: Rooms) -> None:
    counted_at = datetime(2025, 1, 20, tzinfo=UTC)
    rooms.update(rooms.stock("1"), counted_at=counted_at, label=UUID(int=7))
    stock = rooms.stock("1").one()
    assert (stock.counted_at, stock.label) == (counted_at, UUID(int=7))
    with pytest.raises(InvalidWriteError):
        rooms.update(stock, chairs="3")


# --- what is told -------------------------------------------------------------------------------------------


class Gate(Entity):
    key = Keys(RoomPK, GateSK)

    room_id: str
    code: Annotated[str, Field(pattern="^[A-Z]{2}-[0-9]{2}$")] = "AB-12"
    name: Annotated[str, Field(pattern="^[a-z]+$", description="lower case letters, as north")] = "north"
    hours: tuple[
        Annotated[str, Field(pattern="^[0-9]{2}h$", description="two digits and h, as 08h")], ...
    ] = ()


class Gates(Design):
    table = Hall
    entities = (Gate,)

    @pattern("1 Get a gate")
    def gate(self, room_id: str) -> Get[Gate]:
        return Gate.key.get(RoomPK(room_id=room_id), GateSK())


TOLD = {
    "an example": ({"code": "x"}, "it should have another form, as 'AB-12' has"),
    "words": ({"name": "North"}, "it should be lower case letters, as north"),
    "words of a member": ({"hours": ["08h", "9"]}, "it should be two digits and h, as 08h"),
}


@pytest.mark.parametrize(("changes", "sentence"), TOLD.values(), ids=TOLD.keys())
def test_pattern_is_told_in_words(changes: dict[str, Any], sentence: str) -> None:
    with Gates.open(":memory:") as db:
        db.create(Gate(room_id="r1"))
        with pytest.raises(InvalidWriteError, match=sentence) as refused:
            db.update(db.gate("r1"), **changes)
        assert "^[" not in str(refused.value)
        stored = Gates.stored_item(Gate.model_construct(**{**Gate(room_id="r2").model_dump(), **changes}))
        db.session.client.call("PutItem", {"TableName": "hall", "Item": stored})
        with pytest.raises(InvalidItemError, match=sentence) as invalid:
            db.gate("r2").one()
        assert "^[" not in str(invalid.value)
