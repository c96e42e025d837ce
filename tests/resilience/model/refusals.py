"""What the model and any client say when they refuse a request, in one form that can be compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from resilience.model.values import Item


@dataclass(frozen=True)
class Reason:
    """Why one action of a transaction failed; code "None" where it did not."""

    code: str
    message: str | None = None
    item: Item | None = None


@dataclass
class RefusedError(Exception):
    """A refused request: the code always, the message where it is a fixed text."""

    code: str
    message: str | None = None
    item: Item | None = None
    reasons: tuple[Reason, ...] = ()

    @staticmethod
    def validation(message: str | None = None) -> RefusedError:
        return RefusedError("ValidationException", message)

    @staticmethod
    def condition(item: Item | None) -> RefusedError:
        return RefusedError("ConditionalCheckFailedException", "The conditional request failed", item)

    @staticmethod
    def no_table(**_: Any) -> RefusedError:
        return RefusedError("ResourceNotFoundException")
