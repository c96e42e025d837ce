"""A design whose every text tries to steer the terminal that shows it."""

from __future__ import annotations

from typing import Final

from singletable.design import Design, Entity, Key, Keys, Query, SortKey, Table, pattern

# Colours, a bell, a wiped screen, in seven and in eight bits; turned text; text that nobody sees.
HOSTILE: Final = "x\x1b[31m\x07\x9b2J\r\x7f\u202eyx\u2066\u200e\u061c\u2028\ufeff\u200b\U000e0041"


class HostileTable(Table):
    name = "hostile"
    description = HOSTILE


class UserPK(Key, template="USER#{user_id}"):
    user_id: str


class NoteSK(SortKey, template="NOTE#{note_id}"):
    note_id: str


class Note(Entity):
    key = Keys(UserPK, NoteSK)

    user_id: str
    note_id: str
    text: str = HOSTILE


class Hostile(Design):
    table = HostileTable
    entities = (Note,)

    @pattern(f"1 Notes {HOSTILE}", documented=HOSTILE, fixes=HOSTILE)
    def notes(self, user_id: str = HOSTILE) -> Query[Note]:
        return Note.key.query(UserPK(user_id=user_id))

    notes.__doc__ = f"Return notes {HOSTILE}."


class Other(Design):
    """The same table, with a note that has another text, and an attribute more."""

    class Note(Entity, name="Note"):
        key = Keys(UserPK, NoteSK)

        user_id: str
        note_id: str
        text: str = HOSTILE[::-1]
        title: str = HOSTILE

    table = HostileTable
    entities = (Note,)
