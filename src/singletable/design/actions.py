"""Actions: what one write asks of the table, piece by piece, and how it is said when a piece is refused.

An action is of the shape that TransactWriteItems takes. What belongs together is a `Prepared`: the item's own
action first, then its effects (locks, counters, derived items).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from singletable.design.stored_values import Item
from singletable.errors import DesignError

Kind = Literal["Put", "Update", "Delete", "ConditionCheck"]

# Where there are no transactions: a claim goes before the item and is undone when the item is refused; the rest
# follows the item.
Order = Literal["claim", "item", "after"]

Refused = Callable[[Item | None], DesignError]  # of the item that is stored, when the target shows it
Merge = Callable[["Action", "Action"], "Action | None"]  # in their order; None if they cannot be one


@dataclass(frozen=True, slots=True)
class Action:
    """One action on one item, without the table's name."""

    kind: Kind
    key: Item
    params: dict[str, Any]
    refused: Refused
    order: Order = "item"
    merge: Merge | None = None  # how another action on the same item and this one become one
    made_from: Any = None  # what those need to know who merge it
    lapses: bool = False  # when it is refused, the rest is carried out without it


@dataclass(slots=True)
class Prepared:
    """A write that is ready to be carried out."""

    actions: list[Action]
    finish: Callable[[Item | None], Any] = lambda stored: (
        None
    )  # with the new item, where the target returns it
    is_retried: bool = False  # prepared again, from the stored item, when it is refused
    entity: type[Any] | None = None
    units: float = field(default=0.0)
