"""What an entity declares about other items: values that are unique, items that are derived.

class User(Entity):
    key = Keys(UserPK, ProfileSK)
    unique_email = Unique(EmailPK)

User.unique_email.get(EmailPK(email="ada@example.com"))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, TypeVar, overload

from pydantic import BaseModel

from singletable.design.keys import Key, values_for
from singletable.design.markers import Upkeep
from singletable.design.plans import Lookup
from singletable.errors import KeyValueError

K = TypeVar("K", bound=Key)
E = TypeVar("E", bound=BaseModel)


class Unique(Generic[K]):
    """Of all items, one at most has these values. A lock item of this key, made with the item, sees to it.

    The values that it is unique within are parts of the template too: `EMAIL#{tenant_id}#{email}`. While one of
    its parts is None, there is no lock. Of an entity class, it finds the item that has a value; of an entity, it
    is the key of its own lock, or None.
    """

    def __init__(self, key: type[K], *, sort: str = "UNIQUE") -> None:
        self.key = key
        self.sort = sort
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
        return Lookup(self.entity, unique.name, key, unique.sort)


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
