"""Items that are found by a unique value, as a checker must accept it."""

from __future__ import annotations

from datetime import datetime
from typing import assert_type

from designs.cards import Card, Cards, CardsTable, User, UserId, UsernamePK
from singletable.design import Collection, Design, Found, Lookup, gather, pattern


class Profile(Collection):
    user: User | None


class Names(Design):
    table = CardsTable
    entities = (User, Card)

    @pattern("1 Get user by name", consistent=True, cached_s=60)
    def user_by_name(self, username: str) -> Lookup[User]:
        return User.usernames.get(UsernamePK(username=username))


async def read(plan: Lookup[User]) -> None:
    assert_type(await plan.aone(), User)
    assert_type(await plan.amaybe(), User | None)
    assert_type(await plan.afound(), Found[User | None])


db = Names.open(":memory:")
assert_type(User.usernames.get(UsernamePK(username="anna")), Lookup[User])
assert_type(db.user_by_name("anna"), Lookup[User])
assert_type(db.user_by_name("anna").one(), User)
assert_type(db.user_by_name("anna").maybe(), User | None)
assert_type(db.user_by_name("anna").found(), Found[User | None])
assert_type(db.user_by_name("anna").cached(seconds=5).one().user_id, UserId)
assert_type(User(user_id=UserId("u1"), username="anna").usernames, UsernamePK | None)
assert_type(gather(Profile, user=db.user_by_name("anna")).one(), Profile)
assert_type(Cards.open(":memory:").now(), datetime)
