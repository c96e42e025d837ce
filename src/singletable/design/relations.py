"""What an entity declares about other items: values that are unique, items that are derived. Data only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from singletable.design.keys import Key
from singletable.design.markers import Upkeep


class Unique:
    """Of all items, one at most has these values. A lock item of this key, made with the item, sees to it.

    The values that it is unique within are parts of the template too: `EMAIL#{tenant_id}#{email}`. While one of
    its parts is None, there is no lock.
    """

    def __init__(self, key: type[Key], *, sort: str = "UNIQUE") -> None:
        self.key = key
        self.sort = sort
        self.name = ""

    def __set_name__(self, owner: type[Any], name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"Unique({self.key.__name__})"


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
