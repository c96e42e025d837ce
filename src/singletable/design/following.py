"""Plans that read what others point to: items of an index first, then the items of the table that they name.

CardScore.ranked.query(pk).newest_first().follow(
    Card.key, lambda score: (CardPK(card_id=score.card_id), MetadataSK())
)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol, Self, TypeVar, overload, runtime_checkable

from pydantic import BaseModel

from singletable.design.arguments import require_kind
from singletable.design.condition_values import conditions_on
from singletable.design.conditions import Condition
from singletable.design.keys import Key, NoSortKey, SortKey
from singletable.design.many import Many
from singletable.design.plans import BatchGet

E = TypeVar("E", bound=BaseModel)
T = TypeVar("T", bound=BaseModel)
PK = TypeVar("PK", bound=Key)
SK = TypeVar("SK", bound=SortKey)


class KeyPair(Protocol[PK, SK]):
    """The classes of a whole key."""

    pk: type[PK]
    sk: type[SK]


@runtime_checkable
class Target(Protocol[T, PK, SK]):
    """The keys of an entity in its table: `Card.key`."""

    @property
    def entity(self) -> type[T]: ...
    @property
    def keys(self) -> KeyPair[PK, SK]: ...
    def batch_get(self, keys: Iterable[Any]) -> BatchGet[T]: ...


class Followed(Many[T]):
    """Reads the items that those of another plan point to, in the order of that plan.

    What is gone or expired is left out, and so is what came before on the same page. Cursors are positions of the
    other plan, so pages are exact. `consistent()` is about the items pointed to; the other plan says how fresh the
    list of them is. `request()` returns the requests of the other plan, whose answers alone know the keys.
    """

    def __init__(
        self,
        source: Many[Any],
        to: Target[T, Any, Any],
        key: Callable[[Any], tuple[Key, SortKey] | Key | None],
    ) -> None:
        require_kind(to, Target, "items point to the keys of an entity, like Card.key")
        require_kind(key, Callable, "what tells where an item points is a function")
        to.batch_get(())  # refuses the keys of an index
        self.source = source
        self.to = to
        self.key = key
        self.conditions: tuple[Condition, ...] = ()
        self.runner = source.runner

    def __repr__(self) -> str:
        return f"{self.entity.__name__} named by {self.source!r}"

    @property
    def entity(self) -> type[T]:
        """Return what is read in the end."""
        return self.to.entity

    def consistent(self) -> Self:
        """Read the items pointed to as they were written last, at twice the units; not the list of them."""
        return self.with_(is_consistent=True)

    def where(self, *conditions: Condition, **equal: Any) -> Self:
        """Throw away what does not meet conditions, after it was read: a BatchGetItem has no filter."""
        more = conditions_on(self.entity, conditions, equal)
        return self.with_(conditions=(*self.conditions, *more))


class Followable(Many[E]):
    """What plans share whose items may point to others."""

    @overload
    def follow(self, to: Target[T, PK, NoSortKey], key: Callable[[E], PK | None]) -> Followed[T]: ...
    @overload
    def follow(self, to: Target[T, PK, SK], key: Callable[[E], tuple[PK, SK] | None]) -> Followed[T]: ...
    def follow(self, to: Any, key: Any) -> Followed[Any]:
        """Plan to read the items that these point to: `key` returns their keys, or None where one points nowhere.

        They are read by a hundred in a request.
        """
        return Followed(self, to, key)
