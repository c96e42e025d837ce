"""STR702: handlers that set themselves or each other off."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View

if TYPE_CHECKING:
    from singletable.blueprint.surroundings import HandlerBlueprint

Handlers = list[tuple[int, "HandlerBlueprint"]]


def check(view: View) -> Iterator[Finding]:
    """Look for handlers that write what they handle, with no guard, and for two that do so in turn."""
    free: Handlers = [
        (at, handler)
        for at, consumer in enumerate(view.blueprint.consumers)
        for handler in consumer.handlers
        if _takes_every_change(handler)
    ]
    for at, handler in free:
        for name in handler.writes:
            if _handles(handler, name):
                every = "every change of the table" if not handler.entities else f"every change of {name}"
                yield finding(
                    RULE,
                    ("consumers", at),
                    *((view.entity_path(name),) if name in view.entities else ()),
                    message=f"{handler.name} handles {every}, and writes {name}",
                    because="its own write comes back as a change, which it writes again: that does not end",
                    repair="handle the changes of some entities or fields alone, or under a condition that "
                    "its own write ends",
                )
    yield from _in_turn(view, free)


def _in_turn(view: View, free: Handlers) -> Iterator[Finding]:
    """Yield each pair of handlers that write what the other one handles."""
    for number, (at, one) in enumerate(free):
        for other_at, other in free[number + 1 :]:
            there = [name for name in one.writes if _handles(other, name) and not _handles(one, name)]
            back = [name for name in other.writes if _handles(one, name) and not _handles(other, name)]
            if there and back:
                yield finding(
                    RULE,
                    *dict.fromkeys((("consumers", at), ("consumers", other_at))),
                    *(view.entity_path(name) for name in (*there, *back) if name in view.entities),
                    message=f"{one.name} writes {there[0]}, which sets off {other.name}, which writes {back[0]}, "
                    f"which sets off {one.name}",
                    because="each write comes back to the other handler as a change: that does not end",
                    repair="handle the changes of some fields alone, or under a condition that the other ends",
                )


def _takes_every_change(handler: HandlerBlueprint) -> bool:
    is_of_some = handler.fields or handler.when is not None
    return not is_of_some and (not handler.events or "MODIFY" in handler.events)


def _handles(handler: HandlerBlueprint, name: str) -> bool:
    return not handler.entities or name in handler.entities


RULE = Rule("STR702", Severity.WARNING, "A handler of a stream sets itself off", check)
