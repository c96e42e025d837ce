"""Who may do what: principals, and the kinds of access that a declaration names.

A kind of access decides for a principal, before anything is read, and says which items it opens: all of them, or
those of the principal's own partitions. Nothing that has no owner is opened by `OWNER`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias


@dataclass(frozen=True, slots=True)
class Principal:
    """Who calls: an id, which the fields named by `owner=` hold, and roles.

    `is_trusted` opens everything: it is for the developer at this machine. A principal that was told by a cookie
    may only write from pages of allowed origins (CSRF).
    """

    id: str
    roles: frozenset[str] = frozenset()
    is_trusted: bool = False
    by_cookie: bool = False


@dataclass(frozen=True, slots=True)
class Public:
    """Everybody, known or not."""


@dataclass(frozen=True, slots=True)
class SignedIn:
    """Every principal."""


@dataclass(frozen=True, slots=True)
class Owner:
    """The principal whose id the item's owner is: the field that `owner=` of the entity names."""


@dataclass(frozen=True, slots=True)
class Role:
    """Every principal of a role."""

    name: str


@dataclass(frozen=True, slots=True)
class Guard:
    """Those for whom a function says so. It gets the open design, the principal and the values of the request.

    The function runs in a thread and may read. A true answer opens what was asked for, whoever owns it.
    """

    function: Callable[[Any, Principal, Mapping[str, Any]], bool]


PUBLIC: Final = Public()
SIGNED_IN: Final = SignedIn()
OWNER: Final = Owner()

Access: TypeAlias = Public | SignedIn | Owner | Role | Guard


@dataclass(frozen=True, slots=True)
class Scope:
    """What is open to a request: all items, or those of one owner."""

    owner_id: str | None = None

    @property
    def is_all(self) -> bool:
        return self.owner_id is None


EVERYTHING: Final = Scope()


def as_tuple(access: Access | tuple[Access, ...]) -> tuple[Access, ...]:
    """Return kinds of access as a tuple: each of them opens by itself."""
    return access if isinstance(access, tuple) else (access,)


def scope_at_once(access: tuple[Access, ...], principal: Principal | None) -> Scope | None:
    """Return what is open without asking a guard; None if nothing is."""
    if any(isinstance(each, Public) for each in access):
        return EVERYTHING
    if principal is None:
        return None
    if principal.is_trusted or any(_opens_all(each, principal) for each in access):
        return EVERYTHING
    return Scope(principal.id) if OWNER in access else None


def _opens_all(access: Access, principal: Principal) -> bool:
    match access:
        case SignedIn():
            return True
        case Role(name):
            return name in principal.roles
        case _:
            return False


def guards_of(access: tuple[Access, ...]) -> list[Guard]:
    """Return the guards among kinds of access."""
    return [each for each in access if isinstance(each, Guard)]
