"""Mistakes in declarations that a checker sees. It reports each marked line, and no other."""

from __future__ import annotations

from designs.kefir import Batch, BatchPK, BatchSK, KefirTable, User, UserId, UserPK
from singletable.design import Collection, Design, Entity, Get, Keys, Query, collect, pattern


class Note(Entity):
    key = Keys(UserPK, BatchPK)  # error
    by_id = KefirTable.gsi1.keys(BatchSK, UserPK)  # error
    missing = KefirTable.gsi3.keys(BatchPK, BatchSK)  # error
    fetched = KefirTable.gsi1.keys(BatchPK, fetch="yes")  # error

    user_id: UserId


class Notes(Collection):
    user: User
    batches: list[Batch]


class Kefir(Design):
    table = KefirTable
    entities = (User, Batch)
    casing = "shouting"  # error

    @pattern("1 Get user by ID")
    def user(self, user_id: UserId) -> Get[Batch]:
        return User.key.query(UserPK(user_id=user_id))  # error

    @pattern("2 Get all batches for user")
    def batches(self, user_id: UserId) -> Query[User]:
        return Batch.key.query(UserPK(user_id=user_id))  # error

    @pattern("3 Export")
    def export(self, user_id: UserId) -> Get[User]:
        return collect(Notes, UserPK(user_id=user_id))  # error


class Strange(Design):
    table = User  # error
    entities = (Notes,)  # error


collect(User, UserPK(user_id=UserId("u1")))  # error
collect(Notes, "USER#u1")  # error
Notes(user=User(user_id=UserId("u1"), email="a@example.org"), batches=["b1"])  # error
