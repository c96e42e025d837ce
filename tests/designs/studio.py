"""A studio, for APIs: paintings with a version, sketches without, rooms for everybody, counted comments."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from singletable.design import (
    BatchGet,
    Collect,
    Collection,
    CountOf,
    Create,
    CreatedAt,
    Delete,
    Design,
    Digits,
    Entity,
    Eq,
    Get,
    Index,
    Key,
    Keys,
    Put,
    Query,
    SortKey,
    Table,
    Ttl,
    Unique,
    UpdatedAt,
    Version,
    auto,
    collect,
    pattern,
)


class StudioTable(Table):
    name = "studio"
    stream = "NEW_AND_OLD_IMAGES"
    gsi1 = Index("GSI1", pk="GSI1PK", sk="GSI1SK")


class UserPK(Key, template="USER#{user_id}"):
    user_id: str


class PaintingSK(SortKey, template="PAINTING#{painting_id}"):
    painting_id: str


class SketchSK(SortKey, template="SKETCH#{number:05}"):
    number: int


class RoomPK(Key, template="ROOM#{room_id}"):
    room_id: str


class RoomSK(SortKey, template="ROOM"):
    pass


class CommentPK(Key, template="PAINTING#{painting_id}"):
    painting_id: str


class CommentSK(SortKey, template="COMMENT#{comment_id}"):
    comment_id: str


class ShownPK(Key, template="SHOWN#{room_id}"):
    room_id: str


class TitlePK(Key, template="TITLE#{title}"):
    title: str


class Frame(BaseModel):
    width_cm: int
    wood: str | None = None


class Painting(Entity, owner="user_id"):
    """A painting of somebody."""

    key = Keys(UserPK, PaintingSK)
    shown = StudioTable.gsi1.keys(ShownPK, PaintingSK)
    unique_title = Unique(TitlePK)

    user_id: str
    painting_id: str
    title: str = Field(min_length=1, max_length=200)
    status: Literal["wet", "dry"] = "wet"
    price: Annotated[Decimal, Digits(2)] | None = None
    frame: Frame | None = None
    tags: set[str] = Field(default_factory=set)
    room_id: str | None = None
    secret_note: str | None = None
    comments: Annotated[int, CountOf("Comment", via={"user_id": "painter_id"})] = 0
    created_at: CreatedAt = auto()
    updated_at: UpdatedAt = auto()
    version: Version = 0


class Comment(Entity):
    """What somebody says of a painting."""

    key = Keys(CommentPK, CommentSK)

    painting_id: str
    comment_id: str
    painter_id: str
    text: str = ""


class Sketch(Entity, owner="user_id"):
    """A sketch of somebody; it has no version."""

    key = Keys(UserPK, SketchSK)

    user_id: str
    number: int = Field(ge=0, le=99_999)
    lines: list[str] = Field(default_factory=list)
    image: bytes | None = None
    seen_at: datetime | None = None
    ttl: Ttl = None


class Room(Entity):
    """A room that everybody may see."""

    key = Keys(RoomPK, RoomSK)

    room_id: str
    name: str


class Walls(Collection):
    """What is in somebody's partition."""

    paintings: list[Painting]
    sketches: list[Sketch]


class Studio(Design):
    table = StudioTable
    entities = (Painting, Comment, Sketch, Room)

    @pattern("1 Paintings of a user")
    def paintings(self, user_id: str, status: Literal["wet", "dry"] | None = None) -> Query[Painting]:
        """All of them, or those that are wet or dry."""
        found = Painting.key.query(UserPK(user_id=user_id))
        return found if status is None else found.where(Eq("status", status))

    @pattern("2 A painting", consistent=True)
    def painting(self, user_id: str, painting_id: str) -> Get[Painting]:
        return Painting.key.get(UserPK(user_id=user_id), PaintingSK(painting_id=painting_id))

    @pattern("3 What hangs in a room")
    def shown(self, room_id: str) -> Query[Painting]:
        return Painting.shown.query(ShownPK(room_id=room_id))

    @pattern("4 A room")
    def room(self, room_id: str) -> Get[Room]:
        return Room.key.get(RoomPK(room_id=room_id), RoomSK())

    @pattern("5 Everything of a user")
    def walls(self, user_id: str) -> Collect[Walls]:
        return collect(Walls, UserPK(user_id=user_id))

    @pattern("6 Some sketches")
    def sketches(self, user_id: str, numbers: list[int]) -> BatchGet[Sketch]:
        pk = UserPK(user_id=user_id)
        return Sketch.key.batch_get([(pk, SketchSK(number=number)) for number in numbers])

    @pattern("7 Hang a painting up")
    def hang(self, painting: Painting) -> Put[Painting]:
        return Put(painting)

    @pattern("8 Comment on a painting")
    def comment(self, comment: Comment) -> Create[Comment]:
        return Create(comment)

    @pattern("9 Burn a sketch")
    def burn(self, user_id: str, number: int) -> Delete[Sketch]:
        return Delete(Sketch.key.get(UserPK(user_id=user_id), SketchSK(number=number)))
