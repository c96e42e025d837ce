"""Where a design was said: documents, the lines of each statement, and statements that no other part holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar, dataclass_transform

from pydantic import ConfigDict

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def described(cls: type[T]) -> type[T]:
    """Make a class of a blueprint: a frozen dataclass whose unknown members are refused when it is read."""
    cls.__pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[attr-defined]
    make: Callable[[type[T]], type[T]] = dataclass(frozen=True, slots=True)
    return make(cls)


@described
class DocumentBlueprint:
    """A document that the design was taken from. `id` is what statements cite: "002" in "002:538"."""

    id: str
    title: str = ""
    lines: int | None = None
    about: str = ""


@described
class Said:
    """Where something was said: "002:538", "002:59-75", or a document alone.

    `differs` holds what this document says differently: names of members of what it stands in, with the values
    that they have here. `words` holds a few words of the document where the exact wording matters.
    """

    at: str
    differs: Mapping[str, Any] = field(default_factory=dict)
    words: str = ""


@described
class FigureBlueprint:
    """A figure that a document states: its value and unit, and how it was worked out, if that is said.

    The formula is arithmetic over the names in `terms`: "users * kb_per_user / 1000". A term is a number, or the
    name of another figure. Terms called write_price and read_price are prices of a million units, and
    storage_price, recovery_price and backup_price those of a GB in a month.

    `measures` is what of a plan it states: "storage", "table storage", "index storage", "index cost"; or of an
    entity, "storage of Batch", "items of Batch", "size of Batch".
    """

    name: str
    value: float
    unit: str = ""
    upto: float | None = None  # the end of a range: 20 to 25 USD
    formula: str = ""
    terms: Mapping[str, float | str] = field(default_factory=dict)
    measures: str = ""
    about: str = ""
    said: tuple[Said, ...] = ()


@described
class RemarkBlueprint:
    """A statement that no other part of a blueprint holds: a practice, a promise, a purpose."""

    topic: str  # practice, security, testing, migration, caching, …
    text: str
    said: tuple[Said, ...] = ()


@described
class ChangeBlueprint:
    """A change that is planned: what it adds, alters or removes, and its steps in order."""

    name: str
    steps: tuple[str, ...] = ()
    about: str = ""
    said: tuple[Said, ...] = ()
