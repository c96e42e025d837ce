"""Plans that read many items in an order: of one partition, of several at once, or of one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self, TypeVar

from pydantic import BaseModel

from singletable.design.arguments import require_members
from singletable.design.condition_values import conditions_on
from singletable.design.conditions import Condition
from singletable.design.following import Followable
from singletable.design.keys import Key
from singletable.design.ranges import SortRange
from singletable.errors import ConsistencyError, DeclarationError

E = TypeVar("E", bound=BaseModel)


class Query(Followable[E]):
    """Reads the items of one partition, in the order of the sort key.

    `place` is the name under which the entity has bound its keys; `index` that of the index, None for the table.
    """

    def __init__(self, entity: type[E], place: str, index: str | None, pk: Key, bounds: SortRange) -> None:
        self.entity = entity
        self.place = place
        self.index = index
        self.pk = pk
        self.bounds = bounds
        self.forward = True
        self.conditions: tuple[Condition, ...] = ()

    def __repr__(self) -> str:
        return f"{self.entity.__name__}.{self.place}.query({self.pk!r})"

    def newest_first(self) -> Self:
        """Read from the greatest sort key down."""
        return self.with_(forward=False)

    def oldest_first(self) -> Self:
        """Read from the smallest sort key up. That is the way it is read if nothing is said."""
        return self.with_(forward=True)

    def where(self, *conditions: Condition, **equal: Any) -> Self:
        """Throw away what does not meet conditions. It is read, and paid for, all the same."""
        more = conditions_on(self.entity, conditions, equal)
        return self.with_(conditions=(*self.conditions, *more))

    def refuse_consistent_index(self) -> None:
        if self.index is not None:
            raise ConsistencyError(
                f"{self.entity.__name__}.{self.place} is in index {self.index}, which is eventually consistent",
                hint="read the table by its key where the last write must be seen",
            )


class Merged(Followable[E]):
    """Reads several queries of one kind as one, in the order of the sort key: the shards of a partition."""

    def __init__(self, parts: Sequence[Query[E]]) -> None:
        require_members(parts, Query, "merged are queries")
        if not parts:
            raise DeclarationError("there is nothing to merge")
        kinds = {(part.entity, part.place, part.forward) for part in parts}
        if len(kinds) > 1:
            raise DeclarationError(
                f"queries of different kinds have no common order: {', '.join(map(repr, parts))}",
                hint="merge queries of one entity and one index, all of them newest first or none",
            )
        if any(part.limited is not None for part in parts):
            raise DeclarationError(
                f"a limit of a part of {parts[0]!r} says nothing of the whole",
                hint="Merged([...]).limit(20)",
            )
        self.parts = tuple(parts)

    def __repr__(self) -> str:
        return f"Merged of {len(self.parts)}: {self.parts[0]!r}"

    def newest_first(self) -> Self:
        """Read from the greatest sort key down."""
        return self.with_(parts=tuple(part.newest_first() for part in self.parts))

    def oldest_first(self) -> Self:
        """Read from the smallest sort key up. That is the way it is read if nothing is said."""
        return self.with_(parts=tuple(part.oldest_first() for part in self.parts))

    def where(self, *conditions: Condition, **equal: Any) -> Self:
        """Throw away what does not meet conditions. It is read, and paid for, all the same."""
        more = conditions_on(self.parts[0].entity, conditions, equal)
        parts = [part.with_(conditions=(*part.conditions, *more)) for part in self.parts]
        return self.with_(parts=tuple(parts))

    def refuse_consistent_index(self) -> None:
        for part in self.parts:
            part.refuse_consistent_index()


class Walk(Followable[E]):
    """Reads plans one after the other, the next when one is at its end: the months of a feed."""

    def __init__(self, parts: Sequence[Query[E] | Merged[E]]) -> None:
        require_members(parts, Query | Merged, "walked through are queries")
        if not parts:
            raise DeclarationError("there is nothing to walk through")
        self.parts = tuple(parts)

    def __repr__(self) -> str:
        return f"Walk of {len(self.parts)}: {self.parts[0]!r}"

    def where(self, *conditions: Condition, **equal: Any) -> Self:
        """Throw away what does not meet conditions. It is read, and paid for, all the same."""
        return self.with_(parts=tuple(part.where(*conditions, **equal) for part in self.parts))

    def refuse_consistent_index(self) -> None:
        for part in self.parts:
            part.refuse_consistent_index()
