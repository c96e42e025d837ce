"""Handlers of changes: methods of a design that are run for every change of an entity, or of some of its fields.

    @on(Batch, "status")
    def log_status(self, change: Change[Batch]) -> Iterator[Put[BatchEvent]]:
        if change.old and change.new:
            yield Put(BatchEvent(...))

A handler may do anything, and yield or return writes. They are carried out in their order. Plain puts and deletes
go in batches, so the handler may continue before they are written. A handler runs at least once for each change,
so it must be idempotent. `Create`, `Put`, `Delete` and updates to given values are; `Add` and `Append` are inside
a `Once`. `db.consume()` runs the handlers on the embedded engine, `lambda_handler()` on AWS.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, TypeVar

from singletable.design.model.catalog import Catalog
from singletable.design.model.entity import Entity
from singletable.design.streams.change import Change
from singletable.design.streams.once import Once, SingleWrite
from singletable.errors import DeclarationError

HandlerWrite: TypeAlias = SingleWrite | Once

E = TypeVar("E", bound=Entity)
DesignT = TypeVar("DesignT")
Result = TypeVar("Result", bound=HandlerWrite | Iterable[HandlerWrite] | None)

_MARK: Final = "__on__"


@dataclass(frozen=True, slots=True)
class Watch:
    """The entity that a handler watches, and the fields of which one must have changed; none means all fields.

    `writes` and `sends` are what it says of itself: entities that its result does not tell, and what it reaches
    outside the table.
    """

    entity: type[Entity]
    fields: tuple[str, ...]
    writes: tuple[type[Entity], ...] = ()
    sends: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StreamHandler:
    """A method of a design, and what it watches."""

    name: str
    watch: Watch
    function: Callable[[Any, Change[Any]], HandlerWrite | Iterable[HandlerWrite] | None]


def on(
    entity: type[E], *fields: str, writes: tuple[type[Entity], ...] = (), sends: tuple[str, ...] = ()
) -> Callable[[Callable[[DesignT, Change[E]], Result]], Callable[[DesignT, Change[E]], Result]]:
    """Declare a method of a design as a handler of changes: of an entity, or only of some fields of it.

    The creation of an item, its deletion and its expiry are changes of every field. What the type of its result
    does not tell, a handler says for its blueprint: it `writes` entities, and `sends` to what is outside.
    """
    given: object = entity  # it is the method, if the parentheses are forgotten
    if not isinstance(given, type) or not issubclass(given, Entity):
        raise DeclarationError(
            f"@on is given {entity!r}, which is not an entity", hint='@on(Batch), or @on(Batch, "status")'
        )
    watch = Watch(entity, fields, writes, sends)

    def decorate(method: Callable[[DesignT, Change[E]], Result]) -> Callable[[DesignT, Change[E]], Result]:
        # In the class body, a second method of the same name would silently replace the first.
        body = sys._getframe(1).f_locals
        if "__qualname__" in body and method.__name__ in body:
            raise DeclarationError(
                f"{method.__qualname__} is declared twice", hint="give handlers names of their own"
            )
        if inspect.iscoroutinefunction(method) or inspect.isasyncgenfunction(method):
            raise DeclarationError(
                f"{method.__qualname__} is async, and nobody awaits a handler",
                hint="asyncio.run(...) inside it runs what is asynchronous",
            )
        setattr(method, _MARK, watch)
        return method

    return decorate


def stream_handlers(design: type, catalog: Catalog, base: type) -> tuple[StreamHandler, ...]:
    """Return the handlers of a design, in the order of their declaration; refuse one that watches no entity."""
    found: dict[str, StreamHandler] = {}
    for owner in reversed(design.__mro__):
        for name, value in vars(owner).items():
            watch: Watch | None = getattr(value, _MARK, None)
            if watch is not None:
                _check(design, catalog, base, name, watch)
                found[name] = StreamHandler(name, watch, value)
            elif name in found:
                raise DeclarationError(
                    f"{owner.__name__}.{name} takes the place of a handler, and is none",
                    hint="give it another name, or decorate it with @on",
                )
    return tuple(found.values())


def _check(design: type, catalog: Catalog, base: type, name: str, watch: Watch) -> None:
    place = f"{design.__name__}.{name}"
    if hasattr(base, name):
        raise DeclarationError(
            f"{place} is a handler, and {base.__name__} has a {name} of its own", hint="give it another name"
        )
    if any(hasattr(vars(each).get(name), "__pattern__") for each in design.__mro__):
        raise DeclarationError(f"{place} is both a pattern and a handler", hint="give it another name")
    for entity, does in ((watch.entity, "watches"), *((each, "writes") for each in watch.writes)):
        if entity not in catalog.schemas:
            raise DeclarationError(
                f"{place} {does} {getattr(entity, '__name__', repr(entity))}, which is not an entity of "
                f"{design.__name__}; it has {', '.join(known.__name__ for known in catalog.schemas)}"
            )
    unknown = [field for field in watch.fields if field not in watch.entity.model_fields]
    if unknown:
        raise DeclarationError(
            f"{place} watches {', '.join(map(repr, unknown))}, which {watch.entity.__name__} does not have; "
            f"it has {', '.join(sorted(watch.entity.model_fields))}"
        )
