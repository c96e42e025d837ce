"""The mistakes that users of a design make, each with a number, a sentence, a hint and a page in docs/errors/."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from singletable.errors.base import SingleTableError


class DesignError(SingleTableError):
    """A mistake in a design or in its use."""


# --- declarations and values ---------------------------------------------------------------------


class DeclarationError(DesignError, TypeError):
    """A class that cannot mean what it says. It is raised when the class is created."""

    number = "ST101"


class UnknownFieldError(DesignError):
    """A name that is no field of the entity."""

    number = "ST201"


class MissingKeyPartError(DesignError):
    """A key cannot be built whole, because parts of it are not known."""

    number = "ST202"

    def __init__(self, message: str, *, missing: tuple[str, ...] = (), hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.missing = missing


class SeparatorError(DesignError, ValueError):
    """A value holds the separator of the template that it is to stand in."""

    number = "ST203"


class KeyValueError(DesignError, ValueError):
    """A value that a key cannot hold, or a text that is no key of the template."""

    number = "ST204"


class ItemTooLargeError(DesignError):
    """An item is larger than DynamoDB takes."""

    number = "ST205"


class LargeItemWarning(UserWarning):
    """An item is large: every write of it, and of each index that it is in, costs its whole size."""

    number: ClassVar[str] = "ST206"
    page: ClassVar[str] = f"docs/errors/{number}.md"


class InvalidItemError(DesignError):
    """A stored item does not hold what its entity says. `key` is that of the item in the table, if it is known."""

    number = "ST207"

    def __init__(
        self, message: str, *, key: Mapping[str, Any] | None = None, hint: str | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.key = key


class InvalidWriteError(DesignError):
    """Writes that cannot be carried out together, or cannot be carried out at all."""

    number = "ST208"


class NotProjectedError(DesignError, AttributeError):
    """What an index does not hold of an item: a field that is asked for, or the rest, when it is to be written."""

    number = "ST209"


class ConditionValueError(DesignError, ValueError):
    """A condition asks for a value that the field can never have."""

    number = "ST210"


# --- the state of the data ---------------------------------------------------------------------


class AlreadyExistsError(DesignError):
    """There is an item of this key already."""

    number = "ST301"


class NotFoundError(DesignError):
    """There is no item of this key, or none that has not expired."""

    number = "ST302"


class VersionConflictError(DesignError):
    """Somebody else has changed the item since it was read."""

    number = "ST303"


class DuplicateError(DesignError):
    """A value that must be unique is taken by another item."""

    number = "ST304"

    def __init__(
        self,
        message: str,
        *,
        fields: tuple[str, ...] = (),
        owner: Mapping[str, Any] | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.fields = fields
        self.owner = owner  # the key of the item that has the value


class ConditionNotMetError(DesignError):
    """A condition that the caller has set does not hold."""

    number = "ST305"

    def __init__(self, message: str, *, stored: Any = None, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.stored = stored  # the entity as it was then, also an expired one; None if it cannot be read


# --- reading -------------------------------------------------------------------------------------


class CursorError(DesignError, ValueError):
    """A text that is no cursor, or one that was changed."""

    number = "ST401"


class CursorMismatchError(CursorError):
    """A cursor of another query."""

    number = "ST402"


class ConsistencyError(DesignError):
    """A global index can only be read eventually consistent."""

    number = "ST403"


class SeveralFoundError(DesignError):
    """A query found several items where one was asked for."""

    number = "ST404"


# --- where it runs -------------------------------------------------------------------------------


class TableMissingError(DesignError):
    """The table of the design is not there."""

    number = "ST501"


class IndexMissingError(DesignError):
    """The table is there, but not the index that is asked, or it is not filled yet. `index` is its name."""

    number = "ST514"

    def __init__(self, message: str, *, index: str = "", hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.index = index


class TableDiffersError(DesignError):
    """The table is not as the design says. `differences` are those that stand in the way."""

    number = "ST502"

    def __init__(self, message: str, differences: Sequence[Any] = (), *, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.differences = tuple(differences)


class CapabilityError(DesignError):
    """The target cannot do what the design asks for."""

    number = "ST503"


class MigrationError(DesignError):
    """A migration cannot be made, or cannot go on."""

    number = "ST601"


class PlanBlockedError(MigrationError):
    """Two versions of a design differ in something that no step can know. `differences` are those."""

    number = "ST602"

    def __init__(self, message: str, differences: Sequence[Any] = (), *, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.differences = tuple(differences)


class StrangeItemsError(MigrationError):
    """Items of a table are of no entity of the design. `items` names the first of them."""

    number = "ST603"

    def __init__(self, message: str, items: Sequence[str] = (), *, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.items = tuple(items)


class StackError(DesignError):
    """No stack can be made of a design, or not in this format."""

    number = "ST901"


class ReplacementError(StackError):
    """A new version of a stack would replace a table or drop an index. `changes` are those."""

    number = "ST902"

    def __init__(self, message: str, *, changes: Sequence[str] = (), hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.changes = tuple(changes)
