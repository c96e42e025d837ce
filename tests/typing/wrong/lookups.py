"""Mistakes in looking up unique values. A checker reports each marked line, and no other."""

from __future__ import annotations

from designs.cards import Card, CardId, CardPK, CardsTable, User, UserId, UsernamePK, UserPK
from singletable.design import Design, Get, Lookup, Unique, pattern


class Names(Design):
    table = CardsTable
    entities = (User, Card)

    @pattern("1 Get user by name")
    def user_by_name(self, username: str) -> Lookup[User]:
        return User.usernames.get(UsernamePK(username=username))

    @pattern("2 Get card by name")
    def card_by_name(self, username: str) -> Lookup[Card]:
        return User.usernames.get(UsernamePK(username=username))  # error

    @pattern("3 Get user by name, as if by key")
    def user(self, username: str) -> Get[User]:
        return User.usernames.get(UsernamePK(username=username))  # error


db = Names.open(":memory:")

# The wrong key.
User.usernames.get(UserPK(user_id=UserId("u1")))  # error
User.usernames.get(CardPK(card_id=CardId("c1")))  # error
User.usernames.get("anna")  # error
User.usernames.get()  # error
User.usernames.get(UsernamePK(name="anna"))  # error
Unique("USERNAME")  # error
Card.usernames  # error

# What is found has a type, and may be missing.
card: Card = db.user_by_name("anna").one()  # error
user: User = db.user_by_name("anna").maybe()  # error
name: UsernamePK = User(user_id=UserId("u1"), username="anna").usernames  # error

# It has no pages, and is no key to write by.
db.user_by_name("anna").page()  # error
db.update(db.user_by_name("anna"), username="bea")  # error
db.delete(db.user_by_name("anna"))  # error
