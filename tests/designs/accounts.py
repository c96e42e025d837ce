"""Accounts: users with a unique name that they may lack, and an address that is unique within their tenant."""

from __future__ import annotations

from typing import Annotated

from singletable.design import (
    Design,
    Entity,
    Get,
    Index,
    Key,
    Keys,
    Query,
    SortKey,
    Stored,
    Table,
    Ttl,
    Unique,
    Version,
    pattern,
)
from singletable.design.keys.key import NoSortKey


class AccountsTable(Table):
    name = "accounts"
    by_owner = Index("ByOwner", pk="owner")


class UserPK(Key, template="USER#{user_id}"):
    user_id: str


class ProfileSK(SortKey, template="PROFILE"):
    pass


class UsernamePK(Key, template="USERNAME#{username}"):
    username: str


class EmailPK(Key, template="EMAIL#{tenant_id}#{email}"):
    tenant_id: str
    email: str


class User(Entity):
    key = Keys(UserPK, ProfileSK)
    unique_name = Unique(UsernamePK)
    unique_email = Unique(EmailPK, sort="LOCK")

    user_id: str
    tenant_id: str
    email: str
    username: str | None = None
    bio: str | None = None
    logins: int = 0


class MemberPK(Key, template="MEMBER#{member_id}"):
    member_id: str


class BadgePK(Key, template="BADGE#{badge}"):
    badge: int


class Member(Entity):
    """With a version, so that what was read is known to be what is stored."""

    key = Keys(MemberPK, ProfileSK)
    unique_name = Unique(UsernamePK)  # shared with users
    unique_badge = Unique(BadgePK)

    member_id: str
    username: str | None = None
    badge: int | None = None
    bio: str | None = None
    version: Version = 0


class InvitationPK(Key, template="INVITATION#{code}"):
    code: str


class InvitedPK(Key, template="INVITED#{address}"):
    address: str


class Invitation(Entity):
    """Expires, and with it the lock of its address."""

    key = Keys(InvitationPK, ProfileSK)
    unique_address = Unique(InvitedPK)

    code: str
    mailbox: str
    note: str | None = None
    ttl: Ttl = None

    @property
    def address(self) -> str:
        return self.mailbox.lower()


class NotePK(Key, template="NOTE#{note_id}"):
    note_id: str


class OwnerPK(Key, template="{owner}"):
    owner: str


class Note(Entity):
    """Nothing in it is unique, and an index has the attribute `owner`."""

    key = Keys(NotePK, ProfileSK)
    of_owner = AccountsTable.by_owner.keys(OwnerPK, NoSortKey)

    note_id: str
    owner: str
    text: Annotated[str, Stored("text")] = ""


class Accounts(Design):
    table = AccountsTable
    entities = (User, Member, Invitation, Note)

    @pattern("1 Get user by ID", consistent=True)
    def user(self, user_id: str) -> Get[User]:
        return User.key.get(UserPK(user_id=user_id), ProfileSK())

    @pattern("2 Get member by ID", consistent=True)
    def member(self, member_id: str) -> Get[Member]:
        return Member.key.get(MemberPK(member_id=member_id), ProfileSK())

    @pattern("3 Get invitation by code", consistent=True)
    def invitation(self, code: str) -> Get[Invitation]:
        return Invitation.key.get(InvitationPK(code=code), ProfileSK())

    @pattern("4 Get notes of owner")
    def notes(self, owner: str) -> Query[Note]:
        return Note.of_owner.query(OwnerPK(owner=owner))


# --- a table without a sort key ---------------------------------------------------------------------------


class PlainTable(Table):
    name = "plain"
    pk = "id"
    sk = None


class DeviceKey(Key, template="DEVICE#{device_id}"):
    device_id: str


class TokenKey(Key, template="TOKEN#{token}"):
    token: str


class Device(Entity):
    key = Keys(DeviceKey)
    unique_token = Unique(TokenKey)

    device_id: str
    token: str


class Devices(Design):
    table = PlainTable
    entities = (Device,)
    discriminator = "kind"

    @pattern("1 Get device")
    def device(self, device_id: str) -> Get[Device]:
        return Device.key.get(DeviceKey(device_id=device_id))
