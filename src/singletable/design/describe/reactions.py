"""What follows from changes of a design's items by its stream, as blueprints: handlers, and data that is kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, get_args, get_type_hints

from singletable.blueprint import ConsumerBlueprint, EntityBlueprint, HandlerBlueprint
from singletable.design.model.entity import Entity
from singletable.design.streams.handlers import StreamHandler

_NEEDS: Final = ("old", "new")  # of every change: handlers get items as they were and as they are


def consumers_of(
    name: str, entities: Sequence[EntityBlueprint], handlers: Sequence[StreamHandler]
) -> tuple[ConsumerBlueprint, ...]:
    """Describe the one consumer of a design: what it keeps by the stream, then its handlers; none without any."""
    found = (*(each for entity in entities for each in _kept(entity)), *map(_handler, handlers))
    return (ConsumerBlueprint(name, handlers=found),) if found else ()


def _handler(handler: StreamHandler) -> HandlerBlueprint:
    return HandlerBlueprint(
        name=handler.name,
        entities=(handler.watch.entity.__name__,),
        fields=handler.watch.fields,
        needs=_NEEDS,
        writes=_names((*_returned(handler.function), *handler.watch.writes)),
        sends=handler.watch.sends,
        about=(handler.function.__doc__ or "").strip().partition("\n")[0],
    )


def _names(entities: Iterable[type[Entity]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(entity.__name__ for entity in entities))


def _returned(function: Any) -> Iterator[type[Entity]]:
    """Find the entities in the type of what a handler returns: Iterator[Put[BatchEvent]]."""
    try:
        hint = get_type_hints(function).get("return")
    except NameError:  # a name that only a type checker knows
        return
    yield from _entities_in(hint)


def _entities_in(hint: Any) -> Iterator[type[Entity]]:
    if isinstance(hint, type) and issubclass(hint, Entity):
        yield hint
    for each in get_args(hint):
        yield from _entities_in(each)


# --- kept by the stream -----------------------------------------------------------------------------------


def _kept(entity: EntityBlueprint) -> Iterator[HandlerBlueprint]:
    """Describe the data of an entity that the layer keeps by the stream, as the handlers that keep it."""
    for number in entity.aggregates:
        if number.by == "stream":
            what = "" if number.of_field is None else f".{number.of_field}"
            yield HandlerBlueprint(
                name=f"{entity.name}.{number.field}",
                entities=(number.of,),
                when=number.when,
                needs=_NEEDS,
                writes=(entity.name,),
                is_idempotent=True,
                about=f"Keeps the {number.kind} of {number.of}{what}.",
            )
    for copy in entity.copies:
        if copy.by == "stream":
            # The item itself is watched too: its source may have changed while it was written.
            yield HandlerBlueprint(
                name=f"{entity.name}.{copy.field}",
                entities=(copy.of, entity.name),
                events=("INSERT", "MODIFY"),
                fields=tuple(dict.fromkeys((copy.of_field, copy.field))),
                needs=_NEEDS,
                writes=(entity.name,),
                reads=(copy.of, entity.name),
                is_idempotent=True,
                about=f"Keeps the copy of {copy.of}.{copy.of_field}.",
            )
    made = entity.derived
    if made is not None and made.by == "stream":
        yield HandlerBlueprint(
            name=entity.name,
            entities=(made.of,),
            fields=made.reads or (),
            needs=_NEEDS,
            writes=(entity.name,),
            is_idempotent=True,
            about=f"Keeps the items that are made from {made.of}.",
        )
