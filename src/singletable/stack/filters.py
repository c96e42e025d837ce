"""Filters of an event source mapping: which records of a stream the handlers of a blueprint need.

    {"dynamodb": {"NewImage": {"entityType": {"S": ["Batch", "Reminder"]}}}}

A record passes that matches one of the patterns. No pattern drops a record that a handler needs; some let one
through that no handler needs, and the function passes over it.

"DynamoDB event source mappings only support filtering on the dynamodb key" (Lambda guide, "Using event filtering
with a DynamoDB event source"), though examples of the DynamoDB guide have `eventName` beside it. So events are
told by the images that they have: an INSERT has no old one, a REMOVE no new one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from singletable.blueprint import Blueprint, ConsumerBlueprint

Pattern = Mapping[str, Any]

EVENTS: Final = ("INSERT", "MODIFY", "REMOVE")
FILTERS_MAX: Final = (
    5  # of an event source; ten on request (Lambda guide, "Control which events Lambda sends")
)
PATTERN_LENGTH_MAX: Final = 4096  # Lambda, "Filter", Pattern

# "Exists matching only works on leaf nodes" (EventBridge guide, "Comparison operators"): so they ask for the
# table's partition key, which every image has.
_HERE: Final = [{"exists": True}]
_NOT_HERE: Final = [{"exists": False}]


def stream_filters(blueprint: Blueprint, consumer: ConsumerBlueprint) -> tuple[Pattern, ...]:
    """Return the patterns for the handlers of a consumer; none if every record has to pass."""
    wanted = _wanted(blueprint, consumer)
    if blueprint.discriminator is None or not wanted:
        return ()
    for patterns in (_exact(blueprint, wanted), _coarse(blueprint, wanted)):
        if len(patterns) <= FILTERS_MAX and all(len(text(each)) <= PATTERN_LENGTH_MAX for each in patterns):
            return patterns
    return ()  # more entities than patterns can name


def text(pattern: Pattern) -> str:
    """Return a pattern as Lambda takes it."""
    return json.dumps(pattern, separators=(",", ":"), ensure_ascii=False)


def _wanted(blueprint: Blueprint, consumer: ConsumerBlueprint) -> dict[str, frozenset[str]]:
    """Return the events that handlers need, by discriminators; nothing if one needs all of any entity."""
    wanted: dict[str, frozenset[str]] = {}
    for handler in consumer.handlers:
        found = [blueprint.entity(name) for name in handler.entities]
        if not found or None in found:
            return {}
        events = frozenset(handler.events or EVENTS)
        for entity in found:
            assert entity is not None
            for discriminator in (entity.discriminator, *entity.was):
                wanted[discriminator] = wanted.get(discriminator, frozenset()) | events
    return wanted


def _exact(blueprint: Blueprint, wanted: Mapping[str, frozenset[str]]) -> tuple[Pattern, ...]:
    """Return patterns that tell events apart."""

    def named(*groups: tuple[str, ...]) -> list[str]:
        return sorted(name for name, events in wanted.items() if events in map(frozenset, groups))

    write = _Images(blueprint)
    # One entity may replace another: that is a MODIFY, in which handlers see one made and one removed. So only
    # those that want no MODIFY are held to a single image.
    found = [
        write.named("NewImage", named(EVENTS, ("INSERT", "MODIFY"))),
        write.named("NewImage", named(("MODIFY",), ("MODIFY", "REMOVE")), other=_HERE),
        write.named("NewImage", named(("INSERT",), ("INSERT", "REMOVE")), other=_NOT_HERE),
        write.named("OldImage", named(EVENTS, ("MODIFY", "REMOVE"))),
        write.named("OldImage", named(("REMOVE",), ("INSERT", "REMOVE")), other=_NOT_HERE),
    ]
    return (*(each for each in found if each is not None), *write.unnamed())


def _coarse(blueprint: Blueprint, wanted: Mapping[str, frozenset[str]]) -> tuple[Pattern, ...]:
    """Return patterns that tell entities apart, and of events only what comes and what goes."""
    write = _Images(blueprint)
    made = sorted(name for name, events in wanted.items() if events & {"INSERT", "MODIFY"})
    gone = sorted(name for name, events in wanted.items() if "REMOVE" in events)
    found = (write.named("NewImage", made), write.named("OldImage", gone))
    return (*(each for each in found if each is not None), *write.unnamed())


class _Images:
    """Writes patterns over the images of a blueprint's items."""

    def __init__(self, blueprint: Blueprint) -> None:
        assert blueprint.discriminator is not None
        self._discriminator = blueprint.discriminator
        self._pk = blueprint.table.pk
        self._pk_type = blueprint.table.types.get(self._pk, "S")

    def named(
        self, image: str, names: list[str], *, other: list[dict[str, bool]] | None = None
    ) -> Pattern | None:
        """Return the pattern of records with an image of these entities, and perhaps with or without the other."""
        if not names:
            return None
        images: dict[str, Any] = {image: {self._discriminator: {"S": names}}}
        if other is not None:
            images["OldImage" if image == "NewImage" else "NewImage"] = {self._pk: {self._pk_type: other}}
        return {"dynamodb": images}

    def unnamed(self) -> Iterator[Pattern]:
        """Return the patterns of items without a discriminator: the design tells them by their keys."""
        for image in ("NewImage", "OldImage"):
            here = {self._pk: {self._pk_type: _HERE}}
            yield {"dynamodb": {image: {self._discriminator: {"S": _NOT_HERE}, **here}}}
