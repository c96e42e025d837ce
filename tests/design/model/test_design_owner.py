"""Ownership: the field whose value leads the keys, checked when it is declared, and never changed."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, NewType

import pytest

from singletable import (
    BucketOf,
    Design,
    Entity,
    Eq,
    Get,
    Index,
    InitialOf,
    Key,
    Keys,
    Normalize,
    ShardOf,
    SortKey,
    Table,
    Verbatim,
    pattern,
)
from singletable.blueprint import OwnerLead, led_by_owner, owner_lead
from singletable.errors import DeclarationError, InvalidWriteError

UserId = NewType("UserId", str)
TeamId = NewType("TeamId", str)


class NoteTable(Table):
    name = "notes"
    pitr_days = None
    gsi1 = Index("GSI1", pk="GSI1PK", sk="GSI1SK")
    gsi2 = Index("GSI2", pk="GSI2PK", sk="GSI2SK")


class UserPK(Key, template="USER#{user_id}"):
    user_id: UserId


class NoteSK(SortKey, template="NOTE#{note_id}"):
    note_id: str


class ProfileSK(SortKey, template="PROFILE"):
    pass


class PinnedPK(Key, template="USER#{user_id}#PINNED"):
    user_id: UserId


class TopicPK(Key, template="TOPIC#{topic}"):
    topic: str


class User(Entity, owner="user_id", owns=("Note",)):
    key = Keys(UserPK, ProfileSK)

    user_id: UserId
    name: str = ""


class Note(Entity, owner="user_id"):
    key = Keys(UserPK, NoteSK)
    pinned = NoteTable.gsi1.keys(PinnedPK, NoteSK, when=Eq("is_pinned", True))
    by_topic = NoteTable.gsi2.keys(TopicPK, NoteSK)

    user_id: UserId
    note_id: str
    topic: str = "other"
    is_pinned: bool = False


class Notes(Design):
    table = NoteTable
    entities = (User, Note)

    @pattern("1 Get note")
    def note(self, user_id: UserId, note_id: str) -> Get[Note]:
        return Note.key.get(UserPK(user_id=user_id), NoteSK(note_id=note_id))


def test_blueprint_has_the_owner_and_tells_places_apart() -> None:
    note = Notes.blueprint().entity("Note")
    assert note is not None
    assert note.owner == "user_id"
    leads = {place.name: owner_lead(note, place) for place in note.places}
    assert leads == {"key": OwnerLead("USER#"), "pinned": OwnerLead("USER#", "#PINNED"), "by_topic": None}
    assert [place.name for place in note.places if led_by_owner(note, place)] == ["key", "pinned"]


def test_owner_is_never_changed() -> None:
    with Notes.open(":memory:") as db:
        note = db.create(Note(user_id=UserId("ada"), note_id="n1")).entity
        with pytest.raises(InvalidWriteError, match="user_id"):
            db.update(note, user_id="bo")
        with pytest.raises(InvalidWriteError, match="user_id"):
            db.update(db.note(UserId("ada"), "n1"), user_id="bo")
        assert db.note(UserId("ada"), "n1").one().user_id == "ada"
        assert db.note(UserId("bo"), "n1").maybe() is None


def refuse(pk: type[Key], owner: str = "user_id") -> str:
    """Return the message for an owner that a partition key does not fit, with its hint."""
    with pytest.raises(DeclarationError) as caught:

        class Wrong(Entity, owner=owner):
            key = Keys(pk, ProfileSK)

            user_id: UserId
            team_id: TeamId
            at: datetime

    assert caught.value.hint
    return caught.value.message


class TeamPK(Key, template="TEAM#{team_id}#USER#{user_id}"):
    team_id: TeamId
    user_id: UserId


class AllPK(Key, template="ALL"):
    pass


class ShardPK(Key, template="USERS#{shard}"):
    shard: Annotated[int, ShardOf(4, by="user_id")]


class LettersPK(Key, template="USERS#{initial}"):
    initial: Annotated[str, InitialOf("user_id", letters=2)]


class FoldedPK(Key, template="USER#{user_id}"):
    user_id: Annotated[UserId, Normalize(str.casefold)]


class LoosePK(Key, template="USER#{user_id}#X"):
    user_id: Annotated[UserId, Verbatim()]


class DayPK(Key, template="DAY#{day}"):
    day: Annotated[str, BucketOf("at", "day")]


@pytest.mark.parametrize(
    ("pk", "says"),
    [
        (TeamPK, "is led by 'team_id'"),
        (AllPK, "is the same for all items"),
        (ShardPK, "does not hold the value of 'user_id' as it is"),
        (LettersPK, "does not hold the value of 'user_id' as it is"),
        (FoldedPK, "does not hold the value of 'user_id' as it is"),
        (LoosePK, "not so that one can tell where it ends"),
    ],
)
def test_owner_that_does_not_lead_the_partition_key_is_refused(pk: type[Key], says: str) -> None:
    message = refuse(pk)
    assert message.startswith(f"Wrong has the owner 'user_id', and its partition key {pk.shown()}")
    assert says in message


def test_time_that_is_put_in_buckets_is_no_owner() -> None:
    assert "does not hold the value of 'at'" in refuse(DayPK, "at")


def test_owner_that_is_no_field_is_refused() -> None:
    message = refuse(UserPK, "author_id")
    assert message == "Wrong has the owner 'author_id', which is not a field of Wrong"


def test_owner_without_a_key_is_refused() -> None:
    with pytest.raises(DeclarationError, match="Bare has no keys in the table"):

        class Bare(Entity, owner="user_id"):
            user_id: UserId


def test_id_of_any_plain_kind_is_an_owner() -> None:
    class NumberPK(Key, template="USER#{number}"):
        number: int

    class Numbered(Entity, owner="number"):
        key = Keys(NumberPK, ProfileSK)

        number: int

    assert Numbered.entity_options.owner == "number"


# --- what is owned by a cascade ----------------------------------------------------------------------------


class OwnTeamPK(Key, template="TEAM#{team_id}"):
    team_id: TeamId


class Task(Entity, owner="team_id"):
    key = Keys(OwnTeamPK, NoteSK)
    by_user = NoteTable.gsi1.keys(UserPK, NoteSK)

    team_id: TeamId
    note_id: str
    user_id: UserId


def test_cascade_that_takes_items_of_another_owner_is_refused() -> None:
    class Boss(Entity, owner="user_id", owns=(Task,)):
        key = Keys(UserPK, ProfileSK)

        user_id: UserId

    with pytest.raises(
        DeclarationError, match="Boss owns Task, and the owner of Boss is 'user_id', that of Task"
    ):

        class Work(Design):
            table = NoteTable
            entities = (Boss, Task)


def test_item_that_nobody_owns_may_own_others_and_be_owned() -> None:
    class Topic(Entity, owns=(Note,)):
        key = Keys(TopicPK, ProfileSK)

        topic: str

    class Talk(Design):
        table = NoteTable
        entities = (User, Note, Topic)

    assert Talk.blueprint().entity("Topic") is not None
