"""Actions: the single requests of a write, each on one item, and the error if one is refused.

An action has the shape that TransactWriteItems takes. A `Prepared` holds the actions of one write: the item's own
action first, then its effects (locks, counters, derived items).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from singletable.client.calls import Params
from singletable.design.values.items import Item
from singletable.errors import DesignError

Kind = Literal["Put", "Update", "Delete", "ConditionCheck"]

# For targets without transactions: a claim goes before the item, and is undone if the item is refused. The other
# actions follow the item.
Order = Literal["claim", "item", "after"]

Refused = Callable[[Item | None], DesignError]  # takes the stored item, if the target returns it
Merge = Callable[["Action", "Action"], "Action | None"]  # in their order; None if they cannot be merged


@dataclass(frozen=True, slots=True)
class Action:
    """One action on one item, without the table's name."""

    kind: Kind
    key: Item
    params: Params
    refused: Refused
    order: Order = "item"
    merge: Merge | None = None  # merges this action with another one on the same item
    made_from: Any = None  # the data that `merge` needs
    lapses: bool = False  # if it is refused, the other actions are carried out without it


@dataclass(slots=True)
class Prepared:
    """A write that is ready to be carried out."""

    actions: list[Action]
    finish: Callable[[Item | None], Any] = lambda stored: None  # takes the new item, if the target returns it
    is_retried: bool = False  # if it is refused, it is prepared again from the stored item
    entity: type[Any] | None = None
    units: float = field(default=0.0)


class DoneAlreadyError(DesignError):
    """The writes for a record were carried out before. This error stays inside the layer."""

    number = "ST208"
