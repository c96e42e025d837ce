"""What an entity declares about other items: values that are unique, items that are derived.

class User(Entity):
    key = Keys(UserPK, ProfileSK)
    unique_email = Unique(EmailPK)

User.unique_email.get(EmailPK(email="ada@example.com"))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final, Generic, TypeVar, overload

from pydantic import BaseModel

from singletable.design.bindings import Index
from singletable.design.keys import Key, values_for
from singletable.design.markers import Upkeep
from singletable.design.plans import Lookup
from singletable.design.tables import Table
from singletable.errors import DeclarationError, KeyValueError

K = TypeVar("K", bound=Key)
E = TypeVar("E", bound=BaseModel)

HASH: Final = "{hash}"  # in the sort key of locks: a hash of the value's text, so that each lock has its own
SHARED_SORT: Final = "UNIQUE"
OWN_SORT: Final = f"{SHARED_SORT}#{HASH}"


class Unique(Generic[K]):
    """Of all items, one at most has these values. A lock item of this key, made with the item, sees to it.

    The values that it is unique within are parts of the template too: `EMAIL#{tenant_id}#{email}`. While one of
    its parts is None, there is no lock. Of an entity class, it finds the item that has a value; of an entity, it
    is the key of its own lock, or None.

    `sort` is the sort key of its locks: without it, `UNIQUE`; or `UNIQUE#{hash}` in a table with an index by the
    sort key, of which all locks would be one partition. `was` is the sort key that locks had before, there by
    itself `UNIQUE`: they count until a migration has moved them.
    """

    def __init__(self, key: type[K], *, sort: str | None = None, was: str | None = None) -> None:
        if "" in (sort, was):
            raise DeclarationError(f"Unique({key.__name__}) has an empty sort key", hint='sort="UNIQUE"')
        self.key = key
        self.sort = sort
        self.was = was
        self.name = ""
        self._bound: dict[type[Any], BoundUnique[Any, K]] = {}

    def __set_name__(self, owner: type[Any], name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"Unique({self.key.__name__})"

    @overload
    def __get__(self, obj: None, owner: type[E]) -> BoundUnique[E, K]: ...
    @overload
    def __get__(self, obj: E, owner: type[E]) -> K | None: ...
    def __get__(self, obj: Any, owner: Any) -> Any:
        if obj is not None:
            return self.key.from_values(values_for(obj, self.key.reads()))
        bound = self._bound.get(owner)
        if bound is None:
            bound = self._bound[owner] = BoundUnique(getattr(owner, "__partial_of__", None) or owner, self)
        return bound


@dataclass(frozen=True, slots=True)
class LockForm:
    """Where the locks of a unique value of an entity are, by their sort keys, and where they were."""

    entity: str
    name: str
    key: type[Key]
    sort: str
    was: str | None = None  # None: nowhere else


def lock_sort(sort: str, text: str) -> str:
    """Return the sort key of the lock of a value, of whose text it may hold a hash.

    The text itself could be too long: a sort key has 1024 bytes, a partition key 2048.
    """
    return sort.replace(HASH, blake2b(text.encode(), digest_size=8).hexdigest(), 1) if HASH in sort else sort


def lock_index(table: type[Table], discriminator: str, ttl: str | None) -> Index | None:
    """Return an index in which locks with one sort key would be one partition; None if there is none.

    An index has those items that have all attributes of its keys.
    """
    held = {table.pk, table.sk, discriminator, ttl}
    return next(
        (
            index
            for index in table.indexes
            if table.sk in index.pk and table.pk not in index.pk and held.issuperset((*index.pk, *index.sk))
        ),
        None,
    )


class BoundUnique(Generic[E, K]):
    """A unique value of one entity, to find the item that has it."""

    __slots__ = ("entity", "unique")

    def __init__(self, entity: type[E], unique: Unique[K]) -> None:
        self.entity = entity
        self.unique = unique

    def __repr__(self) -> str:
        return f"{self.entity.__name__}.{self.unique.name}"

    def get(self, key: K) -> Lookup[E]:
        """Plan to read the item that has a value, by way of the value's lock."""
        unique = self.unique
        if not isinstance(key, unique.key):
            raise KeyValueError(f"{self!r} is {unique.key.shown()}, and {key!r} is given")
        return Lookup(self.entity, unique.name, key)


class Derived:
    """The items of this entity are made from another one by a function, and kept with it.

    The function depends on nothing but the entity that it is given. `reads` names the fields that it looks at; a
    change of any other leaves the derived items alone. Without it, every change counts.
    """

    def __init__(
        self,
        source: type[Any] | str,
        make: Callable[[Any], Iterable[Any]],
        *,
        by: Upkeep = "transaction",
        reads: tuple[str, ...] | None = None,
        via: Mapping[str, str] | None = None,
    ) -> None:
        self.source = source
        self.make = make
        self.by = by
        self.reads = reads
        self.via = via
        self.name = ""

    def __set_name__(self, owner: type[Any], name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"Derived({self.source if isinstance(self.source, str) else self.source.__name__})"
