"""STR702: a handler that sets itself off."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.lint.finding import Finding, Severity
from singletable.lint.rule import Rule, finding
from singletable.lint.view import View


def check(view: View) -> Iterator[Finding]:
    """Look for handlers that write an entity whose changes they handle, with no guard."""
    for at, consumer in enumerate(view.blueprint.consumers):
        for handler in consumer.handlers:
            if (
                handler.fields
                or handler.when is not None
                or (handler.events and "MODIFY" not in handler.events)
            ):
                continue
            for name in handler.writes:
                if name in view.entities and (not handler.entities or name in handler.entities):
                    yield finding(
                        RULE,
                        ("consumers", at),
                        view.entity_path(name),
                        message=f"{handler.name} handles every change of {name}, and writes {name}",
                        because="its own write comes back as a change, which it writes again: that does not end",
                        repair="handle the changes of some fields alone, or under a condition that its own write "
                        "ends",
                    )


RULE = Rule("STR702", Severity.WARNING, "A handler of a stream sets itself off", check)
